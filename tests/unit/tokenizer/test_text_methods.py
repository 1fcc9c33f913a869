"""What programs call on a tokenizer: batches, counts, spans, parts of texts, pairs, tokens by name, files, chats.

Length: one part for each of the methods, which are many.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pickle
from array import array
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_cli
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import ReplaceDecoder, SpecialToken, WordLevel
from bpe_cli.stages.spelling import to_visible
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.encoded import EncodedBatch
from bpe_cli.tokenizer.parts import breaks
from bpe_cli.tokenizer.usage import Usage
from tests.cli.training_kinds import KINDS
from tests.counted import at_least, compared
from tests.differential.rivals import tiktoken_encoding
from tests.every_format import trained
from tests.needs import needs
from tests.thorough import more

GPT2 = bpe_cli.load("gpt2")
TEXTS = ["hello world", "", "naïve 你好 \N{CLOWN FACE}", "a\n\n  b", "<|endoftext|>x"]
ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(TEXTS)
TOKENIZERS = {"gpt2": GPT2} | {kind: trained(kind) for kind in list(KINDS)[:6]}


# -- encode --------------------------------------------------------------------------------------------


def test_a_limit_counts_what_is_around():
    assert GPT2.encode("one two three", max_tokens=2) == [505, 734]
    assert GPT2.encode("one two three", max_tokens=2, side="left") == [734, 1115]
    assert GPT2.encode("one two three", max_tokens=2, eot="auto") == [505, 50256]
    assert GPT2.encode("one two three", max_tokens=1, eot="auto") == [50256]
    assert GPT2.encode("one two three", max_tokens=0) == []
    with pytest.raises(UsageError, match="max_tokens is 0, and 1 ids are put around the text"):
        GPT2.encode("one", max_tokens=0, eot="auto")
    with pytest.raises(UsageError, match="side must be 'left' or 'right', not 'top'"):
        GPT2.encode("one", max_tokens=1, side="top")


@pytest.mark.parametrize("text", [bytearray(b"hi"), memoryview(b"hi"), memoryview(b"xhi")[1:]])
def test_whatever_holds_bytes_is_a_text(text):
    assert GPT2.encode(text) == GPT2.encode("hi") == GPT2.encode_batch([text])[0]
    assert GPT2.count(text) == 1
    assert [token.content for token in GPT2.tokens(text)] == [b"hi"]


@at_least(3)
@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=st.lists(ANY, max_size=6), limit=st.none() | st.integers(2, 6), side=st.sampled_from(["left", "right"]))
def test_a_batch_is_its_texts_one_by_one(name, texts, limit, side):
    tokenizer = TOKENIZERS[name]
    options = {"specials": "all", "max_tokens": limit, "side": side}
    try:
        expected = [tokenizer.encode(text, **options) for text in texts]
    except InputError:
        with pytest.raises(InputError):
            tokenizer.encode_batch(texts, **options)
        return
    batch = tokenizer.encode_batch(texts, **options)
    assert (len(batch), list(batch), batch.to_lists()) == (len(texts), expected, expected)
    assert batch == expected
    assert [batch[place] for place in range(len(texts))] == expected
    assert [batch[place - len(texts)] for place in range(len(texts))] == expected
    assert batch[1:4] == expected[1:4]
    assert batch[3:1] == []
    assert batch.offsets.tolist() == [sum(map(len, expected[:end])) for end in range(len(texts) + 1)]
    assert tokenizer.count_batch(texts, specials="all") == [tokenizer.count(text, specials="all") for text in texts]
    assert [len(tokenizer.encode(text, specials="all")) for text in texts] == tokenizer.count_batch(
        texts, specials="all", threads=2
    )
    assert tokenizer.decode_batch(batch) == [tokenizer.decode(ids) for ids in expected]
    compared()


def test_a_batch_is_read_by_numpy_without_a_copy():
    np = needs("numpy")
    batch = GPT2.encode_batch(TEXTS, eot="auto", threads=2)
    ids, offsets = batch.numpy()
    assert (ids.dtype, offsets.dtype) == (np.uint32, np.uint64)
    assert np.shares_memory(ids, np.frombuffer(batch.ids, np.uint32))
    assert [ids[offsets[place] : offsets[place + 1]].tolist() for place in range(len(TEXTS))] == batch.to_lists()
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 1


def test_a_batch_is_a_value():
    batch = GPT2.encode_batch(TEXTS)
    for other in (copy.copy(batch), copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
        assert other == batch
        assert other != batch[:-1]
    assert repr(batch) == "<5 texts, 24 ids>"
    assert GPT2.encode_batch([]) == []
    with pytest.raises(IndexError):
        batch[5]
    with pytest.raises(UsageError, match="no slices of step 2"):
        batch[::2]


def test_a_batch_becomes_a_rectangle():
    batch = GPT2.encode_batch(["one two three", "", "one"])
    padded = batch.pad(7)
    assert padded.ids.tolist() == [[505, 734, 1115], [7, 7, 7], [505, 7, 7]]
    assert padded.mask.tolist() == [[1, 1, 1], [0, 0, 0], [1, 0, 0]]
    left = batch.pad(7, side="left", multiple_of=4)
    assert left.ids.tolist() == [[7, 505, 734, 1115], [7, 7, 7, 7], [7, 7, 7, 505]]
    assert left.mask.tolist() == [[0, 1, 1, 1], [0, 0, 0, 0], [0, 0, 0, 1]]
    assert batch.pad(7, length=5).shape == (3, 5)
    with pytest.raises(UsageError, match="a text has 3 tokens, which is more than the length 2"):
        batch.pad(7, length=2)
    needs("numpy")
    for some, shape in ((batch, (3, 3)), (batch[:0], (0, 0)), (GPT2.encode_batch([""]), (1, 0))):
        assert [each.shape for each in some.pad(0).numpy()] == [shape, shape]


def test_a_rectangle_is_a_value():
    """What loads data in other processes sends it to the first one."""
    batch = GPT2.encode_batch(["one two three", "", "one"])
    for padded in (batch.pad(7), batch[:0].pad(7), batch[1:2].pad(7)):
        for other in (copy.copy(padded), copy.deepcopy(padded), pickle.loads(pickle.dumps(padded))):
            assert (other.ids.tolist(), other.mask.tolist()) == (padded.ids.tolist(), padded.mask.tolist())
            assert (other.shape, other.ids.format, other.mask.format) == (padded.shape, "I", "B")


# -- where tokens lie ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "cl100k_base"])
@given(text=ANY)
def test_characters_begin_where_tiktoken_says(name, text):
    rival = tiktoken_encoding(name)
    tokens = bpe_cli.load(name).tokens(text)
    whole, offsets = rival.decode_with_offsets(rival.encode_ordinary(text))
    assert whole == text
    assert [token.char_start for token in tokens] == offsets
    for token in tokens:
        data = text.encode()
        assert text[token.char_start : token.char_end].encode().find(data[token.start : token.end]) >= 0


def test_characters_of_what_is_no_text():
    spans = [(token.start, token.end, token.char_start, token.char_end) for token in GPT2.tokens(b"\xff\xffa\xc3\xa9")]
    assert spans[-1][1::2] == (5, 4)
    assert GPT2.tokens("") == []
    assert [(token.char_start, token.char_end) for token in trained("wordpiece").tokens("éÉ low")][-1] == (3, 6)


def test_an_added_token_that_is_written_like_a_byte_spans_its_own_text(tmp_path):
    """In the vocabulary, "é" is how byte E9 is written; as an added token it is two bytes of text with the same id."""
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized", "special"], False)
    path = tmp_path / "tokenizer.json"
    document = {
        "version": "1.0", "truncation": None, "padding": None, "normalizer": None, "post_processor": None,
        "decoder": None,
        "added_tokens": [{"id": 0xE9, "content": "é"} | flags],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "model": {"type": "BPE", "vocab": {to_visible(bytes([byte])): byte for byte in range(256)}, "merges": []},
    }  # fmt: skip
    path.write_text(json.dumps(document))
    tokens = bpe_cli.load(path).tokens("aéb é\n")
    spans = [(token.token_id, token.start, token.end) for token in tokens]
    assert spans == [(97, 0, 1), (0xE9, 1, 3), (98, 3, 4), (32, 4, 5), (0xE9, 5, 7), (10, 7, 8)]
    theirs = needs("tokenizers").Tokenizer.from_file(str(path))
    ids = [token_id for token_id, *_ in spans]
    assert theirs.encode("aéb é\n").ids == ids
    theirs.decoder = needs("tokenizers").decoders.ByteLevel()
    assert theirs.decode(ids) == bpe_cli.load(path).decode(ids) == "a\ufffdb \ufffd\n", "and decodes to the byte"


# -- parts of texts ------------------------------------------------------------------------------------


@at_least(3)
@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=ANY, limit=st.integers(1, 9), overlap=st.integers(0, 8))
def test_parts_are_the_text_and_cut_no_character(name, text, limit, overlap):
    tokenizer = TOKENIZERS[name]
    overlap = min(overlap, limit - 1)
    try:
        parts = list(tokenizer.chunks(text, limit, overlap=overlap))
        ids = tokenizer.encode(text)
    except InputError:  # a character has more tokens than that, or none
        return
    data = text.encode()
    assert all(0 < len(part.ids) <= limit for part in parts)
    assert all(part.text == data[part.start : part.end].decode() for part in parts)
    assert all(one.start < other.start <= one.end < other.end for one, other in pairwise(parts))
    if ids:
        assert (parts[0].start, parts[-1].end) == (0, len(data))
    if overlap == 0:
        assert [token_id for part in parts for token_id in part.ids] == ids
        assert "".join(part.text for part in parts) == (text if ids else "")
    compared()


def test_parts_repeat_as_many_tokens_as_asked():
    text = " ".join(f"word{number}" for number in range(300))
    ids, parts = GPT2.encode(text), list(GPT2.chunks(text, 50, overlap=10))
    assert [part.ids for part in parts] == [ids[start : start + 50] for start in range(0, len(ids) - 10, 40)]


PROSE = st.lists(
    st.sampled_from(
        ["One two. ", "e.g. this ", "Three?\n", "\n\n", "four five six\n", "你好。", "end.” ", "\r\n \r\n", "x"]
    ),
    max_size=20,
).map("".join)


def plain_chunks(tokenizer, text, size, overlap, kinds):
    """Divide a text slowly: every place is looked at each time."""
    data = text.encode()
    tokens = tokenizer.tokens(text)
    ends = [token.char_end for token in tokens]
    places = [0, *(
        place for place in range(1, len(tokens)) if tokens[place].char_start >= max(ends[:place], default=0)
    ), len(tokens)]  # fmt: skip
    offset_of = {place: tokens[place].start if place < len(tokens) else len(data) for place in places}
    good = [{places[n] for n in breaks(data, [offset_of[each] for each in places], kind)} for kind in kinds]
    made, start, reached = [], 0, 0
    while tokens and start < len(tokens):
        fitting = [place for place in places if start < place <= start + size]
        stop = fitting[-1]
        if stop < len(tokens):
            candidates = [[place for place in fitting if place in each and place > reached] for each in good]
            stop = next((each[-1] for each in candidates if each), stop)
        made.append((offset_of[start], offset_of[stop]))
        if stop == len(tokens):
            break
        following = places[places.index(stop) + 1]
        repeated = [p for p in places if start < p <= stop and p >= stop - overlap and p >= following - size]
        candidates = [[place for place in repeated if place in each and place < stop] for each in good]
        start, reached = next((each[0] for each in candidates if each), repeated[0] if repeated else stop), stop
    return made


KINDS_OF_BREAKS = {
    "token": (),
    "line": ("line", "sentence"),
    "sentence": ("sentence",),
    "paragraph": ("paragraph", "line", "sentence"),
}


@at_least(3)
@pytest.mark.parametrize("break_at", KINDS_OF_BREAKS)
@given(text=PROSE, limit=st.integers(3, 30), overlap=st.integers(0, 20))
def test_parts_end_where_a_plain_search_ends_them(break_at, text, limit, overlap):
    overlap = min(overlap, limit - 1)
    parts = list(GPT2.chunks(text, limit, overlap=overlap, break_at=break_at))
    expected = plain_chunks(GPT2, text, limit, overlap, KINDS_OF_BREAKS[break_at])
    assert [(part.start, part.end) for part in parts] == expected
    assert all(0 < len(part.ids) <= limit for part in parts)
    assert all(one.start < other.start <= one.end < other.end for one, other in pairwise(parts))
    if overlap == 0:
        assert "".join(part.text for part in parts) == text
    compared()


def test_parts_end_where_people_would_end_them():
    text = "One two. Three four e.g. five.\n\nSix seven (eight.) Nine\nten"

    def parts(size, kind):
        return [part.text for part in GPT2.chunks(text, size, break_at=kind)]

    assert parts(14, "paragraph") == ["One two. Three four e.g. five.\n\n", "Six seven (eight.) Nine\nten"]
    assert parts(7, "sentence") == [
        "One two.", " Three four e.g. five", ".", "\n\nSix seven (eight.)", " Nine\nten",
    ]  # fmt: skip
    lines = GPT2.chunks("one two\nthree four five\nsix", 5, break_at="line")
    assert [part.text for part in lines] == ["one two\n", "three four five\nsix"]
    assert [part.text for part in GPT2.chunks("你好。再见！", 9, break_at="sentence")] == ["你好。", "再见！"]
    with pytest.raises(UsageError, match="break_at must be 'token' or 'line' or 'sentence' or 'paragraph', not 'word'"):
        GPT2.chunks("a", 2, break_at="word")


def test_a_character_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="'你' at byte 0 has 2 tokens, and a part may have 1"):
        list(GPT2.chunks("你", 1))
    with pytest.raises(UsageError, match="overlap must be less than max_tokens, which is 2, not 2"):
        GPT2.chunks("a", 2, overlap=2)


@at_least(3)
@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=ANY, limit=st.integers(0, 9), side=st.sampled_from(["left", "right", "both"]))
def test_a_text_is_cut_to_what_fits(name, text, limit, side):
    tokenizer = TOKENIZERS[name]
    try:
        part = tokenizer.truncate(text, limit, side=side)
        count = tokenizer.count(text)
    except InputError:
        return
    assert {"right": text.startswith, "left": text.endswith, "both": text.__contains__}[side](part)
    assert tokenizer.count(part) <= limit
    if count <= limit:
        assert part == text
    assert tokenizer.truncate(text.encode(), limit, side=side) == part.encode()
    compared()


def test_the_middle_of_a_text_is_kept():
    text = "".join(f" {number}" for number in range(100))
    assert GPT2.truncate(text, 4, side="both") == " 48 49 50 51"
    assert GPT2.truncate("one two three", 1, side="both") == " two"


# -- pairs and what models take ------------------------------------------------------------------------

BERT = '{"type": "BertProcessing", "sep": ["[SEP]", 50256], "cls": ["[CLS]", 50256]}'


def with_(tokenizer, **changes):
    from bpe_cli.support.fast_dataclass import replace

    return replace(tokenizer, **changes)


def test_pairs_are_those_of_hugging_face(shared):
    tokenizers = needs("tokenizers")
    path = str(shared / "vocabs" / "roberta-base" / "tokenizer.json")
    ours, theirs = bpe_cli.load(path), tokenizers.Tokenizer.from_file(path)
    first, second = "Hello brave new wörld, 你好", "What is it, and why?"
    for limit, stride, strategy in ((None, 0, "longest_first"), (9, 0, "longest_first"), (9, 1, "only_first")):
        theirs.no_truncation()
        if limit:
            theirs.enable_truncation(limit, stride=stride, strategy=strategy)
        for texts in ((first, second), (first,)):
            if strategy == "only_first" and len(texts) == 2 and limit == 9:
                texts = ("Hello brave new world and more of it", "What?")
            expected = theirs.encode(*texts)
            options = {"max_tokens": limit, "stride": stride, "strategy": strategy, "specials": "all"}
            (found,) = ours.model_inputs([texts if len(texts) == 2 else texts[0]], **options)
            for one, other in ((found, expected), *zip(found.overflowing, expected.overflowing, strict=True)):
                assert list(one.ids) == other.ids
                assert list(one.type_ids) == other.type_ids
                assert list(one.special_mask) == other.special_tokens_mask
                assert list(one.spans) == other.offsets
            if len(texts) == 2:
                assert ours.encode_pair(*texts, **options) == found


def test_an_added_token_is_trimmed_of_the_whitespace_that_it_takes_along(shared):
    """RoBERTa's <mask> takes the whitespace before it, and its post-processor trims spans."""
    path = str(shared / "vocabs" / "roberta-base" / "tokenizer.json")
    ours, theirs = bpe_cli.load(path), needs("tokenizers").Tokenizer.from_file(path)
    for text in ("a <mask> b", "a  <mask>  b", " <mask>", "é \n<mask>\té", "a<mask><mask> "):
        expected = theirs.encode(text)
        (found,) = ours.model_inputs([text], specials="all")
        assert (list(found.ids), list(found.spans)) == (expected.ids, expected.offsets)


