"""The program `arcadia worker`: trains runs of one queue and does jobs until SIGTERM or Ctrl-C."""

import argparse
import logging
import os
import re
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from celery import Celery, signals
from pydantic import ValidationError

from arcadia_workers.contract.layout import log_to_standard_output
from arcadia_workers.contract.plugins.discovery import allowed_plugins, name_in_environment
from arcadia_workers.contract.plugins.loading import PLUGINS, loaded_versions
from arcadia_workers.contract.plugins.trial import load_after_trial
from arcadia_workers.contract.settings import SecretFileError, WorkerSettings, unknown_settings
from arcadia_workers.contract.worker_api import (
    INTERACTIVE_SLOTS,
    JOBS_QUEUE,
    MOST_JOBS,
    MOST_SLOTS,
    QUEUES,
    WORKERS,
    private_queue,
)
from arcadia_workers.worker.answers import BackendError, WrongTokenError
from arcadia_workers.worker.attempt_directory import CheckpointStore
from arcadia_workers.worker.backend_client import BackendClient
from arcadia_workers.worker.bell import BellThread
from arcadia_workers.worker.celery_app import make_app, register
from arcadia_workers.worker.heartbeat import HeartbeatThread
from arcadia_workers.worker.join import join, read_joined
from arcadia_workers.worker.machine import (
    WorkerDirectory,
    gpu_problem,
    lock_directory,
    machine_facts,
    take_name,
)
from arcadia_workers.worker.once import WantedRun, check_backend, do_jobs, train_once
from arcadia_workers.worker.slots import serve_slots, slot_arguments, worker_command
from arcadia_workers.worker.supervisor import Supervisor
from arcadia_workers.worker.trainer_process import LocalLauncher, WarmProcess
from arcadia_workers.worker.work import TRAINER, Jobs, Training

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

log = logging.getLogger("workers")


def worker_name(text: str) -> str:
    """Validate a worker name. It is also a directory name, so fewer characters are allowed than in the API."""
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a valid name: use up to 100 letters, digits, dots, dashes and underscores"
        )
    return text


def job_slots(text: str) -> int:
    """Parse the number of concurrent jobs."""
    if not text.isdecimal() or int(text) > MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to {MOST_JOBS}")
    return int(text)


def slots(text: str) -> int:
    """Parse the number of slots."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_SLOTS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MOST_SLOTS}")
    return int(text)


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Parse the command line. Addresses and secrets may also come from ARCADIA_* variables."""
    parser = argparse.ArgumentParser(
        prog="arcadia worker",
        description="Train queued runs and do jobs. `arcadia worker join URL CODE` stores a server and its token.",
    )
    parser.add_argument("--queue", choices=QUEUES, default="cpu")
    parser.add_argument(
        "--name",
        type=worker_name,
        help="name on the workers page (default: the host's name, with a number if it is taken)",
    )
    parser.add_argument(
        "--jobs",
        type=job_slots,
        metavar="N",
        help=(
            "ARCADIA_JOBS: number of concurrent jobs (evaluations …) in addition to training; 0 for none. "
            f"{INTERACTIVE_SLOTS} more slots are only for live games and other jobs that a person waits for"
        ),
    )
    parser.add_argument(
        "--slots",
        type=slots,
        metavar="N",
        help="ARCADIA_SLOTS: number of runs to train at once on this host, each by a separate worker (default: 1)",
    )
    parser.add_argument("--backend-url", help="ARCADIA_BACKEND_URL: address of the backend")
    parser.add_argument("--worker-dir", type=Path, help="ARCADIA_WORKER_DIR: folder for run directories")
    parser.add_argument("--ca-file", type=Path, help="ARCADIA_CA_FILE: certificates that sign the backend's, as PEM")
    once = parser.add_argument_group("job of a scheduler", "Train one run or do jobs, without a broker, and end.")
    once.add_argument("--run", type=int, metavar="N", help="the run to train")
    once.add_argument("--attempt", type=int, metavar="A", help="the attempt that the job was submitted for")
    once.add_argument("--once", action="store_true", help="end when the run ends, or when there is nothing to do")
    once.add_argument("--job-worker", type=int, metavar="N", help="only do jobs, as worker N of the scheduler's jobs")
    once.add_argument("--check", action="store_true", help="only check that the backend accepts the token, and end")
    once.add_argument("--executor", default=WORKERS, metavar="NAME", help="the scheduler, for the list of workers")
    options = parser.parse_args(arguments)
    if not options.once == (options.run is not None) == (options.attempt is not None):
        parser.error("--run, --attempt and --once are used together")
    return options


