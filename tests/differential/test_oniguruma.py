r"""Expressions of ``tokenizer.json`` that two engines may read differently: they cut the same, or are refused."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tokenizers import Regex
from tokenizers.pre_tokenizers import Split as TheirSplit

from bpe_cli.errors import UsageError
from bpe_cli.formats.huggingface import oniguruma
from bpe_cli.stages import Split
from bpe_cli.stages.splitters import compile_splitter
from tests.counted import at_least, compared
from tests.differential.pieces import raw_pieces, stages_of
from tests.differential.texts import MOST

TEXTS = (
    "10m² and 2½ cups, ³¹¼¾ x", "straße STRASSE ﬁn fin FIN ﬆ st", "abc pL Lu { } a{,} C c AbC", "a~b &&b ~~",
    "É é Σ ς σ", "don't DON'T 'S 's x'll", "\u01c5 \u2160 Ab aB", "\ue000a \n\t\u200b!", "", "ʼn ŉ ΐ",
    "12345 a²½  \n\n bb {2}", "xx -x 12x", "a\r\naa\r\na\r\n",
    "ab--c +,-.&x [a--b", "12² 1234² x²y ²x", "]-a] \u2003$ _٣Ⅷ",
)  # fmt: skip

QUANTIFIED = (r"\d", r"\D", r"\s", r"\S", r"\w", r"\W", r"\n")

ALIKE = (
    r"\w+|[^\w\s]+", r"\W+", r"[\w]+", r"[^\w]+", r"[\w²³¹¼½¾]+", r"(?i:'s|'t|'ll)|\w", r"(?i)a|b|c", r"a|(?i:b)|c",
    r"(?i:ab)c|C", r"\p{Lu}|(?i:x)", r"(?i:(?-i:ss))", r"[a~]", r"a{1,2}", r"\p{L}+|\p{N}{1,3}", r"(?:\w|\s)+",
    r"(?i:[a-z])", r"(?i:a)|ss", r"\x{61}+", r"\p{L}{2}", r"[\d{2}]+",
    *(escape + count for escape in QUANTIFIED for count in ("{2}", "{1,3}", "{2,}", "{,2}", "{1,3}?")),
    "[+--]", "[--a]", "[a-c--]", "[a-c--x]", "[^+--]", "[---]", "[+---a]", r"[\--a]", r"[\x{2b}--]", r"\[a--b",
    r"x(?<=\b-x|\bx)", r"x(?<=\b\d{2}x)", r"(?<!\B[x{?]a)a", r"(?<=a\s*)a\b", r"(?<=-|x{1,2})(?:\bx|.)",
    r"\b", r"\B", r"\w\b", r"\B\w+", r"\d{1,3}(?=(?:\d{3})*\b)", r"(?<=\b²)x", r"(?<!\B\w)x",
    "[[:alpha:]]+", "[[:^space:]]+", "[_[:alnum:]²]+", "[^[:punct:]]", r"[]\w-]+", r"[^]\w]+", r"(?<name>x)|(?>1)",
    "x(?#a [ group)1",
    "(?i-m:x)", "{eos}|[{e}(*]",
    "x*|-x", r"(?i)X*|-X", r"x??|\w+", r"(?:|-)x", "(?:b*)*|bb", r"\s{0,2}|ab", "a?b?", "x+|-*", r"\b|\w+",
    "(?>x*|-)x|-*",
)  # fmt: skip

REFUSED_BY_REGEX = (r"\x{61}+", r"[\x{2b}--]", "{eos}|[{e}(*]")
"""Which the reader refuses, whatever the core makes of them."""

REFUSED = {
    r"a(?i)b|c": "(?i)", r"b(?-i)a|c": "(?-i)", r"(?:(?i)a|b)": "(?i)", r"\pL": r"\p", r"\PL+": r"\P", r"[\pL]": r"\p",
    r"(?i)ss": "ss", r"(?i:xST)": "st", r"(?i)ﬁ": "ﬁ", r"(?i)[ß]": "ß", r"(?i)\p{Lu}": r"\p{Lu}",
    r"(?i)[\p{Ll}x]": r"\p{Ll}", r"[a~~b]": "~~", r"a{,}": "{,}", r"\p{Graph}": r"\p{Graph}",
    r"[\P{print}]": r"\P{print}", r"(?m:a)": "(?m", r"(?im)a": "(?m",
    "(?s:.)": "(?s", "(?s)x": "(?s", "(?i-s:.)": "(?s", "(?P<x>a)": "(?P", "(?V1)a": "(?V", "(?|a|b)": "(?|",
    "(*FAIL)": "(*", r"\G": r"\G", r"\U00000061": r"\U", r"[\N{DIGIT ONE}]": r"\N", r"\m\w+": r"\m",
    r"(?<x>a)\g<x>": r"\g",
    "a{e<=1}": "{e<=1}", r"\xe9": r"\xe9", r"[\xe0-\xff]": r"\xe0", r"\p{Script=Greek}": r"\p{Script=Greek}",
    r"[\p{IsL}]": r"\p{IsL}",
    r"\p{L&}": r"\p{L&}", r"\p{Word}": r"\p{Word}", r"[^\p{XDigit}]": r"\p{XDigit}", r"(?i:[À-ÿ]+)": "À-ÿ",
    r"(?i)[\u00c0-\u00ff]": r"\u00c0-\u00ff", r"(?i)\u00df": r"\u00df", "[[:graph:]]": "[:graph:]",
    "[[:^alnum:]]": "[:^alnum:]", "(?i:[[:upper:]])": "[:upper:]", r"[\w-.]": r"\w-.", r"[a-\d]": r"a-\d",
    r"(?<=(?=x)x)": "(?=",
    **{escape + count: "}+" for escape in QUANTIFIED for count in ("{2}+", "{1,3}+")},
    **{escape + count: count for escape in QUANTIFIED for count in ("{2}?", "{,}")}, r"\h{2}": r"\h", r"\Z{2}": r"\Z",
}  # fmt: skip


def cut(regex: str, text: str, behavior: str = "Isolated") -> list[str]:
    return [piece.decode() for piece, _, _ in raw_pieces(stages_of(Split(regex, behavior)), text.encode())]


def cut_alone(regex: str, text: str) -> list[str]:
    """Cut a text as byte-level models do, where no other stage is."""
    data = text.encode()
    return [
        data[start:end].decode() for start, end in pairwise((0, *memoryview(compile_splitter((regex,)).split(data))))
    ]


@at_least(10)
@pytest.mark.parametrize("regex", ALIKE)
def test_what_is_read_cuts_as_theirs_does(regex):
    theirs = TheirSplit(Regex(regex), "isolated")
    read = oniguruma.as_read(regex)
    assert oniguruma.as_read(oniguruma.as_written(read)) == read
    for text in TEXTS:
        expected = [piece for piece, _ in theirs.pre_tokenize_str(text)]
        assert cut(read, text) == expected, text
        if regex not in REFUSED_BY_REGEX:
            assert cut_alone(read, text) == expected, text
        again = TheirSplit(Regex(oniguruma.as_written(read)), "isolated")
        assert [piece for piece, _ in again.pre_tokenize_str(text)] == expected
        compared()


@pytest.mark.parametrize(("regex", "part"), REFUSED.items())
def test_what_they_read_differently_is_refused(regex, part):
    for way in (oniguruma.as_read, oniguruma.as_written):
        with pytest.raises(ValueError, match=r"read|in ") as caught:
            way(regex)
        assert str(caught.value).startswith(f"{part} in ")
        assert "Hugging Face's engine" in str(caught.value)


@pytest.mark.parametrize("regex", REFUSED_BY_REGEX)
def test_what_the_module_cannot_compile_is_refused(regex):
    with pytest.raises(UsageError, match="does not compile"):
        compile_splitter((oniguruma.as_read(regex),))


@pytest.mark.parametrize("regex", ["x*|-x", "x??", r"(?i)(?:|-)x?"])
def test_what_may_prefer_to_match_nothing_is_not_written(regex):
    """Where it matches nothing, we look for another way to match in the same place, and they do not."""
    assert cut_alone("x*|-x", "-x") == ["-x"]
    assert [piece for piece, _ in TheirSplit(Regex("x*|-x"), "isolated").pre_tokenize_str("-x")] == ["-", "x"]
    with pytest.raises(ValueError, match="the pattern may match nothing where it could match text"):
        oniguruma.as_written(regex)


@pytest.mark.parametrize(("regex", "part"), [("[[:alpha:]]", "[:alpha:]"), (r"(?<=\bx)", r"\b"), (r"(?<!x|\B)", r"\B")])
def test_what_is_read_but_not_written(regex, part):
    """A class that our two engines read differently, and edges, which only look-aheads can spell out."""
    assert oniguruma.as_read(regex) != regex
    with pytest.raises(ValueError, match=r"may have|other words") as caught:
        oniguruma.as_written(regex)
    assert str(caught.value).startswith(f"{part} in ")


@pytest.mark.parametrize(
    "name",
    ["alpha", "digit", "alnum", "upper", "lower", "punct", "space", "blank", "cntrl", "xdigit",
     "^alpha", "^digit", "^upper", "^lower", "^space", "^cntrl", "^word"],
)  # fmt: skip
def test_posix_classes_are_the_same_characters(name):
    """They were ASCII's alone between other stages, and those of the `regex` module elsewhere."""
    theirs = TheirSplit(Regex(f"[[:{name}:]]+"), "removed")
    left = {*"".join(piece for piece, _ in theirs.pre_tokenize_str(MOST))}
    assert 10 < len(left) < len(MOST) - 10
    assert left ^ {*"".join(cut(oniguruma.as_read(f"[[:{name}:]]+"), MOST, "Removed"))} <= {"\u200c", "\u200d"}


