"""Routes that kinds of jobs share: read a result, with a wait for its job, cancel it and delete it."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import Depends, Path, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from arcadia_backend import jobs
from arcadia_backend.database.engine import Db
from arcadia_backend.database.tables import Base, Job
from arcadia_backend.jobs import JobType
from arcadia_backend.live.notices import Topic
from arcadia_backend.web.lookup import DEFAULT_TIMEOUT, Timeout, Wait, job_in_progress, wait_while
from arcadia_workers.contract.jobs import JOB_KINDS
from arcadia_workers.contract.values import MAX_ID


def cancel_job(session: Session, _row: Base, job: Job) -> None:
    """Cancel the job of a result, and change nothing else."""
    jobs.cancel(session, job)


def remove_job(session: Session, _row: Base, job: Job) -> None:
    """Delete a job with its result, and change nothing else."""
    jobs.remove(session, job)


def wait_for(parameter: str, pending: Callable[[Session, int], Topic | None]) -> Any:
    """Return a dependency that waits, if requested, while a result is pending. `parameter` is its id in the path."""

    async def wait(
        request: Request,
        number: int = Path(alias=parameter, ge=1, le=MAX_ID),
        wait: Wait = None,
        timeout: Timeout = DEFAULT_TIMEOUT,
    ) -> None:
        if wait is not None:
            await wait_while(lambda session: pending(session, number), request, timeout)

    return Depends(wait)


def add_job_routes(
    job_type: JobType,
    schema: type[BaseModel],
    to_schema: Callable[[Session, Any, Job], BaseModel],
    *,
    pending: Callable[[Session, int], Topic | None] | None = None,
    cancel: Callable[[Session, Any, Job], None] | None = cancel_job,
    cancel_text: str = "Cancel a queued or running job.",
    delete: Callable[[Session, Any, Job], None] = remove_job,
    delete_text: str = "Permanently delete a result. A running job is stopped.",
) -> None:
    """Add the routes that read, cancel and delete one result of a kind of job. Without `cancel`, none cancels.

    `pending` returns what announces the next change, if a result has not ended with its job.
    """
    kind, router = job_type.kind, job_type.router
    declared, parameter = JOB_KINDS[kind], f"{kind}_id"
    path = f"/{declared.path}/{{{parameter}}}"
    # Its name in the path and in the OpenAPI document.
    identifier: Any = Path(alias=parameter, ge=1, le=MAX_ID)
    find = partial(jobs.find_result, job_type)

    def job_pending(session: Session, number: int) -> Topic | None:
        return job_in_progress(find(session, number)[1])

    @router.get(
        path,
        name=f"read_{kind}",
        response_model=schema,
        dependencies=[wait_for(parameter, pending or job_pending)],
        description=f"Return {declared.name}, immediately or once the job has ended.",
    )
    def read(db: Db, number: int = identifier) -> BaseModel:
        with db.read() as session:
            return to_schema(session, *find(session, number))

    if cancel is not None:

        @router.post(f"{path}/cancel", name=f"cancel_{kind}", response_model=schema, description=cancel_text)
        def cancel_one(db: Db, number: int = identifier) -> BaseModel:
            with db.write() as session:
                cancel(session, *find(session, number, lock=True))
                return to_schema(session, *find(session, number))

    @router.delete(path, name=f"delete_{kind}", status_code=204, description=delete_text)
    def delete_one(db: Db, number: int = identifier) -> Response:
        with db.write() as session:
            delete(session, *find(session, number, lock=True))
        return Response(status_code=204)
