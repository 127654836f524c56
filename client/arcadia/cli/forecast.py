"""The forecast of a run, as `arcadia launch --forecast` prints it."""

from __future__ import annotations

from arcadia.cli.formats import duration, number, plural
from arcadia.cli.output import print_fields, print_json
from arcadia.progress import format_size
from arcadia.records.forecast import RunForecast


def print_forecast(forecast: RunForecast, seeds: int, *, as_json: bool) -> None:
    """Print what a run needs, and when it could start. It is the forecast of one run, also for several seeds."""
    if as_json:
        print_json(forecast.data)
        return
    memory, gpu_memory = forecast.memory_bytes, forecast.gpu_memory_bytes
    print_fields(
        [
            ("Runs", f"{seeds}, with this forecast for each" if seeds > 1 else ""),
            ("Duration", _duration(forecast)),
            ("Memory", format_size(round(memory)) if memory else ""),
            ("GPU memory", format_size(round(gpu_memory)) if gpu_memory else ""),
            ("Cores", number(forecast.cores) if forecast.cores else ""),
            ("Start", _start(forecast)),
        ]
    )


def _duration(forecast: RunForecast) -> str:
    if forecast.seconds is None:
        return "unknown, because no run like it has been measured here"
    measured = f"{plural(forecast.measured_runs, 'run')} of {forecast.measured_on}"
    return f"about {duration(forecast.seconds)}, measured from {measured}"


def _start(forecast: RunForecast) -> str:
    worker = f"{forecast.queue.upper()} worker"
    if forecast.workers == 0:
        return f"unknown, because no {worker} is connected"
    wait, ahead = forecast.starts_in_seconds, forecast.runs_ahead
    if wait == 0 and ahead < forecast.idle_workers:
        return f"immediately, because a {worker} is free"
    position = f"after {plural(ahead, 'queued run')}" if ahead else "next in the queue"
    if wait is None:
        return f"{position}, at an unknown time. {forecast.start_unknown or ''}".strip()
    return f"{position}, in about {duration(wait)}"
