"""Lists of merges and splits in bpe.json: written plainly, and refused with their place if they cannot be."""

from __future__ import annotations

import json
from array import array

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError
from bpe_cli.stages import EventBpe, Metaspace, SpecialToken
from bpe_cli.stages.models import SPLIT
from bpe_cli.stages.vocabulary import Vocabulary
from bpe_cli.tokenizer import Tokenizer

TOKENS = {"<unk>": 0, "a": 1, "b": 2, "ab": 3, "aba": 4}
EVENTS = [["a", "b"], ["ab", "a"], ["ab"]]
MODEL = {"type": "EventBpe", "unk_token": "<unk>", "vocab": TOKENS, "events": EVENTS}


def load(tmp_path, model: object) -> Tokenizer:
    path = tmp_path / "bpe.json"
    path.write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": model}))
    return formats.load(path)


def test_a_file_written_by_hand(tmp_path):
    tokenizer = load(tmp_path, MODEL)
    assert tokenizer.encode("aba") == [4]
    assert tokenizer.encode("abaab") == [4, 1, 2]
    assert tokenizer.encode("ab") == [1, 2]
    assert tokenizer.encode("axx") == [1, 0, 0]
    assert tokenizer.decode([3, 1]) == "aba", "what is split in the end is decoded all the same"
    written = json.loads(formats.dump(tokenizer, "bpe.json")[""])["model"]
    assert written == MODEL | {"fuse_unk": False, "byte_level": False, "ignore_merges": True}


def test_special_tokens_are_made_by_no_event(tmp_path):
    specials = (SpecialToken(b"<unk>", 0), SpecialToken(b"ab", 3))
    vocabulary = Vocabulary.from_tokens([b"", b"a", b"b", b"ab", b"aba", b"ba"])
    events = array("I", [1, 2, 3, 3, 1, 4, 2, 1, 5, 4, SPLIT, SPLIT, 1, 5, 4, 3, SPLIT, SPLIT])
    tokenizer = Tokenizer(EventBpe(vocabulary, events, 0), (Metaspace(),), specials)
    assert tokenizer.encode("ab") == [0, 1, 2]
    assert tokenizer.encode("aba") == [0, 4], "not of ab and a, whose merge goes, but of a and ba"
    assert tokenizer.encode("ab", specials="all") == [3]
    (tmp_path / "bpe.json").write_bytes(formats.dump(tokenizer, "bpe.json")[""])
    assert formats.load(tmp_path / "bpe.json") == tokenizer.without_dead_merges()


IN_LIST = "bpe.json: model.events"
HINT = "an event can merge or split only what is there at its time: write the list anew, in the order of training"


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"events": None}, f"{IN_LIST} must be an array, not null", None),
        ({"events": ["a b"]}, f'{IN_LIST} has event 1 in another form than ["a", "b"] or ["ab"]', None),
        (
            {"events": [["a", "b"], ["a", "b", "ab"]]},
            f'{IN_LIST} has event 2 in another form than ["a", "b"] or ["ab"]',
            None,
        ),
        ({"events": [[1]]}, f'{IN_LIST} has event 1 in another form than ["a", "b"] or ["ab"]', None),
        ({"events": [["z"]]}, f'{IN_LIST} has event 1 ("z"), and the token "z" is not in the vocabulary', None),
        (
            {"events": [["b", "a"]]},
            f'{IN_LIST} has event 1 ("b", "a"), and the token "ba" is not in the vocabulary',
            None,
        ),
        (
            {"events": [["ab"]]},
            f"{IN_LIST} cannot be: event 1 takes id 3 apart, which is not there at that time",
            HINT,
        ),
        ({"events": [["a"]]}, f"{IN_LIST} cannot be: event 1 takes id 1 apart, which no event has made", HINT),
        (
            {"events": [*EVENTS, ["ab", "a"]]},
            f"{IN_LIST} cannot be: event 4 merges id 3, which is not there at that time",
            HINT,
        ),
        ({"events": [["ab", "a"]]}, f"{IN_LIST} cannot be: event 1 merges id 3, which is not there at that time", HINT),
        ({"events": [["a", "b"], ["ab"]] * 65}, f"{IN_LIST} cannot be: 65 events merge ids 1 and 2, and 64 may", HINT),
        (
            {"vocab": TOKENS | {"": 5}, "events": [["a", ""]]},
            f"{IN_LIST} cannot be: event 1 names id 5, which no token has",
            HINT,
        ),
        (
            {"vocab": TOKENS | {"aba": 4_000_000}},
            'bpe.json: model.vocab gives "aba" the id 4,000,000; ids run to 2,097,151',
            None,
        ),
        (
            {"vocab": TOKENS | {"你": 5}, "byte_level": True},
            'bpe.json: model.vocab has "你", which is not spelt in the byte alphabet',
            None,
        ),
        ({"unk_token": "?"}, 'bpe.json: model.unk_token is "?", which is not in the vocabulary', None),
        ({"byte_level": 1}, "bpe.json: model.byte_level must be true or false, not 1", None),
        (
            {"merges": []},
            'bpe.json: model has a field that this version does not know: "merges"',
            "known are type, unk_token, fuse_unk, byte_level, ignore_merges, unicode_version, vocab, events",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(tmp_path, changes, message, hint):
    with pytest.raises(FormatError) as caught:
        load(tmp_path, MODEL | changes)
    shown = str(caught.value).replace(str(tmp_path) + "/", "")
    assert (shown, caught.value.hint) == (message, hint)
