"""Runs, events and workers for tests, created through the API."""

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import httpx2
import pytest

from arcadia_workers.contract.jobs import JOB_KINDS, JobKind

CARTPOLE: dict[str, Any] = {"algorithm": "paac", "env": "CartPole-v1", "total_steps": 1_000, "num_envs": 4}
PONG: dict[str, Any] = {**CARTPOLE, "env": "ALE/Pong-v5"}

# The test client of FastAPI is one of httpx2. Clients of a real server are of httpx.
Client = httpx.Client | httpx2.Client
Response = httpx.Response | httpx2.Response


def event(seq: int, kind: str, step: int = 0, **more: Any) -> dict[str, Any]:
    """Return an event as a trainer writes it."""
    return {"seq": seq, "kind": kind, "time": 1_700_000_000.0 + seq, "step": step, "frames": 4 * step, **more}


def started(seq: int = 1, resumed_from: int | None = None) -> dict[str, Any]:
    """Return a trainer's first event."""
    return event(
        seq,
        "started",
        step=resumed_from or 0,
        resumed_from=resumed_from,
        seed=1,
        device="cpu",
        precision="float32",
        command=["python", "-m", "arcadia_workers.trainer"],
        versions={"torch": "2.13.0"},
        host="testhost",
    )


def role(kind: str, number: int, host: str = "sun (10.0.0.1)", times_lost: int = 0) -> dict[str, Any]:
    """Return a role of a distributed run."""
    return {"kind": kind, "number": number, "host": host, "times_lost": times_lost}


def metrics(
    seq: int, step: int, values: dict[str, Any] | None = None, returns: list[Any] | None = None
) -> dict[str, Any]:
    """Return a metrics event. Each return is an episode that ended at its step."""
    episodes = [{"step": step, "frames": 4 * step, "episode_return": value, "length": 10} for value in returns or []]
    return event(seq, "metrics", step, values=values or {}, episodes=episodes)


