"""Accessibility of the pages by the rules of axe, in light and dark, wide and narrow. No page scrolls sideways.

The rules are those of WCAG 2.2 up to AA, and axe's best practices: headings in order, landmarks around all content.
"""

import re
from collections.abc import Callable, Iterator
from typing import Literal
from zlib import crc32

import pytest
from playwright.sync_api import Browser, Page, Request, Route, ViewportSize, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.browser.showcase import Showcase, fill
from tests.chromium import open_context
from tests.installation import REPOSITORY, Installation
from tests.workers.waiting import wait_until

AXE = REPOSITORY / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Rules whose results depend on the color scheme.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
USERS_TOKEN = "token-of-the-users"
SIZES: list[ViewportSize] = [{"width": 1440, "height": 900}, {"width": 390, "height": 844}]
SCHEMES: list[Literal["light", "dark"]] = ["light", "dark"]

# Returns one line per violation: the rule, the element and the reason.
AXE_SCRIPT = """async ([rules, without]) => (await axe.run({
    runOnly: rules, resultTypes: ['violations'], rules: without ? {[without]: {enabled: false}} : {}
})).violations.flatMap(rule => rule.nodes.map(
    node => `${rule.id}: ${node.target.join(' ')} — ${node.failureSummary.replaceAll('\\n', ' ')}`))"""

# Returns how far the page is wider than the window.
BEYOND_SCRIPT = "() => document.documentElement.scrollWidth - window.innerWidth"

# Returns the color scheme by the page's background.
SCHEME_SCRIPT = """() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g)[0] < 128 ? 'dark' : 'light'"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers that requires a sign-in."""
    with installation_without_workers(tmp_path_factory.mktemp("shown"), users_token=USERS_TOKEN) as installation:
        yield installation


@pytest.fixture(scope="module")
def signed_out(browser: Browser, installation: Installation) -> Iterator[Page]:
    """Open a page without a sign-in."""
    context = open_context(browser, base_url=f"http://127.0.0.1:{installation.port}", reduced_motion="reduce")
    # Init scripts run even if the page's policy blocks other scripts.
    context.add_init_script(path=AXE)
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def loading(signed_out: Page) -> set[Request]:
    """Return the code that the page is loading, such as that of the cards of runs on a narrow screen."""
    pending: set[Request] = set()
    signed_out.on("request", lambda request: pending.add(request) if request.resource_type == "script" else None)
    signed_out.on("requestfinished", lambda request: pending.discard(request))
    signed_out.on("requestfailed", lambda request: pending.discard(request))
    return pending


@pytest.fixture(scope="module")
def shown(signed_out: Page) -> Page:
    """Sign in."""
    answer = signed_out.request.post("/api/v1/session", data={"token": USERS_TOKEN})
    assert answer.ok
    return signed_out


@pytest.fixture(scope="module")
def showcase(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Showcase]:
    """Fill the installation with runs of every kind."""
    with open_api(installation, users_token=USERS_TOKEN) as api:
        yield fill(api, tmp_path_factory.mktemp("replays"))


Check = Callable[..., None]


@pytest.fixture
def check(request: pytest.FixtureRequest, loading: set[Request]) -> Check:
    """Return a function that fails with a page's violations.

    Half of the required tests check wide, light pages. The other half check narrow, dark pages. The full test run
    checks every combination. It checks the second scheme of a size only by the color rules.
    """
    wide, narrow = SIZES
    light, dark = SCHEMES
    views = [(wide, light, RULES), (narrow, dark, RULES)]
    if request.config.option.required:
        views = [views[crc32(request.node.name.encode()) % 2]]
    else:
        views += [(wide, dark, COLOR_RULES), (narrow, light, COLOR_RULES)]

    def check(page: Page, *, without: str = "") -> None:
        found: list[str] = []
        for size, scheme, rules in views:
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme)
            settle(page, loading)
            assert page.evaluate(SCHEME_SCRIPT) == scheme
            found += [f"{size['width']} px, {scheme}: {each}" for each in page.evaluate(AXE_SCRIPT, [rules, without])]
            if beyond := page.evaluate(BEYOND_SCRIPT):
                found.append(f"{size['width']} px: the page scrolls sideways by {beyond} px")
        assert not found, "\n".join(found)

    return check


