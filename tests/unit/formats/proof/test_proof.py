"""What is written is read back before it is given away, and does what the tokenizer does, or is refused."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bpe_cli.errors import FormatError, InputError, OutputError
from bpe_cli.formats import FORMATS, dump, gguf, load, proof, rehearse, subword_nmt
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.gguf.container import ARRAY, BOOL, F32, I32, STRING, U32, encode, write
from bpe_cli.formats.huggingface import own_json
from bpe_cli.formats.proof import comparing
from bpe_cli.stages import (
    CharacterBpe,
    MergeBpe,
    Prepend,
    ScoredBpe,
    SpaceMarks,
    SpecialToken,
    Split,
    Unigram,
    WordLevel,
)
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.texts import ATTEMPTS
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.trainers import bpe, train
from tests.cli_runner import call
from tests.every_format import KINDS, pattern_for, put, trained


def same_ids(tokenizer: Tokenizer, name: str, folder: Path, some: tuple[str, ...]) -> bool:
    again = load(put(dump(tokenizer, name), folder / name), pattern_for(name))
    return [again.encode(text) for text in some] == [tokenizer.encode(text) for text in some]


# -- the cases that were wrong -----------------------------------------------------------------

T5_TOKENS = ("<pad>", "</s>", "▁the", "<unk>", "▁", "t", "h", "e", "c", "a", "▁cat", "▁s", "at", "s")


def t5(unknown: int | None) -> Tokenizer:
    """Return a model of T5's kind whose unknown token is missing in the file, or an ordinary piece."""
    count = len(T5_TOKENS)
    fields = [
        ("general.architecture", encode(STRING, b"t5")),
        ("tokenizer.ggml.model", encode(STRING, b"t5")),
        ("tokenizer.ggml.tokens", encode(ARRAY, [token.encode() for token in T5_TOKENS], STRING)),
        ("tokenizer.ggml.scores", encode(ARRAY, array("f", map(float, range(0, -count, -1))), F32)),
        ("tokenizer.ggml.token_type", encode(ARRAY, array("i", [3, 3, *[1] * (count - 2)]), I32)),
        ("tokenizer.ggml.add_space_prefix", encode(BOOL, True)),
    ]
    return gguf.loads(
        write(fields + ([] if unknown is None else [("tokenizer.ggml.unknown_token_id", encode(U32, unknown))]))
    )


@pytest.mark.parametrize("unknown", [None, 3, 9, 10])
def test_an_unknown_token_that_is_an_ordinary_piece(unknown, tmp_path):
    tokenizer = t5(unknown)
    assert tokenizer.encode("the cat sat") == [2, 10, 11, 12]
    some = ("the cat sat", "the", "a cat", "xyz", "<unk> the", "▁the")
    written = []
    for name in FORMATS:
        try:
            assert same_ids(tokenizer, name, tmp_path, some), name
        except FormatError as error:
            assert error.hint, (name, error.message)  # noqa: PT017
        else:
            written.append(name)
    assert written == ["bpe.json", "gguf"]


def merging(*scores: float, kinds: bytes = bytes([2, 1, 1, 1, 1, 1])) -> Tokenizer:
    pieces = ["<unk>", "▁", "a", "b", "ab", "▁ab"]
    model = ScoredBpe(
        Vocabulary.from_tokens([b"", *(piece.encode() for piece in pieces[1:])]),
        array("d", scores),
        0,
        kinds,
    )
    like = trained("bpe sentencepiece")
    return replace(
        like,
        model=model,
        special_tokens=(SpecialToken(b"<unk>", 0),),
        normalizer=(SpaceMarks(),),
        usage=type(like.usage)(),
        origin=None,
    )


def test_a_vocab_is_not_read_as_another_model():
    dump(merging(0, -2, -3, -4, -0.0, -1), "sentencepiece-vocab")
    with pytest.raises(
        FormatError, match=r'read as BPE only if all scores are whole numbers, and that of "ab" is -0.5'
    ) as caught:
        dump(merging(0, -2, -3, -4, -0.5, -1), "sentencepiece-vocab")
    assert '`format="sentencepiece"`' in str(caught.value.hint)
    users = bytes([2, 1, 1, 1, 4, 1])  # which a .vocab does not tell from others
    with pytest.raises(FormatError, match=r'that of "ab" is -0.5'):
        dump(merging(0, -2, -3, -4, -0.5, -1, kinds=users), "sentencepiece-vocab")
    unigram = replace(trained("unigram sentencepiece"), normalizer=(SpaceMarks(),))
    assert isinstance(unigram.model, Unigram)
    whole = array("d", (float(round(score)) for score in unigram.model.scores))
    with pytest.raises(FormatError, match="is read as BPE, and this is a unigram model"):
        dump(replace(unigram, model=replace(unigram.model, scores=whole)), "sentencepiece-vocab")


