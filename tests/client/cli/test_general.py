"""Sign-in, versions, lists, pages, completion and errors of the command line."""

import json
import re
import stat
import webbrowser
from pathlib import Path

import pytest

from tests.client.cli.conftest import TOKEN, Arcadia
from tests.factories import Api


def test_login_verifies_and_stores_the_token(
    arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str
) -> None:
    monkeypatch.delenv("ARCADIA_TOKEN")
    monkeypatch.delenv("ARCADIA_URL")
    token_file = tmp_path / "token"
    token_file.write_text("wrong\n")
    assert "rejects this token" in arcadia("login", url, "--token-file", token_file).err
    stored = tmp_path / "arcadia" / "client.json"
    assert not stored.exists()
    token_file.write_text(f"{TOKEN}\n")
    assert arcadia("login", url, "--token-file", token_file).status == 0
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert arcadia("workers").status == 0


def test_a_missing_token_is_an_error(arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARCADIA_TOKEN")
    refused = arcadia("runs")
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("arcadia: ")


def test_an_unreachable_server_is_an_error(arcadia: Arcadia, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcadia._sync.transport.FIRST_PAUSE_SECONDS", 0.001)
    failed = arcadia("runs", "--url", "http://127.0.0.1:1")
    assert failed.status == 1
    assert "No Arcadia server answers at http://127.0.0.1:1" in failed.err


def test_the_version_names_the_build_of_the_server(arcadia: Arcadia, url: str) -> None:
    shown = arcadia("--url", url, "--version").out.splitlines()
    assert shown[0].startswith("arcadia-client ")
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


def test_pages_open_in_the_browser_or_are_printed(
    arcadia: Arcadia, api: Api, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    first, second = api.launch()["id"], api.launch()["id"]
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda page: not opened.append(page))
    assert arcadia("open", first).out == ""
    assert arcadia("open", first, second).out == ""
    assert opened == [f"{url}/runs/{first}", f"{url}/compare?runs={first},{second}"]
    assert arcadia("open", "--print").out == f"{url}/\n"
    monkeypatch.setattr(webbrowser, "open", lambda _page: False)
    assert arcadia("open", second).out == f"{url}/runs/{second}\n"