def test_padding_needs_something_to_fill_with():
    with pytest.raises(UsageError, match="this tokenizer names no padding token"):
        GPT2.model_inputs(["a"], padding="longest")
    padded = with_(GPT2, usage=Usage(roles=(("pad", 50256),)))
    (one, two) = padded.model_inputs(["one two", "one"], padding="longest", padding_side="left")
    assert (one.ids, two.ids, two.attention_mask) == ((505, 734), (50256, 505), (0, 1))
    assert two.tokens == ("<|endoftext|>", "one")
    (one,) = padded.model_inputs(["one"], padding=3, pad_to_multiple_of=4, pad_id=0)
    assert one.ids == (505, 0, 0, 0)


# -- tokens by name ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*TOKENIZERS, *more([], ["cl100k_base"]), "o200k_harmony"])
def test_every_id_has_its_token(name):
    tokenizer = TOKENIZERS.get(name) or bpe_cli.load(name)
    assert len(tokenizer) == tokenizer.vocab_size
    vocab = tokenizer.vocab
    id_of, token_of, bytes_of = tokenizer.token_to_id, tokenizer.id_to_token, tokenizer.token_bytes
    wrong = [
        token
        for token, token_id in vocab.items()
        if id_of(token) != token_id or token_of(token_id) != token
        or bytes_of(token_id) != token.encode("utf-8", "surrogateescape")
    ]  # fmt: skip
    assert wrong == []
    assert [*vocab.values()] == sorted(vocab.values())
    assert all(vocab[token.content] == token.token_id for token in tokenizer.special_tokens)
    assert tokenizer.id_to_token(len(tokenizer)) is tokenizer.id_to_token(-1) is None
    assert "no such token" not in vocab
    assert tokenizer.token_to_id("no such token") is None


