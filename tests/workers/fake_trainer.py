"""A fake trainer that behaves as its configuration says and keeps the contract with the worker."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# A trainer that waits at a step goes on once the test has written this file into its directory.
GATE = "go-on"


class FakeTrainer:
    """A trainer that writes events and checkpoints until it has no more points or is stopped."""

    def __init__(self, config_file: Path, directory: Path) -> None:
        self.config: dict[str, Any] = json.loads(config_file.read_text())
        self.directory = directory
        self.seq = self.step = 0
        self.asked_to_stop = False
        self.changed: set[int] = set()
        self.events = (directory / "events.jsonl").open("a")
        (directory / "checkpoints").mkdir(exist_ok=True)

    def emit(self, kind: str, **fields: object) -> None:
        """Append one event."""
        self.seq += 1
        event = {"kind": kind, "seq": self.seq, "time": time.time(), "step": self.step, "frames": self.step, **fields}
        self.events.write(json.dumps(event) + "\n")
        self.events.flush()

    def restore(self) -> int | None:
        """Return the step of the newest local checkpoint."""
        steps = [json.loads(m.read_text())["step"] for m in (self.directory / "checkpoints").glob("*.json")]
        return max(steps, default=None)

    def checkpoint(self) -> None:
        """Write a checkpoint and its event."""
        name = f"checkpoints/step-{self.step:012d}.safetensors"
        content = f"weights at {self.step}".encode() * 1000
        (self.directory / name).write_bytes(content)
        manifest = {
            "file": name,
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "step": self.step,
            "frames": self.step,
        }
        (self.directory / name).with_suffix(".json").write_text(json.dumps(manifest))
        self.emit("checkpoint", checkpoint=manifest, return_mean=None, best=False, kept=[name])

    def start(self) -> None:
        """Write the first event."""
        resumed = self.restore()
        self.step = resumed or 0
        self.emit(
            "started",
            resumed_from=resumed,
            seed=1,
            device="cpu",
            precision="float32",
            command=sys.argv,
            versions={},
            host="here",
        )

    def take_changes(self) -> None:
        """Report each requested change once."""
        path = self.directory / "changes.json"
        for change in json.loads(path.read_text()) if path.exists() else []:
            if change["number"] not in self.changed:
                self.changed.add(change["number"])
                self.emit("changed", number=change["number"], fields=change["fields"], previous={})

    def train(self) -> None:
        """Write one point per step."""
        while self.step < self.config["points"] and not self.asked_to_stop:
            if self.step == self.config.get("waits_at"):
                while not (self.directory / GATE).exists():
                    time.sleep(0.01)
            self.step += 1
            self.take_changes()
            self.emit("metrics", values={"train/loss": 1 / self.step})
            if self.step % self.config.get("checkpoint_every", 10**9) == 0:
                self.checkpoint()
            time.sleep(self.config.get("interval", 0))


def main() -> int:
    """Behave as the configuration says."""
    config_file, option, directory, *_ = sys.argv[1:]
    assert option == "--dir"
    trainer = FakeTrainer(Path(config_file), Path(directory))
    how = trainer.config.get("how", "well")

    def on_sigterm(*_: object) -> None:
        trainer.asked_to_stop = True

    if how == "complains":
        print("config.json: no such environment", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.SIG_IGN if how == "deaf" else on_sigterm)
    if how == "with child":
        child = subprocess.Popen(["sleep", "600"])
        Path(directory, "child.pid").write_text(str(child.pid))
    Path(directory, "environment.json").write_text(json.dumps(dict(os.environ)))
    Path(directory, "trainer.pid").write_text(str(os.getpid()))
    trainer.start()
    trainer.train()
    if how == "raises":
        trainer.emit(
            "failed", message="ZeroDivisionError: division by zero", traceback="Traceback …\nZeroDivisionError"
        )
        return 1
    if how == "crashes":
        print("Fatal Python error: no event tells of this", file=sys.stderr)
        return 3
    if how == "writes nonsense":
        trainer.events.write("this is no event\n")
        trainer.events.flush()
        time.sleep(600)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if trainer.asked_to_stop:
        trainer.checkpoint()
        trainer.emit("stopped", reason="SIGTERM")
    else:
        trainer.emit("finished")
    return 0


if __name__ == "__main__":
    sys.exit(main())
