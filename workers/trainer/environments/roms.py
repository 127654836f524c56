"""Location of an Atari game's ROM: the folder ALE_ROMS_DIR or ale-py itself."""

import contextlib
import io
import os
from pathlib import Path

from ale_py.roms import get_rom_path

from workers.contract.games import ENVIRONMENTS, rom_of
from workers.trainer.errors import TrainerError


class MissingGameError(TrainerError):
    """The ROM of the game was not found."""


def check(env: str) -> None:
    """Raise if an Atari game's ROM is missing."""
    if ENVIRONMENTS[env].family.simulator == "ale":
        path_of(env)


def path_of(env: str) -> Path:
    """Return the path of a game's ROM."""
    try:
        # ale-py prints the folder, but standard output may contain a document.
        with contextlib.redirect_stdout(io.StringIO()):
            path = get_rom_path(rom_of(env))
    except OSError as error:
        raise _missing(env, error) from error
    if path is None:
        raise MissingGameError(f"ale-py does not know {env}: choose another game")
    return path


def _missing(env: str, error: OSError) -> MissingGameError:
    """Return an error message with the searched folder, the problem and the fix."""
    file = f"{rom_of(env)}.bin"
    if isinstance(error, NotADirectoryError):
        wrong = "is no folder"
    elif isinstance(error, FileNotFoundError):
        wrong = f"has no {file}"
    elif error.strerror:
        wrong = f"has a {file} that cannot be read ({error.strerror})"
    else:  # has another hash
        wrong = f"has a {file} that is not the game's"
    if folder := os.environ.get("ALE_ROMS_DIR"):
        return MissingGameError(
            f"{env} is missing: ALE_ROMS_DIR is {folder}, which {wrong}. "
            f"Unset it to play the games that come with ale-py, or put the game's {file} there"
        )
    return MissingGameError(f"{env} is missing: this installation of ale-py {wrong}. Install ale-py again")
