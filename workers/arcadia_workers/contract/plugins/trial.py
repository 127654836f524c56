"""Trial of plug-ins in a separate process, which may fail, hang or print without end, and packages from a template."""

import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Literal, get_args

from arcadia_workers.contract.plugins.discovery import VERSION, installed, resolve
from arcadia_workers.contract.plugins.loading import (
    GROUPS,
    MAX_OUTPUT,
    PLUGINS,
    TOO_MUCH_OUTPUT,
    Group,
    LoadedPlugin,
    load,
)

Kind = Literal["environment", "method"]
KINDS: tuple[Kind, ...] = get_args(Kind)
TEMPLATES = Path(__file__).with_name("templates")
SUFFIX = ".template"
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
PREFIX = "arcadia-"


class ScaffoldError(Exception):
    """The package cannot be created. The message says why."""


def create(kind: Kind, name: str, folder: Path) -> str:
    """Create a package in a new folder. Return what to do next."""
    if not NAME.fullmatch(name):
        raise ScaffoldError(f"{name!r} is not a name for a package. Use lower-case words with dashes, such as my-maze.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScaffoldError(f"{folder} exists and is not empty. Choose a new folder.")
    short = name.removeprefix(PREFIX)
    words = {
        "name": name,
        "package": name.replace("-", "_"),
        "short": short,
        "algorithm": short.replace("-", "_"),
        "title": short.replace("-", " ").capitalize(),
        "type": "".join(word.capitalize() for word in short.split("-")),
        "version": str(VERSION),
    }
    source = TEMPLATES / kind
    for template in sorted(source.rglob(f"*{SUFFIX}")):
        relative = str(template.relative_to(source)).removesuffix(SUFFIX).replace("PACKAGE", words["package"])
        target = folder / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template.read_text()).substitute(words))
    return f"""Created {folder}. Install it, run its tests, and allow it:
  pip install -e {folder}
  pytest {folder}
  arcadia plugins allow {name}"""


# The longest time that a package may take to load. A busy host is slow.
LOAD_SECONDS = 30.0
READ_BYTES = 65_536


def load_after_trial(names: Sequence[str], groups: Sequence[Group] = GROUPS, more_groups: Sequence[str] = ()) -> None:
    """Load the packages that a trial found usable, and keep the problems of the others.

    `more_groups` are references to groups of the caller for the trial, such as package.module:NAME.
    """
    problems = find_problems(names, more_groups)
    load([name for name in names if name not in problems], groups)
    packages = installed() if problems else {}
    for name, problem in problems.items():
        version = packages[name].version if name in packages else None
        PLUGINS[name] = LoadedPlugin(name, version, problem)


def find_problems(
    names: Sequence[str], more_groups: Sequence[str] = (), seconds: float = LOAD_SECONDS
) -> dict[str, str]:
    """Return why packages cannot be used, by name. If a package ends the process, try the others in a new one."""
    problems: dict[str, str] = {}
    while remaining := [name for name in names if name not in problems]:
        trial = _Trial(remaining, more_groups, seconds)
        problems |= trial.run()
        if trial.is_complete:
            break
    return problems


@dataclass
class _Trial:
    """Process that loads packages in order, and reports each one before loading it."""

    names: Sequence[str]
    more_groups: Sequence[str]
    seconds: float
    is_complete: bool = False
    _current: str | None = None
    _problems: dict[str, str] = field(default_factory=dict)
    _reports: bytes = b""
    _written: int = 0

    def run(self) -> dict[str, str]:
        """Run the process, and return the problems that it reports or that end it."""
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(writing), json.dumps([*self.more_groups]), *self.names],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[writing],
            start_new_session=True,
        )
        os.close(writing)
        try:
            failure = self._follow(process, reading)
        finally:
            _kill(process)
            os.close(reading)
        if self.is_complete:
            return self._problems
        # Without a current package, the process did not even start.
        return dict.fromkeys([self._current] if self._current else self.names, failure)

    def _follow(self, process: subprocess.Popen[bytes], reading: int) -> str:
        """Read reports and output until the process is done. Return why it failed if it did not complete."""
        assert process.stdout is not None  # noqa: S101 - a pipe was requested
        deadline = time.monotonic() + self.seconds
        with selectors.DefaultSelector() as selector:
            selector.register(reading, selectors.EVENT_READ, self._read_report)
            selector.register(process.stdout, selectors.EVENT_READ, self._read_output)
            while not self.is_complete and selector.get_map():
                for key, _ in selector.select(max(0.0, deadline - time.monotonic())):
                    chunk = os.read(key.fd, READ_BYTES)
                    if not chunk:
                        selector.unregister(key.fileobj)
                    elif key.data(chunk):
                        deadline = time.monotonic() + self.seconds
                if self._written > MAX_OUTPUT:
                    return TOO_MUCH_OUTPUT
                if time.monotonic() > deadline:
                    return f"Its import did not end within {self.seconds:g} s."
        return f"Its import ended the process with status {process.wait()}."

    def _read_report(self, chunk: bytes) -> bool:
        *lines, self._reports = (self._reports + chunk).split(b"\n")
        for line in lines:
            report = json.loads(line)
            self._current = report.get("begun")
            if "problems" in report:
                self._problems, self.is_complete = report["problems"], True
        return bool(lines)

    def _read_output(self, chunk: bytes) -> bool:
        self._written += len(chunk)
        return False


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def main(arguments: Sequence[str]) -> None:
    """Load packages and write reports to a file descriptor."""
    descriptor, more_groups, *names = arguments
    reports = os.fdopen(int(descriptor), "w", buffering=1)
    groups = [*GROUPS, *map(resolve, json.loads(more_groups))]
    load(names, groups, lambda name: print(json.dumps({"begun": name}), file=reports))
    problems = {plugin.name: plugin.problem for plugin in PLUGINS.values() if plugin.problem}
    print(json.dumps({"problems": problems}), file=reports)
    # Skip the exit handlers of the packages.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
