"""Browser steps for runs of plug-ins: replays, evaluations, live games, studies, and pages after an uninstall."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.installation import Installation
from tests.plugin_packages import Site

MISSING = re.compile("not installed or not allowed here")
TABS = ("overview", "curves", "replays", "live", "checkpoints", "evaluations", "lineage", "log", "config", "system")


@dataclass(frozen=True)
class PluginRun:
    """Numbers of a run of a plug-in, of its evaluation and of its study."""

    run: int
    evaluation: int
    study: int


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Iterator[Installation]:
    """Yield an installation that allows the packages."""
    with Installation(tmp_path_factory.mktemp("installation"), plugins=",".join(site.names)) as installation:
        installation.worker("one")
        yield installation


def number_in(page: Page, part: str) -> int:
    """Return the number after a part of the page's URL."""
    page.wait_for_url(re.compile(rf"/{part}/\d+"))
    found = re.search(rf"/{part}/(\d+)", page.url)
    assert found is not None
    return int(found[1])


def launch_preset(page: Page, preset: str, **settings: object) -> int:
    """Launch a preset from the form, and return the number of the run."""
    page.goto(f"/launch?preset={preset}")
    for name, value in settings.items():
        page.get_by_role("textbox", name=re.compile(rf"\b{name}$")).fill(str(value))
    page.get_by_role("button", name="Launch run", exact=True).last.click()
    return number_in(page, "runs")


def watch_replay(page: Page, run: int) -> None:
    """Play the replay of a run, with its values and probabilities."""
    page.goto(f"/runs/{run}/replays")
    video = page.locator("video").first
    video.wait_for()
    page.wait_for_function("video => video.currentTime > 0.1", arg=video.element_handle())
    expect(page.get_by_text("Value estimate").first).to_be_visible()
    expect(page.get_by_role("region", name="Probability of each action").get_by_role("listitem").first).to_be_visible()


def evaluate(page: Page, installation: Installation, run: int) -> int:
    """Evaluate the newest checkpoint in five episodes, and return the number of the evaluation."""
    page.goto(f"/runs/{run}/evaluations")
    page.get_by_role("button", name="Evaluate checkpoint").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Episodes", exact=True).last.fill("5")
    form.get_by_role("button", name="Evaluate", exact=True).click()
    row = page.get_by_role("group", name="Table of evaluations").get_by_role("row").nth(1)
    expect(row.get_by_text("Done", exact=True)).to_be_visible()
    (found,) = installation.read(f"runs/{run}/evaluations")["items"]
    assert found["episodes_total"] == 5
    return int(found["id"])


def watch_live(page: Page, installation: Installation, run: int) -> None:
    """Watch the agent play until the picture has changed."""
    page.goto(f"/runs/{run}")
    page.get_by_role("link", name="Watch live").click()
    stage = page.get_by_role("region", name="Live game")
    expect(stage.get_by_role("button", name="Pause")).to_be_enabled()
    expect(stage).to_contain_text("Probability of each action")
    picture = page.locator("canvas")
    before = picture.evaluate("canvas => canvas.toDataURL()")
    installation.wait_until(lambda: picture.evaluate("canvas => canvas.toDataURL()") != before)


def start_study(page: Page, installation: Installation, run: int) -> int:
    """Start a study with two seeds of a run's settings, watch it end, and return its number."""
    page.goto(f"/launch?like={run}")
    page.get_by_role("textbox", name=re.compile("total_steps$")).fill("1000")
    page.get_by_role("textbox", name=re.compile("seed$")).fill("1-2")
    page.get_by_role("button", name=re.compile("^Start study · 2 runs")).last.click()
    page.wait_for_url(re.compile("/compare"))
    study = int(installation.read("studies")["items"][0]["id"])
    page.goto(f"/studies/{study}")
    expect(page.get_by_text("2 runs: 2 finished")).to_be_visible()
    return study


def check_pages_without_plugins(page: Page, plugin_run: PluginRun, others: Sequence[int] = ()) -> None:
    """Check that all pages work after the plug-ins are removed, and that blocked actions show why."""
    run = f"/runs/{plugin_run.run}"
    for tab in TABS:
        page.goto(f"{run}/{tab}")
        expect(page.get_by_text(re.compile("^This run can only be read, because"))).to_be_visible()
        expect(page.get_by_role("tab", selected=True)).to_have_text(re.compile(tab, re.IGNORECASE))
        expect(page.get_by_role("tabpanel")).not_to_contain_text(re.compile("^Loading"))
    page.goto(run)
    check_blocked(page, "Watch live")
    page.get_by_role("button", name=re.compile("^Actions for")).click()
    menu = page.get_by_role("menu")
    expect(menu.get_by_text(MISSING)).to_be_visible()
    for name in ("Change settings…", "Run this again", "Launch again with…", "Download agent"):
        expect(menu.get_by_role("menuitem", name=name)).to_be_disabled()
    page.keyboard.press("Escape")
    page.goto(f"{run}/checkpoints")
    check_blocked(page, re.compile("^Fork from"))
    page.goto(f"{run}/evaluations")
    check_blocked(page, "Evaluate checkpoint")
    page.goto(f"{run}/evaluations/{plugin_run.evaluation}")
    expect(page.get_by_role("region", name="Episodes").get_by_role("row")).to_have_count(6)
    page.goto(f"{run}/live")
    expect(page.get_by_text("This agent cannot play here")).to_be_visible()
    page.goto(f"{run}/replays")
    page.locator("video").first.wait_for()
    expect(page.get_by_text("Value estimate").first).to_be_visible()

    page.goto(f"/launch?like={plugin_run.run}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    runs = [plugin_run.run, *others]
    for path, text in (
        ("/", f"#{plugin_run.run}"),
        ("/?charts=episode/return", "Curves of"),
        ("/?by=method", "Method"),
        (f"/compare?runs={','.join(map(str, runs))}", "Mean of last 100"),
        (f"/studies/{plugin_run.study}", "Finished"),
        ("/studies", "Studies"),
        ("/games", "Games"),
        ("/papers", "Asynchronous"),
        ("/papers/a3c/figure-2", "Figure 2"),
        ("/projects/Main", "Best agents"),
        ("/projects/Main/board", "Main"),
        (f"/embed?figure=%2Fapi%2Fv1%2Ffigures%2Fcurves%3Fruns%3D{plugin_run.run}", "Return per episode"),
        ("/workers", "It is not installed."),
        ("/launch", "Environment"),
        *((path, "") for path in ("/reports", "/aliases", "/alerts", "/wall")),
    ):
        page.goto(path)
        expect(page.get_by_role("heading", level=1).first).to_be_attached()
        expect(page.get_by_text(text).filter(visible=True).first).to_be_visible()


def check_blocked(page: Page, name: str | re.Pattern[str]) -> None:
    """Check that a button does nothing, and shows why."""
    button = page.get_by_role("button", name=name).first
    expect(button).to_have_attribute("aria-disabled", "true")
    button.hover()
    expect(page.get_by_role("tooltip").get_by_text(MISSING)).to_be_visible()
