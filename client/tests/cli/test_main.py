"""The `arcadia` command: commands of installed packages, and its messages without them."""

from __future__ import annotations

import io
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from arcadia.cli import login
from arcadia.cli import main as main_module
from arcadia.cli.main import main
from arcadia.errors import ArcadiaError


def greet(arguments: list[str]) -> int:
    """Greet somebody.

    More about it.
    """
    print("hello", *arguments)
    return 3


def version() -> str:
    return "greetings 2.0"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """Replace the installed entry points. The list may be changed."""
    module = ModuleType("greetings")
    module.greet, module.version = greet, version  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "greetings", module)
    found = [
        EntryPoint("greet", "greetings:greet", main_module.COMMANDS_GROUP),
        EntryPoint("broken", "greetings_that_do_not_exist:greet", main_module.COMMANDS_GROUP),
        EntryPoint("greetings", "greetings:version", main_module.VERSIONS_GROUP),
    ]
    monkeypatch.setattr(main_module, "entry_points", lambda group: [entry for entry in found if entry.group == group])
    return found


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["arcadia", *arguments])
    try:
        return main()
    except SystemExit as ended:
        return int(ended.code or 0)


def test_an_added_command_gets_its_arguments_and_sets_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "greet", "--loud", "you") == 3
    assert capsys.readouterr().out == "hello greet --loud you\n"


def test_the_help_lists_added_commands_and_the_error_of_a_broken_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--help") == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) > 1)
    assert listed["greet"] == "Greet somebody."
    assert listed["broken"].startswith("Cannot be loaded: ModuleNotFoundError")


def test_the_version_names_client_and_added_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--version") == 0
    client, other = capsys.readouterr().out.splitlines()
    assert client.startswith("arcadia-client ")
    assert other == "greetings 2.0"


@pytest.mark.parametrize("name", ["up", "worker", "train"])
def test_a_missing_server_command_explains_how_to_install_it(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, name) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"`arcadia {name}` needs the server, which is not installed in this environment.")
    assert "pip install dist/arcadia_client-" in said


@pytest.mark.parametrize(
    ("variables", "arguments", "sentence"),
    [
        ({"ARCADIA_URL": "http://:bad"}, ["runs"], "http://:bad is not a URL"),
        ({"ARCADIA_TOKEN": "pä"}, ["runs"], "contains a character that is not ASCII"),
    ],
)
def test_wrong_settings_are_sentences(
    variables: dict[str, str],
    arguments: list[str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(monkeypatch, *arguments) == 1
    assert sentence in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_arguments: object, **_named: object) -> None:
        raise IsADirectoryError(21, "Is a directory", "folder")

    monkeypatch.setattr(type(main_module.app), "__call__", fail)
    assert run(monkeypatch, "runs") == 1
    assert capsys.readouterr().err == "arcadia: folder: Is a directory.\n"


@pytest.mark.parametrize("content", ["pä\n".encode(), b"\xff\xfe\n"])
def test_a_piped_token_that_is_not_ascii_is_an_error(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))
    with pytest.raises(ArcadiaError, match="The token from the standard input contains a character that is not ASCII"):
        login._given_token()
