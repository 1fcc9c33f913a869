"""BPE over characters: the core, the textbook and Hugging Face's tokenizers make the same tokens."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli.stages import CharacterBpe
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.support.blocks import Block
from bpe_cli.teaching.bpe import character_words, train
from tests.core_model import CoreModel, variation
from tests.differential.texts import suite
from tests.needs import needs
from tests.oracle.character_bpe import byte_token, merge, order_of_merges, spell

tokenizers = needs("tokenizers")

UNKNOWN = "<unk>"


def core_of(vocabulary: dict[str, int], merges: list[tuple[str, str]], **settings: Any) -> CoreModel:
    prefix = settings.get("continuing_subword_prefix", "")
    triples = array("I")
    for left, right in merges:
        triples.extend((vocabulary[left], vocabulary[right], vocabulary[left + right[len(prefix) :]]))
    table = Vocabulary.from_ids({token.encode(): token_id for token, token_id in vocabulary.items()})
    return CoreModel(CharacterBpe(table, Merges(triples), **settings))


def rival_of(vocabulary: dict[str, int], merges: list[tuple[str, str]], **settings: Any) -> Any:
    unknown = {"unk_token": UNKNOWN} if settings.pop("unk_id", None) is not None else {}
    affixes = {name: settings.pop(name, "") for name in ("continuing_subword_prefix", "end_of_word_suffix")}
    affixes = {name: text for name, text in affixes.items() if text}
    return tokenizers.models.BPE(vocabulary, merges, **unknown, **affixes, **settings)


# -- worked examples -------------------------------------------------------------------------------


def test_the_end_of_a_word_as_a_symbol() -> None:
    training = train(character_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}), tie="first-seen", num_merges=6)
    merges = training.merges()
    assert merges[:3] == [("e", "s"), ("es", "t"), ("est", "</w>")]
    names = training.tokens()
    vocabulary = {token: token_id for token_id, token in enumerate(names)}
    core = core_of(vocabulary, merges, end_of_word_suffix="</w>", separate_suffix=True)
    found = core.spans(b"lowest")
    assert [(names[token], start, end) for token, start, end in found] == [("low", 0, 3), ("est</w>", 3, 6)]
    found = core.spans(b"slow")
    assert [(names[token], start, end) for token, start, end in found] == [
        *(("s", 0, 1), ("low", 1, 4)),
        ("</w>", 4, 4),
    ]


def test_what_is_unknown() -> None:
    vocabulary = {"a": 0, "b": 1, "ab": 2, UNKNOWN: 3}
    merges = [("a", "b")]
    assert core_of(vocabulary, merges, unk_id=3).spans("éxab".encode()) == [(3, 0, 2), (3, 2, 3), (2, 3, 5)]
    assert core_of(vocabulary, merges, unk_id=3, fuse_unk=True).ids("éxab".encode()) == [3, 2]
    assert core_of(vocabulary, merges).spans(b"axb") == [(2, 0, 3)]  # what is left out parts nothing
    assert core_of(vocabulary, merges, unk_id=3).spans(b"a\xffb\xe4\xbd") == [
        *((0, 0, 1), (3, 1, 2), (1, 2, 3)),
        *((3, 3, 4), (3, 4, 5)),
    ]


def test_bytes_of_unknown_characters() -> None:
    vocabulary = {byte_token(byte): byte for byte in range(256)} | {"a": 256}
    core = core_of(vocabulary, [], byte_fallback=True)
    # Before the model, every character stands for itself, so each of its bytes does for all of it.
    assert core.spans(b"a\xc3\xa9\xff") == [(256, 0, 1), (0xC3, 1, 3), (0xA9, 1, 3), (0xFF, 3, 4)]


def test_contradictions_are_named() -> None:
    table = Vocabulary.from_tokens([b"a", b"b", b"ab"])
    for triple in ((0, 1, 1), (0, 7, 2), (1, 0, 2)):
        with pytest.raises(ValueError, match=r"merge 1 joins ids \d and \d to \d, whose text is not theirs joined"):
            CoreModel(CharacterBpe(table, Merges.from_pairs([(0, 1, 2), triple])))
    with_prefix = CharacterBpe(table, Merges.from_pairs([(0, 1, 2), (0, 1, 1)]), continuing_subword_prefix="##")
    with pytest.raises(ValueError, match="merge 1 joins ids 0 and 1 to 1, whose text is not theirs joined"):
        CoreModel(with_prefix)
    with pytest.raises(ValueError, match="the unknown token's id 4000000000 is not below"):
        CoreModel(CharacterBpe(table, Merges.from_pairs([]), unk_id=4_000_000_000))


# -- the textbook and the rival --------------------------------------------------------------------


@st.composite
def models(draw: st.DrawFn) -> tuple[dict[str, int], list[tuple[str, str]], dict[str, Any]]:
    """Return vocabulary, merges in any order, and settings; some characters lack a token."""
    prefix = draw(st.sampled_from(["", "", "##"]))
    suffix = draw(st.sampled_from(["", "", "</w>"]))
    characters = draw(st.lists(st.sampled_from("abcé你"), min_size=2, max_size=5, unique=True))
    forms = {
        before + character + after for character in characters for before in {"", prefix} for after in {"", suffix}
    }
    tokens = draw(st.permutations(sorted(forms)))[: draw(st.integers(2, len(forms)))]
    merges: list[tuple[str, str]] = []
    for _ in range(draw(st.integers(0, 12))):
        left, right = draw(st.sampled_from(tokens)), draw(st.sampled_from(tokens))
        joins = right.startswith(prefix) and not (suffix and left.endswith(suffix))
        if joins and (left, right) not in merges:
            merges.append((left, right))
            tokens = list(dict.fromkeys([*tokens, left + right[len(prefix) :]]))
    merges = draw(st.permutations(merges))
    settings: dict[str, Any] = {"continuing_subword_prefix": prefix, "end_of_word_suffix": suffix}
    settings |= {name: draw(st.booleans()) for name in ("fuse_unk", "byte_fallback", "ignore_merges")}
    if settings["byte_fallback"]:
        tokens = [*tokens, *map(byte_token, range(256))]
    vocabulary = {token: token_id for token_id, token in enumerate([*tokens, UNKNOWN])}
    if draw(st.booleans()):
        settings["unk_id"] = vocabulary[UNKNOWN]
    return vocabulary, list(merges), settings


def whole_characters(piece: bytes, start: int, end: int) -> tuple[int, int]:
    """Widen a range of bytes to characters."""
    while start > 0 and piece[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(piece) and piece[end] & 0xC0 == 0x80:
        end += 1
    return start, end


PIECES = st.lists(st.text("abcé你x", min_size=1, max_size=12), min_size=1, max_size=12)


@given(models(), PIECES)
def test_pieces_become_what_hugging_face_makes_of_them(
    model: tuple[dict[str, int], list[tuple[str, str]], dict[str, Any]], pieces: list[str]
) -> None:
    settings = model[2]
    core, rival = core_of(*model[:2], **settings), rival_of(*model[:2], **settings)
    whole = settings.get("unk_id") is not None or settings["byte_fallback"]
    for piece in [*pieces, "".join(pieces) * 6]:  # the last is long enough for the linked list
        expected = rival.tokenize(piece)
        assert core.ids(piece.encode()) == [token.id for token in expected], piece
        affixes = settings["continuing_subword_prefix"] or settings["end_of_word_suffix"]
        if whole and not (affixes and settings["byte_fallback"]):  # else its offsets slip; see below
            spans = [(token.id, *whole_characters(piece.encode(), *token.offsets)) for token in expected]
            assert core.spans(piece.encode()) == spans, piece


@given(models(), PIECES, st.booleans(), st.sets(st.integers(0, 255), max_size=40))
def test_pieces_become_what_the_textbook_makes_of_them(
    model: tuple[dict[str, int], list[tuple[str, str]], dict[str, Any]],
    pieces: list[str],
    separate: bool,
    missing: set[int],
) -> None:
    vocabulary, merges, settings = model
    for byte in missing & {0xC3, 0xA9, 0x78, 0x23, 0x3C}:  # of é, x, ## and </w>
        vocabulary.pop(byte_token(byte), None)
    settings |= {"ignore_merges": False, "separate_suffix": separate}
    core = core_of(vocabulary, merges, **settings)
    for piece in [*pieces, "".join(pieces) * 6]:
        symbols = spell(
            piece,
            vocabulary,
            unknown=UNKNOWN if "unk_id" in settings else None,
            fuse_unknown=settings["fuse_unk"],
            byte_fallback=settings["byte_fallback"],
            prefix=settings["continuing_subword_prefix"],
            suffix=settings["end_of_word_suffix"],
            separate_suffix=separate,
        )
        expected = merge(symbols, order_of_merges(merges, settings["continuing_subword_prefix"]))
        assert core.ids(piece.encode()) == [vocabulary[token] for token in expected], piece


def test_where_hugging_face_goes_wrong() -> None:
    """It keeps an unknown character back until a known one comes, past the bytes of what follows."""
    vocabulary = {"a": 0, "b": 1, "ab": 2, UNKNOWN: 3, byte_token(0x78): 4}
    settings = {"unk_id": 3, "byte_fallback": True}
    rival = rival_of(vocabulary, [], **settings)
    assert [token.id for token in rival.tokenize("yxa")] == [4, 3, 0]
    assert core_of(vocabulary, [], **settings).ids(b"yxa") == [3, 4, 0]  # as they stand in the text
    # Its offsets do not count what was left out, so they tell of other characters.
    assert [token.offsets for token in rival_of(vocabulary, []).tokenize("xab")] == [(0, 1), (1, 2)]
    assert core_of(vocabulary, []).spans(b"xab") == [(0, 1, 2), (1, 2, 3)]


def loaded(path: Path) -> tuple[Any, dict[str, int], CoreModel]:
    file = json.loads(path.read_bytes())
    model = file["model"]
    rival = tokenizers.Tokenizer.from_file(str(path))
    names = ("fuse_unk", "byte_fallback", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")
    settings = {name: model[name] for name in names if model.get(name)}
    vocabulary = model["vocab"]
    if model["unk_token"] is not None:
        settings["unk_id"] = vocabulary[model["unk_token"]]
    merges = [tuple(pair.split(" ")) if isinstance(pair, str) else tuple(pair) for pair in model["merges"]]
    return rival, vocabulary, core_of(vocabulary, merges, **settings)


@pytest.mark.parametrize("name", ["bpe-eow.botchan.1000", "bpe-csp.botchan.1000", "bpe-metaspace.ru.1500"])
def test_trained_models(shared: Path, name: str) -> None:
    rival, _, core = loaded(shared / "expected" / "train" / "hf-tokenizers" / name / "tokenizer.json")
    pieces = set()
    for text in suite(shared).values():
        normalized = text if rival.normalizer is None else rival.normalizer.normalize_str(text)
        pieces |= {piece for piece, _ in rival.pre_tokenizer.pre_tokenize_str(normalized)}
    ordered = sorted(pieces)
    assert len(ordered) > 500
    found = core.encode([piece.encode() for piece in ordered])
    assert found == [[token.id for token in rival.model.tokenize(piece)] for piece in ordered]


@pytest.mark.parametrize("name", ["phi-3-mini", "llama2-repaired"])
def test_whole_texts_without_pre_tokenizer(shared: Path, name: str) -> None:
    """The core cuts these before marks; the rival merges each as one piece."""
    rival, _, core = loaded(shared / "vocabs" / name / "tokenizer.json")
    texts = [rival.normalizer.normalize_str(text) for text in suite(shared).values() if text]
    found = core.encode([text.encode() for text in texts])
    assert found == [[token.id for token in rival.model.tokenize(text)] for text in texts]


# -- dropout ---------------------------------------------------------------------------------------

ABC = {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5, "ca": 6}


def frequencies(counts: Counter[tuple[int, ...]]) -> dict[tuple[int, ...], float]:
    return {ids: count / counts.total() for ids, count in counts.items()}


def close(found: float, expected: float, times: int) -> bool:
    """Whether two frequencies, each out of so many, differ by less than six standard deviations."""
    return abs(found - expected) <= 6 * (2 * max(found, expected) / times) ** 0.5


@pytest.mark.parametrize("merges", [[("a", "b"), ("c", "a")], [("b", "c"), ("a", "b"), ("ab", "c"), ("c", "a")]])
@pytest.mark.parametrize("probability", [0.1, 0.5, 0.7])
def test_dropout_is_hugging_faces(merges: list[tuple[str, str]], probability: float) -> None:
    """Where no merge that is gone comes after one that is left; see below."""
    times, piece = 8000, "abca"
    rival = rival_of(ABC, merges, dropout=probability)
    theirs = frequencies(Counter(tuple(token.id for token in rival.tokenize(piece)) for _ in range(times)))
    ours = frequencies(core_of(ABC, merges).sample(piece.encode(), "dropout", probability, times))
    for ids in theirs.keys() | ours.keys():
        assert close(ours.get(ids, 0), theirs.get(ids, 0), times), ids


def test_where_dropouts_differ() -> None:
    """Hugging Face draws for merges, too, that are no longer there, and one that survives gives all others
    another chance. subword-nmt draws once a step for all places of a pair."""
    times = 20_000
    merges = [("a", "b"), ("ab", "c"), ("b", "c")]
    rival = rival_of(ABC, merges, dropout=0.5)
    theirs = frequencies(Counter(tuple(token.id for token in rival.tokenize("abc")) for _ in range(times)))
    ours = frequencies(core_of(ABC, merges).sample(b"abc", "dropout", 0.5, times))
    assert close(ours[5,], 0.5 * 0.5, times)
    assert close(theirs[5,], 0.5 * (0.5 + 0.5 * 0.5 * 0.5), times)

    apply_bpe = needs("subword_nmt.apply_bpe")
    codes = {("a", "b"): 0}
    seen = Counter(
        tuple(apply_bpe.encode("abab", codes, {"ab": ("a", "b")}, None, "@@", (0, 1), {}, None, 0.5))
        for _ in range(times)
    )
    ours = frequencies(core_of(ABC, [("a", "b")]).sample(b"abab", "dropout", 0.5, times))
    assert close(ours[3, 3], 0.375, times)
    both = sum(count for parts, count in seen.items() if parts[:2] == ("ab", "ab"))
    assert close(both / times, 0.5, times)


def test_what_is_drawn_depends_on_the_place_alone() -> None:
    core = core_of(ABC, [("a", "b"), ("ab", "c")])
    pieces = [b"abcabcab"] * 300
    options = variation({"dropout": 0.5}, seed=1)

    def encode(threads: int) -> list[int]:
        found, _ = core.pipeline.sample(Block.of(pieces), options, None, threads)
        return list(memoryview(found))

    assert encode(1) == encode(3)
    assert len(core.sample(b"abcabcab", "dropout", 0.5, 300)) > 10


def test_dropout_is_a_probability() -> None:
    core = core_of(ABC, [("a", "b")])
    with pytest.raises(ValueError, match="a dropout is a probability from 0 to 1, not 2"):
        core.sample(b"ab", "dropout", 2, 1)
    with pytest.raises(ValueError, match="this model gives no probabilities to draw by"):
        core.sample(b"ab", "segmentation", 0.5, 1)
