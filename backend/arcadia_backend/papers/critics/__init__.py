"""Figures 1 to 3: RMSE, bias and correlation of each method's values during training."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Run
from arcadia_backend.figures.drawing import Figure, Look
from arcadia_backend.figures.evaluation_figures import Measure, draw_calibrations
from arcadia_backend.metrics.queries import Window
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import Item, Paper, PaperDifference, StartedStudy, StudyPart
from arcadia_backend.studies.specification import Axis, Specification

CALIBRATIONS = 10
DIFFERS = (
    PaperDifference(
        "what is compared", "scores", "values and returns", "a critic can be wrong although its agent scores well"
    ),
    PaperDifference("budget", "days of training", "2 million steps", "two cores need 10 to 90 minutes for each run"),
    PaperDifference(
        "Gorila's value",
        "a value of each action",
        "the largest of them",
        "the other methods estimate the value of the state",
    ),
)


def draw(measure: Measure, session: Session, started: Sequence[StartedStudy]) -> Figure:
    """Draw a measure of the calibrations of all runs of the studies."""
    points = [point for each in started for point in measured.measured_points(session, each)]
    trained = Run.id.in_([run_id for point in points for run_id in point.run_ids])
    runs = session.scalars(select(Run).where(trained).order_by(Run.id)).all()
    return draw_calibrations(session, runs, measure, Look(), Window("step"))


def _part(name: str, title: str, env: str, presets: Sequence[str], steps: int, **changes: Any) -> StudyPart:
    specification = Specification(
        name=title,
        changes={"env": env, "calibrate_every_steps": steps // CALIBRATIONS, **changes},
        axes=[Axis(field="preset", values=[*presets])],
        total_steps=steps,
        max_concurrent_runs=1,
    )
    return StudyPart(name, title, specification)


PONG_PRESETS = ("a3c-pong", "paac-pong", "ga3c-pong", "gorila-laptop")
CARTPOLE_PRESETS = ("a3c-cartpole", "paac-cartpole", "ga3c-cartpole", "gorila-cartpole")
PARTS = (
    _part("pong", "Pong", "ALE/Pong-v5", PONG_PRESETS, 2_000_000),
    _part("breakout", "Breakout", "ALE/Breakout-v5", PONG_PRESETS, 2_000_000, life_loss_ends_episode=True),
    _part("cartpole", "CartPole", "CartPole-v1", CARTPOLE_PRESETS, 400_000),
)


def _item(name: str, title: str, measure: Measure, measures: str, runs_of: str | None = "figure-1") -> Item:
    return Item(
        name=name,
        label=name.replace("figure-", "Figure "),
        title=title,
        theirs="The papers print scores. None of them prints errors of its value estimates.",
        ours="Trains each method with its preset. Ten times during training, a worker plays five episodes of a "
        "checkpoint, simulates 16 futures at about 40 of their decisions, and compares the value with their mean "
        "discounted return.",
        measures=measures,
        draw=partial(draw, measure),
        differs=DIFFERS,
        unpublished="The papers print no numbers for this figure.",
        parts=PARTS,
        panels="each",
        runs_of=runs_of,
    )


RMSE = _item("figure-1", "Error of the values during training", "rmse", "RMSE of the value", runs_of=None)
BIAS = _item(
    "figure-2", "Are the values too high or too low?", "bias", "Mean of value − mean return: 0 if no bias is shown"
)
CORRELATION = _item(
    "figure-3",
    "Do the values rank the states?",
    "correlation",
    "Correlation of values and returns",
)


PAPER = Paper(
    name="critics",
    title="Critics",
    full_title="How wrong are the critics of the four papers, and when?",
    authors="Arcadia",
    year=2026,
    shows="Trains each paper's method, and compares its values with the returns of simulated futures.",
    items=(RMSE, BIAS, CORRELATION),
)
