"""`arcadia worker join`: what it stores, and what it says when it cannot join."""

import os
import stat
from pathlib import Path

import pytest

from arcadia_workers.contract.settings import WorkerSettings
from arcadia_workers.worker import join as joining
from arcadia_workers.worker.__main__ import parse_arguments, read_settings
from tests.factories import Api


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the user's settings, without settings of workers in the environment."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in (*os.environ,):
        if name.startswith("ARCADIA_"):
            monkeypatch.delenv(name)
    return tmp_path


def settings_of(*options: str) -> WorkerSettings:
    return read_settings(parse_arguments([*options]))


@pytest.fixture
def joined(home: Path, url: str, api: Api, capsys: pytest.CaptureFixture[str]) -> Path:
    """Join a server, and return the file."""
    code = api.user.post("/api/v1/host-codes").json()["code"]
    assert joining.join([f"{url}/", code, "--name", "sun"]) == 0
    assert f"This host has joined {url}." in capsys.readouterr().out
    return home / "arcadia" / "worker.json"


def test_a_joined_host_needs_no_other_settings(joined: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stat.S_IMODE(joined.stat().st_mode) == 0o600
    settings = settings_of("--jobs", "2")
    assert (settings.backend_url, settings.jobs) == (url, 2)
    assert settings.worker_token.get_secret_value().startswith("arcadia_")
    # Variables name another server.
    monkeypatch.setenv("ARCADIA_WORKER_TOKEN", "other")
    assert settings_of().backend_url == "http://127.0.0.1:8000"


def test_a_damaged_file_is_reported(joined: Path) -> None:
    joined.write_text("{")
    with pytest.raises(SystemExit, match="it is damaged"):
        settings_of()


def test_a_code_stays_valid_if_the_file_cannot_be_written(
    home: Path, url: str, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    code = api.user.post("/api/v1/host-codes").json()["code"]
    (home / "arcadia").write_text("a file in place of the folder")
    assert joining.join([url, code]) == 1
    assert "File exists" in capsys.readouterr().err
    (home / "arcadia").unlink()
    assert joining.join([url, code]) == 0


@pytest.mark.usefixtures("home")
def test_a_host_that_cannot_join_says_why(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert joining.join([url, "wrong"]) == 1
    assert "This code was used already, has expired, or is incomplete." in capsys.readouterr().err
    assert joining.join(["http://127.0.0.1:9", "wrong"]) == 1
    assert "http://127.0.0.1:9 is not reachable" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        joining.join(["arcadia.example", "wrong"])
    assert "is not an address such as" in capsys.readouterr().err
    assert not joining.joined_file().exists()
