"""vocab.json and merges.txt: the pair, and what lies beside it."""

from __future__ import annotations

import json
from functools import partial

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError
from bpe_cli.formats.features import LOSSES
from bpe_cli.formats.huggingface import vocab_merges
from bpe_cli.stages import MergeBpe, PrefixSpace, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from tests.needs import needs
from tests.work import assert_little_work

GPT2 = Split(PATTERNS["gpt2"].regex)
VOCAB = {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4}
MERGES = "#version: 0.2\na b\nĠ ab\n"


@pytest.fixture
def lay(tmp_path):
    """Write the pair and other files into a folder."""

    def write(vocab=VOCAB, merges=MERGES, names=("vocab.json", "merges.txt"), **others):
        (tmp_path / names[0]).write_text(vocab if isinstance(vocab, str) else json.dumps(vocab), encoding="utf-8")
        (tmp_path / names[1]).write_bytes(merges if isinstance(merges, bytes) else merges.encode())
        for name, content in others.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path

    return write


SMALL = Tokenizer(
    MergeBpe(Vocabulary.from_tokens([b"a", b"b", b" ", b"ab", b" ab"]), Merges.from_pairs([(0, 1, 3), (2, 3, 4)])),
    (GPT2,),
)


@pytest.mark.parametrize("names", [*vocab_merges.PAIRS, ("my-vocab.json", "my-merges.txt")])
def test_either_file_finds_the_other(lay, names):
    folder = lay(names=names)
    assert formats.load(folder / names[0]) == formats.load(folder / names[1]) == SMALL


def test_folder_holds_the_pair(lay):
    assert formats.load(lay()) == SMALL
    assert formats.load(lay(), "o200k").patterns == (PATTERNS["o200k"].regex,)


def test_partner_is_missing(lay):
    folder = lay()
    (folder / "merges.txt").unlink()
    with pytest.raises(InputError, match="is one of a pair of files, and the other is missing"):
        formats.load(folder / "vocab.json")


@pytest.mark.parametrize("merges", ["a b\nĠ ab\n", "a b\nĠ ab", MERGES + "\n\n"])
def test_header_and_last_line_end_may_be_missing(lay, merges):
    assert formats.load(lay(merges=merges)) == SMALL


def test_hash_may_begin_a_merge(lay):
    vocab = {"#": 0, "##": 1, "v": 2, "#v": 3}
    tokenizer = formats.load(lay(vocab, "#version: 0.2\n# #\n# v\n"))
    assert list(tokenizer.model.merges) == [(0, 0, 1), (0, 2, 3)]


@pytest.mark.parametrize(
    ("merges", "message"),
    [
        ("a b\na\n", 'not two tokens and one space between: "a" ('),
        ("a b\na  b\n", "merges.txt:2)"),
        ("a b\n\nĠ ab\n", "merges.txt:2)"),
        ("#version: 0.2\n#version: 0.2 x\n", "merges.txt:2)"),
        ("#version: 0.2\n#version: 0.2\n", 'merge 1 ("#version:", "0.2"): the token "#version:" is not in'),
        ("a b\r\n", "merges.txt:1)"),
        (b"a b\n\xff x\n", "byte 4 is not UTF-8 ("),
        ("a b\nab a\n", 'merge 2 ("ab", "a"): the token "aba" is not in the vocabulary'),
    ],
)
def test_wrong_merges_are_named(lay, merges, message):
    with pytest.raises(FormatError) as caught:
        formats.load(lay(merges=merges) / "vocab.json")
    assert message in caught.value.message


# -- special tokens ----------------------------------------------------------------------------

WITH_SPECIAL = VOCAB | {"<s>": 5}


def test_nothing_is_taken_for_special_by_itself(lay):
    tokenizer = formats.load(lay(WITH_SPECIAL))
    assert tokenizer.special_tokens == ()
    assert tokenizer.model.vocabulary.token(5) == b"<s>"


@pytest.mark.parametrize(
    "others",
    [
        {"tokenizer_config": {"added_tokens_decoder": {"5": {"content": "<s>", "special": True, "lstrip": False}}}},
        {"tokenizer_config": {"bos_token": "<s>", "eos_token": None}},
        {"special_tokens_map": {"bos_token": {"content": "<s>", "single_word": False}}},
        {"special_tokens_map": {"additional_special_tokens": ["<s>"]}},
        {"special_tokens_map": {"bos_token": "<s>"}, "added_tokens": {"<s>": 5}},
    ],
)
def test_side_files_declare_special_tokens(lay, others):
    tokenizer = formats.load(lay(WITH_SPECIAL, **others))
    assert tokenizer.special_tokens == (SpecialToken(b"<s>", 5),)
    assert tokenizer.model == SMALL.model


def test_added_tokens_that_nobody_calls_special_are_always_found(lay):
    assert formats.load(lay(added_tokens={"<x>": 9})).special_tokens == (SpecialToken(b"<x>", 9, special=False),)


