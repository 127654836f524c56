"""Everything that the README shows works with the examples, and no button of their pages leads to a refusal.

A button that cannot work is disabled and says why.
"""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, Response, expect

from tests.installation import Installation
from tests.workers.waiting import PATIENCE_SECONDS

# What these tabs offer depends on the files of the run, so they are walked for one run of each environment.
TABS_OF_FILES = ("", "replays", "checkpoints", "evaluations", "critic")
OTHER_TABS = ("curves", "lineage", "config", "system", "log")
# Buttons that delete, start a training or use files and the clipboard. Downloads are followed in another way.
LEFT_ALONE = re.compile(
    r"purge|delete|remove|archive|run this again|launch|continue from|fork|stop run|move to project|full ?screen|"
    r"export|download|copy|import|save (picture|figure)",
    re.IGNORECASE,
)
NAMES = """buttons => buttons.map(button =>
    button.ariaLabel || button.innerText.replace(/\\s+/g, " ") || button.title || "")"""
# The lower left corner of the page, where nothing is.
CORNER = (2, 898)
# Mantine's alerts and the errors of forms have the role.
REFUSALS = "[data-problem], [role=alert]"
SMALL_CALIBRATION = {"episodes": 1, "every": 1_000, "futures": 8, "horizon": 5, "measure_regret": False}


@pytest.fixture(scope="module")
def examples(installation: Installation) -> list[dict[str, Any]]:
    """Open the examples, and return one run of each environment whose agent can play."""
    installation.post("examples")
    return list(playing_runs(installation).values())


def playing_runs(installation: Installation) -> dict[str, dict[str, Any]]:
    """Return one run of each environment whose agent can play."""
    runs = [installation.run(run["id"]) for run in installation.read("runs?limit=100")["items"]]
    return {run["env"]: run for run in runs if run["actions"]["play"] is None}


def newest_replay(installation: Installation, run: dict[str, Any]) -> dict[str, Any]:
    """Return the newest replay with a video, which a newcomer sees first."""
    replays = [each for each in installation.read(f"runs/{run['id']}/replays") if each["file_id"] is not None]
    newest: dict[str, Any] = replays[-1]
    return newest


@pytest.mark.nightly
def test_a_newcomer_opens_the_examples_asks_what_if_and_watches_live(page: Page, installation: Installation) -> None:
    page.goto("/")
    page.get_by_role("button", name="Open examples").click()
    expect(page.get_by_role("heading", name="Welcome to Arcadia: agents to look at")).to_be_visible()
    for film in page.locator("video").all():
        film.scroll_into_view_if_needed()
        # Without its first picture, a video has no width.
        installation.wait_until(lambda film=film: film.evaluate("video => video.videoWidth") > 0)  # type: ignore[misc]

    found = playing_runs(installation)
    run = found.get("ALE/Pong-v5") or found["CartPole-v1"]
    page.goto(f"/runs/{run['id']}/replays")
    page.get_by_role("button", name="What if…").click()
    panel = page.get_by_role("region", name="What if")
    panel.get_by_role("textbox", name="Futures").fill("8")
    panel.get_by_role("textbox", name="Longest length").fill("10")
    panel.get_by_role("checkbox", name="Record videos").uncheck()
    panel.get_by_role("button", name="Simulate").click()
    expect(panel.get_by_text(re.compile(r"V = .* 8 futures average"))).to_be_visible()

    page.get_by_role("link", name="Watch live").click()
    stage = page.get_by_role("region", name="Live game")
    expect(stage.get_by_role("button", name="Pause game")).to_be_enabled()
    expect(stage).to_contain_text("Probability of each action")


