"""Requests that none of our programs sends: each gets a response, and a rejection is a problem document."""

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from tests import factories, odd
from tests.contract.conftest import CASES, Door, at_every_door
from tests.door import Answer, Caller, Request, Tally

A_FEW = 200
MARK = "ODD VALUE"
API = "/api/v1"
HELD = (f"{API}/worker/runs/", f"{API}/worker/jobs/")
JSON = ("Content-Type", "application/json")
STUDY: dict[str, Any] = {
    "name": "x",
    "question": "",
    "preset": "paac-cartpole",
    "config": None,
    "changes": {"gamma": 0.9},
    "axes": [{"field": "learning_rate", "values": [0.1, 0.2]}, {"field": ["t_max", "num_envs"], "values": [[5, 2]]}],
    "seeds": "1-2",
    "total_steps": 1_000,
    "sampler": "grid",
    "max_concurrent_runs": 1,
    "priority": -1,
}
DRAWN: dict[str, Any] = {"field": "learning_rate", "log_uniform": [1e-3, 1e-2]}

Call = tuple[str, str, dict[str, Any]]


class Scene:
    """A running run for the requests, with a checkpoint under evaluation, a replay, points and a log."""

    def __init__(self, door: Door) -> None:
        self._api = door.api
        self._scenes = itertools.count(1)
        self.begin()

    def begin(self) -> None:
        """Start a new run with all its data."""
        api = self._api
        api.launch(priority=1_000)
        claimed = api.claim()
        self.run_id, self.attempt = claimed["run_id"], claimed["attempt"]
        files = {"checkpoint": factories.checkpoint_path(100), "video": "replays/100.mp4", "poster": "replays/100.png"}
        for kind, path in files.items():
            self.file_id = api.upload(self.run_id, self.attempt, path, b"weights", kind)
        events = [
            factories.started(),
            factories.metrics(2, 50, {"train/loss": "NaN", "train/entropy": 1.0}, [1.0, "Infinity", 3.0]),
            factories.checkpoint(3, 100, b"weights"),
            factories.video(4, 100, 100),
            factories.event(5, "log", 100, message="halfway"),
        ]
        assert api.send(self.run_id, self.attempt, *events).status_code == 200
        self.checkpoint_id = api.user.get(f"{API}/runs/{self.run_id}/checkpoints").json()[0]["id"]
        self.seq = 6
        games = api.user.get(f"{API}/kept-games").json() or [api.keep_game()]
        self.kept_id = games[0]["id"]
        self.recording_id = api.user.post(f"{API}/runs/{self.run_id}/recordings", json={}).json()["id"]
        self.evaluation_id = api.evaluate(self.run_id)["id"]
        self.calibration_id = api.user.post(f"{API}/runs/{self.run_id}/calibrations", json={}).json()["id"]
        kept = api.user.get(f"{API}/start-sets").json() or [api.import_starts(factories.start_set("human"), "x")]
        self.start_set_id = kept[0]["id"]
        self.study_id = api.user.post(f"{API}/studies", json={**STUDY, "confirm_steps": 4_000}).json()["id"]
        self.report_id = api.user.post(f"{API}/reports", json={"title": "x", "blocks": self._blocks()}).json()["id"]
        # The same run can be queued and claimed again, so its number alone does not make a name unique.
        scene = next(self._scenes)
        project = {"name": f"project {scene} of run {self.run_id}"}
        self.project_id = api.user.post(f"{API}/projects", json=project).json()["id"]
        board = {"version": 0, "panels": [self._panel()]}
        api.user.put(f"{API}/projects/{self.project_id}/board", json=board).raise_for_status()
        view = {"name": f"view {scene} of run {self.run_id}"}
        self.view_id = api.user.post(f"{API}/views", json=view).json()["id"]
        self._claim_jobs()
        self.job_seq = 1

    def _blocks(self) -> list[Any]:
        """Return one valid block of each kind."""
        return [
            {"kind": "replay", "replay": self._replay(), "caption": "x"},
            {"kind": "chart", "address": f"{API}/figures/curves?runs={self.run_id}", "caption": "x"},
            {
                "kind": "table",
                "of": "runs",
                "numbers": [self.run_id],
                "columns": ["name", "config.seed"],
                "caption": "x",
            },
            {"kind": "text", "markdown": "x"},
        ]

    def _panel(self) -> dict[str, Any]:
        return {"key": "a", "address": f"{API}/figures/curves?runs={self.run_id}"}

    def _replay(self) -> int:
        return int(self._api.user.get(f"{API}/runs/{self.run_id}/replays").json()[0]["id"])

    def _link(self) -> str:
        """Share the report and return its token."""
        return str(self._api.user.post(f"{API}/reports/{self.report_id}/share").json()["share_token"])

    def _live_game(self) -> int:
        """Start a live game of the run and end it, so that the limit of live games is never reached."""
        begun = int(self._api.user.post(f"{API}/runs/{self.run_id}/live", json={}).json()["id"])
        assert self._api.user.post(f"{API}/live/{begun}/end").status_code == 200
        return begun

    def _played_game(self) -> int:
        """Start a game that people play, and end it."""
        begun = int(self._api.user.post(f"{API}/games/pong/play").json()["id"])
        assert self._api.user.post(f"{API}/games/pong/play/{begun}/end").status_code == 200
        return begun

    def _claim_jobs(self) -> None:
        """Claim all queued jobs. The last one belongs to this scene."""
        while (answer := self._api.worker.post(f"{API}/worker/jobs/claim", json={"name": "w1"})).status_code == 200:
            claimed = answer.json()
        self.job_id, self.job_attempt = claimed["job_id"], claimed["attempt"]

    def note(self, call: Call, answer: Answer | None) -> None:
        """Update the scene after a request has changed it."""
        method, path, _ = call
        if answer is None:
            return
        if path.endswith("/events") and method == "post" and answer.status == 200:
            acknowledged = answer.json()["acknowledged"]
            if "/jobs/" in path:
                self.job_seq = acknowledged + 1
            else:
                self.seq = acknowledged + 1
        released = answer.status == 200 and path.endswith(("/release", "/merge"))
        of_scene = (
            "{run_id}",
            "{evaluation_id}",
            "{calibration_id}",
            "{recording_id}",
            "{start_set_id}",
            "{study_id}",
            "{kept_id}",
            "{report_id}",
            "{project_id}",
            "{view_id}",
        )
        removed = answer.status == 204 and path.endswith(of_scene)
        if released or removed or (answer.status == 409 and path.startswith(HELD)):
            self.begin()

    def values(self, path: str) -> dict[str, str]:
        """Return valid parameters."""
        return {
            "run_id": str(self.run_id),
            "file_id": str(self.file_id),
            "checkpoint_id": str(self.checkpoint_id),
            "evaluation_id": str(self.evaluation_id),
            "calibration_id": str(self.calibration_id),
            "recording_id": str(self.recording_id),
            "start_set_id": str(self.start_set_id),
            "study_id": str(self.study_id),
            "report_id": str(self.report_id),
            "project_id": str(self.project_id),
            "panel_key": "a",
            "view_id": str(self.view_id),
            # There are no artifacts, bulk actions, alert channels and score rules. The replay has no track, so it has
            # no futures, reviews, practices, start points or games.
            **dict.fromkeys(("artifact_id", "bulk_id", "channel_id", "delivery_id", "rule_id"), "1"),
            **dict.fromkeys(("person_id", "group_id", "role_id", "session_id", "token_id"), "1"),
            **dict.fromkeys(("futures_id", "review_id", "practice_id", "saving_id"), "1"),
            # No page has opened a stream.
            "stream": "a",
            "version": "0",
            "alias": "best",
            "token": self._link() if "{token}" in path else "",
            "position": "1",
            "live_id": str(self._live_game()) if "{live_id}" in path else "",
            "play_id": str(self._played_game()) if "/games/{slug}/play/" in path else "1",
            "kept_id": str(self.kept_id),
            "name": "a set",
            "replay_id": str(self._replay()),
            "job_id": str(self.job_id),
            "runs": str(self.run_id),
            "metrics": "train/loss,train/entropy",
            "x_metric": "train/entropy",
            "by": "method",
            "x": "learning_rate",
            "slug": "pong",
            "paper": "ga3c" if "{diagram}" in path else "a3c",
            "item": "figure-1" if "{diagram}" in path else "figure-2",
            "diagram": "ga3c",
            "protocol": "no-op-5min",
            "attempt": str(self.job_attempt if "/jobs/" in path else self.attempt),
            "kind": "checkpoint",
            "path": "checkpoints/x",
            "sha256": factories.sha256(b""),
        }

    def bodies(self, call: Call) -> list[Any]:
        """Return valid bodies."""
        method, path, _ = call
        worker = {"name": "w9", "host": "h", "queue": "cpu", "pid": 7, "version": "1", "device": "cpu", "cores": 2}
        held = {"id": self.run_id, "attempt": self.attempt}
        beside = {"job_slots": 1, "jobs": [{"id": self.job_id, "attempt": self.job_attempt}]}
        slurm = {"backend_url": "http://127.0.0.1:8000", "directory": "/x", "prepare": "true", "cores": 1}
        ray = {"backend_url": "http://127.0.0.1:8000", "address": "http://127.0.0.1:9", "prepare": "true", "gpus": 0}
        lost = {"outcome": "lost", "message": "x", "traceback": "x"}
        acting = {"name": "epsilon-greedy", "epsilon": 0.1}
        found: dict[str, list[Any]] = {
            "post /runs": [
                {"config": dict(factories.CARTPOLE), "name": "x", "tags": ["x"], "notes": "", "priority": 0},
                {"preset": "paac-cartpole", "overrides": {"seed": 1, "learning_rate": 0.1}, "queue": "cpu"},
            ],
            "post /bulk-actions": [
                {"action": "archive", "ids": [self.run_id]},
                {"action": "archive", "exclude": [self.run_id], "up_to": self.run_id},
            ],
            "patch /runs/{run_id}": [{"name": "x", "tags": ["x"], "notes": "x", "priority": 1}],
            "patch /runs/{run_id}/checkpoints/{checkpoint_id}": [{"pinned": False}],
            "patch /replays/{replay_id}": [{"pinned": False}],
            "post /runs/preview": [{"preset": "paac-cartpole", "priority": -10}],
            "post /runs/{run_id}/clone": [{"name": "x", "overrides": {"seed": 1}}],
            "post /runs/{run_id}/fork": [{"checkpoint_id": self.checkpoint_id, "overrides": {"total_steps": 9_999}}],
            "post /runs/{run_id}/evaluations": [
                {"checkpoint": "best", "protocol": "episodes", "episodes": 2, "seed": 1, "acting": acting}
            ],
            "post /runs/{run_id}/calibrations": [{"checkpoint": "newest", "episodes": 2, "every": 9, "futures": 8}],
            "post /runs/{run_id}/recordings": [{"checkpoint": "newest", "protocol": "episodes", "seed": 1}],
            "post /replays/{replay_id}/futures": [{"decision": 1, "futures": 8, "until": "life"}],
            "post /replays/{replay_id}/play": [{"decision": 1}],
            "post /replays/{replay_id}/start-points": [{"name": "x", "decision": 1, "every": 9}],
            "post /start-sets": [factories.start_set("agent")],
            "post /studies": [copy.deepcopy({**STUDY, "confirm_steps": 4_000})],
            "post /studies/preview": [copy.deepcopy({**STUDY, "sampler": "random", "points": 2, "axes": [DRAWN]})],
            "post /suites/specification": [{"games": "atari-5", "seeds": 1, "total_steps": 2_000}],
            "post /papers/{paper}/{item}/preview": [{"share": 0.01, "parts": ["pong"]}],
            "post /papers/{paper}/{item}/studies": [{"share": 0.01, "parts": ["catch"], "confirm_steps": 200_000}],
            "post /papers/{paper}/{item}/measurements": [{"parts": ["catch"]}],
            "post /reports": [{"title": "x", "blocks": self._blocks()}],
            "post /reports/preview": [{"block": block} for block in self._blocks()],
            "patch /reports/{report_id}": [{"version": 1, "title": "x", "blocks": self._blocks()}],
            "post /projects": [{"name": f"x{self.seq}", "text": "x"}],
            "patch /projects/{project_id}": [{"name": f"y{self.run_id}", "text": "x", "pinned_report_id": None}],
            "post /projects/{project_id}/merge": [{"into": "Main"}],
            "post /projects/{project_id}/items": [{"runs": [self.run_id], "studies": [], "reports": [self.report_id]}],
            "put /projects/{project_id}/board": [
                {"version": 1, "panels": [{**self._panel(), "title": "x", "filter": "id > 0", "max_runs": 3}]}
            ],
            "post /views": [{"name": f"x{self.seq}", "query": "sort=-id", "project": "Main"}],
            "patch /views/{view_id}": [{"name": f"y{self.run_id}", "query": "tag=x"}],
            "post /runs/{run_id}/changes": [
                {"fields": {"learning_rate": 0.01}},
                {"fields": {"entropy_cost": 0.02}, "more_steps": 1_000},
            ],
            "post /configurations/parse": [{"text": "learning_rate: 0.1", "base": None}],
            "patch /studies/{study_id}": [{"name": "x", "question": "x"}],
            "post /studies/{study_id}/extend": [{"seeds": 1, "best": 1}, {"seeds": 1, "of": [0]}],
            "post /session": [{"token": "x"}],
            "put /executors/slurm": [slurm],
            "post /executors/slurm/check": [slurm],
            "put /executors/ray": [ray],
            "post /executors/ray/check": [ray],
            "post /worker/runs/{run_id}/claim": [{"name": "w9", "attempt": self.attempt + 1}],
            "post /worker/claim": [{"name": "w9", "queue": "gpu"}],
            "post /worker/goodbye": [{"name": "w9"}],
            "post /worker/heartbeat": [worker | {"memory_bytes": 1, "run": held} | beside],
            "post /worker/runs/{run_id}/release": [{"attempt": self.attempt, **lost}],
            "post /worker/runs/{run_id}/events": [
                {"attempt": self.attempt, "events": [event]} for event in self.events()
            ],
            "post /worker/jobs/claim": [{"name": "w9"}],
            "post /worker/jobs/{job_id}/release": [{"attempt": self.job_attempt, **lost}],
            "post /worker/jobs/{job_id}/events": [
                {"attempt": self.job_attempt, "events": [event]} for event in self.job_events()
            ],
        }
        return found.get(f"{method} {path.removeprefix(API)}", [])

    def events(self) -> list[Any]:
        """Return one valid event of each kind."""
        seq = self.seq
        roles = [factories.role("actor", 0)]
        return [
            factories.started(seq, 100),
            factories.metrics(seq, 150, {"train/loss": 1.0}, [1.0]),
            factories.event(seq, "log", 100, level="info", message="x"),
            factories.event(seq, "roles", 100, roles=roles),
            factories.event(seq, "progress", 150, total_steps=1_000, steps_per_second=1.0, seconds_left=1.0),
            factories.checkpoint(seq, 100, b"weights", return_mean=1.0),
            factories.video(seq, 100, 100),
            factories.event(seq, "evaluation", 100, returns=[1.0]),
            factories.event(seq, "stopped", 100, reason="x"),
            factories.event(seq, "finished", 100),
            factories.event(seq, "failed", 100, message="x", traceback="x"),
        ]

    def job_events(self) -> list[Any]:
        """Return one valid event of each kind for a job."""
        seq = self.job_seq
        return [
            factories.started(seq),
            factories.evaluated_episode(seq, 1, 30),
            factories.evaluation(seq, [1.0, "NaN"]),
            factories.kept_game(seq),
            factories.event(seq, "film", file="x.mp4", poster="x.png"),
            factories.event(seq, "log", 100, level="warning", message="x"),
            factories.event(seq, "finished", 100),
        ]


