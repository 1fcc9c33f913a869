"""BERT's vocab.txt: what is read from it and from beside it, and what is written."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_cli import formats
from bpe_cli.errors import FormatError, UsageError
from bpe_cli.formats import bert as bert_vocab
from bpe_cli.formats.bert import casing as bert_words
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.huggingface import companions
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import (
    BertNormalizer,
    BertPreTokenizer,
    Lowercase,
    SpecialToken,
    Whitespace,
    WordPiece,
    WordPieceDecoder,
)
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.post_processor import process
from bpe_cli.tokenizer.usage import Usage
from bpe_cli.trainers import train, wordpiece
from tests.needs import needs

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
CORPUS = [
    "The quick brown fox jumps over the lazy dog, and the dogs bark loudly.",
    "Größere Füchse springen höher; 漢字 und Ελλάδα! naïve café",
    "unaffable, affable, unlikely, likely, likelihood; jumping, jumped, jumper",
] * 4
TOKENS = [*SPECIAL, "un", "##aff", "##able", "a", "."]


def text_of(tokens, end="\n"):
    return "".join(token + end for token in tokens).encode()


@pytest.fixture
def lay(tmp_path):
    """Write a vocabulary and files beside it."""

    def write(tokens=TOKENS, **others):
        (tmp_path / "vocab.txt").write_bytes(tokens if isinstance(tokens, bytes) else text_of(tokens))
        for name, content in others.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path / "vocab.txt"

    return write


# -- reading ---------------------------------------------------------------------------------------


def test_worked_example(lay):
    tokenizer = formats.load(lay())
    assert tokenizer == Tokenizer(
        WordPiece(Vocabulary.from_tokens([b"", b"", b"", b"", b"", b"un", b"##aff", b"##able", b"a", b"."]), 1),
        (BertPreTokenizer(),),
        tuple(SpecialToken(text.encode(), number) for number, text in enumerate(SPECIAL)),
        post_processor=tokenizer.post_processor,
        normalizer=(BertNormalizer(),),
        decoder=(WordPieceDecoder(),),
        usage=Usage(roles=(("unk", 1), ("sep", 3), ("pad", 0), ("cls", 2), ("mask", 4))),
    )
    assert tokenizer.encode("Unaffable. Ünaff wrong [MASK]") == [5, 6, 7, 9, 5, 6, 1, 1, 1, 1]
    assert tokenizer.encode("a [MASK]", specials="all") == [8, 4]
    assert process(tokenizer.post_processor, [5, 6], [8]).ids == [2, 5, 6, 3, 8, 3]
    assert process(tokenizer.post_processor, [5, 6], [8]).type_ids == [0, 0, 0, 0, 1, 1]
    assert tokenizer.decode_bytes([5, 6, 7, 9]) == b"unaffable."


def test_folder_stands_for_its_vocabulary(lay):
    path = lay(tokenizer_config={"do_lower_case": True})
    assert formats.identify(path.parent) == "bert-vocab"
    assert formats.load(path.parent) == formats.load(path)


def test_pattern_has_no_place(lay):
    with pytest.raises(UsageError, match="cuts text in its own way"):
        formats.load(lay(), "gpt2")


@pytest.mark.parametrize("content", [text_of(TOKENS, "\r\n"), text_of(TOKENS)[:-1]])
def test_line_ends_of_windows_and_a_missing_one(lay, content):
    assert formats.load(lay(content)) == bert_vocab.loads(text_of(TOKENS))


def test_only_the_line_end_is_taken_off():
    tokens = [*SPECIAL, " b", "b\u00a0", "\u2028", "b"]
    vocabulary = bert_vocab.loads(text_of(tokens)).model.vocabulary
    assert [vocabulary.token(number).decode() for number in range(5, 9)] == tokens[5:]


def test_of_a_token_that_stands_twice_the_last_counts(tmp_path):
    """So do Google's reader and Hugging Face's; the first id stands for nothing, there as here."""
    others = [f"w{number}" for number in range(100)]  # a list with many equal lines is not a vocabulary
    content = text_of([*SPECIAL, "a", "", "b", "a", *others])
    tokenizer = bert_vocab.loads(content)
    assert tokenizer.encode("a b") == [8, 7]
    assert ("lines that stand for nothing", 2) in tokenizer.origin.facts
    assert formats.dump(tokenizer, "bert-vocab")["vocab.txt"] == content
    with pytest.raises(FormatError, match=r"id 5 has no token, and in a vocab\.txt the number of the line is the id"):
        bert_vocab.dump(replace(tokenizer, origin=None))
    rival = needs("tokenizers")
    (tmp_path / "vocab.txt").write_bytes(content)
    theirs = rival.BertWordPieceTokenizer(str(tmp_path / "vocab.txt"))
    assert theirs.encode("a b", add_special_tokens=False).ids == [8, 7]
    assert theirs.id_to_token(5) is None


def test_lower_case_names():
    tokenizer = bert_vocab.loads(text_of([token.lower() for token in TOKENS]))
    assert [token.content for token in tokenizer.special_tokens] == [token.lower().encode() for token in SPECIAL]
    assert process(tokenizer.post_processor, [5]).ids == [2, 5, 3]
    assert tokenizer.encode("zzz") == [1]


def test_nothing_is_put_around_where_there_is_nothing_to_put():
    tokenizer = bert_vocab.loads(text_of(["[UNK]", "a", "##b"]))
    assert tokenizer.post_processor is None
    assert tokenizer.usage == Usage(roles=(("unk", 0),))


def test_json_object_of_the_same_tokens(tmp_path):
    ids = {token: number for number, token in enumerate(TOKENS)}
    path = tmp_path / "bert.vocab"
    path.write_text(json.dumps(dict(sorted(ids.items()))))
    assert formats.identify(path) == "bert-vocab"
    assert formats.load(path) == bert_vocab.loads(text_of(TOKENS))


def test_json_vocabulary_with_merges_beside_it_is_of_that_pair(tmp_path):
    (tmp_path / "vocab.json").write_text('{"[UNK]": 0, "a": 1, "##b": 2}')
    assert formats.identify(tmp_path / "vocab.json") == "bert-vocab"
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    assert formats.identify(tmp_path / "vocab.json") == "vocab-merges"


# -- the settings beside it ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "normalizer"),
    [
        ({"do_lower_case": False}, BertNormalizer(lowercase=False)),
        ({"do_lower_case": True, "strip_accents": False}, BertNormalizer(strip_accents=False)),
        ({"tokenize_chinese_chars": False, "strip_accents": None}, BertNormalizer(handle_chinese_chars=False)),
        ({"model_max_length": 512, "tokenizer_class": "BertTokenizerFast"}, BertNormalizer()),
        ({"tokenizer_class": "PreTrainedTokenizerFast"}, BertNormalizer()),
    ],
)
def test_settings_are_read(lay, config, normalizer):
    tokenizer = formats.load(lay([*TOKENS, "Cased"], tokenizer_config=config))
    assert tokenizer.normalizer == (normalizer,)
    assert not any("words" in name for name, _ in tokenizer.origin.facts), "what words show is not asked"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"do_lower_case": "yes"}, "do_lower_case must be true or false"),
        ({"strip_accents": 1}, "strip_accents must be true or false, not 1"),
        ({"tokenizer_class": "BertJapaneseTokenizer"}, "whose stages are not known to be BERT's"),
        ({"tokenizer_class": 5}, "tokenizer_class must be a string"),
        ({"do_basic_tokenize": False}, "do_basic_tokenize is false, which this version cannot carry over"),
        ({"unk_token": "<unk>"}, "has no token for words that cannot be spelt: [UNK], or what"),
        ({"unk_token": None}, "has no token for words that cannot be spelt"),
        ({"unk_token": 5}, "unk_token must be a string"),
        ({"added_tokens_decoder": {"-1": {}}}, 'has the key "-1", which is not an id'),
        ({"added_tokens_decoder": {"5": {"content": "x"}}}, 'has id 5, which is "un" in the vocabulary'),
        ([], "must be an object, not an array"),
    ],
)
def test_wrong_settings_are_named(lay, config, message):
    with pytest.raises(FormatError) as caught:
        formats.load(lay(tokenizer_config=config))
    assert message in caught.value.message


def test_tokens_that_the_settings_add(lay):
    added = {"4": {"content": "[MASK]", "lstrip": True}, "10": {"content": "<new>"}}
    tokenizer = formats.load(
        lay(tokenizer_config={"bos_token": "un", "unk_token": {"content": "[UNK]"}, "added_tokens_decoder": added})
    )
    assert tokenizer.special_ids[10] == SpecialToken(b"<new>", 10, special=False)
    assert tokenizer.special_ids[4] == SpecialToken(b"[MASK]", 4, special=False, lstrip=True)
    assert tokenizer.usage.role("bos") == 5
    assert tokenizer.encode("un un<new>") == [1, 1, 10]  # as a special token it is not a word any more


# -- the spelling of words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "normalizer"),
    [
        (["un", "##aff", "[X]", "<S>"], BertNormalizer()),
        (["un", "Un"], BertNormalizer(lowercase=False)),
        (["un", "##U"], BertNormalizer(lowercase=False)),
        (["Über", "über"], BertNormalizer(lowercase=False)),
        (["uber", "über"], BertNormalizer(strip_accents=False)),
        (["한국"], BertNormalizer(strip_accents=False)),
        (["漢", "字", "!", "1"], BertNormalizer()),
        ([], BertNormalizer()),
    ],
)
def test_words_show_how_text_is_to_be_spelt(words, normalizer):
    tokenizer = bert_vocab.loads(text_of([*SPECIAL, *words]))
    assert tokenizer.normalizer == (normalizer,)
    assert dict(tokenizer.origin.facts) == dict(bert_words.reading(words, "##").facts())
    for word in words:
        if not word.startswith(("##", "[", "<")):
            assert tokenizer.encode(word) != [1], "otherwise the token could never be met"


LETTERS = st.text(st.sampled_from("abAÄäßσΣİi한漢#.[]!'\u0301 \u2028\n\x00"), min_size=1, max_size=4)


@given(words=st.lists(LETTERS, max_size=5))
def test_no_other_spelling_meets_more_words(words):
    """What lower-casing or stripping would make unreachable is what the reading is about."""

    def met(normalizer):
        stages = BertNormalizer(clean_text=False, handle_chinese_chars=False)
        stages = replace(stages, lowercase=normalizer.lowercase, strip_accents=normalizer.strip_accents)
        vocabulary = Vocabulary.from_ids({word.encode(): number for number, word in enumerate(dict.fromkeys(words), 1)})
        tokenizer = Tokenizer(WordPiece(vocabulary, 0), (BertPreTokenizer(),), normalizer=(stages,))
        wanted = {word: number for number, word in enumerate(dict.fromkeys(words), 1)}
        return {word for word, number in wanted.items() if tokenizer.encode(word) == [number]}

    words = [word for word in words if not word.startswith("##")]
    kept = met(BertNormalizer(lowercase=False, strip_accents=False))
    chosen = bert_words.reading(words, "##").normalizer()
    assert met(chosen) == kept


# -- writing ---------------------------------------------------------------------------------------


def read_back(files):
    return bert_vocab.loads(files["vocab.txt"], companion_files=companions.loads(files))


BASE = bert_vocab.loads(text_of(TOKENS))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"unicode_version": "16.0.0"},
        {"normalizer": (BertNormalizer(strip_accents=True, lowercase=False, handle_chinese_chars=False),)},
        {"special_tokens": (*BASE.special_tokens, SpecialToken(b"<x>", 12, special=False))},
        {"special_tokens": (*BASE.special_tokens[:4], replace(BASE.special_tokens[4], lstrip=True))},
        {
            "special_tokens": (*BASE.special_tokens, SpecialToken(b"<s>", 10)),
            "usage": Usage(roles=(("bos", 10), *BASE.usage.roles)),
        },
        {"usage": Usage(roles=tuple(role for role in BASE.usage.roles if role[0] != "mask"))},
    ],
)  # fmt: skip
def test_what_is_written_reads_back(changes):
    tokenizer = replace(BASE, **changes)
    assert read_back(bert_vocab.dump(tokenizer)) == tokenizer


def test_another_way_to_write_the_same_frame():
    frame = '{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]}'
    assert read_back(bert_vocab.dump(replace(BASE, post_processor=frame, usage=Usage()))) == BASE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": (Lowercase(),)}, "another normalizer than BERT's"),
        ({"normalizer": ()}, "the lack of a normalizer"),
        ({"normalizer": (BertNormalizer(clean_text=False),)}, "another normalizer than BERT's"),
        ({"pre_tokenizer": (Whitespace(),)}, "another pre-tokenizer than BERT's"),
        ({"decoder": (WordPieceDecoder(cleanup=False),)}, "another decoder than BERT's"),
        ({"post_processor": None}, "another post-processor than BERT's"),
    ],
)
def test_what_it_cannot_hold_is_named(changes, message):
    tokenizer = replace(BASE, **changes)
    with pytest.raises(FormatError) as caught:
        bert_vocab.dump(tokenizer)
    assert caught.value.message == f"a vocab.txt cannot hold {message}"
    assert bert_vocab.dump(tokenizer, LOSSES)["vocab.txt"] == text_of(TOKENS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"continuing_subword_prefix": "@@"}, "cannot say that continuing tokens begin with '@@'"),
        ({"max_input_chars_per_word": 200}, "cannot say that the longest known word has 200"),
        ({"vocabulary": Vocabulary.from_ids({b"a": 7})}, "id 5 has no token"),
        ({"vocabulary": Vocabulary.from_ids({b"a\nb": 5})}, r'"a\nb" (id 5) has a line end'),
        ({"vocabulary": Vocabulary.from_ids({b"a\r": 5})}, r'"a\r" (id 5) has a line end'),
        ({"vocabulary": Vocabulary.from_ids({b"\xff": 5})}, "is not UTF-8"),
    ],
)
def test_what_no_line_can_say(model, message):
    with pytest.raises(FormatError) as caught:
        bert_vocab.dump(replace(BASE, model=replace(BASE.model, **model)))
    assert message in caught.value.message


def test_other_models_are_refused(make):
    with pytest.raises(FormatError, match=r"a vocab\.txt cannot hold byte-level BPE by merges"):
        bert_vocab.dump(make())


def test_what_is_trained_here_reads_back():
    trained = train(CORPUS, wordpiece.Options(vocab_size=200))
    again = read_back(bert_vocab.dump(trained))
    # The frame is BertProcessing in one and a template in the other; roles are BERT's by their names.
    assert replace(again, post_processor=trained.post_processor, usage=trained.usage) == trained
    assert process(again.post_processor, [7], [8]) == process(trained.post_processor, [7], [8])


# -- the library's own files -----------------------------------------------------------------------


@pytest.fixture(scope="module", params=["uncased", "cased", "accents"])
def trained(request, tmp_path_factory):
    """Train Hugging Face's BERT on a few lines and let it save its vocabulary."""
    rival = needs("tokenizers")
    settings = {
        "uncased": {"lowercase": True},
        "cased": {"lowercase": False},
        "accents": {"lowercase": True, "strip_accents": False},
    }[request.param]
    theirs = rival.BertWordPieceTokenizer(**settings)
    theirs.train_from_iterator(CORPUS, vocab_size=300, min_frequency=1, show_progress=False)
    folder = tmp_path_factory.mktemp(request.param)
    theirs.save_model(str(folder))
    return rival.BertWordPieceTokenizer(str(folder / "vocab.txt"), **settings), folder / "vocab.txt"


