"""Files, checkpoints, replays and evaluations as clients see them. NaN and the infinities are strings."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict


class UploadedFile(BaseModel):
    """What a file is called from now on."""

    file_id: int


class Checkpoint(BaseModel):
    """A saved training state; once thinned out it is no longer available."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    bytes: int
    return_mean: float | None
    best: bool
    created_at: datetime
    available: bool


class Video(BaseModel):
    """A replay: one episode played from a checkpoint."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    file_id: int | None
    poster_file_id: int | None
    episode_return: float
    length: int
    seconds: float
    created_at: datetime


class Evaluation(BaseModel):
    """Returns of episodes played apart from training."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    id: int
    step: int
    frames: int
    attempt: int
    returns: list[float]
    return_mean: float | None
    created_at: datetime
