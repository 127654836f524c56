"""Screenshots of every page in Chromium, light and dark, on a desktop and on a phone."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from bench.pictures.header import ROOT, add_hash, header_hash
from bench.pictures.runs import Contents
from tests.chromium import chromium

FOLDER = ROOT / "docs" / "images"
SIZES: dict[str, ViewportSize] = {"": {"width": 1440, "height": 900}, "phone-": {"width": 390, "height": 844}}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
CATCH_TABS = ("curves", "checkpoints", "evaluations", "log", "config", "system")
PHONE_PAGES = ("runs", "run", "replays", "live", "wall", "study", "compare", "report")
REPLAY_SECONDS = 8
SETTLE_MILLISECONDS = 2000
MAX_KEYS, KEY_MILLISECONDS = 100, 200
# Charts and images below the window load when they are scrolled to.
HAS_LOADED = """() => {
    const shown = (element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top < window.innerHeight && bottom > 0;
    };
    const isUnfinished = ({ childElementCount, textContent }) =>
        childElementCount === 0 && /^(Loading|Connecting|Reconnecting|Counting|Starting).*…/.test(textContent);
    return document.querySelector("h1, h2") !== null
        && ![...document.querySelectorAll(".mantine-Skeleton-root")].some(shown)
        && ![...document.querySelectorAll("body *")].some((element) => isUnfinished(element) && shown(element))
        && [...document.images].every((image) => image.complete || !shown(image));
}"""
# On a busy computer a worker may need minutes to start a live game.
TIMEOUT_MILLISECONDS = 300_000


def paths_of(contents: Contents) -> dict[str, str]:
    """Return the path of each page by the name of its picture."""
    return {
        "runs": "/",
        "launch": "/launch?preset=paac-pong",
        "run": f"/runs/{contents.catch}",
        **{tab: f"/runs/{contents.catch}/{tab}" for tab in CATCH_TABS},
        "replays": f"/runs/{contents.pong}/replays?t={REPLAY_SECONDS}",
        "live": f"/runs/{contents.pong}/live",
        "compare": f"/compare?runs={','.join(map(str, contents.compared))}",
        "studies": "/studies",
        "study": f"/studies/{contents.study}",
        "new-study": "/launch?study=new",
        "report": "/reports",
        "paper": "/papers/ga3c/table-2",
        "games": "/games",
        "game": "/games/pong",
        "play": "/games/pong/play",
        "wall": "/wall",
        "workers": "/workers",
    }


def picture_sizes() -> dict[str, tuple[int, int]]:
    """Return the width and height of each picture by its file name."""
    pages = paths_of(Contents(0, 0, 0, []))
    return {
        f"{prefix}{name}-{scheme}.png": (size["width"], size["height"])
        for prefix, size in SIZES.items()
        for name in pages
        if not prefix or name in PHONE_PAGES
        for scheme in SCHEMES
    }


def take_screenshots(url: str, contents: Contents, only: list[str]) -> None:
    """Write the pictures of all pages, or only of the named ones."""
    expect.set_options(timeout=TIMEOUT_MILLISECONDS)
    pages = {name: path for name, path in paths_of(contents).items() if not only or name in only}
    with chromium() as browser:
        for prefix, scheme, context in contexts(browser):
            for name, path in pages.items():
                file = FOLDER / f"{prefix}{name}-{scheme}.png"
                if file.name in picture_sizes():
                    take(context, url + path, file, PREPARATIONS.get(name))


def contexts(browser: Browser) -> Iterator[tuple[str, str, BrowserContext]]:
    """Yield a browser context for each size and color scheme, with the prefix of its pictures."""
    for prefix, size in SIZES.items():
        for scheme in SCHEMES:
            context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
            context.set_default_timeout(TIMEOUT_MILLISECONDS)
            yield prefix, scheme, context
            context.close()


def take(context: BrowserContext, address: str, file: Path, prepare: Callable[[Page], None] | None) -> None:
    """Open a page, prepare it and write its picture."""
    page = context.new_page()
    page.goto(address)
    if prepare:
        prepare(page)
    page.wait_for_function(HAS_LOADED)
    page.wait_for_timeout(SETTLE_MILLISECONDS)
    # The first content may have requested more.
    page.wait_for_function(HAS_LOADED)
    file.write_bytes(add_hash(compress(page.screenshot()), header_hash()))
    page.close()
    print(file.name, flush=True)


def compress(png: bytes) -> bytes:
    """Return the picture with a palette of 256 colors, which halves its size."""
    with Image.open(io.BytesIO(png)) as picture:
        # Two passes of k-means keep the rare colors of curves and badges.
        reduced = picture.convert("RGB").quantize(
            256, method=Image.Quantize.MEDIANCUT, kmeans=2, dither=Image.Dither.NONE
        )
    compressed = io.BytesIO()
    reduced.save(compressed, "PNG", optimize=True)
    return compressed.getvalue()


def open_newest_report(page: Page) -> None:
    """Open the newest report and wait until its charts are drawn."""
    page.get_by_role("table").get_by_role("link").first.click()
    page.locator(".main-svg").first.wait_for()


def await_replay(page: Page) -> None:
    """Wait until the replay shows the requested moment."""
    page.wait_for_function("[...document.querySelectorAll('video')].every(each => each.readyState >= 2)")


def await_live_game(page: Page) -> None:
    """Wait until the agent plays."""
    expect(page.get_by_role("button", name="Pause")).to_be_enabled()


def play_a_little(page: Page) -> None:
    """Start a game and press a key until the page shows the input latency."""
    page.locator("canvas").wait_for()
    expect(page.get_by_text("Press an arrow key or Space to start.")).to_be_visible()
    page.keyboard.press("Space")
    latency = page.get_by_text(re.compile(r"^\d+ ms$")).first
    # On a busy computer the game may not have begun when a key is released.
    for _ in range(MAX_KEYS):
        if latency.is_visible():
            break
        page.keyboard.press("ArrowUp", delay=KEY_MILLISECONDS)
    expect(latency).to_be_visible()


PREPARATIONS: dict[str, Callable[[Page], None]] = {
    "report": open_newest_report,
    "replays": await_replay,
    "live": await_live_game,
    "play": play_a_little,
}