def test_tokens_are_listed_though_an_id_is_as_high_as_ids_go():
    """To go through all ids up to it would take half an hour."""
    tokenizer = GPT2.with_special_tokens([SpecialToken(b"<far>", (1 << 32) - 2)])
    assert tokenizer.token_to_id("<far>") == (1 << 32) - 2
    assert tokenizer.token_to_id(" world") == 995
    assert list(tokenizer.vocab)[-2:] == ["<|endoftext|>", "<far>"]
    assert len(tokenizer.vocab) == 50_258


def test_the_end_of_a_text_is_left_out_if_asked():
    ids = [31373, 50256, 995]
    assert GPT2.decode(ids) == "hello<|endoftext|> world"
    assert GPT2.decode(ids, skip_special_tokens=True) == "hello world"
    assert GPT2.decode_batch([ids, []], skip_special_tokens=True) == ["hello world", ""]


def test_decoders_that_fail_are_not_blamed_on_the_ids():
    """The hint was that they are another tokenizer's."""
    growing = (ReplaceDecoder("x", "x" * 999),) * 3
    tokenizer = Tokenizer(WordLevel(Vocabulary.from_tokens([b"x" * 10])), decoder=growing)
    with pytest.raises(InputError) as caught:
        tokenizer.decode([0])
    expected = "the decoders make a text longer than 16777216 bytes of these tokens, which is the limit"
    assert (caught.value.message, caught.value.hint) == (expected, None)


