"""A review of a replay in a browser: requested, stopped, continued, and the moment of a mistake with its futures."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from arcadia_workers.contract.futures import FuturesDocument, FuturesVideo, MeanReturn
from arcadia_workers.contract.protocols.document import SAMPLED
from arcadia_workers.contract.review import ReviewDocument, ReviewedDecision, Situation
from arcadia_workers.trainer.games.video import VideoWriter
from tests.backend.futures.test_futures import MADE
from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import ACTIONS, DECISIONS, report_replay
from tests.browser.test_accessibility import AXE, AXE_SCRIPT, BEYOND_SCRIPT, RULES, SCHEMES, SIZES
from tests.factories import PONG, Api, checkpoint_path, event, sha256, started
from tests.installation import Installation

# The decision of the mistake, and what it lost.
MISTAKE, LOSS = 12, 1.5


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers, with a replay."""
    with (
        installation_without_workers(tmp_path_factory.mktemp("reviews")) as installation,
        open_api(installation) as api,
    ):
        run = api.running(config=PONG)
        api.save(*run, 2, 100, kept=[checkpoint_path(100)])
        report_replay(api, run, 3, 100, tmp_path_factory.mktemp("recorded"))
        api.beat(job_slots=1)
        yield installation


def estimate(mean: float) -> MeanReturn:
    return MeanReturn(count=128, mean=mean, interval=(mean - 0.1, mean + 0.1))


def found(*others: str) -> dict[str, Any]:
    """Return a review with a mistake, and other decisions with these findings."""
    mistake = ReviewedDecision(
        decision=MISTAKE,
        reason="lost",
        taken=ACTIONS[MISTAKE % 4],
        finding="mistake",
        better="LEFT",
        pairs=16,
        e_value=4_200.0,
        loss=estimate(LOSS),
        taken_outcome=estimate(-0.75),
        better_outcome=estimate(0.75),
    )
    decisions = [
        ReviewedDecision.model_validate({"decision": at, "reason": "unsure", "taken": "NOOP", "finding": finding})
        for at, finding in enumerate(others)
    ]
    document = ReviewDocument(
        env="ALE/Pong-v5",
        algorithm="paac",
        checkpoint_step=100,
        protocol="no-op-5min",
        seed=1,
        episode=0,
        acting=SAMPLED,
        horizon=200,
        gamma=0.99,
        clip_rewards=True,
        decisions=DECISIONS,
        score=0.0,
        reviewed=[mistake, *decisions],
        situations=[Situation(decisions=[MISTAKE], shown=MISTAKE)],
        simulations=480,
        seconds=2.5,
    )
    return json.loads(document.model_dump_json())  # type: ignore[no-any-return]


def claim(api: Api, kind: str) -> tuple[dict[str, Any], tuple[int, int]]:
    claimed = api.claim_job()
    assert claimed["kind"] == kind
    return claimed["parameters"], (claimed["job_id"], claimed["attempt"])


def simulate(api: Api, folder: Path) -> str:
    """Do the next futures job, with a video of each of the first futures. Return its first action."""
    parameters, held = claim(api, "futures")
    assert (parameters["decision"], parameters["videos_of"]) == (MISTAKE, "first")
    (first,) = parameters["first"]
    videos = [FuturesVideo(shows="first", future=number, file=f"future-{number}.mp4") for number in range(3)]
    for video in videos:
        film = folder / f"{first}-{video.file}"
        with VideoWriter(film, 20, 4) as writer:
            for number in range(20):
                writer.add(np.full((48, 64, 3), 10 * number, np.uint8))
        content = film.read_bytes()
        query: dict[str, str | int] = {"attempt": held[1], "kind": "video", "path": video.file}
        query["sha256"] = sha256(content)
        assert api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content).is_success
    document: FuturesDocument = MADE.model_copy(update={"videos": videos, "first": [first], "decision": MISTAKE})
    reported = event(2, "futures", 100, document=json.loads(document.model_dump_json()))
    assert api.send_of_job(*held, started(1), reported, event(3, "finished")).is_success
    assert api.release_job(*held, "finished").is_success
    return str(first)


def open_review(page: Page) -> Locator:
    """Open the review of the replay from the keyboard."""
    page.goto("/runs/1/replays?replays=1&t=0.5")
    opener = page.get_by_role("button", name="Review", exact=True)
    expect(opener).to_be_enabled()
    opener.focus()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Review", exact=True)
    expect(panel).to_be_focused()
    return panel