@dataclass(frozen=True)
class Probe:
    """An odd call. Its request is built when it is sent, because the scene changes."""

    call: Call
    write: Callable[[Scene], Request]


def usual(door: Door, scene: Scene, call: Call, **more: Any) -> Request:
    """Return a valid request, except for `address` (replaces parameters), `headers`, `body`, `query` or `reported`."""
    method, path, described = call
    values, query = scene.values(path), []
    address: dict[str, str] = more.get("address", {})
    for parameter in described.get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", address.get(name) or values[name])
        elif parameter["in"] == "query" and (parameter.get("required") or name in address):
            query.append(f"{quote(name)}={address.get(name, values.get(name))}")
    body = more.get("body")
    if body is None and (right := scene.bodies(call)):
        body = json.dumps(right[0]).encode()
    headers = [*door.headers(path).items(), *([JSON] if body is not None else [])]
    own: list[tuple[str, str | bytes]] = more.get("headers", [])
    named = {name for name, _ in own}
    headers = [pair for pair in headers if pair[0] not in named]
    asked = "&".join([*query, *more.get("query", [])])
    target = path + (f"?{asked}" if asked else "")
    return Request(method.upper(), target, [*headers, *own], body or b"", more.get("reported", ""))


def probes(door: Door) -> Iterator[Probe]:
    """Yield every call with each odd value in each parameter, header and field of the body."""
    scene = Scene(door)
    for path, methods in door.document["paths"].items():
        for method, described in methods.items():
            call = (method, path, described)
            yield from _in_address(door, call)
            yield from _in_headers(door, call)
            if described.get("requestBody"):
                yield from _in_body(door, scene, call)


