"""Chromium for tests, benchmarks and pictures."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Turns off Chromium's background activity.
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the installed Chromium, or Playwright's if there is none."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=[*QUIET, *sandbox])
        yield browser
        browser.close()
