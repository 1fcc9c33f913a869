"""Decoders: worked examples, against plain Python, against tokenizers and SentencePiece, and stored results."""

from __future__ import annotations

import io
import json
from array import array
from functools import reduce

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bpe_cli import _core
from bpe_cli.stages import (
    CTC,
    BPEDecoder,
    ByteFallback,
    ByteLevelDecoder,
    Fuse,
    MetaspaceDecoder,
    ReplaceDecoder,
    SpaceMarksDecoder,
    StripDecoder,
    WordPieceDecoder,
)
from bpe_cli.stages.component_json import component
from tests.counted import at_least, compared
from tests.needs import needs
from tests.oracle import decoders as textbook

LLAMA = (ReplaceDecoder("▁", " "), ByteFallback(), Fuse(), StripDecoder(" ", 1, 0))
STORED = {
    "ByteLevel": (ByteLevelDecoder(),),
    "WordPiece": (WordPieceDecoder(),),
    "WordPiece(cleanup=False)": (WordPieceDecoder(cleanup=False),),
    "Metaspace": (MetaspaceDecoder(),),
    "Metaspace(never)": (MetaspaceDecoder(prepend_scheme="never"),),
    "ByteFallback": (ByteFallback(),),
    "BPEDecoder": (BPEDecoder(),),
    "CTC": (CTC(),),
    "Fuse": (Fuse(),),
    "Strip( ,1,0)": (StripDecoder(" ", 1, 0),),
    "Replace(▁, )": (ReplaceDecoder("▁", " "),),
    "llama": LLAMA,
}
MARK = "▁".encode()
ORACLES = [
    ((ByteLevelDecoder(),), [textbook.byte_level]),
    ((WordPieceDecoder(),), [textbook.word_piece]),
    ((WordPieceDecoder("", False),), [lambda tokens: textbook.word_piece(tokens, b"", False)]),
    ((MetaspaceDecoder(),), [lambda tokens: textbook.metaspace(tokens, MARK)]),
    ((MetaspaceDecoder("a", "never"),), [lambda tokens: textbook.metaspace(tokens, b"a", False)]),
    ((BPEDecoder("b"),), [lambda tokens: textbook.bpe(tokens, b"b")]),
    ((CTC("a", "b"),), [lambda tokens: textbook.ctc(tokens, b"a", b"b")]),
    ((CTC("a", "b", False),), [lambda tokens: textbook.ctc(tokens, b"a", b"b", False)]),
    ((ByteFallback(),), [textbook.byte_fallback]),
    ((StripDecoder("a", 1, 1),), [lambda tokens: textbook.strip(tokens, b"a", 1, 1)]),
    ((ReplaceDecoder("a ", "b"),), [lambda tokens: textbook.replace(tokens, b"a ", b"b")]),
    (
        LLAMA,
        [
            lambda tokens: textbook.replace(tokens, MARK, b" "),
            textbook.byte_fallback,
            textbook.fuse,
            lambda tokens: textbook.strip(tokens, b" ", 1, 0),
        ],
    ),
]

# Spelt out: bytes of 你, a whole 你, others; marks, prefixes, contractions.
SPELT = ["<0xE4>", "<0xBD>", "<0xA0>", "<0x41>", "<0xFF>", "<0xG0>", "<pad>", "|", "</w>", "##"]
STRINGS = ["a", "b", " ", "▁", "Ġ", "é", "你", ".", "'", " n't", " do not", "'s", "m", "aa", "ab", *SPELT]
strings = st.lists(st.sampled_from(STRINGS), min_size=1, max_size=3).map("".join)
token_lists = st.lists(st.one_of(st.sampled_from(STRINGS), strings), max_size=8)


def compile_chain(chain) -> _core.Decoder:
    return _core.Decoder(json.dumps([component(decoder) for decoder in chain]))


def tables(tokens: list[bytes]) -> tuple[bytes, array[int]]:
    ends = array("I")
    length = 0
    for token in tokens:
        length += len(token)
        ends.append(length)
    return b"".join(tokens), ends


def decode(chain, tokens: list[bytes]) -> bytes:
    """Decode strings: each is the token of its place."""
    found = tables(tokens), (b"", b"", b""), None
    return compile_chain(chain).decode(array("I", range(len(tokens))), found)


def rival(chain):
    decoders = needs("tokenizers").decoders
    made = {
        ByteLevelDecoder: lambda it: decoders.ByteLevel(),
        WordPieceDecoder: lambda it: decoders.WordPiece(it.prefix, it.cleanup),
        MetaspaceDecoder: lambda it: decoders.Metaspace(it.replacement, it.prepend_scheme),
        BPEDecoder: lambda it: decoders.BPEDecoder(it.suffix),
        CTC: lambda it: decoders.CTC(it.pad_token, it.word_delimiter_token, it.cleanup),
        ByteFallback: lambda it: decoders.ByteFallback(),
        Fuse: lambda it: decoders.Fuse(),
        StripDecoder: lambda it: decoders.Strip(it.content, it.start, it.stop),
        ReplaceDecoder: lambda it: decoders.Replace(it.pattern, it.content),
    }
    return decoders.Sequence([made[type(decoder)](decoder) for decoder in chain])


def test_tokens_are_joined_with_nothing_where_no_decoder_says_otherwise():
    assert decode((), [b"a", b"\xff", b" b"]) == b"a\xff b"


@pytest.mark.parametrize(("chain", "oracle"), ORACLES, ids=lambda value: type(value[0]).__name__)
@given(tokens=token_lists)
def test_as_the_textbook_does(chain, oracle, tokens):
    tokens = [token.encode() for token in tokens]
    assert decode(chain, tokens) == b"".join(reduce(lambda strings, step: step(strings), oracle, tokens))


@at_least(7)
@pytest.mark.parametrize("chain", [chain for chain, _ in ORACLES], ids=lambda chain: repr(chain[0])[:24])
@given(tokens=token_lists)
def test_as_tokenizers_does_wherever_text_comes_out(chain, tokens):
    if StripDecoder("a", 1, 1) in chain:
        tokens = [token for token in tokens if token != "a"]  # theirs panics: it would take off more than there is
    ours = decode(chain, [token.encode() for token in tokens])
    try:
        text = ours.decode()
    except UnicodeDecodeError:
        return
    assert rival(chain).decode(tokens) == text
    compared()


def test_bytes_that_are_no_text_are_kept():
    """Theirs puts U+FFFD: for each byte of a run if one of them is wrong, and for each broken sequence."""
    run = ["<0xE4>", "<0xBD>", "<0xA0>", "<0xFF>"]
    assert decode((ByteFallback(),), [token.encode() for token in run]) == b"\xe4\xbd\xa0\xff"
    assert rival((ByteFallback(),)).decode(run) == "\ufffd" * 4
    assert decode((ByteLevelDecoder(),), ["ä½".encode(), b"a"]) == b"\xe4\xbda"
    assert rival((ByteLevelDecoder(),)).decode(["ä½", "a"]) == "\ufffda"


def test_a_sign_is_no_digit_of_a_byte():
    """Theirs reads ``<0x+F>`` as the byte 15."""
    assert decode((ByteFallback(),), [b"<0x+F>"]) == b"<0x+F>"
    assert rival((ByteFallback(),)).decode(["<0x+F>"]) == "\x0f"


def test_replaces_by_expression():
    tokenizers = needs("tokenizers")
    tokens = ["xaxx", "b", "xx", "é x"]
    theirs = tokenizers.decoders.Replace(tokenizers.Regex("x+| "), "<>").decode(tokens)
    chain = (ReplaceDecoder("x+| ", "<>", literal=False),)
    assert decode(chain, [token.encode() for token in tokens]).decode() == theirs


@pytest.mark.parametrize("name", STORED)
def test_stored_results(shared, name):
    stored = json.loads((shared / "expected" / "components" / "decoders.json").read_text("utf-8"))["decoders"]
    assert stored.keys() == STORED.keys()
    for case in stored[name].values():
        ours = decode(STORED[name], [token.encode() for token in case["tokens"]])
        if ByteFallback() in STORED[name] and "<0xE5>" in case["tokens"]:
            # The run with a cut character: theirs has U+FFFD for each byte of it.
            ours = ours.replace(b"\xe5\xa5", "\ufffd\ufffd".encode())
            # And in the last run theirs takes the newline for broken too.
            ours = ours.replace(b"\xff\n", "\ufffd\ufffd".encode())
        assert ours.decode("utf-8", "replace") == case["out"]


# -- ids -------------------------------------------------------------------------------------------


def test_ids_special_tokens_and_what_is_left_out():
    blob, ends = tables([b"<unk>", b"<s>", "▁a".encode(), b"", "▁b".encode()])
    special_blob, special_ends = tables([b"<unk>", b"<s>", b"<x>"])
    special = (array("I", [0, 1, 9]), special_blob, special_ends)
    decoder = compile_chain((MetaspaceDecoder(),))
    ids = array("I", [1, 2, 9, 4])
    assert decoder.decode(ids, ((blob, ends), special, None)) == b"<s> a<x> b"
    # What is left out is left out before any decoder sees it: the first token is another one.
    assert decoder.decode(ids, ((blob, ends), special, b"\0\1\1")) == b"a b"
    with pytest.raises(ValueError, match="id 3 has no token") as caught:
        decoder.decode(array("I", [1, 3]), ((blob, ends), special, None))
    assert caught.value.args[1] == 1
    with pytest.raises(ValueError, match="3 special tokens have 2 readings"):
        decoder.decode(ids, ((blob, ends), special, b"\0\1"))
    with pytest.raises(ValueError, match="id 4 has no token"):
        decoder.decode(ids, ((blob[:-1], ends), special, None))


