"""Simulated users in a storm. They launch runs of several methods, and pause, resume, stop and fork some."""

import contextlib
import random
import time
from collections import Counter
from itertools import cycle
from typing import Any

import httpx

from tests.installation import CARTPOLE, CATCH_BY_A3C, CATCH_BY_GORILA, SAVING, Installation

# More runs than workers, so that a worker without a run has a fault.
IN_PROGRESS, MOST_IN_PROGRESS = 4, 7
# Each evaluation plays a few short episodes during the training.
EVALUATIONS_IN_PROGRESS, EPISODES = 2, 4
UNDER_WAY = ("queued", "running")
WAITING_OR_ACTIVE = ("queued", "starting", "running")
# Each run trains for one or two minutes on two free cores.
CONFIGS: tuple[dict[str, Any], ...] = (
    {**CARTPOLE, "total_steps": 1_000_000},
    {**CATCH_BY_A3C, "env": "CartPole-v1", "total_steps": 200_000},
    {**CARTPOLE, "algorithm": "paac_q", "total_steps": 1_000_000},
    {**CATCH_BY_GORILA, "total_steps": 30_000},
)


class Crowd:
    """Actions of users on an installation."""

    def __init__(self, installation: Installation, seed: int) -> None:
        self.done: Counter[str] = Counter()
        self._installation, self._drawn = installation, random.Random(seed)
        self._configs = cycle(CONFIGS)
        self._act_at = 0.0
        self.requested: set[int] = set()

    def launch(self) -> None:
        """Launch a run if too few are in progress. If the backend is down, the next call tries again."""
        with contextlib.suppress(httpx.TransportError):
            if len(self._going_on(self.runs())) < IN_PROGRESS:
                self._installation.launch(next(self._configs), **SAVING)

    def prefer_gorila(self) -> None:
        """Let a run of Gorila be next, and make room for it, unless one has begun."""
        with contextlib.suppress(httpx.TransportError):
            going_on = self._going_on(self.runs())
            of_gorila = [run for run in going_on if run["algorithm"] == "gorila"]
            if any(run["state"] != "queued" for run in of_gorila):
                return
            if of_gorila:
                self._installation.http.patch(f"runs/{of_gorila[0]['id']}", json={"priority": 10})
            else:
                config = {**CATCH_BY_GORILA, **SAVING, "total_steps": 30_000}
                self._installation.post("runs", {"config": config, "priority": 10})
            if active := [run["id"] for run in going_on if run["state"] == "running"]:
                self._try(f"runs/{self._drawn.choice(active)}/stop")

    def evaluate(self) -> None:
        """Request an evaluation of a run with a checkpoint, unless enough evaluations are in progress."""
        with contextlib.suppress(httpx.TransportError):
            under_way = [number for number in self.requested if self.evaluation(number)["state"] in UNDER_WAY]
            if len(under_way) >= EVALUATIONS_IN_PROGRESS:
                return
            for run in self._drawn.sample(runs := self.runs(), min(3, len(runs))):
                reply = self._installation.http.post(f"runs/{run['id']}/evaluations", json={"episodes": EPISODES})
                if reply.is_success:
                    self.requested.add(reply.json()["id"])
                    return
                if reply.status_code not in (httpx.codes.CONFLICT, httpx.codes.UNPROCESSABLE_ENTITY):
                    reply.raise_for_status()  # a run without a checkpoint has one of these statuses

    def evaluation(self, number: int) -> dict[str, Any]:
        """Return an evaluation with its episodes."""
        return dict(self._installation.read(f"evaluations/{number}"))

    def evaluations(self) -> list[int]:
        """Return the numbers of all evaluations in the backend, including duplicates."""
        lists = (self._installation.read(f"runs/{run['id']}/evaluations?limit=1000") for run in self.runs())
        return [row["id"] for listed in lists for row in listed["items"]]

    def act(self) -> str | None:
        """Pause, resume, stop or fork a run at random intervals. Return a description of the action, or None."""
        if time.monotonic() < self._act_at:
            return None
        self._act_at = time.monotonic() + self._drawn.uniform(0.5, 3)
        with contextlib.suppress(httpx.TransportError):
            runs = self.runs()
            action = self._drawn.choice(("pause", "resume", "stop", "fork"))
            run = self._fork(runs) if action == "fork" else self._change(runs, action)
            if run is not None:
                self.done[action] += 1
                return f"{action} {run}"
        return None

    def runs(self) -> list[dict[str, Any]]:
        """Return all trained runs with their actions. The API lists each set of actions only once."""
        page = self._installation.read("runs?limit=1000")
        trained = [run for run in page["items"] if run["origin"] == "trained"]
        return [run | {"actions": page["actions"][run["actions"]]} for run in trained]

    def end_all(self) -> None:
        """Stop every run that can be stopped."""
        for run in self.runs():
            if run["actions"]["stop"] is None:
                self._try(f"runs/{run['id']}/stop")

    def _going_on(self, runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [run for run in runs if run["state"] in WAITING_OR_ACTIVE and run["desired"] == "run"]

    def _change(self, runs: list[dict[str, Any]], action: str) -> int | None:
        can = [run for run in runs if run["actions"][action] is None and run["state"] in ("running", "paused")]
        if not can:
            return None
        number: int = self._drawn.choice(can)["id"]
        return number if self._try(f"runs/{number}/{action}") else None

    def _fork(self, runs: list[dict[str, Any]]) -> int | None:
        """Fork one of a few runs, unless many are already in progress."""
        few = [] if len(self._going_on(runs)) >= MOST_IN_PROGRESS else self._drawn.sample(runs, min(3, len(runs)))
        for number in (run["id"] for run in few):
            kept = [row for row in self._installation.read(f"runs/{number}/checkpoints") if row["available"]]
            if kept and self._try(f"runs/{number}/fork", {"checkpoint_id": self._drawn.choice(kept)["id"]}):
                return int(number)
        return None

    def _try(self, path: str, body: dict[str, Any] | None = None) -> bool:
        """Send a POST request, and return True if it succeeded. The state of the run may have changed in between."""
        reply = self._installation.http.post(path, json=body)
        if reply.status_code not in (httpx.codes.NOT_FOUND, httpx.codes.CONFLICT):
            reply.raise_for_status()
        return reply.is_success
