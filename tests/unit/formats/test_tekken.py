"""Mistral's tekken.json: what is read, what is written, what is refused."""

from __future__ import annotations

import base64
import copy
import json
import random
from dataclasses import replace

import pytest

from bpe_cli import formats
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.formats import detect
from bpe_cli.formats.byte_level import tekken
from bpe_cli.formats.features import LOSSES, left_behind
from bpe_cli.formats.huggingface import tokenizer_json as hf_json
from bpe_cli.stages import MergeBpe, PrefixSpace, RankBpe, SpecialToken, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.stages.vocabulary import Merges, Vocabulary
from bpe_cli.tokenizer import Tokenizer
from bpe_cli.tokenizer.usage import Usage
from bpe_cli.trainers import bbpe, bpe, train
from tests.unit.formats.hostile import refused_quickly
from tests.unit.formats.test_fuzz import altered, places

PATTERN = PATTERNS["tekken"].regex


def entry(rank: int, token: bytes) -> dict:
    text = None if b"\xff" in token or (len(token) == 1 and token >= b"\x80") else token.decode()
    return {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": text}


def document(
    *words: bytes, specials=("<unk>", "<s>", "</s>", "[X]"), room: int = 5, used: int | None = None, **more
) -> dict:
    """Return a file: 256 bytes and words, and special tokens with room for some without a name."""
    tokens = [*(bytes([byte]) for byte in range(256)), *words]
    used = len(tokens) if used is None else used
    result = {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": room + used,
            "default_num_special_tokens": room,
            "version": "v7",
        },
        "vocab": [entry(rank, token) for rank, token in enumerate(tokens)],
    }
    if specials is not None:
        listed = [{"rank": rank, "token_str": text, "is_control": rank != 3} for rank, text in enumerate(specials)]
        result["special_tokens"] = listed
    return result | more


def loads(value: dict) -> Tokenizer:
    return tekken.loads(json.dumps(value).encode(), "f")


SMALL = document(b"ab", b"abc", b"\xff\xfe", used=258, image={"image_patch_size": 16, "deep": {"x": 0.5}})


def test_file_is_read():
    tokenizer = loads(SMALL)
    assert isinstance(tokenizer.model, RankBpe)
    assert tokenizer.patterns == (PATTERN,)
    assert tokenizer.special_tokens == tuple(
        SpecialToken(text, rank) for rank, text in enumerate([b"<unk>", b"<s>", b"</s>", b"[X]", b"<SPECIAL_4>"])
    )
    assert tokenizer.encode("abc ab<s>") == [262, 37, 261, *(byte + 5 for byte in b"<s>")]
    assert tokenizer.encode("<s>abc", specials="all") == [1, 262]
    assert tokenizer.encode(b"\xff\xfe") == [260, 259], "a rank beyond the size is not used"
    assert tokenizer.decode_bytes([262, 4, 260]) == b"abc<SPECIAL_4>\xff"
    assert tokenizer.usage == Usage(roles=(("bos", 1), ("eos", 2), ("unk", 0)))
    facts = dict(tokenizer.origin.facts)
    assert facts["config.version"] == "v7"
    assert facts["image.deep.x"] == 0.5


@pytest.mark.parametrize(
    "value",
    [
        SMALL,
        document(b"ab"),
        document(specials=None, room=30),
        document(specials=None, room=3),
        document(specials=["<s>"], room=1),
        document(specials=["a", "b", "<SPECIAL_2>"], room=4, audio={"sampling_rate": 16000}, type="x"),
        document(specials=(), room=0),
        document(b"ab") | {"config": document(b"ab")["config"] | {"num_vocab_tokens": 150000}},
    ],
)
def test_files_come_out_as_they_went_in(value):
    tokenizer = loads(value)
    written = tekken.dump(tokenizer)[""]
    assert json.loads(written) == value
    assert tekken.loads(written) == tokenizer
    # Without knowing where it came from, the same tokenizer.
    assert tekken.loads(tekken.dump(replace(tokenizer, origin=None))[""]) == tokenizer


def test_special_tokens_that_are_not_listed_are_known():
    texts = [token.content.decode() for token in loads(document(specials=None, room=25)).special_tokens]
    assert texts == [*tekken.SPECIAL_TOKENS, *(f"<SPECIAL_{number}>" for number in range(20, 25))]


def test_what_was_changed_is_written_as_it_is():
    tokenizer = loads(SMALL)
    renamed = replace(tokenizer, special_tokens=(*tokenizer.special_tokens[:4], SpecialToken(b"[Y]", 4)))
    written = json.loads(tekken.dump(renamed)[""])
    assert written["special_tokens"] == [*SMALL["special_tokens"], {"rank": 4, "token_str": "[Y]", "is_control": True}]
    fewer = replace(
        tokenizer,
        model=RankBpe(
            Vocabulary.from_tokens([tokenizer.model.vocabulary.token(n) if n > 4 else b"" for n in range(262)])
        ),
    )
    written = json.loads(tekken.dump(fewer)[""])
    assert (len(written["vocab"]), written["config"]["num_vocab_tokens"]) == (257, 257), (
        "no longer the ranks that follow"
    )
    unlisted = loads(document(specials=None, room=3))
    other = replace(unlisted, special_tokens=(SpecialToken(b"<x>", 0), *unlisted.special_tokens[1:]))
    assert tekken.loads(tekken.dump(other)[""]).special_tokens == other.special_tokens


