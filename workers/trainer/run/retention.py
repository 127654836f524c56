"""Rules for which checkpoints of a run are kept, and which is the best by mean return."""

import math
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from workers.contract import layout
from workers.contract.pruning import prunable

RETURN_WINDOW = 100


class Retention(BaseModel):
    """The best checkpoint of a run. Each checkpoint stores it, so it survives a resume."""

    model_config = ConfigDict(frozen=True)

    best: str | None = None
    # Whether the window is full, and the mean. A mean of few episodes never beats one of a hundred.
    best_score: tuple[bool, float] | None = None

    @property
    def full_window_best(self) -> float | None:
        """The best mean of a full window; None before the first."""
        return self.best_score[1] if self.best_score and self.best_score[0] else None

    def after(self, file: str, returns: list[float]) -> "Retention":
        """Return the retention after a checkpoint whose last episodes had these returns."""
        mean = sum(returns) / len(returns) if returns else math.nan
        if not math.isnan(mean):
            score = (len(returns) >= RETURN_WINDOW, mean)
            if self.best_score is None or score >= self.best_score:
                return Retention(best=file, best_score=score)
        return self


def kept(directory: Path, last: int, most: int, best: str | None) -> list[str]:
    """Return the files to keep, oldest first, after the checkpoint of step `last`.

    Files of later steps are not kept: the run continued from an earlier step.
    """
    steps = [step for step in layout.saved_steps(directory) if step <= last]
    files = [layout.checkpoint_file(step) for step in steps]
    gone = prunable(steps, most, [place for place, file in enumerate(files) if file == best])
    return [file for place, file in enumerate(files) if place not in gone]


class RunFacts(BaseModel):
    """Facts that the run stores in a checkpoint in addition to the method's state."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="strings")

    returns: tuple[float, ...] = ()
    retention: Retention = Retention()