# -- files ---------------------------------------------------------------------------------------------


def test_what_is_saved_is_loaded_again(tmp_path):
    tokenizer = trained("bbpe")
    assert tokenizer.save(tmp_path / "t.json") == [str(tmp_path / "t.json")]
    assert bpe_cli.load(tmp_path / "t.json").encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
    (tmp_path / "folder").mkdir()
    written = tokenizer.save(tmp_path / "folder")
    assert str(tmp_path / "folder" / "tokenizer.json") in written
    assert bpe_cli.load(tmp_path / "folder").encode(TEXTS[0]) == tokenizer.encode(TEXTS[0])
    assert sorted(os.listdir(tmp_path)) == ["folder", "t.json"]


def test_what_cannot_be_saved_leaves_nothing(tmp_path):
    with pytest.raises(FormatError, match="pattern"):
        trained("bbpe").save(tmp_path / "x.gguf", "gguf")
    with pytest.raises(UsageError, match="does not say which format"):
        GPT2.save(tmp_path / "x.odd")
    with pytest.raises(UsageError, match="unknown format 'tiktokn'") as caught:
        GPT2.save(tmp_path / "x", "tiktokn")
    assert "tiktoken" in caught.value.hint
    with pytest.raises(UsageError, match="allow_loss is the str 'pattern,decoder'") as caught:
        GPT2.save(tmp_path / "x.json", allow_loss="pattern,decoder")
    assert caught.value.hint == "put them into a list: allow_loss=['pattern', 'decoder']"
    assert list(tmp_path.iterdir()) == []