def test_a_word_model_without_an_unknown_token_gets_none(tmp_path):
    for tokens in ([b"<unk>", b"a"], [b"<unk>", b"<unk><unk>", b"a"]):
        tokenizer = Tokenizer(WordLevel(Vocabulary.from_tokens(tokens)))
        for name in ("bpe.json", "tokenizer.json"):
            again = load(put(dump(tokenizer, name), tmp_path / name))
            assert again.model == tokenizer.model


def test_scores_of_double_precision_are_not_added_in_single_unasked():
    tokenizer = trained("unigram sentencepiece")
    assert isinstance(tokenizer.model, Unigram)
    double = replace(tokenizer, model=replace(tokenizer.model, single_precision=False), origin=None)
    with pytest.raises(FormatError, match="adds in single"):
        dump(double, "sentencepiece")
    dump(double, "sentencepiece", ["sentencepiece-edges"])


@pytest.mark.parametrize("text", [" ▁", "  ▁▁", "▁", " a ▁", "▁ a", " ▁ ▁ "])
def test_blanks_and_marks_alone_are_trimmed_alike_by_hugging_faces_components(text, tmp_path):
    tokenizer = merging(0, -2, -3, -4, -0.0, -1)
    assert same_ids(tokenizer, "tokenizer.json", tmp_path, (text,))


# -- what lies is caught -----------------------------------------------------------------------


def other_order(tokenizer: Tokenizer) -> Tokenizer:
    assert isinstance(tokenizer.model, MergeBpe)
    reversed_ = Merges.from_pairs(list(tokenizer.model.merges)[::-1])
    return replace(tokenizer, model=replace(tokenizer.model, merges=reversed_))


def two_ids_swapped(tokenizer: Tokenizer) -> Tokenizer:
    tokens = [token for _, token in tokenizer.model.vocabulary.items()]
    tokens[70], tokens[71] = tokens[71], tokens[70]
    return replace(tokenizer, model=replace(tokenizer.model, vocabulary=Vocabulary.from_tokens(tokens)))


