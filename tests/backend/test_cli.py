import contextlib
import importlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from arcadia.cli.main import SERVER_COMMANDS

from arcadia_backend.cli import JOB_COMMANDS, PROGRAMS, parse_arguments, read_settings, start_all
from arcadia_workers.contract.build import build
from arcadia_workers.contract.plugins.discovery import allow
from tests.workers.waiting import PATIENCE_SECONDS

WITHOUT = """
import sys
for missing in {missing!r}:
    sys.modules[missing] = None
sys.argv = ["arcadia", *{arguments!r}]
from arcadia.cli.main import main
sys.exit(main())
"""
OF_THE_BACKEND = ["fastapi", "uvicorn", "sqlalchemy", "alembic", "plotly", "psycopg"]
OF_THE_TRAINER = ["torch", "gymnasium", "ale_py", "av", "safetensors"]


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        (OF_THE_BACKEND, ["worker", "--help"], "arcadia worker"),
        (OF_THE_BACKEND, ["train", "--help"], "--preset"),
        (OF_THE_BACKEND, ["evaluate", "--help"], "human-starts"),
        (OF_THE_TRAINER, ["backend", "--help"], "--port"),
        (OF_THE_TRAINER, ["--version"], f"arcadia {build()}, database schema 00"),
        (OF_THE_BACKEND, ["--version"], f"arcadia {build()}\n"),
        ([*OF_THE_BACKEND, *OF_THE_TRAINER], ["--help"], "Start the backend, a worker and Redis on this machine."),
        (OF_THE_TRAINER, ["up", "--help"], "--workers N"),
    ],
)
def test_each_command_starts_with_only_its_own_packages_installed(
    missing: list[str], arguments: list[str], said: str
) -> None:
    program = WITHOUT.format(missing=missing, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.parametrize("command", SERVER_COMMANDS)
def test_the_help_of_each_command_names_it_as_it_is_typed(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_program = command in PROGRAMS and command not in JOB_COMMANDS
    monkeypatch.setattr(sys, "argv", ["program", *([] if is_program else [command]), "--help"])
    module = PROGRAMS.get(command, "arcadia_backend.cli")
    with contextlib.suppress(ModuleNotFoundError):
        module = importlib.import_module(f"{module}.__main__").__name__
    with pytest.raises(SystemExit) as done:
        importlib.import_module(module).main()
    assert done.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: arcadia {command} ")


def arcadia(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run an `arcadia` command."""
    return subprocess.run(
        [sys.executable, "-m", "arcadia_backend.cli", *arguments],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_up_warns_of_plug_ins_that_another_data_folder_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ARCADIA_PLUGINS", raising=False)
    monkeypatch.setattr("arcadia_backend.startup.up.up", lambda *_: 0)
    monkeypatch.chdir(tmp_path)
    allow("arcadia-toy", Path("data"))
    start_all(read_settings(parse_arguments(["up", "--data", "other"])), 1)
    assert f"{tmp_path / 'data'} allows plug-ins arcadia-toy, but" in capsys.readouterr().err
    start_all(read_settings(parse_arguments(["up"])), 1)
    assert "arcadia-toy" not in capsys.readouterr().err


@pytest.mark.nightly
def test_migrate_creates_the_database(tmp_path: Path) -> None:
    assert arcadia("migrate", "--data", str(tmp_path)).returncode == 0
    with sqlite3.connect(tmp_path / "arcadia.db") as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (0,)


@pytest.mark.required_cases(2)
@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["backend", "--port", "70000"], {}, "ARCADIA_PORT"),
        (["backend"], {"ARCADIA_LEASE_SECONDS": "soon"}, "ARCADIA_LEASE_SECONDS"),
        (["worker", "--name", "../up"], {}, "use up to 100 letters"),
    ],
)
def test_errors_are_one_sentence_without_a_traceback(arguments: list[str], settings: dict[str, str], said: str) -> None:
    done = arcadia(*arguments, **settings)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.nightly
def test_a_backup_is_created_and_restored(tmp_path: Path) -> None:
    old, copy, new = (tmp_path / name for name in ("old", "copy", "new"))
    arcadia("migrate", "--data", str(old))
    made = arcadia("backup", str(copy), "--data", str(old))
    assert (made.returncode, made.stdout) == (0, f"0 runs and 0 files, each verified, are in {copy}.\n")
    put_back = arcadia("restore", str(copy), "--data", str(new))
    assert put_back.returncode == 0, put_back.stderr
    assert put_back.stdout.startswith("0 runs and 0 files of 2")
    again = arcadia("backup", str(copy), "--data", str(old))
    assert (again.returncode, again.stdout) == (os.EX_CONFIG, "")
    assert again.stderr == f"arcadia: {copy} is not empty. Use a new folder for the backup.\n"
