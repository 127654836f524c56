"""Takes the pictures of this folder from a running Arcadia: `python docs/images/take.py URL RUN COMPARED,COMPARED`."""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

FOLDER = Path(__file__).parent
SIZES: dict[str, ViewportSize] = {"": {"width": 1440, "height": 900}, "phone-": {"width": 390, "height": 844}}
ON_A_PHONE = ("runs", "run")
SETTLE_MILLISECONDS = 2500


def main() -> None:
    """Visit every page, light and dark."""
    url, run, compared = sys.argv[1:]
    pages = {
        "runs": "/",
        "launch": "/launch?preset=paac-pong",
        "run": f"/runs/{run}",
        **{tab: f"/runs/{run}/{tab}" for tab in ("curves", "replays", "checkpoints", "log", "config", "system")},
        "compare": f"/compare?runs={compared}",
        "workers": "/workers",
    }
    executable = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))), None)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--disable-gpu", *sandbox])
        for prefix, size in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport=size, color_scheme=scheme)
                page = context.new_page()
                for name, path in pages.items():
                    if prefix and name not in ON_A_PHONE:
                        continue
                    page.goto(url + path)
                    page.wait_for_timeout(SETTLE_MILLISECONDS)
                    page.screenshot(path=FOLDER / f"{prefix}{name}-{scheme}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    main()
