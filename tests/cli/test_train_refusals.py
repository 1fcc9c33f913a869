"""Settings of ``bpe train`` that cannot be: each gets a sentence, the way out, and status 2."""

from __future__ import annotations

import pytest

from tests.cli.training_kinds import KINDS
from tests.cli_runner import call, error

WALK = "low low low low low lower lower newest newest newest newest newest newest widest widest widest\n"


def refuses(options, message, hint=None, data=WALK):
    assert call("train", *options, input=data.encode()) == (2, b"", error(message, hint))


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            ("-a", "bbpe", "-s", "9"),
            "a vocabulary of 9 is smaller than its initial tokens: 256 bytes",
            "ask for 256 or more, or for --initial-alphabet seen",
        ),
        (
            ("-a", "bbpe", "-s", "9", "--initial-alphabet", "seen"),
            "a vocabulary of 9 is smaller than its initial tokens: 12 bytes",
            "ask for 12 or more",
        ),
        (
            ("-a", "bpe", "-s", "9"),
            (
                "a vocabulary of 9 is smaller than its initial tokens: 20 characters with what is written around them "
                "and 1 special"
            ),
            "ask for 21 or more, or for fewer characters with --set limit_alphabet=N",
        ),
        (
            ("-a", "bpe", "-s", "9", "--compat", "sentencepiece"),
            "a vocabulary of 9 is smaller than its alphabet and special pieces",
            "ask for 14 or more, or for fewer characters with --set character_coverage=X",
        ),
        (
            ("-a", "wordpiece", "-s", "9"),
            "a vocabulary of 9 is smaller than its initial tokens: 20 symbols and 5 special",
            "ask for 25 or more, or for fewer characters with --set limit_alphabet=N",
        ),
        (
            ("-a", "wordpiece", "-s", "9", "--set", "rule=score"),
            "a vocabulary of 9 is smaller than its initial tokens: 20 symbols and 5 special",
            "ask for 25 or more, or for fewer characters with --set limit_alphabet=N",
        ),
        (
            ("-a", "char", "-s", "1"),
            "a vocabulary of 1 has no room after 1 special token",
            "ask for 2 or more",
        ),
        (
            ("-a", "char", "-s", "9", "--set", "unk_token=none"),
            "a vocabulary of 9 is too small for the 12 characters of the corpus",
            "ask for 12 or more, or for a token that stands for unknown characters",
        ),
        (("-a", "word", "-s", "1"), "a vocabulary of 1 has no room after 1 special token", "ask for 2 or more"),
        (("-a", "ngram", "-s", "1"), "a vocabulary of 1 has no room after 1 special token", "ask for 2 or more"),
        (
            ("-a", "byte", "-s", "9"),
            "a vocabulary of bytes has 256 tokens here, not 9",
            "leave --vocab-size out; its size is 256 and the number of special tokens",
        ),
        (
            ("-a", "maxmatch", "-s", "9"),
            "a vocabulary of 9 is too small for 11 characters and 1 special token",
            "ask for 12 or more",
        ),
    ],
)
def test_a_vocabulary_smaller_than_the_alphabet(options, message, hint):
    refuses(options, message, hint)


FEWER = ", or for fewer characters with --set character_coverage=X"


@pytest.mark.parametrize(
    ("options", "fewer"), [((), FEWER), (("--set", "rule=textbook"), ""), (("--compat", "sentencepiece"), FEWER)]
)
def test_a_unigram_vocabulary_smaller_than_its_characters(options, fewer):
    result = call("train", "-a", "unigram", "-s", "9", *options, input=WALK.encode())
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: a vocabulary of ")
    assert " is smaller than its 1" in result.err
    assert result.err.endswith(f"\nhint: ask for a larger vocabulary{fewer}\n")


def test_what_tensorflow_gives_when_nothing_is_small_enough():
    result = call("train", "-a", "wordpiece", "-s", "9", "--compat", "tensorflow", input=WALK.encode())
    said = (
        "16 pieces, 4 different -> 26 tokens: threshold 8, 5 special\n"
        "note: the vocabulary has 26 tokens, not 9: no threshold gives as many, or up to 5% fewer\n"
    )
    assert (result.status, result.err) == (0, said)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_corpus(kind):
    result = call("train", *KINDS[kind], input=b"")
    if kind == "byte":  # there is nothing to learn, so nothing is missing
        assert (result.status, result.out) == (0, call("train", "-a", "byte", "-q", input=WALK.encode()).out)
    else:
        noun = "words" if kind == "word" else "text"
        assert result == (2, b"", error(f"there is nothing to train on: the corpus has no {noun}"))