def test_prefix_space_is_read(lay):
    assert formats.load(lay(tokenizer_config={"add_prefix_space": True})).pre_tokenizer == (PrefixSpace(), GPT2)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"special_tokens_map": {"bos_token": "<t>"}}, 'the special token "<t>" has no id'),
        (
            {"special_tokens_map": {"bos_token": {"content": "<s>", "rstrip": 1}}},
            "rstrip must be true or false, not 1",
        ),
        ({"special_tokens_map": {"bos_token": 5}}, "bos_token must be a string, not 5"),
        ({"special_tokens_map": [1]}, "special_tokens_map.json must be an object, not an array"),
        ({"tokenizer_config": {"added_tokens_decoder": {"x": {}}}}, 'has the key "x", which is not an id'),
        ({"tokenizer_config": {"added_tokens_decoder": {"5": {"content": "<t>"}}}}, 'has id 5, which is "<s>"'),
        (
            {"tokenizer_config": {"add_bos_token": True}},
            "add_bos_token is true, and what that does is known only of some classes",
        ),
        ({"added_tokens": {"<x>": -5}}, 'gives "<x>" the id -5'),
        ({"added_tokens": {"": 7}}, "has an empty token"),
        (
            {
                "added_tokens": {"<x>": 9},
                "tokenizer_config": {"added_tokens_decoder": {"8": {"content": "<x>"}}},
            },
            'the added tokens "<x>" (id 8) and "<x>" (id 9) contradict each other',
        ),
    ],
)
def test_wrong_side_files_are_named(lay, others, message):
    with pytest.raises(FormatError) as caught:
        formats.load(lay(WITH_SPECIAL, **others))
    assert message in caught.value.message


# -- writing -----------------------------------------------------------------------------------


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_small_pair_is_written_as_hugging_face_writes_it(tmp_path):
    files = vocab_merges.dump(SMALL)
    assert files == {
        "vocab.json": '{"a":0,"b":1,"Ġ":2,"ab":3,"Ġab":4}'.encode(),
        "merges.txt": MERGES.encode(),
    }
    rival = needs("tokenizers")
    rival.models.BPE(vocab=VOCAB, merges=[("a", "b"), ("Ġ", "ab")]).save(str(tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_reading_what_was_written_gives_the_same(make, tmp_path):
    specials = [SpecialToken(b"<added>", 300, special=False), SpecialToken("«fin»".encode(), 264)]
    for number, tokenizer in enumerate(
        (
            make(),
            make(unicode_version="16.0.0"),
            make(specials_first=["<s>"]),
            make(specials=sorted(specials, key=lambda token: token.token_id), pre_tokenizer=(PrefixSpace(), GPT2)),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert formats.load(write(folder, vocab_merges.dump(tokenizer))) == tokenizer


def test_hugging_face_reads_the_pair(make, tmp_path):
    rival = needs("tokenizers")
    write(tmp_path, vocab_merges.dump(make()))
    theirs = rival.ByteLevelBPETokenizer.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert theirs.encode("hello wo!").ids == make().encode("hello wo!")


def test_what_it_cannot_hold_is_named(make):
    tokenizer = make(pre_tokenizer=(Split(PATTERNS["o200k"].regex),), post_processor='{"type":"ByteLevel"}')
    with pytest.raises(FormatError) as caught:
        vocab_merges.dump(tokenizer)
    assert caught.value.message == (
        "the pair vocab.json and merges.txt cannot hold the split pattern, the post-processor"
    )
    assert set(vocab_merges.dump(tokenizer, LOSSES)) == {"vocab.json", "merges.txt"}


def test_whole_pieces_matter_only_for_tokens_that_merges_do_not_reach(make):
    assert vocab_merges.dump(make(ignore_merges=True)) == vocab_merges.dump(make())
    model = MergeBpe(Vocabulary.from_tokens([b"a", b"aaa"]), Merges.from_pairs([]), ignore_merges=True)
    with pytest.raises(FormatError, match=r'cannot say that a whole piece .*: no merge reaches "aaa" \(id 1\)'):
        vocab_merges.dump(Tokenizer(model, (GPT2,)))


# -- real files --------------------------------------------------------------------------------


def test_openai_files_have_their_special_token(shared, tmp_path):
    tokenizer, original = (formats.load(shared / "vocabs" / folder) for folder in ("gpt2-hf", "gpt2-original"))
    for each in (tokenizer, original):
        assert each.special_tokens == (SpecialToken(b"<|endoftext|>", 50256),)
        assert len(each.model.vocabulary) == 50256
    files = vocab_merges.dump(tokenizer)
    assert vocab_merges.dump(original) == files
    assert files["merges.txt"] == (shared / "vocabs" / "gpt2-hf" / "merges.txt").read_bytes()
    assert json.loads(files["vocab.json"]) == json.loads((shared / "vocabs" / "gpt2-hf" / "vocab.json").read_bytes())
    assert formats.load(write(tmp_path, files)) == tokenizer


def test_gpt2_as_merges_equals_gpt2_as_ranks(shared):
    from bpe_cli.tokenizer.named_encodings import named

    merges, ranks = formats.load(shared / "vocabs" / "gpt2-hf"), named("gpt2")
    for name in ("tiktoken", "tokenizer.json"):  # which other tests verify
        assert formats.rehearse(merges, name) == formats.rehearse(ranks, name)


@pytest.mark.parametrize(
    ("begin", "run"), [('{"a": 1}', "\n"), ('{"a": 1', " "), ('{"a": ', "1"), ('{"a": 1', "}"), ('{"a": 1} ', " \n")]
)
def test_runs_of_a_character_are_looked_at_once(begin, run):
    head = (begin + run * (60_000 // len(run))).encode()
    assert vocab_merges.sniff(head)
    assert_little_work(partial(vocab_merges.sniff, head), size=len(head), most_lines=60, most_cost=25)
