"""Trainer halves of the methods. Each family has a folder that reads like its paper.

`docs/extending.md` describes how to add a method.
"""

from typing import Any

from arcadia_workers.contract.config import METHODS
from arcadia_workers.contract.plugins.discovery import resolve
from arcadia_workers.contract.plugins.loading import PROVIDERS
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.methods.trainer import Trainer


class TrainerHalfError(TrainerError):
    """The trainer half of a plug-in's method cannot be used."""

    is_bug = True


class Trainers(dict[str, Trainer[Any]]):
    """Trainer halves by algorithm. That of a plug-in is imported when it is first used."""

    def __missing__(self, algorithm: str) -> Trainer[Any]:
        reference = METHODS[algorithm].trainer
        try:
            trainer = resolve(reference)
        except Exception as error:
            raise TrainerHalfError(f"{reference} cannot be imported: {type(error).__name__}: {error}") from error
        if not isinstance(trainer, Trainer) or trainer.config is not METHODS[algorithm].config:
            raise TrainerHalfError(f"{reference} must be a Trainer with the configuration of {algorithm}")
        self[algorithm] = trainer
        return trainer


# Built-in ones are imported here, so that processes that wait for their first run have them.
TRAINERS = Trainers(
    {name: resolve(method.trainer) for name, method in METHODS.items() if ("method", name) not in PROVIDERS}
)
