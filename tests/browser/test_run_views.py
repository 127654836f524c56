"""Charts, baseline and saved views of the run table in the browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import Api, metrics
from tests.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("views")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


@pytest.mark.nightly
def test_a_view_keeps_baseline_and_curves_and_is_shared(page: Page, browser: Browser, api: Api) -> None:
    for name, score in (("first", 10), ("second", 25)):
        run_id, attempt = api.running(name=name)
        api.send(run_id, attempt, *(metrics(seq, seq * 10, returns=[score]) for seq in range(2, 8)))
        api.release(run_id, attempt, "finished")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto("/?project=Main")

    # Charts are open on a wide screen. The dot hides a curve.
    charts = page.get_by_role("complementary", name="Charts")
    expect(charts.get_by_text("Curves of all 2 runs.")).to_be_visible()
    expect(charts.locator(".scatterlayer .trace .js-line")).not_to_have_count(0)
    dot = page.get_by_role("button", name="Curve of first")
    expect(dot).to_have_attribute("aria-pressed", "true")
    dot.click()
    expect(dot).to_have_attribute("aria-pressed", "false")
    expect(charts.get_by_text("Curves of 1 of 2 runs")).to_be_visible()

    page.get_by_role("button", name="Actions for first").click()
    page.get_by_role("menuitem", name="Use as baseline").click()
    expect(page.get_by_title("+15, better than the baseline").first).to_be_attached()
    expect(page.get_by_role("checkbox", name=re.compile("^Select (first|second)")).first).to_have_accessible_name(
        "Select first"
    )

    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Save as").click()
    page.get_by_role("textbox", name="Name").fill("Against first")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="View: Against first")).to_be_visible()
    page.get_by_title("Clear baseline").click()
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    expect(page.get_by_title(re.compile("better than the baseline"))).to_have_count(0)

    # Another user opens the view by its name.
    other = open_context(browser, base_url=page.url.partition("/?")[0])
    elsewhere = other.new_page()
    elsewhere.goto("/?project=Main&view=Against+first")
    expect(elsewhere.get_by_title("Clear baseline")).to_be_visible()
    expect(elsewhere.get_by_title("+15, better than the baseline").first).to_be_attached()
    expect(elsewhere.get_by_role("button", name="Curve of first")).to_have_attribute("aria-pressed", "false")
    expect(elsewhere.get_by_text("Unsaved changes")).to_have_count(0)
    other.close()
