"""A practice through the Python client, with a real server, a worker and trainers."""

from typing import Any

import pytest
from arcadia import Client, ConflictError, Practice, Review

from tests.client.conftest import WAIT_SECONDS
from tests.installation import Installation
from tests.workers.waiting import wait_until

EPISODES = 4
# One pair would need more mistakes.
OPTIONS: dict[str, Any] = {"steps": 20_000, "pairs": 3, "evaluations": 4}
CATCH = {
    "algorithm": "paac",
    "env": "Arcadia/Catch-v0",
    "total_steps": 400,
    "num_envs": 4,
    "checkpoint_seconds": 1,
}


@pytest.fixture(scope="module")
def review(installation: Installation, client: Client) -> Review:
    """Train an agent that plays badly, and review its episodes. Return one of the reviews."""
    run = client.run(installation.launch(CATCH)).wait(WAIT_SECONDS)
    for episode in range(EPISODES):
        replay = run.record(episode=episode, timeout=WAIT_SECONDS).replay()
        review = client.review(replay, every=1, horizon=20, timeout=WAIT_SECONDS)
    return review


@pytest.mark.nightly
def test_a_practice_continues_after_its_worker_was_killed(
    installation: Installation, client: Client, review: Review
) -> None:
    cost = review.preview_practice(**OPTIONS)
    assert (cost.rejection, cost.reviews, cost.training_steps) == (None, EPISODES, 120_000)
    assert cost.training_seconds is not None
    assert cost.held_out >= 1
    assert review.practices() == []
    practice = review.practice(**OPTIONS)

    def has_trained() -> bool:
        practice.refresh()
        return practice.stage == "training" and practice.done > 0

    wait_until(has_trained)
    installation.workers["one"].end()
    installation.worker("two", niceness=0)
    assert practice.wait(WAIT_SECONDS, progress=False).state == "done"
    assert (practice.fewer_mistakes, practice.better_score) != (None, None)
    assert (practice.practiced, practice.held_out) == (cost.practiced, cost.held_out)
    runs = [client.run(arm["run_id"]) for arm in practice.arms]
    ours, control, *_ = runs
    assert {run.step for run in runs} == {20_400}
    assert (ours.config["practice"]["share"], control.config["practice"]["share"]) == (0.5, 0.0)
    assert max(run.attempt for run in runs) == 2, "the killed one was resumed"
    assert repr(practice).endswith(f"mistakes: {practice.fewer_mistakes}, score: {practice.better_score}>")
    with pytest.raises(ConflictError, match="already has practice"):
        review.practice(**OPTIONS)
    practice.delete()
    assert client.run(ours.id).state == "finished"
    assert isinstance(practice, Practice)
