"""Files of strangers: none breaks the server or the importers, leaves its folder, or leaves a file behind.

`make fuzz` sends thousands of each kind. By default, a few of each are enough to notice breakage.
"""

import copy
import io
import json
import random
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import stable_baselines3
from arcadia.errors import ArcadiaError
from arcadia.importing import tables, tensorboard_files, wandb_files
from arcadia.importing.sending import SourceRun, read_events
from arcadia.reporting import uploader
from arcadia.reporting.connection import Connection, RejectedError
from arcadia.reporting.layout import JournalDirectory
from sqlalchemy import select
from tensorboardX import SummaryWriter

from arcadia_backend.config import Settings
from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Checkpoint, File
from arcadia_backend.files.storage import INCOMING, stored_path
from arcadia_workers.contract.worker_api import ENDED
from tests import hostile
from tests.backend.agents.conftest import Agents, edited, unpack
from tests.backend.archives.conftest import create_rich_run
from tests.backend.archives.test_refusals import packed as packed_archive
from tests.backend.configuration.test_pasted import BASE, TEXTS
from tests.backend.reported.conftest import PNG, Script
from tests.backend.test_saliency import ask, compute, made_saliency, made_track, replay
from tests.contract.conftest import CASES
from tests.factories import Api, Response, sha256

A_FEW = 8
SEED = 20_261_128
API = "/api/v1"
PAGES = (
    *("", "/evaluations", "/calibrations", "/checkpoints", "/replays", "/provenance", "/changes", "/media", "/log"),
    *("/metrics", "/agent", "/warnings", "/marks"),
)

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
patient = pytest.mark.timeout(0 if CASES else 600)


@dataclass
class Tally:
    """Outcomes of the files of one kind, and what was wrong."""

    kind: str
    outcomes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def note(self, number: int, outcome: str, problem: str | None = None) -> None:
        """Count the outcome of a file."""
        self.outcomes[outcome] += 1
        if problem:
            self.problems.append(f"file {number} of seed {SEED}: {problem[:1_000]}")

    def finish(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Print the outcomes if there are many, and fail if a file was a problem."""
        if CASES:
            with capsys.disabled():
                print(f"\n{self}")
        assert not self.problems, "\n".join(self.problems)

    def __str__(self) -> str:
        shown = ", ".join(f"{outcome}: {count}" for outcome, count in sorted(self.outcomes.items()))
        return f"{self.kind}: {self.outcomes.total()} files, {len(self.problems)} problems ({shown})"


@dataclass(frozen=True)
class Scene:
    """A server with its folder."""

    api: Api
    database: Database
    settings: Settings
    folder: Path
    capsys: pytest.CaptureFixture[str]

    def files(self) -> set[Path]:
        """Return the files of the folder, except those of the database, locks and logs."""
        root = self.settings.files_dir
        return {path for path in root.rglob("*") if path.is_file() and not path.name.startswith(".")}

    def send_all(self, kind: str, make: Callable[[random.Random], Any], send: Callable[[Any], Response]) -> None:
        """Send files of a kind. Fail if a response is not as expected, or a file is left."""
        tally, before = Tally(kind), self.files()
        for number in range(CASES or A_FEW):
            made = random.Random(SEED + number)
            try:
                response = send(make(made))
                tally.note(number, str(response.status_code), wrong_with(response))
            except Exception as error:
                tally.note(number, type(error).__name__, repr(error))
        tally.finish(self.capsys)
        assert self.files() == before
        assert list((self.settings.files_dir / INCOMING).glob("*")) == []
        assert_nothing_escaped(self.folder)


def wrong_with(response: Response) -> str | None:
    """Return what is wrong with a response, or None."""
    if response.status_code >= 500:
        return f"{response.status_code} {response.text}"
    if response.status_code >= 400 and "detail" not in response.json():
        return f"{response.status_code} without a reason: {response.text}"
    return None


def assert_nothing_escaped(folder: Path) -> None:
    """Fail if a file was written outside."""
    places = [Path(hostile.OUTSIDE), Path(hostile.MARK), Path("/") / hostile.MARK]
    assert [place for place in places if place.exists()] == []
    assert [path for path in folder.rglob("*") if hostile.MARK in path.name] == []


@pytest.fixture
def scene(
    api: Api, database: Database, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Scene:
    """Return a server with its folder."""
    return Scene(api, database, settings, tmp_path, capsys)


def members_of(content: bytes) -> hostile.Members:
    """Return the members of a zip file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def purge(scene: Scene, run_ids: list[int]) -> None:
    """Delete imported runs, after all of their pages were read."""
    for run_id in run_ids:
        for page in PAGES:
            response = scene.api.user.get(f"{API}/runs/{run_id}{page}")
            assert response.status_code < 500, f"{page}: {response.text}"
        assert scene.api.user.get(f"{API}/export/runs/{run_id}.csv").status_code < 500
        for job in scene.api.user.get(f"{API}/runs/{run_id}/recordings").json():
            scene.api.user.delete(f"{API}/runs/{run_id}/recordings/{job['id']}")
        scene.api.user.post(f"{API}/runs/{run_id}/stop")
        response = scene.api.user.delete(f"{API}/runs/{run_id}")
        assert response.status_code == 204, response.text


def load_agent(scene: Scene, **query: Any) -> Callable[[bytes], Response]:
    """Return a function that imports an agent, and deletes it again."""

    def load(content: bytes) -> Response:
        response = scene.api.user.post(f"{API}/agents", params=query, content=content)
        if response.status_code == 201 and not response.json()["already"]:
            purge(scene, [response.json()["run_id"]])
        return response

    return load


@patient
@on_sqlite
def test_agent_files(scene: Scene) -> None:
    agents = Agents(scene.api, scene.folder / "made")
    members = unpack(agents.export(agents.train()))

    def make(made: random.Random) -> bytes:
        if made.random() < 0.4:
            return hostile.hostile_zip(made, members)
        changed = dict(members)
        if made.random() < 0.5:
            changed["weights.safetensors"] = hostile.hostile_tensors(made, members["weights.safetensors"])
            return edited(changed)
        changed["agent.json"] = json.dumps(hostile.odd_json(made, json.loads(members["agent.json"]))).encode()
        return hostile.packed(changed)

    scene.send_all("agents", make, load_agent(scene))


@pytest.fixture(scope="module")
def baselines(tmp_path_factory: pytest.TempPathFactory) -> hostile.Members:
    """Return the members of a model of Stable-Baselines3."""
    path = tmp_path_factory.mktemp("model") / "model.zip"
    stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, device="cpu").save(path)
    return members_of(path.read_bytes())


