"""Pages on which nothing moves that can be clicked, because of something that arrives."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import report_replay
from tests.chromium import open_context
from tests.factories import PONG, Api, checkpoint_path, metrics
from tests.installation import Installation

# Lists the links, buttons and fields that a shift has moved, with the distance, unless the user pressed something.
OBSERVER = """
window.moved = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    for (const { node, previousRect, currentRect } of entry.sources) {
      const element = node instanceof Element ? node : node?.parentElement;
      const target = element?.closest("a, button, input, [role=tab]") ?? element?.querySelector("a, button, input, [role=tab]");
      if (!target || !previousRect.width || !currentRect.width) continue;
      const name = target.ariaLabel || target.textContent.trim() || target.tagName;
      const by = [currentRect.x - previousRect.x, currentRect.y - previousRect.y].join(", ");
      window.moved.push(`${name} in ${element.tagName}.${element.className} by ${by}, value ${entry.value.toFixed(3)}`);
    }
  }
}).observe({ type: "layout-shift", buffered: true });
"""
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers, with a training run that has curves and replays."""
    with (
        installation_without_workers(tmp_path_factory.mktemp("still")) as installation,
        open_api(installation) as api,
    ):
        run = api.running(config=PONG)
        api.send(*run, *(metrics(seq, seq * 100, returns=[seq - 21]) for seq in range(2, 30)))
        for seq, step in ((30, 3000), (32, 3500)):
            api.save(*run, seq, step, kept=[checkpoint_path(3000), checkpoint_path(step)])
            report_replay(api, run, seq + 1, step, tmp_path_factory.mktemp("recorded"))
        yield installation


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize(
    "address", ["/launch", "/runs/1", "/runs/1/replays", "/runs/1/live", "/alerts/rules", "/", "/runs/1/checkpoints"]
)
def test_nothing_that_can_be_clicked_moves_while_a_page_loads(
    browser: Browser, installation: Installation, size: dict[str, int], address: str
) -> None:
    context = open_context(browser, base_url=f"http://127.0.0.1:{installation.port}", viewport=size)
    context.add_init_script(OBSERVER)
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)
    print(size["width"], address, "\n   ".join(page.evaluate("window.moved")))
    context.close()
