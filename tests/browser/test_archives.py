"""Archive files in a browser: runs are exported from the list, and imported by button and by drop."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.factories import Api, metrics
from tests.installation import Installation

# Drops a file on the page, as a file manager does.
DROP = """([selector, name, content]) => {
    const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([bytes], name))
    for (const type of ['dragover', 'drop'])
        document.querySelector(selector).dispatchEvent(
            new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}))
}"""


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("archives")) as installation:
        yield installation


@pytest.fixture
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client."""
    with open_api(installation) as api:
        yield api


def finish(api: Api, name: str) -> int:
    """Create a finished run with a point."""
    run, attempt = api.running(name=name)
    api.send(run, attempt, metrics(2, 10, returns=[1.5])).raise_for_status()
    assert api.release(run, attempt, "finished").is_success
    return run


def test_selected_runs_are_exported_and_imported_by_button_and_drop(page: Page, api: Api, tmp_path: Path) -> None:
    runs = [finish(api, name) for name in ("Left", "Right")]
    page.goto("/")
    for name in ("Left", "Right"):
        page.get_by_role("checkbox", name=name).check()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export 2").click()
    assert download.value.suggested_filename == "2-runs.arcadia"
    download.value.save_as(tmp_path / "both.arcadia")
    for run in runs:
        api.user.delete(f"/api/v1/runs/{run}").raise_for_status()

    page.goto("/")
    expect(page.get_by_role("heading", name="Start your first run")).to_be_visible()
    page.get_by_label("Archive and agent files").set_input_files(tmp_path / "both.arcadia")
    expect(page.get_by_text("Imported 2 runs from both.arcadia")).to_be_visible()
    expect(page.get_by_role("link", name="Left")).to_be_visible()
    expect(page.get_by_role("link", name="Right")).to_be_visible()

    content = base64.b64encode((tmp_path / "both.arcadia").read_bytes()).decode()
    page.evaluate(DROP, ["h1", "again.arcadia", content])
    expect(page.get_by_text("2 runs of again.arcadia are already here")).to_be_visible()
    assert api.user.get("/api/v1/runs").json()["total"] == 2


@pytest.mark.nightly
def test_a_new_installation_opens_the_examples(page: Page, api: Api) -> None:
    for run in api.user.get("/api/v1/runs").json()["items"]:
        api.user.delete(f"/api/v1/runs/{run['id']}").raise_for_status()
    page.goto("/")
    page.get_by_role("button", name="Open examples").click()
    expect(page.get_by_role("heading", name="Welcome to Arcadia: agents to look at")).to_be_visible()
    expect(page.locator(".js-plotly-plot .scatterlayer .trace").first).to_be_visible()
    expect(page.locator("video").first).to_be_attached()
    expect(page.get_by_role("heading", name="Evaluations")).to_be_visible()

    page.get_by_role("link", name="Runs", exact=True).click()
    for name in ("PAAC on CartPole", "GA3C on CartPole"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    page.get_by_role("link", name="Compare 2").click()
    expect(page.locator(".js-plotly-plot .scatterlayer .trace").first).to_be_visible()
