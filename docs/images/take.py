"""Takes the pictures of this folder from a running Arcadia: `python -m docs.images.take URL RUN STUDY COMPARED,…`."""

import sys
from pathlib import Path

from playwright.sync_api import ViewportSize

from tests.chromium import chromium

FOLDER = Path(__file__).parent
SIZES: dict[str, ViewportSize] = {"": {"width": 1440, "height": 900}, "phone-": {"width": 390, "height": 844}}
TABS = ("curves", "replays", "live", "checkpoints", "evaluations", "log", "config", "system")
ON_A_PHONE = ("runs", "run", "replays", "live", "play", "wall", "study", "compare")
LIVE = ("live", "play")
SETTLE_MILLISECONDS = 2500
# A worker takes a live game and loads its agent.
LIVE_MILLISECONDS = 15_000


def main() -> None:
    """Visit every page, light and dark."""
    url, run, study, compared = sys.argv[1:]
    pages = {
        "runs": "/",
        "launch": "/launch?preset=paac-pong",
        "run": f"/runs/{run}",
        **{tab: f"/runs/{run}/{tab}" for tab in TABS},
        "compare": f"/compare?runs={compared}",
        "studies": "/studies",
        "study": f"/studies/{study}",
        "new-study": "/studies/new",
        "games": "/games",
        "game": "/games/pong",
        "play": "/games/pong/play",
        "wall": "/wall",
        "workers": "/workers",
    }
    with chromium() as browser:
        for prefix, size in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport=size, color_scheme=scheme)
                page = context.new_page()
                for name, path in pages.items():
                    if prefix and name not in ON_A_PHONE:
                        continue
                    page.goto(url + path)
                    page.wait_for_timeout(LIVE_MILLISECONDS if name in LIVE else SETTLE_MILLISECONDS)
                    page.screenshot(path=FOLDER / f"{prefix}{name}-{scheme}.png")
                context.close()


if __name__ == "__main__":
    main()
