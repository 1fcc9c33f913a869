"""Frame a page: one file that fetches nothing, and in which only its own style and script count.

The policy in its head allows this style sheet and this script by their hashes, and nothing else: no other script, no
event handler, no style attribute, no address to fetch from or send to. Text that got into the page as markup in spite
of ``markup.escape`` could therefore not act.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from bpe_cli.views.conversation import conversation_totals, part_counts, part_title
from bpe_cli.views.labels import DOCUMENT_LIMIT, TOKEN_LIMIT, count
from bpe_cli.views.page.markup import escape, name, rendered
from bpe_cli.views.page.palette import DARK, LIGHT, variables
from bpe_cli.views.page.tokens import section
from bpe_cli.views.pictures.style import rules

if TYPE_CHECKING:
    from bpe_cli.reports.text.conversation import ConversationReport
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.reports.text.warnings import TextWarning
    from bpe_cli.views.blocks import Blocks
    from bpe_cli.views.pictures.charts import Chart


# Children of the body: what asks about them (body:has(> ...)) must not concern the tokens, of which there are many.
CONTROLS = """\
<input type="checkbox" id="marks" checked><label for="marks">whitespace</label>
<input type="radio" name="scheme" id="auto" checked><label for="auto">system colours</label>
<input type="radio" name="scheme" id="light"><label for="light">light</label>
<input type="radio" name="scheme" id="dark"><label for="dark">dark</label>
"""


def texts_page(
    reports: Iterable[tuple[Segmentation, Sequence[TextWarning], str | None]],
    *,
    tokenizer: str | None,
    full: bool = False,
) -> Iterator[str]:
    """Write a page that shows texts token by token, as it comes; ``full`` shows everything, however long.

    Each text comes with what to warn of, and what it is called if it has a name, and is let go when it is written.
    """
    who = tokenizer or "tokenizer"
    yield from head(f"Tokens by {who}")
    more = 0
    for number, (report, warnings, title) in enumerate(reports):
        if number >= DOCUMENT_LIMIT and not full:
            more += 1
            continue
        heading = name(title or f"Document {number + 1}")
        yield f'<section aria-label="{heading}">\n'
        # The first one needs its heading only if another follows, which is not known yet: the style sheet hides it.
        yield f"<h2>{heading}</h2>\n"
        yield from section(report, str(number), None if full else TOKEN_LIMIT, warnings)
        yield "</section>\n"
    if more:
        yield f'<p class="note">and {count(more, "more document")}; --full shows all</p>\n'
    yield from foot()


def conversations_page(
    reports: Iterable[tuple[ConversationReport, str | None]], *, tokenizer: str | None, full: bool = False
) -> Iterator[str]:
    """Write a page that shows conversations message by message; ``full`` shows all tokens of each."""
    yield from head(f"Conversations by {tokenizer or 'tokenizer'}")
    for number, (report, title) in enumerate(reports):
        if title is not None:
            yield f"<h2>{name(title)}</h2>\n"
        yield f'<p class="note">{name(conversation_totals(report))}</p>\n'
        for place, part in enumerate(report.parts):
            heading = name(part_title(part))
            yield f'<section aria-label="{heading}">\n<h3>{heading} <small>{escape(part_counts(part))}</small></h3>\n'
            yield from section(part.segmentation, f"{number}-{place}", None if full else TOKEN_LIMIT)
            yield "</section>\n"
    yield from foot()


def blocks_page(title: str, shown: Blocks, charts: Iterable[Chart] = ()) -> Iterator[str]:
    """Write a page of pictures and blocks."""
    from bpe_cli.views.pictures.section import figures

    yield from head(title, "wide")
    yield from figures(charts)
    yield from rendered(shown)
    yield from foot()


def framed(page: Iterable[str], title: str) -> str:
    """Write a page as a part of another one, a notebook: its styles stay inside, and so does its script."""
    content = escape("".join(page))
    style = "width:100%;height:30em;border:0;resize:vertical"
    return f'<iframe title="{name(title)}" sandbox="allow-scripts" style="{style}" srcdoc="{content}"></iframe>'


def head(title: str, kind: str = "", own: str = "") -> Iterator[str]:
    """Begin a page with a title, which may hold names from outside, and a class for its body.

    Args:
        title: The title.
        kind: The class.
        own: The name of a style sheet, which is added, and of a script, which takes the place of the usual one.
    """
    style, code = style_sheet(own), script(own)
    body = f' class="{kind}"' if kind else ""
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy_for(style, code)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<title>{name(title)}</title>\n<link rel="icon" href="data:,">\n'  # or a browser would ask the server for one
        f"<style>{style}</style>\n</head>\n"
        f"<body{body}>\n{CONTROLS}<main>\n<h1>{name(title)}</h1>\n"
    )


def foot(own: str = "") -> Iterator[str]:
    """End a page that began with ``head``."""
    yield f'</main>\n<div id="bar" hidden></div>\n<script>{script(own)}</script>\n</body>\n</html>\n'


@lru_cache(maxsize=3)
def style_sheet(own: str = "") -> str:
    """Return the style sheet of all pages, and behind it that of one kind of page."""
    light, dark = variables(LIGHT), variables(DARK)
    colors = "".join(f"--{key}:light-dark({light[key]},{dark[key]});" for key in light)
    plots = rules({key: f"var(--{key})" for key in light})
    return f":root{{{colors}}}\n{own_file('page.css')}.plot{{\n{plots}}}\n{own_file(f'{own}.css') if own else ''}"


@lru_cache(maxsize=3)
def script(own: str = "") -> str:
    """Return the script of all pages, or that of one kind of page."""
    return own_file(f"{own or 'page'}.js")


def own_file(file_name: str) -> str:
    """Read a file beside this module."""
    return files("bpe_cli.views.page").joinpath(file_name).read_text(encoding="utf-8")


def policy_for(style: str, code: str) -> str:
    """Return the Content-Security-Policy of a page with this style sheet and this script."""
    return (
        f"default-src 'none'; style-src {_hash_of(style)}; script-src {_hash_of(code)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash_of(source: str) -> str:
    """Name a style sheet or script as a policy does (Content Security Policy Level 3, section 2.3.1)."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"
