"""A fake job process that behaves as its request says and keeps the contract with the worker."""

import errno
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def main() -> int:
    """Behave as the request's parameters say."""
    request_file, option, directory_name, *_ = sys.argv[1:]
    assert option == "--dir"
    request, directory = json.loads(Path(request_file).read_text()), Path(directory_name)
    reported: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: reported.append(number))
    events = (directory / "events.jsonl").open("a")
    seq = 0

    def emit(kind: str, **fields: Any) -> None:
        nonlocal seq
        seq += 1
        event = {"kind": kind, "seq": seq, "time": time.time(), "step": request["step"], "frames": 0, **fields}
        events.write(json.dumps(event) + "\n")
        events.flush()

    files = sorted(path.name for path in (directory / "checkpoints").iterdir())
    (directory / "facts.json").write_text(json.dumps({"environment": dict(os.environ), "files": files}))
    (directory / "job.pid").write_text(str(os.getpid()))
    parameters = request["parameters"]
    for done in range(parameters["episodes"]):
        emit("evaluated_episode", done=done + 1, episodes=parameters["episodes"])
        time.sleep(parameters.get("interval", 0))
        if reported:
            emit("stopped", reason="SIGTERM")
            return 1
    if parameters.get("how") == "complains":
        print("no such game", file=sys.stderr)
        return 2
    if parameters.get("how") == "has no space":
        emit("failed", message=f"OSError: [Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}")
        return 1
    emit("evaluation", returns=[1.0])
    emit("finished")
    return 0


if __name__ == "__main__":
    sys.exit(main())
