"""Training as a library call: on texts, on files, and with whatever a caller gets wrong."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import pytest

from bpe_cli import trainers, training
from bpe_cli.corpus import Source
from bpe_cli.errors import FormatError, InputError, OutputError, TrainingError, UsageError
from bpe_cli.formats import dump
from bpe_cli.jobs.train import TrainJob, train_file
from bpe_cli.jobs.train_options import options_for
from bpe_cli.stages import NFC, Lowercase, Split
from bpe_cli.stages.patterns import PATTERNS
from bpe_cli.trainers import ALGORITHMS, bbpe, bpe, sentencepiece, unigram
from bpe_cli.training import train
from bpe_cli.views.training_steps import training_lines
from tests.cli_runner import call
from tests.needs import needs

TEXT = "low low lower lowest newest newest widest\n" * 3
SIZES = {
    "bbpe": 262,
    "bpe": 60,
    "wordpiece": 60,
    "unigram": 24,
    "mingram": 262,
    "picky": 30,
    "scaffold": 30,
    "greedtok": 262,
}


class Heard:
    """Keep what a listener hears."""

    def __init__(self):
        self.tasks, self.notes = [], []

    def task(self, what, total, unit="B"):
        import contextlib

        amounts = []
        self.tasks.append((what, total, unit, amounts))
        return contextlib.nullcontext(amounts.append)

    def note(self, message):
        self.notes.append(message)


def size_of(algorithm):
    return {"vocab_size": SIZES[algorithm]} if algorithm in SIZES else {}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_texts_files_and_the_command_give_the_same(algorithm, tmp_path):
    path = tmp_path / "corpus.txt"
    text = "low 3\nlower\n" if algorithm == "list" else TEXT
    path.write_text(text)
    made = train([text], algorithm, **size_of(algorithm))
    assert made == train(path, algorithm, **size_of(algorithm))
    assert made == train([path], algorithm, threads=2, **size_of(algorithm))
    assert made == train(iter([text.encode()]), algorithm, **size_of(algorithm))
    size = ("-s", SIZES[algorithm]) if algorithm in SIZES else ()
    out = tmp_path / "t.json"
    assert call("train", path, "-a", algorithm, *size, "-q", "-o", out).status == 0
    assert out.read_bytes() == dump(made, "bpe.json", ["ids"])[""]


@pytest.mark.parametrize("text", ["low\rlower\r\nlow\r", "low\n\nlow\r\n\r", "low\x0blow\x85\n", "\n"])
def test_lines_of_texts_are_those_of_files(text, tmp_path):
    """A lone CR ended a line of a text, and none of a file."""
    path = tmp_path / "corpus.txt"
    path.write_bytes((text * 2 + "low lower\n").encode())
    options = {"vocab_size": 12, "compat": "sentencepiece", "normalization": "identity", "hard_vocab_limit": False}
    for algorithm in ("unigram", "char"):
        assert train([path.read_bytes()], algorithm, **options) == train(path, algorithm, **options)


@pytest.mark.parametrize(
    ("options", "named"), [({"superwords": True, "switch": 4}, "run_pattern"), ({"pattern": r"\w+"}, "pattern")]
)
def test_tiktoken_needs_a_pattern_that_matches_all_text(options, named):
    """OpenAI's library leaves out what its pattern does not match: with that of superwords, all words."""
    tiktoken = needs("tiktoken")
    with pytest.raises(FormatError, match="leaves out text") as caught:
        train([TEXT], target="tiktoken", vocab_size=270, **options)
    assert f"`{named}`" in caught.value.hint
    regex = caught.value.hint.partition("all text: ")[2]
    made = train([TEXT], target="tiktoken", vocab_size=270, **(options | {named: regex}))
    assert made.model == train([TEXT], vocab_size=270, **options).model
    ranks = {made.token_bytes(token_id): token_id for token_id in range(made.vocab_size)}
    theirs = tiktoken.Encoding("t", pat_str=regex, mergeable_ranks=ranks, special_tokens={})
    assert theirs.encode(TEXT + "!  12 é") == list(made.encode(TEXT + "!  12 é"))


def test_a_target_chooses_the_algorithm():
    """It was ``bbpe`` whatever the target, which SentencePiece does not read."""
    made = train([TEXT], target="sentencepiece", vocab_size=20)
    assert made == train([TEXT], "unigram", compat="sentencepiece", vocab_size=20)
    assert train([TEXT], target="transformers", vocab_size=260) == train([TEXT], vocab_size=260)
    with pytest.raises(UsageError, match="sentencepiece reads nothing that bbpe trains"):
        train([TEXT], "bbpe", target="sentencepiece", vocab_size=20)


