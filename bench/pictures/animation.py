"""Record the animation of the README: `python -m bench.pictures.animation URL`.

Copy URL with "Copy link to this moment" below a replay, for example http://127.0.0.1:8000/runs/1/replays/20?t=114.4.
The server must have a worker and the replay's checkpoint. The file shows the replay up to the moment, and its futures.
"""

import argparse
import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, ViewportSize, expect

from bench.pictures.screenshots import FOLDER, TIMEOUT_MILLISECONDS
from tests.chromium import chromium

WINDOW: ViewportSize = {"width": 1200, "height": 860}
WIDTH, QUALITY = 900, 60
# Height of the page's header, which covers what is below it.
HEADER = 68
FUTURES, LENGTH = 64, 80
SHOWN_SECONDS, FRAME_SECONDS = 2.4, 0.08
SCROLL_FRAMES = 10
# Milliseconds that frames are shown.
FRAME, PAUSE, LONG_PAUSE = 80, 900, 3000
IS_READY = "() => [...document.querySelectorAll('video')].every(({ readyState }) => readyState >= 2)"
# The videos of the futures follow the replay, and appear a few frames later.
SEEK = """time => new Promise(done => {
    const video = document.querySelector("video");
    const draw = () => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
    video.addEventListener("seeked", draw, { once: true });
    video.currentTime = time;
})"""


@dataclass
class Recorder:
    """Screenshots of a page, with the time that each is shown."""

    page: Page
    frames: list[Image.Image] = field(default_factory=list)
    milliseconds: list[int] = field(default_factory=list)

    def shoot(self, milliseconds: int = FRAME) -> None:
        """Take a frame."""
        with Image.open(io.BytesIO(self.page.screenshot())) as picture:
            height = round(picture.height * WIDTH / picture.width)
            self.frames.append(picture.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS))
        self.milliseconds.append(milliseconds)

    def scroll_to(self, place: Locator) -> None:
        """Scroll smoothly until a place is below the header."""
        place.wait_for()
        start = float(self.page.evaluate("scrollY"))
        distance = float(place.evaluate("each => each.getBoundingClientRect().top")) - HEADER
        for frame in range(1, SCROLL_FRAMES + 1):
            self.page.evaluate("top => scrollTo(0, top)", start + distance * frame / SCROLL_FRAMES)
            self.shoot()

    def play(self, start: float, end: float) -> None:
        """Show the replay from one time to another."""
        for at in np.arange(start, end, FRAME_SECONDS):
            self.page.evaluate(SEEK, float(at))
            self.shoot()

    def save(self, file: Path) -> None:
        """Write the animation."""
        first, *others = self.frames
        first.save(
            file, save_all=True, append_images=others, duration=self.milliseconds, loop=0, quality=QUALITY, method=6
        )


def main() -> None:
    """Record the animation and print its size."""
    parser = argparse.ArgumentParser(prog="python -m bench.pictures.animation", description=__doc__)
    parser.add_argument("url", help="link to a moment of a replay")
    record_to_file(parser, record, "what-if.webp")


def record_to_file(
    parser: argparse.ArgumentParser,
    record: Callable[[Page, str], Recorder],
    name: str,
    reduced_motion: Literal["reduce"] | None = None,
) -> None:
    """Record an animation of the parsed address, write it to a file, and print its size."""
    parser.add_argument("--out", type=Path, default=FOLDER / name, help="file to write")
    options = parser.parse_args()
    expect.set_options(timeout=TIMEOUT_MILLISECONDS)
    with chromium() as browser:
        page = browser.new_page(viewport=WINDOW, color_scheme="dark", reduced_motion=reduced_motion)
        page.set_default_timeout(TIMEOUT_MILLISECONDS)
        record(page, options.url).save(options.out)
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")


def record(page: Page, address: str) -> Recorder:
    """Play the replay up to its moment, simulate the futures, and show the result."""
    recorder = Recorder(page)
    moment = float(parse_qs(urlsplit(address).query)["t"][0])
    page.goto(address)
    page.wait_for_function(IS_READY)
    replay, panel = page.locator("video").first, page.get_by_role("region", name="What if")
    recorder.scroll_to(replay)
    recorder.play(moment - SHOWN_SECONDS, moment)
    page.get_by_role("button", name="What if…").click()
    recorder.scroll_to(panel)
    panel.get_by_label("Futures").fill(str(FUTURES))
    panel.get_by_label("Longest length").fill(str(LENGTH))
    panel.get_by_text("Each in turn").click()
    recorder.shoot(PAUSE)
    panel.get_by_role("button", name="Simulate").click()
    expect(panel.get_by_role("progressbar")).to_be_visible()
    recorder.shoot(PAUSE)
    expect(panel.get_by_role("region", name="Videos of futures")).to_be_visible()
    page.wait_for_function(IS_READY)
    recorder.shoot(LONG_PAUSE)
    recorder.play(moment, moment + SHOWN_SECONDS)
    recorder.shoot(PAUSE)
    for place in (panel.get_by_text("Discounted returns"), panel.get_by_role("region", name="Each action first")):
        recorder.scroll_to(place)
        recorder.shoot(LONG_PAUSE)
    return recorder


if __name__ == "__main__":
    main()