def settle(page: Page, loading: set[Request]) -> None:
    """Wait until the page has drawn its changes, with the code that they need."""
    draw = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(draw)
    wait_until(lambda: page.evaluate(draw) or not loading)
    page.evaluate(draw)


def open_page(page: Page, path: str, ready: str) -> None:
    """Open a page and wait for a text that appears with its data."""
    page.set_viewport_size(SIZES[0])
    page.goto(path)
    expect(page.get_by_text(re.compile(ready)).filter(visible=True).first).to_be_visible()


def test_signing_in(check: Check, signed_out: Page) -> None:
    open_page(signed_out, "/", "Enter the server")
    check(signed_out)
    signed_out.get_by_label("Access token").first.fill("a guess")
    signed_out.get_by_role("button", name="Sign in").click()
    expect(signed_out.get_by_text("Wrong token")).to_be_visible()
    check(signed_out)


@pytest.mark.required_cases(3)
@pytest.mark.parametrize(
    ("path", "ready"),
    [
        ("/", "PAAC learns CartPole"),
        ("/workers", "No workers connected"),
        ("/compare", "Choose runs"),
        ("/games", "No games with runs yet"),
        ("/games/alien", "Published scores"),
        ("/studies", "No studies yet"),
        ("/launch?study=new", "Start study"),
        ("/reports", "No reports yet"),
        ("/alerts", "No alerts yet"),
        ("/projects", "Create a project to separate work"),
        ("/aliases", "No aliases yet"),
        ("/artifacts", "No artifacts yet"),
        ("/usage", "No use in this time"),
        ("/wall", "No runs are training"),
        # This is the last one, because afterwards the other pages show only Main.
        ("/projects/Main", "This project is empty"),
    ],
)
def test_a_page_without_runs(check: Check, shown: Page, path: str, ready: str) -> None:
    open_page(shown, path, ready)
    check(shown)


