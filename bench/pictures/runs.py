"""The installation in the pictures: a few short real runs, a study, evaluations and a report."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.installation import Installation

TRAINING_SECONDS = 1800.0
# Check rarely, to leave the computer to the trainings.
POLL_SECONDS = 1.0
# Fewer than the protocols require, because an episode of Pong takes long.
EPISODES = 5
CATCH: dict[str, Any] = {
    "preset": "paac-catch",
    "overrides": {"checkpoint_seconds": 10},
    "tags": ["baseline"],
    "notes": "Learns to catch every ball. **Baseline** of the other runs.",
}
PONG: dict[str, Any] = {"preset": "paac-pong", "overrides": {"total_steps": 5_000, "checkpoint_seconds": 10}}
# Still training while the pictures are taken.
BREAKOUT: dict[str, Any] = {"preset": "paac-breakout", "overrides": {"checkpoint_seconds": 20}}
STUDY: dict[str, Any] = {
    "name": "Learning rate of PAAC on CartPole",
    "question": "Which learning rate learns fastest, and do three seeds agree?",
    "preset": "paac-cartpole",
    "axes": [{"field": "learning_rate", "values": [0.005, 0.02]}],
    "seeds": [1, 2, 3],
    "changes": {"checkpoint_seconds": 3600},
    "total_steps": 10_000,
    "max_concurrent_runs": 6,
}


@dataclass(frozen=True)
class Contents:
    """The numbers of the runs, the study, the evaluations and the report in the installation."""

    catch: int
    pong: int
    study: int
    compared: list[int]


@contextmanager
def installation_with_runs(folder: Path) -> Iterator[tuple[str, Contents]]:
    """Yield the address and the contents of an installation. Its last run is still training."""
    with Installation(folder) as installation:
        installation.worker("office")
        installation.worker("laptop")
        contents = train(installation)
        write_report(installation, contents)
        breakout = installation.post("runs", BREAKOUT)["id"]
        installation.wait_until(lambda: installation.read(f"runs/{breakout}/replays"), TRAINING_SECONDS, POLL_SECONDS)
        yield f"http://127.0.0.1:{installation.port}", contents


def train(installation: Installation) -> Contents:
    """Train the runs, and evaluate the single runs while the study trains."""
    catch = int(installation.post("runs", CATCH)["id"])
    pong = int(installation.post("runs", PONG)["id"])
    steps = installation.post("studies/preview", STUDY)["steps"]
    study = int(installation.post("studies", {**STUDY, "confirm_steps": steps})["id"])
    evaluations = [evaluate(installation, run) for run in (catch, pong)]
    wait_for_end(installation, f"studies/{study}", "finished")
    for evaluation in evaluations:
        wait_for_end(installation, f"evaluations/{evaluation}", "done")
    installation.wait_until(lambda: installation.read(f"runs/{pong}/replays"), TRAINING_SECONDS, POLL_SECONDS)
    points = installation.read(f"studies/{study}")["table"]
    return Contents(catch, pong, study, [run["run_id"] for point in points for run in point["runs"]])


def evaluate(installation: Installation, run: int) -> int:
    """Wait until a run has finished and request an evaluation of its newest checkpoint."""
    wait_for_end(installation, f"runs/{run}", "finished")
    request = {"checkpoint": "newest", "episodes": EPISODES}
    return int(installation.post(f"runs/{run}/evaluations", request)["id"])


def wait_for_end(installation: Installation, path: str, state: str) -> None:
    """Wait until a run, a study or an evaluation has ended in this state."""

    def has_ended() -> bool:
        found = installation.read(path)["state"]
        assert found not in ("failed", "cancelled", "stopped"), installation.what_was_said()
        return bool(found == state)

    installation.wait_until(has_ended, TRAINING_SECONDS, POLL_SECONDS)


def write_report(installation: Installation, contents: Contents) -> None:
    """Write a report with one block of each kind."""
    compared = ",".join(map(str, contents.compared))
    newest = installation.read(f"runs/{contents.pong}/replays")[-1]
    blocks = [
        {"kind": "text", "markdown": "Two learning rates with three seeds each, after 10,000 steps."},
        {
            "kind": "chart",
            "address": f"/api/v1/figures/curves?runs={compared}&group=seed",
            "caption": "Mean return per learning rate.",
        },
        {"kind": "table", "of": "study", "numbers": [contents.study], "caption": "Mean return of each learning rate."},
        {"kind": "replay", "replay": newest["id"], "caption": "Pong at the start of training."},
    ]
    installation.post("reports", {"title": "Learning rate of PAAC on CartPole", "blocks": blocks})
