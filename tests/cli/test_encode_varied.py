"""``bpe encode`` with dropout, sampling and other inference; ``bpe inspect --nbest``."""

from __future__ import annotations

import json
import math
import re

import pytest

from tests.cli_runner import call, error, run

CORPUS = "low lower lowest newest widest wider hug hugs pug pun bun\nnew newer wide low lows\n" * 20
TEXT = "lowest newer wide\nhugs pun lowest lower\n" * 30
KINDS = {
    "bbpe": ("-a", "bbpe", "-s", "300"),
    "bpe": ("-a", "bpe", "-s", "90"),
    "bpe 0.1": ("-a", "bpe", "-s", "70", "--set", "suffix_form=0.1"),
    "scored": ("-a", "bpe", "-s", "60", "--compat", "sentencepiece"),
    "unigram": ("-a", "unigram", "-s", "40", "--set", "seed_size=200"),
    "wordpiece": ("-a", "wordpiece", "-s", "70"),
    "char": ("-a", "char"),
    "word": ("-a", "word"),
    "ngram": ("-a", "ngram"),
    "maxmatch": ("-a", "maxmatch"),
}
MERGING = ("bbpe", "bpe", "bpe 0.1", "scored")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tokenizers")
    for kind, options in KINDS.items():
        result = call("train", *options, "-q", "-o", made / f"{kind}.json", input=CORPUS.encode())
        assert result == (0, b"", "")
    return made


@pytest.fixture
def encode(folder):
    def given(kind, *options, text=TEXT, status=0):
        result = call("encode", "-t", f"{kind}.json", *options, input=text.encode(), cwd=folder)
        assert result.status == status, result.err
        return result.out if status == 0 else result.err

    return given


PLACES = (("--block-size", "64", "-j", "1"), ("--block-size", "7", "-j", "3"))
WAYS = [
    *((kind, way) for kind in MERGING for way in (("--dropout", "0.1"), ("--dropout", "0.5"))),
    *((kind, ("--dropout", "0.3", "--dropout-mode", "spm")) for kind in MERGING),
    ("unigram", ("--sample", "0.2")),
    ("unigram", ("--sample", "0.2", "--nbest", "4")),
]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_a_seed_gives_the_same_for_any_threads_and_blocks(encode, kind, way):
    first = encode(kind, *way, "--seed", "7")
    for place in PLACES:
        assert encode(kind, *way, "--seed", "7", *place) == first, place
    lines = encode(kind, *way, "--seed", "7", "--lines")
    for place in PLACES:
        assert encode(kind, *way, "--seed", "7", "--lines", *place) == lines, place
    assert lines.count(b"\n") == 60
    others = {encode(kind, *way, "--seed", str(seed)) for seed in (0, 1, 2**64 - 1)}
    assert len(others | {first}) == 4


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_what_varies_is_the_same_text(encode, folder, kind, way):
    plain = call("decode", "-t", f"{kind}.json", input=encode(kind), cwd=folder)
    varied = call("decode", "-t", f"{kind}.json", input=encode(kind, *way), cwd=folder)
    assert encode(kind) != encode(kind, *way)
    assert varied == plain
    # The same words are cut differently at their different places.
    lines = encode(kind, *way, "--lines", "--to", "tokens").splitlines()
    assert len(set(lines[::2])) > 3


@pytest.mark.parametrize("to", ["ids", "tokens", "jsonl", "count"])
@pytest.mark.parametrize(("kind", "way"), [("bbpe", ("--dropout", "0.3")), ("unigram", ("--sample", "0.3"))])
def test_every_form_is_of_the_same_draw(encode, kind, way, to):
    ids = [line.split() for line in encode(kind, *way, "--lines").splitlines()]
    lines = encode(kind, *way, "--lines", "--to", to).splitlines()
    if to == "jsonl":
        assert [list(map(str, json.loads(line)["ids"])) for line in lines] == [
            [number.decode() for number in each] for each in ids
        ]
    elif to == "count":
        assert list(map(int, lines)) == list(map(len, ids))
    else:
        assert [len(line.split()) for line in lines] == list(map(len, ids))


