"""The practice of a review in a browser: its cost, its progress, a stop, and the verdict."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from arcadia_workers.contract.practice import AgentAtMoment, Difference, HeldOutMoment, PracticedMistake
from tests.backend.practices.test_practices import make_plan, measured, train, verdict
from tests.browser.reported import installation_without_workers, open_api
from tests.browser.synthetic_replay import report_replay
from tests.browser.test_accessibility import AXE, AXE_SCRIPT, BEYOND_SCRIPT, RULES, SCHEMES, SIZES
from tests.browser.test_reviews import claim, found
from tests.factories import PONG, Api, checkpoint_path, event, started, video
from tests.installation import Installation

REVIEW = "/runs/1/replays?replays=1&review=1"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Yield an installation without workers, with the reviews of two episodes of an agent."""
    folder = tmp_path_factory.mktemp("recorded")
    with (
        installation_without_workers(tmp_path_factory.mktemp("practices")) as installation,
        open_api(installation) as api,
    ):
        run = api.running(config=PONG)
        api.save(*run, 2, 100, kept=[checkpoint_path(100)])
        report_replay(api, run, 3, 100, folder)
        # The trainer's next replay of a checkpoint would replace it.
        assert api.user.patch("/api/v1/replays/1", json={"pinned": True}).is_success
        [track] = folder.glob("*.npz")
        named = {"file": "replays/other.mp4", "poster": "replays/other.png", "track": "replays/other.npz"}
        for path, kind in zip(named.values(), ("video", "poster", "track"), strict=True):
            api.upload(*run, path, track.read_bytes() if kind == "track" else kind.encode(), kind)
        assert api.send(*run, video(4, 100, 100, **named)).is_success
        assert api.release(*run, "finished").is_success
        api.beat(job_slots=1)
        for episode, replay in enumerate(api.user.get(f"/api/v1/runs/{run[0]}/replays").json()):
            assert api.user.post(f"/api/v1/replays/{replay['id']}/reviews", json={}).is_success
            _, held = claim(api, "review")
            result = event(2, "review", document=found() | {"episode": episode}), event(3, "finished")
            assert api.send_of_job(*held, started(1), *result).is_success
            assert api.release_job(*held, "finished").is_success
        yield installation


def improved(arms: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a document with fewer mistakes at twelve kept ones, and an unknown change of the score."""
    named = {"seed": 1, "episode": 1, "taken": "NOOP", "better": "LEFT"}
    outcomes = {"before": -0.75, "practice": 0.55, "control": -0.31}
    before, practice, control = (
        AgentAtMoment(outcome=outcome, probability=0.4 - outcome / 4) for outcome in outcomes.values()
    )
    held_out = [
        HeldOutMoment.model_validate(
            named
            | {"decision": at, "scale": 1, "was_practiced": at == 0, "before": before}
            | {"practice": [practice], "control": [control]}
        )
        for at in range(12)
    ]
    document = verdict(arms)
    document["held_out"] = [json.loads(each.model_dump_json()) for each in held_out]
    mistakes = [PracticedMistake.model_validate(named | {"decision": at, "start": 0}) for at in range(15)]
    document["practiced"] = [json.loads(each.model_dump_json()) for each in mistakes]
    for arm, agent, score in zip(document["arms"], (practice, control), (14.2, 15.1), strict=True):
        arm |= {"outcome": agent.outcome, "probability": agent.probability, "score": score}
    differences = {
        "mistakes": Difference(mean=0.86, interval=(0.41, 1.22), unit="moment", count=12, verdict="improved"),
        "repeated": Difference(mean=-0.22, interval=(-0.4, -0.1), unit="moment", count=12, verdict="improved"),
        "score": Difference(mean=-0.9, interval=(-3.2, 1.4), unit="episode", count=30, verdict="no improvement shown"),
    }
    return document | {name: json.loads(each.model_dump_json()) for name, each in differences.items()}


def measure_next(api: Api, outcome: float, *, is_last: bool = False) -> None:
    """Do the job that measures the next run."""
    parameters, held = claim(api, "practice")
    document = improved(parameters["arms"]) if is_last else None
    result = event(2, "practice", 0, measured=measured(outcome, 14, 15), document=document)
    assert api.send_of_job(*held, started(1), result, event(3, "finished")).is_success
    assert api.release_job(*held, "finished").is_success


def check_sizes(page: Page, shown: Locator) -> None:
    """Check that the page is accessible and fits, on a desktop and on a phone."""
    for size, scheme in zip(SIZES, SCHEMES, strict=True):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        page.goto(REVIEW)
        expect(shown).to_be_visible()
        assert page.evaluate(AXE_SCRIPT, [RULES, ""]) == []
        assert page.evaluate(BEYOND_SCRIPT) <= 0
    page.set_viewport_size(SIZES[0])


@pytest.mark.nightly
def test_a_practice_is_started_stopped_and_continued_up_to_its_verdict(page: Page, installation: Installation) -> None:
    page.add_init_script(path=AXE)
    panel = page.get_by_role("region", name="Practice", exact=True)
    check_sizes(page, panel.get_by_text("1 mistake would be kept to measure, and one pair needs at least 7"))
    expect(panel.get_by_role("button", name="Start practice")).to_be_disabled()
    panel.get_by_label("Pairs").fill("3")
    expect(panel.get_by_text("1 mistake of 2 reviews would be practiced, and 1 kept to measure.")).to_be_visible()
    panel.get_by_label("Steps of each run").fill("50")
    expect(panel.get_by_text("6 runs train 50 steps each")).to_be_visible()
    with open_api(installation) as api:
        panel.get_by_role("button", name="Start practice").click()
        expect(panel.get_by_text("Waiting")).to_be_visible()
        make_plan(api)
        runs = panel.get_by_role("list", name="Runs of the practice")
        expect(runs.get_by_role("link")).to_have_text(["Practice 1: run 2, queued", "Control 1: run 3, queued"])
        expect(panel.get_by_label("Mean outcome at the kept mistakes so far")).to_contain_text("Before−0.5")
        train(api)
        panel.get_by_role("button", name="Stop").click()
        expect(panel.get_by_text("Run 3 is paused.")).to_be_visible()
        panel.get_by_role("button", name="Continue").click()
        expect(runs.get_by_role("link")).to_have_text(["Practice 1: run 2, finished", "Control 1: run 3, queued"])
        train(api)
        expect(panel.get_by_text("Waiting")).to_be_visible()
        measure_next(api, 0.55)
        expect(panel.get_by_label("Mean outcome at the kept mistakes so far")).to_contain_text("Practice 10.55")
        installation.wait_until(lambda: installation.read("practices/1")["state"] == "queued")
        measure_next(api, -0.31, is_last=True)
    rarer = panel.get_by_role("region", name="Did these mistakes become rarer?")
    expect(rarer).to_contain_text("This agent makes fewer of these mistakes than its control")
    expect(rarer).to_contain_text("+0.86 (95 % 0.41 to 1.22, 12 kept mistakes)")
    expect(panel.get_by_role("region", name="Did the score rise?")).to_contain_text("No improvement shown")

    check_sizes(page, rarer)
