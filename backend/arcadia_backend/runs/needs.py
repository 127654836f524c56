"""Needs of runs, and which waiting runs fit on a worker's host now.

A host is all workers with its name. Each of them is a slot for one run, and its runs share cores, memory and GPUs.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import ColumnElement, or_, select, tuple_
from sqlalchemy.orm import Session

from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.rights import backend_rights
from arcadia_backend.database.tables import Run, Worker
from arcadia_backend.runs.history import (
    GPU_MEMORY,
    MEMORY,
    RunKind,
    measure,
    past_runs,
    peak,
    startup_seconds,
)
from arcadia_backend.runs.order import UNKNOWN_HOURS
from arcadia_backend.runs.room import GpuRoom, Held, Room, Size, fits_in, may_start_before, room_beside
from arcadia_backend.runs.starts import waiting_durations
from arcadia_backend.workers import Labels, is_busy, is_connected
from arcadia_workers.contract.values import NO_BOOLEAN
from arcadia_workers.contract.worker_api import ACTIVE, WORKERS, QueueName

GIGABYTE = 10**9
Gigabytes = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False), NO_BOOLEAN]
# Maximum number of runs to check for an earlier start than a run that waits for room.
MAX_LOOKED_AT = 100
# Measurements of a kind are read again after this time.
MEASURED_SECONDS = 60.0


class RunNeeds(BaseModel):
    """What a run needs of a host.

    Memory that is null is measured from earlier runs of its kind. Without cores, a run takes the share of a slot.
    """

    model_config = ConfigDict(extra="forbid")

    labels: Labels = Field(default=[], description="Labels that the host must have.")
    cores: Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False), NO_BOOLEAN] | None = None
    memory_gb: Gigabytes | None = None
    gpu_memory_gb: Gigabytes | None = Field(
        default=None, description="A run whose need is neither given nor measured takes a whole GPU."
    )

    def to_text(self) -> str:
        """Return what is set, in a form in which equal needs are equal."""
        given = self.model_dump(exclude_none=True, exclude={"labels"})
        if self.labels:
            given["labels"] = sorted(set(self.labels))
        return json.dumps(given, sort_keys=True) if given else ""


def read_needs(text: str) -> RunNeeds:
    """Return stored needs."""
    return RunNeeds.model_validate_json(text) if text else RunNeeds()


@dataclass(frozen=True)
class Host:
    """A host with its runs. `share` is what one slot has of it."""

    name: str
    total: Room
    share: Size
    held: Sequence[Held] = ()
    # Whether several runs may need its room at once.
    is_shared: bool = False

    @property
    def now(self) -> Room:
        """What is free."""
        return room_beside(self.total, self.held)


@dataclass(frozen=True)
class Fit:
    """The waiting runs that fit on the host of a worker now."""

    conditions: tuple[ColumnElement[bool], ...] = ()
    room: Room | None = None
    sizes: dict[tuple[str, RunKind], Size] = field(default_factory=dict)

    def gpu_of(self, run: Run) -> int | None:
        """Return the GPU for a run that was chosen, or None if it takes that of its worker."""
        size = self.sizes.get((run.needs, (run.algorithm, run.env)))
        return None if self.room is None or size is None else self.room.choose_gpu(size)


First = Callable[[ColumnElement[bool]], int | None]


def read_fit(session: Session, name: str, queue: QueueName, first: First) -> Fit:
    """Return which waiting runs a worker may claim. `first` returns the first waiting run that meets a condition.

    A run that waits for room on this host is not delayed: others start before it only if they end earlier, or if there
    is room for both.
    """
    worker = session.get(Worker, name)
    waiting = (Run.state == "queued", Run.queue == queue, Run.executor == WORKERS)
    if worker is None:
        return Fit()
    with backend_rights(session):
        host = read_hosts(session, [worker.host], queue, adding=worker)[worker.host]
        if not host.is_shared:
            texts = session.scalars(select(Run.needs).where(*waiting).distinct()).all()
            fitting = [text for text in texts if host.total.fits(explicit_size(text))]
            return Fit() if len(fitting) == len(texts) else Fit((Run.needs.in_(fitting),))
        # Two workers of a host must not take the same room.
        lock = select(Worker.name).where(Worker.host == worker.host).order_by(Worker.name).with_for_update()
        session.execute(lock)
        host = read_hosts(session, [worker.host], queue, adding=worker)[worker.host]
        rows = session.execute(select(Run.needs, Run.algorithm, Run.env).where(*waiting).distinct()).all()
        sizes = {
            (needs, (algorithm, env)): _size(session, needs, (algorithm, env), queue, host)
            for needs, algorithm, env in rows
        }
        now = host.now
        fitting_kinds = [kind for kind, size in sizes.items() if now.fits(size)]
        blocked = [kind for kind, size in sizes.items() if not now.fits(size) and host.total.fits(size)]
        condition = _is_of(fitting_kinds)
        if blocked and fitting_kinds:
            head = first(_is_of([*fitting_kinds, *blocked]))
            run = None if head is None else session.get(Run, head)
            if run is not None and (run.needs, (run.algorithm, run.env)) in blocked:
                condition = _beside(session, run, queue, host, sizes, fitting_kinds)
        return Fit((condition,), now, sizes)


def _is_of(kinds: Collection[tuple[str, RunKind]]) -> ColumnElement[bool]:
    """Return the condition for runs of these needs, methods and environments."""
    return tuple_(Run.needs, Run.algorithm, Run.env).in_([(needs, *kind) for needs, kind in kinds])


def _beside(
    session: Session,
    head: Run,
    queue: QueueName,
    host: Host,
    sizes: dict[tuple[str, RunKind], Size],
    fitting: Sequence[tuple[str, RunKind]],
) -> ColumnElement[bool]:
    """Return the condition for runs that may start before the first one, which waits for room."""
    size = sizes[head.needs, (head.algorithm, head.env)]
    starts_in, room_then = fits_in(host.total, host.held, size)
    names = session.scalars(select(Worker.host).where(Worker.queue == queue, Worker.executor == WORKERS).distinct())
    others = read_hosts(session, [each for each in names if each != host.name], queue)
    if any(fits_in(other.total, other.held, size)[0] < starts_in for other in others.values()):
        return _is_of(fitting)  # it will start there
    beside = [kind for kind in fitting if may_start_before(sizes[kind], float("inf"), size, starts_in, room_then)]
    rest = [kind for kind in fitting if kind not in beside]
    columns = (Run.id, Run.algorithm, Run.env, Run.step, Run.total_steps)
    query = select(*columns).where(Run.state == "queued", Run.queue == queue, Run.executor == WORKERS, _is_of(rest))
    query = query.order_by(Run.priority.desc(), Run.created_at, Run.id).limit(MAX_LOOKED_AT)
    short = [
        row.id
        for row in session.execute(query)
        if _longest(session, (row.algorithm, row.env), queue, max(0, (row.total_steps or 0) - row.step)) <= starts_in
    ]
    return or_(_is_of(beside), Run.id.in_(short))


def _longest(session: Session, kind: RunKind, queue: QueueName, steps: int) -> float:
    """Return the longest time that a run may take, or infinity if none of its kind has ended."""
    known = waiting_durations(past_runs(session, kind, queue), steps, startup_seconds(session, kind[0]) or 0.0)
    return max(known.seconds) if known else float("inf")


def read_hosts(
    session: Session,
    names: Collection[str],
    queue: QueueName,
    adding: Worker | None = None,
    ending: Run | None = None,
) -> dict[str, Host]:
    """Return hosts with their runs.

    `adding` is a worker that claims, which may not have sent a heartbeat yet. `ending` is a run that is left out.
    """
    now = utc_now()
    query = select(Worker).where(Worker.host.in_(names), Worker.executor == WORKERS).order_by(Worker.name)
    by_host: dict[str, list[Worker]] = {}
    for worker in session.scalars(query):
        if is_connected(worker, now) or worker is adding:
            by_host.setdefault(worker.host, []).append(worker)
    workers = {worker.name: worker for each in by_host.values() for worker in each}
    is_held = [Run.worker.in_(workers), Run.state.in_(ACTIVE), Run.executor == WORKERS]
    if ending is not None:
        is_held.append(Run.id != ending.id)
    columns = (Run.worker, Run.queue, Run.needs, Run.algorithm, Run.env, Run.gpu, Run.seconds_left)
    held: dict[str, list[Any]] = {}
    for row in session.execute(select(*columns).where(*is_held)):
        held.setdefault(workers[row.worker].host, []).append(row)
    hosts = {}
    for name, slots in by_host.items():
        host = _empty_host(name, slots, queue)
        runs = [
            Held(
                _size(session, row.needs, (row.algorithm, row.env), row.queue or queue, host),
                row.gpu,
                UNKNOWN_HOURS * 3_600 if row.seconds_left is None else row.seconds_left,
            )
            for row in held.get(name, ())
        ]
        busy = [Held(Size(), gpu["index"]) for each in slots[:1] for gpu in each.gpus if is_busy(gpu)]
        hosts[name] = Host(name, host.total, host.share, [*runs, *busy], host.is_shared)
    return hosts


def _empty_host(name: str, slots: Sequence[Worker], queue: QueueName) -> Host:
    cores, memory = max(each.cores for each in slots), max(each.memory_bytes for each in slots)
    reported = next((each.gpus for each in slots if each.gpus), [])
    gpus = None
    if queue == "gpu" and reported:
        gpus = tuple(GpuRoom(gpu["index"], gpu["memory_bytes"], gpu["memory_bytes"]) for gpu in reported)
    total = Room(cores, memory, frozenset(label for each in slots for label in each.labels), gpus)
    share = Size(cores / len(slots), memory / len(slots))
    return Host(name, total, share, is_shared=len(slots) > 1 or gpus is not None)


def explicit_size(text: str) -> Size:
    """Return the given needs of a run, without what is measured."""
    needs = read_needs(text)
    gpu_memory = (needs.gpu_memory_gb or 0) * GIGABYTE
    return Size(needs.cores or 0, (needs.memory_gb or 0) * GIGABYTE, gpu_memory, frozenset(needs.labels))


def size_of(session: Session, run: Run, queue: QueueName, host: Host) -> Size:
    """Return what a run takes of a host."""
    return _size(session, run.needs, (run.algorithm, run.env), queue, host)


def _size(session: Session, text: str, kind: RunKind, queue: QueueName, host: Host) -> Size:
    """Return what a run takes of a host: as given, the measured memory, or else the share of a slot."""
    needs, measured = read_needs(text), _measured(session, kind, queue)
    # A host may have more slots than cores.
    cores = needs.cores or host.share.cores
    memory = host.share.memory if measured.memory is None else min(measured.memory, host.total.memory)
    memory = needs.memory_gb * GIGABYTE if needs.memory_gb else memory
    gpu_memory = needs.gpu_memory_gb * GIGABYTE if needs.gpu_memory_gb else measured.gpu_memory
    return Size(cores, memory, gpu_memory, frozenset(needs.labels))


@dataclass(frozen=True)
class _Used:
    """What earlier runs of a kind used. None if it is unknown."""

    memory: float | None
    gpu_memory: float | None


def _measured(session: Session, kind: RunKind, queue: QueueName) -> _Used:
    known: dict[Any, tuple[float, _Used]] = session.info["measured_sizes"]
    now = utc_now().timestamp()
    if (kind, queue) not in known or not 0 <= now - known[kind, queue][0] < MEASURED_SECONDS:
        found = measure(session, *kind, queue)
        run_ids = found.run_ids if found else ()
        used = _Used(peak(session, run_ids, MEMORY), peak(session, run_ids, GPU_MEMORY))
        known[kind, queue] = (now, used)
    return known[kind, queue][1]


def offers(worker: Worker, queue: QueueName, texts: Iterable[str]) -> frozenset[str]:
    """Return which of these needs the host of a worker meets when it is empty."""
    total = _empty_host(worker.host, [worker], queue).total
    return frozenset(text for text in texts if total.fits(explicit_size(text)))


def unmet_reason(workers: Sequence[Worker], queue: QueueName, text: str) -> str | None:
    """Return a sentence if no host of these workers meets the given needs of a run, even when it is empty."""
    if not text or not workers or any(offers(worker, queue, [text]) for worker in workers):
        return None
    needs = read_needs(text)
    if needs.labels and not any(set(needs.labels) <= {*worker.labels} for worker in workers):
        return f"No {queue.upper()} worker has the {_labels(needs.labels)}. Add labels on the page Workers."
    amounts = {"cores": needs.cores, "GB of memory": needs.memory_gb, "GB of GPU memory": needs.gpu_memory_gb}
    wanted = " and ".join(f"{amount:g} {unit}" for unit, amount in amounts.items() if amount)
    return f"No {queue.upper()} worker{' with its labels' if needs.labels else ''} has {wanted}, even when it is free."


def _labels(labels: Sequence[str]) -> str:
    return f"label {labels[0]}" if len(labels) == 1 else f"labels {' and '.join(labels)}"


def room_reason(session: Session, run: Run, queue: QueueName, workers: Sequence[Worker]) -> str | None:
    """Return a sentence if these workers are free, but none of their hosts has room for a run now."""
    with backend_rights(session):
        hosts = read_hosts(session, {worker.host for worker in workers}, queue)
        found: list[str] = []
        for host in hosts.values():
            size = size_of(session, run, queue, host)
            if not host.is_shared or host.now.fits(size):
                return None
            if host.total.fits(size):
                found.append(_describe_room(host, size))
    return " ".join(found[:2]) or None


def _describe_room(host: Host, size: Size) -> str:
    """Return what a run needs of a host, and what is free there."""
    now = host.now
    if size.cores > now.cores:
        return f"It needs {size.cores:.2g} cores, and {max(0.0, now.cores):.2g} of {host.name} are free."
    if size.memory > now.memory:
        needed, free = size.memory / GIGABYTE, max(0.0, now.memory) / GIGABYTE
        return f"It needs {needed:.1f} GB of memory, and {host.name} has {free:.1f} GB free."
    if size.gpu_memory is None:
        return f"It needs a whole GPU, and those of {host.name} are used."
    free = max((max(0.0, gpu.free) for gpu in now.gpus or ()), default=0.0) / GIGABYTE
    return f"It needs {size.gpu_memory / GIGABYTE:.1f} GB of GPU memory, and {host.name} has {free:.1f} GB free."
