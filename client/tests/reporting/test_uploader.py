"""The uploader's process next to its script: online runs, kills on both sides, stop requests."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arcadia.reporting import uploader as uploader_module
from arcadia.reporting.layout import JournalDirectory
from reporting import scripts
from reporting.reported_server import Rejection, ReportedServer
from reporting.scripts import wait_until

LOOP = """
run = arcadia.init(id="mine")
print("started", flush=True)
number = 0
while not os.path.exists(os.environ["STOP_FILE"]):
    run.log({"loss": number / 3})
    number += 1
    time.sleep(0.002)
"""


@pytest.fixture
def server() -> Iterator[ReportedServer]:
    """Serve reported runs."""
    server = ReportedServer()
    yield server
    server.close()


@pytest.fixture
def online(server: ReportedServer, tmp_path: Path) -> dict[str, str]:
    """Return the environment of an online script."""
    return {"ARCADIA_MODE": "online", "ARCADIA_URL": server.url, "STOP_FILE": str(tmp_path / "stop")}


def uploader_of(folder: Path) -> int | None:
    """Return the process id of the uploader of a folder's only run."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"arcadia.reporting.uploader" in words and str(scripts.directory(folder)).encode() in words:
            return int(process.name)
    return None


def assert_arrived_once(server: ReportedServer, folder: Path) -> None:
    """Check that the server has exactly the events of the journals."""
    for writer, stored in server.events.items():
        lines = (scripts.directory(folder) / f"{writer}.jsonl").read_text().splitlines()
        assert [{name: value for name, value in event.items() if name != "seq"} for event in stored[1:]] == [
            json.loads(line) for line in lines
        ]
        assert [event["seq"] for event in stored] == list(range(1, len(lines) + 2))


def wait_for_points(server: ReportedServer, count: int) -> None:
    """Wait until the server has this many points."""
    wait_until(lambda: len(server.metrics()) >= count)


def is_complete(folder: Path) -> bool:
    return (scripts.directory(folder) / "complete").exists()


