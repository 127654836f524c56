"""Program that reads content from its input, parses it under limits, and writes the result as JSON.

It runs as a file, with only the standard library and the folders that its arguments name.
"""

import importlib
import json
import resource
import sys
from pathlib import Path

CPU_SECONDS = 5
MAX_MEMORY_BYTES = 500_000_000
MAX_RESULT_BYTES = 20_000_000
# Exit status of content that a parser rejects, with the reason as the output, and of too little memory.
CANNOT_READ, LIMIT = 3, 4
# Standard input, output and error. No other file can be opened.
_OPEN_FILES = 3


def set_limits() -> None:
    """Limit the time, the memory and the files of this process."""
    limits = {
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
    }
    # macOS reserves more address space than it uses, so that this limit would end the process at once.
    if sys.platform == "linux":
        limits[resource.RLIMIT_AS] = MAX_MEMORY_BYTES
    for limit, wanted in limits.items():
        _soft, hard = resource.getrlimit(limit)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(limit, (value, value))


def main(name: str, folders: list[str]) -> int:
    """Parse the input. Return the exit status."""
    sys.path[:0] = [str(Path(__file__).parent)]
    sys.path += folders
    parser = importlib.import_module(name)
    # A reason may quote any character.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    content = sys.stdin.buffer.read()
    set_limits()
    try:
        result = json.dumps(parser.parse(content))
    except MemoryError:
        return LIMIT
    except RecursionError:
        print("it nests too deeply", end="")
        return CANNOT_READ
    except Exception as error:
        # Parsers of damaged content raise errors of many types.
        print(str(error)[:200] or type(error).__name__, end="")
        return CANNOT_READ
    if len(result) > MAX_RESULT_BYTES:
        return LIMIT
    print(result, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
