"""Write the playground: the page on which texts are typed, and the columns of tokens that are put into it.

The page is one document with its style and its script, allowed by their hashes; it may ask the server that it came from
and nobody else. The tokens are written as in every page (``tokens.TokenWriter``), so what is typed passes the same
escaping; and the script puts them in as a parsed document, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bpe_cli.reports.comparison.boundaries import Deviation, deviation
from bpe_cli.views.labels import count
from bpe_cli.views.page.markup import escape, name
from bpe_cli.views.page.page import CONTROLS, policy_for, script, style_sheet
from bpe_cli.views.page.tokens import TokenWriter, class_of, details_of, deviation_note, totals, warning_item

if TYPE_CHECKING:
    from bpe_cli.reports.text.segmentation import PlacedToken, Segmentation
    from bpe_cli.reports.text.warnings import TextWarning

_TITLE = "bpe playground"

ROLES = ("system", "developer", "user", "assistant", "tool")
"""Who speaks in a conversation, as the page offers it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as a tokenizer cuts it.

    Attributes:
        tokenizer: What the page calls it.
        limit: How many tokens are shown.
    """

    tokenizer: str
    segmentation: Segmentation
    warnings: Sequence[TextWarning] = ()
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason why a tokenizer refuses a text."""

    tokenizer: str
    message: str
    hint: str | None = None


def policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return f"{policy_for(_style(), _code())}; connect-src 'self'; frame-ancestors 'none'"


def page(
    tokenizers: Sequence[str], given: int, text: str, *, escapes: bool = False, templates: Sequence[str] = ()
) -> Iterator[str]:
    """Write the page.

    Args:
        tokenizers: The names of those on offer; the page asks by their numbers.
        given: How many of them were given; the others need no file.
        text: The text in the field at first.
        escapes: Whether it has escapes.
        templates: The names of built-in templates for conversations.
    """
    options = "".join(_options(tokenizers, given))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{_TITLE}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>{_style()}</style>\n</head>\n<body>\n{CONTROLS}<main>\n<h1>{_TITLE}</h1>\n"
    )
    yield (
        '<form id="ask" autocomplete="off">\n<div class="choice">\n'
        f'<label>Tokenizer <select id="first">{options}</select></label>\n'
        f'<label>compared with <select id="second"><option value="">none</option>{options}</select></label>\n'
        '<label><input type="checkbox" id="specials"> special tokens</label>\n'
        f'<label><input type="checkbox" id="escapes"{" checked" if escapes else ""}> '
        "escapes (<code>\\n \\xff \\u8c01</code>)</label>\n"
        '<label><input type="checkbox" id="chat"> chat</label>\n</div>\n'
    )
    # A line feed behind the tag is no part of the text, and one at the text's beginning would be taken for it.
    yield (
        '<textarea id="text" rows="4" spellcheck="false" autocapitalize="off" autofocus aria-label="Text" '
        f'placeholder="Type here">\n{escape(text)}</textarea>\n'
    )
    roles = "".join(f"<option>{role}</option>" for role in ROLES)
    named = "".join(f'<option value="{escape(each)}">{escape(each)}</option>' for each in templates)
    yield (
        '<div id="conversation" hidden>\n<template id="message"><div class="message">'
        f'<select aria-label="Role">{roles}</select><textarea rows="2" spellcheck="false" autocapitalize="off" '
        'aria-label="Content"></textarea><button type="button" aria-label="Remove the message">×</button></div>'
        '</template>\n<div id="messages"></div>\n<div class="choice">\n'
        '<button type="button" id="add">Add a message</button>\n'
        '<label>template <select id="template"><option value="">the tokenizer\'s own</option>'
        f"{named}</select></label>\n"
        '<label>the model\'s turn <select id="open"><option value="">opens unless it spoke last</option>'
        '<option value="true">opens</option><option value="false">does not open</option></select></label>\n'
        "</div>\n</div>\n</form>\n"
    )
    yield (
        '<p class="share"><button type="button" id="keep-page">Save as a page</button> '
        '<button type="button" id="keep-json">Save as JSON</button> '
        '<span id="state" role="status"></span></p>\n'
        f'<div id="tokens"></div>\n</main>\n<div id="bar" hidden></div>\n<script>{_code()}</script>\n</body>\n</html>\n'
    )


def _options(tokenizers: Sequence[str], given: int) -> Iterator[str]:
    """Yield the options of a list of tokenizers, those that were given before the others."""
    for number, each in enumerate(tokenizers):
        if number == given:
            yield "<hr>"
        yield f'<option value="{number}">{name(each)}</option>'


def columns(shown: Sequence[Shown | Refused], *, same_text: bool = True) -> Iterator[str]:
    """Write the document that holds a column for each tokenizer.

    Args:
        shown: What each made of the text.
        same_text: Whether it is one text for all, so that boundaries can be compared with those of the first.
    """
    yield f'<!doctype html>\n<title>{_TITLE}</title>\n<div class="columns of{len(shown)}">\n'
    base = shown[0].segmentation if same_text and isinstance(shown[0], Shown) else None
    for number, each in enumerate(shown):
        yield f'<section class="column" aria-label="{name(each.tokenizer)}">\n<h2>{name(each.tokenizer)}</h2>\n'
        if isinstance(each, Refused):
            hint = f"<div>{name(each.hint)}</div>" if each.hint and "`" not in each.hint else ""
            yield f'<div class="refused" role="alert"><strong>{name(each.message)}</strong>{hint}</div>\n'
        else:
            differs = deviation(each.segmentation, base) if number and base is not None else None
            yield from _column(each, str(number), differs)
        yield "</section>\n"
    yield "</div>\n"
    if base is not None and len(shown) > 1 and isinstance(shown[1], Shown):
        yield deviation_note("the first tokenizer")


def refusal(message: str) -> str:
    """Write the document that gives the reason why there are no columns."""
    return f"<!doctype html>\n<title>{_TITLE}</title>\n<p>{name(message)}</p>\n"


def _column(shown: Shown, key: str, differs: Deviation | None) -> Iterator[str]:
    """Write a column: totals, the tokens, their ids, warnings."""
    yield totals(shown.segmentation)
    excerpt = shown.segmentation.excerpt(shown.limit)
    yield '<div class="text" role="group" aria-label="The text, token by token">'
    yield from TokenWriter(excerpt.tokens, key, differs).chunks(excerpt.groups)
    yield "</div>\n"
    if excerpt.more:
        yield f'<p class="note">and {count(excerpt.more, "more token")}, which a saved page has</p>\n'
    if excerpt.tokens:
        label = f"Copy the {count(len(excerpt.tokens), 'id')} shown" if excerpt.more else "Copy ids"
        yield f'<p><button type="button" hidden data-copy="i{key}">{label}</button></p>\n'
        ids = " ".join(_id(number, token, key) for number, token in enumerate(excerpt.tokens))
        yield f'<div class="rows chips" id="i{key}" role="group" aria-label="Ids">{ids}</div>\n'
    if shown.warnings:
        yield f'<ul class="warnings">{"".join(warning_item(each, options=False) for each in shown.warnings)}</ul>\n'


def _id(number: int, token: PlacedToken, key: str) -> str:
    """Write an id as a link to its token."""
    return (
        f'<a id="r{key}-{number}" href="#t{key}-{number}" class="{class_of(number, token)}" '
        f'title="{details_of(number, token)}">{token.token_id}</a>'
    )


def _style() -> str:
    return style_sheet("playground")


def _code() -> str:
    return script() + script("playground")
