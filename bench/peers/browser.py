"""Time to the first chart in Chromium, and the requests that a page makes for it."""

import time
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Response, ViewportSize
from playwright.sync_api import Request as PageRequest

from bench.peers.requests import Request, Sample

CHART_MILLISECONDS = 180_000
POLL_MILLISECONDS = 20
# After the first chart a page may still request other parts of its view.
SETTLE_MILLISECONDS = 2_000
# A line of Plotly in SVG, or a canvas of Plotly or Vega with colored pixels. Gray axes and labels do not count.
IS_DRAWN = """(() => {
  const lines = [...document.querySelectorAll('.scatterlayer path.js-line')];
  if (lines.some(line => line.getTotalLength() > 0)) return true;
  return [...document.querySelectorAll('.js-plotly-plot canvas, .vega-embed canvas')].some(canvas => {
    if (!canvas.width || !canvas.height) return false;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    let colored = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      const [red, green, blue] = [pixels[i], pixels[i + 1], pixels[i + 2]];
      const saturation = Math.max(red, green, blue) - Math.min(red, green, blue);
      if (pixels[i + 3] && saturation > 60 && ++colored > 100) return true;
    }
    return false;
  });
})()"""
SIZE = ViewportSize(width=1440, height=900)


def new_context(browser: Browser) -> BrowserContext:
    """Return a browser profile with an empty cache. Arcadia's pages forbid the evaluation that polling needs."""
    return browser.new_context(viewport=SIZE, bypass_csp=True)


def first_chart(context: BrowserContext, url: str, page: str) -> Sample:
    """Open the page in a new tab and time it until a curve is visible."""
    tab = context.new_page()
    began = time.perf_counter()
    tab.goto(url + page, wait_until="commit")
    tab.wait_for_function(IS_DRAWN, timeout=CHART_MILLISECONDS, polling=POLL_MILLISECONDS)
    seconds = time.perf_counter() - began
    tab.close()
    return Sample(seconds)


def cold_and_warm(browser: Browser, url: str, page: str) -> tuple[Sample, Sample]:
    """Open the page with an empty cache, then again in the same browser profile."""
    context = new_context(browser)
    try:
        return first_chart(context, url, page), first_chart(context, url, page)
    finally:
        context.close()


def data_requests(browser: Browser, url: str, page: str) -> list[Request]:
    """Return the distinct requests for data that the page makes, in their order. Streams are left out."""
    found: dict[Request, None] = {}

    def note(answer: Response) -> None:
        if is_data(answer, url):
            found[as_request(answer.request)] = None

    context = new_context(browser)
    tab = context.new_page()
    tab.on("response", note)
    tab.goto(url + page, wait_until="commit")
    tab.wait_for_function(IS_DRAWN, timeout=CHART_MILLISECONDS, polling=POLL_MILLISECONDS)
    tab.wait_for_timeout(SETTLE_MILLISECONDS)
    context.close()
    return list(found)


def is_data(answer: Response, url: str) -> bool:
    """Return True for a successful answer of the product's API that ends."""
    is_stream = "event-stream" in answer.headers.get("content-type", "")
    requested = answer.request.resource_type in ("fetch", "xhr")
    return requested and answer.ok and not is_stream and answer.url.startswith(url)


def as_request(seen: PageRequest) -> Request:
    """Return a page's request, relative to the product's address."""
    parts = urlsplit(seen.url)
    return Request(seen.method, parts.path + (f"?{parts.query}" if parts.query else ""), seen.post_data)