@pytest.mark.nightly
def test_all_jobs_work_with_the_checkpoint_of_each_environment(
    installation: Installation, examples: list[dict[str, Any]]
) -> None:
    for run in examples:
        jobs = {
            "evaluations": {"checkpoint": "best", "episodes": 1},
            "recordings": {"checkpoint": "best", "seed": 3},
            "calibrations": {"checkpoint": "best", **SMALL_CALIBRATION},
        }
        for path, body in jobs.items():
            number = installation.post(f"runs/{run['id']}/{path}", body)["id"]
            wait_for_job(installation, f"{path}/{number}", f"{path} of {run['name']}")
        replay = newest_replay(installation, run)
        request = {"decision": 0, "futures": 8, "horizon": 5}
        futures = installation.post(f"replays/{replay['id']}/futures", request)["id"]
        wait_for_job(installation, f"futures/{futures}", f"What if of {run['name']}")
        if replay["actions"]["saliency"] is None:
            installation.post(f"replays/{replay['id']}/saliency")
            wait_for_job(installation, f"replays/{replay['id']}/saliency", f"saliency of {run['name']}")
        agent = installation.http.get(f"runs/{run['id']}/agent?checkpoint=best")
        assert (agent.status_code, agent.content[:2]) == (200, b"PK"), run["name"]


def wait_for_job(installation: Installation, path: str, what: str) -> None:
    """Wait until a job has ended, and check that it succeeded."""
    installation.wait_until(lambda: installation.read(path)["state"] in ("done", "failed"))
    ended = installation.read(path)
    assert ended["state"] == "done", (what, ended)


@pytest.mark.nightly
def test_a_fork_continues_from_the_weights_and_says_so(
    installation: Installation, examples: list[dict[str, Any]]
) -> None:
    for run in examples:
        total = installation.run(run["id"])["config"]["total_steps"]
        changes = {"overrides": {"total_steps": total + 10**9}, "checkpoint_id": "best"}
        fork = installation.post(f"runs/{run['id']}/fork", changes)["id"]
        begun = installation.run(fork)["parent"]["step"]
        installation.wait_until(lambda fork=fork, begun=begun: installation.run(fork)["step"] > begun)  # type: ignore[misc]
        said = [line["message"] for line in installation.read(f"runs/{fork}/log")["items"]]
        assert any("so the optimizer starts anew" in message for message in said), said
        installation.post(f"runs/{fork}/stop")
        installation.wait_for_state(fork, "stopped")


