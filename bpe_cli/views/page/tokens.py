"""Write a segmentation as part of a page: its totals, the text token by token, its ids, and a row for each token.

A token is a link to its row, which is a link back, so that both can be reached without a script, by mouse and by
keyboard; what a row says also is the link's title. Titles hold numbers and words of the program only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from bpe_cli.views.labels import ABSENT, count, fraction, whole
from bpe_cli.views.page.markup import escape, marked, name
from bpe_cli.views.visible import shares

if TYPE_CHECKING:
    from bpe_cli.reports.comparison.boundaries import Deviation
    from bpe_cli.reports.text.segmentation import Group, PlacedToken, Segmentation
    from bpe_cli.reports.text.warnings import TextWarning

LEAN = 10_000
"""From so many tokens on, what is said of each is a line and not the row of a table."""

_CHUNK = 500  # tokens: what is not on the screen is laid out when it gets there
_TITLE_BYTES = 24
_COLORS = 4
_COLUMNS = ("#", "id", "token", "bytes", "byte span", "characters", "piece")
_SPACE = '<i class="s"> </i>'
_LINE_FEED = '<i class="n">'
_LINE_END = "\n</i>"
_PIECES = 512  # ids that are written at once


def section(
    segmentation: Segmentation,
    key: str,
    limit: int | None,
    warnings: Sequence[TextWarning] = (),
    *,
    summed: bool = True,
) -> Iterator[str]:
    """Write everything about a segmentation, of up to so many tokens.

    Its ``key`` tells its anchors from others on the page: letters, digits and hyphens. ``summed`` is whether to write
    the totals: ids that were written have no text to compare with.
    """
    if summed:
        yield totals(segmentation)
    if warnings:
        yield f'<ul class="warnings">{"".join(map(warning_item, warnings))}</ul>\n'
    excerpt = segmentation.excerpt(limit)
    if not excerpt.tokens:
        yield '<p class="note">There is no token.</p>\n'
        return
    writer = TokenWriter(excerpt.tokens, key)
    yield '<div class="text" role="group" aria-label="The text, token by token">'
    yield from writer.chunks(excerpt.groups)
    yield "</div>\n"
    if excerpt.more:
        yield f'<p class="note">and {count(excerpt.more, "more token")}; --full shows all</p>\n'
    yield from _ids(excerpt.tokens, key, bool(excerpt.more))
    yield from rows(excerpt.tokens, key)


def totals(segmentation: Segmentation) -> str:
    """Write the totals, those first that people look for."""
    if segmentation.differs_at is None:
        round_trip = "ok"
    else:
        round_trip = f"differs from byte {whole(segmentation.differs_at)} on"
    numbers = (
        ("Tokens", whole(segmentation.token_count), "large"),
        ("Characters", whole(segmentation.character_count), "large"),
        ("Bytes", whole(segmentation.byte_count), "small"),
        ("Bytes/token", fraction(segmentation.bytes_per_token), "small"),
        ("Characters/token", fraction(segmentation.characters_per_token), "small"),
        ("Round trip", round_trip, "small"),
    )
    cells = "".join(f'<div class="{size}"><dt>{label}</dt><dd>{value}</dd></div>' for label, value, size in numbers)
    return f'<dl class="totals">{cells}</dl>\n'


def warning_item(warning: TextWarning, *, options: bool = True) -> str:
    """Describe a warning: the problem, its place, and the hint, unless that names options and there are none here."""
    where = f"{'first at ' if warning.count > 1 else ''}byte {whole(warning.start)}"
    hint = f"<div>{name(warning.hint)}</div>" if options or "--" not in warning.hint else ""
    return f"<li><strong>Warning:</strong> {name(warning.message)} ({where}){hint}</li>"


def deviation_note(first: str) -> str:
    """Explain how boundaries that differ from those of the first tokenizer are marked."""
    first = escape(first)
    return (
        f'<p class="note"><span class="alone">a double line </span> is an end of a token where {first} has none; '
        f'<span class="across">a dashed line</span> is under a token that {first} cuts.</p>\n'
    )


class TokenWriter:
    """Write tokens of one segmentation as links."""

    def __init__(self, tokens: Sequence[PlacedToken], key: str, deviation: Deviation | None = None) -> None:
        """Choose the tokens; a ``deviation`` marks how their boundaries differ from those of the baseline."""
        self._tokens = tokens
        self._key = key
        self._deviation = deviation
        self._written = -1  # the last token that has its link

    def chunks(self, groups: Sequence[Group]) -> Iterator[str]:
        """Write groups in blocks that end with a line of the text."""
        open_block, size = False, 0
        for group in groups:
            if not open_block:
                yield '<div class="c">'
                open_block, size = True, 0
            yield self.group(group)
            size += group.end - group.first
            if size >= _CHUNK and self._tokens[group.end - 1].reading.endswith(b"\n"):
                yield "</div>"
                open_block = False
        if open_block:
            yield "</div>"

    def group(self, group: Group) -> str:
        """Write tokens that share a character, or one token."""
        if len(group.parts) == 1 and not group.parts[0].split:
            part = group.parts[0]
            return self._link(part.first, marked(part.text), special=part.special)
        written = []
        for place, part in enumerate(group.parts):
            goes_on = place + 1 < len(group.parts) and group.parts[place + 1].first
            if not part.split:
                written.append(self._link(part.first, marked(part.text), last=goes_on != part.first))
                continue
            numbers = range(part.first, part.first + len(part.contents))
            links = (
                self._link(number, "", escape("".join(share)), last=goes_on != number)
                for number, share in zip(numbers, shares(part.contents), strict=True)
            )
            clipped = " clipped" if part.clipped else ""
            written.append(f'<b>{marked(part.text)}</b><span class="k{clipped}">{"".join(links)}</span>')
        content = "".join(written)
        return f'<span class="{"g w" if _LINE_FEED in content else "g"}">{content}</span>'

    def _link(self, number: int, content: str, data: str = "", *, special: bool = False, last: bool = True) -> str:
        """Write a token, or what a group's part has of it, and whether the token ends there (``last``).

        Its ``content`` is markup; ``data`` is what stands there from the style sheet, for it has no text of its own.
        """
        classes = [f"t{number % _COLORS}"]
        if special:
            classes.append("z")
        if content.startswith(_SPACE):  # the most frequent mark needs no element
            classes.append("p")
            content = " " + content.removeprefix(_SPACE)
        if _LINE_FEED in content:
            classes.append("w e" if content.endswith(_LINE_END) else "w")
        title = details_of(number, self._tokens[number])
        if self._deviation is not None:
            if last and number in self._deviation.alone:
                classes.append("alone")
                title += "; ends where the first tokenizer goes on"
            if number in self._deviation.across:
                classes.append("across")
                title += "; crosses a boundary of the first tokenizer"
        anchor = ""
        if number > self._written:
            anchor = f' id="t{self._key}-{number}"'
            self._written = number
        extra = f' data-b="{data}"' if data else ""
        return (
            f'<a{anchor} href="#r{self._key}-{number}" class="{" ".join(classes)}"{extra} title="{title}">{content}</a>'
        )


def rows(tokens: Sequence[PlacedToken], key: str) -> Iterator[str]:
    """Write a row for each token, in blocks: in tables, or a line each where there are very many."""
    yield '<div class="rows" role="region" aria-label="Tokens one by one">'
    lean = len(tokens) > LEAN
    scored = any(token.score is not None for token in tokens)
    columns = (*_COLUMNS, "score") if scored else _COLUMNS
    for start in range(0, len(tokens), _CHUNK):
        numbers = range(start, min(start + _CHUNK, len(tokens)))
        yield '<div class="c">'
        if lean:
            yield from (_line(number, tokens[number], key) for number in numbers)
        else:
            yield "<table><thead><tr>"
            yield "".join(f'<th scope="col">{column}</th>' for column in columns)
            yield "</tr></thead><tbody>\n"
            yield from (_row(number, tokens[number], key, scored) for number in numbers)
            yield "</tbody></table>"
        yield "</div>"
    yield "</div>\n"


def _row(number: int, token: PlacedToken, key: str, scored: bool) -> str:
    score = f"<td>{fraction(token.score, 4)}" if scored else ""
    return (
        f'<tr id="r{key}-{number}"><td><a href="#t{key}-{number}">{number}</a><td>{token.token_id}'
        f"<td>{_shown(number, token)}<td>{_hexadecimal(token.content)}"
        f"<td>{token.start}–{token.end}<td>{token.character_start}–{token.character_end}"
        f"<td>{ABSENT if token.piece is None else token.piece}{score}</tr>\n"
    )


def _line(number: int, token: PlacedToken, key: str) -> str:
    """Write a row as one line: a third of the elements, since a browser takes its time for each."""
    return (
        f'<p id="r{key}-{number}"><a href="#t{key}-{number}">{number}</a> {_shown(number, token)} '
        f"{details_of(number, token, None)}</p>\n"
    )


def _shown(number: int, token: PlacedToken) -> str:
    shown = marked(token.reading.decode("utf-8", "surrogateescape"))
    return f'<span class="{class_of(number, token)}">{shown}</span>'


def class_of(number: int, token: PlacedToken) -> str:
    """Return the classes that colour a token wherever it is shown."""
    return f"t{number % _COLORS}{' z' if token.special else ''}"


def _ids(tokens: Sequence[PlacedToken], key: str, clipped: bool) -> Iterator[str]:
    """Write the ids as ``bpe encode`` does, with a button that a script shows."""
    label = f"Copy the {count(len(tokens), 'id')} shown" if clipped else "Copy ids"
    yield f'<p class="ids"><button type="button" hidden data-copy="i{key}">{label}</button> <code id="i{key}">'
    remaining = iter(tokens)
    first = True
    while written := " ".join(str(token.token_id) for token in islice(remaining, _PIECES)):
        yield written if first else f" {written}"
        first = False
    yield "</code></p>\n"


def details_of(number: int, token: PlacedToken, most: int | None = _TITLE_BYTES) -> str:
    """Describe a row in one line of numbers, with a limited number of bytes."""
    parts = [f"token {number}", f"id {token.token_id}", f"bytes {_hexadecimal(token.content, most)}"]
    parts.append(f"byte span {token.start}–{token.end}")
    parts.append(f"characters {token.character_start}–{token.character_end}")
    if token.special:
        parts.append("special")
    if token.piece is not None:
        parts.append(f"piece {token.piece}")
    if token.score is not None:
        parts.append(f"score {fraction(token.score, 4)}")
    return ", ".join(parts)


def _hexadecimal(content: bytes, most: int | None = None) -> str:
    if most is not None and len(content) > most:
        return f"{content[:most].hex(' ')} and {len(content) - most} more"
    return content.hex(" ")