@pytest.mark.parametrize(
    "kind", ["bpe", "wordpiece", "wordpiece tensorflow", "word", "maxmatch", "bpe sentencepiece", "char sentencepiece"]
)
def test_a_corpus_of_which_nothing_is_left(kind):
    noun = "words" if kind == "word" else "text"
    message = f"there is nothing to train on: the corpus has no {noun}"
    assert call("train", *KINDS[kind], input=b"  \n \n") == (2, b"", error(message))


MATCHES_NOTHING = (
    "the pattern 'z+' matches nothing in the corpus, so that nothing is cut",
    "--pattern none is the way to leave documents whole",
)


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram", "word"])
def test_a_pattern_that_matches_nothing(algorithm):
    refuses(("-a", algorithm, "-s", "90", "--pattern", "z+"), *MATCHES_NOTHING)


def test_a_pattern_that_matches_nothing_for_bytes():
    refuses(("-s", "300", "--pattern", "z+"), *MATCHES_NOTHING)


def test_a_shard_may_have_nothing_for_the_pattern(tmp_path):
    counted = call("train", "-a", "bpe", "-T", WALK, "--pattern", "z+", "--counts-out", "c", "-q", cwd=tmp_path)
    assert counted == (0, b"", "")


@pytest.mark.parametrize("pattern", ["(?<=o)w", r"\bl", "(?=w)"])
def test_a_pattern_that_looks_around_itself_is_not_judged_by_pieces(pattern):
    assert call("train", "-a", "bpe", "-s", "90", "--pattern", pattern, "-q", input=WALK.encode()).status == 0


@pytest.mark.parametrize("algorithm", ["bpe", "wordpiece", "unigram"])
def test_a_pattern_that_does_not_compile(algorithm):
    refuses(
        ("-a", algorithm, "-s", "90", "--pattern", "("),
        (
            'the pattern "(" does not compile: Parsing error at position 1: '
            "Opening parenthesis without closing parenthesis"
        ),
        "write the expression as in Hugging Face's files, or give the name of a pattern: `bpe train --help --all` "
        "lists them",
    )


