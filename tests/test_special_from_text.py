"""No text becomes a special token unless somebody asks: every model, flag, stage and way from text to ids."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_cli.errors import BpeError, FormatError
from bpe_cli.formats import FORMATS, dump, load
from bpe_cli.reports.text.scores import rank
from bpe_cli.reports.text.segmentation import segment
from bpe_cli.reports.text.steps.pieces import Limits
from bpe_cli.support.blocks import Block
from bpe_cli.tokenizer.engine import Sampling
from bpe_cli.tokenizer.special_tokens import dead_merges
from tests.counted import at_least, compared
from tests.every_format import what_dump_reads
from tests.profiles import MANY
from tests.special_tokenizers import MODELS, case, ids_or_none, reserved, text_of
from tests.thorough import more
from tests.unit.reports.text.telling import tell

SEEDS = st.integers(0, 1 << 32)
SAMPLINGS = {
    "unigram": (Sampling("segmentation", 0.5, seed=3), Sampling("segmentation", 0.1, nbest=4)),
    **dict.fromkeys(
        ("rank_bpe", "merge_bpe", "character_bpe"), (Sampling("dropout", 0.5, seed=1), Sampling("dropout", 0.1))
    ),
    "scored_bpe": (Sampling("dropout", 0.4, seed=2), Sampling("lasting-dropout", 0.4)),
}


@pytest.mark.parametrize("name", MODELS)
@at_least(36)
@given(seed=SEEDS)
def test_ids_are_those_of_the_vocabulary_without_special_texts(name, seed):
    random = Random(seed)
    found = case(random, name)
    tokenizer, without = found.with_special, found.without
    never = reserved(found)
    for _ in range(4):
        text = text_of(random, found).encode()
        expected = ids_or_none(without, text)
        ids = ids_or_none(tokenizer, text)
        assert ids == expected
        if ids is None:
            continue
        assert never.isdisjoint(ids)
        assert tokenizer.count_block(Block.of([text]), tokenizer.matcher()).tolist() == [len(ids)]
        assert [token.token_id for token in tokenizer.tokens(text)] == ids
        assert [token_id for token_id, _, _ in tokenizer.spans(text, tokenizer.matcher())] == ids
        assert [token.token_id for token in segment(tokenizer, text).tokens] == ids
        told = tell(tokenizer, text, limits=Limits(rows=None))
        assert told.differs_at is None
        assert [token.token_id for row in told.rows for token in row.tokens] == ids
        for sampling in SAMPLINGS.get(name, ()):
            varied, same = (
                each.encode_block(Block.of([text]), each.matcher(), 1, sampling)[0].tolist()
                for each in (tokenizer, without)
            )
            assert never.isdisjoint(varied)
            assert varied == same
        if name == "unigram" and not any(token.normalized for token in tokenizer.special_tokens):
            ranked = [[token.token_id for token in each.tokens] for each in rank(tokenizer, text, 4).segmentations]
            assert ranked
            assert never.isdisjoint(token_id for each in ranked for token_id in each)
        assert tokenizer.decode_bytes(ids) == without.decode_bytes(ids)
        if name in ("rank_bpe", "merge_bpe") and not (tokenizer.normalizer or tokenizer.pre_tokenizer):
            strips = any(token.lstrip or token.rstrip for token in tokenizer.special_tokens if not token.special)
            assert strips or tokenizer.decode_bytes(ids) == text
        compared()


@pytest.mark.parametrize("name", MODELS)
def test_the_search_meets_what_it_looks_for(name):
    """Without the law, many of these texts would become special tokens: their texts stand there, and are tokens."""
    met = asked = 0
    for seed in range(80):
        random = Random(seed)
        found = case(random, name, plain=True)
        raw = found.with_special.__class__(found.with_special.model)
        never = reserved(found)
        text = text_of(random, found).encode()
        ids = ids_or_none(raw, text)
        met += bool(ids) and not never.isdisjoint(ids)
        ids = ids_or_none(found.with_special, text, "all")
        asked += bool(ids) and not never.isdisjoint(ids)
    assert met >= 2
    assert asked >= 16


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=more(8, MANY))
@given(seed=SEEDS)
def test_files_give_the_same_ids_or_are_refused(name, seed):
    random = Random(seed)
    found = case(random, name, plain=True)
    # What is merely added any text becomes, so a file that loses it is another matter.
    special = tuple(token for token in found.with_special.special_tokens if token.special)
    tokenizer = replace(found.with_special, special_tokens=special)
    texts = [text_of(random, found).encode() for _ in range(3)]
    written = 0
    for format_name in FORMATS:
        try:
            with what_dump_reads() as reads:
                dump(tokenizer, format_name, {"special-tokens", "token-flags"})
        except FormatError:
            continue
        [(_, again)] = reads
        written += 1
        for text in texts:
            assert ids_or_none(again, text) == ids_or_none(tokenizer, text), format_name
    assert written


@pytest.mark.parametrize("name", ["rank_bpe", "merge_bpe", "character_bpe"])
@given(seed=SEEDS)
def test_changed_tokenizers_keep_to_it(name, seed):
    """``without_dead_merges`` is the same tokenizer, with nothing left to withhold but the unknown token."""
    random = Random(seed)
    found = case(random, name)
    tokenizer = found.with_special.without_dead_merges()
    assert tokenizer.withheld.ids <= {tokenizer.model.unk_id}
    assert not list(dead_merges(tokenizer.model, tokenizer.withheld))
    for _ in range(3):
        text = text_of(random, found).encode()
        for specials in ((), "all"):
            try:
                expected = found.with_special.encode(text, specials=specials)
            except BpeError as error:
                with pytest.raises(type(error)):
                    tokenizer.encode(text, specials=specials)
            else:
                assert tokenizer.encode(text, specials=specials) == expected
                assert tokenizer.decode_bytes(expected) == found.with_special.decode_bytes(expected)


def test_real_tokenizers(shared):
    """No special token of any real one is a text's. One has a merge for such a token: `</s>` in Qwen2's GGUF file.

    There it is special by llama.cpp's list of texts that end a generation, and llama.cpp would merge to it; but the
    split leaves its characters in no one piece, so the ids of all texts are the same.
    """
    examined, merged = 0, []
    merges = {"merges.txt", "vocab.bpe"}  # each is read with its vocabulary, whose file stands for both
    for path in sorted(path for path in (shared / "vocabs").rglob("*.*") if path.name not in merges):
        try:
            tokenizer = load(path)
        except BpeError:
            continue
        special = [token for token in tokenizer.special_tokens if token.special]
        never = {token.token_id for token in special} - {tokenizer.model.unk_id}
        texts = [token.content for token in special]
        ids, _ = tokenizer.encode_block(Block.of([*texts, b" ".join(texts)]), tokenizer.matcher())
        assert never.isdisjoint(ids.tolist())
        examined += bool(never)
        merged += [path.name for _ in dead_merges(tokenizer.model, tokenizer.withheld)]
    assert examined >= 30
    assert merged == ["ggml-vocab-qwen2.gguf"]
