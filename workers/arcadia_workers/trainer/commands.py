"""Commands without a server: `arcadia evaluate`, `record`, `futures`, `review`, `practice` and `calibrate`.

This module does not load torch, so that mistakes are reported immediately. The models of the contract have the limits
of the options.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from arcadia_workers.contract import jobs, layout
from arcadia_workers.contract.config.emulator import protocol_of
from arcadia_workers.contract.games import id_of
from arcadia_workers.contract.live import KeptActions
from arcadia_workers.contract.plugins.loading import load_named_in_environment
from arcadia_workers.contract.practice import USUAL_REVIEWS, PracticeOptions
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.protocols.document import USUAL_EPSILON, Acting
from arcadia_workers.contract.review import (
    MAX_REVIEWED_EPISODES,
    USUAL_REVIEWED,
    USUAL_REVIEWED_EPISODES,
    ReviewOptions,
)
from arcadia_workers.contract.tracks import TrackHead
from arcadia_workers.trainer import calibration
from arcadia_workers.trainer import practice as practices
from arcadia_workers.trainer import review as reviews
from arcadia_workers.trainer.errors import StopRequest, TrainerError, show
from arcadia_workers.trainer.evaluation import report as evaluation
from arcadia_workers.trainer.evaluation.report import JobReport, rounded
from arcadia_workers.trainer.evaluation.request import EvaluateRequest, RequestError, check_fit
from arcadia_workers.trainer.futures import request as futures
from arcadia_workers.trainer.futures.request import FuturesRequest
from arcadia_workers.trainer.options import (
    Add,
    add_calibrate,
    add_evaluate,
    add_futures,
    add_practice,
    add_record,
    add_review,
)
from arcadia_workers.trainer.practice import PracticeRequest
from arcadia_workers.trainer.review import ReviewRequest
from arcadia_workers.trainer.run.journal import Journal

MAX_REVIEWS = 100
CUT_FROM = "cut start points from no-op-5min or no-op-30min"

Work = Callable[[JobReport, StopRequest], None]
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Command:
    """A command: its description, its options, and the function that does the work and prints the result."""

    description: str
    add_options: Callable[[Add], None]
    work: Callable[[argparse.Namespace, JobReport, StopRequest], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Return the exit status."""
    load_named_in_environment()
    given = [*(sys.argv[1:] if arguments is None else arguments)]
    options = parser().parse_args(given)
    with ExitStack() as opened:
        begin = partial(_open_journal, opened, options.dir) if getattr(options, "dir", None) else None
        report = JobReport(begin=begin, command=["python", "-m", "arcadia_workers.trainer.job", *given])
        return run(partial(COMMANDS[options.command].work, options), report, StopRequest())


