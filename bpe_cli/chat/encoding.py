"""Encode rendered conversations: special tokens where the template wrote them, and nowhere else.

What the template wrote is replaced, before encoding, by marks that no text can hold: bytes that UTF-8 never
has. The core then looks for the marks instead of the tokens' texts, with the tokens' ids and flags. So a
special token in a message is plain text, and all else is as it is in the text as a whole: pieces go
across the border between template and message, and tokens strip the whitespace beside them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from bpe_cli import _core
from bpe_cli.chat.layouts import LAYOUTS, Layout, layout_of_model
from bpe_cli.chat.messages import conversation_of
from bpe_cli.chat.provenance import ASSISTANT, MESSAGE, TEMPLATE, Traced, plain_origins
from bpe_cli.chat.templates import TOOL_USE, ChatTemplate, special_names
from bpe_cli.chat.transformers_arguments import field_to_continue, for_template, up_to_mark, with_mark
from bpe_cli.errors import FormatError, InputError, UsageError
from bpe_cli.stages import SpecialToken
from bpe_cli.support.blocks import Block
from bpe_cli.support.core_arguments import wrong_type
from bpe_cli.tokenizer import Specials, Tokenizer
from bpe_cli.tokenizer.encoded import Placed
from bpe_cli.tokenizer.special_tokens import looked_for

_RUN = re.compile(b"t+|m+|a+|[?]+")
_OF_MESSAGES = frozenset(MESSAGE + ASSISTANT)
_SINGLE_WORD = 1 << 2
"""The flag by which the core's matcher finds a token only where it is a word of its own."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A special token's text in a rendered conversation: [start, end) in bytes, and who wrote it."""

    start: int
    end: int
    token: SpecialToken
    origins: frozenset[int]

    @property
    def is_templates(self) -> bool:
        """Whether the template wrote all of it."""
        return self.origins == frozenset(TEMPLATE)


class RefusedTokenError(InputError):
    """Report a special token in a message, where such are to be refused."""


class ChatEncoder:
    """Prepare rendered conversations for a tokenizer's ``encode_block`` and ``count_block``.

    Args:
        tokenizer: Whose ids are wanted.
        specials: Which special tokens count in the messages' text too; none, unless asked.
        refuse: Whether a special token in the messages' text is an error.

    Attributes:
        matcher: What to encode prepared conversations with.

    Raises:
        UsageError: if a name in ``specials`` is unknown.
    """

    def __init__(self, tokenizer: Tokenizer, specials: Specials = (), *, refuse: bool = False) -> None:
        tokenizer.matcher(specials)  # checks the names
        written = [token for token in tokenizer.special_tokens if token.content]  # an unknown token may have no text
        self._specials = {token.content: token for token in written if token.special}
        self._names = set(self._specials) if specials == "all" else {name.encode() for name in specials}
        self._refuse = refuse
        # The tokens that are found anywhere compete with special ones for the same text.
        ordinary = looked_for(tokenizer.special_tokens, ())
        rivals = [token for token in ordinary if not token.normalized]
        self._finder = _matcher([*self._specials.values(), *rivals])
        self._whole_words = {
            token.content: _matcher([token], _SINGLE_WORD) for token in self._specials.values() if token.single_word
        }
        tokens = [token for token in written if token.special and token.content in self._names] + ordinary
        self._looked_for = tokens  # in text that the template did not write as marks
        marks = [(_mark(token), token) for token in self._specials.values()]
        flags = bytes(
            [
                *(
                    token.lstrip | token.rstrip << 1 | token.single_word << 2 | token.normalized << 3
                    for token in tokens
                ),
                # Where a mark stands is settled, whatever normalizing would do to it and whatever is beside it.
                *(token.lstrip | token.rstrip << 1 for _, token in marks),
            ]
        )
        self.matcher = (
            tokenizer.engine.matcher(
                [*(token.content for token in tokens), *(mark for mark, _ in marks)],
                [*(token.token_id for token in tokens), *(token.token_id for _, token in marks)],
                flags if any(flags) else None,
            )
            if flags or tokenizer.model.codebook is not None
            else None
        )

    def occurrences(self, text: Traced) -> Iterator[Occurrence]:
        """Find the texts of special tokens, whoever wrote them; those of the template take precedence."""
        finder = self._finder
        if finder is None:
            return
        data = text.encode()
        starts, kinds = _runs(text)
        # A message must not hide a token of the template by text that overlaps it: each run is searched alone.
        for place, (start, kind) in enumerate(zip(starts, kinds, strict=True)):
            if kind == TEMPLATE[0]:
                end = starts[place + 1] if place + 1 < len(starts) else len(data)
                for first, last, _ in finder.find_all(data[start:end]):
                    token = self._specials.get(data[start + first : start + last])
                    if token is not None and self._stands_alone(data, start + first, start + last):
                        yield Occurrence(start + first, start + last, token, frozenset((kind,)))
        for start, end, _ in finder.find_all(data):
            origins = frozenset(kinds[bisect_right(starts, start) - 1 : bisect_right(starts, end - 1)])
            token = self._specials.get(data[start:end])
            if token is not None and origins != frozenset(TEMPLATE):
                yield Occurrence(start, end, token, origins)

    def specials_of(self, text: Traced, where: str) -> list[tuple[int, int, int]]:
        """Return the special tokens that the template wrote: the id, and where it begins and ends, in characters.

        Raises:
            FormatError: if the template's text is broken.
        """
        data = _bytes_of(text, where)
        found = sorted((each for each in self.occurrences(text) if each.is_templates), key=lambda each: each.start)
        specials = []
        place = characters = 0
        for each in found:
            start = characters + len(data[place : each.start].decode())
            place, characters = each.end, start + len(data[each.start : each.end].decode())
            specials.append((each.token.token_id, start, characters))
        return specials

    def learnt(self, model: Tokenizer, prepared: bytes, mask: bytes) -> tuple[memoryview, memoryview]:
        """Encode one prepared conversation; return its ids (u32) and a byte for each, 1 if it is to be learnt.

        An id is learnt if a byte of what it stands for is; one that stands for nothing, as the space that is put before
        a word, if the byte behind it is.
        """
        # Not by the lengths of tokens: a mark is not as long as the token that it stands for.
        ids, starts, ends = model.engine.spans(prepared, self.matcher)
        marks = bytes(
            any(mask[start:end]) if end > start else mask[start : start + 1] == b"\1"
            for start, end in zip(starts, ends, strict=True)
        )
        return ids, memoryview(marks)

    def place(self, model: Tokenizer, text: Traced, where: str) -> Placed:
        """Encode one rendered conversation; return its tokens, and where they lie in the text's bytes.

        Raises:
            InputError, FormatError: as ``prepare``.
        """
        data = _bytes_of(text, where)
        parts = [each for each in self._parts(text, data, where) if each[0]]
        ids, starts, ends = model.engine.spans(b"".join(part for part, _, _ in parts), self.matcher)
        looked_for_in_text = {token.token_id: token.content for token in self._looked_for}
        marks = [_is_mark(part) for part, _, _ in parts]
        offsets = [0, *accumulate(len(part) for part, _, _ in parts)]
        size = offsets.pop()

        def in_text(offset: int, inside: int, edge: int) -> int:
            """Return the place in the text of an offset in the part that holds a byte; in a mark, its token's edge."""
            number = bisect_right(offsets, inside) - 1
            span = parts[number][1:]
            return span[edge] if marks[number] else span[0] + offset - offsets[number]

        def is_special(token_id: int, start: int, end: int, content: bytes) -> bool:
            """Return whether a token is that of a mark, perhaps with whitespace beside it, or one found in the text."""
            if start == end:
                return False
            if any(marks[bisect_right(offsets, start) - 1 : bisect_right(offsets, end - 1)]):
                return True
            return token_id in looked_for_in_text and looked_for_in_text[token_id] in content

        begins = [in_text(start, start, 0) if start < size else len(data) for start in starts]
        stops = [
            in_text(end, end - 1, 1) if end > start else begin
            for start, end, begin in zip(starts, ends, begins, strict=True)
        ]
        columns = zip(ids, starts, ends, begins, stops, strict=True)
        special = bytes(is_special(each, start, end, data[begin:stop]) for each, start, end, begin, stop in columns)
        return Placed(ids, begins, stops, special)

    def _stands_alone(self, data: bytes, start: int, end: int) -> bool:
        """Return whether a token that is to be a word of its own is one."""
        matcher = self._whole_words.get(data[start:end])
        if matcher is None:
            return True
        before = data[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:].encode()
        after = data[end : end + 4].decode("utf-8", "ignore")[:1].encode()
        return matcher.find(before + data[start:end] + after) is not None

    def prepare(self, text: Traced, where: str) -> bytes:
        """Return the bytes to encode with ``matcher``.

        Raises:
            RefusedTokenError: if the messages' text holds a special token, and that is to be refused.
            FormatError: if the template's text is broken, or it cannot be told who wrote a special token.
        """
        return b"".join(part for part, _, _ in self._parts(text, _bytes_of(text, where), where))

    def prepare_learnt(self, text: Traced, where: str, learnt: Sequence[tuple[int, int]]) -> tuple[bytes, bytes]:
        """Return what ``prepare`` does, and a byte for each byte of it: 1 in what the model is to learn.

        Args:
            text: The rendered conversation.
            where: Its name in errors.
            learnt: What of the text is to be learnt: stretches of characters, ascending.

        Raises:
            RefusedTokenError, FormatError: as ``prepare``.
        """
        data = _bytes_of(text, where)
        mask = bytearray(len(data))
        place = place_in_bytes = 0
        written = str.__str__(text)
        for edge in learnt:
            edges = []
            for at in edge:
                place_in_bytes += at - place if len(data) == len(text) else len(written[place:at].encode())
                place = at
                edges.append(place_in_bytes)
            mask[edges[0] : edges[1]] = b"\1" * (edges[1] - edges[0])
        parts = list(self._parts(text, data, where))
        masks = (
            bytes(mask[start:end]) if len(part) == end - start and part == data[start:end]
            else bytes([any(mask[start:end])]) * len(part)
            for part, start, end in parts
        )  # fmt: skip
        return b"".join(part for part, _, _ in parts), b"".join(masks)

    def _parts(self, text: Traced, data: bytes, where: str) -> Iterator[tuple[bytes, int, int]]:
        """Yield the bytes to encode in parts, each with the stretch of the text's bytes that it stands for."""
        position = 0
        for each in sorted(self.occurrences(text), key=lambda occurrence: (occurrence.start, occurrence.end)):
            shown = each.token.content.decode("utf-8", "replace")
            if each.is_templates:
                yield data[position : each.start], position, each.start
                yield _mark(each.token), each.start, each.end
                position = each.end
            elif not each.origins & _OF_MESSAGES and each.token.content not in self._names:
                raise FormatError(
                    f"{where}: the chat template makes {shown} in a way that cannot be followed, so it may come from "
                    "a message",
                    hint='`specials="all"` recognizes every special token, also in messages',
                )
            elif self._refuse:
                raise RefusedTokenError(
                    f"{where}: the text of a message contains the special token {shown}",
                    hint='`specials="all"` makes it that token; without `specials`, it is plain text',
                )
        yield data[position:], position, len(data)