def _probe(door: Door, call: Call, reported: str, **more: Any) -> Probe:
    return Probe(call, lambda scene: usual(door, scene, call, reported=reported, **more))


def _in_address(door: Door, call: Call) -> Iterator[Probe]:
    for parameter in call[2].get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "header":
            continue
        for value in odd.IN_ADDRESS:
            yield _probe(door, call, f"{name}={value[:50]}", address={name: value})
        yield _probe(door, call, f"{name} twice", address={name: "1"}, query=[f"{name}=2"])
        yield _probe(door, call, f"{name} often", address={name: "1"}, query=[f"{name}=1"] * 2_000)
    for query in odd.QUERIES:
        yield _probe(door, call, f"?{query[:20]}", query=[query])


def _in_headers(door: Door, call: Call) -> Iterator[Probe]:
    for name, value in odd.HEADERS:
        yield _probe(door, call, f"{name}: {value[:50]!r}", headers=[(name, value)])


def _in_body(door: Door, scene: Scene, call: Call) -> Iterator[Probe]:
    for reported, body in (odd.BODIES | odd.LARGE_BODIES).items():
        yield _probe(door, call, reported, body=body)
    yield _probe(door, call, "gzip", body=odd.BODIES["a bomb"], headers=[("Content-Encoding", "gzip")])
    for number, right in enumerate(scene.bodies(call)):
        for place in _places(right):
            for reported, value in odd.JSON_VALUES.items():
                yield Probe(call, _with_odd_field(door, call, number, place, reported, value))


