"""Chromium for tests, benchmarks and pictures."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Turns off Chromium's background activity.
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


# With a load of 15 on two cores, a page takes a minute to open.
TIMEOUT_MILLISECONDS = 240_000


def open_context(browser: Browser, **options: Any) -> BrowserContext:
    """Open a browser context whose actions wait longer than Playwright's 30 seconds."""
    context = browser.new_context(**options)
    context.set_default_timeout(TIMEOUT_MILLISECONDS)
    return context


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the installed Chromium, or Playwright's if there is none."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*QUIET, *sandbox])
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Browser, port: int) -> Iterator[Page]:
    """Open a wide page of the server at a port. Exceptions in the page fail the test."""
    context = open_context(browser, base_url=f"http://127.0.0.1:{port}", viewport={"width": 1440, "height": 900})
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []
