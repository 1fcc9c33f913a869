"""Hold the textbook's splits to the worked examples of the seeds, and the compiled stages to both."""

from __future__ import annotations

import pytest

from bpe_cli.stages import ByteLevel, PreTokenizer, Split
from bpe_cli.stages.named_stages import pre_tokenizers_named
from bpe_cli.stages.patterns import PATTERNS
from tests.differential.pieces import pieces_with_spans, stages_of
from tests.oracle import pre_tokenize
from tests.oracle.pre_tokenize import Piece

GPT2 = (Split(PATTERNS["gpt2"].regex), ByteLevel())
BERT, T5, XLNET = pre_tokenizers_named("bert"), pre_tokenizers_named("t5"), pre_tokenizers_named("xlnet")


def check(function, stages: tuple[PreTokenizer, ...], text: str, expected: list[Piece]) -> None:
    assert function(text) == expected
    assert pieces_with_spans(stages_of(*stages), text) == expected


def test_one_sentence_by_three_models() -> None:
    text = "Hello, how are  you?"
    check(
        pre_tokenize.bert, BERT, text,
        [("Hello", (0, 5)), (",", (5, 6)), ("how", (7, 10)), ("are", (11, 14)), ("you", (16, 19)), ("?", (19, 20))],
    )  # fmt: skip
    check(
        pre_tokenize.gpt2, GPT2, text,
        [("Hello", (0, 5)), (",", (5, 6)), ("Ġhow", (6, 10)), ("Ġare", (10, 14)), ("Ġ", (14, 15)), ("Ġyou", (15, 19)),
         ("?", (19, 20))],
    )  # fmt: skip
    check(
        pre_tokenize.t5, T5, text,
        [("▁Hello,", (0, 6)), ("▁how", (7, 10)), ("▁are", (11, 14)), ("▁you?", (16, 20))],
    )  # fmt: skip


CORPUS = (
    "This is the Hugging Face Course.",
    "This chapter is about tokenization.",
    "This section shows several tokenizer algorithms.",
    "Hopefully, you will be able to understand how they are trained and generate tokens.",
)

BY_GPT2 = (
    "This 0 4|Ġis 4 7|Ġthe 7 11|ĠHugging 11 19|ĠFace 19 24|ĠCourse 24 31|. 31 32",
    "This 0 4|Ġchapter 4 12|Ġis 12 15|Ġabout 15 21|Ġtokenization 21 34|. 34 35",
    "This 0 4|Ġsection 4 12|Ġshows 12 18|Ġseveral 18 26|Ġtokenizer 26 36|Ġalgorithms 36 47|. 47 48",
    (
        "Hopefully 0 9|, 9 10|Ġyou 10 14|Ġwill 14 19|Ġbe 19 22|Ġable 22 27|Ġto 27 30|Ġunderstand 30 41|Ġhow 41 45"
        "|Ġthey 45 50|Ġare 50 54|Ġtrained 54 62|Ġand 62 66|Ġgenerate 66 75|Ġtokens 75 82|. 82 83"
    ),
)
BY_BERT = (
    "This 0 4|is 5 7|the 8 11|Hugging 12 19|Face 20 24|Course 25 31|. 31 32",
    "This 0 4|chapter 5 12|is 13 15|about 16 21|tokenization 22 34|. 34 35",
    "This 0 4|section 5 12|shows 13 18|several 19 26|tokenizer 27 36|algorithms 37 47|. 47 48",
    (
        "Hopefully 0 9|, 9 10|you 11 14|will 15 19|be 20 22|able 23 27|to 28 30|understand 31 41|how 42 45|they 46 50"
        "|are 51 54|trained 55 62|and 63 66|generate 67 75|tokens 76 82|. 82 83"
    ),
)
BY_XLNET = (
    "▁This 0 4|▁is 5 7|▁the 8 11|▁Hugging 12 19|▁Face 20 24|▁Course. 25 32",
    "▁This 0 4|▁chapter 5 12|▁is 13 15|▁about 16 21|▁tokenization. 22 35",
    "▁This 0 4|▁section 5 12|▁shows 13 18|▁several 19 26|▁tokenizer 27 36|▁algorithms. 37 48",
    (
        "▁Hopefully, 0 10|▁you 11 14|▁will 15 19|▁be 20 22|▁able 23 27|▁to 28 30|▁understand 31 41|▁how 42 45"
        "|▁they 46 50|▁are 51 54|▁trained 55 62|▁and 63 66|▁generate 67 75|▁tokens. 76 83"
    ),
)


@pytest.mark.parametrize(
    ("function", "stages", "expected"),
    [
        (pre_tokenize.gpt2, GPT2, BY_GPT2),
        (pre_tokenize.bert, BERT, BY_BERT),
        (pre_tokenize.xlnet, XLNET, BY_XLNET),
    ],
    ids=["gpt2", "bert", "xlnet"],
)
def test_the_course_corpus(function, stages, expected) -> None:
    for text, line in zip(CORPUS, expected, strict=True):
        rows = (row.split(" ") for row in line.split("|"))
        check(function, stages, text, [(piece, (int(start), int(end))) for piece, start, end in rows])