def _bytes_of(text: Traced, where: str) -> bytes:
    """Return the bytes of a rendered conversation.

    Raises:
        FormatError: if it has a lone surrogate.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"{where}: the chat template writes half a character (a lone surrogate)") from error


def _mark(token: SpecialToken) -> bytes:
    """Return the mark of a special token that the template wrote: no UTF-8 text has a byte FF."""
    return b"<\xff%d\xff>" % token.token_id


def _is_mark(part: bytes) -> bool:
    return part.startswith(b"<\xff") and part.endswith(b"\xff>")


def said_in(text: Traced) -> list[tuple[int, int]]:
    """Return the stretches of a rendered conversation that the template did not write, in bytes, ascending."""
    starts, kinds = _runs(text)
    ends = [*starts, len(text.encode())][1:]
    return [(start, end) for start, end, kind in zip(starts, ends, kinds, strict=True) if kind != TEMPLATE[0]]


def _runs(text: Traced) -> tuple[list[int], list[int]]:
    """Return where each run of characters of one origin begins, in bytes, and which origin it is."""
    origins = plain_origins(text.origins)
    spans = [(match.start(), match.end()) for match in _RUN.finditer(origins)]
    written = str.__str__(text)
    sizes = (end - start if text.isascii() else len(written[start:end].encode()) for start, end in spans)
    return [0, *accumulate(sizes)][: len(spans)], [origins[start] for start, _ in spans]


def _matcher(tokens: list[SpecialToken], flag: int = 0) -> _core.SpecialMatcher | None:
    """Return the matcher of tokens in text that is not normalized, all with the same flag; None without tokens."""
    if not tokens:
        return None
    return _core.SpecialMatcher(
        [token.content for token in tokens],
        [token.token_id for token in tokens],
        bytes([flag]) * len(tokens) if flag else None,
    )


# -- Tokenizer.apply_chat_template -----------------------------------------------------------------


def apply_chat_template(
    tokenizer: Tokenizer,
    messages: object,
    *,
    tools: object,
    documents: object,
    chat_template: str | None,
    add_generation_prompt: bool,
    continue_final_message: bool | str,
    tokenize: bool,
    specials: Specials,
    arguments: Mapping[str, Any],
) -> list[int] | str:
    """Return the ids of a conversation, or its text; the arguments are those of the method.

    Raises:
        UsageError: if the template does not exist, the tokenizer lacks a token that it needs, or an argument of
            transformers asks for what is not done here.
        InputError: if the conversation is malformed, or the template rejects it.
        FormatError: if the template is broken.
        TypeError: if an argument has the wrong type.
    """
    if not isinstance(add_generation_prompt, bool):
        raise wrong_type("add_generation_prompt", "a bool", add_generation_prompt)
    field = field_to_continue(continue_final_message, add_generation_prompt=add_generation_prompt)
    renderer, tokenizer = _renderer(tokenizer, chat_template, with_tools=tools is not None)
    arguments = for_template(arguments, tokenize=tokenize)  # a layout refuses what else it does not know
    conversation = conversation_of(messages, tools, documents, arguments)
    if field is None:
        text = renderer.render(conversation, add_generation_prompt=add_generation_prompt)
    else:
        conversation, said = with_mark(conversation, field)
        text = up_to_mark(renderer.render(conversation, add_generation_prompt=False), said, conversation.where)
    if not tokenize:
        return str.__str__(text)
    encoder = ChatEncoder(tokenizer, specials)
    ids, _ = tokenizer.encode_block(Block.of([encoder.prepare(text, conversation.where)]), encoder.matcher)
    return ids.tolist()


def _renderer(
    tokenizer: Tokenizer, template: str | None, *, with_tools: bool
) -> tuple[ChatTemplate | Layout, Tokenizer]:
    """Return the renderer of conversations, and the tokenizer with the special tokens that it needs."""
    own = dict(tokenizer.usage.chat_templates)
    if template is None:
        named = layout_of_model(tokenizer.name) if tokenizer.name else None
        template = TOOL_USE if with_tools and TOOL_USE in own else next(iter(own), None) or named
        if template is None:
            raise UsageError(
                "this tokenizer comes with no chat template",
                hint=f"chat_template= names one: {', '.join(LAYOUTS)}; or is one, in Jinja",
            )
    if not isinstance(template, str):
        raise wrong_type("chat_template", "a str", template)
    if template in own:
        title = "the tokenizer's chat template" + ("" if template == "default" else f" {template}")
        return ChatTemplate(own[template], title, special_names(tokenizer)), tokenizer
    if template in LAYOUTS:
        return LAYOUTS[template], LAYOUTS[template].fit(tokenizer, template)
    if "{" not in template:
        known = ", ".join((*own, *LAYOUTS))
        raise UsageError(f"there is no chat template {template!r}", hint=f"there are {known}; or give one in Jinja")
    return ChatTemplate(template, "the chat template", special_names(tokenizer)), tokenizer