def test_a_review_is_started_stopped_and_continued_and_a_mistake_is_opened(
    page: Page, installation: Installation, tmp_path: Path
) -> None:
    panel = open_review(page)
    with open_api(installation) as api:
        api.beat(job_slots=1)
        api.evaluate(1)
        _, evaluating = claim(api, "evaluation")
        panel.get_by_role("button", name=f"Review {DECISIONS} decisions").click()
        expect(panel.get_by_text("Waits for an evaluation on worker w1.")).to_be_visible()
        api.release_job(*evaluating, "failed")
        _, held = claim(api, "review")
        known = found("no challenger", "testing", "waiting")
        progress = event(2, "advanced", done=2, total=4), event(3, "review", 100, document=known)
        assert api.send_of_job(*held, started(1), *progress).is_success
        expect(panel.get_by_role("progressbar", name="Decisions reviewed")).to_have_attribute("aria-valuenow", "2")
        marks = panel.get_by_role("group", name="Reviewed decisions")
        expect(marks.get_by_role("button")).to_have_count(1)
        expect(panel.get_by_text("Not finished", exact=True)).to_be_visible()

        panel.get_by_role("button", name="Stop").click()
        assert api.send_of_job(*held, event(4, "stopped", reason="cancelled by the user")).is_success
        assert api.release_job(*held, "stopped").is_success
        expect(panel.get_by_text("Stopped", exact=True)).to_be_visible()
        expect(panel.get_by_role("status").filter(has_text="1 mistake in")).to_contain_text(
            "2 decisions are not finished"
        )

        panel.get_by_role("button", name=re.compile("^Review .* more decisions")).click()
        expect(panel.get_by_text("Waiting")).to_be_visible()
        parameters, held = claim(api, "review")
        assert parameters["known"] == known
        done = event(2, "review", 100, document=found("no challenger", "not shown", "not shown")), event(3, "finished")
        assert api.send_of_job(*held, started(1), *done).is_success
        assert api.release_job(*held, "finished").is_success
        expect(panel.get_by_text("Not finished", exact=True)).to_have_count(0)
        expect(panel.get_by_text("up to 1.5", exact=True)).to_be_visible()

        mark = marks.get_by_role("button", name=f"Decision {MISTAKE + 1}: NOOP instead of LEFT loses 1.50")
        mark.focus()
        page.keyboard.press("Enter")
        moment = panel.get_by_role("region", name=f"Moment of decision {MISTAKE + 1}")
        expect(moment.get_by_role("row", name=re.compile("^Better LEFT 40.0 % 0.75"))).to_be_visible()
        expect(page.get_by_text(f"{MISTAKE + 1} of {DECISIONS}", exact=True)).to_be_visible()
        evaluation = page.get_by_role("region", name="Evaluation")
        expect(evaluation).to_contain_text(f"Simulated from decision {MISTAKE + 1}")
        expect(evaluation).to_contain_text("−1.5")

        moment.get_by_role("button", name="Show futures").click()
        expect(moment.get_by_role("progressbar", name="Progress of the futures")).to_be_attached()
        assert {simulate(api, tmp_path), simulate(api, tmp_path)} == {"NOOP", "LEFT"}
    futures = moment.get_by_role("region", name="Futures side by side")
    expect(futures.locator("video")).to_have_count(6)
    expect(futures.get_by_label("Future 2 with LEFT")).to_be_visible()
    expect(futures.get_by_role("button", name=re.compile("^(Play|Pause) futures"))).to_be_visible()

    # The futures are kept with the replay. The page is accessible, and fits on a phone.
    page.add_init_script(path=AXE)
    for size, scheme in zip(SIZES, SCHEMES, strict=True):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        panel = open_review(page)
        panel.get_by_role("group", name="Reviewed decisions").get_by_role("button").click()
        expect(panel.get_by_role("region", name="Futures side by side").locator("video")).to_have_count(6)
        assert page.evaluate(AXE_SCRIPT, [RULES, ""]) == []
        assert page.evaluate(BEYOND_SCRIPT) <= 0
    page.keyboard.press("]")
    expect(page.get_by_role("region", name="Evaluation")).to_contain_text("The critic's opinion")