def run(work: Work, report: JobReport, stop: StopRequest) -> int:
    """Do the work of a job or a command, and report how it ended. Return the exit status."""
    try:
        stop.listen()
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        work(report, stop)
    except (KeyboardInterrupt, Exception) as error:
        if stop.requested() or isinstance(error, KeyboardInterrupt):
            when = f"after {report.done} of {report.episodes} episodes" if report.done else "before it was finished"
            report.stopped(f"{stop.reason} {when}")
            print(f"{stop.reason} {when}: there is no result", file=sys.stderr)
            return 1
        report.failed(error)
        show(error)
        return 2 if isinstance(error, RequestError) else 1
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the argument parser."""
    protocols = "\n".join(f"  {protocol.name:<12}  {protocol.sentence}" for protocol in PROTOCOLS.values())
    parser = argparse.ArgumentParser(prog="arcadia")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        options = commands.add_parser(
            name,
            description=f"{command.description}; needs no server.",
            epilog=f"protocols:\n{protocols}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(options.add_argument)
    return parser


def _open_journal(opened: ExitStack, folder: Path) -> Journal:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return opened.enter_context(Journal(folder))
    except OSError as error:
        raise RequestError(f"--dir {folder} cannot be used: {error.strerror}") from error


def validated(model: type[Model], options: argparse.Namespace, **more: object) -> Model:
    """Return a model made of the options with the names of its fields. Raise RequestError if one is wrong."""
    values = {name: value for name, value in vars(options).items() if name in model.model_fields} | more
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        message = problem["msg"].removeprefix("Value error, ")
        if not problem["loc"]:
            raise RequestError(message) from error
        name = str(problem["loc"][0])
        if problem["type"] in ("greater_than_equal", "less_than_equal", "less_than"):
            message = _range_of(model, name)
        given = f" {values[name]}" if isinstance(values[name], int | float) else ""
        raise RequestError(f"--{name.replace('_', '-')}{given}: {message}") from error


def _range_of(model: type[BaseModel], name: str) -> str:
    """Return which numbers a field accepts."""
    schema = model.model_json_schema()["properties"][name]
    limits = schema.get("anyOf", [schema])[0]
    low, below = limits["minimum"], limits.get("exclusiveMaximum")
    high = limits.get("maximum") if below is None else below - 1
    return f"give a number from {low:,}" + ("" if high is None else f" to {high:,.16g}")


def _check_agent(options: argparse.Namespace, *, has_starts: bool = False) -> str:
    """Check the run directory and the protocol. Return the protocol, or an empty text for that of the run."""
    protocol: str = options.protocol or ""
    if options.run_dir is not None and not options.run_dir.is_dir():
        raise RequestError(f"there is no run directory {options.run_dir}")
    if protocol and protocol not in PROTOCOLS:
        raise RequestError(f"there is no protocol {protocol!r}: choose one of {', '.join(PROTOCOLS)}")
    if protocol and PROTOCOLS[protocol].starts_from and not has_starts:
        raise RequestError(f"{protocol} needs start points, which cannot be chosen here: use no-op-5min")
    return protocol


def read_evaluation(options: argparse.Namespace) -> EvaluateRequest:
    """Check the options of an evaluation and return the request."""
    if options.protocol is None:
        raise RequestError(f"choose a protocol: --protocol with one of {', '.join(PROTOCOLS)}")
    protocol = PROTOCOLS[_check_agent(options, has_starts=True)]
    env, acting = _random_env(options), _acting(options)
    # Its defaults are those of the protocol and of the agent, which is not loaded yet.
    episodes = protocol.episodes if options.episodes is None else options.episodes
    validated(jobs.EvaluationParameters, options, episodes=episodes, acting=acting or Acting(name="sampled"))
    if protocol.starts_from and not options.starts:
        raise RequestError(f"{protocol.name} needs a set of start points: --starts FILE")
    if options.starts and not protocol.starts_from:
        raise RequestError(f"{protocol.name} has no start points: remove --starts, or use another protocol")
    if options.save_starts and protocol.starts_from:
        # Some points would be cut from the stored play that precedes the agent's.
        raise RequestError(f"--save-starts is not for {protocol.name}: {CUT_FROM}")
    if options.save_starts and protocol.repeat_action_probability:
        raise RequestError(f"--save-starts is not for {protocol.name}, whose emulator repeats actions: {CUT_FROM}")
    if options.dir is not None and any((options.dir / name).exists() for name in (layout.CONFIG, layout.EVENTS)):
        raise RequestError(f"--dir {options.dir} already holds a run or an evaluation: choose a new folder")
    # An error at the end would lose all played episodes.
    if (file := options.save_starts) is not None and (file.is_dir() or not os.access(file.parent, os.W_OK)):
        raise RequestError(f"--save-starts {file} cannot be written: name a file in an existing folder")
    return EvaluateRequest(
        protocol=protocol,
        run_directory=options.run_dir,
        step=options.checkpoint,
        env=env,
        episodes=options.episodes,
        seed=options.seed,
        acting=acting,
        starts=options.starts,
        save_starts=options.save_starts,
    )


def _random_env(options: argparse.Namespace) -> str | None:
    """Return the environment of the random policy, or None if an agent is evaluated."""
    if options.random == (options.run_dir is not None):
        raise RequestError("choose who is evaluated: --run-dir DIR, or --random with --game NAME")
    if not options.random:
        if options.game:
            raise RequestError("--game is only for --random; an agent plays the game of its training")
        return None
    if options.checkpoint is not None or options.acting or options.epsilon is not None:
        raise RequestError(
            "--random has no checkpoint and only one acting: remove --checkpoint, --acting and --epsilon"
        )
    if not options.game:
        raise RequestError("choose the game of the random policy: --game NAME, such as --game pong")
    try:
        return id_of(options.game)
    except ValueError as error:
        raise RequestError(f"--game: {error}") from error


def _acting(options: argparse.Namespace) -> Acting | None:
    if options.acting is None and options.epsilon is not None:
        raise RequestError("--epsilon is only for --acting epsilon-greedy")
    if options.acting is None:
        return None
    usual = USUAL_EPSILON if options.acting == "epsilon-greedy" else None
    try:
        return Acting(name=options.acting, epsilon=usual if options.epsilon is None else options.epsilon)
    except ValidationError as error:
        raise RequestError(f"--epsilon {options.epsilon}: only epsilon-greedy takes one, between 0 and 1") from error


def evaluate(options: argparse.Namespace, report: JobReport, stop: StopRequest) -> None:
    """Evaluate an agent or the random policy."""
    request = read_evaluation(options)
    from arcadia_workers.trainer.evaluation import evaluating  # loads torch, which takes seconds

    stop.interrupts = False
    show_result = partial(_print_result, options, text=evaluation.table)
    if evaluating.evaluate(request, report, stop.requested, show_result) is None:
        raise KeyboardInterrupt


def record(options: argparse.Namespace, _report: JobReport, stop: StopRequest) -> None:
    """Record an episode."""
    _check_agent(options)
    validated(jobs.RecordingParameters, options)
    if not 0 < options.longest < float("inf"):
        raise RequestError(f"--longest {options.longest}: give a number of seconds above 0")
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise RequestError(f"--out {options.out} is not an empty folder: choose a new one")
    from arcadia_workers.trainer.games import subjects  # loads torch, which takes seconds
    from arcadia_workers.trainer.recording import recording

    stop.interrupts = False
    checkpoint, config = subjects.read(options.run_dir, options.checkpoint)
    protocol = PROTOCOLS[options.protocol or protocol_of(config.model_dump())]
    check_fit(protocol, config.env, saves_starts=False)
    wanted = recording.RecordedEpisode(protocol, options.seed, options.episode, options.longest)
    try:
        made = recording.record(checkpoint, config, wanted, recording.files_in(options.out), stop.requested)
    except OSError as error:
        raise TrainerError(f"--out {options.out} cannot be used: {error.strerror or error}") from error
    _print_result(options, made.head, text=partial(_describe_recording, options.out))


def _describe_recording(folder: Path, head: TrackHead) -> str:
    seconds = head.pictures / head.pictures_per_second
    score = f"{rounded(head.score)} points{' so far' if head.ended == 'unfinished' else ''}"
    who = f"{head.algorithm} at step {head.checkpoint_step:,} on {head.env}"
    return f"{folder}: {seconds:.1f} s of {who}, {score}, {head.protocol}, seed {head.seed}"


def simulate(options: argparse.Namespace, _report: JobReport, stop: StopRequest) -> None:
    """Simulate how an episode continues from a decision."""
    more = {"protocol": _check_agent(options), "actions": [], "record_videos": options.videos is not None}
    wanted = validated(jobs.FuturesParameters, options, **more)
    if options.agent_checkpoint is not None and options.agent is None:
        raise RequestError("--agent-checkpoint is only for --agent DIR")
    if options.agent is not None and not options.agent.is_dir():
        raise RequestError(f"there is no run directory {options.agent}")
    of_episode = (options.run_dir, options.checkpoint, options.protocol, options.seed, options.episode)
    request = FuturesRequest(*of_episode, wanted, options.agent, options.agent_checkpoint, options.videos)
    from arcadia_workers.trainer.futures import experiment  # loads torch, which takes seconds

    stop.interrupts = False
    _print_result(options, experiment.run(request, stop.requested), text=futures.table)


def calibrate(options: argparse.Namespace, _report: JobReport, stop: StopRequest) -> None:
    """Compare the values of an agent with simulated futures."""
    _check_agent(options)
    wanted = validated(jobs.CalibrationParameters, options)
    from arcadia_workers.trainer.calibration import calibrating  # loads torch, which takes seconds
    from arcadia_workers.trainer.futures import simulating

    stop.interrupts = False
    player = simulating.load(options.run_dir, options.checkpoint, wanted.protocol)
    document = calibrating.calibration(wanted, player, should_stop=stop.requested)
    _print_result(options, document, text=calibration.table)


def review(options: argparse.Namespace, _report: JobReport, stop: StopRequest) -> None:
    """Find the decisions of an episode at which the agent lost."""
    _check_agent(options)
    wanted = validated(ReviewOptions, options)
    request = ReviewRequest(
        options.run_dir, options.checkpoint, options.protocol, options.seed, options.episode, wanted
    )
    if options.over_training:
        if options.kept_game:
            raise RequestError("--over-training plays its own episodes: leave out --kept-game")
        review_over_training(options, request, stop)
        return
    if options.kept_game:
        request = replace(request, kept=_read_kept_game(options.kept_game))
    if options.episodes is not None:
        raise RequestError("--episodes needs --over-training: one episode is reviewed otherwise")
    from arcadia_workers.trainer.review import reviewing  # loads torch, which takes seconds

    stop.interrupts = False
    _print_result(options, reviewing.review(request, stop.requested), text=reviews.table)


def _read_kept_game(file: Path) -> KeptActions:
    try:
        return KeptActions.model_validate_json(file.read_bytes())
    except OSError as error:
        raise RequestError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "JSON"
        raise RequestError(f"{file} is no kept game: {where}: {problem['msg']}") from error


def review_over_training(options: argparse.Namespace, request: ReviewRequest, stop: StopRequest) -> None:
    """Review all checkpoints at the same moments."""
    if options.every:
        raise RequestError("--over-training spreads --decisions evenly over each episode: leave out --every")
    episodes = USUAL_REVIEWED_EPISODES if options.episodes is None else options.episodes
    if not 1 <= episodes <= MAX_REVIEWED_EPISODES:
        raise RequestError(f"--episodes {episodes}: give a number from 1 to {MAX_REVIEWED_EPISODES}")
    steps = layout.saved_steps(options.run_dir)
    from arcadia_workers.trainer.review import over_training  # loads torch, which takes seconds

    stop.interrupts = False
    document = over_training.over_training(request, steps, episodes, stop.requested)
    _print_result(options, document, text=reviews.checkpoints_table)


def practice(options: argparse.Namespace, _report: JobReport, stop: StopRequest) -> None:
    """Train an agent from its mistakes, and compare it with a control."""
    _check_agent(options)
    if options.reviews and (options.episodes is not None or options.decisions is not None):
        raise RequestError("--review has the mistakes: remove --episodes and --decisions")
    episodes = USUAL_REVIEWS if options.episodes is None else options.episodes
    if not 1 <= episodes <= MAX_REVIEWS:
        raise RequestError(f"--episodes {episodes}: give a number from 1 to {MAX_REVIEWS}")
    decisions = USUAL_REVIEWED if options.decisions is None else options.decisions
    request = PracticeRequest(
        run_directory=options.run_dir,
        step=options.checkpoint,
        protocol=options.protocol,
        seed=options.seed,
        reviews=tuple(options.reviews),
        episodes=episodes,
        review=validated(ReviewOptions, options, decisions=decisions),
        options=validated(PracticeOptions, options),
        out=options.out,
    )
    from arcadia_workers.trainer.practice import practicing  # loads torch, which takes seconds

    def show(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    stop.interrupts = False
    try:
        _print_result(options, practicing.practice(request, stop.requested, show), text=practices.table)
    finally:
        if stop.requested():
            show("Repeat the command to continue.")


def _print_result(options: argparse.Namespace, document: Model, *, text: Callable[[Model], str]) -> None:
    print(document.model_dump_json(indent=2) if options.json else text(document), flush=True)


COMMANDS = {
    "evaluate": Command("Evaluate an agent by a protocol", add_evaluate, evaluate),
    "record": Command(
        "Record an episode of an agent as a video, with a track of its observations, values and rewards",
        add_record,
        record,
    ),
    "futures": Command(
        "Simulate how an episode of an agent continues from one of its decisions", add_futures, simulate
    ),
    "review": Command("Find the decisions of an episode at which an agent lost", add_review, review),
    "practice": Command(
        "Train an agent from its mistakes, and compare it with training on without that", add_practice, practice
    ),
    "calibrate": Command("Compare an agent's values with simulated futures", add_calibrate, calibrate),
}
