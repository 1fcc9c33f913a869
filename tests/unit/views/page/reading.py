"""Read a page back: which elements it has, and the text of its tokens."""

from __future__ import annotations

import re
from html.entities import html5
from html.parser import HTMLParser

VOID = {"meta", "link", "input"}
UNCLOSED = {"td"}


class Page(HTMLParser):
    """What a page holds.

    Attributes:
        elements: Every start tag as (name, attributes).
        texts: The bytes of each element of class ``text``.
        tokens: For each link in them, what its ``href`` is and the bytes of its text.
    """

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=False)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[bytes] = []
        self.tokens: list[tuple[str, bytes]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(markup)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        assert len(attributes) == len(attrs), "an attribute appears twice"
        self.elements.append((tag, attributes))
        if tag in UNCLOSED:
            self._close(UNCLOSED)
        if tag not in VOID:
            self._open.append((tag, attributes.get("class") or ""))
        if attributes.get("class") == "text":
            self.texts.append(b"")
        if tag == "a" and self._inside("text"):
            self.tokens.append((attributes["href"] or "", b""))

    def handle_endtag(self, tag):
        if tag == "tr":
            self._close(UNCLOSED)
        name, _ = self._open.pop()
        assert name == tag, f"</{tag}> closes <{name}>"

    def _close(self, names):
        if self._open[-1][0] in names:
            self._open.pop()

    def _inside(self, kind):
        return any(classes == kind for _, classes in self._open)

    def handle_data(self, data):
        if not self._inside("text"):
            return
        if self._open[-1] == ("i", "x"):  # what HTML cannot hold
            content = bytes(int(each, 16) for each in re.findall(r"\\x(..)", data))
            assert len(content) * 4 == len(data)
        else:
            content = data.encode()
        self.texts[-1] += content
        if any(name == "a" for name, _ in self._open):
            href, before = self.tokens[-1]
            self.tokens[-1] = (href, before + content)

    def handle_charref(self, name):
        code = int(name[1:], 16) if name[0] in "xX" else int(name)
        assert code not in range(0x80, 0xA0), "a reference that means another character"
        assert code, "a reference to NUL means U+FFFD"
        self.handle_data(chr(code))

    def handle_entityref(self, name):
        self.handle_data(html5[f"{name};"])

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")
