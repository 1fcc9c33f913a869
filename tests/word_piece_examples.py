"""The worked examples of WordPiece in Hugging Face's course, which the tests count, learn and cut anew."""

from __future__ import annotations

from fractions import Fraction

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

# -- hug, pug, pun, bun, hugs ----------------------------------------------------------------------

HUG_COUNTS = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
HUG_ALPHABET = ["b", "h", "p", "##g", "##n", "##s", "##u"]
HUG_VOCABULARY = [*HUG_ALPHABET, "##gs", "hu", "hug"]
"""As the course has it; its last token is not the one that its score gives."""

# -- the four sentences ----------------------------------------------------------------------------

# fmt: off
COUNTS = {
    "This": 3, "is": 2, "the": 1, "Hugging": 1, "Face": 1, "Course": 1, ".": 4, "chapter": 1, "about": 1,
    "tokenization": 1, "section": 1, "shows": 1, "several": 1, "tokenizer": 1, "algorithms": 1, "Hopefully": 1, ",": 1,
    "you": 1, "will": 1, "be": 1, "able": 1, "to": 1, "understand": 1, "how": 1, "they": 1, "are": 1, "trained": 1,
    "and": 1, "generate": 1, "tokens": 1,
}
ALPHABET = [
    "##a", "##b", "##c", "##d", "##e", "##f", "##g", "##h", "##i", "##k", "##l", "##m", "##n", "##o", "##p", "##r",
    "##s", "##t", "##u", "##v", "##w", "##y", "##z", ",", ".", "C", "F", "H", "T", "a", "b", "c", "g", "h", "i", "s",
    "t", "u", "w", "y",
]
PRODUCTS = [
    "ab", "##fu", "Fa", "Fac", "##ct", "##ful", "##full", "##fully", "Th", "ch", "##hm", "cha", "chap", "chapt",
    "##thm", "Hu", "Hug", "Hugg", "sh", "th", "is", "##thms", "##za", "##zat", "##ut",
]
# fmt: on
VOCABULARY = [*SPECIAL, *ALPHABET, *PRODUCTS]
# fmt: off
SORTED_VOCABULARY = [
    "##a", "##b", "##c", "##ct", "##d", "##e", "##f", "##fu", "##ful", "##full", "##fully", "##g", "##h", "##hm",
    "##i", "##k", "##l", "##m", "##n", "##o", "##p", "##r", "##s", "##t", "##thm", "##thms", "##u", "##ut", "##v",
    "##w", "##y", "##z", "##za", "##zat", ",", ".", "C", "F", "Fa", "Fac", "H", "Hu", "Hug", "Hugg", "T", "Th", "a",
    "ab", "b", "c", "ch", "cha", "chap", "chapt", "g", "h", "i", "is", "s", "sh", "t", "th", "u", "w", "y", "[CLS]",
    "[MASK]", "[PAD]", "[SEP]", "[UNK]",
]
FIRST_PAIRS = [
    (("T", "##h"), Fraction(1, 8)),  # 0.125
    (("##h", "##i"), Fraction(3, 88)),  # 0.03409...
    (("##i", "##s"), Fraction(3, 110)),  # 0.02727...
    (("i", "##s"), Fraction(1, 10)),  # 0.1
    (("t", "##h"), Fraction(1, 28)),  # 0.03571...
    (("##h", "##e"), Fraction(1, 84)),  # 0.01190...
]
# fmt: on

SENTENCE = ["This", "is", "the", "Hugging", "Face", "course", "!"]
# fmt: off
SENTENCE_TOKENS = [
    "Th", "##i", "##s", "is", "th", "##e", "Hugg", "##i", "##n", "##g", "Fac", "##e", "c", "##o", "##u", "##r", "##s",
    "##e", "[UNK]",
]
# fmt: on
