"""Page that watches a live game in Chromium, with the age of each picture on the page."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page

from tests.chromium import chromium

# Runs in the page before its own code. Reads the emulator's clock in the header of each picture, follows the picture
# until the page draws it, and records the milliseconds until the page is painted.
FOLLOW = """
(() => {
  window.delays = [];
  let came = 0;
  const made = new WeakMap();
  window.WebSocket = class extends WebSocket {
    constructor(...address) {
      super(...address);
      this.addEventListener("message", ({ data }) => {
        if (typeof data === "string") return;
        const head = new Uint8Array(data, 4, new DataView(data).getUint32(0));
        came = JSON.parse(new TextDecoder().decode(head)).time;
      });
    }
  };
  const unpack = window.createImageBitmap.bind(window);
  window.createImageBitmap = async (...picture) => {
    const time = came;
    const image = await unpack(...picture);
    made.set(image, time);
    return image;
  };
  const { drawImage } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.drawImage = function (image, ...place) {
    drawImage.call(this, image, ...place);
    const time = made.get(image);
    if (time !== undefined) requestAnimationFrame(() => window.delays.push(Date.now() - 1000 * time));
  };
})();
"""


@contextmanager
def watching_page(port: int, run: int) -> Iterator[Page]:
    """Watch a run live in Chromium, and yield the page after it has drawn a picture."""
    with chromium() as browser:
        # The page's policy forbids code from strings, which Playwright uses to inspect the page.
        page = browser.new_page(base_url=f"http://127.0.0.1:{port}", bypass_csp=True)
        page.add_init_script(FOLLOW)
        page.goto(f"/runs/{run}/live")
        page.wait_for_function("window.delays.length > 0", timeout=240_000)
        yield page


def drawn(page: Page) -> list[float]:
    """Return the delays in seconds of the pictures that the page has drawn since the last call."""
    delays: list[float] = page.evaluate("window.delays.splice(0)")
    return [delay / 1000 for delay in delays]
