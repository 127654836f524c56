"""Parsers in a process with limits. A crash of a parser ends that process only."""

import json
import os
import signal
import subprocess
import sys
import threading
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from arcadia_backend.untrusted.child import CANNOT_READ, CPU_SECONDS, LIMIT, MAX_MEMORY_BYTES

Parser = Literal["torch_pickles", "yaml_and_toml"]

# A busy machine may take many times as long as the parser computes.
MAX_SECONDS = 60.0
# Concurrent processes, so that many large files cannot fill the memory together.
MAX_PROCESSES = 4

# Some interpreters do not start without it.
_ENVIRONMENT = ("LD_LIBRARY_PATH",)
# Packages that parsers need beyond the standard library.
_PACKAGES: dict[Parser, tuple[str, ...]] = {"yaml_and_toml": ("yaml",)}
_CHILD = Path(__file__).with_name("child.py")
_slots = threading.BoundedSemaphore(MAX_PROCESSES)


class UnreadableError(Exception):
    """Content that its parser rejects, or that exceeds a limit. The message completes "It cannot be read: …"."""


def parse(parser: Parser, content: bytes) -> Any:
    """Return the plain data that a parser finds in the content. Raise UnreadableError with the reason otherwise.

    The process starts from a new interpreter, which inherits no threads, no open files and no credentials.
    """
    if not _slots.acquire(timeout=MAX_SECONDS):
        raise UnreadableError("the server is reading too many other files; try again in a minute")
    try:
        # Isolated: no variables of the environment, and no modules of the current folder.
        command = [sys.executable, "-I", "-S", str(_CHILD), parser, *_package_folders(parser)]
        done = subprocess.run(
            command,
            input=content,
            capture_output=True,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            cwd="/",
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnreadableError(f"reading it takes longer than {MAX_SECONDS:g} seconds") from None
    finally:
        _slots.release()
    if done.returncode == CANNOT_READ:
        raise UnreadableError(done.stdout.decode("utf-8", "replace"))
    if done.returncode == LIMIT:
        raise UnreadableError(f"reading it takes more than {MAX_MEMORY_BYTES // 1_000_000:,} MB of memory")
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise UnreadableError(f"reading it takes more than {CPU_SECONDS} seconds")
    if done.returncode < 0:
        raise UnreadableError("it is damaged or nests too deeply, so that its parser crashed")
    if done.returncode:
        raise RuntimeError(f"{parser} failed: {done.stderr[-2_000:].decode('utf-8', 'replace')}")
    return json.loads(done.stdout)


@cache
def _package_folders(parser: Parser) -> list[str]:
    """Return the folders of the packages that a parser needs."""
    specs = {name: find_spec(name) for name in _PACKAGES.get(parser, ())}
    return [str(Path(spec.origin).parents[1]) for spec in specs.values() if spec and spec.origin]
