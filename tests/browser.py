"""Open pages in Chromium, and hear everything that happens in them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.needs import needs, skip

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@dataclass
class Opened:
    """A page, and what happened since it was opened.

    Attributes:
        page: Playwright's page.
        requests: The addresses of all requests, the page itself apart.
        refused: Those of them that the page's own policy stopped.
        messages: What the console said, errors and warnings too.
        dialogs: What dialogs said.
    """

    page: Any
    requests: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def assert_silent(self) -> None:
        """Fail if the page asked for anything, said anything or tried what it must not."""
        assert (self.requests, self.messages, self.dialogs) == ([], [], [])


class Browser:
    """A running Chromium."""

    def __init__(self, chromium: Any, folder: Path) -> None:
        self._chromium = chromium
        self._folder = folder

    def open(self, content: str, name: str = "page.html", **options: Any) -> contextlib.AbstractContextManager[Opened]:
        """Open a file in a context of its own; options are those of Playwright's contexts."""
        path = self._folder / name
        path.write_text(content, encoding="utf-8", newline="")
        return self.visit(path.as_uri(), **options)

    @contextlib.contextmanager
    def visit(self, address: str, **options: Any) -> Iterator[Opened]:
        """Open an address likewise."""
        context = self._chromium.new_context(**({"viewport": {"width": 1200, "height": 800}} | options))
        try:
            opened = Opened(context.new_page())
            # An icon that a page brings along is a request of the browser to itself.
            context.on(
                "request", lambda request: request.url in (address, "data:,") or opened.requests.append(request.url)
            )
            context.on("requestfailed", lambda request: request.failure == "csp" and opened.refused.append(request.url))
            opened.page.on("console", lambda message: opened.messages.append(f"{message.type}: {message.text}"))
            opened.page.on("pageerror", lambda error: opened.messages.append(f"error: {error}"))

            def dismiss(dialog: Any) -> None:
                opened.dialogs.append(dialog.message)
                dialog.dismiss()

            opened.page.on("dialog", dismiss)
            opened.page.goto(address)
            yield opened
        finally:
            context.close()


@contextlib.contextmanager
def start(folder: Path) -> Iterator[Browser]:
    """Start Chromium; the test skips where there is none."""
    playwright = needs("playwright.sync_api")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        skip("needs Chromium to open pages in, which is not installed")
    with playwright.sync_playwright() as running:
        # No sandbox: it needs more than containers allow. What is opened is what these tests wrote.
        chromium = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield Browser(chromium, folder)
        finally:
            chromium.close()
