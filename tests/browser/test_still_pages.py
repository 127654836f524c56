"""Pages on which nothing that can be clicked moves because of something that arrives."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, Route, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import report_replay
from tests.chromium import open_context
from tests.factories import PONG, checkpoint_path, metrics
from tests.installation import Installation

# Lists the controls that a layout shift has moved, except one that follows an input of the user.
OBSERVER = """
window.moved = [];
const CONTROLS = "a, button, input, [role=tab]";
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    for (const { node, previousRect, currentRect } of entry.sources) {
      const element = node instanceof Element ? node : node?.parentElement;
      const control = element?.closest(CONTROLS) ?? element?.querySelector(CONTROLS);
      if (!control || !previousRect.width || !currentRect.width) continue;
      const by = [currentRect.x - previousRect.x, currentRect.y - previousRect.y];
      window.moved.push(`${control.ariaLabel || control.textContent || control.tagName} by ${by}`);
    }
  }
}).observe({ type: "layout-shift", buffered: true });
"""
# Resolves after the frames that show what has changed.
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SIZES = {"wide": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}
# What is shown when a page has loaded.
LOADED: dict[str, Callable[[Page], Locator]] = {
    "/": lambda page: page.get_by_role("link", name="training").first,
    "/runs/1": lambda page: page.get_by_role("region", name="Newest replay").locator("video"),
    "/runs/1/replays": lambda page: page.locator("video").first,
    "/runs/1/live": lambda page: page.get_by_role("region", name="Live game"),
    "/runs/2": lambda page: page.get_by_role("region", name="How this agent learned").locator("video").first,
    "/alerts/rules": lambda page: page.get_by_role("textbox", name="Score"),
    "/launch": lambda page: page.get_by_role("button", name="Launch run").last,
}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers, with a training and a finished run that have replays."""
    with (
        installation_without_workers(tmp_path_factory.mktemp("still")) as installation,
        open_api(installation) as api,
    ):
        for name in ("training", "finished"):
            run = api.running(config=PONG, name=name)
            api.send(*run, *(metrics(seq, seq * 100, returns=[seq - 21]) for seq in range(2, 30)))
            steps = [3000, 3500, 4000, 4500]
            for number, step in enumerate(steps):
                kept = [checkpoint_path(each) for each in steps[: number + 1]]
                api.save(*run, 30 + 2 * number, step, kept=kept)
                report_replay(api, run, 31 + 2 * number, step, tmp_path_factory.mktemp("recorded"))
        api.release(*run, "finished")
        yield installation


@pytest.fixture(params=SIZES)
def page(browser: Browser, installation: Installation, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Open a wide page, and one of a phone, which observe what moves."""
    address = f"http://127.0.0.1:{installation.port}"
    context = open_context(browser, base_url=address, viewport=SIZES[request.param])
    context.add_init_script(OBSERVER)
    page = context.new_page()
    # The synthetic pictures have another shape than those of Pong.
    page.route("**/api/v1/environments", with_synthetic_shape)
    yield page
    context.close()


def with_synthetic_shape(route: Route) -> None:
    """Answer the list of environments with the shape of the synthetic pictures."""
    environments = route.fetch().json()
    for environment in environments:
        environment["family"]["aspect_ratio"] = 64 / 48
    route.fulfill(json=environments)


def box(control: Locator) -> FloatRect:
    """Return the place of a control in the window."""
    found = control.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("address", LOADED)
def test_no_control_moves_while_a_page_loads(page: Page, address: str) -> None:
    page.goto(address)
    expect(LOADED[address](page)).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.evaluate(FRAMES)
    assert page.evaluate("window.moved") == []


def test_the_forecast_does_not_move_the_launch_button(page: Page) -> None:
    held: list[Route] = []
    page.route("**/api/v1/runs/preview", lambda route: held.append(route))
    page.goto("/launch")
    launch = page.get_by_role("button", name="Launch run").last
    expect(page.get_by_text("Estimating requirements…")).to_be_attached()
    before = box(launch)
    page.unroute("**/api/v1/runs/preview")
    for route in held:
        route.continue_()
    expect(page.get_by_role("region", name="Requirements").get_by_role("table")).to_be_attached()
    assert box(launch) == before


def test_a_click_that_leaves_an_invalid_field_reaches_the_launch_button(page: Page) -> None:
    page.goto("/launch")
    rate = page.get_by_role("textbox", name=re.compile("learning_rate$"))
    rate.fill("lots")
    launch = page.get_by_role("button", name="Launch run").last
    before = box(launch)
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    page.evaluate(FRAMES)
    # A pressed button moves by a pixel.
    assert box(launch)["y"] == pytest.approx(before["y"], abs=1)
    page.mouse.up()
    expect(page.get_by_role("alert").filter(has_text="1 field needs a valid value.")).to_be_attached()
    expect(rate).to_be_focused()
