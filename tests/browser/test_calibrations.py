"""Calibrations in the browser: requested, watched, read, and opened at their worst moment."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.installation import Installation

# Nightly, because tests/backend/calibrations and the tests of the page cover each side separately.
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def trained_run(installation: Installation) -> int:
    """Train a run whose schedule calibrates its checkpoints, and return its number."""
    run = installation.launch(total_steps=12_000, calibrate_every_steps=4_000)
    installation.wait_for_state(run, "finished")
    installation.wait_until(lambda: bool(installation.read(f"runs/{run}/calibrations")))
    return run


def test_a_critic_is_calibrated_and_its_worst_moment_opens(
    page: Page, installation: Installation, trained_run: int
) -> None:
    page.goto(f"/runs/{trained_run}/checkpoints")
    page.get_by_role("button", name=re.compile("^Actions for the checkpoint")).first.click()
    page.get_by_role("menuitem", name="Calibrate critic").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Futures", exact=True).fill("8")
    form.get_by_label("Seed").fill("7")
    form.get_by_role("button", name="Calibrate", exact=True).click()

    page.wait_for_url(re.compile(rf"/runs/{trained_run}/critic/\d+$"))
    number = int(page.url.rsplit("/", 1)[1])
    result = page.get_by_role("region", name="Result")
    # With few episodes, the interval may contain 0.
    bias = re.compile("^(The critic is|No bias of the critic is shown: it is) .* on average")
    expect(result.get_by_text(bias)).to_be_visible()
    found = installation.read(f"calibrations/{number}")
    assert (found["state"], found["seed"], found["futures"]) == ("done", 7, 8)
    plot = page.get_by_role("img", name=re.compile("^Mean return of the futures by predicted value"))
    plot.wait_for()
    drawn = plot.evaluate("plot => plot.data.find(trace => trace.uid === 'moments').x")
    assert len(drawn) == found["moments_total"]

    worst = found["document"]["worst"][0]
    moment = f"decision {worst['decision'] + 1} of episode {worst['episode']}"
    page.get_by_role("button", name=f"Record {moment}").click()
    page.get_by_role("button", name=f"Watch {moment}").click()
    page.wait_for_url(re.compile(rf"/runs/{trained_run}/replays\?replays=\d+&t="))
    expect(page.get_by_text("Value estimate").first).to_be_visible()

    page.goto(f"/runs/{trained_run}/critic")
    installation.wait_until(
        lambda: all(each["state"] == "done" for each in installation.read(f"runs/{trained_run}/calibrations"))
    )
    over_training = page.get_by_role("img", name="Bias of the critic by step.")
    over_training.wait_for()
    listed = installation.read(f"runs/{trained_run}/calibrations")
    page.wait_for_function(
        "count => document.querySelector('[aria-label=\"Bias of the critic by step.\"]').data?.[0]?.x.length === count",
        arg=len(listed),
    )
    expect(page.get_by_text("by schedule", exact=True).first).to_be_visible()
