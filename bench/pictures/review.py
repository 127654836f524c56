"""Record the animation of docs/review.md: `python -m bench.pictures.review URL`.

URL is the link to the moment of a mistake in a replay with a review, for example
http://127.0.0.1:8000/runs/1/replays?replays=20&t=23.475. The server must have a worker and the replay's checkpoint. The
file shows the replay up to the moment, the marks, a click on the most costly mistake, and futures of both actions.
"""

import argparse
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Page, expect

from bench.pictures.animation import (
    FRAME_SECONDS,
    HEADER,
    IS_READY,
    LONG_PAUSE,
    PAUSE,
    SEEK,
    Recorder,
    record_to_file,
)

# Loops of the futures, each at most this long.
LOOPS, LONGEST_SECONDS = 2, 3.2
# Seconds of the replay before the moment.
SHOWN_SECONDS = 1.6
TOP = "each => each.getBoundingClientRect().top + scrollY"
# Seeks all videos of the futures to the same time. A shorter one stays at its last picture.
SEEK_ALL = """(videos, time) => Promise.all(videos.map(video => new Promise(done => {
    const to = Math.min(time, video.duration - 0.01);
    if (Math.abs(video.currentTime - to) < 0.001) return done();
    video.addEventListener("seeked", () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true });
    video.currentTime = to;
})))"""


def main() -> None:
    """Record the animation and print its size."""
    parser = argparse.ArgumentParser(prog="python -m bench.pictures.review", description=__doc__)
    parser.add_argument("url", help="address of a replay with a review")
    record_to_file(parser, record, "review.webp", reduced_motion="reduce")


def record(page: Page, address: str) -> Recorder:
    """Play the replay up to the moment, choose the most costly mistake, and play its futures."""
    recorder = Recorder(page)
    moment = float(parse_qs(urlsplit(address).query)["t"][0])
    page.goto(address)
    page.wait_for_function(IS_READY)
    page.evaluate("top => scrollTo(0, top)", page.locator("video").first.evaluate(TOP) - HEADER)
    recorder.play(moment - SHOWN_SECONDS, moment)
    page.evaluate(SEEK, moment)
    recorder.shoot(LONG_PAUSE)
    page.get_by_role("button", name="Review", exact=True).click()
    panel = page.get_by_role("region", name="Review", exact=True)
    recorder.scroll_to(panel)
    recorder.shoot(LONG_PAUSE)
    marks = panel.get_by_role("group", name="Reviewed decisions").get_by_role("button")
    heights = [float(mark.evaluate("mark => mark.offsetHeight")) for mark in marks.all()]
    costly = marks.nth(int(np.argmax(heights)))
    costly.hover(force=True)
    recorder.shoot(PAUSE)
    costly.click(force=True)
    opened = panel.get_by_role("region", name="Moment of decision")
    recorder.scroll_to(opened)
    recorder.shoot(LONG_PAUSE)
    begin = opened.get_by_role("button", name="Show futures")
    futures = opened.get_by_role("region", name="Futures side by side")
    expect(begin.or_(futures)).to_be_visible()
    if begin.is_visible():
        begin.click()
    expect(futures).to_be_visible()
    page.wait_for_function(IS_READY)
    videos = futures.locator("video")
    end = min(LONGEST_SECONDS, float(videos.evaluate_all("all => Math.max(...all.map(({ duration }) => duration))")))
    for _ in range(LOOPS):
        for at in np.arange(0, end, FRAME_SECONDS):
            videos.evaluate_all(SEEK_ALL, float(at))
            recorder.shoot()
        recorder.shoot(PAUSE)
    return recorder


if __name__ == "__main__":
    main()
