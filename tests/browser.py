"""Open pages in Chromium, and hear everything that happens in them."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.needs import needs, skip

SCREEN = {"viewport": {"width": 1200, "height": 800}}
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
    """A running Chromium.

    A tab costs more to open than most pages to show, so those that leave without a failure hand theirs on, to pages
    opened with the same options: each is a new document, with nothing left of the one before.
    """

    def __init__(self, chromium: Any, folder: Path) -> None:
        self._chromium = chromium
        self._folder = folder
        self._free: dict[str, list[Any]] = {}

    def open(self, content: str, name: str = "page.html", **options: Any) -> contextlib.AbstractContextManager[Opened]:
        """Open a file in a tab that no other page has; options are those of ``visit``."""
        path = self._folder / name
        path.write_text(content, encoding="utf-8", newline="")
        return self.visit(path.as_uri(), **options)

    @contextlib.contextmanager
    def visit(
        self, address: str, *, color_scheme: str = "light", permissions: Sequence[str] = (), **options: Any
    ) -> Iterator[Opened]:
        """Open an address likewise.

        Args:
            address: What to open.
            color_scheme: What the user prefers.
            permissions: What the page may do that it has to ask for.
            options: Those of Playwright's contexts that a tab has from its beginning on.
        """
        free = self._free.setdefault(repr(sorted(options.items())), [])
        page = free.pop() if free else self._chromium.new_context(**(SCREEN | options)).new_page()
        opened = Opened(page)
        heard = _listeners(opened, address)
        try:
            for source, event, listener in heard:
                source.on(event, listener)
            page.emulate_media(media="null", color_scheme=color_scheme)
            if permissions:
                page.context.grant_permissions([*permissions])
            page.goto(address)
            yield opened
            _leave(page, heard)
        except BaseException:
            page.context.close()
            raise
        free.append(page)


def _listeners(opened: Opened, address: str) -> list[tuple[Any, str, Callable[[Any], None]]]:
    """Return what hears all that happens: who tells it, of what, and the listener."""
    page = opened.page

    def request(request: Any) -> None:
        if request.url not in (address, "data:,"):  # an icon that a page brings is a request of the browser to itself
            opened.requests.append(request.url)

    def failed(request: Any) -> None:
        if request.failure == "csp":
            opened.refused.append(request.url)

    def dismiss(dialog: Any) -> None:
        opened.dialogs.append(dialog.message)
        dialog.dismiss()

    return [
        (page.context, "request", request),
        (page.context, "requestfailed", failed),
        (page, "console", lambda message: opened.messages.append(f"{message.type}: {message.text}")),
        (page, "pageerror", lambda error: opened.messages.append(f"error: {error}")),
        (page, "dialog", dismiss),
    ]


def _leave(page: Any, heard: list[tuple[Any, str, Callable[[Any], None]]]) -> None:
    """Make a tab as good as new."""
    for source, event, listener in heard:
        source.remove_listener(event, listener)
    page.unroute_all()
    page.goto("about:blank")
    page.mouse.move(0, 0)
    assert page.context.pages == [page]
    page.context.clear_cookies()
    page.context.clear_permissions()


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


class Kept:
    """Chromium, from the first test that asks for it to the next one that does not: most take less than its start.

    It does not stay for the others: its library leaves a running event loop in this thread, so that no other can run,
    and threads, beside which nobody should fork.
    """

    def __init__(self) -> None:
        self._running = contextlib.ExitStack()
        self._browser: Browser | None = None

    def browser(self, folder: Callable[[], Path]) -> Browser:
        """Return it; ``folder`` makes one for the pages when it starts."""
        if self._browser is None:
            self._browser = self._running.enter_context(start(folder()))
        return self._browser

    def end(self) -> None:
        """End it, if it runs."""
        self._browser = None
        self._running.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """End it before a test that has no use for it."""
        if "browser" not in getattr(item, "fixturenames", ()):
            self.end()

    def pytest_unconfigure(self) -> None:
        """End it after the last test."""
        self.end()