def _with_odd_field(
    door: Door, call: Call, number: int, place: tuple[Any, ...], reported: str, value: str
) -> Callable[[Scene], Request]:
    def write(scene: Scene) -> Request:
        right = scene.bodies(call)[number]
        inner = right
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = MARK
        body = json.dumps(right).replace(f'"{MARK}"', value).encode()
        return usual(door, scene, call, body=body, reported=f"{'.'.join(map(str, place))}: {reported}")

    return write


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value in a body, at any depth."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*above, key)
        yield from _places(inner, (*above, key))


@at_every_door
@pytest.mark.timeout(0 if CASES else 600)
def test_an_odd_request_is_answered_or_rejected_with_a_problem(door: Door, capsys: pytest.CaptureFixture[str]) -> None:
    every = list(probes(door))
    # The number of cases is also the seed, so another number selects other probes.
    random.Random(CASES).shuffle(every)
    scene, caller, tally = Scene(door), Caller(door.port), Tally()
    for probe in every[: CASES or A_FEW]:
        scene.note(probe.call, tally.ask(caller, probe.write(scene)))
    caller.close()
    if CASES:
        with capsys.disabled():
            print(f"\nodd requests: {tally}; there are {len(every):,}")
    assert not tally.violations, "\n".join(tally.violations[:400])
