"""Packages from templates in the browser: launched, replayed and removed. A faulty one is reported."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser import plugin_pages
from tests.browser.plugin_pages import PluginRun
from tests.browser.plugin_pages import installation as installation
from tests.installation import Installation
from tests.plugin_packages import ENVIRONMENT, METHOD, Site, open_site

TOY = {"algorithm": "toy", "env": "Maze/Corridor-v0", "total_steps": 2_000, "num_envs": 4}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield a folder with two packages from templates and a faulty one."""
    with open_site(tmp_path_factory.mktemp("packages") / "site") as site:
        site.install_template("environment", ENVIRONMENT)
        site.install_template("method", METHOD)
        site.install("faulty", "raise ValueError('no luck')")
        yield site


@pytest.mark.nightly
def test_a_plug_in_is_launched_from_the_form(page: Page, installation: Installation) -> None:
    page.goto("/launch")
    page.get_by_role("searchbox", name="Search environments").fill("Corridor")
    page.get_by_role("searchbox", name="Search environments").press("Enter")
    page.get_by_role("radio", name=re.compile("^Toy")).check(force=True)
    summary = page.get_by_role("region", name="Summary")
    expect(summary).to_contain_text("Toy on Corridor")
    expect(page.get_by_text("Weight of the squared error of V relative to the policy loss").first).to_be_visible()
    page.get_by_role("textbox", name=re.compile("total_steps$")).fill("2000")
    page.get_by_role("button", name="Launch run", exact=True).last.click()
    run = plugin_pages.number_in(page, "runs")
    expect(page.get_by_text("Finished").first).to_be_visible()
    assert installation.run(run)["versions"][METHOD] == "0.1.0"
    installation.wait_for_replay(run)
    page.goto(f"/runs/{run}/replays")
    expect(page.locator("video").first).to_be_attached()

    page.goto("/workers")
    expect(page.get_by_text(f"plug-in {METHOD} 0.1.0")).to_be_visible()
    expect(page.get_by_text("faulty:PARTS cannot be imported: ValueError: no luck").last).to_be_visible()


@pytest.mark.nightly
def test_pages_work_after_plug_ins_are_uninstalled(page: Page, installation: Installation, site: Site) -> None:
    study = {"name": "Seeds", "config": TOY, "axes": [], "seeds": 1, "total_steps": 2_000, "confirm_steps": 2_000}
    started = installation.post("studies", study)["id"]
    installation.wait_until(lambda: installation.read(f"studies/{started}")["state"] == "finished")
    (run,) = (row["id"] for row in installation.read(f"runs?study={started}")["items"])
    evaluation = installation.post(f"runs/{run}/evaluations", {"episodes": 5})["id"]
    installation.wait_until(lambda: installation.read(f"evaluations/{evaluation}")["state"] == "done")
    with site.uninstalled():
        installation.restart()
        plugin_pages.check_pages_without_plugins(page, PluginRun(run, evaluation, started))
    # An open page would report that the backend is gone.
    page.goto("about:blank")
    installation.restart()