PAGES: dict[str, tuple[str, str]] = {
    "the list": ("/", "waits for a worker"),
    "charts beside the list": ("/?charts=episode/return", "Curves of"),
    "a group of runs": ("/?by=method", "PAAC"),
    "no match": ("/?text=nothing", "No matching runs"),
    "launching": ("/launch", "Environment"),
    "an overview": ("/runs/{finished}", "Newest replay"),
    "curves": ("/runs/{finished}/curves", "Policy entropy"),
    "replays": ("/runs/{finished}/replays", "Value estimate"),
    "checkpoints": ("/runs/{finished}/checkpoints", "by evaluation"),
    "evaluations": ("/runs/{finished}/evaluations", "12 of 30 episodes"),
    "an evaluation": ("/runs/{finished}/evaluations/{evaluation}", "Half of the episodes"),
    "the critic": ("/runs/{finished}/critic", "too high on average"),
    "a calibration": ("/runs/{finished}/critic/{calibration}", "Worst moments"),
    "no such calibration": ("/runs/{finished}/critic/4000", "There is no calibration 4000"),
    "no such evaluation": ("/runs/{finished}/evaluations/4000", "There is no evaluation 4000"),
    "a run without evaluations": ("/runs/{running}/evaluations", "No evaluations yet"),
    "a live game that waits": ("/runs/{finished}/live", "The game has not started yet"),
    "no such game of a replay": ("/replays/4000/play/4000", "There is no live game 4000"),
    "the wall": ("/wall", "runs? training"),
    "the log": ("/runs/{finished}/log", "Training on 2 cores"),
    "a configuration": ("/runs/{finished}/config", "Learning rate"),
    "the system": ("/runs/{finished}/system", "Memory"),
    "a failed run": ("/runs/{failed}", "Traceback"),
    "a running run": ("/runs/{running}", "Stop run"),
    "a distributed run": ("/runs/{distributed}", "3 roles on 2 hosts"),
    "a fork": ("/runs/{fork}", "from run"),
    "a reported run": ("/runs/{reported}", "project carts"),
    "curves of a reported run": ("/runs/{reported}/curves", "Loss, mean"),
    "media": ("/runs/{reported}/media", "The cart"),
    "artifacts": ("/artifacts?project=", "Newest version"),
    "an artifact": ("/artifacts/{artifact}?file=scores.csv", "return"),
    "artifacts of a run": ("/runs/{reported}/artifacts", "Made by this run"),
    "the configuration of a reported run": ("/runs/{reported}/config", "arcadia.init"),
    "a comparison": ("/compare?runs={finished},{running},{fork}", "Mean of last 100"),
    "the games": ("/games", "first in Pong"),
    "games without runs": ("/games?all=true", "Zaxxon"),
    "a game": ("/games/pong", "Ana's first games"),
    "no such game": ("/games/pongg", "Did you mean pong"),
    "the lineage of a run": ("/runs/{finished}/lineage", "trained from scratch"),
    "the workers": ("/workers", "NVIDIA H200"),
    "the alerts": ("/alerts", "finished"),
    "the rules of alerts": ("/alerts/rules", "minutes without a new point"),
    "the channels of alerts": ("/alerts/channels", "private address"),
    "the reference": ("/api/docs", "The API of Arcadia"),
    "the projects": ("/projects", "Last activity"),
    "a project": ("/projects/carts", "Best agents"),
    "a board without charts": ("/projects/carts/board", "This board has no charts yet"),
    "an embed": ("/embed?figure=%2Fapi%2Fv1%2Ffigures%2Fcurves%3Fruns%3D{finished}", "Return per episode"),
    "no such project": ("/projects/nothing", "There is no project"),
    "runs of no project": ("/?project=nothing", "It may have been renamed"),
    "the papers": ("/papers", "Asynchronous"),
    "a paper": ("/papers/gorila", "Full runs"),
    "a paper's table": ("/papers/gorila/table-4", "table 1"),
    "no such table": ("/papers/gorila/table-40", "table-40"),
    "the studies": ("/studies", "Studies"),
    "no such study": ("/studies/4000", "There is no study 4000"),
    "no such report": ("/reports/4000", "There is no report 4000"),
    "no such page": ("/nothing/here", "Page not found"),
    "no such run": ("/runs/4000", "There is no run 4000"),
}


# Variants of other pages, and the largest page.
NIGHTLY_PAGES = {
    "no match",
    "no such evaluation",
    "no such calibration",
    "a run without evaluations",
    "a live game that waits",
    "curves of a reported run",
    "the configuration of a reported run",
    "games without runs",
    "no such game",
    "the reference",
    "no such table",
    "no such study",
    "no such report",
    "no such page",
    "no such project",
    "runs of no project",
}


@pytest.mark.required_cases(8)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in NIGHTLY_PAGES else []) for name in PAGES]
)
def test_a_page_with_runs(check: Check, shown: Page, showcase: Showcase, name: str) -> None:
    path, ready = PAGES[name]
    open_page(shown, path.format(**vars(showcase)), ready)
    check(shown)


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(
    "path",
    [
        "/runs/1",
        *(
            pytest.param(path, marks=pytest.mark.nightly)
            for path in ("/studies/1", "/reports/1", "/games/pong", "/papers/gorila", "/papers/gorila/table-4")
        ),
    ],
)
def test_a_loading_page_has_a_heading(check: Check, shown: Page, path: str) -> None:
    pattern = re.compile(rf"/api/v1{path}(\?|$)")
    shown.route(pattern, lambda _: None)
    try:
        shown.goto(path)
        expect(shown.get_by_role("heading", level=1)).to_be_visible()
        check(shown)
    finally:
        shown.goto("about:blank")
        shown.unroute(pattern)


