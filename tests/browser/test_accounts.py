"""Accounts in the browser: the first account, a sign-in, and a second person who sees only her project."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import Api
from tests.installation import Installation

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("accounts")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


@pytest.fixture
def page(browser: Browser, installation: Installation) -> Iterator[Page]:
    """Open a page. Its console reports what is refused after a sign-out, so only exceptions fail the test."""
    context = open_context(
        browser, base_url=f"http://127.0.0.1:{installation.port}", viewport={"width": 1440, "height": 900}
    )
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert errors == []


def sign_in(page: Page, email: str) -> None:
    """Fill in the form of the sign-in."""
    page.get_by_role("textbox", name="E-mail address").fill(email)
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def open_settings(page: Page, tab: str) -> None:
    """Open a tab of the settings by the menu of the account."""
    page.get_by_role("button", name=re.compile("^Account")).click()
    page.get_by_role("menuitem", name="Settings").click()
    page.get_by_role("tab", name=tab).click()


def test_two_people_share_a_server(page: Page, browser: Browser, api: Api) -> None:
    for project in ("Maze", "Pong"):
        api.user.post("/api/v1/projects", json={"name": project}).raise_for_status()
        api.launch(name=f"run of {project}", project=project)

    # A newcomer sees no sign-in.
    page.goto("/")
    expect(page.get_by_role("link", name="run of Maze")).to_be_visible()
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("menuitem", name="Settings").click()
    page.get_by_role("button", name="Create the first account").click()
    page.get_by_role("textbox", name="Name").fill("Ana")
    page.get_by_role("textbox", name="E-mail address").fill("ana@example.org")
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", name="Ana")).to_be_visible()

    page.get_by_role("button", name="Account of Ana").click()
    page.get_by_role("menuitem", name="Sign out", exact=True).click()
    sign_in(page, "ana@example.org")
    open_settings(page, "People")
    page.get_by_role("button", name="Invite person").click()
    dialog = page.get_by_role("dialog", name="Invite person")
    dialog.get_by_role("textbox", name="Name").fill("Bea")
    dialog.get_by_role("textbox", name="E-mail address").fill("bea@example.org")
    dialog.get_by_role("combobox", name="Project").select_option("Maze")
    dialog.get_by_role("button", name="Create link").click()
    link = page.get_by_role("textbox", name="Link").input_value()

    context = open_context(browser, base_url=page.url.partition("/settings")[0])
    bea = context.new_page()
    bea.goto(link)
    expect(bea.get_by_text("Hello Bea.")).to_be_visible()
    bea.get_by_role("textbox", name="Password").fill(PASSWORD)
    bea.get_by_role("button", name="Save password and sign in").click()
    expect(bea.get_by_role("link", name="run of Maze")).to_be_visible()
    expect(bea.get_by_role("link", name="run of Pong")).to_have_count(0)
    bea.goto("/runs/2")
    expect(bea.get_by_role("heading", name="There is no run 2")).to_be_visible()
    open_settings(bea, "Account")
    expect(bea.get_by_text("editor of Maze")).to_be_visible()
    expect(bea.get_by_role("tab", name="People")).to_have_count(0)

    # Her actions are on the run and in the log.
    bea.goto("/runs/1")
    bea.get_by_role("button", name="Stop run").click()
    expect(bea.get_by_text("stopped by Bea")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    page.get_by_role("tab", name="Audit log").click()
    page.get_by_role("combobox", name="Action").select_option("Stop")
    expect(page.get_by_role("row", name=re.compile("Bea.*Stop run run of Maze"))).to_be_visible()
    context.close()