def checkpoint(seq: int, step: int, content: bytes, kept: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Return a checkpoint event for a file with this content."""
    file = checkpoint_path(step)
    named = {"file": file, "sha256": sha256(content), "bytes": len(content), "step": step, "frames": 4 * step}
    return event(seq, "checkpoint", step, **{"checkpoint": named, "best": False, "kept": kept or [file], **more})


def changed(seq: int, step: int, number: int, fields: dict[str, Any], previous: dict[str, Any]) -> dict[str, Any]:
    """Return the event of an applied change."""
    return event(seq, "changed", step, number=number, fields=fields, previous=previous)


def video(seq: int, step: int, played: int, **more: Any) -> dict[str, Any]:
    """Return the event of a replay of the checkpoint at step `played`."""
    named = {"file": f"replays/{played}.mp4", "poster": f"replays/{played}.png", "checkpoint": checkpoint_path(played)}
    return event(seq, "video", step, **{**named, "episode_return": 10.0, "length": 100, "seconds": 1.7, **more})


def played(number: int, score: Any) -> dict[str, Any]:
    """Return an episode of an evaluation."""
    return {"number": number, "score": score, "frames": 400, "frames_before": 8, "length": 98, "ended": "over"}


def evaluated_episode(
    seq: int, done: int, episodes: int, number: int | None = None, score: Any = 1.0
) -> dict[str, Any]:
    """Return the event of a finished episode of an evaluation."""
    ended = played(done - 1 if number is None else number, score)
    return event(seq, "evaluated_episode", 100, episode=ended, done=done, episodes=episodes)


def evaluation(seq: int, scores: list[Any], **more: Any) -> dict[str, Any]:
    """Return the event with the result of an evaluation."""
    mean = sum(map(float, scores)) / len(scores)
    document = {
        "protocol": "episodes",
        "env": "CartPole-v1",
        "algorithm": "paac",
        "checkpoint_step": 100,
        "acting": {"name": "sampled"},
        "seed": 1,
        "frames_per_action": 1,
        "scores": scores,
        "mean": mean if mean == mean else "NaN",
        "median": 2.0,
        "standard_error": 0.5,
        "interval": [1.0, 3.0],
        "human_normalized": None,
        "not_normalized_because": "the papers publish no random and human scores of CartPole-v1 by episodes",
        "episodes": [played(number, score) for number, score in enumerate(scores)],
        **more,
    }
    return event(seq, "evaluation", 100, returns=scores, document=document)


def start_set(player: str, points: int = 1, env: str = "ALE/Pong-v5") -> dict[str, Any]:
    """Return a start set as in a file."""
    starts = [{"seed": n, "actions": [[0, 4 + n], [3, 8]], "screen": sha256(bytes([n]))} for n in range(points)]
    who = {"human": "Ana", "agent": "paac"}[player]
    named = {"env": env, "player": player, "source": f"{who} played", "emulator": "ale-py 0.12.1"}
    return {"format": "arcadia-starts", "version": 1, **named, "starts": starts}


def kept_game(seq: int, score: float = 21.0, screens: int = 100, **more: Any) -> dict[str, Any]:
    """Return the event of a kept game."""
    shown = [[frame, sha256(bytes([frame]))] for frame in range(1, screens + 1)]
    reported = {"seed": 7, "actions": [[0, 60], [3, 140]], "played": 200, "score": score, "ended": "over"}
    return event(seq, "kept_game", **{**reported, "emulator": "ale-py 0.12.1", "screens": shown, **more})


def checkpoint_path(step: int) -> str:
    """Return the path of a checkpoint in the run's directory."""
    return f"checkpoints/step-{step:012d}.safetensors"


def weights(attempt: int, step: int) -> bytes:
    """Return the content of a checkpoint that `Api.save` uploads."""
    return f"weights of attempt {attempt} at step {step}".encode()


def limit_jobs(monkeypatch: pytest.MonkeyPatch, kind: JobKind, limit: int) -> None:
    """Change the limit of unfinished jobs of a kind."""
    monkeypatch.setitem(JOB_KINDS, kind, replace(JOB_KINDS[kind], max_unfinished=limit))


def sha256(content: bytes) -> str:
    """Return the hash of a content."""
    return hashlib.sha256(content).hexdigest()


@dataclass
class Api:
    """Short calls of users and workers that raise on errors."""

    user: Client
    worker: Client
    reports: dict[str, dict[str, Any]] = field(default_factory=dict)

    def launch(self, *, name: str | None = None, **more: Any) -> dict[str, Any]:
        """Launch a run of CartPole."""
        body = {"name": name, "config": CARTPOLE, **more}
        return self._object(self.user.post("/api/v1/runs", json=body), 201)

    def run(self, run_id: int) -> dict[str, Any]:
        """Read a run."""
        return self._object(self.user.get(f"/api/v1/runs/{run_id}"))

    def act(self, run_id: int, action: str, **body: Any) -> dict[str, Any]:
        """Stop, pause, resume, archive, restore, clone or fork a run."""
        created = action in ("clone", "fork")
        response = self.user.post(f"/api/v1/runs/{run_id}/{action}", json=body if created else None)
        return self._object(response, 201 if created else 200)

    def bulk(self, action: str, ids: list[int], **body: Any) -> dict[str, Any]:
        """Apply an action to runs. Return how it ended, with the skipped runs in `items`."""
        started = self._object(self.user.post("/api/v1/bulk-actions", json={"action": action, "ids": ids, **body}), 201)
        path = f"/api/v1/bulk-actions/{started['id']}"
        ended = self._object(self.user.get(path, params={"wait": "finished", "timeout": 60}))
        assert ended["state"] != "running"
        return ended | {"items": self._object(self.user.get(f"{path}/skipped"))["items"]}

    def change(self, run_id: int, fields: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Request a change of a run's configuration."""
        body = {"fields": fields or {}, **more}
        return self._object(self.user.post(f"/api/v1/runs/{run_id}/changes", json=body), 201)

    def changes(self, run_id: int) -> dict[str, Any]:
        """Read the changes of a run."""
        return self._object(self.user.get(f"/api/v1/runs/{run_id}/changes"))

    def beat(self, name: str = "w1", run: dict[str, Any] | None = None, **more: Any) -> Response:
        """Report a worker."""
        report = {"name": name, "host": "h", "queue": "cpu", "pid": 7, "version": "0.1.0", "device": "cpu"}
        report |= {"cores": 2, "memory_bytes": 8_000_000_000, "run": run, **more}
        return self.worker.post("/api/v1/worker/heartbeat", json=report)

    def claim(self, name: str = "w1", queue: str = "cpu") -> dict[str, Any]:
        """Claim a run. Fail if none is queued."""
        return self._object(self.worker.post("/api/v1/worker/claim", json={"name": name, "queue": queue}))

    def send(self, run_id: int, attempt: int, *events: dict[str, Any]) -> Response:
        """Post events."""
        return self.worker.post(f"/api/v1/worker/runs/{run_id}/events", json={"attempt": attempt, "events": events})

    def upload(self, run_id: int, attempt: int, path: str, content: bytes, kind: str = "checkpoint") -> int:
        """Upload a file and return its id."""
        query: dict[str, str | int] = {"attempt": attempt, "kind": kind, "path": path, "sha256": sha256(content)}
        response = self.worker.put(f"/api/v1/worker/runs/{run_id}/files", params=query, content=content)
        file_id: int = self._json(response)["file_id"]
        return file_id

    def release(self, run_id: int, attempt: int, outcome: str, **more: Any) -> Response:
        """Release a run."""
        body = {"attempt": attempt, "outcome": outcome, **more}
        return self.worker.post(f"/api/v1/worker/runs/{run_id}/release", json=body)

    def evaluate(self, run_id: int, **wanted: Any) -> dict[str, Any]:
        """Request an evaluation of a run's newest checkpoint."""
        return self._object(self.user.post(f"/api/v1/runs/{run_id}/evaluations", json=wanted), 201)

    def evaluation(self, evaluation_id: int) -> dict[str, Any]:
        """Read an evaluation."""
        return self._object(self.user.get(f"/api/v1/evaluations/{evaluation_id}"))

    def evaluations(self, run_id: int) -> list[dict[str, Any]]:
        """List a run's evaluations."""
        items: list[dict[str, Any]] = self._json(self.user.get(f"/api/v1/runs/{run_id}/evaluations"))["items"]
        return items

    def import_starts(self, points: dict[str, Any], name: str) -> dict[str, Any]:
        """Store a set of start points."""
        return self._object(self.user.post("/api/v1/start-sets", params={"name": name}, json=points), 201)

    def claim_job(self, name: str = "w1") -> dict[str, Any]:
        """Claim a job. Fail if none is queued."""
        return self._object(self.worker.post("/api/v1/worker/jobs/claim", json={"name": name}))

    def send_of_job(self, job_id: int, attempt: int, *events: dict[str, Any]) -> Response:
        """Post events of a job."""
        body = {"attempt": attempt, "events": events}
        return self.worker.post(f"/api/v1/worker/jobs/{job_id}/events", json=body)

    def release_job(self, job_id: int, attempt: int, outcome: str, **more: Any) -> Response:
        """Release a job."""
        body = {"attempt": attempt, "outcome": outcome, **more}
        return self.worker.post(f"/api/v1/worker/jobs/{job_id}/release", json=body)

    def play(self, scores: list[Any], **more: Any) -> None:
        """Complete the oldest queued evaluation job as a worker does."""
        claimed = self.claim_job()
        held = claimed["job_id"], claimed["attempt"]
        self._json(self.send_of_job(*held, started(1), evaluation(2, scores, **more), event(3, "finished")))
        assert self._json(self.release_job(*held, "finished")) == {"state": "done"}

    def keep_game(self, slug: str = "pong", **reported: Any) -> dict[str, Any]:
        """Play a game, keep it and leave. Return the kept game."""
        number = self._object(self.user.post(f"/api/v1/games/{slug}/play"), 201)["id"]
        while (claimed := self.claim_job())["job_id"] != number:
            pass
        held = number, claimed["attempt"]
        self._json(self.send_of_job(*held, started(1), kept_game(2, **reported), event(3, "finished")))
        self._json(self.release_job(*held, "finished"))
        newest: dict[str, Any] = self._json(self.user.get("/api/v1/kept-games"))[0]
        return newest

    def running(self, **more: Any) -> tuple[int, int]:
        """Launch and claim a run, and return its id and attempt."""
        run = self.launch(**more)
        claimed = self.claim()
        assert claimed["run_id"] == run["id"]
        self._json(self.send(run["id"], claimed["attempt"], started()))
        return run["id"], claimed["attempt"]

    def save(self, run_id: int, attempt: int, seq: int, step: int, content: bytes | None = None, **more: Any) -> int:
        """Upload a checkpoint, report it, and return its id."""
        content = weights(attempt, step) if content is None else content
        self.upload(run_id, attempt, checkpoint_path(step), content)
        self._json(self.send(run_id, attempt, checkpoint(seq, step, content, **more)))
        listed = self._json(self.user.get(f"/api/v1/runs/{run_id}/checkpoints"))
        ids: list[int] = [row["id"] for row in listed if row["step"] == step and row["attempt"] == attempt]
        return ids[0]

    def lose(self, run_id: int, attempt: int, resumed_from: int) -> int:
        """Lose an attempt and return the next one, which resumes from a step."""
        self.release(run_id, attempt, "lost")
        again: int = self.claim()["attempt"]
        self._json(self.send(run_id, again, started(resumed_from=resumed_from)))
        return again

    def _object(self, response: Response, status: int = 200) -> dict[str, Any]:
        read: dict[str, Any] = self._json(response, status)
        return read

    @staticmethod
    def _json(response: Response, status: int = 200) -> Any:
        assert response.status_code == status, response.text
        return response.json()
