"""Services of systemd, with a program in place of systemctl."""

import sys
from pathlib import Path

import pytest

from arcadia_workers.worker import service

RECORDER = '#!/bin/sh\necho "$@" >> "$(dirname "$0")/calls"\nexit ${STATUS:-0}\n'


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file with the calls of systemctl, as root."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    program.write_text(RECORDER)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    return program.with_name("calls")


def test_a_worker_is_installed_and_removed(calls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    units = tmp_path / "units"
    assert service.main(["install", "--units", str(units), "--", "--queue", "gpu"]) == 0
    unit = units / "arcadia-worker.service"
    lines = unit.read_text().splitlines()
    assert f"ExecStart={sys.executable} -m arcadia_backend.cli worker --queue gpu" in lines
    assert "WantedBy=multi-user.target" in lines
    assert calls.read_text().splitlines() == ["daemon-reload", "enable --now arcadia-worker.service"]
    assert "journalctl -u arcadia-worker" in capsys.readouterr().out
    assert service.main(["status", "--units", str(units)]) == 0
    assert service.main(["uninstall", "--units", str(units)]) == 0
    assert not unit.exists()
    assert calls.read_text().splitlines()[2:] == [
        "status --no-pager arcadia-worker.service",
        "disable --now arcadia-worker.service",
        "daemon-reload",
    ]
    assert service.main(["status", "--units", str(units)]) == 1
    assert "arcadia service install" in capsys.readouterr().err


def test_a_person_installs_the_server_for_themselves(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = tmp_path / "server.env"
    settings.write_text("ARCADIA_PORT=8100\n")
    assert service.main(["install", "--server", "--environment-file", str(settings)]) == 0
    text = (tmp_path / "config/systemd/user/arcadia-server.service").read_text()
    assert f"EnvironmentFile={settings}\n" in text
    assert "-m arcadia_backend.cli up\n" in text
    assert "WantedBy=default.target" in text
    assert calls.read_text().splitlines()[-1] == "--user enable --now arcadia-server.service"
    assert "loginctl enable-linger" in capsys.readouterr().out


@pytest.mark.usefixtures("calls")
def test_what_cannot_be_installed_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "none.env")
    assert service.main(["install", "--units", str(tmp_path), "--environment-file", missing]) == 1
    assert f"there is no file {missing}" in capsys.readouterr().err
    monkeypatch.setenv("STATUS", "4")
    assert service.main(["install", "--units", str(tmp_path)]) == 4
    monkeypatch.setenv("PATH", str(tmp_path))
    assert service.main(["install", "--units", str(tmp_path)]) == 1
    assert "This host has no systemd" in capsys.readouterr().out