@pytest.mark.parametrize("algorithm", ["bbpe", "word"])
def test_a_pattern_that_does_not_compile_in_the_regex_module(algorithm):
    refuses(
        ("-a", algorithm, "-s", "300", "--pattern", "("),
        "the pattern '(' does not compile: missing ) at position 1",
        "patterns are written in the syntax of Python's `regex` module; names: `bpe train --help --all`",
    )


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (
            ("-a", "bpe", "-s", "90", "--pattern", "gpt2", "--pre-tokenizer", "bert"),
            "--pattern and --pre-tokenizer both say how text is cut",
            "give one of them, and leave the other out",
        ),
        (
            ("-a", "word", "--set", "rule=space", "--pattern", "gpt2"),
            "words are cut by the rule 'space' or by a pattern, not by both",
            None,
        ),
        (
            ("-a", "word", "--pattern", "none"),
            "there is no pattern to cut words by",
            None,
        ),
        (
            ("-a", "wordpiece", "-s", "90", "--set", "rule=score", "--compat", "hf"),
            "rule=score is not the rule of --compat hf: give one or the other",
            None,
        ),
        (
            ("-a", "bpe", "-s", "90", "--set", "by_byte=yes", "--pre-tokenizer", "bert"),
            "by_byte cannot be used with --pre-tokenizer or --pattern: such words are cut at blanks",
            None,
        ),
        (
            ("-a", "bpe", "-s", "90", "--set", "suffix_form=0.1", "--set", "end_of_word_suffix="),
            "suffix_form=0.1 makes end_of_word_suffix a symbol of its own, and that is empty",
            None,
        ),
        (
            ("-a", "bpe", "-s", "90", "--set", "total_symbols=yes"),
            "total_symbols needs a number of merges",
            None,
        ),
        (
            ("-a", "bbpe", "-s", "300", "--set", "boundaries=un|do,und|o"),
            "line 2 of the segmented words cuts 'undo' in another way than an earlier one: un|do and und|o",
            None,
        ),
        (
            ("-a", "bpe", "-s", "90", "--set", "boundaries=un||do"),
            "line 1 of the segmented words has an empty part: 'un||do'",
            None,
        ),
        (
            ("-a", "wordpiece", "-s", "90", "--special", "[X]"),
            "the unknown token '[UNK]' is not a special token",
            "a word that cannot be spelt becomes it; give it with --special, or name another as unk_token",
        ),
        (("-a", "ngram", "--set", "n=0"), "an n-gram has from 1 to 64 characters, not 0", None),
        (("-a", "ngram", "--set", "max_memory=-1"), "counts do not fit into -1 bytes", None),
        (
            ("-a", "char", "--set", "coverage=0"),
            "a coverage of 0.0 is not a share of the text: it must be over 0 and at most 1",
            None,
        ),
        (("-a", "maxmatch", "--set", "rounds=0"), "rounds must be from 1 to 100, not 0", None),
        (("-a", "bpe", "-s", "9", "--special", "a", "--special", "a"), "the special token 'a' is given twice", None),
        # It was called given twice.
        (
            ("-a", "unigram", "-s", "9", "--special", "<unk>"),
            "the model has a token '<unk>' of its own",
            "leave it out of --special",
        ),
        (
            ("-a", "bpe"),
            "how many tokens or merges? one of the two is needed",
            "-s 32000, --set merges=32000",
        ),
        *(
            (
                ("-a", *words),
                "how many tokens? --vocab-size is missing",
                "32000 is usual for one language: -s 32000",
            )
            for words in (
                ("bbpe",), ("wordpiece",), ("unigram",),
                *((name, "--compat", "sentencepiece") for name in ("bpe", "unigram", "char", "word")),
            )
        ),
    ],
)  # fmt: skip
def test_contradictions_and_gaps(options, message, hint):
    refuses(options, message, hint)


BYTE_HAS = "it has --vocab-size, --special, --split-special, and what `bpe train -a byte --help-algorithm` lists"


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        (("-a", "byte", "--min-frequency", "2"), "-a byte has no --min-frequency", BYTE_HAS),
        (("-a", "byte", "--pattern", "gpt2"), "-a byte has no --pattern", BYTE_HAS),
        (
            ("-a", "wordpiece", "-s", "90", "--prefix-space"),
            "-a wordpiece has no --prefix-space",
            (
                "it has --vocab-size, --min-frequency, --initial-alphabet, --special, --split-special, --normalizer, "
                "--pre-tokenizer, --compat, and what `bpe train -a wordpiece --help-algorithm` lists"
            ),
        ),
        (
            ("-a", "bbpe", "-s", "300", "--normalizer", "nfc"),
            "-a bbpe has no --normalizer",
            (
                "it has --vocab-size, --pattern, --prefix-space, --min-frequency, --special, --split-special, "
                "--initial-alphabet, --max-token-length, --superwords, --switch, --parity, --window, --ratio, "
                "--language, --compat, and what `bpe train -a bbpe --help-algorithm` lists"
            ),
        ),
        (
            ("-a", "unigram", "-s", "90", "--min-frequency", "2"),
            "-a unigram has no --min-frequency",
            (
                "it has --vocab-size, --normalizer, --pre-tokenizer, --special, and what "
                "`bpe train -a unigram --help-algorithm` lists"
            ),
        ),
        (
            ("-a", "word", "--compat", "sentencepiece", "-s", "9", "--prefix-space"),
            "-a word --compat sentencepiece has no --prefix-space",
            (
                "it has --vocab-size, --special, --max-token-length, --min-frequency, and what "
                "`bpe train -a word --compat sentencepiece --help-algorithm` lists"
            ),
        ),
        (
            ("-a", "byte", "--set", "unknown=1"),
            "-a byte has no option 'unknown' for --set",
            "it has special_first",
        ),
        (
            ("-a", "ngram", "--set", "vocab_size=5"),
            "-a ngram has no option 'vocab_size' for --set",
            "there is --vocab-size",
        ),
        (("-a", "ngram", "--set", "n=x"), "--set n=x is not a whole number", None),
        (("-a", "ngram", "--set", "n"), "--set n is not NAME=VALUE", "for example: --set seed_size=100000"),
        (("-a", "maxmatch", "--set", "factors=1,x"), "--set factors=1,x is not a list of numbers with commas", None),
        (("-a", "char", "--set", "order=up"), "--set order=up is not one of count, sorted", None),
        (("-a", "byte", "--set", "special_first=1"), "--set special_first=1 is not yes or no", None),
        (
            ("-a", "bpe", "-s", "90", "--pre-tokenizer", "what"),
            "there is no pre-tokenizer 'what'",
            (
                "there are none, bert, whitespace, whitespace-split, punctuation, digits, metaspace, t5, xlnet, "
                "scripts, char, gpt2, cl100k, llama3, nanochat, qwen2, o200k, tekken, cl100k-old, gpt4, minbpe, llama4"
            ),
        ),
    ],
)
def test_options_that_the_algorithm_does_not_have(options, message, hint):
    refuses(options, message, hint)


