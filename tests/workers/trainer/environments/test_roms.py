"""Tests that the error about a missing game names the searched places and the solution."""

import shutil
from pathlib import Path

import pytest
from ale_py.roms import get_rom_path

from arcadia_workers.trainer.environments import environments
from arcadia_workers.trainer.environments.environments import MissingGameError

PONG = "ALE/Pong-v5"


def refusal(env: str) -> str:
    """Look up a missing game and return the error message."""
    with pytest.raises(MissingGameError) as refused:
        environments.path_of(env)
    return str(refused.value)


def test_a_game_is_found_in_ale_py_or_in_the_configured_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ALE_ROMS_DIR", raising=False)
    shipped = environments.path_of(PONG)
    assert shipped == get_rom_path("pong")
    shutil.copy(shipped, tmp_path)
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    assert environments.path_of(PONG) == tmp_path / "pong.bin"
    assert capsys.readouterr().out == ""


def test_a_missing_game_is_reported_with_the_searched_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    assert refusal(PONG) == (
        f"{PONG} is missing: ALE_ROMS_DIR is {tmp_path}, which has no pong.bin. "
        "Unset it to play the games that come with ale-py, or put the game's pong.bin there"
    )
    (tmp_path / "ms_pacman.bin").write_bytes(b"another game")
    assert f"is {tmp_path}, which has a ms_pacman.bin that is not the game's. Unset it" in refusal("ALE/MsPacman-v5")
    (tmp_path / "pong.bin").mkdir()
    assert "which has a pong.bin that cannot be read (Is a directory). Unset it" in refusal(PONG)


@pytest.mark.parametrize("name", ["none", "a file"])
def test_an_invalid_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "a file").touch()
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path / name))
    assert f"ALE_ROMS_DIR is {tmp_path / name}, which is no folder. Unset it" in refusal(PONG)


def test_an_incomplete_installation_is_reported_with_a_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    def look(_name: str) -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.delenv("ALE_ROMS_DIR", raising=False)
    monkeypatch.setattr(environments, "get_rom_path", look)
    assert refusal(PONG) == f"{PONG} is missing: this installation of ale-py has no pong.bin. Install ale-py again"


def test_only_atari_games_need_a_rom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    environments.check("CartPole-v1")
    with pytest.raises(MissingGameError):
        environments.check(PONG)
