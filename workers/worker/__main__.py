"""`arcadia worker`: one place to train runs of one queue, and some for jobs, until SIGTERM or Ctrl-C."""

import argparse
import logging
import os
import re
import socket
import sys
import threading
import warnings
from pathlib import Path

from celery import signals
from pydantic import ValidationError

from workers.contract.log_lines import log_to_standard_output
from workers.contract.secret_files import SecretFileError
from workers.contract.settings_in_common import unknown_settings
from workers.contract.worker_api import JOBS_QUEUE, MOST_JOBS, QUEUES, private_queue
from workers.worker.answers import BackendError
from workers.worker.backend_client import BackendClient
from workers.worker.celery_app import make_app
from workers.worker.checkpoint_store import CheckpointStore
from workers.worker.gpu import gpu_problem
from workers.worker.heartbeat import Heartbeat
from workers.worker.machine import machine_facts
from workers.worker.place import occupy, take_name
from workers.worker.settings import WorkerSettings
from workers.worker.supervisor import Supervisor
from workers.worker.tasks import register
from workers.worker.warm import WarmProcess
from workers.worker.work import TRAINER, Jobs, Training, Work

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

log = logging.getLogger("workers")


def worker_name(text: str) -> str:
    """Check a name more narrowly than the worker API does, because it names a directory as well."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r}: use up to 100 letters, digits, dots, dashes and underscores")
    return text


def job_slots(text: str) -> int:
    """Read how many jobs a worker does at a time."""
    if not text.isdecimal() or int(text) > MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number from 0 to {MOST_JOBS}")
    return int(text)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Read the command line; addresses and secrets may also come from ARCADIA_* in the environment."""
    parser = argparse.ArgumentParser(prog="arcadia worker", description="Train the runs that wait in a queue.")
    parser.add_argument("--queue", choices=QUEUES, default="cpu")
    parser.add_argument(
        "--name",
        type=worker_name,
        help="what the workers page calls this worker (default: the host's name, with a number if it is taken)",
    )
    parser.add_argument(
        "--jobs",
        type=job_slots,
        metavar="N",
        help="ARCADIA_JOBS: how many jobs (evaluations …) it does at a time beside its training; 0 for none",
    )
    parser.add_argument("--backend-url", help="ARCADIA_BACKEND_URL: where the backend answers")
    parser.add_argument("--worker-dir", type=Path, help="ARCADIA_WORKER_DIR: where run directories lie")
    return parser.parse_args(arguments)


def read_settings(options: argparse.Namespace) -> WorkerSettings:
    """Read the settings, or leave with a sentence on what is missing."""
    if unknown := unknown_settings(os.environ):
        sys.exit(f"arcadia worker: {unknown}")
    given = {"backend_url": options.backend_url, "worker_dir": options.worker_dir, "jobs": options.jobs}
    try:
        return WorkerSettings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = "; ".join(f"ARCADIA_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors(include_input=False))
        sys.exit(f"arcadia worker: {wrong}")
    except SecretFileError as error:
        sys.exit(f"arcadia worker: {error}")


def main() -> int:
    """Work until told to stop."""
    options = parse_arguments(sys.argv[1:])
    settings = read_settings(options)
    if options.queue == "gpu" and (problem := gpu_problem()):
        print(f"arcadia worker: {problem}", file=sys.stderr)
        return os.EX_CONFIG
    log_to_standard_output()
    for noisy in ("httpx", "celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Celery warns of being root, and of a default of its next version that only late acknowledgement would feel.
    warnings.filterwarnings("ignore", module="celery")
    host = socket.gethostname()
    place = occupy(settings.directory(options.name or host), shared=options.name is None)
    directory = place.directory
    warm_trainer = WarmProcess(TRAINER, directory, {}, [place.descriptor], name="warm-trainer")
    if settings.keep_ready:
        # It loads torch while this worker introduces itself and delivers what an earlier one left behind.
        warm_trainer.prepare()
    facts = machine_facts(place.predecessor)

    def client_named(name: str) -> BackendClient:
        return BackendClient(settings.backend_url, settings.worker_token.get_secret_value(), name, options.queue)

    name = take_name(options.name, host, lambda name: client_named(name).heartbeat(facts, settings.jobs, []))
    client = client_named(name)
    heartbeat = Heartbeat(client, facts, settings.jobs, settings.worker_alive_file)
    store = CheckpointStore(client, directory / "checkpoints")
    doing_jobs = Jobs(client, store, settings.job_niceness)
    warm = WarmProcess(doing_jobs.program, directory, doing_jobs.environment, [place.descriptor])
    works: list[tuple[Work, int, WarmProcess | None]] = [
        (Training(client, store), 1, warm_trainer if settings.keep_ready else None),
        (doing_jobs, settings.jobs, warm if settings.keep_ready and settings.jobs else None),
    ]
    training, jobs = (
        Supervisor(client, heartbeat, directory, settings.stop_grace_seconds, work, places, [place.descriptor], ready)
        for work, places, ready in works
    )
    queues = [options.queue, private_queue(name), *([JOBS_QUEUE] if settings.jobs else [])]
    app = make_app(settings.broker_url.get_secret_value(), queues)
    register(app, training, jobs)
    worker = app.Worker(
        hostname=f"{name}@{socket.gethostname()}",
        pool="threads",
        concurrency=1 + settings.jobs,
        queues=queues,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        redirect_stdouts=False,
        loglevel="INFO",
        quiet=True,
    )

    def on_shutdown(**_: object) -> None:
        training.drain()
        jobs.drain()

    signals.worker_shutting_down.connect(on_shutdown)
    heartbeat.start()
    beginnings = [
        threading.Thread(target=each.begin, name=f"begin-{noun}", daemon=True)
        for noun, each in (("runs", training), ("jobs", jobs))
    ]
    for beginning in beginnings:
        beginning.start()
    log.info("Worker %s waits for %s runs from %s.", name, options.queue, settings.backend_url)
    worker.start()
    # Celery calls Ctrl-C a failure.
    status = 0 if training.draining else int(worker.exitcode or 0)
    on_shutdown()
    for beginning in beginnings:
        beginning.join()  # Celery has waited for what the doorbell began, but not for this
    heartbeat.close()
    try:
        client.goodbye()
    except BackendError as error:
        log.warning("Could not say goodbye: %s", error)
    return status


if __name__ == "__main__":
    sys.exit(main())