@pytest.mark.parametrize(
    "spec",
    ["", "{}", '[{"type": "Nothing"}]', '[{"type": "Strip", "content": "ab", "start": 0, "stop": 0}]', "[" * 10_000],
)
def test_broken_specifications_are_refused(spec):
    with pytest.raises(ValueError, match="not the decoders of a tokenizer"):
        _core.Decoder(spec)


def test_an_expression_that_does_not_compile_is_refused():
    with pytest.raises(ValueError, match=r'the pattern "\(" does not compile'):
        compile_chain((ReplaceDecoder("(", "", literal=False),))


def test_long_input_takes_linear_time():
    token = b"a. " * 20_000
    chain = (WordPieceDecoder(), CTC(), BPEDecoder("a."), StripDecoder(" ", 1 << 62, 1 << 62), Fuse())
    assert decode(chain, [token] * 3) == b""


# -- SentencePiece ---------------------------------------------------------------------------------

SENTENCES = ["hello world foo bar baz"] * 50 + ["a b  c"] * 20
OPTIONS = [
    {},
    {"byte_fallback": True, "vocab_size": 290},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
    {"treat_whitespace_as_suffix": True},
]


@pytest.fixture(scope="module")
def models():
    sentencepiece = needs("sentencepiece")
    made = []
    for options in OPTIONS:
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES),
            model_writer=model,
            model_type="bpe",
            minloglevel=5,
            user_defined_symbols=["▁▁", "x▁y"],
            hard_vocab_limit=False,
            **{"vocab_size": 26, **options},
        )
        made.append(sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()))
    return made


@pytest.mark.parametrize("number", range(len(OPTIONS)))
@given(data=st.data())
def test_as_sentencepiece_does(models, number, data):
    model, options = models[number], OPTIONS[number]
    first = [model.piece_to_id(piece) for piece in ("▁", "▁▁", "x▁y", "<unk>", "<s>", "a")]
    first += [piece for piece in range(model.vocab_size()) if model.is_byte(piece)][0xE2:0xE5]
    ids = data.draw(st.lists(st.one_of(st.sampled_from(first), st.integers(0, model.vocab_size() - 1)), max_size=8))
    decoder = compile_chain(
        (
            SpaceMarksDecoder(
                options.get("add_dummy_prefix", True),
                options.get("remove_extra_whitespaces", True),
                options.get("treat_whitespace_as_suffix", False),
                byte_fallback=options.get("byte_fallback", False),
            ),
        )
    )
    blob, ends = tables([model.id_to_piece(token_id).encode() for token_id in range(model.vocab_size())])
    special = [token_id for token_id in range(model.vocab_size()) if model.is_control(token_id) or not token_id]
    special_blob, special_ends = tables([b""] * len(special))
    reading = bytes(1 if model.is_control(token_id) else 2 for token_id in special)
    ours = decoder.decode(array("I", ids), ((blob, ends), (array("I", special), special_blob, special_ends), reading))
    # Theirs has U+FFFD for each byte that is no part of a character.
    text = "".join(
        "\ufffd" if "\udc80" <= character <= "\udcff" else character
        for character in ours.decode("utf-8", "surrogateescape")
    )
    assert text == model.decode(ids)


@given(st.lists(st.sampled_from(["▁▁a▁", "▁", "b", "<0x41>", "<0xFF>", "<unk>"]), max_size=6), st.booleans())
@example(["<unk>", "▁"], True)
def test_space_marks_as_the_textbook_reads_them(tokens, strips_all):
    unknown = tokens.index("<unk>") if "<unk>" in tokens else None
    tokens = [token for place, token in enumerate(tokens) if token != "<unk>" or place == unknown]
    blob, ends = tables([token.encode() for token in tokens])
    special = (array("I", [] if unknown is None else [unknown]), b"", array("I", [0] * (unknown is not None)))
    decoder = compile_chain((SpaceMarksDecoder(remove_extra_whitespaces=strips_all),))
    ours = decoder.decode(array("I", range(len(tokens))), ((blob, ends), special, b"\2" * len(special[0])))
    expected = textbook.space_marks([token.encode() for token in tokens], True, strips_all, unknown)
    assert ours == b"".join(expected)