@pytest.mark.nightly
@pytest.mark.usefixtures("showcase")
def test_games_without_scores(check: Check, shown: Page) -> None:
    """The note on the games page has a link that must be readable in both schemes."""

    def without_scores(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json=answer.json() | {"averages": []})

    pattern = re.compile(r"/api/v1/games(\?|$)")
    shown.route(pattern, without_scores)
    try:
        open_page(shown, "/games?project=", "No scores yet")
        check(shown)
    finally:
        shown.unroute(pattern)


def open_menu_of(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.finished}")
    page.get_by_role("button", name=re.compile("^Actions for")).click()


def open_fork(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.finished}/checkpoints")
    page.get_by_role("button", name=re.compile("^Fork")).first.click()
    expect(page.get_by_role("button", name="Launch fork")).to_be_visible()


def open_evaluating(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.finished}/evaluations")
    page.get_by_role("button", name="Evaluate checkpoint").click()
    expect(page.get_by_role("button", name="Evaluate", exact=True)).to_be_visible()


def open_import_of_start_points(page: Page, _: Showcase) -> None:
    page.goto("/games/pong")
    page.get_by_role("button", name="Import start set").click()
    expect(page.get_by_role("dialog").get_by_label("Name")).to_be_visible()


def open_suite(page: Page, _: Showcase) -> None:
    page.goto("/games")
    page.get_by_role("button", name="Run a suite").click()
    expect(page.get_by_role("dialog").get_by_text(re.compile("5 runs, 50 M steps"))).to_be_visible()


def open_removal_of_evaluation(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.finished}/evaluations/{showcase.evaluation}")
    page.get_by_role("button", name=re.compile("^Actions for the evaluation")).click()
    page.get_by_role("menuitem", name=re.compile("^Remove")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_purge(page: Page, showcase: Showcase) -> None:
    open_menu_of(page, showcase)
    page.get_by_role("menuitem", name=re.compile("^Purge")).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_stop(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.running}")
    page.get_by_role("button", name="Stop run").click()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_be_visible()


def open_shortcuts(page: Page, _: Showcase) -> None:
    page.goto("/")
    page.get_by_role("button", name="Keyboard shortcuts").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def open_wrong_value(page: Page, _: Showcase) -> None:
    page.goto("/launch")
    page.get_by_role("textbox", name=re.compile("num_envs$")).fill("0")
    page.get_by_role("button", name="Launch run", exact=True).last.click()
    expect(page.locator("[aria-invalid=true]").first).to_be_visible()


def open_new_channel(page: Page, _: Showcase) -> None:
    page.goto("/alerts/channels")
    page.get_by_role("button", name="Add channel").click()
    expect(page.get_by_role("dialog").get_by_label("Webhook address")).to_be_visible()


def open_selection(page: Page, _: Showcase) -> None:
    page.goto("/?project=")
    page.get_by_role("checkbox", name=re.compile("waits for a worker")).check()
    page.get_by_role("button", name=re.compile("^State")).click()


def open_what_if(page: Page, showcase: Showcase) -> None:
    page.goto(f"/runs/{showcase.finished}/replays")
    page.get_by_role("button", name="What if…").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_text("Sequence", exact=True).click()
    panel.get_by_role("button", name="Add", exact=True).click()
    expect(panel.get_by_role("list", name="Sequence")).to_be_visible()


OPENED = [
    open_menu_of,
    open_fork,
    open_evaluating,
    open_import_of_start_points,
    open_suite,
    open_removal_of_evaluation,
    open_purge,
    open_stop,
    open_shortcuts,
    open_wrong_value,
    open_new_channel,
    open_selection,
    open_what_if,
]


@pytest.mark.required_cases(3)
@pytest.mark.parametrize("opened", OPENED)
def test_menus_and_dialogs(
    check: Check, shown: Page, showcase: Showcase, opened: Callable[[Page, Showcase], None]
) -> None:
    shown.set_viewport_size(SIZES[0])
    opened(shown, showcase)
    # Menus and dialogs are at the end of the document, outside the landmarks, and have the focus.
    check(shown, without="region")