@pytest.mark.parametrize("regex", [r"\w", r"\W", r"[\w]"])
def test_words_are_the_same_characters_but_for_joiners(regex):
    """Of many characters at once, by which ones are left when those that match are removed."""
    theirs = TheirSplit(Regex(f"(?:{regex})+"), "removed")
    ours = f"(?:{oniguruma.as_read(regex)})+"
    left = {*"".join(piece for piece, _ in theirs.pre_tokenize_str(MOST))}
    assert 50_000 < len(left) < len(MOST) - 50_000
    different = left ^ {*"".join(cut(ours, MOST, "Removed"))}
    assert different == {"\u200c", "\u200d"}


@pytest.mark.parametrize("regex", ["(?i:i)", "(?i:[a-z])"])
def test_i_with_a_dot_is_a_case_of_i_here_alone(regex):
    """The one character that is folded otherwise, which docs/reference/stages.md says."""
    theirs = TheirSplit(Regex(regex), "isolated")
    for text in ("1I2", "1i2", "1ı2"):
        assert cut(regex, text) == [piece for piece, _ in theirs.pre_tokenize_str(text)]
    assert [piece for piece, _ in theirs.pre_tokenize_str("1İ2")] == ["1İ2"]
    assert cut(regex, "1İ2") == ["1", "İ", "2"]
