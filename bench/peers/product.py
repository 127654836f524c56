"""Interface of a measured product: how to fill it, serve it and send requests to it."""

import argparse
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from bench.peers.requests import Request

REPOSITORY = Path(__file__).parents[2]
# Turn off telemetry, and use no package index or hub.
QUIET = {"MLFLOW_DISABLE_TELEMETRY": "true", "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1"}


@dataclass(frozen=True)
class Written:
    """The project of a product's runs, and their ids."""

    project: str
    runs: list[str]


class Product(Protocol):
    """An experiment tracker."""

    name: str

    def version(self) -> str:
        """Return the installed version."""

    def write(self, runs: int, points: int) -> Written:
        """Write the synthetic runs through the product's own client or API."""

    def serve(self) -> AbstractContextManager[str]:
        """Serve the runs. Yield the address."""

    def requests(self, written: Written) -> Mapping[str, list[Request]]:
        """Return the requests of each measurement that needs no browser."""

    def page(self, written: Written) -> str:
        """Return the path of the page that compares the first runs."""


PACKAGES = ("mlflow", "trackio")


def options_parser(module: str, description: str | None) -> argparse.ArgumentParser:
    """Return the command line of a benchmark that needs the peers."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--venv", type=Path, required=True, help="virtual environment with mlflow and trackio")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Read the command line. Exit with instructions if the peers are not installed."""
    options = parser.parse_args()
    folder = options.venv
    installed = [any(folder.glob(f"lib/python*/site-packages/{package}/__init__.py")) for package in PACKAGES]
    missing = [package for package, found in zip(PACKAGES, installed, strict=True) if not found]
    if missing:
        parser.error(
            f"{folder} has no {' and no '.join(missing)}. Install the peers:\n"
            f"  python -m venv {folder} && {folder}/bin/pip install {' '.join(PACKAGES)}"
        )
    return options


class Venv:
    """The virtual environment of the peers, and a home folder for their processes."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._python, self.home = folder / "bin" / "python", home
        home.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, **QUIET, "HOME": str(home)}

    def command(self, *arguments: str) -> list[str]:
        """Return the command that runs the venv's Python."""
        return [str(self._python), *arguments]

    def run(self, *arguments: str, **environment: str) -> str:
        """Run the venv's Python and return the last line of its output. Raise with its errors if it fails."""
        ended = subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            cwd=self.home,
            env=self.environment | {"PYTHONPATH": str(REPOSITORY)} | environment,
        )
        if ended.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{ended.stderr[-3000:]}")
        return ended.stdout.splitlines()[-1]

    def version(self, package: str) -> str:
        """Return the version of an installed package."""
        return self.run("-c", f"from importlib.metadata import version; print(version({package!r}))")


def read_written(line: str) -> Written:
    """Read what a writer printed."""
    found: dict[str, Any] = json.loads(line)
    return Written(found["project"], found["runs"])


def query_list(values: Sequence[object]) -> str:
    """Return values as JSON without spaces, as in the addresses of the pages."""
    return json.dumps(list(values), separators=(",", ":"))
