"""Evaluations in the browser: requested, watched, read and removed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.installation import Installation

# Nightly, because tests/backend/evaluations and the tests of the page cover each side separately.
pytestmark = pytest.mark.nightly

EPISODES = 300

# Records the progress that the page has shown.
RECORD_PROGRESS_SCRIPT = """() => {
    window.sameDocument = true;
    window.progress = [];
    window.rows = [];
    new MutationObserver(() => {
        const bar = document.querySelector('[role=progressbar][aria-label="Episodes played"]');
        if (bar) window.progress.push(Number(bar.getAttribute('aria-valuenow')));
        const table = document.querySelector('[aria-label="Episodes"] tbody');
        if (table) window.rows.push(table.rows.length);
    }).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true});
}"""


@pytest.fixture(scope="module")
def trained_run(installation: Installation) -> int:
    """Train a run and return its number once it has checkpoints."""
    run = installation.launch(total_steps=12_000)
    installation.wait_for_state(run, "finished")
    return run


def test_evaluation_of_a_checkpoint_updates_without_a_reload(
    page: Page, installation: Installation, trained_run: int
) -> None:
    page.goto(f"/runs/{trained_run}/checkpoints")
    page.evaluate(RECORD_PROGRESS_SCRIPT)
    page.get_by_role("button", name=re.compile("^Actions for the checkpoint")).first.click()
    page.get_by_role("menuitem", name="Evaluate").click()
    form = page.get_by_role("dialog")
    expect(form.get_by_role("radio", name=re.compile("^No-op starts, 5 minutes"))).to_be_disabled()
    expect(form.get_by_text("no-op-5min is not for CartPole-v1: use episodes.")).to_be_visible()
    form.get_by_label("Episodes", exact=True).last.fill(str(EPISODES))
    form.get_by_label("Seed").fill("7")
    form.get_by_role("button", name="Evaluate", exact=True).click()

    page.wait_for_url(re.compile(rf"/runs/{trained_run}/evaluations$"))
    row = page.get_by_role("group", name="Table of evaluations").get_by_role("row").nth(1)
    row.get_by_role("link").first.click()
    episodes = page.get_by_role("region", name="Episodes")
    expect(episodes.get_by_role("row")).to_have_count(EPISODES + 1)
    rows = page.evaluate("window.rows")
    assert [count for count in rows if 0 < count < EPISODES], "the page showed each episode as it ended"
    assert rows == sorted(rows)
    page.get_by_role("link", name=f"All evaluations of run {trained_run}").click()
    expect(row.get_by_text("Done", exact=True)).to_be_visible()
    (found,) = installation.read(f"runs/{trained_run}/evaluations")["items"]
    assert (found["state"], found["seed"], found["episodes_total"]) == ("done", 7, EPISODES)
    expect(row).to_contain_text(f"{EPISODES}")
    expect(page.get_by_text("Best evaluation", exact=True)).to_be_visible()
    assert page.evaluate("window.sameDocument")
    under_way = [done for done in page.evaluate("window.progress") if 0 < done < EPISODES]
    assert under_way, "the page showed episodes as they were played"
    assert under_way == sorted(under_way)

    means = page.get_by_role("img", name=re.compile("^Evaluation scores"))
    means.wait_for()
    # The chart may show the training return alone until it is read again.
    drawn = "plot => plot.data.find(trace => trace.name === 'episodes')?.y"
    installation.wait_until(lambda: means.evaluate(drawn) == [pytest.approx(found["mean"], rel=1e-4)])


def test_an_evaluation_has_its_own_url(page: Page, installation: Installation, trained_run: int) -> None:
    asked = installation.post(f"runs/{trained_run}/evaluations", {"episodes": 5})["id"]
    installation.wait_until(lambda: installation.read(f"evaluations/{asked}")["state"] == "done")
    found = installation.read(f"evaluations/{asked}")

    page.goto(f"/runs/{trained_run}/evaluations/{asked}")

    bars = page.get_by_role("img", name=re.compile("^Histogram of the scores of 5 episodes"))
    bars.wait_for()
    assert bars.evaluate("plot => plot.data[0].y.reduce((sum, count) => sum + count)") == 5
    expect(page.get_by_role("region", name="Episodes").get_by_role("row")).to_have_count(6)
    expect(page.get_by_role("region", name="Evaluation settings")).to_contain_text(found["checkpoint_sha256"])
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("^Actions for the evaluation")).click()
        page.get_by_role("menuitem", name="Export all episodes").click()
    lines = download.value.path().read_text().splitlines()
    assert [float(line.split(",")[1]) for line in lines[1:]] == [episode["score"] for episode in found["episodes"]]

    page.get_by_role("button", name=re.compile("^Actions for the evaluation")).click()
    page.get_by_role("menuitem", name="Remove evaluation").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove evaluation").click()
    page.wait_for_url(re.compile(rf"/runs/{trained_run}/evaluations$"))
    assert asked not in [row["id"] for row in installation.read(f"runs/{trained_run}/evaluations")["items"]]


def test_the_best_checkpoint_is_chosen_by_evaluation(page: Page, installation: Installation, trained_run: int) -> None:
    asked = installation.post(f"runs/{trained_run}/evaluations", {})["id"]
    installation.wait_until(lambda: installation.read(f"evaluations/{asked}")["state"] == "done")
    page.goto(f"/runs/{trained_run}/checkpoints")
    expect(page.get_by_text("by evaluation", exact=True)).to_be_visible()
