"""Accounts in the browser: the first account, a sign-in, a second person, and the login of a terminal."""

import contextlib
import os
import re
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context, open_page
from tests.factories import Api
from tests.installation import Installation
from tests.workers.waiting import PATIENCE_SECONDS

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
    with open_page(browser, installation.port) as page:
        yield page


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
    page.get_by_role("button", name="Invite people").click()
    dialog = page.get_by_role("dialog", name="Invite people")
    dialog.get_by_role("textbox", name="People").fill("Bea bea@example.org\nCy <cy@example.org>")
    dialog.get_by_role("combobox", name="Project").select_option("Maze")
    dialog.get_by_role("button", name="Create links").click()
    expect(page.get_by_role("textbox", name="Link for Cy")).to_be_visible()
    link = page.get_by_role("textbox", name="Link for Bea").input_value()

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


def test_an_old_session_asks_for_the_password_and_then_continues(
    page: Page, api: Api, installation: Installation
) -> None:
    create_first(api)
    page.goto("/projects/Main")
    sign_in(page, "ana@example.org")
    expect(page.get_by_role("heading", name="Members")).to_be_visible()
    database = sqlite3.connect(installation.directory / "data" / "arcadia.db", timeout=PATIENCE_SECONDS)
    with contextlib.closing(database), database:
        database.execute("UPDATE sign_in_sessions SET proved_at = '2026-01-01 00:00:00.000000'")
    page.get_by_role("button", name="Invite people").click()
    form = page.get_by_role("dialog", name="Invite people")
    form.get_by_role("textbox", name="People").fill("Dee dee@example.org")
    form.get_by_role("button", name="Create links").click()
    again = page.get_by_role("dialog", name="Sign in again")
    # Escape closes this dialog only, and what was typed stays.
    again.get_by_role("textbox", name="Password").press("Escape")
    expect(form.get_by_text("you did not sign in again")).to_be_visible()
    form.get_by_role("button", name="Create links").click()
    again.get_by_role("textbox", name="Password").fill(PASSWORD)
    again.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("textbox", name="Link for Dee")).to_have_value(re.compile("/welcome#"))
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("region", name="Members").get_by_text("Dee")).to_be_visible()


def create_first(api: Api) -> None:
    """Create the account of Ana, unless another test has."""
    if not api.user.get("/api/v1/session").json()["required"]:
        body = {"name": "Ana", "email": "ana@example.org", "password": PASSWORD}
        api.user.post("/api/v1/people/first", json=body).raise_for_status()
        api.user.cookies.clear()


def administer(api: Api) -> None:
    """Sign the API client in as the first administrator, who is created if there is none."""
    if api.user.get("/api/v1/session").json()["required"]:
        body = {"email": "ana@example.org", "password": PASSWORD}
        api.user.post("/api/v1/session", json=body).raise_for_status()
    else:
        first = {"name": "Ana", "email": "ana@example.org", "password": PASSWORD}
        api.user.post("/api/v1/people/first", json=first).raise_for_status()


def test_a_person_without_a_role_learns_who_can_give_one(page: Page, api: Api) -> None:
    administer(api)
    body = {"people": [{"name": "Flo", "email": "flo@example.org"}]}
    [invited] = api.user.post("/api/v1/people", json=body).raise_for_status().json()
    page.goto(invited["path"])
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Save password and sign in").click()
    nothing = page.get_by_role("heading", name="You have no role yet")
    expect(nothing).to_be_visible()
    for path in ("/", "/launch", "/runs/1", "/workers", "/games", "/reports"):
        page.goto(path)
        expect(nothing).to_be_visible()
        expect(page.get_by_role("list", name="Administrators")).to_have_text("Ana")
        expect(page.get_by_role("link", name="Launch run")).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("Start"))).to_have_count(0)
    page.get_by_role("link", name="Open your account").click()
    expect(page.get_by_role("heading", name="Flo")).to_be_visible()

    # With a role, the pages open without a reload.
    api.user.post("/api/v1/projects", json={"name": "Chess"}).raise_for_status()
    run = api.launch(name="run of Chess", project="Chess")["id"]
    [chess] = [each["id"] for each in api.user.get("/api/v1/projects").json() if each["name"] == "Chess"]
    page.goto(f"/runs/{run}")
    expect(nothing).to_be_visible()
    member = {"email": "flo@example.org", "role": "viewer"}
    members = api.user.post(f"/api/v1/projects/{chess}/members", json=member).raise_for_status().json()
    expect(page.get_by_role("heading", name="run of Chess")).to_be_visible()

    # The page of a person whose role ends says so.
    [role] = [each["id"] for each in members["items"] if each["person"]["name"] == "Flo"]
    api.user.delete(f"/api/v1/projects/{chess}/members/{role}").raise_for_status()
    page.get_by_role("tab", name="Log").click()
    page.goto("/studies")
    expect(nothing).to_be_visible()