@patient
@on_sqlite
def test_models_of_stable_baselines(scene: Scene, baselines: hostile.Members) -> None:
    def make(made: random.Random) -> bytes:
        name = made.choice(("data", "policy.pth"))
        if made.random() < 0.5:
            return hostile.hostile_zip(made, baselines)
        if name == "data":
            changed = json.dumps(hostile.odd_json(made, json.loads(baselines["data"]))).encode()
        else:
            changed = hostile.hostile_zip(made, members_of(baselines["policy.pth"]))
        return hostile.packed({**baselines, name: changed})

    scene.send_all("models", make, load_agent(scene, env="CartPole-v1"))


@patient
@on_sqlite
def test_pickles_of_weights(scene: Scene, baselines: hostile.Members) -> None:
    policy = members_of(baselines["policy.pth"])
    (name,) = (name for name in policy if name.endswith("data.pkl"))

    def make(made: random.Random) -> bytes:
        changed = {**policy, name: hostile.hostile_pickle(made, policy[name])}
        return hostile.packed({**baselines, "policy.pth": hostile.packed(changed)})

    scene.send_all("pickles", make, load_agent(scene, env="CartPole-v1"))


@pytest.fixture
def archive(scene: Scene) -> hostile.Members:
    """Return the members of an archive with a run and a report. They are deleted here."""
    run_id = create_rich_run(scene.api)
    table = {"kind": "table", "of": "runs", "numbers": [run_id], "columns": ["name", "config.seed"], "caption": ""}
    chart = {"kind": "chart", "address": f"{API}/figures/curves?runs={run_id}", "caption": "x"}
    body = {"title": "x", "blocks": [{"kind": "text", "markdown": "# x\n\n$\\sqrt{2}$"}, table, chart]}
    report = scene.api.user.post(f"{API}/reports", json=body).json()["id"]
    content = scene.api.user.get(f"{API}/archives", params={"reports": report}).content
    assert scene.api.user.delete(f"{API}/reports/{report}").status_code == 204
    assert scene.api.user.delete(f"{API}/runs/{run_id}").status_code == 204
    return members_of(content)


