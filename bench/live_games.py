"""How quickly live games reach their viewers, and what they cost: `python -m bench.live_games --seconds 20`.

Prints pictures a second and the time from the emulator to a viewer with 1 and 10 viewers of a run that has ended, and
then the training rate of another run with 5 viewers over the rate without, in turn.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from tests.installation import Installation
from workers.contract import live
from workers.contract.orders import SEEN_EVERY

PONG: dict[str, Any] = {
    "algorithm": "paac",
    "env": "ALE/Pong-v5",
    "total_steps": 10**9,
    "num_envs": 32,
    "checkpoint_seconds": 3_600,
}


class Viewer(threading.Thread):
    """Watches a live game until told to stop."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address = address
        self.stopped = threading.Event()
        self.delays: list[float] = []

    def run(self) -> None:
        with connect(self._address, compression=None, proxy=None) as socket:
            while not self.stopped.is_set():
                message = socket.recv()
                if isinstance(message, str):
                    continue
                self.delays.append(time.time() - live.unpacked(message)[0].time)
                if len(self.delays) % SEEN_EVERY == 0:
                    socket.send('{"order":"seen"}')


def watch(installation: Installation, run: int, viewers: int, seconds: float) -> list[list[float]]:
    """Watch a run's agent, and return the delays that each viewer saw after the first second."""
    game = installation.post(f"runs/{run}/live", {})["id"]
    address = f"ws://127.0.0.1:{installation.port}/api/v1/live/{game}"
    watching = [Viewer(address) for _ in range(viewers)]
    for viewer in watching:
        viewer.start()
    installation.wait_until(lambda: all(viewer.delays for viewer in watching))
    time.sleep(1)
    begun = [len(viewer.delays) for viewer in watching]
    time.sleep(seconds)
    found = [list(viewer.delays[first:]) for viewer, first in zip(watching, begun, strict=True)]
    for viewer in watching:
        viewer.stopped.set()
        viewer.join(5)
    installation.wait_until(lambda: not installation.read(f"runs/{run}/live"))
    return found


def told(delays: list[list[float]], seconds: float) -> dict[str, float]:
    """Sum up what viewers saw; of pictures a second the slowest viewer counts."""
    together = sorted(delay for each in delays for delay in each)
    return {
        "pictures_per_second": round(min(map(len, delays)) / seconds, 1),
        "median_ms": round(1e3 * statistics.median(together), 1),
        "p95_ms": round(1e3 * together[int(0.95 * len(together))], 1),
    }


def rate(installation: Installation, run: int, seconds: float) -> float:
    """Measure how quickly a run trains."""
    before, begun = installation.run(run)["step"], time.monotonic()
    time.sleep(seconds)
    return float(installation.run(run)["step"] - before) / (time.monotonic() - begun)


def cost(installation: Installation, run: int, seconds: float, rounds: int) -> list[float]:
    """Train with 5 viewers and without, in turn; return the ratios."""
    ratios = []
    for _ in range(rounds):
        without = rate(installation, run, seconds)
        watching = threading.Thread(target=watch, args=(installation, run, 5, seconds))
        watching.start()
        installation.wait_until(lambda: any(game["state"] == "running" for game in _games(installation, run)))
        ratios.append(round(rate(installation, run, seconds) / without, 3))
        watching.join()
    return ratios


def _games(installation: Installation, run: int) -> list[dict[str, Any]]:
    games: list[dict[str, Any]] = installation.read(f"runs/{run}/live")
    return games


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of training with viewers and without")
    options = parser.parse_args()
    installation = Installation(Path(tempfile.mkdtemp(prefix="arcadia-live-")))
    try:
        installation.start()
        installation.worker("one")
        run = installation.launch(PONG, checkpoint_seconds=5)
        installation.wait_for_checkpoint(run)
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
        for viewers in (1, 10):
            delays = watch(installation, run, viewers, options.seconds)
            print(json.dumps({"viewers": viewers, **told(delays, options.seconds)}), flush=True)
        if options.rounds:
            trained = int(installation.post(f"runs/{run}/resume")["id"])
            installation.wait_for_state(trained, "running")
            ratios = cost(installation, trained, options.seconds, options.rounds)
            print(json.dumps({"training_with_5_viewers_over_without": ratios}), flush=True)
    finally:
        installation.close()


if __name__ == "__main__":
    main()
