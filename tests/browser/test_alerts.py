"""Alerts in the browser: they arrive without a reload, also as notifications."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import Api
from tests.installation import Installation

# Records the titles of notifications, which the browser shows outside of the page.
RECORDER = """
window.shown = [];
window.Notification = class extends window.Notification {
  constructor(title, options) {
    super(title, options);
    window.shown.push(title);
  }
};
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("alerts")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


@pytest.fixture
def page(browser: Browser, installation: Installation) -> Iterator[Page]:
    """Open a page that may show notifications."""
    context = open_context(browser, base_url=f"http://127.0.0.1:{installation.port}", permissions=["notifications"])
    context.add_init_script(RECORDER)
    yield context.new_page()
    context.close()


def finish(api: Api, name: str) -> int:
    """Create a finished run and return its number."""
    run_id, attempt = api.running(name=name)
    assert api.release(run_id, attempt, "finished").is_success
    return run_id


@pytest.mark.nightly
def test_a_finished_run_is_announced_without_a_reload(page: Page, api: Api) -> None:
    assert api.user.patch("/api/v1/alert-rules/run_finished", json={"rings": True}).is_success
    page.goto("/alerts/channels")
    page.get_by_role("button", name="Notify in this browser").click()
    expect(page.get_by_role("button", name="Stop notifications")).to_be_visible()
    page.get_by_role("tab", name="Alerts").click()
    expect(page.get_by_text("No alerts yet")).to_be_visible()
    run_id = finish(api, "Cart")
    expect(page.get_by_role("link", name="Cart finished")).to_be_visible()
    expect(page.get_by_role("link", name="Alerts, 1 unread")).to_be_visible()
    page.wait_for_function("window.shown.includes('Cart finished')")
    page.get_by_role("link", name="Cart finished").click()
    expect(page).to_have_url(f"http://127.0.0.1:{api.user.base_url.port}/runs/{run_id}")
    expect(page.get_by_role("link", name="Alerts", exact=True)).to_be_visible()


@pytest.mark.nightly
def test_a_webhook_is_added_tested_and_switched_off(page: Page) -> None:
    page.goto("/alerts/channels")
    page.get_by_role("button", name="Add channel").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Team")
    dialog.get_by_label("Webhook address").fill("http://127.0.0.1:9/hook")
    dialog.get_by_role("button", name="Add channel").click()
    expect(dialog.get_by_label("Secret")).to_have_value(re.compile("^[0-9a-f]{64}$"))
    dialog.get_by_role("button", name="Done").click()
    page.get_by_role("button", name="Send a test to Team").click()
    history = page.get_by_role("region", name="History")
    expect(history.get_by_text("127.0.0.1 is a private address")).to_be_visible()
    expect(history.get_by_text("Failed")).to_be_visible()
    page.get_by_role("switch", name="Team").click(force=True)
    expect(page.get_by_role("button", name="Send a test to Team")).to_be_disabled()