def load_archive(scene: Scene) -> Callable[[bytes], Response]:
    """Return a function that imports an archive, and deletes what it brought."""

    def load(content: bytes) -> Response:
        response = scene.api.user.post(f"{API}/archives", content=content)
        if response.status_code == 201:
            for report in response.json()["reports"]:
                for page in ("", "/export"):
                    assert scene.api.user.get(f"{API}/reports/{report}{page}").status_code < 500
                assert scene.api.user.delete(f"{API}/reports/{report}").status_code == 204
            purge(scene, response.json()["runs"])
        return response

    return load


@patient
def test_archives(scene: Scene, archive: hostile.Members) -> None:
    def make(made: random.Random) -> bytes:
        if made.random() < 0.7:
            return hostile.hostile_zip(made, archive)
        manifest = json.dumps(hostile.odd_json(made, json.loads(archive["archive.json"]))).encode()
        return hostile.packed({**archive, "archive.json": manifest})

    scene.send_all("archives", make, load_archive(scene))


@patient
def test_rows_of_archives(scene: Scene, archive: hostile.Members) -> None:
    rows = [name for name in archive if name.endswith(".jsonl") and archive[name]]

    def make(made: random.Random) -> bytes:
        changed = dict(archive)
        # Each file once, because a damaged line cannot be made odd again.
        for name in made.sample(rows, made.choice((1, 1, 3))):
            changed[name] = hostile.odd_lines(made, changed[name])
        return packed_archive(changed)

    scene.send_all("rows", make, load_archive(scene))


@patient
def test_points_of_archives(scene: Scene, archive: hostile.Members) -> None:
    points = [name for name in archive if name.endswith(".npy")]

    def make(made: random.Random) -> bytes:
        name = made.choice(points)
        return packed_archive({**archive, name: hostile.hostile_array(made, archive[name])})

    scene.send_all("points", make, load_archive(scene))


def place_of(scene: Scene, file_id: int) -> Path:
    """Return where a file is stored."""
    with scene.database.read() as session:
        return stored_path(scene.settings.files_dir, session.get_one(File, file_id).stored_path)


@patient
@on_sqlite
def test_tracks(scene: Scene) -> None:
    run_id, replay_id = replay(scene.api)
    row = scene.api.user.get(f"{API}/runs/{run_id}/replays").json()[0]
    place, members = place_of(scene, row["track_file_id"]), members_of(made_track())

    def send(content: bytes) -> Response:
        place.write_bytes(content)
        assert scene.api.user.get(f"{API}/figures/action-shares", params={"run": run_id}).status_code < 500
        for path in ("futures", "start-points", "saliency", "live"):
            asked = scene.api.user.post(f"{API}/replays/{replay_id}/{path}", json={"decision": 1, "name": "x"})
            assert asked.status_code < 500, asked.text
        return scene.api.user.get(f"{API}/replays/{replay_id}/track")

    scene.send_all("tracks", lambda made: hostile.hostile_columns(made, members), send)


@patient
@on_sqlite
def test_saliency_maps(scene: Scene) -> None:
    _, replay_id = replay(scene.api)
    ask(scene.api, replay_id)
    compute(scene.api, made_saliency())
    file_id = scene.api.user.get(f"{API}/replays/{replay_id}/saliency").json()["file_id"]
    place, members = place_of(scene, file_id), members_of(made_saliency())

    def send(content: bytes) -> Response:
        place.write_bytes(content)
        return scene.api.user.get(f"{API}/replays/{replay_id}/saliency/maps")

    scene.send_all("saliency maps", lambda made: hostile.hostile_columns(made, members), send)


@patient
@on_sqlite
def test_checkpoints_as_agents(scene: Scene) -> None:
    run_id = Agents(scene.api, scene.folder / "made").train()
    with scene.database.read() as session:
        file_id = session.scalars(select(Checkpoint.file_id).where(Checkpoint.run_id == run_id)).one()
    place = place_of(scene, file_id or 0)
    valid = place.read_bytes()

    def send(content: bytes) -> Response:
        place.write_bytes(content)
        return scene.api.user.get(f"{API}/runs/{run_id}/agent")

    scene.send_all("checkpoints", lambda made: hostile.hostile_tensors(made, valid), send)


