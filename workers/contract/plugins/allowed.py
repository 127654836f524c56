"""The list of allowed packages: the setting ARCADIA_PLUGINS, or a file in the data folder."""

import os
from collections.abc import Iterable
from pathlib import Path

from workers.contract.places import default_data_dir
from workers.contract.plugins.discovery import allowed_names, canonical

SETTING = "ARCADIA_PLUGINS"
FILE = "plugins.txt"


def allowed_plugins(data_dir: Path | None = None) -> tuple[str, ...]:
    """Return the names in the setting. If it is not set, return those in the data folder's file."""
    if setting := os.environ.get(SETTING):
        return allowed_names(setting)
    return read_file(data_dir or default_data_dir())


def read_file(data_dir: Path) -> tuple[str, ...]:
    """Return the names in the file of a data folder."""
    try:
        return allowed_names((data_dir / FILE).read_text().replace("\n", ","))
    except FileNotFoundError:
        return ()


def allow(name: str, data_dir: Path) -> None:
    """Add a package to the file of a data folder."""
    names = dict.fromkeys([*read_file(data_dir), canonical(name)])
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / FILE).write_text("\n".join(names) + "\n")


def name_in_environment(names: Iterable[str]) -> None:
    """Set the environment variable to these names, for child processes."""
    os.environ[SETTING] = ",".join(names)
