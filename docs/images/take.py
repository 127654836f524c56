"""Takes the pictures of this folder from a running Arcadia: `python -m docs.images.take URL RUN STUDY COMPARED,…`.

Further arguments name the pictures to take, as `live play`; without any, all are taken.
"""

import re
import sys
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, expect

from tests.chromium import chromium

FOLDER = Path(__file__).parent
SIZES: dict[str, ViewportSize] = {"": {"width": 1440, "height": 900}, "phone-": {"width": 390, "height": 844}}
TABS = ("curves", "replays", "live", "checkpoints", "evaluations", "log", "config", "system")
ON_A_PHONE = ("runs", "run", "replays", "live", "play", "wall", "study", "compare", "report")
# Where a replay is looked at, paused, with what the agent thought.
MOMENT_SECONDS = 8
SETTLE_MILLISECONDS = 2500
# A worker takes a live game and loads its agent, for minutes on a machine that is busy.
PATIENCE_MILLISECONDS = 300_000


def main() -> None:
    """Visit every page, light and dark."""
    url, run, study, compared, *only = sys.argv[1:]
    pages = {
        "runs": "/",
        "launch": "/launch?preset=paac-pong",
        "run": f"/runs/{run}",
        **{tab: f"/runs/{run}/{tab}" for tab in TABS},
        "replays": f"/runs/{run}/replays?t={MOMENT_SECONDS}",
        "compare": f"/compare?runs={compared}",
        "studies": "/studies",
        "study": f"/studies/{study}",
        "new-study": "/launch?study=new",
        "report": "/reports",
        "paper": "/papers/ga3c/table-2",
        "games": "/games",
        "game": "/games/pong",
        "play": "/games/pong/play",
        "wall": "/wall",
        "workers": "/workers",
    }
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with chromium() as browser:
        for prefix, size in SIZES.items():
            for scheme in ("light", "dark"):
                context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
                context.set_default_timeout(PATIENCE_MILLISECONDS)
                page = context.new_page()
                for name, path in pages.items():
                    if (prefix and name not in ON_A_PHONE) or (only and name not in only):
                        continue
                    page.goto(url + path)
                    AWAIT.get(name, lambda _page: None)(page)
                    page.wait_for_timeout(SETTLE_MILLISECONDS)
                    page.screenshot(path=FOLDER / f"{prefix}{name}-{scheme}.png")
                context.close()


def open_newest(page: Page) -> None:
    """Go on to the report that was changed last, and wait until its charts are drawn."""
    page.get_by_role("table").get_by_role("link").first.click()
    page.locator(".main-svg").first.wait_for()


def await_thoughts(page: Page) -> None:
    """Wait until a replay shows the moment that was asked for, and what was thought."""
    expect(page.get_by_role("slider", name="Moment of the replay")).not_to_have_attribute("aria-valuenow", "0")
    page.wait_for_function("[...document.querySelectorAll('video')].every(each => each.readyState >= 2)")


def await_agent(page: Page) -> None:
    """Wait until an agent plays."""
    expect(page.get_by_role("button", name="Pause")).to_be_enabled()


def play_a_little(page: Page) -> None:
    """Begin a game, and hold a key for a while, so that the input latency is told."""
    page.locator("canvas").wait_for()
    expect(page.get_by_text("Press an arrow key or Space to start.")).to_be_visible()
    page.keyboard.press("Space")
    page.keyboard.down("ArrowUp")
    expect(page.get_by_text(re.compile(r"^\d+ ms$")).first).to_be_visible()
    page.keyboard.up("ArrowUp")


AWAIT = {"report": open_newest, "replays": await_thoughts, "live": await_agent, "play": play_a_little}


if __name__ == "__main__":
    main()