LIES: dict[str, tuple[str, Callable[[Tokenizer], Tokenizer], str]] = {
    "merges": ("bbpe", other_order, " becomes "),
    "ids": ("bbpe", two_ids_swapped, " becomes "),
    "pattern": ("bbpe", lambda t: replace(t, pre_tokenizer=(Split("a|[^a]+"),)), " becomes "),
    "a special token more": (
        "bbpe", lambda t: replace(t, special_tokens=(SpecialToken(b"wa", 900, special=False),)), '"wa".* becomes '),
    "decoder": ("wordpiece", lambda t: replace(t, decoder=()), "is decoded as"),
    "post-processor": (
        "bbpe",
        lambda t: replace(t, post_processor='{"type": "BertProcessing", "sep": ["e", 1], "cls": ["e", 1]}'),
        "around a text",
    ),
    "normalizer": ("wordpiece", lambda t: replace(t, normalizer=()), " becomes "),
    "unknown": ("char", lambda t: replace(t, model=replace(t.model, unk_id=5)), " becomes "),
    "scores": (
        "unigram",
        lambda t: replace(t, model=replace(t.model, scores=array("d", [-x for x in t.model.scores]))),
        " becomes ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_writer_that_lies_is_caught(lie, monkeypatch):
    kind, change, said = LIES[lie]
    tokenizer = trained(kind)
    honest = own_json.dump
    dump(tokenizer, "bpe.json")
    monkeypatch.setattr(own_json, "dump", lambda tokenizer, allow_loss=frozenset(): honest(change(tokenizer)))
    with pytest.raises(FormatError, match=said) as caught:
        dump(tokenizer, "bpe.json")
    assert caught.value.message.startswith("what would be written does something else: ")


def test_special_tokens_are_asked_for_too(monkeypatch):
    tokenizer = replace(trained("bbpe"), special_tokens=(SpecialToken(b"<|x|>", 900),))
    honest = own_json.dump
    other = replace(tokenizer, special_tokens=(SpecialToken(b"<|x|>", 900, rstrip=True),))
    monkeypatch.setattr(own_json, "dump", lambda *_: honest(other))
    with pytest.raises(FormatError, match=r"with special tokens asked for, becomes "):
        dump(tokenizer, "bpe.json")


def test_the_error_names_the_text_and_both_cuts(monkeypatch):
    pairs = [(0, 1, 3), (1, 2, 4)]
    vocabulary = Vocabulary.from_tokens([b"a", b"b", b"c", b"ab", b"bc"])
    tokenizer, other = (
        Tokenizer(CharacterBpe(vocabulary, Merges.from_pairs(merges))) for merges in (pairs, pairs[::-1])
    )
    honest = own_json.dump
    monkeypatch.setattr(own_json, "dump", lambda *_: honest(other))
    with pytest.raises(FormatError) as caught:
        dump(tokenizer, "bpe.json")
    assert caught.value.message == (
        'what would be written does something else: "abc" becomes "ab" (3) "c" (2), and read back "a" (0) "bc" (4)'
    )


@pytest.mark.parametrize("content", [b"", b"{", b"nothing", b'{"model": {"type": "BPE", "vocab": {}, "merges": 3}}'])
def test_what_cannot_be_read_is_not_written(content, monkeypatch):
    monkeypatch.setattr(own_json, "dump", lambda *_: {"": content})
    with pytest.raises(FormatError, match=r"^what would be written cannot be read: bpe\.json"):
        dump(trained("bbpe"), "bpe.json")


def test_a_tokenizer_that_cannot_be_run_is_not_written():
    broken = Tokenizer(ScoredBpe(Vocabulary.from_tokens([b"a"]), array("d", [float("nan")]), 0))
    with pytest.raises(FormatError):
        dump(broken, "bpe.json")


def test_a_folder_is_read_back_as_a_folder():
    tokenizer = trained("bbpe")
    files = dump(tokenizer, "huggingface")
    assert len(files) > 1
    damaged = {name: b"{" if name == "tokenizer_config.json" else content for name, content in files.items()}
    with pytest.raises(FormatError, match=r"cannot be read: not valid JSON: .*the folder/tokenizer_config\.json"):
        proof.prove(tokenizer, damaged, "tokenizer.json", load)


def test_no_place_for_temporary_files(monkeypatch):
    def refuse(**_: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(proof.tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(OutputError, match="cannot be read back as a proof") as caught:
        dump(trained("bbpe"), "bpe.json")
    assert "TMPDIR" in str(caught.value.hint)


# -- what was agreed to lose -------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_agreed_losses_are_written_where_they_were_without_a_proof(kind):
    compared = 0
    for name in FORMATS:
        try:
            files = rehearse(trained(kind), name, LOSSES)
        except FormatError:
            continue
        assert dump(trained(kind), name, LOSSES) == files
        compared += 1
    assert compared


def test_a_loss_excuses_itself_and_nothing_else(monkeypatch):
    tokenizer = trained("bbpe")
    from bpe_cli.formats.byte_level import tiktoken_ranks

    honest = tiktoken_ranks.dump
    dump(tokenizer, "tiktoken", ["pattern"])
    monkeypatch.setattr(tiktoken_ranks, "dump", lambda t, losses: honest(two_ids_swapped(t), losses))
    with pytest.raises(FormatError, match=" becomes "):
        dump(tokenizer, "tiktoken", ["pattern"])
    dump(tokenizer, "tiktoken", ["pattern", "ids"])  # the same tokens by other numbers


def test_ids_that_may_be_others_are_still_one_for_each_token():
    law = comparing.Law(renumbered=True)
    tokenizer = trained("bbpe")
    assert comparing.difference(tokenizer, two_ids_swapped(tokenizer), comparing.of_samples(), (), law) is None
    found = comparing.difference(tokenizer, other_order(tokenizer), comparing.of_tokens(tokenizer)[2], (), law)
    assert found is not None
    assert " becomes " in found


def test_codes_do_not_hold_the_characters_that_no_merge_takes(tmp_path, monkeypatch):
    tokenizer = train(["low low lower QZ"] * 3, bpe.Options(merges=3))
    dump(tokenizer, "subword-nmt", ["ids"])
    (tmp_path / "codes").write_bytes(b"#version: 0.2\na b\nb c</w>\nab d</w>\n")
    two = load(tmp_path / "codes")
    dump(two, "subword-nmt", ["ids"])
    other = {"": b"#version: 0.2\nb c</w>\na b\nab d</w>\n"}
    monkeypatch.setattr(subword_nmt, "dump", lambda *_: other)
    with pytest.raises(FormatError, match=" becomes "):
        dump(two, "subword-nmt", ["ids"])


# -- how much is done --------------------------------------------------------------------------


def test_the_texts_grow_with_the_vocabulary_and_no_faster():
    def held(tokenizer: Tokenizer) -> int:
        return sum(len(text) for some in comparing.of_tokens(tokenizer) for text in some)

    def of_size(count: int) -> Tokenizer:
        return Tokenizer(MergeBpe(Vocabulary.from_tokens([b"%08d" % n for n in range(count)]), Merges(array("I"))))

    one, two = held(of_size(40_000)), held(of_size(80_000))
    assert one < two < 2.2 * one
    assert one < 5 * 40_000 * 8


def test_long_tokens_are_sampled(monkeypatch):
    monkeypatch.setattr(comparing, "MAX_BYTES", 10_000)
    tokenizer = Tokenizer(MergeBpe(Vocabulary.from_tokens([b"%0100d" % n for n in range(5000)]), Merges(array("I"))))
    for some in comparing.of_tokens(tokenizer):
        assert 0 < sum(map(len, some)) < 25_000


def test_texts_that_cannot_be_encoded_are_found_in_few_calls(monkeypatch):
    tokenizer = Tokenizer(CharacterBpe(Vocabulary.from_tokens([b"a", b"<unk>"]), Merges(array("I")), 1))
    only = Tokenizer(WordLevel(Vocabulary.from_tokens([b"a"])))
    calls = []
    monkeypatch.setattr(
        Tokenizer,
        "encode_block",
        lambda self, block, *rest, _way=Tokenizer.encode_block: calls.append(1) or _way(self, block, *rest),
    )
    some = [b"a"] * 5000
    some[1234] = some[4321] = b"b"
    assert [n for n, ids in enumerate(comparing.encode(only, some)) if ids is None] == [1234, 4321]
    assert len(calls) < 80
    assert comparing.difference(only, tokenizer, some) == (
        '"b" becomes an error (it has no token for a part of it), and read back "<unk>" (1)'
    )


def test_a_difference_in_a_long_text_is_cut_short_in_few_calls(monkeypatch):
    one, other = (Tokenizer(WordLevel(Vocabulary.from_tokens([b"a", b"<unk>"]), unk)) for unk in (1, None))
    calls = []
    monkeypatch.setattr(
        Tokenizer,
        "encode_block",
        lambda self, block, *rest, _way=Tokenizer.encode_block: calls.append(1) or _way(self, block, *rest),
    )
    assert comparing.difference(one, other, [b"x" * 100_000]) is not None
    assert len(calls) < 2 * 2 * ATTEMPTS + 10


# -- every route -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("convert", "t.json", "-o", "o.json"),
        ("convert", "t.json", "-o", "o.json", "-f", "bpe.json"),
        ("convert", "t.json", "-o", "folder/", "-f", "huggingface"),
        ("convert", "t.json", "-o", "o.json", "--extend", "text", "-s", "295"),
        ("convert", "t.json", "-o", "o.json", "--prune-to", "280", "--counts-from", "text"),
        ("train", "-a", "bbpe", "-s", "290", "-T", "low lower", "-o", "o.json"),
        ("train", "-a", "bpe", "--compat", "subword-nmt", "-s", "40", "-T", "low lower", "-o", "o.json"),
    ],
)
def test_no_file_appears_without_proof(words, tmp_path, monkeypatch):
    (tmp_path / "t.json").write_bytes(dump(trained("bbpe"), "bpe.json")[""])
    (tmp_path / "text").write_text("low lower lowest")
    before = sorted(path.name for path in tmp_path.iterdir())

    def refuse(*_: object) -> None:
        raise FormatError("what would be written does something else: it does not")

    monkeypatch.setattr(proof, "prove", refuse)
    done = call(*words, "-q", cwd=tmp_path)
    assert done.status == 2
    assert "error: what would be written does something else" in done.err
    assert [name for name in sorted(path.name for path in tmp_path.iterdir()) if name != "folder"] == before
    assert not (tmp_path / "folder").exists() or not list((tmp_path / "folder").iterdir())


def test_an_unknown_token_whose_text_is_withheld_is_not_written_as_an_ordinary_one(tmp_path):
    """Without kinds no text becomes the unknown token; a list of kinds would say that some do."""
    model = Unigram(Vocabulary.from_tokens([b"a", b"b", b"ab"]), array("d", [-1, -2, -1]), unk_id=2)
    tokenizer = Tokenizer(model)
    assert tokenizer.encode("ab") == [0, 1]
    with pytest.raises(FormatError, match=r'the unknown token "ab" \(id 2\) has a text') as caught:
        dump(tokenizer, "bpe.json")
    assert "a kind for each token" in str(caught.value.hint)
    ordinary = Tokenizer(replace(model, kinds=bytes([1, 1, 1])))
    again = load(put(dump(ordinary, "bpe.json"), tmp_path))
    assert again.encode("ab") == ordinary.encode("ab") == [2]


def test_an_added_token_that_words_become_is_not_written_where_it_is_a_word():
    """The mark before a text is part of what is looked for, so the second is a word; an id in between is a word's."""
    model = WordLevel(Vocabulary.from_tokens([b"a", b"", b"b"]), None)
    added = (SpecialToken(b"[CLS]", 1, special=False, normalized=True),)
    tokenizer = Tokenizer(model, normalizer=(Prepend("▁"),), special_tokens=added)
    with pytest.raises(InputError, match=r'"\[CLS\]" has no token'):
        tokenizer.encode("[CLS][CLS]", specials="all")
    with pytest.raises(FormatError, match="does something else"):
        dump(tokenizer, "tokenizer.json")
