"""Schema of workers for users. The schemas of the worker API are in workers/contract/worker_api.py."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from workers.contract.worker_api import QueueName


class WorkerPlugin(BaseModel):
    """An allowed plug-in of a worker."""

    name: str
    version: str | None = Field(description="Null if it is not installed there.")
    problem: str | None = Field(description="Why the worker cannot use it, as a sentence.")
    differs: bool = Field(description="True if the server has another version or cannot use it.")


class Worker(BaseModel):
    """A worker with its state and host."""

    name: str
    host: str
    queue: QueueName
    state: Literal["idle", "busy", "gone"]
    run_id: int | None
    job_slots: int = Field(description="Number of concurrent jobs, such as evaluations, beside its training.")
    last_seen_at: datetime
    version: str
    is_other_build: bool = Field(description="True if it runs another build of Arcadia than the server.")
    device: str
    cores: int
    memory_bytes: int
    pid: int
    plugins: list[WorkerPlugin]
