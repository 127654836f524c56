"""Projects in the browser: create, switch, move and merge."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import Api
from tests.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("projects")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


def choose_project(page: Page, option: str) -> None:
    """Choose an option of the project switcher."""
    page.get_by_role("combobox", name=re.compile("^Project: ")).click()
    page.get_by_role("option", name=re.compile(f"^{option}")).click()


@pytest.mark.nightly
def test_a_project_is_created_filled_shared_and_merged(page: Page, browser: Browser, api: Api) -> None:
    for name in ("first", "second"):
        api.launch(name=name)
    page.goto("/")
    expect(page.get_by_role("link", name="first")).to_be_visible()

    choose_project(page, "New project")
    page.get_by_role("textbox", name="Name").fill("Maze & more")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Maze & more", exact=True)).to_be_visible()
    expect(page.get_by_text("This project is empty")).to_be_visible()

    page.get_by_role("link", name="in the list of all runs").click()
    page.get_by_role("checkbox", name="Select first").check()
    page.get_by_role("button", name="Move 1").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Project").click()
    page.get_by_role("option", name="Maze & more", exact=True).click()
    dialog.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_text("Moved 1 run to Maze & more.")).to_be_visible()

    choose_project(page, "Maze & more")
    expect(page.get_by_role("link", name="second")).to_have_count(0)
    expect(page.get_by_role("link", name="first")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?project=Maze\+%26\+more$"))

    # The browser remembers the project, and the URL shows the same runs to another user.
    shared = page.url
    page.get_by_role("link", name="Studies").click()
    expect(page.get_by_text("No studies in Maze & more")).to_be_visible()
    page.get_by_role("link", name=re.compile("^Launch")).click()
    expect(page.get_by_role("combobox", name="Project", exact=True)).to_have_value("Maze & more")
    other = open_context(browser, base_url=shared.partition("/?")[0])
    elsewhere = other.new_page()
    elsewhere.goto(shared)
    expect(elsewhere.get_by_role("link", name="first")).to_be_visible()
    expect(elsewhere.get_by_role("link", name="second")).to_have_count(0)
    other.close()

    choose_project(page, "Manage projects")
    page.get_by_role("button", name="Actions for Maze & more").click()
    page.get_by_role("menuitem", name="Merge into another").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Into").click()
    page.get_by_role("option", name="Main", exact=True).click()
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("Merged Maze & more into Main.")).to_be_visible()
    expect(page.get_by_role("link", name="Runs of Main: 2")).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("link", name="second")).to_be_visible()
    assert {run["project"] for run in api.user.get("/api/v1/runs").json()["items"]} == {"Main"}
