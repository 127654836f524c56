"""Sign-in, versions, lists, pages, completion and errors of the command line."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from arcadia import Client, StartCalibration
from arcadia.cli.main import app

from tests.client.cli.conftest import TOKEN, Arcadia, train
from tests.factories import Api
from tests.workers.waiting import PATIENCE_SECONDS

# The command, but its completion waits longer for a busy server.
PATIENT_COMMAND = f"""
import runpy
from arcadia.cli import options
options.TIMEOUT_SECONDS = {PATIENCE_SECONDS}
runpy.run_module("arcadia", run_name="__main__", alter_sys=True)
"""
DOCUMENT = Path(__file__).parents[3] / "docs" / "client" / "cli.md"


def test_login_verifies_and_stores_the_token(
    arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str
) -> None:
    monkeypatch.delenv("ARCADIA_TOKEN")
    monkeypatch.delenv("ARCADIA_URL")
    token_file = tmp_path / "token"
    token_file.write_text("wrong\n")
    refused = arcadia("login", url, "--token-file", token_file).err
    assert f"rejects this token, which is from the file {token_file}" in refused
    stored = tmp_path / "arcadia" / "client.json"
    assert not stored.exists()
    token_file.write_text(f"{TOKEN}\n")
    assert arcadia("login", url, "--token-file", token_file).status == 0
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert arcadia("workers").status == 0


def test_login_explains_an_address_with_a_path(arcadia: Arcadia, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia._sync.transport.FIRST_PAUSE_SECONDS", 0.001)
    refused = arcadia("login", f"{url}/runs")
    assert refused.status == 1
    assert f"is not the URL of an Arcadia server. Use the address without a path: arcadia login {url}." in refused.err


def test_a_missing_token_is_an_error(arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCADIA_TOKEN")
    refused = arcadia("runs")
    assert "needs a token. Run `arcadia login" in refused.err
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("arcadia: ")


def test_an_unreachable_server_is_an_error(arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia._sync.transport.FIRST_PAUSE_SECONDS", 0.001)
    failed = arcadia("runs", "--url", "http://127.0.0.1:1")
    assert failed.status == 1
    assert "No Arcadia server answers at http://127.0.0.1:1" in failed.err


def test_the_version_names_the_build_of_the_server(arcadia: Arcadia, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia.cli.options.VERSION_TIMEOUT_SECONDS", PATIENCE_SECONDS)
    shown = arcadia("--url", url, "--version").out.splitlines()
    # The commit is unknown without Git.
    assert re.fullmatch(r"arcadia-client 0\.1\.0(\+[0-9a-f]{12}(-dirty)?)?", shown[0])
    assert re.fullmatch(rf"server 0\.1\.0\S* at {re.escape(url)}", shown[-1])
    assert arcadia("--url", "http://127.0.0.1:1", "--version").status == 1


def test_presets_and_workers_are_listed(arcadia: Arcadia, api: Api) -> None:
    assert any(line.startswith("paac-cartpole ") for line in arcadia("presets").out.splitlines())
    assert json.loads(arcadia("presets", "paac-cartpole", "--json").out)["config"]["algorithm"] == "paac"
    assert re.search(r"^num_envs +\d+", arcadia("presets", "paac-cartpole").out, re.MULTILINE)
    assert "There is no preset nothing" in arcadia("presets", "nothing").err
    api.beat("shown").raise_for_status()
    assert any(line.startswith("shown ") for line in arcadia("workers").out.splitlines())
    assert "shown" in [worker["name"] for worker in json.loads(arcadia("workers", "--json").out)]


def test_usage_is_shown_by_group(arcadia: Arcadia, api: Api) -> None:
    api.beat("counted", cores=2).raise_for_status()
    api.launch()
    api.claim("counted")
    lines = arcadia("usage", "--by", "kind").out.splitlines()
    assert lines[0].split() == ["KIND", "CORE", "HOURS", "GPU", "HOURS"]
    assert any(line.startswith("training ") for line in lines)
    (row,) = (each for each in json.loads(arcadia("usage", "--by", "kind", "--json").out) if each["kind"] == "training")
    assert (row["core_hours"] > 0, row["gpu_hours"]) == (True, 0.0)
    assert "No run or job" in arcadia("usage", "--until", "2020-01-01T00:00:00Z").err
    assert (
        "to: must be later"
        in arcadia("usage", "--since", "2020-02-01T00:00:00Z", "--until", "2020-01-01T00:00:00Z").err
    )


def test_forecasts_of_starts_are_shown(arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(arcadia("workers", "forecasts", "--days", "1", "--json").out)
    assert (found["days"], found["all"]["forecasts"], found["relative_error"]) == (1, 0, None)
    shown = " ".join(arcadia("workers", "forecasts").out.split())
    assert "0 of 0 started by the stated time, too few for a share" in shown
    score = {"forecasts": 1_200, "on_time": 1_050, "share": 0.875, "low": 0.8, "high": 0.93}
    few_days = {**score, "low": None, "high": None}
    answer = StartCalibration({**found, "undisturbed": score, "all": few_days, "relative_error": 0.256})
    monkeypatch.setattr(Client, "start_forecasts", lambda _self, _days: answer)
    shown = " ".join(arcadia("workers", "forecasts").out.split())
    assert "1,050 of 1,200 started by the stated time: 88 %, 95 % interval 80 % to 93 %" in shown
    assert "1,050 of 1,200 started by the stated time: 88 %, on too few days for an interval" in shown
    assert "Error of the wait 26 % in the median" in shown
    assert "--days" in arcadia("workers", "forecasts", "--days", "0").err


def test_a_worker_is_paused_drained_resumed_and_removed(arcadia: Arcadia, api: Api) -> None:
    api.beat("shown").raise_for_status()
    for command, state in (("pause", "paused"), ("drain", "drained"), ("resume", "takes work")):
        assert arcadia("workers", command, "shown").out == f"Worker shown: {state}.\n"
        listed = next(line for line in arcadia("workers").out.splitlines() if line.startswith("shown "))
        assert (state in listed) is (command != "resume")
    assert json.loads(arcadia("workers", "pause", "shown", "--json").out)["desired"] == "pause"
    assert "Stop its process first." in arcadia("workers", "remove", "shown").err
    api.worker.post("/api/v1/worker/goodbye", json={"name": "shown"}).raise_for_status()
    assert arcadia("workers", "remove", "shown").out == "Removed worker shown.\n"
    assert "There is no worker shown." in arcadia("workers", "remove", "shown").err


def test_pages_open_in_the_browser_or_are_printed(
    arcadia: Arcadia, api: Api, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    first, second = api.launch()["id"], api.launch()["id"]
    opened: list[str] = []

    def note(page: str) -> bool:
        opened.append(page)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    assert arcadia("open", first).out == ""
    assert arcadia("open", first, second).out == ""
    assert opened == [f"{url}/runs/{first}", f"{url}/compare?runs={first},{second}"]
    assert arcadia("open", "--print").out == f"{url}/\n"
    monkeypatch.setattr(webbrowser, "open", lambda _page: False)
    assert arcadia("open", second).out == f"{url}/runs/{second}\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("show tra", "trained"),
        ("show @", "@last"),
        ("launch paac-c", "paac-cartpole"),
        ("launch p --set gam", "gamma="),
    ],
)
def test_the_shell_completes_names_of_the_server(
    environment: dict[str, str], trained: int, words: str, expected: str
) -> None:
    assert trained
    assert expected in complete(environment, words)


def test_completion_is_silent_without_a_server(environment: dict[str, str]) -> None:
    assert complete(environment | {"ARCADIA_URL": "http://127.0.0.1:1"}, "show ") in ("", "_files\n")


def complete(environment: dict[str, str], words: str) -> str:
    """Return the completions that the command gives the shell."""
    asked = {"_ARCADIA_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": f"arcadia {words}"}
    done = subprocess.run(
        [sys.executable, "-c", PATIENT_COMMAND],
        env={**os.environ, **environment, **asked},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def names_of(command: Any, *parents: str) -> Iterator[str]:
    """Yield the names of the commands that work without a subcommand."""
    if parents and getattr(command, "invoke_without_command", True):
        yield " ".join(parents)
    for name, child in getattr(command, "commands", {}).items():
        yield from names_of(child, *parents, name)


def test_the_document_lists_every_command() -> None:
    rows = DOCUMENT.read_text().partition("## Commands\n")[2]
    assert sorted(re.findall(r"`([a-z -]+)`", rows)) == sorted(names_of(typer.main.get_command(app)))


@pytest.mark.nightly
def test_the_examples_of_the_document_run(
    arcadia: Arcadia, api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    train(api, name="my-run")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) > 20
    for command in commands:
        done = arcadia(*shlex.split(command)[1:])
        assert done.status == 0, (command, done.err)