PIECES = [
    *" ".join(CORPUS[:3]).split(),
    "[MASK]",
    "[UNK]",
    "[SEP]x",
    "ÄÖ",
    "e\u0301",
    "\u00a0",
    "\n",
    "zzz",
    "##s",
    "a" * 101,
]


def test_trained_vocabulary_gives_equal_ids(trained):
    theirs, path = trained
    ours = formats.load(path)  # the words show the case: nothing else is given
    draw = random.Random(11)
    for _ in range(300):
        text = "".join(draw.choice(PIECES) + draw.choice(["", " ", "-"]) for _ in range(draw.randrange(1, 8)))
        expected = theirs.encode(text, add_special_tokens=False)
        assert ours.encode(text, specials="all") == expected.ids, text
        found = ours.tokens(text, specials="all")
        spans = [(len(text.encode()[: t.start].decode()), len(text.encode()[: t.end].decode())) for t in found]
        assert spans == expected.offsets, text
        plain = [token_id for token_id in expected.ids if token_id not in ours.special_ids]
        assert ours.decode_bytes(plain).decode() == theirs.decode(expected.ids), text
        assert process(ours.post_processor, expected.ids).ids == theirs.encode(text).ids


def test_library_reads_what_is_written(trained, tmp_path):
    theirs, path = trained
    files = formats.dump(hf_json.loads(theirs.to_str().encode()), "bert-vocab")
    assert files["vocab.txt"] == path.read_bytes()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert formats.load(tmp_path) == formats.load(path)
    again = type(theirs)(str(tmp_path / "vocab.txt"))
    assert again.get_vocab() == theirs.get_vocab()
