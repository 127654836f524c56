"""Table 1: the systems of the paper, and the hosts of this installation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from arcadia_backend.database.tables import Attempt, Run, Worker
from arcadia_backend.papers.definition import Item, PaperDifference, PaperTable, PrintedNumber
from arcadia_workers.contract import published

COLUMNS = ("System", "Processor", "Cores", "Memory", "GPU", "Software", "Known from")
# The newest hosts to list.
MAX_HOSTS = 100
NOT_REPORTED = "not reported"


@dataclass(frozen=True)
class InstallationHost:
    """A host of this installation, as its workers and runs report it."""

    name: str
    cores: str = NOT_REPORTED
    memory: str = NOT_REPORTED
    device: str = NOT_REPORTED
    workers: int = 0
    run_id: int | None = None
    versions: Mapping[str, str] | None = None

    @property
    def row(self) -> list[str]:
        """Return the host as a row of the table."""
        gpu = "none" if self.device == "cpu" else self.device
        known = [f"{self.workers} worker{'s' if self.workers > 1 else ''}"] if self.workers else []
        known += [f"run {self.run_id}"] if self.run_id is not None else []
        return [f"Here: {self.name}", NOT_REPORTED, self.cores, self.memory, gpu, self._software, ", ".join(known)]

    @property
    def _software(self) -> str:
        shown = {"python": "Python", "torch": "PyTorch"}
        versions = self.versions or {}
        software = [f"{title} {versions[name]}" for name, title in shown.items() if name in versions]
        return ", ".join(software) or NOT_REPORTED


def hosts(session: Session) -> list[InstallationHost]:
    """Return the hosts of listed workers, then those of earlier runs."""
    hosts: dict[str, InstallationHost] = {}
    for worker in session.scalars(select(Worker).order_by(Worker.host, Worker.name)):
        known = hosts.get(worker.host, InstallationHost(worker.host))
        hosts[worker.host] = replace(
            known,
            cores=str(worker.cores),
            memory=f"{worker.memory_bytes / 2**30:.0f} GiB",
            # A host may have one worker with a GPU and one without.
            device=worker.device if known.device in (NOT_REPORTED, "cpu") else known.device,
            workers=known.workers + 1,
        )
    newest = (
        (select(func.max(Attempt.run_id)).where(Attempt.host.is_not(None)).group_by(Attempt.host))
        .order_by(func.max(Attempt.run_id).desc())
        .limit(MAX_HOSTS)
    )
    trained = (
        select(Attempt.host, Attempt.device, Run.id, Run.versions)
        .join(Run, Run.id == Attempt.run_id)
        .where(Attempt.run_id.in_(session.scalars(newest).all()))
        .order_by(Run.id, Attempt.attempt)
    )
    for name, device, run_id, versions in session.execute(trained):
        if name is not None:
            known = hosts.get(name, InstallationHost(name, device=device or NOT_REPORTED))
            hosts[name] = replace(known, run_id=run_id, versions=versions)
    return list(hosts.values())[:MAX_HOSTS]


def table(session: Session) -> PaperTable:
    """Return the paper's systems above the hosts of this installation."""
    theirs = [
        [
            f"The paper: {row.system}",
            f"Intel {row.processor}, {row.gigahertz:.2f} GHz",
            str(row.cores),
            "not stated",
            f"NVIDIA {row.gpu}",
            f"Python 3.5, CUDA {row.cuda}, cuDNN v5.1, TensorFlow r0.11",
            row.table,
        ]
        for row in published.systems()
    ]
    ours = [host.row for host in hosts(session)]
    note = (
        "Cores of hosts here are the cores that a worker may use. GPUs are listed if the worker's driver lists them."
        if ours
        else "No worker has connected here and no run has trained, so only the paper's systems are listed."
    )
    return PaperTable("The paper's systems and the hosts here", COLUMNS, [*theirs, *ours], note)


ITEM = Item(
    name="table-1",
    label="Table 1",
    title="Systems used for the measurements",
    theirs="Lists the four systems with an NVIDIA GPU on which GA3C was profiled and tested.",
    ours="Lists the hosts of this installation beside them, as reported by their workers and runs. Speeds of "
    "different hosts are not comparable: each run first measures the speed of its environments alone.",
    measures="",
    draw=None,
    table=table,
    differs=(
        PaperDifference(
            "profiling",
            "NVIDIA's profilers",
            "the trainer's metrics: rates, queues, shares of time, GPU use",
            "they need no tools and are available for every run",
        ),
    ),
    published=tuple(
        PrintedNumber(f"{what}, system {row.system}", value, unit, row.source, row.table, row.protocol)
        for row in published.systems()
        for what, value, unit in (("cores", float(row.cores), ""), ("clock", row.gigahertz, "GHz"))
    ),
)
