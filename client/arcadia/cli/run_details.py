"""The details of a run for people."""

from __future__ import annotations

from arcadia._sync.runs import Run
from arcadia.cli.formats import count, duration, joined, local_time, number, percent, steps
from arcadia.cli.output import print_fields, state


def print_details(run: Run) -> None:
    """Print a run: one field per line."""
    data = run.data
    print_fields(
        [
            ("Run", f"{run.id} {run.name}"),
            ("State", state(run.state)),
            ("Reason", run.state_reason or ""),
            ("Failure", run.failure or ""),
            ("Method" if data["method"] else "Environment", " on ".join(filter(None, (data["method"], run.env)))),
            ("Project", run.project),
            ("Progress", _progress(run)),
            ("Speed", _speed(run)),
            ("Return", _returns(run)),
            ("Worker", run.worker or ""),
            ("Queue", f"{run.queue}, priority {run.priority}" if run.queue else ""),
            ("Tags", joined(run.tags) if run.tags else ""),
            ("Parent", _parent(run)),
            ("Study", f"{data['study']['id']} {data['study']['name']}" if data["study"] else ""),
            ("Created", local_time(data["created_at"])),
            ("Started", local_time(data["started_at"]) if data["started_at"] else ""),
            ("Finished", local_time(data["finished_at"]) if data["finished_at"] else ""),
            ("Notes", run.notes),
            ("Warnings", "\n".join(run.warnings)),
            ("Page", run.url),
        ]
    )


def _progress(run: Run) -> str:
    share = "" if run.total_steps is None else f"{percent(run.step, run.total_steps)}: "
    return f"{share}step {steps(run.step, run.total_steps)}, {count(run.frames)} frames"


def _speed(run: Run) -> str:
    trained = f"trained for {duration(run.trained_seconds)}" if run.trained_seconds else ""
    speed = f"{run.steps_per_second:,.0f} steps/s" if run.steps_per_second else ""
    left = f"{duration(run.seconds_left)} left" if run.seconds_left is not None else ""
    return ", ".join(text for text in (speed, left, trained) if text)


def _returns(run: Run) -> str:
    if run.last_return is None:
        return ""
    return f"{number(run.last_return)} (best {number(run.best_return)}) after {count(run.episodes)} episodes"


def _parent(run: Run) -> str:
    parent = run.data["parent"]
    return f"run {parent['run_id']} at step {count(parent['step'])}" if parent else ""