def test_many_texts_are_counted_in_blocks(monkeypatch):
    monkeypatch.setattr(training, "_BLOCK_BYTES", 5)
    words = TEXT.split()
    assert train(words, vocab_size=262) == trainers.train(words, bbpe.Options(262))


def test_a_trainer_that_follows_others_is_picked_by_its_rules():
    options = options_for("bpe", {"compat": "sentencepiece", "vocab_size": 30})
    assert options == sentencepiece.Options(30, model="bpe")
    assert options_for("bpe", {"compat": "hf", "vocab_size": 30}) == bpe.Options(30, compat="hf")
    assert options_for("sentencepiece", {"model": "unigram", "vocab_size": 30}).model == "unigram"


def test_stages_and_patterns_may_be_named():
    given = {"vocab_size": 30, "normalizer": "nfc,lowercase", "pattern": "a+"}
    assert options_for("bpe", given) == bpe.Options(30, normalizer=(NFC(), Lowercase()), pre_tokenizer=(Split("a+"),))
    assert options_for("bpe", {"vocab_size": 30, "pattern": "none"}).pre_tokenizer == ()
    assert options_for("bbpe", {"vocab_size": 300, "pattern": "cl100k"}).patterns == (PATTERNS["cl100k"].regex,)
    assert options_for("bbpe", {"vocab_size": 300, "special_tokens": ["<s>"]}).special_tokens == ("<s>",)
    assert options_for("maxmatch", {"factors": [1, 0.5]}).factors == (1, 0.5)


@pytest.mark.parametrize("corpus", ["low lower", b"low lower", bytearray(b"low"), memoryview(b"low")])
def test_one_text_is_no_corpus(corpus):
    with pytest.raises(TypeError, match=r"the corpus is one text.*give a list of texts.*pathlib\.Path"):
        train(corpus, vocab_size=300)


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (3, "texts or paths, and not of type int"),
        (None, "texts or paths, and not of type NoneType"),
        ([3], "a text of the corpus is a str or bytes, and not of type int"),
        (["low", Path("x")], "a text of the corpus is a str or bytes, and not of type PosixPath"),
        ([Path(__file__), "low"], "begins with a path, and goes on with a str"),
    ],
)
def test_what_is_neither_texts_nor_paths(corpus, message):
    with pytest.raises(TypeError, match=message):
        train(corpus, vocab_size=300)


@pytest.mark.parametrize(
    ("algorithm", "options", "message"),
    [
        ("bbp", {}, "there is no algorithm 'bbp' to train"),
        ("bbpe", {}, "bbpe needs vocab_size"),
        ("bbpe", {"vocab_size": 300, "rule": "score"}, "bbpe has no option 'rule'"),
        ("bbpe", {"vocab_size": 300, "seed_size": 1}, "bbpe has no option 'seed_size'"),
        ("bbpe", {"vocab_size": "300"}, "vocab_size must be a whole number, not '300'"),
        ("bbpe", {"vocab_size": True}, "vocab_size must be a whole number, not True"),
        ("bbpe", {"vocab_size": 300, "special_tokens": "abc"}, "special_tokens must be a list of texts, not 'abc'"),
        ("bbpe", {"vocab_size": 300, "special_tokens": [3]}, r"special_tokens must be a list of texts, not \[3\]"),
        ("bbpe", {"vocab_size": 300, "split_special": 1}, "split_special must be True or False, not 1"),
        (
            "bbpe",
            {"vocab_size": 300, "initial_alphabet": "some"},
            "initial_alphabet must be one of 'all', 'seen' or None, not 'some'",
        ),
        ("bbpe", {"vocab_size": 300, "compat": "sentencepiece"}, 'has no `compat="sentencepiece"`'),
        ("bbpe", {"vocab_size": 300, "compat": "nobody"}, 'has no `compat="nobody"`'),
        ("bbpe", {"vocab_size": 300, "pattern": "gtp2"}, "unknown pattern 'gtp2'"),
        ("bbpe", {"vocab_size": 300, "pattern": "["}, "does not compile"),
        ("bbpe", {"vocab_size": 300, "max_token_length": 1 << 40}, "max_token_length must be from 0 to"),
        ("bpe", {"vocab_size": 300, "normalizer": [3]}, r"normalizer must be a list of stages, not \[3\]"),
        ("bpe", {"vocab_size": 300, "pattern": "a", "pre_tokenizer": "bert"}, "`pattern` and `pre_tokenizer` both"),
        ("unigram", {"vocab_size": 300, "character_coverage": "all"}, "character_coverage must be a number, not 'all'"),
    ],
)
def test_options_that_cannot_be(algorithm, options, message):
    with pytest.raises(UsageError, match=message):
        train(["low"], algorithm, **options)