def test_a_conversion_says_what_became_of_it(tmp_path):
    done = bpe_cli.convert("gpt-4o", tmp_path / "x.tiktoken")
    assert (done.format, done.files, done.tokenizer.name) == ("tiktoken", (str(tmp_path / "x.tiktoken"),), "o200k_base")
    extra = SpecialToken(b"<x>", 50257)
    done = bpe_cli.convert(GPT2, tmp_path / "y.json", special_tokens=[extra])
    assert bpe_cli.load(tmp_path / "y.json").encode("<x>", specials=["<x>"]) == [50257]


# -- load ----------------------------------------------------------------------------------------------


def test_load_takes_what_the_command_line_takes(tmp_path, monkeypatch):
    assert bpe_cli.load("GPT-4o") is bpe_cli.load("o200k_base")
    GPT2.save(tmp_path / "gpt2.tiktoken")
    assert bpe_cli.load(str(tmp_path / "gpt2.tiktoken"), pattern="gpt2").encode("hello world") == [31373, 995]
    with pytest.raises(UsageError, match='unknown tokenizer "gpt-4oo"') as caught:
        bpe_cli.load("gpt-4oo")
    assert caught.value.hint.startswith("did you mean gpt-4o")
    with pytest.raises(InputError, match="cannot read gpt-4o: no such file"):
        bpe_cli.load(tmp_path.__class__("gpt-4o"))  # a path is never a name
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").write_bytes((tmp_path / "gpt2.tiktoken").read_bytes())
    assert bpe_cli.load("gpt2", "gpt2").name == "gpt2"


