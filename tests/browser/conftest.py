"""Chromium and an installation with two workers."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.chromium import TIMEOUT_MILLISECONDS, chromium, open_page
from tests.installation import Installation, PreparedBackend


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start Chromium for one file, because Playwright blocks other event loops in its process."""
    expect.set_options(timeout=TIMEOUT_MILLISECONDS)
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation that can train two runs concurrently."""
    with Installation(tmp_path_factory.mktemp("installation"), PreparedBackend) as installation:
        installation.worker("one")
        installation.worker("two")
        yield installation


@pytest.fixture
def page(browser: Browser, installation: Installation) -> Iterator[Page]:
    """Open a page of the installation. Errors in its console fail the test."""
    console: list[str] = []
    with open_page(browser, installation.port) as page:
        page.on("console", lambda message: console.append(_describe(message)) if message.type == "error" else None)
        yield page
    assert console == []


def _describe(message: ConsoleMessage) -> str:
    """Return a message with the address of what failed."""
    return f"{message.text} {message.location['url']}"