def read_settings(options: argparse.Namespace) -> WorkerSettings:
    """Read the settings. Exit with an error message if any is invalid."""
    if unknown := unknown_settings(os.environ):
        sys.exit(f"arcadia worker: {unknown}")
    given = {name: getattr(options, name) for name in ("backend_url", "worker_dir", "jobs", "slots", "ca_file")}
    given = {name: value for name, value in given.items() if value is not None}
    if "backend_url" not in given and (joined := read_joined()):
        given = {name: value for name, value in asdict(joined).items() if value is not None} | given
    try:
        settings = WorkerSettings(**given)
    except ValidationError as error:
        wrong = "; ".join(f"ARCADIA_{str(e['loc'][0]).upper()}: {e['msg']}" for e in error.errors(include_input=False))
        sys.exit(f"arcadia worker: {wrong}")
    except SecretFileError as error:
        sys.exit(f"arcadia worker: {error}")
    return settings


def describe_wrong_token(url: str, directory: Path) -> str:
    """Return that the backend does not accept the token, where it came from, and how to replace it."""
    variable = "ARCADIA_WORKER_TOKEN"
    if (joined := read_joined()) and joined.backend_url == url:
        return (
            f"{url} does not accept the token of this host any more. Join again with a code of its page Workers: "
            f"arcadia worker join {url} CODE. A worker then delivers what is left in {directory}."
        )
    source = f"{variable}_FILE" if os.environ.get(f"{variable}_FILE") else variable
    return (
        f"{url} does not accept the worker token from {source}. Set it to the {variable} of the server, and start this "
        f"worker again. It then delivers what is left in {directory}."
    )


def stop_worker(reason: str) -> None:
    """Stop this process as SIGTERM does, so that trainers save their state."""
    log.error("%s", reason)
    os.kill(os.getpid(), signal.SIGTERM)


def set_up_log() -> None:
    """Log to standard output, without lines that help nobody."""
    log_to_standard_output()
    for noisy in ("httpx", "celery.worker.strategy", "celery.app.trace"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    # Celery warns about running as root, and about a default that affects only late acknowledgement.
    warnings.filterwarnings("ignore", module="celery")


def load_plugins(names: Sequence[str]) -> None:
    """Load the allowed plug-ins, and pass the names of those that work to the trainers."""
    load_after_trial(names)
    for plugin in PLUGINS.values():
        if plugin.problem:
            log.warning("Plug-in %s: %s", plugin.name, plugin.problem)
    name_in_environment(loaded_versions())


def main() -> int:
    """Run the worker until it is stopped."""
    if sys.argv[1:2] == ["join"]:
        return join(sys.argv[2:])
    options = parse_arguments(sys.argv[1:])
    settings = read_settings(options)
    if options.queue == "gpu" and (problem := gpu_problem()):
        print(f"arcadia worker: {problem}", file=sys.stderr)
        return os.EX_CONFIG
    set_up_log()
    load_plugins(allowed_plugins())
    if options.check:
        return check_backend(settings)
    if options.once:
        wanted = WantedRun(options.run, options.attempt)
        return train_once(settings, options.queue, options.name, options.executor, wanted)
    if options.job_worker is not None:
        return do_jobs(settings, options.name, options.executor, options.job_worker)
    if settings.slots > 1:
        each = [slot_arguments(sys.argv[1:], options.name, settings.worker_dir, slot) for slot in range(settings.slots)]
        return serve_slots([worker_command(arguments) for arguments in each])
    return serve(options, settings)


def serve(options: argparse.Namespace, settings: WorkerSettings) -> int:
    """Train runs of the queue and do jobs until the worker is stopped. Return the exit status."""
    host = socket.gethostname()
    place = lock_directory(settings.directory(options.name or host), shared=options.name is None)
    directory = place.directory
    warm_trainer = WarmProcess(TRAINER, directory, {}, [place.descriptor], name="warm-trainer")
    if settings.keep_ready:
        # It loads torch while this worker registers and delivers leftovers of an earlier one.
        warm_trainer.prepare()
    facts = machine_facts(place.predecessor)

    def client_named(name: str, on_wrong_token: Callable[[], None] = lambda: None) -> BackendClient:
        token = settings.worker_token.get_secret_value()
        return BackendClient(settings.backend_url, token, name, options.queue, on_wrong_token, ca_file=settings.ca_file)

    try:
        name = take_name(options.name, host, lambda name: client_named(name).heartbeat(facts, settings.jobs, []))
    except WrongTokenError:
        warm_trainer.close()
        print(f"arcadia worker: {describe_wrong_token(settings.backend_url, directory)}", file=sys.stderr)
        return os.EX_NOPERM
    client = client_named(name, lambda: stop_worker(describe_wrong_token(settings.backend_url, directory)))
    heartbeat = HeartbeatThread(client, facts, settings.jobs, settings.worker_alive_file, directory)
    slots = settings.jobs and settings.jobs + INTERACTIVE_SLOTS
    training, jobs = make_supervisors(client, heartbeat, settings, slots, place, warm_trainer)

    heartbeat.start()
    startups = [
        threading.Thread(target=each.start, name=f"start-{noun}", daemon=True)
        for noun, each in (("runs", training), ("jobs", jobs))
    ]
    for startup in startups:
        startup.start()
    log.info("Worker %s waits for runs in the queue %s of %s.", name, options.queue, settings.backend_url)
    if broker_url := settings.broker_url.get_secret_value():
        queues = [options.queue, private_queue(name), *([JOBS_QUEUE] if settings.jobs else [])]
        status = wait_for_broker(make_app(broker_url, queues), f"{name}@{host}", queues, training, jobs)
    else:
        bell = BellThread(client, {"runs": training, "jobs": jobs}, takes_jobs=bool(slots))
        heartbeat.is_at_bell = lambda: bell.is_waiting
        wait_at_backend(bell)
        status = os.EX_OK
    for each in (training, jobs):
        each.drain()
    for startup in startups:
        startup.join()
    for each in (training, jobs):
        each.wait_until_idle()
    heartbeat.close()
    return leave(client, status)


def wait_for_broker(app: Celery, name: str, queues: Sequence[str], training: Supervisor, jobs: Supervisor) -> int:
    """Take messages of the broker until the worker is stopped. Return the exit status."""
    register(app, training, jobs)
    worker = make_worker(app, name, queues, concurrency=training.slots + jobs.slots)

    def on_shutdown(**_: object) -> None:
        # Celery waits for its tasks.
        training.drain()
        jobs.drain()

    signals.worker_shutting_down.connect(on_shutdown)
    keep_ignoring_hangups()
    worker.start()
    # Celery treats Ctrl-C as a failure.
    return 0 if training.draining else int(worker.exitcode or 0)


def wait_at_backend(bell: BellThread) -> None:
    """Wait for the doorbell of the backend until the worker is stopped."""
    stopped = threading.Event()

    def stop(number: int, _frame: FrameType | None) -> None:
        # A second signal ends the process at once.
        signal.signal(number, signal.SIG_DFL)
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stop)
    bell.start()
    stopped.wait()
    bell.stop()


