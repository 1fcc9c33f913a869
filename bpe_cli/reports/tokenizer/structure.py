"""Measure how a vocabulary is built: scripts, lengths, merge tree, cut characters, runs, duplicates.

Scripts are those of Unicode Standard Annex 24.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from bpe_cli.reports.tokenizer.contents import (
    Contents,
    Duplicates,
    LengthBin,
    NamedToken,
    bins,
    count_duplicates,
    read_contents,
)
from bpe_cli.reports.tokenizer.merge_tree import MergeShape, MergeTree, Node, merge_tree, shape_of
from bpe_cli.reports.tokenizer.odd_tokens import (
    Cut,
    DigitRun,
    Repeat,
    Unseen,
    WhiteSpaceRun,
    count_cuts,
    count_unseen,
    digit_runs,
    long_repeats,
    white_space_runs,
)
from bpe_cli.support.cached import cached_property
from bpe_cli.tokenizer.special_tokens import dead_merges

if TYPE_CHECKING:
    import regex

    from bpe_cli.tokenizer import Tokenizer


EXAMPLES = 10
"""How many tokens of several scripts are reported."""

_NAMES = """
    Han Hangul Latin Cyrillic Arabic Hiragana Katakana Greek Hebrew Devanagari Thai Bengali Tamil Telugu Kannada
    Malayalam Gujarati Gurmukhi Oriya Sinhala Lao Tibetan Myanmar Georgian Armenian Ethiopic Khmer Mongolian
    Cherokee Canadian_Aboriginal Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Beria_Erfe
    Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Carian Caucasian_Albanian Chakma Cham Chorasmian Coptic
    Cuneiform Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic Garay
    Glagolitic Gothic Grantha Gunjala_Gondi Gurung_Khema Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic
    Inscriptional_Pahlavi Inscriptional_Parthian Javanese Jurchen Kaithi Kawi Kayah_Li Kharoshthi
    Khitan_Small_Script Khojki Khudawadi Kirat_Rai Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani
    Makasar Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive
    Meroitic_Hieroglyphs Miao Modi Mro Multani Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu
    Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian
    Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa
    Phoenician Proto_Cuneiform Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Seal Sharada Shavian Siddham
    Sidetic SignWriting Sogdian Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le
    Tai_Tham Tai_Viet Tai_Yo Takri Tangsa Tangut Thaana Tifinagh Tirhuta Todhri Tolong_Siki Toto Tulu_Tigalari
    Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square
"""

NAMES = tuple(_NAMES.split())
"""The scripts, the most common first; the ``regex`` module's tables say which characters they have."""

WRITTEN_TOGETHER = (
    ("Japanese (Han and kana)", frozenset({"Han", "Hiragana", "Katakana"})),
    ("Korean (Hangul and Han)", frozenset({"Hangul", "Han"})),
    ("Chinese (Han and Bopomofo)", frozenset({"Han", "Bopomofo"})),
)
"""Scripts that one writing system mixes (Unicode Technical Standard 39, section 5.1)."""


@dataclass(frozen=True, slots=True)
class ScriptCount:
    """How many ordinary tokens a script has, and their share of all (0 to 1)."""

    name: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class Scripts:
    """In which scripts the ordinary tokens are written; every token counts once.

    Attributes:
        counts: Tokens whose letters are all of one script (or of scripts that are written together), most first.
        without: Tokens without any script: digits, punctuation, symbols, whitespace.
        several: Tokens of scripts that are not written together.
        not_utf8: Tokens that are not UTF-8, whose script is not told.
        examples: The first tokens of several scripts, with their scripts.
    """

    counts: tuple[ScriptCount, ...]
    without: ScriptCount
    several: ScriptCount
    not_utf8: ScriptCount
    examples: tuple[tuple[NamedToken, tuple[str, ...]], ...]


def count_scripts(contents: Contents) -> Scripts:
    """Count the tokens of each script."""
    script_of = scripts_of(set().union(*contents.texts.values()))
    total = len(contents.meanings) or 1
    # Few sets are met, each again and again; None stands for characters without a script.
    known: dict[frozenset[str | None], tuple[frozenset[str], str | None]] = {}
    counts: Counter[str] = Counter()
    without, several = 0, []
    for token_id, text in contents.texts.items():
        met = frozenset(map(script_of.get, text))
        if met not in known:
            scripts = frozenset(script for script in met if script is not None)
            known[met] = scripts, _name_of(scripts) if scripts else None
        scripts, name = known[met]
        if name is not None:
            counts[name] += 1
        elif scripts:
            several.append((token_id, scripts))
        else:
            without += 1
    broken = len(contents.meanings) - len(contents.texts)
    return Scripts(
        counts=tuple(
            ScriptCount(name, count, count / total)
            for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        ),
        without=ScriptCount("no script", without, without / total),
        several=ScriptCount("several scripts", len(several), len(several) / total),
        not_utf8=ScriptCount("not UTF-8", broken, broken / total),
        examples=tuple((contents.example(token_id), tuple(sorted(names))) for token_id, names in several[:EXAMPLES]),
    )


def scripts_of(characters: Iterable[str]) -> dict[str, str]:
    """Return the script of each character that has one of its own (neither Common nor Inherited).

    >>> scripts_of("aж谁1")
    {'a': 'Latin', 'ж': 'Cyrillic', '谁': 'Han'}
    """
    pattern, names = _pattern()
    scripts = {}
    for character in characters:
        match = pattern.match(character)
        if match is not None and match.lastindex is not None:
            scripts[character] = names[match.lastindex - 1]
    return scripts


