"""Commands in a pseudo-terminal: the screen of `watch`, prompts and progress bars."""

import signal
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.cli.conftest import TOKEN, finish
from tests.client.cli.test_launch import claim_when_queued
from tests.client.terminal import BRAILLE, Terminal
from tests.factories import Api, checkpoint_path, event, metrics, sha256, started, video

InThread = Callable[[Callable[[], object]], None]
CTRL_C = "\x03"


def test_watch_shows_progress_return_chart_and_log_until_the_run_is_finished(
    api: Api, environment: dict[str, str]
) -> None:
    run, attempt = api.running(name="watched")
    with Terminal("watch", run, "--interval", "0.2", environment=environment) as terminal:
        terminal.wait_for(f"Run {run} watched  running")
        terminal.wait_for("episode/return has no values yet.")
        points = metrics(2, 100, returns=[10.0]), metrics(3, 500, returns=[30.0, 50.0])
        api.send(run, attempt, *points, event(4, "log", level="warning", message="halfway")).raise_for_status()
        terminal.wait_for("50 %")
        terminal.wait_for("return 30  best 30")
        terminal.wait_for("WARNING: halfway")
        finish(api, run, attempt, 5)
        assert terminal.wait() == 0
        last = terminal.shown.rpartition(f"Run {run} watched  ")[2]
    assert last.startswith("finished")
    assert "100 %" in last
    assert "50 ┤" in last
    assert BRAILLE.search(last)


def test_watch_shows_several_runs_as_a_table_and_fails_if_one_is_stopped(
    api: Api, environment: dict[str, str], trained: int
) -> None:
    run = api.launch(name="second")["id"]
    with Terminal("watch", trained, run, "--interval", "0.2", environment=environment) as terminal:
        terminal.wait_for("second")
        api.act(run, "stop")
        assert terminal.wait() == 1
        rows = {
            line.split()[0]: line for line in terminal.shown.splitlines() if line.startswith((str(run), str(trained)))
        }
    assert "stopped" in rows[str(run)]
    assert "finished" in rows[str(trained)]
    assert "▁" in rows[str(trained)]


@pytest.mark.parametrize("sigint", [signal.SIG_DFL, signal.SIG_IGN], ids=["foreground", "background"])
def test_ctrl_c_ends_watch_but_not_the_run(api: Api, environment: dict[str, str], sigint: signal.Handlers) -> None:
    run = api.launch()["id"]
    with Terminal("watch", run, environment=environment, sigint=sigint) as terminal:
        terminal.wait_for("queued")
        terminal.type(CTRL_C)
        assert terminal.wait() == 130
        assert f"Run {run} continues. Watch with: arcadia watch {run}" in terminal.shown
    assert api.run(run)["state"] == "queued"


@pytest.mark.parametrize(("answer", "status", "state"), [("n", 1, "queued"), ("y", 0, "stopped")])
def test_stop_asks_for_confirmation(
    api: Api, environment: dict[str, str], answer: str, status: int, state: str
) -> None:
    run = api.launch()["id"]
    with Terminal("stop", run, environment=environment) as terminal:
        terminal.wait_for("permanently? [y/N]: ")
        terminal.type(f"{answer}\n")
        assert terminal.wait() == status
    assert api.run(run)["state"] == state


def record(api: Api) -> None:
    """Claim the queued recording and report a replay, as a worker does."""
    job = claim_when_queued(api.claim_job)
    held = job["job_id"], job["attempt"]
    named = {"file": "replays/new.mp4", "poster": "replays/new.png"}
    for name, path in named.items():
        content = f"a new {name}".encode()
        query = {
            "attempt": held[1],
            "kind": "video" if name == "file" else name,
            "path": path,
            "sha256": sha256(content),
        }
        answer = api.worker.put(f"/api/v1/worker/jobs/{held[0]}/files", params=query, content=content)
        answer.raise_for_status()
    episode = video(2, 1_000, 1_000, **named, checkpoint=checkpoint_path(1_000), episode_return=21.0)
    api.send_of_job(*held, started(1), episode, event(3, "finished")).raise_for_status()
    api.release_job(*held, "finished").raise_for_status()


def test_record_asks_before_it_replaces_a_file(
    api: Api, environment: dict[str, str], trained: int, tmp_path: Path, meanwhile: InThread
) -> None:
    file = tmp_path / "episode.mp4"
    file.write_bytes(b"an older video")
    recordings = f"/api/v1/runs/{trained}/recordings"
    before = len(api.user.get(recordings).json())
    with Terminal("record", trained, "--out", file, environment=environment) as terminal:
        terminal.wait_for("episode.mp4 exists. Replace it? [y/N]: ")
        terminal.type("n\n")
        assert terminal.wait() == 1
    assert file.read_bytes() == b"an older video"
    assert len(api.user.get(recordings).json()) == before
    meanwhile(lambda: record(api))
    with Terminal("record", trained, "--out", file, environment=environment) as terminal:
        terminal.wait_for("Replace it? [y/N]: ")
        terminal.type("y\n")
        assert terminal.wait() == 0, terminal.shown
        assert "Downloading episode.mp4" in terminal.shown
    assert file.read_bytes() == b"a new file"


def test_login_asks_for_the_token_without_showing_it(environment: dict[str, str], url: str, tmp_path: Path) -> None:
    unknown = {**environment, "ARCADIA_TOKEN": "", "ARCADIA_URL": ""}
    stored = tmp_path / "arcadia" / "client.json"
    for token, status in (("wrong", 1), (TOKEN, 0)):
        with Terminal("login", url, environment=unknown) as terminal:
            terminal.wait_for(f"Token of {url} (ARCADIA_TOKEN of the server): ")
            terminal.type(f"{token}\n")
            assert terminal.wait() == status
            assert token not in terminal.shown.replace(f"{url} rejects", "")
        assert stored.exists() == (status == 0)
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
