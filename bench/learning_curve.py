"""Draws what a training run in a directory learnt: `python -m bench.learning_curve RUN_DIR CURVE.png`."""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tests.chromium import chromium
from workers.trainer.events import Episode, Event, Metrics, Started, event_adapter

WINDOW = 100
WIDTH, HEIGHT = 1200, 600


@dataclass(frozen=True)
class Curve:
    """Every episode of a run in the order of their ends, with the seconds of training that had passed."""

    steps: NDArray[np.int64]
    frames: NDArray[np.int64]
    returns: NDArray[np.float64]
    seconds: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean return of the last 100 episodes, from the hundredth on."""
        return np.convolve(self.returns, np.ones(WINDOW) / WINDOW, mode="valid")

    def reached(self, threshold: float) -> int | None:
        """Index of the episode at which the mean of the last 100 first passed the threshold."""
        passed = np.flatnonzero(self.means > threshold)
        return int(passed[0]) + WINDOW - 1 if len(passed) else None


def read_events(directory: Path) -> Iterator[Event]:
    """Yield the events of a run directory."""
    with (directory / "events.jsonl").open() as lines:
        for line in lines:
            yield event_adapter.validate_json(line)


def read_curve(directory: Path) -> Curve:
    """Collect the episodes; time that passed between two attempts is not training time."""
    episodes: list[Episode] = []
    seconds: list[float] = []
    trained, last = 0.0, None
    for event in read_events(directory):
        if isinstance(event, Started):
            last = event.time
            beyond = event.resumed_from or 0
            kept = [i for i, episode in enumerate(episodes) if episode.step <= beyond]
            episodes, seconds = [episodes[i] for i in kept], [seconds[i] for i in kept]
        if last is not None:
            trained, last = trained + event.time - last, event.time
        if isinstance(event, Metrics):
            episodes.extend(event.episodes)
            seconds.extend([trained] * len(event.episodes))
    return Curve(
        np.array([episode.step for episode in episodes]),
        np.array([episode.frames for episode in episodes]),
        np.array([episode.episode_return for episode in episodes]),
        np.array(seconds),
    )


def draw(curve: Curve, title: str, image: Path) -> None:
    """Save the curve as a PNG: each episode faint, their running mean above."""
    figure = go.Figure(layout={"template": "plotly_white", "width": WIDTH, "height": HEIGHT, "title": {"text": title}})
    figure.add_scatter(
        x=curve.steps, y=curve.returns, mode="markers", name="each episode", marker={"size": 3, "opacity": 0.25}
    )
    figure.add_scatter(
        x=curve.steps[WINDOW - 1 :], y=curve.means, mode="lines", name=f"mean of the last {WINDOW}", line={"width": 3}
    )
    figure.update_xaxes(title="agent steps")
    figure.update_yaxes(title="return of the raw reward")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        document = Path(folder) / "curve.html"
        figure.write_html(document, config={"staticPlot": True})
        page = browser.new_page(viewport={"width": WIDTH + 16, "height": HEIGHT + 16})
        page.goto(document.as_uri())
        page.locator(".main-svg").first.wait_for()
        page.screenshot(path=image)


def tell(curve: Curve, threshold: float | None) -> str:
    """Say how far the run came, and when it passed the threshold."""

    def at(i: int) -> str:
        minutes = curve.seconds[i] / 60
        return f"{curve.steps[i]:,} steps, {curve.frames[i]:,} frames, {minutes:.1f} min of training"

    lines = [f"{len(curve.returns):,} episodes; the last after {at(-1)}"]
    if len(curve.means):
        best = int(curve.means.argmax()) + WINDOW - 1
        lines.append(f"mean of the last 100 at the end: {curve.means[-1]:.2f}")
        lines.append(f"best mean of 100: {curve.means.max():.2f} after {at(best)}")
    if threshold is not None:
        reached = curve.reached(threshold)
        lines.append(f"mean of 100 above {threshold:g}: {'never' if reached is None else 'after ' + at(reached)}")
    return "\n".join(lines)


def main() -> None:
    """Draw the curve of a run directory and tell what it shows."""
    parser = argparse.ArgumentParser(prog="python -m bench.learning_curve", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("image", type=Path)
    parser.add_argument("--title", default="")
    parser.add_argument("--threshold", type=float)
    options = parser.parse_args()
    curve = read_curve(options.directory)
    if not len(curve.returns):
        parser.exit(1, f"no episode has ended yet in {options.directory}\n")
    draw(curve, options.title or options.directory.name, options.image)
    print(tell(curve, options.threshold))


if __name__ == "__main__":
    main()
