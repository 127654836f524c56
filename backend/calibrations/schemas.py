"""Request and response models of the calibrations API."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from backend.checkpoints.choice import CheckpointChoice
from backend.database.tables import Origin
from workers.contract.calibrations import CalibrationDocument, CalibrationErrors, CalibrationOptions
from workers.contract.values import Seed, ShortText
from workers.contract.worker_api import JobState


class CalibrationRequest(CalibrationOptions):
    """Request to compare the critic of a checkpoint with simulated futures."""

    checkpoint: CheckpointChoice = "newest"
    protocol: ShortText | None = Field(
        default=None, description="Protocol of the episodes, for example no-op-5min. Default: the run's protocol."
    )
    seed: Seed = Field(default=1, description="The same seed gives the same episodes and futures.")


class RunCalibration(BaseModel):
    """A calibration of a checkpoint, with its state and, when done, its errors.

    NaN and infinity are strings.
    """

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    run_id: int
    state: JobState
    reason: str | None = Field(description="Why it waits or has failed, as a sentence.")
    traceback: str | None = Field(description="Traceback of an unexpected failure.")
    origin: Origin
    checkpoint_id: int
    checkpoint_sha256: str
    step: int = Field(description="Step of the checkpoint.")
    frames: int = Field(description="Emulator frames at the checkpoint.")
    superseded: bool = Field(
        description="True if a later attempt resumed before the checkpoint. The calibration then does not count."
    )
    protocol: str
    seed: int
    episodes: int
    every: int | None = Field(description="Every how many decisions one is judged. Null: chosen when it starts.")
    futures: int
    horizon: int
    measure_regret: bool = Field(default=True, description="Whether the regret is measured.")
    moments_done: int = Field(description="Judged decisions.")
    moments_total: int = Field(description="Decisions to judge. 0 until the episodes have been played.")
    worker: str | None
    errors: CalibrationErrors | None = Field(description="Null until it is done.")
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class CalibrationWithDocument(RunCalibration):
    """A calibration with all judged decisions."""

    document: CalibrationDocument | None = Field(description="The full result. Null until it is done.")