def test_content_and_not_the_name_tells_the_format(tmp_path):
    path = tmp_path / "x"
    path.write_text(json.dumps(document(b"model", b"truncation")))
    assert formats.identify(path) == "tekken", "tokens that are words of tokenizer.json change nothing"
    assert formats.load(path).encode("model") == [261]
    with pytest.raises(UsageError, match="says itself how text is split"):
        formats.load(path, "gpt2")
    with pytest.raises(InputError):
        tekken.load(tmp_path / "none")
    assert tekken.sniff(json.dumps({"vocab": SMALL["vocab"][:2]}, indent=1).encode())
    assert not tekken.sniff(b'{"config": {"pattern": "x"}, "vocab": []}')
    assert not tekken.sniff(hf_json.dump(loads(SMALL))[""][: detect.HEAD_BYTES])


def test_what_is_trained_can_be_written():
    trained = train(["low low lower lower"], bbpe.BbpeOptions(260, pattern="tekken", compat="minbpe"))
    loaded = tekken.loads(tekken.dump(trained)[""])
    assert loaded.special_tokens == ()
    assert loaded.encode("lower low") == trained.encode("lower low")
    assert json.loads(tekken.dump(trained)[""])["special_tokens"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("config"), "f: config must be an object, not null"),
        (lambda d: d.pop("vocab"), "f: vocab must be an array, not null"),
        (lambda d: d["config"].pop("pattern"), "f: config.pattern must be a string, not null"),
        (lambda d: d["config"].update(pattern=""), "config.pattern is empty"),
        (lambda d: d["config"].update(pattern="("), "f: config.pattern: the pattern '(' does not compile"),
        (lambda d: d["config"].update(default_vocab_size=265), "with 5 special tokens, that takes 260 ranks of 259"),
        (lambda d: d["config"].update(default_vocab_size=4), "that takes -1 ranks"),
        (lambda d: d["config"].update(default_vocab_size=1 << 60), "an integer from 0 to 2,097,152"),
        (lambda d: d["config"].update(default_num_special_tokens=1 << 21), "an integer from 0 to 65,536"),
        (
            lambda d: d["config"].update(default_num_special_tokens=3, default_vocab_size=261),
            "has 4 tokens; the file announces 3",
        ),
        (lambda d: d["vocab"][256].update(rank=7), "f: vocab[256] must be an object with the rank 256"),
        (lambda d: d["vocab"][9].update(token_bytes=None), "f: vocab[9] must be an object with the rank 9"),
        (lambda d: d["vocab"].insert(3, 5), "f: vocab[3] must be an object"),
        (lambda d: d["vocab"][256].update(token_bytes="YQ"), 'token_bytes that are not base64: "YQ"'),
        (lambda d: d["vocab"][256].update(token_bytes="é"), "token_bytes that are not base64"),
        (lambda d: d["vocab"][256].update(token_bytes=""), "f: vocab[256] has an empty token"),
        (lambda d: d["vocab"][256].update(token_bytes="YQ=="), 'f: vocab[256] has the token of rank 97: "a"'),
        (lambda d: d["vocab"][0].update(token_bytes="YWI="), "the first 256 are the bytes in order"),
        (lambda d: d["vocab"][5].update(merge=1), "f: vocab[5] has a field that this version does not know"),
        (lambda d: d["special_tokens"][1].update(rank=2), "f: special_tokens[1].rank is not 1"),
        (lambda d: d["special_tokens"][1].update(token_str="<unk>"), 'f: special_tokens has "<unk>" as token 1'),
        (lambda d: d["special_tokens"][1].update(token_str=""), 'f: special_tokens has "" as token 1'),
        (lambda d: d["special_tokens"][1].update(token_str="<SPECIAL_4>"), 'has "<SPECIAL_4>" as token 4'),
        (lambda d: d["special_tokens"][1].update(is_control=3), "is_control must be true or false"),
        (lambda d: d["special_tokens"][1].update(other=3), 'does not know: "other"'),
        (lambda d: [d.pop("special_tokens"), d["config"].update(version="v11")], "only versions up to v7"),
        (lambda d: [d.pop("special_tokens"), d["config"].update(version="new")], "only versions up to v7"),
    ],
)
def test_broken_files_are_refused(change, message):
    value = copy.deepcopy(SMALL)
    change(value)
    with pytest.raises(FormatError) as caught:
        loads(value)
    assert message in caught.value.message


def nested(levels: int) -> list:
    return json.loads("[" * levels + "]" * levels)