@pytest.mark.parametrize("kind", [bbpe, bpe, unigram, sentencepiece])
def test_one_text_is_no_list_of_special_tokens(kind):
    with pytest.raises(UsageError, match="special_tokens must be a list of texts, not one text"):
        kind.Options(300, special_tokens="abc")


def test_options_of_nobody():
    with pytest.raises(TypeError, match="options are made by a trainer's module"):
        trainers.train(["low"], {"vocab_size": 300})


def test_nothing_to_train_on(tmp_path):
    for corpus in ([], [""], iter(())):
        with pytest.raises(TrainingError, match="there is nothing to train on"):
            train(corpus, vocab_size=300)
    with pytest.raises(InputError, match="no such file"):
        train(tmp_path / "none.txt", vocab_size=300)


def test_documents_of_files(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"body": "low lower"}\n{"body": "lowest"}\n')
    made = train(path, vocab_size=260, documents="jsonl", field="body")
    assert made == train(["low lower", "lowest"], vocab_size=260)


# -- a job -----------------------------------------------------------------------------------------


def job_of(**given):
    return TrainJob(bbpe.Options(262), Source(text=TEXT), **given)


def test_a_job_is_a_value_and_says_how_it_goes(tmp_path):
    out, heard = tmp_path / "t.json", Heard()
    job = job_of()
    assert pickle.loads(pickle.dumps(job)) == job
    done = train_file(job, str(out), listener=heard)
    assert (done.pieces, done.different, done.wanted, done.notes) == (24, 7, 262, ())
    assert out.read_bytes() == dump(done.trained.tokenizer, "bpe.json", ["ids"])[""]
    assert [task[:3] for task in heard.tasks] == [("counting", 0, "B"), ("training", 262, "token")]
    assert sum(heard.tasks[1][3]) == 262
    stream = io.BytesIO()
    assert train_file(job, stream).trained == done.trained
    assert stream.getvalue() == out.read_bytes()


def test_counts_are_kept_and_trained_on(tmp_path):
    counts, heard = str(tmp_path / "1.counts"), []
    done = train_file(job_of(counts_out=counts, file_format=None), on_counted=heard.append)
    assert (done.trained, heard) == (None, [done])
    again = train_file(TrainJob(bbpe.Options(262), from_counts=(counts,)))
    assert again.trained == train_file(job_of()).trained
    with pytest.raises(UsageError, match="the counts were cut with the pattern o200k, not with no pattern"):
        train_file(TrainJob(bbpe.Options(262, pattern=""), from_counts=(counts,)))


def test_shortfalls_and_dead_merges_are_notes():
    short = TrainJob(bbpe.Options(9000), Source(text="ab ab"))
    assert train_file(short).notes == ("the vocabulary has 258 tokens, not 9,000: no pair is left to merge",)
    dead = TrainJob(bbpe.Options(260, special_tokens=("ab",)), Source(text="ab ab abc abc"))
    assert train_file(dead).notes[-1].endswith("dead; `split_special` keeps its text out of training")


def test_steps_are_a_value_that_a_view_writes_out():
    done = train_file(job_of(steps=True))
    lines = list(training_lines(done.steps))
    assert lines[0].startswith("start: ")
    assert sum(line.startswith("step ") for line in lines) == 6


def test_slow_patterns_and_patterns_without_a_match_are_told():
    heard = Heard()
    slow = TrainJob(bbpe.Options(260, pattern="(?#slow)b|."), Source(text="ab"))
    train_file(slow, listener=heard)
    assert heard.notes[0].startswith("the core has no scanner for the pattern '(?#slow)b|.'")
    with pytest.raises(UsageError, match="matches nothing in the corpus"):
        train_file(TrainJob(bbpe.Options(260, pattern="z"), Source(text="ab"), pattern="z"))


def test_what_cannot_be_written_is_found_out_first(tmp_path):
    with pytest.raises(OutputError):
        train_file(job_of(), str(tmp_path / "none" / "t.json"))
    with pytest.raises(UsageError, match="unknown format"):
        train_file(job_of(file_format="nosuch"), listener=(heard := Heard()))
    assert heard.tasks == []