@pytest.mark.parametrize("mode", ["paper", "spm"])
@pytest.mark.parametrize("kind", MERGING)
def test_the_ends_of_dropout(encode, kind, mode):
    options = ("--to", "tokens", "--dropout-mode", mode)
    assert encode(kind, "--dropout", "0", *options) == encode(kind, "--to", "tokens")
    expected = {
        "bbpe": "l o w e s t Ġ n e w",
        "bpe": "l o w e s t</w> n e w</w>",
        "bpe 0.1": "l o w e s t </w> n e w </w>",
        "scored": "▁ l o w e s t ▁ n e w",
    }
    shown = encode(kind, "--dropout", "1", *options, text="lowest new")
    assert shown.decode() == expected[kind] + "\n"


@pytest.mark.parametrize("kind", MERGING)
def test_modes_differ(encode, kind):
    way = ("--dropout", "0.4", "--seed", "3")
    assert encode(kind, *way) == encode(kind, *way, "--dropout-mode", "paper")
    assert encode(kind, *way) != encode(kind, *way, "--dropout-mode", "spm")


def test_a_real_run_draws_what_a_call_draws(encode, folder):
    way = ("--dropout", "0.3", "--seed", "9", "-j", "3")
    assert run("encode", "-t", "bpe.json", *way, input=TEXT.encode(), cwd=folder).out == encode("bpe", *way[:4])


def test_sampling_follows_alpha_and_nbest(encode):
    best = encode("unigram", "--lines").splitlines()
    for way in (("--sample", "0", "--nbest", "1"), ("--sample", "60")):
        assert encode("unigram", "--lines", *way).splitlines() == best

    def hits(*way):
        drawn = encode("unigram", "--lines", *way).splitlines()
        return sum(one == other for one, other in zip(drawn, best, strict=True))

    assert hits("--sample", "0") < hits("--sample", "3")


@pytest.mark.parametrize("nbest", [(), ("--nbest", "1"), ("--nbest", "2"), ("--nbest", "1024")])
def test_sampling_at_its_limits(encode, nbest):
    """Any finite alpha is exact: from some size on the best is drawn, and near 0 all alike."""
    best = encode("unigram", "--lines")
    for alpha in ("1e300", "1e307", "1e308", "1.7976931348623157e308"):
        assert encode("unigram", "--lines", "--sample", alpha, *nbest) == best, alpha
    evenly = encode("unigram", "--lines", "--sample", "0", *nbest)
    for alpha in ("5e-324", "1e-310", "2.2250738585072014e-308", "0.0", "1e-400"):
        assert encode("unigram", "--lines", "--sample", alpha, *nbest) == evenly, alpha


@pytest.mark.parametrize("number", ["inf", "1e309", "nan", "-1", "-5e-324", "-inf"])
def test_numbers_that_are_none(encode, number):
    told = encode("unigram", "--sample", number, status=2)
    assert re.fullmatch(r"error: alpha must be 0 or more, not \S+\n", told), told
    told = encode("bpe", "--dropout", number, status=2)
    assert re.fullmatch(r"error: a dropout of \S+ is not a probability: it must be between 0 and 1\n", told), told


@pytest.mark.parametrize("kind", MERGING)
@pytest.mark.parametrize("mode", ["paper", "spm"])
def test_dropout_next_to_its_limits(encode, kind, mode):
    plain, none = encode(kind), encode(kind, "--dropout", "1", "--dropout-mode", mode)
    for tiny in ("0.0", "5e-324", "1e-300"):
        assert encode(kind, "--dropout", tiny, "--dropout-mode", mode) == plain
    assert encode(kind, "--dropout", "0.9999999999999999", "--dropout-mode", mode) == none


def test_sampling_gives_one_of_the_nbest(encode, folder):
    text = "lowest newer"
    ranked = json.loads(
        call("inspect", "-T", text, "-t", "unigram.json", "--nbest", "1024", "--json", cwd=folder).out
    )["segmentations"]  # fmt: skip
    known = {tuple(each["ids"]) for each in ranked}
    drawn = {
        tuple(map(int, encode("unigram", "--sample", "0.1", "--seed", str(seed), text=text).split()))
        for seed in range(15)
    }
    assert len(drawn) > 3
    assert len(known) == 1024 or drawn <= known
    assert tuple(map(int, encode("unigram", text=text).split())) == tuple(ranked[0]["ids"])