class Walk:
    """A walk over the buttons of pages. It fails at the first refusal, and names the button."""

    def __init__(self, page: Page) -> None:
        self._page, self._pending, self._refused = page, set[Request](), list[str]()
        # The buttons that were pressed on an earlier tab of the same run, such as those of its header.
        self.pressed: set[str] = set()
        page.on("request", self._count)
        page.on("requestfinished", self._forget)
        page.on("requestfailed", self._forget)
        page.on("response", self._judge)

    def press_every_button(self, path: str) -> int:
        """Press each button of a page and each item of its menus. Return how many."""
        names, count, pressed = self._open(path), 0, set[str]()
        url, known = self._page.url, self._refusals()
        for name, number in counted(names):
            if name in self.pressed or LEFT_ALONE.search(name):
                continue
            place = self._place(name, number)
            if place is None:
                place = self._find_again(path, name, number)
            button = self._buttons().nth(place)
            if not is_enabled(button):
                continue
            self._press(button, f"{name} of {path}", known)
            pressed.add(name)
            count += 1 + self._press_every_item(button, f"the menu {name} of {path}", known)
            self._close(url)
        self.pressed |= pressed
        return count

    def _find_again(self, path: str, name: str, number: int) -> int:
        """Open a page again, and wait for a button that was there at first. Return its place."""
        self._open(path)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (place := self._place(name, number)) is None:
            assert time.monotonic() < deadline, f"{name} of {path} is gone. There are: {self._names()}"
        return place

    def _press_every_item(self, button: Locator, what: str, known: list[str]) -> int:
        """Press each item of an open menu, if there is one. Return how many."""
        url, items, count = self._page.url, self._page.get_by_role("menuitem"), 0
        names = items.evaluate_all(NAMES)
        for place, name in enumerate(names):
            if LEFT_ALONE.search(name):
                continue
            if place:
                self._close(url)
                button.click()
            items.nth(place).wait_for()
            if is_enabled(items.nth(place)):
                self._press(items.nth(place), f"{name} in {what}", known)
                count += 1
        return count

    def _open(self, path: str) -> list[str]:
        """Open a page and wait until it has loaded. Return the names of its buttons."""
        self._page.goto(path)
        self._page.get_by_role("main").get_by_role("heading").first.wait_for()
        self._page.wait_for_load_state("networkidle")
        # A chart is drawn when it is in view, and its menu then has the name of its quantity.
        for menu in self._page.get_by_role("main").get_by_role("button", name="Menu of the chart").all():
            menu.scroll_into_view_if_needed()
            self._settle()
        self._settle()
        return self._names()

    def _place(self, name: str, number: int) -> int | None:
        """Return the place of a button by its name, and its number among those of the same name."""
        places = [place for place, found in enumerate(self._names()) if found == name]
        return places[number] if number < len(places) else None

    def _buttons(self) -> Locator:
        return self._page.get_by_role("main").get_by_role("button").locator("visible=true")

    def _close(self, url: str) -> None:
        """Close menus and dialogs. Open the page again if it was left, or if a dialog stays."""
        items = self._page.get_by_role("menuitem")
        self._page.keyboard.press("Escape")
        self._settle()
        if items.count():
            # A menu that was just opening did not have the focus yet. A click outside closes it too.
            self._page.mouse.click(*CORNER)
        expect(items).to_have_count(0)
        if self._page.url != url or self._page.get_by_role("dialog").locator("visible=true").count():
            self._open(url)

    def _names(self) -> list[str]:
        names: list[str] = self._buttons().evaluate_all(NAMES)
        return names

    def _press(self, button: Locator, what: str, known: list[str]) -> None:
        """Click, and check that no request and nothing on the page is refused."""
        button.click()
        self._settle()
        new = [refusal for refusal in self._refusals() if refusal not in known]
        assert not self._refused + new, (what, self._refused, new)

    def _refusals(self) -> list[str]:
        refusals: list[str] = self._page.locator(REFUSALS).locator("visible=true").all_inner_texts()
        return refusals

    def _settle(self) -> None:
        """Wait until the page has rendered, and all requests have their response."""
        for _ in range(2):
            self._page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            deadline = time.monotonic() + PATIENCE_SECONDS
            while self._pending:
                assert time.monotonic() < deadline, [request.url for request in self._pending]
                self._page.evaluate("() => new Promise(requestAnimationFrame)")

    def _count(self, request: Request) -> None:
        if request.resource_type in ("script", "fetch", "xhr", "document"):
            self._pending.add(request)

    def _forget(self, request: Request) -> None:
        self._pending.discard(request)

    def _judge(self, response: Response) -> None:
        if response.status >= 400:
            self._refused.append(f"{response.status} for {response.request.method} {response.url}")


@pytest.fixture
def walk(page: Page) -> Walk:
    """Return a walk over the buttons of pages."""
    return Walk(page)


@pytest.mark.nightly
def test_no_button_of_the_example_pages_leads_to_a_refusal(
    walk: Walk, page: Page, installation: Installation, examples: list[dict[str, Any]]
) -> None:
    (report,) = installation.read("reports")
    report_path = f"/reports/{report['id']}"
    assert walk.press_every_button(report_path) > 0
    links = follow_every_download(page, report_path)
    for run in examples:
        walk.pressed.clear()
        count = 0
        for tab in TABS_OF_FILES + (OTHER_TABS if run is examples[0] else ()):
            path = f"/runs/{run['id']}/{tab}".rstrip("/")
            count += walk.press_every_button(path)
            links += follow_every_download(page, path)
        assert count > 15, run["name"]
    assert links > 0


def follow_every_download(page: Page, path: str) -> int:
    """Read each file that a page offers. Return how many."""
    page.goto(path)
    page.get_by_role("main").get_by_role("heading").first.wait_for()
    page.wait_for_load_state("networkidle")
    count = 0
    for link in page.get_by_role("main").locator("a[download]").all():
        address = link.get_attribute("href") or ""
        if not address.startswith("data:"):
            answer = page.request.get(address)
            assert answer.ok, (path, address, answer.text())
            count += 1
    return count


def counted(names: list[str]) -> list[tuple[str, int]]:
    """Return each name with the number of equal ones before it."""
    return [(name, names[:place].count(name)) for place, name in enumerate(names)]


def is_enabled(element: Locator) -> bool:
    """Return False for a button that says why it is not possible."""
    enabled: bool = element.evaluate("each => !each.disabled && each.ariaDisabled !== 'true' && !each.dataset.disabled")
    return enabled