COMPATS = {
    "bbpe": "hf, rustbpe, minbpe, subword-nmt, course",
    "bpe": "subword-nmt, hf, sentencepiece, course, textbook",
    "wordpiece": "hf, tensorflow, course",
    "unigram": "sentencepiece, course",
    "char": "sentencepiece",
    "word": "sentencepiece",
    "ngram": "",
    "byte": "",
    "maxmatch": "",
    "list": "",
}


@pytest.mark.parametrize("algorithm", COMPATS)
def test_compat_that_an_algorithm_does_not_have(algorithm):
    known = COMPATS[algorithm]
    own = f"it has {known}" if known else "there are no other rules for it"
    for compat in ("hf", "rustbpe", "minbpe", "subword-nmt", "sentencepiece", "tensorflow"):
        if compat not in known.split(", "):
            others = ", ".join(f"-a {other}" for other, rules in COMPATS.items() if compat in rules.split(", "))
            hint = f"{own}; {others} can follow {compat}"
            refuses(
                ("-a", algorithm, "-s", "300", "--compat", compat), f"-a {algorithm} has no --compat {compat}", hint
            )
        else:
            assert call("train", "-a", algorithm, "-s", "300", "--compat", compat, input=WALK.encode()).status == 0


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        *(
            (
                ("-a", algorithm, *size, "--format", "sentencepiece"),
                f"a SentencePiece model cannot hold {kind}",
                "it holds what --compat sentencepiece trains",
            )
            for algorithm, size, kind in (
                ("wordpiece", ("-s", "90"), "WordPiece"), ("bbpe", ("-s", "300"), "byte-level BPE by merges"),
                ("char", ("-s", "90"), "whole pieces"), ("word", ("-s", "90"), "whole pieces"),
                ("ngram", (), "overlapping n-grams"), ("maxmatch", (), "forward maximum matching"),
            )
        ),
        *(
            (
                ("-a", algorithm, "-s", "300", "--format", "subword-nmt"),
                f"a file of codes cannot hold {kind}",
                "bpe train -a bpe --compat subword-nmt makes what codes hold",
            )
            for algorithm, kind in (
                ("wordpiece", "WordPiece"), ("bbpe", "byte-level BPE by merges"), ("unigram", "unigram language model"),
                ("char", "whole pieces"), ("word", "whole pieces"), ("ngram", "overlapping n-grams"),
                ("maxmatch", "forward maximum matching"),
            )
        ),
    ],
)  # fmt: skip
def test_a_format_that_cannot_hold_the_result(options, message, hint, tmp_path):
    # It is said before the corpus is read, which is not there.
    result = call("train", "nosuch.txt", *options, cwd=tmp_path)
    assert result == (2, b"", error(message, hint))


@pytest.mark.parametrize("name", ["seed_size", "sub_iterations", "max_piece_length"])
def test_numbers_below_zero(name):
    result = call("train", "-a", "unigram", "-s", "60", "--set", f"{name}=-1", input=WALK.encode())
    assert (result.status, result.out) == (2, b"")
    assert result.err.startswith("error: ")
    assert name in result.err
