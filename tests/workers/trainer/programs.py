"""The commands of `arcadia` that do one job without a server, called in this process."""

from collections.abc import Sequence

from arcadia_workers.trainer import job


def evaluate(arguments: Sequence[str]) -> int:
    """Run `arcadia evaluate`. Return the exit status."""
    return job.main(["evaluate", *arguments])


def record(arguments: Sequence[str]) -> int:
    """Run `arcadia record`. Return the exit status."""
    return job.main(["record", *arguments])


def futures(arguments: Sequence[str]) -> int:
    """Run `arcadia futures`. Return the exit status."""
    return job.main(["futures", *arguments])


def review(arguments: Sequence[str]) -> int:
    """Run `arcadia review`. Return the exit status."""
    return job.main(["review", *arguments])


def practice(arguments: Sequence[str]) -> int:
    """Run `arcadia practice`. Return the exit status."""
    return job.main(["practice", *arguments])


def calibrate(arguments: Sequence[str]) -> int:
    """Run `arcadia calibrate`. Return the exit status."""
    return job.main(["calibrate", *arguments])