@patient
@on_sqlite
def test_media_of_scripts(scene: Scene) -> None:
    heads = (PNG, b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBP", b"\0\0\0 ftypisom", b"\x1a\x45\xdf\xa3webm", b"")

    def make(made: random.Random) -> bytes:
        return hostile.damaged(made, made.choice(heads) + made.randbytes(200))

    def send(content: bytes) -> Response:
        script = Script(scene.api.user)
        assert script.begin().is_success
        name = random.Random(content).choice((sha256(content), "0" * 64, "..%2f..%2fx", "x"))
        response = script.upload(content, name)
        script.post(script.event("media", media="image", name="x", step=1, sha256=name))
        script.post(script.event("end", outcome="finished"))
        purge(scene, [script.run_id])
        return response

    scene.send_all("media", make, send)


class InProcessConnection(Connection):
    """Connection to the server of a test, without a network."""

    user: Any

    def _request(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> dict[str, Any]:
        """Return an answer. Raise RejectedError if the server refuses."""
        content = body if isinstance(body, bytes) else body.read()
        response = self.user.request(method, API + path, content=content, headers=dict(headers))
        if problem := wrong_with(response):
            raise AssertionError(problem)
        if not response.is_success:
            raise RejectedError(response.status_code, response.json())
        return dict(response.json() if response.content else {})


def journal() -> hostile.Members:
    """Return the files of a run that was logged offline."""
    registration = {"key": "stranger", "writer": "w1", "name": "Maze", "started_at": "2026-11-28T10:00:00+00:00"}
    model = b"weights"
    events: tuple[dict[str, Any], ...] = (
        {"kind": "config", "time": 1.0, "values": {"lr": 1e-3, "env": "Maze"}},
        {"kind": "metrics", "time": 2.0, "step": 1, "values": {"loss": 0.5, "train/return": "NaN"}},
        {"kind": "media", "time": 3.0, "step": 1, "name": "maze", "media": "image", "sha256": sha256(PNG)},
        {
            "kind": "artifact",
            "time": 4.0,
            "artifact": {"name": "model", "entries": [{"path": "m.pt", "sha256": sha256(model), "bytes": len(model)}]},
        },
        {"kind": "end", "time": 5.0, "outcome": "finished"},
    )
    return {
        "w1.json": json.dumps({"registration": {**registration, "host": "elsewhere"}, "script": {}}).encode(),
        "w1.provenance": b'{"kind":"log","time":1.0,"level":"info","message":"Unknown."}\n',
        "w1.jsonl": b"".join(json.dumps(event, separators=(",", ":")).encode() + b"\n" for event in events),
        f"files/{sha256(PNG)}": PNG,
        f"artifacts/{sha256(model)}": model,
    }


@patient
@on_sqlite
def test_journals(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploader, "Connection", InProcessConnection)
    monkeypatch.setattr(InProcessConnection, "user", scene.api.user, raising=False)
    tally, valid = Tally("journals"), journal()
    for number in range(CASES or A_FEW):
        made, folder = random.Random(SEED + number), tmp_path / "journals" / str(number)
        for name, content in hostile.hostile_journal(made, valid).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        try:
            result = uploader.sync(JournalDirectory(folder), "http://server", "token")
            tally.note(number, "refused" if result.problem else "uploaded")
        except Exception as error:
            tally.note(number, type(error).__name__, repr(error))
        # A journal without an end leaves a run that only its script can end. The next journals continue it.
        runs = scene.api.user.get(f"{API}/runs").json()["items"]
        purge(scene, [run["id"] for run in runs if run["state"] in ENDED])
        for artifact in scene.api.user.get(f"{API}/artifacts").json()["items"]:
            assert scene.api.user.get(f"{API}/artifacts/{artifact['id']}").is_success
            assert scene.api.user.delete(f"{API}/artifacts/{artifact['id']}").is_success
    tally.finish(scene.capsys)
    assert_nothing_escaped(scene.folder)
    assert tally.outcomes["uploaded"]


@patient
@on_sqlite
def test_pasted_configurations(scene: Scene) -> None:
    def send(text: str) -> Response:
        return scene.api.user.post(f"{API}/configurations/parse", json={"text": text, "base": BASE})

    scene.send_all("configurations", lambda made: hostile.hostile_settings(made, TEXTS), send)


def varint(value: int) -> bytes:
    """Encode a number of protobuf."""
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def part(number: int, content: str | bytes) -> bytes:
    """Encode a field of protobuf."""
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def wandb_record(content: bytes) -> bytes:
    """Return a record of a wandb file."""
    return struct.pack("<IHB", 0, len(content) & 0xFFFF, 1) + content


def wandb_file() -> bytes:
    """Return a wandb file with a run, a number, an image, a table and a histogram."""

    def history(name: str, value: Any) -> bytes:
        return part(2, part(1, part(2, name) + part(16, json.dumps(value))))

    media: list[dict[str, Any]] = [
        {"_type": kind, "path": "media/file"} for kind in ("image-file", "video-file", "table-file")
    ]
    media.append({"_type": "histogram", "bins": [0, 1, 2], "values": [3, 4]})
    records = [part(17, part(1, "abc") + part(3, "maze") + part(8, "first"))]
    records += [history("loss", 0.5), *(history(value["_type"], value) for value in media)]
    return b":W&B\xe1\xbe\x00" + b"".join(map(wandb_record, records))


def event_record(content: bytes) -> bytes:
    """Return a record of an event file."""
    size = struct.pack("<Q", len(content))
    return size + struct.pack("<I", tensorboard_files.masked_crc32c(size)) + content + bytes(4)


def event_file(folder: Path) -> bytes:
    """Return an event file of TensorBoard."""
    with SummaryWriter(str(folder)) as writer:
        writer.add_scalar("loss", 0.5, 1)
        writer.add_histogram("weights", [0.0, 1.0, 1.0], 2)
        writer.add_text("note", "warm-up", 3)
    (path,) = folder.iterdir()
    return path.read_bytes()


Importer = tuple[str, bytes, Callable[[Path, list[str]], list[SourceRun]], Callable[[bytes], bytes]]


def importers(folder: Path) -> Iterator[Importer]:
    """Yield the file name, a valid file, the importer and the framing of records of each kind."""
    yield "run.wandb", wandb_file(), lambda path, problems: wandb_files.find_runs(path.parent, problems), wandb_record
    events = event_file(folder / "events")
    yield "events.out.tfevents.1", events, lambda path, _: tensorboard_files.find_runs(path.parent), event_record
    yield (
        "progress.csv",
        b"step,loss,name\n1,0.5,a\n2,nan,b\n",
        tables.find_csv,
        lambda row: row + b"\n",
    )
    monitor = b'#{"t_start": 1.5, "env_id": "x"}\nr,l,t\n1.0,20,0.5\n'
    yield "0.monitor.csv", monitor, tables.find_monitors, lambda row: row + b"\n"


@patient
def test_logs_of_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = b"the content of a file elsewhere"
    for name in (hostile.MARK, f"{hostile.MARK}x"):
        (tmp_path / name).write_bytes(secret)
    for name, valid, find, frame in importers(tmp_path):
        folder = tmp_path / name.split(".")[0] / "logs"
        (folder / "files" / "media").mkdir(parents=True)
        (folder / "files" / "media" / "file").write_bytes(PNG)
        (folder / "files" / "link").symlink_to(tmp_path / hostile.MARK)
        (folder / hostile.MARK[:4]).symlink_to(tmp_path)
        tally = Tally(name)
        for number in range(CASES or A_FEW):
            made = random.Random(SEED + number)
            (folder / name).write_bytes(hostile.hostile_log(made, valid, b"media/file", frame))
            problems: list[str] = []
            try:
                runs = find(folder / name, problems)
                events = [event for run in runs for file in run.files for event in read_events(file)]
            except ArcadiaError as error:
                tally.note(number, "refused", None if str(error) else "no reason")
            except Exception as error:
                tally.note(number, type(error).__name__, repr(error))
            else:
                if problems:
                    tally.note(number, "refused", None if all(problems) else "no reason")
                    continue
                leaks = any(secret in event.get("content", b"") for event in copy.deepcopy(events))
                tally.note(number, "read", "a file elsewhere was read" if leaks else None)
        tally.finish(capsys)
