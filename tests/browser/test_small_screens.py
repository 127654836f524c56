"""What a phone's first screen shows, targets that fit a thumb, and names in a table that shares the screen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.showcase import Showcase, fill
from tests.chromium import open_context
from tests.installation import Installation

PHONE = {"width": 390, "height": 844}
THUMB = 44
RATES = ("0.001", "0.0003")


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("shown")) as installation:
        yield installation


@pytest.fixture(scope="module")
def showcase(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Showcase]:
    """Fill the installation with runs of every kind."""
    with open_api(installation) as api:
        filled = fill(api, tmp_path_factory.mktemp("replays"))
        for rate in RATES:
            api.launch(name=f"PAAC · CartPole · seed 3 · lr {rate}")
        yield filled


@pytest.fixture
def phone(browser: Browser, installation: Installation) -> Iterator[Page]:
    """Open a page on a phone."""
    address = f"http://127.0.0.1:{installation.port}"
    context = open_context(browser, base_url=address, viewport=PHONE, has_touch=True, is_mobile=True)
    yield context.new_page()
    context.close()


def test_the_first_chart_of_a_comparison_is_on_the_first_screen(phone: Page, showcase: Showcase) -> None:
    phone.goto(f"/compare?runs={showcase.finished},{showcase.running},{showcase.fork}")
    expect(phone.get_by_text("3 runs: PAAC 3")).to_be_visible()
    box = phone.get_by_role("figure").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= PHONE["height"]
    expect(phone.get_by_label("Smoothing")).not_to_be_visible()
    phone.get_by_role("button", name="Chart settings").tap()
    expect(phone.get_by_label("Smoothing")).to_be_visible()
    phone.get_by_role("button", name="Show all").tap()
    expect(phone.get_by_role("button", name=f"Remove run {showcase.fork} from the comparison")).to_be_visible()


@pytest.mark.usefixtures("showcase")
def test_a_run_can_be_launched_without_scrolling(phone: Page) -> None:
    phone.goto("/launch")
    launch = phone.get_by_role("main").get_by_role("button", name="Launch run", exact=True)
    expect(launch).to_be_in_viewport()
    phone.get_by_role("main").press("End")
    expect(launch).to_be_in_viewport()


def test_the_tooltip_of_watch_live_closes_after_the_tap(phone: Page, showcase: Showcase) -> None:
    phone.goto(f"/runs/{showcase.finished}")
    phone.get_by_role("link", name="Watch live").tap()
    phone.wait_for_url(f"**/runs/{showcase.finished}/live")
    expect(phone.get_by_role("tab", name="Live")).to_have_attribute("aria-selected", "true")
    expect(phone.get_by_role("tooltip").filter(visible=True)).to_have_count(0)


@pytest.mark.usefixtures("showcase")
def test_the_checkbox_of_a_card_fits_a_thumb(phone: Page) -> None:
    phone.goto("/")
    checkbox = phone.get_by_role("checkbox", name="Select").first
    box = checkbox.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (THUMB, THUMB)
    checkbox.tap(position={"x": 2, "y": 2})
    expect(checkbox).to_be_checked()


@pytest.mark.usefixtures("showcase")
def test_a_wrong_filter_of_an_address_says_so_once_and_keeps_the_rows(phone: Page) -> None:
    phone.goto("/?filter=return%20%3E%3E%203")
    wrong = phone.get_by_text("expected a name or a number, not '>'")
    expect(wrong).to_have_count(1)
    expect(phone.get_by_role("list", name="Runs").get_by_role("listitem").first).to_be_visible()


@pytest.mark.usefixtures("showcase")
def test_the_varied_setting_is_visible_beside_the_charts(page: Page) -> None:
    page.goto("/?charts=episode/return&filter=name:lr")
    expect(page.get_by_role("figure").first).to_be_visible()
    for rate in RATES:
        part = page.get_by_role("link", name=rate).get_by_text(f"lr {rate}")
        expect(part).to_be_visible()
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth")
