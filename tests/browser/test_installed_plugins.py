"""Plug-ins that pip installs: presets from the launch form learn, and everything still works after an uninstall."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from arcadia_workers.contract.plugins import trial
from tests.browser import plugin_pages
from tests.browser.plugin_pages import PluginRun
from tests.browser.plugin_pages import installation as installation
from tests.installation import REPOSITORY, Installation
from tests.plugin_packages import ENVIRONMENT, METHOD, Site, open_site

# Nightly, because test_plugins.py tests the same with packages from templates, without pip.
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1_800)]

EXAMPLES = ("arcadia-gae", "arcadia-minigrid")
# A preset of each package, with changed settings and the mean return that the last 100 episodes must reach.
PRESETS: dict[str, tuple[dict[str, object], float]] = {
    "maze-paac": ({}, 0.9),
    "toy-catch": ({}, 0.5),
    "minigrid-empty-paac": ({}, 0.8),
    "gae-cartpole": ({"total_steps": 150_000}, 100.0),
}


def sources(folder: Path) -> Iterator[Path]:
    """Create the packages of the templates, and copy the examples."""
    trial.create("method", METHOD, folder / METHOD)
    trial.create("environment", ENVIRONMENT, folder / ENVIRONMENT)
    yield from (folder / METHOD, folder / ENVIRONMENT)
    for name in EXAMPLES:
        yield shutil.copytree(REPOSITORY / "examples" / "plugins" / name, folder / name)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Yield a folder with the packages."""
    with open_site(tmp_path_factory.mktemp("packages") / "site") as site:
        site.pip_install(*sources(tmp_path_factory.mktemp("sources")))
        yield site


def test_plug_ins_learn_and_their_pages_outlive_them(page: Page, installation: Installation, site: Site) -> None:
    runs: list[PluginRun] = []
    for preset, (settings, goal) in PRESETS.items():
        run = plugin_pages.launch_preset(page, preset, **settings)
        assert installation.wait_for_state(run, "finished")["best_return"] >= goal, preset
        plugin_pages.watch_replay(page, run)
        evaluation = plugin_pages.evaluate(page, installation, run)
        plugin_pages.watch_live(page, installation, run)
        runs.append(PluginRun(run, evaluation, plugin_pages.start_study(page, installation, run)))
    # An open page would report that the backend is gone.
    page.goto("about:blank")
    with site.uninstalled():
        installation.restart()
        for each in runs:
            plugin_pages.check_pages_without_plugins(page, each, [other.run for other in runs if other != each])