def make_supervisors(
    client: BackendClient,
    heartbeat: HeartbeatThread,
    settings: WorkerSettings,
    slots: int,
    place: WorkerDirectory,
    warm_trainer: WarmProcess,
) -> tuple[Supervisor, Supervisor]:
    """Return the supervisors of runs and of jobs."""
    directory, descriptors = place.directory, [place.descriptor]
    store = CheckpointStore(client, directory / "checkpoints")
    work = Jobs(client, store, settings.job_niceness)
    warm = WarmProcess(work.program, directory, work.environment, descriptors)
    runs_launcher = LocalLauncher(descriptors, warm_trainer if settings.keep_ready else None)
    jobs_launcher = LocalLauncher(descriptors, warm if settings.keep_ready and slots else None)
    make = partial(Supervisor, client, heartbeat, directory, settings.stop_grace_seconds)
    return make(Training(client, store), 1, runs_launcher), make(work, slots, jobs_launcher)


def make_worker(app: Celery, name: str, queues: Sequence[str], concurrency: int) -> Any:
    """Return a Celery worker whose tasks run in threads, and which sends no messages to other workers."""
    return app.Worker(
        hostname=name,
        pool="threads",
        concurrency=concurrency,
        queues=queues,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        redirect_stdouts=False,
        loglevel="INFO",
        quiet=True,
    )


def keep_ignoring_hangups() -> None:
    """Ignore SIGHUP if it is ignored now, as by `nohup`. Celery would restart the worker when a terminal is closed."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signals.worker_ready.connect(lambda **_: signal.signal(signal.SIGHUP, signal.SIG_IGN), weak=False)


def leave(client: BackendClient, status: int) -> int:
    """Sign off from the backend, unless it does not accept the token. Return the exit status."""
    if client.wrong_token is not None:
        return os.EX_NOPERM
    try:
        client.goodbye()
    except BackendError as error:
        log.warning("Could not sign off from the backend: %s", error)
    return status


if __name__ == "__main__":
    sys.exit(main())