def test_a_run_that_is_hidden_now_says_why(page: Page, api: Api) -> None:
    administer(api)
    for name in ("Go", "Shogi"):
        api.user.post("/api/v1/projects", json={"name": name}).raise_for_status()
    run = api.launch(name="run of Go", project="Go")["id"]
    body = {"people": [{"name": "Di", "email": "di@example.org"}], "project": "Go", "role": "editor"}
    [invited] = api.user.post("/api/v1/people", json=body).raise_for_status().json()
    [shogi] = [each["id"] for each in api.user.get("/api/v1/projects").json() if each["name"] == "Shogi"]
    api.user.post(f"/api/v1/projects/{shogi}/members", json={"email": "di@example.org", "role": "viewer"})
    page.goto(invited["path"])
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Save password and sign in").click()
    expect(page.get_by_role("link", name="run of Go")).to_be_visible()
    page.goto(f"/runs/{run + 999}")
    expect(page.get_by_text("It may have been purged, or you have no access to its project.")).to_be_visible()
    page.goto(f"/runs/{run}")
    expect(page.get_by_role("heading", name="run of Go")).to_be_visible()

    def hide_first(route: Route) -> None:
        api.user.patch(f"/api/v1/runs/{run}", json={"project": "Main"}).raise_for_status()
        route.continue_()

    # The page would remove the button as soon as the run is hidden.
    page.route("**/stop", hide_first)
    page.get_by_role("button", name="Stop run").click()
    expect(page.get_by_text("your role in its project has ended")).to_be_visible()


def test_the_audit_log_is_filtered_by_its_url(page: Page, api: Api) -> None:
    administer(api)
    api.user.post("/api/v1/projects", json={"name": "Draughts"}).raise_for_status()
    run = api.launch(name="a run", project="Draughts")["id"]
    changes = {"name": "a better run", "tags": ["first"]}
    api.user.patch(f"/api/v1/runs/{run}", json=changes).raise_for_status()
    page.goto("/settings/audit?action=change&kind=run")
    sign_in(page, "ana@example.org")
    row = page.get_by_role("row", name=re.compile("Ana.*Change run a better run.*Draughts"))
    expect(row.locator("del")).to_have_text(["a run", "none"])
    expect(row.locator("ins")).to_have_text(["a better run", "first"])
    expect(page.get_by_role("combobox", name="Action")).to_have_value("change")
    page.get_by_role("combobox", name="Project", exact=True).select_option("Draughts")
    expect(page.get_by_role("row")).to_have_count(2)
    assert "project_id=" in page.url
    page.reload()
    expect(page.get_by_role("row")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as JSON Lines").click()
    assert len(download.value.path().read_text().splitlines()) == 1
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("row", name=re.compile("Create project Draughts"))).to_be_visible()
    assert "kind=" not in page.url


def run_arcadia(url: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command line of a user without settings and without a browser."""
    variables = {
        **os.environ,
        "XDG_CONFIG_HOME": str(folder),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "arcadia", *arguments, "--url", url],
        env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_terminal_signs_in_by_a_code(page: Page, api: Api, tmp_path: Path) -> None:
    url = str(api.user.base_url).rstrip("/")
    create_first(api)
    terminal = run_arcadia(url, tmp_path, "login", "--no-browser", "--name", "ana@laptop")
    try:
        assert terminal.stderr is not None
        shown = terminal.stderr.readline()
        found = re.fullmatch(rf"Open {re.escape(url)}(/device) and confirm this code: (\S+)\n", shown)
        assert found is not None, shown
        # A person who has not signed in signs in on the same page.
        page.goto(f"{found[1]}#{found[2]}")
        sign_in(page, "ana@example.org")
        login = page.get_by_role("form", name="Login")
        expect(login.get_by_text(found[2])).to_be_visible()
        expect(login.get_by_text("ana@laptop")).to_be_visible()
        expect(login.get_by_text("127.0.0.1")).to_be_visible()
        login.get_by_role("checkbox", name="Log").uncheck()
        login.get_by_role("button", name="Confirm login").click()
        expect(page.get_by_role("heading", name="Login confirmed")).to_be_visible()
        output = terminal.communicate(timeout=PATIENCE_SECONDS)[0]
    finally:
        terminal.kill()
        terminal.wait()
    stored = tmp_path / "arcadia" / "client.json"
    assert output == f"Signed in to {url} as Ana. The token is in {stored}.\n"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    page.get_by_role("link", name="Your tokens").click()
    expect(page.get_by_text("ana@laptop")).to_be_visible()

    listed = run_arcadia(url, tmp_path, "projects", "list")
    assert "Main" in listed.communicate(timeout=PATIENCE_SECONDS)[0]
    # The code works once.
    page.goto(f"{found[1]}#{found[2]}")
    page.reload()
    expect(page.get_by_text("No login waits with this code")).to_be_visible()
