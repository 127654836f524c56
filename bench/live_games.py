"""Measure the delay and the cost of live games: `python -m bench.live_games --seconds 20`.

The program first records an episode, and prints how much faster than the game this was. Then it prints the pictures
per second and the time from the emulator to 1 and 10 viewers of a finished run. It measures them over the WebSocket,
and as drawn in Chromium, which is one of the viewers. Last, it prints the ratio of another run's training rates with
5 viewers and without, measured in turn.
"""

import argparse
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from arcadia_workers.contract import live
from arcadia_workers.contract.live import SEEN_EVERY
from bench.live_page import drawn, watching_page
from tests.installation import Installation

PONG: dict[str, Any] = {
    "algorithm": "paac",
    "env": "ALE/Pong-v5",
    "total_steps": 10**9,
    "num_envs": 32,
    "checkpoint_seconds": 3_600,
}


class Viewer(threading.Thread):
    """A thread that watches a live game until it is stopped."""

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


@contextmanager
def watching(installation: Installation, run: int, viewers: int) -> Iterator[list[Viewer]]:
    """Watch a run's agent. Yield the viewers after each has seen pictures for a second, and wait for the game's end."""
    game = installation.post(f"runs/{run}/live", {})["id"]
    address = f"ws://127.0.0.1:{installation.port}/api/v1/live/{game}"
    found = [Viewer(address) for _ in range(viewers)]
    for viewer in found:
        viewer.start()
    installation.wait_until(lambda: all(viewer.delays for viewer in found))
    time.sleep(1)
    yield found
    for viewer in found:
        viewer.stopped.set()
        viewer.join(5)
    installation.wait_until(lambda: not installation.read(f"runs/{run}/live"))


def watch(installation: Installation, run: int, viewers: int, seconds: float) -> list[list[float]]:
    """Watch for a while, and return the delays that each viewer saw."""
    with watching(installation, run, viewers) as found:
        begun = [len(viewer.delays) for viewer in found]
        time.sleep(seconds)
        return [list(viewer.delays[first:]) for viewer, first in zip(found, begun, strict=True)]


def watch_in_chromium(installation: Installation, run: int, viewers: int, seconds: float) -> list[float]:
    """Watch for a while in Chromium and with the other viewers. Return the delays of the pictures in Chromium."""
    with watching(installation, run, viewers - 1), watching_page(installation.port, run) as page:
        drawn(page)
        page.wait_for_timeout(1000 * seconds)
        return drawn(page)


def reported(delays: list[list[float]], seconds: float) -> dict[str, float]:
    """Summarize the delays of all viewers. The pictures per second are those of the slowest viewer."""
    together = sorted(delay for each in delays for delay in each)
    return {
        "pictures_per_second": round(min(map(len, delays)) / seconds, 1),
        "median_ms": round(1e3 * statistics.median(together), 1),
        "p95_ms": round(1e3 * together[int(0.95 * len(together))], 1),
    }


def rate(installation: Installation, run: int, seconds: float) -> float:
    """Measure the training rate of a run."""
    before, begun = installation.run(run)["step"], time.monotonic()
    time.sleep(seconds)
    return float(installation.run(run)["step"] - before) / (time.monotonic() - begun)


def cost(installation: Installation, run: int, seconds: float, rounds: int) -> list[float]:
    """Train with 5 viewers and without, in turn. Return the ratios."""
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


def forked(installation: Installation, run: int) -> int:
    """Fork a run from its last checkpoint, without new checkpoints, because their replays would take time."""
    body = {"checkpoint_id": installation.read(f"runs/{run}/checkpoints")[-1]["id"], "overrides": PONG}
    return int(installation.post(f"runs/{run}/fork", body)["id"])


def recorded(installation: Installation, run: int) -> dict[str, float]:
    """Record an episode. Return its duration, the worker's time, which includes loading torch, and their ratio."""
    asked = installation.post(f"runs/{run}/recordings", {})["id"]
    installation.wait_until(lambda: _recording(installation, run, asked)["state"] in ("done", "failed"))
    done = _recording(installation, run, asked)
    started, finished = (datetime.fromisoformat(done[each]) for each in ("started_at", "finished_at"))
    took = (finished - started).total_seconds()
    replays = {replay["id"]: replay for replay in installation.read(f"runs/{run}/replays")}
    lasts = float(replays[done["replay_id"]]["seconds"])
    return {"seconds_of_game": round(lasts, 1), "took": round(took, 1), "over_real_time": round(lasts / took, 2)}


def _recording(installation: Installation, run: int, number: int) -> dict[str, Any]:
    return next(each for each in installation.read(f"runs/{run}/recordings") if each["id"] == number)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of training with viewers and without")
    options = parser.parse_args()
    with Installation(Path(tempfile.mkdtemp(prefix="arcadia-live-"))) as installation:
        installation.worker("one")
        run = installation.launch(PONG, checkpoint_seconds=5)
        installation.wait_for_checkpoint(run)
        installation.post(f"runs/{run}/stop")
        installation.wait_for_state(run, "stopped")
        print(json.dumps({"recording": recorded(installation, run)}), flush=True)
        for viewers in (1, 10):
            delays = watch(installation, run, viewers, options.seconds)
            print(json.dumps({"viewers": viewers, **reported(delays, options.seconds)}), flush=True)
            shown = watch_in_chromium(installation, run, viewers, options.seconds)
            print(json.dumps({"in_chromium_of": viewers, **reported([shown], options.seconds)}), flush=True)
        if options.rounds:
            trained = forked(installation, run)
            installation.wait_for_points(trained, 1)
            ratios = cost(installation, trained, options.seconds, options.rounds)
            print(json.dumps({"training_with_5_viewers_over_without": ratios}), flush=True)


if __name__ == "__main__":
    main()
