"""Requests of evaluations. This module does not load torch."""

from dataclasses import dataclass
from pathlib import Path

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.protocols import EvaluationProtocol, fitting_protocols
from arcadia_workers.contract.protocols.document import Acting
from arcadia_workers.trainer.errors import TrainerError


class RequestError(TrainerError):
    """The command line requests something that is not possible."""


@dataclass(frozen=True)
class EvaluateRequest:
    """An evaluation of a checkpoint, or of the random policy in an environment."""

    protocol: EvaluationProtocol
    run_directory: Path | None
    step: int | None
    env: str | None
    episodes: int | None
    seed: int
    acting: Acting | None
    starts: Path | None
    save_starts: Path | None = None


def check_fit(protocol: EvaluationProtocol, env: str, saves_starts: bool) -> None:
    """Raise if the protocol does not fit the environment."""
    family = ENVIRONMENTS[env].family
    if not protocol.fits(family):
        raise RequestError(f"{protocol.name} is not for {env}: use {' or '.join(fitting_protocols(family))}")
    if saves_starts and not family.has_start_points:
        raise RequestError(f"{env} has no start points: --save-starts is for Atari games")
