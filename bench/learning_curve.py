"""Draw the learning curves of run directories: `python -m bench.learning_curve CURVE.png RUN_DIR... --x frames`."""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from arcadia_workers.contract.events import Episode, Event, Finished, Metrics, Started, Stopped, event_adapter
from bench.raw_values import add_csv_option, write_rows
from tests.chromium import chromium

WINDOW = 100
WIDTH, HEIGHT = 1200, 600
AXES = {"steps": "agent steps", "frames": "emulator frames", "minutes": "minutes of training"}


@dataclass(frozen=True)
class Curve:
    """The episodes of a run in the order of their ends, with the training seconds until each."""

    steps: NDArray[np.int64]
    frames: NDArray[np.int64]
    returns: NDArray[np.float64]
    seconds: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Return the mean return of the last 100 episodes, from the hundredth on."""
        return np.convolve(self.returns, np.ones(WINDOW) / WINDOW, mode="valid")

    def reached(self, threshold: float) -> int | None:
        """Return the index of the episode at which the mean of the last 100 first passed the threshold."""
        passed = np.flatnonzero(self.means > threshold)
        return int(passed[0]) + WINDOW - 1 if len(passed) else None


def read_events(directory: Path) -> Iterator[Event]:
    """Yield the events of a run directory."""
    with (directory / "events.jsonl").open() as lines:
        for line in lines:
            yield event_adapter.validate_json(line)


def read_curve(directory: Path) -> Curve:
    """Collect the episodes. The time between two attempts does not count as training time."""
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


def figure_of(curves: dict[str, Curve], x: str, title: str) -> go.Figure:
    """Draw running means by steps, frames or minutes of training. For a single run, also draw each episode faintly."""
    figure = go.Figure(layout={"template": "plotly_white", "width": WIDTH, "height": HEIGHT, "title": {"text": title}})
    for name, curve in curves.items():
        along = {"steps": curve.steps, "frames": curve.frames, "minutes": curve.seconds / 60}[x]
        if len(curves) == 1:
            figure.add_scatter(
                x=along, y=curve.returns, mode="markers", name="each episode", marker={"size": 3, "opacity": 0.25}
            )
            name = f"mean of the last {WINDOW}"
        figure.add_scatter(x=along[WINDOW - 1 :], y=curve.means, mode="lines", name=name, line={"width": 3})
    figure.update_xaxes(title=AXES[x])
    figure.update_yaxes(title="return of the raw reward" + (f", mean of {WINDOW} episodes" if len(curves) > 1 else ""))
    return figure


def save(figure: go.Figure, image: Path) -> None:
    """Save a figure as a PNG."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        document = Path(folder) / "curve.html"
        figure.write_html(document, config={"staticPlot": True})
        page = browser.new_page(viewport={"width": WIDTH + 16, "height": HEIGHT + 16})
        page.goto(document.as_uri())
        page.locator(".main-svg").first.wait_for()
        page.screenshot(path=image)


def tell(curve: Curve, threshold: float | None) -> str:
    """Return a summary of how far the run got and when it passed the threshold."""

    def at(i: int) -> str:
        minutes = curve.seconds[i] / 60
        return f"{curve.steps[i]:,} steps, {curve.frames[i]:,} frames, {minutes:.1f} min of training"

    lines = [f"{len(curve.returns):,} episodes; the last after {at(-1)}"]
    best = int(curve.means.argmax()) + WINDOW - 1
    lines.append(f"mean of the last 100 at the end: {curve.means[-1]:.2f}")
    lines.append(f"best mean of 100: {curve.means.max():.2f} after {at(best)}")
    if threshold is not None:
        reached = curve.reached(threshold)
        lines.append(f"mean of 100 above {threshold:g}: {'never' if reached is None else 'after ' + at(reached)}")
    return "\n".join(lines)


def row_of(directory: Path, curve: Curve, threshold: float | None) -> dict[str, object]:
    """Return the raw values of a run. The means are empty if it had fewer than 100 episodes."""
    events = list(read_events(directory))
    reached = None if threshold is None else curve.reached(threshold)
    means = curve.means if len(curve.returns) >= WINDOW else None
    return {
        "preset": directory.name.rpartition("-s")[0],
        "seed": next(event.seed for event in events if isinstance(event, Started)),
        "status": {Finished: "finished", Stopped: "stopped"}.get(type(events[-1]), "failed"),
        "steps": events[-1].step,
        "seconds": round(float(curve.seconds[-1]), 1),
        "episodes": len(curve.returns),
        "passed_at": "" if reached is None else int(curve.steps[reached]),
        "final_mean": "" if means is None else round(float(means[-1]), 4),
        "best_mean": "" if means is None else round(float(means.max()), 4),
    }


def main() -> None:
    """Draw the curves of run directories, and print a summary of each."""
    parser = argparse.ArgumentParser(prog="python -m bench.learning_curve", description=__doc__)
    parser.add_argument("image", type=Path, metavar="CURVE.png")
    parser.add_argument("directories", type=Path, nargs="+", metavar="RUN_DIR")
    parser.add_argument("--x", choices=AXES, default="steps", help="the horizontal axis")
    parser.add_argument("--title", default="")
    parser.add_argument("--threshold", type=float, help="print when the mean of 100 episodes passed it")
    add_csv_option(parser)
    options = parser.parse_args()
    curves = {directory.name: read_curve(directory) for directory in options.directories}
    rows = [row_of(directory, curves[directory.name], options.threshold) for directory in options.directories]
    write_rows(options.csv, rows)
    for name, curve in curves.items():
        if len(curve.returns) < WINDOW:
            parser.exit(1, f"{name}: only {len(curve.returns)} episodes have ended yet, a mean needs {WINDOW}\n")
    save(figure_of(curves, options.x, options.title or ", ".join(curves)), options.image)
    for name, curve in curves.items():
        print(f"{name}: {tell(curve, options.threshold)}")


if __name__ == "__main__":
    main()