@lru_cache(maxsize=1)
def _pattern() -> tuple[regex.Pattern[str], tuple[str, ...]]:
    """Compile the pattern of scripts; scripts younger than the module's tables are left out."""
    import regex

    known = []
    for name in NAMES:
        try:
            regex.compile(rf"\p{{Script={name}}}")
        except regex.error:
            continue
        known.append(name)
    return regex.compile("|".join(rf"(\p{{Script={name}}})" for name in known)), tuple(
        name.replace("_", " ") for name in known
    )


def _name_of(scripts: frozenset[str]) -> str | None:
    """Name a set of scripts; None for several that are not written together."""
    if len(scripts) == 1:
        (name,) = scripts
        return name
    return next((name for name, together in WRITTEN_TOGETHER if scripts <= together), None)


TREE_NODES = 64
"""How many tokens of a tree are reported."""


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A token in a tree that is written down from its root: how far below it, what it is, whether its parts follow."""

    level: int
    token: NamedToken
    made: bool


@dataclass(frozen=True, slots=True)
class DeepToken:
    """One of the deepest tokens.

    Attributes:
        tree: Its tree from the root, left parts first; at most ``TREE_NODES`` tokens of it.
    """

    token: NamedToken
    depth: int
    tree: tuple[TreeNode, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """How the ordinary tokens of a vocabulary are built; texts are what tokens stand for (``contents.py``).

    Attributes:
        character_lengths: (characters, tokens), ascending, of the tokens that are UTF-8.
        deepest: The tokens that take the most merges one on top of the other.
        cuts: The tokens that are not UTF-8, by how they cut characters.
        duplicates: What differs by case or a leading space only.
    """

    token_count: int
    single_bytes: int
    scripts: Scripts
    character_lengths: tuple[tuple[int, int], ...]
    character_bins: tuple[LengthBin, ...]
    merges: MergeShape | None
    deepest: tuple[DeepToken, ...]
    cuts: tuple[Cut, ...]
    white_space: tuple[WhiteSpaceRun, ...]
    digits: tuple[DigitRun, ...]
    duplicates: Duplicates
    unseen: tuple[Unseen, ...]
    repeats: tuple[Repeat, ...]
    repeat_count: int


class Anatomy:
    """The data that several parts of the health report need: what tokens stand for, and the merge tree."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.contents: Contents = read_contents(tokenizer)
        self.tree: MergeTree | None = merge_tree(tokenizer.live_model)

    @cached_property
    def dead_merges(self) -> list[tuple[int, tuple[int, int, int]]]:
        """The merges that are left out, each with its number, from 0."""
        vocabulary = self.tokenizer.model.vocabulary
        merges = dead_merges(self.tokenizer.model, self.tokenizer.withheld)
        # Of an id without a token nothing is made.
        return [each for each in merges if all(vocabulary.token(token_id) for token_id in each[1])]

    def named(self, token_id: int) -> NamedToken:
        """Return a token, special or not, with the text that it stands for."""
        content = self.contents.meanings.get(token_id)
        return NamedToken(token_id, self.tokenizer.token_bytes(token_id) if content is None else content)

    def tree_of(self, token_id: int, limit: int | None = TREE_NODES) -> tuple[TreeNode, ...]:
        """Write down the merge tree of a token from its root."""
        nodes = [Node(0, token_id, False)] if self.tree is None else self.tree.nodes(token_id, limit)
        return tuple(TreeNode(node.level, self.named(node.token_id), node.made) for node in nodes)


_MEASURES: dict[str, Callable[[Contents], Any]] = {
    "scripts": count_scripts,
    "cuts": count_cuts,
    "white_space": white_space_runs,
    "digits": digit_runs,
    "duplicates": count_duplicates,
    "unseen": count_unseen,
}
"""What is measured of the contents alone, by the attributes of ``Structure``."""

STRUCTURE_STEPS = len(_MEASURES)
"""How many steps further ``examine_structure`` tells that it is."""


def examine_structure(anatomy: Anatomy, *, advance: Callable[[int], None] = lambda _: None) -> Structure:
    """Measure how a vocabulary is built.

    Args:
        anatomy: The tokenizer's tokens and merges.
        advance: Called with each further number of steps, ``STRUCTURE_STEPS`` in all.

    Complexity: linear in the vocabulary's bytes; about a second for 200,000 tokens.
    """
    contents, tree = anatomy.contents, anatomy.tree
    shape = shape_of(tree, contents.meanings) if tree else None
    lengths = Counter(map(len, contents.texts.values()))
    repeat_count, repeats = long_repeats(contents)
    measured: dict[str, Any] = {}
    for name, measure in _MEASURES.items():
        measured[name] = measure(contents)
        advance(1)
    return Structure(
        token_count=len(contents.meanings),
        single_bytes=len({content for content in contents.meanings.values() if len(content) == 1}),
        character_lengths=tuple(sorted(lengths.items())),
        character_bins=bins(lengths),
        merges=shape,
        deepest=tuple(
            DeepToken(contents.example(token_id), depth, anatomy.tree_of(token_id))
            for token_id, depth in (shape.deepest if shape else ())
        ),
        repeats=repeats,
        repeat_count=repeat_count,
        **measured,
    )
