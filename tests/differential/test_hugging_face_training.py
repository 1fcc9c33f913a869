"""What Hugging Face's trainers made, beyond byte-level BPE: their files load and encode as recorded.

That our trainers make the same, where it is determined, is in ``test_character_bpe_like_hugging_face``,
``test_wordpiece`` and ``test_train_simple``. Of unigram models it is not determined, and ours follows the paper
where theirs does not; how near they are is here.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from bpe_cli import formats, trainers
from bpe_cli.stages import Unigram
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import unigram
from tests.differential.test_hugging_face_files import character_span
from tests.differential.texts import suite
from tests.differential.unigram_models import pipeline
from tests.needs import needs

RECORDED = Path("expected", "train", "hf-tokenizers")
NAMES = (
    "bpe-csp.botchan.1000", "bpe-eow.botchan.1000", "bpe-metaspace.ru.1500", "bpe-whitespace.botchan.1000",
    "bpe-whitespace.botchan.1000.alpha40", "unigram.botchan.1000", "unigram.ja.3000", "wordlevel.botchan.1000",
    "wordpiece.botchan.1000", "wordpiece.multi.3000",
)  # fmt: skip


@cache
def loaded(path: Path) -> Tokenizer:
    return formats.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_recorded_encodings(shared: Path, name: str) -> None:
    tokenizer = loaded(shared / RECORDED / name / "tokenizer.json")
    cases = json.loads((shared / RECORDED / name / "expected.json").read_bytes())["cases"]
    texts = suite(shared)
    assert len(cases) == len(texts)
    found = {case: tokenizer.encode(text, specials="all") for case, text in texts.items()}
    assert found == {case: expected["ids"] for case, expected in cases.items()}


@pytest.mark.parametrize("name", NAMES)
def test_offsets_and_decoding(shared: Path, name: str) -> None:
    rival = needs("tokenizers").Tokenizer.from_file(str(shared / RECORDED / name / "tokenizer.json"))
    tokenizer = loaded(shared / RECORDED / name / "tokenizer.json")
    for case, text in suite(shared).items():
        expected = rival.encode(text, add_special_tokens=False)
        tokens = tokenizer.tokens(text, specials="all")
        spans = [tuple(character_span(text, token.start, token.end)) for token in tokens]
        assert spans == expected.offsets, case
        decoded = tokenizer.decode_bytes(expected.ids).decode("utf-8", "replace")
        theirs = rival.decode(expected.ids, skip_special_tokens=False)
        if rival.decoder is None:
            # Where nothing says how to decode, theirs puts blanks between tokens, ours nothing.
            assert (decoded, theirs) == ("".join(expected.tokens), " ".join(expected.tokens)), case
        else:
            assert decoded == theirs, case


@pytest.mark.parametrize("name", NAMES)
def test_written_again(shared: Path, name: str) -> None:
    path = shared / RECORDED / name / "tokenizer.json"
    assert json.loads(formats.dump(loaded(path), "tokenizer.json")[""]) == json.loads(path.read_bytes())


@pytest.mark.parametrize(
    ("name", "text", "same"),
    [("unigram.botchan.1000", "en-botchan.txt", 0.84), ("unigram.ja.3000", "ja-wagahai.txt", 0.93)],
)
def test_unigram_models_are_near_and_ours_says_the_corpus_better(
    shared: Path, name: str, text: str, same: float
) -> None:
    """Theirs counts each word once where it collects substrings, so that rare ones are among the million best; it
    prunes by another condition; and it ends with the first of its list instead of the most probable."""
    theirs = loaded(shared / RECORDED / name / "tokenizer.json")
    lines = (shared / "corpora" / "default" / text).read_text(encoding="utf-8").splitlines(keepends=True)
    special = tuple(token.content.decode() for token in theirs.special_tokens)
    options = unigram.Options(
        vocab_size=theirs.vocab_size,
        normalizer=theirs.normalizer,
        pre_tokenizer=theirs.pre_tokenizer,
        special_tokens=special[1:],
        character_coverage=1.0,
        split_by_unicode_script=False,  # theirs knows no scripts
        split_by_number=False,
    )
    ours = trainers.train(lines, options)
    expected, found = ({token for _, token in each.model.vocabulary.items()} for each in (theirs, ours))
    assert len(found) == len(expected)
    assert len(found & expected) >= same * len(expected)
    words = Counter(word for line in lines for word in words_of(theirs, line))
    assert likelihood(ours, words) > likelihood(theirs, words)


def words_of(tokenizer: Tokenizer, line: str) -> list[bytes]:
    """Normalize and cut a line."""
    return tokenizer.engine.pieces(line.encode()).contents()


def likelihood(tokenizer: Tokenizer, words: Counter[bytes]) -> float:
    """Add up the scores of the best segmentations."""
    assert isinstance(tokenizer.model, Unigram)
    compiled = pipeline(tokenizer.model)
    return sum(count * compiled.nbest(word, 1)[0][1] for word, count in words.items())
