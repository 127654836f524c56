"""Copies of the project to which tests apply the recipes of docs/extending.md."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
EXTENDING = (ROOT / "docs" / "extending.md").read_text()
IGNORED = shutil.ignore_patterns("node_modules", "dist", "build", "*.egg-info")


def recipe(title: str) -> str:
    """Return the section of a recipe."""
    return EXTENDING.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def newest_revision() -> str:
    """Return the revision of the newest migration."""
    return max(path.name for path in (ROOT / "alembic" / "versions").glob("0*.py")).partition("_")[0]


class Copy:
    """A copy of some files and folders of the project, in which programs run."""

    def __init__(self, folder: Path, *parts: str) -> None:
        self.folder = folder
        for part in parts:
            if (ROOT / part).is_dir():
                # With the compiled modules, which saves seconds.
                shutil.copytree(ROOT / part, folder / part, ignore=IGNORED)
            else:
                (folder / part).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / part, folder / part)

    def write(self, file: str, text: str) -> None:
        """Write a new file."""
        path = self.folder / file
        assert not path.exists(), file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def insert(self, file: str, before: str, text: str) -> None:
        """Insert a text into a file before another one."""
        path = self.folder / file
        old = path.read_text()
        assert old.count(before) == 1, f"{file} has no {before!r}, or several"
        path.write_text(old.replace(before, text + before))

    def run(self, *command: str) -> str:
        """Run a command. Return its output, and fail if it fails."""
        return self._run(command, dict(os.environ))

    def run_program(self, program: str, **environment: str) -> None:
        """Run a Python program with no other settings, and fail if it fails."""
        self._run((sys.executable, "-c", dedent(program)), {"PATH": "", "HOME": str(self.folder), **environment})

    def run_tests(self, *tests: str) -> str:
        """Run tests of the copy. Return pytest's output, and fail if one fails."""
        return self.run(sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests)

    def _run(self, command: tuple[str, ...], environment: dict[str, str]) -> str:
        folder = self.folder
        client = folder if (folder / "client").exists() else ROOT
        paths = {
            "PYTHONPATH": os.pathsep.join(map(str, (folder, folder / "backend", folder / "workers", client / "client")))
        }
        done = subprocess.run(command, cwd=folder, env=environment | paths, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