@pytest.mark.parametrize(
    ("kind", "options", "message", "hint"),
    [
        *(
            (kind, ("--dropout", "0.1"), f"--dropout leaves out merges, and this is {model}, which has none", None)
            for kind, model in (
                ("wordpiece", "wordpiece"), ("char", "word-level"), ("word", "word-level"), ("ngram", "n-gram"),
                ("maxmatch", "max-match"),
            )
        ),
        (
            "unigram",
            ("--dropout", "0.1"),
            "--dropout leaves out merges, and this is unigram, which has none",
            "--sample varies what a unigram model makes of a text",
        ),
        (
            "bpe",
            ("--inference", "longest", "--dropout", "0.1"),
            "--dropout leaves out merges, and this is longest-match, which has none",
            None,
        ),
        *(
            (
                kind,
                ("--sample", "0.1"),
                f"--sample draws by the probabilities of a unigram model, and this is {model}",
                "--dropout varies what BPE makes of a text",
            )
            for kind, model in (("bbpe", "bpe-merges"), ("bpe", "bpe-characters"), ("scored", "bpe-scores"))
        ),
        *(
            (kind, ("--dropout", given), f"a dropout of {shown} is not a probability: it must be between 0 and 1", None)
            for kind in ("bbpe", "wordpiece")
            for given, shown in (("2", "2.0"), ("-0.5", "-0.5"), ("nan", "nan"))
        ),
        *(
            ("unigram", ("--sample", given), f"alpha must be 0 or more, not {shown}", None)
            for given, shown in (("-1", "-1.0"), ("inf", "inf"), ("nan", "nan"))
        ),
        (
            "unigram",
            ("--nbest", "4"),
            "--nbest needs --sample",
            "for example: --sample 0.1 --nbest 64",
        ),
        (
            "unigram",
            ("--dropout", "0.1", "--sample", "0.1"),
            "--dropout and --sample cannot be used together",
            "dropout is for BPE, --sample for unigram",
        ),
        (
            "bpe",
            ("--dropout-mode", "spm"),
            "--dropout-mode needs --dropout",
            "for example: --dropout 0.1",
        ),
        *(
            (
                kind,
                ("--to", "jsonl", "--with", with_, *way),
                "spans are found by encoding a text again, which would not give the tokens that were drawn",
                "leave spans out, or --dropout and --sample",
            )
            for kind, *way in (("bbpe", "--dropout", "0.1"), ("bpe", "--dropout", "0"), ("unigram", "--sample", "1"))
            for with_ in ("spans", "tokens, spans")
        ),
        (
            "bbpe",
            ("--dropout", "0.1", "--seed", str(1 << 64)),
            "the seed must be at least 0 and below 2^64",
            None,
        ),
        *(
            (
                kind,
                ("--inference", "longest"),
                f"longest match is another way to apply a vocabulary of BPE over characters, and this is {model}",
                "-a bpe trains one",
            )
            for kind, model in (
                ("bbpe", "bpe-merges"),
                ("unigram", "unigram"), ("wordpiece", "wordpiece"), ("scored", "bpe-scores"), ("char", "word-level"),
                ("maxmatch", "max-match"),
            )
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_varied(encode, kind, options, message, hint):
    assert encode(kind, *options, status=2) == error(message, hint)


def test_varied_tokens_without_spans(encode):
    documents = encode("bbpe", "--lines", "--dropout", "0.4", "--to", "jsonl", "--with", "tokens").splitlines()
    tokens = encode("bbpe", "--lines", "--dropout", "0.4", "--to", "tokens").decode().splitlines()
    assert [" ".join(json.loads(document)["tokens"]) for document in documents] == tokens


def test_inference(encode):
    assert encode("bpe", "--inference", "merges") == encode("bpe")
    for inference in ("longest", "left-to-right"):
        shown = encode("bpe", "--inference", inference, "--to", "tokens", text="lowest lows").decode()
        assert "".join(shown.split()).replace("</w>", " ") == "lowest lows "


# -- the best segmentations ----------------------------------------------------------------------------


def test_nbest_is_shown(folder):
    ranked = call("inspect", "-T", "low", "-t", "unigram.json", "--nbest", "3", cwd=folder)
    assert (ranked.status, ranked.err) == (0, "")
    *lines, last = ranked.text.splitlines()
    assert last == "3 segmentations"
    found = [line.split("  ") for line in lines]
    assert [number for number, _, _ in found] == ["1", "2", "3"]
    scores = [float(score) for _, score, _ in found]
    assert scores == sorted(scores, reverse=True)
    assert {tokens.replace("|", "") for _, _, tokens in found} == {"▁low"}
    with_ids = call("inspect", "-T", "low", "-t", "unigram.json", "--nbest", "1", "--ids", cwd=folder).text
    ids = call("encode", "-T", "low", "-t", "unigram.json", cwd=folder).text.split()
    assert [part.split(" ")[-1] for part in with_ids.splitlines()[0].split("  ")[2].split("|")] == ids


def test_no_segmentation_is_cut_off(folder):
    """A line that is wider than the screen goes over its edge: folded ones could not be compared."""
    options = ("-T", "low lower lowest " * 20, "-t", "unigram.json", "--nbest", "2", "--ids")
    wide = call("inspect", *options, cwd=folder, env={"COLUMNS": "100000"}).text
    assert max(map(len, wide.splitlines())) > 500
    assert call("inspect", *options, cwd=folder).text == wide


def test_nbest_in_colours(folder):
    options = ("-T", "low", "-t", "unigram.json", "--nbest", "2")
    plain = call("inspect", *options, cwd=folder).text
    colored = call("inspect", *options, "--color", "always", cwd=folder).text
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert "\x1b[30;48;5;" in colored or "\x1b[38;5;16;48;5;" in colored


def test_nbest_as_json(folder):
    result = call("inspect", "-T", "lowest newest", "-t", "unigram.json", "--nbest", "8", "--json", cwd=folder)
    report = json.loads(result.out)
    assert list(report) == ["schema", "tokenizer", "byte_count", "wanted", "segmentations"]
    assert (report["schema"], report["tokenizer"]) == ("bpe.inspect.nbest/1", "unigram.json")
    assert (report["byte_count"], report["wanted"], len(report["segmentations"])) == (13, 8, 8)
    model = json.loads((folder / "unigram.json").read_bytes())["model"]
    for each in report["segmentations"]:
        assert "".join(each["tokens"]) == "▁lowest▁newest"
        assert [model["vocab"][number][0] for number in each["ids"]] == each["tokens"]
        assert math.isclose(each["score"], sum(model["vocab"][number][1] for number in each["ids"]), rel_tol=1e-12)
    assert len({tuple(each["ids"]) for each in report["segmentations"]}) == 8


def test_nbest_of_several_documents(folder):
    options = ("-t", "unigram.json", "--nbest", "2", "--lines")
    shown = call("inspect", *options, "-", input=b"low\nnew\n", cwd=folder).text
    single = [
        call("inspect", "-T", text, "-t", "unigram.json", "--nbest", "2", cwd=folder).text for text in ("low", "new")
    ]
    assert shown == "\n".join(f"==> stdin:{number} <==\n{text}" for number, text in enumerate(single, 1))
    report = json.loads(call("inspect", *options, "--json", "-", input=b"low\nnew\n", cwd=folder).out)
    assert report["schema"] == "bpe.inspect.nbests/1"
    assert [each["byte_count"] for each in report["texts"]] == [3, 3]


def test_nbest_of_next_to_nothing(folder):
    empty = call("inspect", "-T", "", "-t", "unigram.json", "--nbest", "5", cwd=folder)
    assert empty == (0, b"1  0.0000\n1 segmentation of the 5 asked for: no more exist\n", "")
    # A character by itself has one segmentation, with the blank's mark before it.
    assert call("inspect", "-T", "l", "-t", "unigram.json", "--nbest", "5", "--json", cwd=folder).status == 0


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "unigram"])
def test_nbest_of_other_models(folder, kind):
    result = call("inspect", "-T", "low", "-t", f"{kind}.json", "--nbest", "2", cwd=folder)
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: only a unigram model ranks segmentations, and this is ")
    assert result.err.endswith("\n\nhint: -a unigram trains such a tokenizer\n")


def test_nbest_needs_a_text(folder):
    assert run("inspect", "-t", "unigram.json", "--nbest", "2", cwd=folder) == (
        2,
        b"",
        error("--nbest needs a text, and none is given", "give one with -T TEXT"),
    )


def test_nbest_is_bounded(folder):
    for given, message in (
        ("0", "'0' is less than 1"),
        ("1025", "'1025' is more than 1024"),
    ):
        assert call("inspect", "-T", "low", "-t", "unigram.json", "--nbest", given, cwd=folder) == (
            2,
            b"",
            error(f"invalid value for '--nbest': {message}", "bpe inspect --help explains it"),
        )
