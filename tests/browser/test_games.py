"""Evaluation of a run on the page of its game, in a browser."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.reported import installation_without_workers, open_api
from tests.factories import Api
from tests.installation import Installation

pytestmark = pytest.mark.nightly

AMIDAR = {"algorithm": "paac", "env": "ALE/Amidar-v5", "total_steps": 90_000}
# Between the published scores of Gorila and DQN.
MEAN = 1000.0


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers."""
    with installation_without_workers(tmp_path_factory.mktemp("games")) as installation:
        yield installation


@pytest.fixture
def api(installation: Installation) -> Iterator[Api]:
    """Yield an API client for the actions of users and workers."""
    with open_api(installation) as api:
        yield api


def test_a_run_evaluated_on_the_game_page_is_ranked_there(page: Page, api: Api) -> None:
    run, attempt = api.running(name="climber", config=AMIDAR)
    api.save(run, attempt, 2, 10_000)
    page.goto("/games/amidar")
    page.evaluate("window.sameDocument = true")
    no_player = page.get_by_role("status").filter(has_text="No worker for evaluations is connected")
    expect(no_player).to_have_css("border-left-width", "4px")
    page.get_by_role("button", name=f"Evaluate climber #{run}").click()
    waiting = page.get_by_role("region", name="Runs without a score").get_by_role("table")
    expect(waiting.get_by_text("No worker that takes jobs is connected")).to_be_visible()
    expect(waiting.get_by_role("link", name="Evaluation by no-op-5min at 10 k steps")).to_be_visible()

    api.play([MEAN] * 30, protocol="no-op-5min", env="ALE/Amidar-v5", mean=MEAN, interval=[990.0, 1010.0])

    table = page.get_by_role("region", name="No-op starts, 5 minutes")
    place = table.get_by_role("row").filter(has_text="1 run, so no interval")
    expect(place.get_by_role("cell").first).to_have_text("3")
    best = table.get_by_role("row").filter(has=page.get_by_role("link", name="climber"))
    expect(best).to_contain_text("1000990 to 1010")
    published = table.get_by_role("row").filter(has_text=re.compile("Gorila|DQN"))
    expect(published.get_by_role("cell").filter(has_text=re.compile("^[0-9]+$"))).to_contain_text(["2", "4"])
    assert page.evaluate("window.sameDocument")
