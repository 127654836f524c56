"""A viewer in the browser: pages offer nothing that the server refuses. An editor sees the same controls."""

import contextlib
from collections.abc import Iterator, Sequence

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.showcase import Showcase, fill
from tests.chromium import open_page
from tests.factories import CARTPOLE, Api
from tests.installation import Installation

PASSWORD = "correct horse battery"
API = "/api/v1"
# The names of the controls that a person can use, also those in open menus.
USABLE = """() => [...document.querySelectorAll('button, a, [role=menuitem], input, textarea')]
  .filter((each) => !each.disabled && !each.readOnly && each.ariaDisabled !== 'true' && each.checkVisibility())
  .map((each) => (each.ariaLabel || each.textContent || each.placeholder || '').trim())"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("viewers")) as installation:
        yield installation


@pytest.fixture(scope="module")
def shown(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Showcase]:
    """Yield runs of each kind in Main, with a study, a report, a board and a view, an editor and a viewer."""
    with open_api(installation) as api:
        showcase = fill(api, tmp_path_factory.mktemp("recorded"))
        _fill_project(api)
        first = {"name": "Ana", "email": "ana@example.org", "password": PASSWORD}
        assert api.user.post(f"{API}/people/first", json=first).is_success
        for role in ("editor", "viewer"):
            invited = {"people": [{"name": role, "email": f"{role}@example.org"}], "project": "Main", "role": role}
            [link] = api.user.post(f"{API}/people", json=invited).raise_for_status().json()
            secret = link["path"].partition("#")[2]
            with httpx.Client(base_url=f"http://127.0.0.1:{installation.port}", trust_env=False) as client:
                chosen = {"secret": secret, "password": PASSWORD}
                assert client.post(f"{API}/session/password", json=chosen).is_success
        yield showcase


def _fill_project(api: Api) -> None:
    for project in api.user.get(f"{API}/projects").json()[1:]:
        assert api.user.post(f"{API}/projects/{project['id']}/merge", json={"into": "Main"}).is_success
    study = {"name": "Rates", "config": CARTPOLE | {"total_steps": 100}, "seeds": [1, 2], "confirm_steps": 200}
    assert api.user.post(f"{API}/studies", json=study).is_success
    blocks = [{"kind": "text", "markdown": "Shown."}]
    assert api.user.post(f"{API}/reports", json={"title": "Findings", "blocks": blocks}).is_success
    panel = {"key": "a", "address": f"{API}/figures/curves?metric=episode/return", "filter": ""}
    assert api.user.put(f"{API}/projects/1/board", json={"version": 0, "panels": [panel]}).is_success
    assert api.user.post(f"{API}/views", json={"name": "Best", "query": "sort=-best_return"}).is_success
    assert api.user.post(f"{API}/score-rules", json={"score": 200}).is_success


@pytest.fixture(params=["editor", "viewer"])
def person(request: pytest.FixtureRequest, browser: Browser, installation: Installation) -> Iterator[tuple[str, Page]]:
    """Yield a role and the page of a person who has it and has signed in."""
    request.getfixturevalue("shown")
    with open_page(browser, installation.port) as page:
        page.set_default_timeout(30_000)
        page.goto("/")
        page.get_by_role("textbox", name="E-mail address").fill(f"{request.param}@example.org")
        page.get_by_role("textbox", name="Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
        yield request.param, page


def offers(person: tuple[str, Page], *writing: str) -> None:
    """Check that an editor can use these controls, and a viewer none of them."""
    role, page = person
    # An action may need the facts of a later response.
    found = f"names => {{ const usable = ({USABLE})(); return names.filter(name => usable.some(e => e.match(name))) }}"
    wanted = patterns(writing) if role == "editor" else []
    with contextlib.suppress(PlaywrightTimeout):
        arguments = [patterns(writing), len(wanted)]
        page.wait_for_function(f"([names, count]) => ({found})(names).length === count", arg=arguments)
    assert page.evaluate(found, patterns(writing)) == wanted, page.evaluate(USABLE)


def patterns(names: Sequence[str]) -> list[str]:
    """Return regular expressions for names that begin so."""
    return [f"^({name})" for name in names]


def open_menu(page: Page, name: str) -> None:
    """Open a menu by the name of its button."""
    page.get_by_role("button", name=name).first.click()
    expect(page.get_by_role("menu")).to_be_visible()


def test_a_run_and_what_belongs_to_it(person: tuple[str, Page], shown: Showcase) -> None:
    _role, page = person
    page.goto(f"/runs/{shown.running}")
    expect(page.get_by_role("heading", name="learning")).to_be_visible()
    expect(page.get_by_role("textbox", name="Notes")).to_be_visible()
    offers(person, "Stop run", "Pause", "Rename run", "Notes", "Launch run")
    open_menu(page, "Actions for learning")
    offers(person, "Change settings", "Run this again", "Launch again", "Move to project")
    expect(page.get_by_role("menuitem", name="Export run")).to_be_enabled()
    page.goto(f"/runs/{shown.finished}/checkpoints")
    expect(page.get_by_role("group", name="Table of checkpoints")).to_be_visible()
    offers(person, "Fork from")
    open_menu(page, "Actions for the checkpoint")
    offers(person, "Evaluate", "Calibrate", "Record replay", "Pin|Unpin", "Set alias")
    expect(page.get_by_role("menuitem", name="Download agent")).not_to_have_attribute("aria-disabled", "true")
    page.goto(f"/runs/{shown.finished}/evaluations")
    offers(person, "Evaluate checkpoint", "Cancel the evaluation", "Watch live")


def test_a_replay(person: tuple[str, Page], shown: Showcase) -> None:
    _role, page = person
    page.goto(f"/runs/{shown.finished}/replays?review=1")
    expect(page.get_by_role("slider", name="Moment of the replay")).to_be_visible()
    offers(person, "What if", "Play from here", "Pin$|Pinned$", r"Review \d+ decisions")
    expect(page.get_by_role("button", name="Download")).to_be_enabled()


def test_the_run_table_with_a_selection(person: tuple[str, Page]) -> None:
    _role, page = person
    page.goto("/?filter=state+%3D+finished")
    page.get_by_role("checkbox", name="Select seed 3").check()
    expect(page.get_by_role("region", name="Selected runs")).to_be_visible()
    offers(person, "Archive 1", "Tag 1", "Move 1", "Edit seed 3", "Import")
    page.get_by_role("checkbox", name="Select all runs").check()
    offers(person, r"Archive [1-9]", r"Tag [1-9]", r"Move [1-9]")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("menuitem", name="Best").click()
    page.get_by_role("button", name="View: Best").click()
    offers(person, "Save as", "Rename", "Delete")


def test_a_study_a_report_and_a_project(person: tuple[str, Page]) -> None:
    _role, page = person
    page.goto("/studies/1")
    expect(page.get_by_role("heading", name="Rates")).to_be_visible()
    offers(person, "Pause study", "Stop study", "Move to project", "Clone", "Add 5 new seeds")
    page.goto("/studies")
    expect(page.get_by_role("link", name="Rates")).to_be_visible()
    offers(person, "New study")
    page.goto("/reports/1")
    expect(page.get_by_role("heading", name="Findings")).to_be_visible()
    offers(person, "Edit", "Move to project", "Delete", "Share")
    page.goto("/reports")
    expect(page.get_by_role("link", name="Findings")).to_be_visible()
    offers(person, "New report")
    page.goto("/papers/a3c/figure-2")
    expect(page.get_by_role("heading", name="Figure 2").first).to_be_visible()
    offers(person, "Run at 1 %", "Run all")
    page.goto("/nowhere")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    offers(person, "Launch a run")
    page.goto("/projects/Main/board")
    expect(page.get_by_role("heading", name="Board", exact=True)).to_be_visible()
    offers(person, "Edit board", "Add chart")


def test_games_artifacts_and_alerts(person: tuple[str, Page], shown: Showcase) -> None:
    _role, page = person
    page.goto("/games/pong")
    expect(page.get_by_text("Ana's first games").first).to_be_visible()
    offers(person, "Launch a run", "Play", "Import start set", "Remove Ana's first games")
    page.goto(f"/artifacts/{shown.artifact}")
    open_menu(page, "Actions for")
    offers(person, "Set alias", "Delete version")
    page.goto("/alerts/rules")
    expect(page.get_by_text("200 in all environments")).to_be_visible()
    offers(person, "Remove 200", "All environments")


def test_only_administrators_change_a_project(person: tuple[str, Page]) -> None:
    _role, page = person
    page.goto("/projects/Main")
    expect(page.get_by_role("heading", name="Main", exact=True)).to_be_visible()
    usable = page.evaluate(USABLE)
    for name in ("Add text", "Edit text", "Actions for Main", "Add member", "Unpin"):
        assert name not in usable
    page.goto("/projects")
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="New project")).to_have_count(0)