def test_a_wrong_token_ends_the_uploader_and_the_journal_can_be_uploaded_later(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    def refuse(_path: str, _body: Any) -> None:
        raise Rejection(401, "Sign in.")

    server.before = refuse
    program = """
run = arcadia.init(id="mine")
while not run._uploader._process.poll():
    run.log({"loss": run.step + 1.0})
    time.sleep(0.01)
for _ in range(10):
    run._check_at = 0.0
    run.log({"loss": run.step + 1.0})
"""
    ended = scripts.run(program, tmp_path / "journals", **online, ARCADIA_TOKEN="old")
    assert ended.returncode == 0, ended.stderr
    assert len(server.requests) == 1
    folder = scripts.directory(tmp_path / "journals")
    token = "does not accept the token from the environment variable ARCADIA_TOKEN"
    assert ended.stderr.count(token) == 1, ended.stderr
    assert ended.stderr.endswith(f"Upload them with: arcadia sync {folder}\n")
    assert "continues for an hour" not in ended.stderr
    result = uploader_module.sync(JournalDirectory(folder), server.url, "still wrong")
    assert "the argument `token`" in (result.problem or "")
    assert len(server.requests) == 2
    server.before = lambda _path, _body: None
    assert uploader_module.sync(JournalDirectory(folder), server.url).problem is None
    assert_arrived_once(server, tmp_path / "journals")


def test_a_script_has_uploaded_its_run_when_it_ends(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    program = """
with arcadia.init("maze") as run:
    for number in range(300):
        run.log({"loss": number})
    print(run.url)
"""
    ended = scripts.run(program, tmp_path / "journals", **online, ARCADIA_TOKEN="secret")
    assert ended.returncode == 0, ended.stderr
    assert server.metrics() == [(number, {"loss": number}) for number in range(300)]
    assert [end["outcome"] for end in server.of_kind("end")] == ["finished"]
    assert ended.stdout == f"{server.url}/runs/7\n"
    assert ended.stderr == f"arcadia: This run is at {server.url}/runs/7\n"
    assert server.of_kind("provenance")[0]["provenance"]["command"][1] == "-c"
    wait_until(lambda: uploader_of(tmp_path / "journals") is None)


def test_a_killed_script_fails_its_run_and_all_of_its_points_arrive(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    with scripts.start(LOOP, tmp_path / "journals", **online) as script:
        wait_for_points(server, 20)
        script.kill()
    wait_until(lambda: is_complete(tmp_path / "journals"))
    assert_arrived_once(server, tmp_path / "journals")
    assert list(server.killed) == list(server.events)


def test_a_killed_uploader_is_started_again(server: ReportedServer, online: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "journals"
    program = LOOP.replace("run =", "import arcadia.reporting.uploader_process as u; u.RESTART_SECONDS = 0.0\nrun =")
    with scripts.start(program, folder, **online) as script:
        for _ in range(2):
            wait_for_points(server, len(server.metrics()) + 1)
            os.kill(wait_until(lambda: uploader_of(folder)), signal.SIGKILL)
            wait_for_points(server, len(server.metrics()) + 100)
        (tmp_path / "stop").touch()
        assert script.wait(scripts.WAIT_SECONDS) == 0
    wait_until(lambda: is_complete(folder))
    assert_arrived_once(server, folder)
    assert [end["outcome"] for end in server.of_kind("end")] == ["finished"]


def test_a_script_that_ends_without_a_server_does_not_wait_and_its_uploader_continues(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    server.close()
    # It would wait for days, so that the test would fail.
    program = "run = arcadia.init(); run.log({'loss': 1.0}); run.finish(seconds=1e6)"
    ended = scripts.run(program, tmp_path / "journals", **online)
    assert ended.returncode == 0
    assert f"No Arcadia server answers at {server.url}" in ended.stderr
    assert f"arcadia sync {scripts.directory(tmp_path / 'journals')}" in ended.stderr
    server.open()
    wait_until(lambda: is_complete(tmp_path / "journals"))
    assert server.metrics() == [(0, {"loss": 1.0})]
    assert [end["outcome"] for end in server.of_kind("end")] == ["finished"]


@pytest.mark.required_cases(1)
@pytest.mark.parametrize(("desired", "outcome"), [("stop", "stopped"), ("pause", "paused")])
def test_a_script_stops_when_the_server_requests_it(
    server: ReportedServer, online: dict[str, str], tmp_path: Path, desired: str, outcome: str
) -> None:
    program = """
with arcadia.init() as run:
    while not run.should_stop():
        run.log({"loss": 1.0})
        time.sleep(0.01)
"""
    with scripts.start(program, tmp_path / "journals", **online) as script:
        wait_until(server.metrics)
        server.desired = desired
        assert script.wait(scripts.WAIT_SECONDS) == 0
    assert [end["outcome"] for end in server.of_kind("end")] == [outcome]


def test_a_resumed_run_is_not_stopped_by_an_old_request(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    server.desired = "stop"
    folder = tmp_path / "journals"
    scripts.run("with arcadia.init(id='mine') as run: run.url; run.log({'loss': 1.0})", folder, **online)
    server.desired = "run"
    ended = scripts.run("with arcadia.init(id='mine') as run: print(run.should_stop())", folder, **online)
    assert ended.stdout == "False\n"
    assert [end["outcome"] for end in server.of_kind("end")] == ["stopped", "finished"]


def test_a_run_that_must_exist_is_an_error_if_it_does_not(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    def reject(_path: str, body: Any) -> None:
        if body.get("resume") == "must":
            raise Rejection(404, "No run has the key mine. Use resume='allow'.")

    server.before = reject
    ended = scripts.run("arcadia.init(id='mine', resume='must')", tmp_path / "journals", **online)
    assert ended.returncode == 1
    assert ended.stderr.rstrip().endswith("No run has the key mine. Use resume='allow'.")
    assert not (tmp_path / "journals" / "mine").exists()


def test_a_run_that_the_server_rejects_does_not_stop_its_script(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    def reject(_path: str, _body: Any) -> None:
        raise Rejection(409, "The id mine is of a trained run.")

    server.before = reject
    ended = scripts.run("run = arcadia.init(id='mine'); run.log({'loss': 1.0})", tmp_path / "journals", **online)
    assert ended.returncode == 0
    assert ended.stderr.count("arcadia:") == 1
    assert "The server rejects this run: The id mine is of a trained run." in ended.stderr


def test_an_uploader_is_independent_of_the_terminal(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "journals"
    with scripts.start(LOOP, folder, **online) as script:
        wait_for_points(server, 1)
        uploader = wait_until(lambda: uploader_of(folder))
        assert os.getsid(uploader) == uploader != os.getsid(script.pid)
        # The uploader keeps none of the script's output open, so a pipe ends with the script.
        outputs, held = ({Path(f"/proc/{each}/fd/{n}").readlink() for n in (1, 2)} for each in (script.pid, uploader))
        assert not outputs & held
        (tmp_path / "stop").touch()
        assert script.wait(scripts.WAIT_SECONDS) == 0


def test_an_uploader_does_not_import_modules_of_the_current_folder(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "cwd").mkdir()
    (tmp_path / "cwd" / "json.py").write_text("raise RuntimeError('the wrong json')")
    script = tmp_path / "script.py"
    script.write_text(
        "import arcadia, os, sys\nos.chdir(sys.argv[1])\nwith arcadia.init() as run: run.log({'loss': 1.0})"
    )
    ended = scripts.run_file(script, tmp_path / "journals", str(tmp_path / "cwd"), **online)
    assert ended.returncode == 0, ended.stderr
    assert server.metrics() == [(0, {"loss": 1.0})]


def test_an_uploader_imports_few_packages() -> None:
    program = "import arcadia.reporting.uploader; print([m for m in ('httpx', 'numpy', 'typer') if m in sys.modules])"
    assert scripts.run(program, Path("unused")).stdout == "[]\n"


def test_a_script_prints_what_the_server_rejects(
    server: ReportedServer, online: dict[str, str], tmp_path: Path
) -> None:
    def reject(path: str, _body: Any) -> None:
        if "/artifact-files/" in path and "missing" not in path:
            raise Rejection(413, "The file is larger than 1 MB.")

    server.before = reject
    (tmp_path / "model.pt").write_bytes(b"x")
    program = f"run = arcadia.init(); run.log_artifact({str(tmp_path / 'model.pt')!r}); run.finish(seconds=240)"
    printed = scripts.run(program, tmp_path / "journals", **online).stderr
    assert "The artifact model.pt was left out. model.pt: The file is larger than 1 MB." in printed
    assert f"The only copy of what was left out is in {scripts.directory(tmp_path / 'journals')}." in printed
