"""Everything that the README shows works with the examples, and no button of their pages leads to a refusal.

The fixture `page` fails a test after an answer with an error, because the browser's console shows it.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.installation import Installation

TABS = ("", "curves", "replays", "checkpoints", "evaluations", "critic", "lineage", "config", "system", "log")
# Buttons that delete, start a training, leave the page or open a file dialog. Downloads are followed in another way.
LEFT_ALONE = re.compile(
    r"purge|delete|remove|archive|run this again|launch|continue from|fork|stop|pause|move to project|full ?screen|"
    r"export|download|copy|import",
    re.IGNORECASE,
)
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


@pytest.mark.nightly
def test_no_button_of_the_example_pages_leads_to_a_refusal(
    page: Page, installation: Installation, examples: list[dict[str, Any]]
) -> None:
    (report,) = installation.read("reports")
    paths = [f"/runs/{run['id']}/{tab}".rstrip("/") for run in examples for tab in TABS]
    for path in [*paths, f"/reports/{report['id']}"]:
        press_every_button(page, path)
        follow_every_download(page, path)


def press_every_button(page: Page, path: str) -> None:
    """Press each button of a page and each item of its menus. Open the page again before each."""
    buttons = open_page(page, path)
    for place in range(buttons.count()):
        button = open_page(page, path).nth(place)
        if not button.count() or LEFT_ALONE.search(name_of(button)) or not is_enabled(button):
            continue
        press(page, button, f"{name_of(button)} of {path}")
        items = page.get_by_role("menuitem")
        for item in range(items.count()):
            open_page(page, path).nth(place).click()
            chosen = items.nth(item)
            chosen.wait_for()
            if not LEFT_ALONE.search(name_of(chosen)) and is_enabled(chosen):
                press(page, chosen, f"{name_of(chosen)} in a menu of {path}")


def open_page(page: Page, path: str) -> Locator:
    """Open a page and wait until it has loaded. Return its buttons."""
    page.goto(path)
    main = page.get_by_role("main")
    main.get_by_role("heading").first.wait_for()
    page.wait_for_load_state("networkidle")
    return main.get_by_role("button").locator("visible=true")


def press(page: Page, button: Locator, what: str) -> None:
    """Click, and check that the page shows no error."""
    button.click()
    page.wait_for_function("() => document.querySelector('[data-loading=true]') === null")
    assert page.locator("[data-problem]").count() == 0, f"{what}: {page.locator('[data-problem]').first.inner_text()}"


def follow_every_download(page: Page, path: str) -> None:
    """Read each file that a page offers."""
    open_page(page, path)
    for link in page.get_by_role("main").locator("a[download]").all():
        address = link.get_attribute("href") or ""
        if not address.startswith("data:"):
            answer = page.request.get(address)
            assert answer.ok, (path, address, answer.text())


def name_of(element: Locator) -> str:
    """Return the name of a button or a menu item."""
    name: str = element.evaluate("element => element.ariaLabel || element.innerText || element.title || ''")
    return name


def is_enabled(element: Locator) -> bool:
    """Return False for a button that says why it is not possible."""
    enabled: bool = element.evaluate("each => !each.disabled && !each.ariaDisabled && !each.dataset.disabled")
    return enabled
