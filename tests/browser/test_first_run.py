"""The first run and the first study of an installation, from the click or the key to their pages."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_page
from tests.factories import PONG, checkpoint_path, started
from tests.installation import Installation

# Counts the tables that the page of the runs shows.
TABLES = """
window.tables = 0;
new MutationObserver(() => {
  if (location.pathname === "/") window.tables += document.querySelectorAll("main table").length;
}).observe(document, { childList: true, subtree: true });
"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers and runs."""
    with installation_without_workers(tmp_path_factory.mktemp("first")) as installation:
        yield installation


def test_a_start_is_shown_and_leads_to_the_run_without_a_table(page: Page) -> None:
    page.add_init_script(TABLES)
    page.goto("/")
    other = page.context.new_page()
    other.goto("/")
    expect(other.get_by_role("heading", name="Start your first run")).to_be_visible()
    held: list[Route] = []
    page.route("**/api/v1/runs", lambda route: held.append(route))
    start = page.get_by_role("button", name=re.compile("^Start this run")).first
    start.click()
    expect(start).to_have_attribute("data-loading", "true")
    # The list has the run before the page has the response.
    created = held[0].fetch()
    expect(other.get_by_role("table").first).to_be_visible()
    expect(start).to_have_attribute("data-loading", "true")
    held[0].fulfill(response=created)
    page.wait_for_url(re.compile(r"/runs/\d+"))
    assert page.evaluate("window.tables") == 0


def test_the_page_says_when_the_first_replay_is_recorded(page: Page, installation: Installation) -> None:
    with open_api(installation) as api:
        run = api.launch(config=PONG, priority=5)["id"]
        page.goto(f"/runs/{run}")
        replay = page.get_by_role("region", name="Newest replay")
        expect(replay).to_contain_text("waiting for a worker. The first replay is recorded after the first checkpoint.")
        claimed = api.claim()
        assert claimed["run_id"] == run
        assert api.send(run, claimed["attempt"], started()).is_success
        api.save(run, claimed["attempt"], 2, 100, kept=[checkpoint_path(100)])
        expect(replay).to_contain_text("The first replay is being recorded.")


def test_the_comparison_of_a_study_leads_to_it_and_stops_it(page: Page) -> None:
    page.goto("/launch?preset=paac-cartpole")
    page.get_by_role("textbox", name=re.compile("seed$")).fill("1-3")
    # The duration is unknown, because no run has been trained.
    page.get_by_role("checkbox", name=re.compile("in 3 runs$")).check()
    page.get_by_role("button", name="Start study · 3 runs").click()
    page.wait_for_url(re.compile("/compare"))
    study = page.get_by_role("region", name="Study")
    expect(study.get_by_role("status")).to_have_text("0 of 3 runs finished")
    expect(study.get_by_role("link")).to_have_attribute("href", re.compile(r"^/studies/\d+$"))
    study.get_by_role("button", name="Stop study").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop study").click()
    expect(study.get_by_role("status")).to_have_text("0 of 3 runs finished, stopped")


def test_a_run_is_launched_from_the_keyboard(page: Page) -> None:
    page.goto("/workers")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Launch form: launch run")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("n")
    expect(page.get_by_role("searchbox", name="Search environments")).to_be_focused()
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/runs/\d+"))


def test_a_key_leads_to_the_actions_for_the_selected_runs(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("table").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("x")
    bar = page.get_by_role("region", name="Selected runs")
    expect(bar).to_be_visible()
    page.keyboard.press("b")
    expect(bar.locator(":focus")).to_have_count(1)


def test_the_page_of_a_project_does_not_choose_it_for_other_pages(page: Page, installation: Installation) -> None:
    installation.post("projects", {"name": "Elsewhere"})
    page.goto("/?project=")
    expect(page.get_by_role("table").first).to_be_visible()
    page.goto("/projects/Elsewhere")
    expect(page.get_by_role("heading", name="Elsewhere")).to_be_visible()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs").click()
    expect(page.get_by_role("table").first).to_be_visible()
    assert "Elsewhere" not in page.url


def test_a_viewer_is_offered_no_launch(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        installation_without_workers(tmp_path_factory.mktemp("viewer")) as installation,
        open_api(installation) as api,
        open_page(browser, installation.port) as page,
    ):
        first = {"name": "Ana", "email": "ana@example.org", "password": "correct horse battery"}
        assert api.user.post("/api/v1/people/first", json=first).is_success
        invited = {"people": [{"name": "Vi", "email": "vi@example.org"}], "project": "Main", "role": "viewer"}
        [link] = api.user.post("/api/v1/people", json=invited).raise_for_status().json()
        chosen = {"secret": link["path"].partition("#")[2], "password": first["password"]}
        assert page.request.post("/api/v1/session/password", data=chosen).ok
        page.goto("/")
        sign_in = page.get_by_role("textbox", name="E-mail address")
        shown = page.get_by_text("Runs that others launch appear here.")
        expect(sign_in.or_(shown)).to_be_visible()
        if sign_in.is_visible():
            sign_in.fill("vi@example.org")
            page.get_by_label("Password").fill(first["password"])
            page.keyboard.press("Enter")
        expect(shown).to_be_visible()
        expect(page.get_by_text("Start your first run")).to_have_count(0)
        page.keyboard.press("n")
        page.keyboard.press("Control+k")
        palette = page.get_by_role("dialog")
        expect(palette.get_by_text("Studies", exact=True)).to_be_visible()
        expect(palette.get_by_text("Launch run")).to_have_count(0)
        assert "/launch" not in page.url