def test_what_is_kept_is_as_deep_as_can_be_written():
    """JSON is read in 1,024 levels, and written in 254: those of the value and of what it lies in."""
    deepest = document(b"ab", used=256, image=nested(253))
    deepest["vocab"][256]["more"] = nested(251)
    assert json.loads(tekken.dump(loads(deepest))[""]) == deepest
    with pytest.raises(FormatError, match=r"^f is nested too deep$"):
        loads(document(b"ab", image=nested(254)))
    unused = document(b"ab", used=256)
    unused["vocab"][256]["more"] = nested(252)
    with pytest.raises(FormatError, match=r"^f: vocab is nested too deep$"):
        loads(unused)


def outcome(data: bytes) -> Tokenizer | str:
    """Return the tokenizer, or why there is none."""
    try:
        return tekken.loads(data)
    except FormatError as error:
        return error.message


def test_mutations(monkeypatch):
    """Cut anywhere, changed anywhere: an error, or a tokenizer that is written and read back.

    All tokens at once give what one by one gives.
    """
    data = json.dumps(SMALL).encode()
    draw = random.Random(2)
    for end in range(0, len(data), 97):
        with pytest.raises(FormatError):
            tekken.loads(data[:end])
    changed = draw.choices(range(len(data)), k=150)
    broken = [data[:place] + bytes([draw.randrange(256)]) + data[place + 1 :] for place in changed]
    values = (None, True, -1, 0, 1 << 70, 0.5, "", "ab", [], {}, [[]], {"rank": 0})
    for path in places(SMALL):
        if path[:1] != ("vocab",) or (len(path) > 1 and path[1] in (0, 200, 256, 258)):
            broken += [json.dumps(altered(SMALL, path, new)).encode() for new in values]
    refused = 0
    for each in broken:
        found = outcome(each)
        with monkeypatch.context() as patched:
            patched.setattr(tekken, "_usual_tokens", lambda _: None)
            assert outcome(each) == found
        if isinstance(found, str):
            refused += 1
        else:
            assert tekken.loads(tekken.dump(found)[""]) == found
    assert len(broken) // 2 < refused < len(broken)


def test_hostile_files_are_refused_quickly():
    nested = '{"config": {"default_num_special_tokens": 1, "default_vocab_size": 1, "x": ' + "[" * 1_000_000
    for data, most_lines, most_cost in (
        (nested.encode(), 100, 1),
        (json.dumps({"config": SMALL["config"], "vocab": [0] * 1_000_000}).encode(), 500, 15),
        (json.dumps(document(specials=["a"] * 5)).encode(), 10_000, 3),
        (json.dumps(document(specials=["x"] * 8_192, room=8_192)).encode(), 2_500_000, 170),
    ):
        refused_quickly(data, tekken.loads, most_lines=most_lines, most_cost=most_cost)


def test_what_tekken_cannot_hold_is_refused(make):
    tokenizer = loads(SMALL)
    vocabulary = tokenizer.model.vocabulary
    with pytest.raises(FormatError, match="cannot hold BPE over characters by merges"):
        tekken.dump(train(["low low"], bpe.Options(20)))
    with pytest.raises(FormatError, match="are the bytes in order, and here 0 is another"):
        tekken.dump(make())
    with pytest.raises(FormatError, match="has no unused ids, and here id 256 is unused"):
        tekken.dump(
            Tokenizer(
                RankBpe(Vocabulary.from_tokens([*(bytes([byte]) for byte in range(256)), b"", b"ab"])),
                (Split(PATTERN),),
            )
        )
    with pytest.raises(FormatError, match="has all 256 bytes, and here are 3 tokens"):
        tekken.dump(Tokenizer(RankBpe(Vocabulary.from_tokens([b"\0", b"\1", b"\2"])), (Split(PATTERN),)))
    with pytest.raises(FormatError, match="have all ids below 5; here they are at 0, 1"):
        tekken.dump(replace(tokenizer, special_tokens=tokenizer.special_tokens[:2]))
    with pytest.raises(FormatError, match="one split pattern, and this tokenizer 0"):
        tekken.dump(replace(tokenizer, pre_tokenizer=()))
    with pytest.raises(FormatError, match="one split pattern, and this tokenizer 2"):
        tekken.dump(replace(tokenizer, pre_tokenizer=(Split("a"), Split("b"))))
    with pytest.raises(FormatError, match="the space before the text"):
        tekken.dump(replace(tokenizer, pre_tokenizer=(PrefixSpace(), *tokenizer.pre_tokenizer)))
    flagged = (replace(tokenizer.special_tokens[0], lstrip=True), *tokenizer.special_tokens[1:])
    with pytest.raises(FormatError, match="how added tokens are looked for"):
        tekken.dump(replace(tokenizer, special_tokens=flagged))
    assert tekken.loads(tekken.dump(replace(tokenizer, special_tokens=flagged), LOSSES)[""]) == tokenizer
    merges = Merges.from_pairs([(vocabulary.id_of(b"a"), vocabulary.id_of(b"b"), vocabulary.id_of(b"ab"))])
    with pytest.raises(FormatError, match="cannot do what these merges do"):
        tekken.dump(replace(tokenizer, model=MergeBpe(vocabulary, merges)))
    templates = Usage(chat_templates=(("default", "x"),))
    assert left_behind(replace(tokenizer, usage=templates), tekken.HOLDS) == ["the chat templates"]
