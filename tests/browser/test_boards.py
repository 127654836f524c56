"""Boards in the browser: arrange charts, follow runs, and show a chart in a frame."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.chromium import open_context
from tests.factories import CARTPOLE, Api, metrics
from tests.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("boards")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


def train(api: Api, rate: float) -> int:
    """Train a run with forty episodes."""
    run_id, attempt = api.running(config=CARTPOLE | {"learning_rate": rate})
    sent = [metrics(seq, 10 * seq, {"train/entropy": 1 / seq}, returns=[float(seq)]) for seq in range(2, 42)]
    api.send(run_id, attempt, *sent).raise_for_status()
    api.release(run_id, attempt, "finished")
    return run_id


@pytest.mark.nightly
def test_a_board_is_arranged_saved_and_embedded(page: Page, browser: Browser, api: Api) -> None:
    train(api, 0.001)
    page.goto("/projects/Main")
    page.get_by_role("link", name="Board").click()
    expect(page.get_by_text("This board has no charts yet")).to_be_visible()
    page.get_by_role("button", name="Begin with suggested charts").click()
    points = page.get_by_role("region", name="One point per run")
    expect(points.locator(".scatterlayer .point")).to_have_count(1)

    # A new run appears in the charts whose filter selects it.
    train(api, 0.01)
    expect(points.locator(".scatterlayer .point")).to_have_count(2)

    page.get_by_role("button", name="Edit board").click()
    page.get_by_role("button", name="Edit chart One point per run").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Title").fill("Rates")
    dialog.get_by_role("button", name="Save chart").click()
    corner = page.get_by_role("button", name=re.compile("^Resize Rates"))
    corner.press("ArrowRight")
    expect(corner).to_have_accessible_name(re.compile("7 of 12 columns"))
    page.get_by_role("button", name="Actions for Rates").click()
    page.get_by_role("menuitem", name="Move earlier").click()
    expect(page.get_by_role("region").first).to_have_accessible_name("Rates")

    # Another page shows the saved board, and its changes arrive at the first one.
    other = open_context(browser, base_url=page.url.split("/projects")[0]).new_page()
    other.goto("/projects/Main/board")
    expect(other.get_by_role("region").first).to_have_accessible_name("Rates")
    other.get_by_role("button", name="Edit board").click()
    other.get_by_role("button", name="Actions for Rates").click()
    other.get_by_role("menuitem", name="Remove").click()
    expect(page.get_by_role("region", name="Rates")).to_have_count(0)
    other.context.close()

    panels = api.user.get("/api/v1/projects/1/board").json()["panels"]
    source = f"/embed/1/{panels[0]['key']}?theme=dark"
    # Another page of the same origin, without charts and with an icon.
    page.goto("/embed")
    expect(page.get_by_text("This address has no chart.")).to_be_visible()
    icon = '<link rel="icon" href="data:,">'
    page.set_content(f'{icon}<iframe src="{source}" width="720" height="420"></iframe>')
    frame = page.frame_locator("iframe")
    expect(frame.locator(".scatterlayer .trace").first).to_be_visible()
    expect(frame.get_by_role("button")).to_have_count(0)
    expect(frame.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


def drag_across(page: Page, plot: Locator) -> None:
    """Drag over the middle of a plot. Charts that are drawn later may move it, so hover until it stands still."""
    plot.hover()
    box = plot.bounding_box()
    assert box is not None
    plot.hover(position={"x": box["width"] * 0.3, "y": box["height"] / 2})
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()


@pytest.mark.nightly
def test_charts_of_a_board_zoom_together(page: Page, api: Api) -> None:
    run_id = train(api, 0.001)
    figures = {
        "Return": "curves?smoothing=0",
        "Seeds": "percentiles?smoothing=0",
        "Points": "scatter?x=id",
    }
    panels = [
        {"key": title.lower(), "title": title, "address": f"/api/v1/figures/{figure}", "filter": ""}
        for title, figure in figures.items()
    ]
    project = api.user.post("/api/v1/projects", json={"name": "Zoomed"}).json()["id"]
    api.user.post(f"/api/v1/projects/{project}/items", json={"runs": [run_id]}).raise_for_status()
    saved = api.user.put(f"/api/v1/projects/{project}/board", json={"version": 0, "panels": panels})
    saved.raise_for_status()
    page.goto("/projects/Zoomed/board")
    plot = page.get_by_role("region", name="Return").locator(".nsewdrag")
    for title in figures:
        expect(page.get_by_role("region", name=title).locator(".scatterlayer .trace").first).to_be_attached()
    drag_across(page, plot)
    expect(page).to_have_url(re.compile(r"zoom-step="))
    expect(page.get_by_role("button", name="Show all")).to_have_count(2)

    # A reload keeps the zoom, and a hovered position is shown in the other chart with the same axis.
    page.reload()
    expect(page.get_by_role("button", name="Show all")).to_have_count(2)
    for title in figures:
        expect(page.get_by_role("region", name=title).locator(".scatterlayer .trace").first).to_be_attached()
    plot.hover()
    expect(page.get_by_role("region", name="Seeds").locator(".hoverlayer .spikeline").first).to_be_attached()
    expect(page.get_by_role("region", name="Points").locator(".hoverlayer > *")).to_have_count(0)
