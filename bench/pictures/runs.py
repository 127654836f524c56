"""The installation in the pictures: a few short real runs, a study, evaluations and a report."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.installation import Installation

TRAINING_SECONDS = 1800.0
CATCH: dict[str, Any] = {
    "preset": "paac-catch",
    "tags": ["baseline"],
    "notes": "Learns to catch every ball. **Baseline** of the other runs.",
}
PONG: dict[str, Any] = {"preset": "paac-pong", "overrides": {"total_steps": 40_000, "checkpoint_seconds": 10}}
# Still training while the pictures are taken.
BREAKOUT: dict[str, Any] = {"preset": "paac-breakout", "overrides": {"checkpoint_seconds": 20}}
STUDY: dict[str, Any] = {
    "name": "Learning rate of PAAC on CartPole",
    "question": "Which learning rate learns fastest, and do three seeds agree?",
    "preset": "paac-cartpole",
    "axes": [{"field": "learning_rate", "values": [0.001, 0.005, 0.02]}],
    "seeds": [1, 2, 3],
    "total_steps": 20_000,
    "at_once": 9,
}


@dataclass(frozen=True)
class Contents:
    """The numbers of what the installation contains."""

    catch: int
    pong: int
    study: int
    compared: list[int]


@contextmanager
def installation_with_runs(folder: Path) -> Iterator[tuple[str, Contents]]:
    """Yield the address and the contents of an installation. Its last run is still training."""
    installation = Installation(folder)
    try:
        installation.start()
        installation.worker("office")
        installation.worker("laptop")
        contents = train(installation)
        evaluate(installation, contents)
        write_report(installation, contents)
        breakout = installation.post("runs", BREAKOUT)["id"]
        installation.wait_until(lambda: installation.read(f"runs/{breakout}/videos"), TRAINING_SECONDS)
        yield f"http://127.0.0.1:{installation.port}", contents
    finally:
        installation.close()


def train(installation: Installation) -> Contents:
    """Train the runs and wait until all have finished and their replays are stored."""
    catch = int(installation.post("runs", CATCH)["id"])
    pong = int(installation.post("runs", PONG)["id"])
    steps = installation.post("studies/preview", STUDY)["steps"]
    study = int(installation.post("studies", {**STUDY, "confirm_steps": steps})["id"])

    def has_finished() -> bool:
        runs = installation.read("runs?limit=100")["items"]
        assert not [run["id"] for run in runs if run["state"] == "failed"], installation.what_was_said()
        return installation.read(f"studies/{study}")["state"] == "finished" and all(
            run["state"] == "finished" for run in runs
        )

    installation.wait_until(has_finished, TRAINING_SECONDS)
    installation.wait_until(lambda: installation.read(f"runs/{pong}/videos"), TRAINING_SECONDS)
    points = installation.read(f"studies/{study}")["points"]
    compared = [run["run_id"] for point in points for run in point["runs"]]
    return Contents(catch, pong, study, compared)


def evaluate(installation: Installation, contents: Contents) -> None:
    """Evaluate both single runs and wait for the scores."""
    evaluations = [
        installation.post(f"runs/{contents.catch}/evaluations", {"checkpoint": "newest"}),
        installation.post(f"runs/{contents.pong}/evaluations", {"checkpoint": "newest", "protocol": "no-op-5min"}),
    ]
    for evaluation in evaluations:
        path = f"evaluations/{evaluation['id']}"

        def is_done(path: str = path) -> bool:
            state = installation.read(path)["state"]
            assert state != "failed", installation.what_was_said()
            return bool(state == "done")

        installation.wait_until(is_done, TRAINING_SECONDS)


def write_report(installation: Installation, contents: Contents) -> None:
    """Write a report with one block of each kind."""
    compared = ",".join(map(str, contents.compared))
    newest = installation.read(f"runs/{contents.pong}/videos")[-1]
    blocks = [
        {"kind": "text", "markdown": "Three learning rates with three seeds each, after 20,000 steps."},
        {
            "kind": "chart",
            "address": f"/api/v1/figures/curves?runs={compared}&group=seed",
            "caption": "Mean return per learning rate.",
        },
        {"kind": "table", "of": "study", "numbers": [contents.study], "caption": "Best learning rate first."},
        {"kind": "replay", "video": newest["id"], "caption": "Pong at the start of training."},
    ]
    installation.post("reports", {"title": "Learning rate of PAAC on CartPole", "blocks": blocks})
