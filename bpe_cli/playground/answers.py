"""Answer what the page asks for: tokens as a part of the page, as a page to keep, and as JSON."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from bpe_cli.chat import LAYOUTS, ChatEncoder, Conversation, layout_of_model
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.jobs.chat_template import find_template
from bpe_cli.jobs.inspect import Document, TextInspection
from bpe_cli.playground.requests import LARGEST_TEXT, Request
from bpe_cli.reports.text.segmentation import TextReader
from bpe_cli.reports.text.warnings import Watch
from bpe_cli.views.page.page import texts_page
from bpe_cli.views.page.playground import Refused, Shown, columns

if TYPE_CHECKING:
    from bpe_cli.jobs.chat_template import Template
    from bpe_cli.playground.choices import Choices
    from bpe_cli.reports.text.segmentation import Segmentation
    from bpe_cli.tokenizer import Tokenizer

LARGEST_RENDERED = 4 * LARGEST_TEXT
"""Bytes of a conversation as its template writes it."""
MOST_SHOWN = 2_000
"""Tokens that are shown while one types: a browser lays out as many in the time between two keys."""
_READERS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends back.

    Attributes:
        kind: The type of the content, as HTTP names it.
    """

    kind: str
    content: bytes


class Answers:
    """Answer requests with the tokenizers on offer, one request at a time."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._working = threading.Lock()  # templates are not for several threads, and a text is done in milliseconds
        self._reader = lru_cache(_READERS)(self._new_reader)
        self._fitted = lru_cache(_READERS)(self._new_fitted)

    def show(self, request: Request) -> Answer:
        """Return the tokens as columns of the page; a tokenizer that refuses the text has the reason in its column."""
        with self._working:
            shown = [self._column(place, request) for place in request.tokenizers]
        return Answer("text/html", "".join(columns(shown, same_text=request.text is not None)).encode())

    def page(self, request: Request) -> Answer:
        """Return the page of ``bpe inspect --html``, with all tokens.

        Raises:
            UsageError, InputError, FormatError: if a tokenizer refuses the text.
        """
        found = self._inspect(request)
        several = len(found) > 1
        reports = ((each.segmentation, each.warnings, name if several else None) for name, each in found)
        return Answer("text/html", "".join(
            texts_page(reports, tokenizer=" and ".join(name for name, _ in found), full=True)
        ).encode())  # fmt: skip

    def json(self, request: Request) -> Answer:
        """Return the JSON of ``bpe inspect --json``.

        Raises:
            UsageError, InputError, FormatError: if a tokenizer refuses the text.
        """
        from bpe_cli.results import TextReport

        documents = ((Document(b"", "playground", 1), inspection) for _, inspection in self._inspect(request))
        return Answer("application/json", TextReport(tuple(documents)).to_json().encode())

    def _inspect(self, request: Request) -> list[tuple[str, TextInspection]]:
        with self._working:
            return [(self._choices.name(place), self._read(place, request)) for place in request.tokenizers]

    def _column(self, place: int, request: Request) -> Shown | Refused:
        name = self._choices.name(place)
        try:
            inspection = self._read(place, request, MOST_SHOWN)
        except (UsageError, InputError, FormatError) as error:
            return Refused(name, error.message, error.hint)
        return Shown(name, inspection.segmentation, inspection.warnings, MOST_SHOWN)

    def _read(self, place: int, request: Request, details: int | None = None) -> TextInspection:
        """Find the tokens of the text or the conversation, with details of the first ones."""
        if request.text is None:
            return TextInspection(self._render(place, request, details), ())
        reader, watch = self._reader(place, request.specials)
        segmentation = replace(reader.segment(request.text, details), tokenizer=self._choices.name(place))
        return TextInspection(segmentation, watch.warn(request.text, segmentation))

    def _render(self, place: int, request: Request, details: int | None) -> Segmentation:
        """Render a conversation, and find the tokens: special ones where the template has written them."""
        template, model = self._fitted(place, request.template)
        messages = tuple({"role": role, "content": content} for role, content in request.messages)
        conversation = Conversation(messages, add_generation_prompt=request.open_turn)
        rendered = template.renderer(model, None).render(conversation, add_generation_prompt=conversation.wants_answer)
        placed = ChatEncoder(model, "all" if request.specials else ()).place(model, rendered, conversation.where)
        data = rendered.encode()
        if len(data) > LARGEST_RENDERED:
            raise InputError(f"the conversation has {len(data):,} bytes as it is rendered")
        return replace(TextReader(model).describe(data, placed, details), tokenizer=self._choices.name(place))

    def _new_fitted(self, place: int, named: str | None) -> tuple[Template, Tokenizer]:
        """Return a template, and the tokenizer with its special tokens: another one, which is compiled when it is used.

        Raises:
            UsageError: if there is no such template, or the tokenizer lacks a special token of it.
        """
        model, known = self._choices.load(place), self._choices.known_name(place)
        if named is None and not model.usage.chat_templates and layout_of_model(known) is None:
            raise UsageError("this tokenizer has no chat template", hint="choose one of the built-in templates")
        if named is not None and named not in LAYOUTS:  # anything else would be the name of a file
            raise UsageError(f"there is no template {named!r}")
        template = find_template(named, model, named=known, stdin=io.BytesIO())
        return template, template.fit(model)

    def _new_reader(self, place: int, specials: bool) -> tuple[TextReader, Watch]:
        tokenizer = self._choices.load(place)
        sought = "all" if specials else ()
        return TextReader(tokenizer, sought), Watch(tokenizer, sought)