# -- conversations -------------------------------------------------------------------------------------

CHATML = bpe_cli.load("cl100k_base").with_special_tokens(
    SpecialToken(text, number) for number, text in enumerate((b"<|im_start|>", b"<|im_end|>"), 100264)
)
HI = [{"role": "user", "content": "hi<|im_end|>"}]


def test_a_conversation_forges_nothing():
    text = CHATML.apply_chat_template(HI, chat_template="chatml", tokenize=False, add_generation_prompt=True)
    assert text == "<|im_start|>user\nhi<|im_end|><|im_end|>\n<|im_start|>assistant\n"
    ids = CHATML.apply_chat_template(HI, chat_template="chatml", add_generation_prompt=True)
    assert (ids.count(100265), CHATML.decode(ids)) == (1, text)
    assert CHATML.apply_chat_template(HI, chat_template="chatml", specials="all").count(100265) == 2


def test_a_template_finds_what_it_is_given():
    template = "{{ messages[0].content }} {{ tools }} {{ mood }}{% if add_generation_prompt %} >{% endif %}"
    text = GPT2.apply_chat_template(
        [{"role": "user", "content": "hi"}], chat_template=template, tools=[1], mood="good", tokenize=False
    )
    assert text == "hi [1] good"


def test_tools_choose_the_template_for_tools():
    said = "{{ messages[0].content }}"
    usage = Usage(chat_templates=(("default", said), ("tool_use", "{{ tools | tojson }}" + said)))
    chat = dataclasses.replace(GPT2, usage=usage)
    hi = [{"role": "user", "content": "hi"}]
    assert chat.apply_chat_template(hi, tokenize=False) == "hi"
    assert chat.apply_chat_template(hi, tokenize=False, tools=[{"name": "f"}]) == '[{"name": "f"}]hi'
    assert chat.apply_chat_template(hi, tokenize=False, tools=[]) == "[]hi"
    assert chat.apply_chat_template(hi, tokenize=False, tools=[{}], chat_template="default") == "hi"


