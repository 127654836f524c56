"""Artifacts in the browser: from the run that made one to its files, aliases and download."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.backend.artifacts.conftest import ArtifactScript
from tests.browser.reported import installation_without_workers, open_api
from tests.factories import Api
from tests.installation import Installation


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("artifacts")) as installation:
        yield installation


@pytest.fixture(scope="module")
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users."""
    with open_api(installation) as api:
        yield api


@pytest.mark.nightly
def test_an_artifact_is_found_viewed_named_and_downloaded(page: Page, api: Api, tmp_path: Path) -> None:
    page.goto("/artifacts")
    expect(page.get_by_text("No artifacts yet")).to_be_visible()

    # The page follows the scripts.
    maker, user = (ArtifactScript(api.user, key=name) for name in ("maker", "user"))
    for script in (maker, user):
        script.begin(name=script.key).raise_for_status()
    for number in range(2):
        files = {"eval/scores.csv": f"episode,return\n0,2{number}\n".encode(), "weights.bin": bytes([number])}
        maker.log_artifact("agent", files, kind="model", metadata={"score": 20 + number})
    used = maker.resolve("agent:v0")
    user.log("artifact_use", version_id=used["id"], digest=used["digest"])
    page.get_by_role("link", name="maker").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+/artifacts$"))
    page.get_by_role("link", name="agent:v0").click()

    lineage = page.get_by_role("region", name="Lineage")
    expect(lineage.get_by_role("link", name=f"user (run {user.run_id})")).to_be_visible()
    page.get_by_role("link", name=re.compile("^eval")).click()
    page.get_by_role("link", name=re.compile("^scores.csv")).click()
    expect(page.get_by_role("cell", name="20")).to_be_visible()

    page.get_by_role("button", name="Actions for agent:v0").click()
    page.get_by_role("menuitem", name="Set alias…").click()
    page.get_by_role("combobox", name="Alias").fill("best")
    page.get_by_role("button", name="Set alias").click()
    expect(page.get_by_text("agent:best is now v0.")).to_be_visible()
    expect(page.get_by_role("navigation", name="Versions").get_by_text("best")).to_be_visible()

    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).click()
    download.value.save_as(tmp_path / "agent.zip")
    with zipfile.ZipFile(tmp_path / "agent.zip") as archive:
        assert archive.read("weights.bin") == b"\0"
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Artifacts").click()
    expect(page.get_by_role("link", name="agent", exact=True)).to_be_visible()