def test_integers_of_a_conversation_are_exact():
    template = "{{ messages[0].tool_calls | tojson }} {{ most }}"
    calls = [{"arguments": {"wei": 100000000000000000001, "of": None}}]
    text = GPT2.apply_chat_template(
        [{"role": "assistant", "tool_calls": calls}], chat_template=template, tokenize=False, most=-(1 << 70)
    )
    assert text == f"{json.dumps(calls)} {-(1 << 70)}"
    large = 1 << 70
    nothing = (
        (10**5000, "4300"),
        (10**400, "infinity"),
        ([large, {1}], "set is not"),
        ([large, float("nan")], "float"),
    )
    for value, message in nothing:
        with pytest.raises(TypeError, match=f"messages must be of what JSON has: .*{message}"):
            GPT2.apply_chat_template([{"role": "user", "x": value}], chat_template=template)
    with pytest.raises(InputError, match="lone surrogate"):
        GPT2.apply_chat_template([{"role": "user", "x": large, "content": "\ud800"}], chat_template=template)


def test_what_is_no_conversation_is_refused():
    with pytest.raises(UsageError, match="comes with no chat template"):
        GPT2.apply_chat_template(HI)
    with pytest.raises(UsageError, match="there is no chat template 'chatnl'"):
        GPT2.apply_chat_template(HI, chat_template="chatnl")
    with pytest.raises(InputError, match=r"messages\[0\] is no"):
        CHATML.apply_chat_template(["hi"], chat_template="chatml")
    with pytest.raises(UsageError, match="messages must be several messages, not one str"):
        CHATML.apply_chat_template("hi", chat_template="chatml")
    with pytest.raises(TypeError, match="messages must be a list of dicts with a role and a content, not dict"):
        CHATML.apply_chat_template(HI[0], chat_template="chatml")
    with pytest.raises(TypeError, match="messages must be of what JSON has"):
        CHATML.apply_chat_template([{"role": "user", "content": {1, 2}}], chat_template="chatml")
    with pytest.raises(InputError, match="lone surrogate"):
        CHATML.apply_chat_template([{"role": "user", "content": "\ud800"}], chat_template="chatml")


@given(st.lists(st.lists(st.integers(0, 20), max_size=8), max_size=8), st.sampled_from(["replace", "ignore"]))
@pytest.mark.parametrize("kind", TOKENIZERS)
def test_a_batch_is_decoded_as_each_of_its_lists(kind, lists, errors):
    tokenizer = TOKENIZERS[kind]
    expected = [tokenizer.decode(ids, errors) for ids in lists]
    assert tokenizer.decode_batch(lists, errors) == expected
    packed = EncodedBatch.packed(lists)
    assert (packed.to_lists(), tokenizer.decode_batch(packed, errors)) == (lists, expected)
    assert tokenizer.decode_batch([array("I", ids) for ids in lists], errors) == expected


def test_an_id_without_a_token_in_a_batch_is_told_with_its_place():
    with pytest.raises(InputError, match=r"^batch\[1\]: id 50257 at place 1 has no token"):
        GPT2.decode_batch([[1], [2, 50257]])
    with pytest.raises(InputError, match=r"^batch\[0\]: -1 at place 0 is not a token id$"):
        GPT2.decode_batch([[-1]])
    for batch in ([[1], [187]], EncodedBatch.packed([[1], [187]])):
        with pytest.raises(InputError, match=r"^batch\[1\]: the decoded bytes are not UTF-8"):
            GPT2.decode_batch(batch, "strict")
    for ids in ([50256, 50256, 60000], EncodedBatch.packed([[50256, 50256, 60000]])[0]):
        with pytest.raises(InputError, match=r"^id 60000 at place 2 has no token"):
            GPT2.decode(ids, skip_special_tokens=True)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_an_id_without_a_token_is_told_though_rows_are_read_but_once(name):
    """Each row was read twice: the second time there was nothing in it, and every text was empty."""
    tokenizer = TOKENIZERS[name]
    ids = tokenizer.encode("low")
    assert tokenizer.decode_batch(iter(row) for row in [ids, ids]) == [tokenizer.decode(ids)] * 2
    with pytest.raises(InputError, match=r"^batch\[1\]: id 60000 at place 0 has no token"):
        tokenizer.decode_batch(iter(row) for row in [ids, [60000]])


def test_a_choice_of_special_tokens_is_compiled_once():
    asked = [["<|endoftext|>"], ("<|endoftext|>",), {"<|endoftext|>"}]
    assert len({id(GPT2._matcher(specials)) for specials in asked}) == 1
    every, again = GPT2._matcher("all"), GPT2._matcher("all")
    assert every is not None
    assert again is every
    assert [GPT2._matcher(nothing) for nothing in ((), [])] == [None, None]
