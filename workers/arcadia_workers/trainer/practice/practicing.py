"""Practice from the reviews to the document: both arms train, play on from held-out mistakes, and are evaluated.

Everything is kept in the folder of the practice. A practice that was stopped continues from there. On a server, the
arms are runs, and a job does the other parts.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from arcadia_workers.contract import events
from arcadia_workers.contract.jobs import PracticeParameters
from arcadia_workers.contract.practice import (
    ARMS,
    FUTURES,
    AgentMeasurement,
    PracticeDocument,
    PracticePlan,
    TrainedArm,
    smallest_improvement,
)
from arcadia_workers.contract.review import ReviewDocument
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.evaluation.report import JobReport
from arcadia_workers.trainer.evaluation.request import RequestError
from arcadia_workers.trainer.futures.simulating import Player, load
from arcadia_workers.trainer.games.practice import reach
from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.practice import PracticeRequest, measuring
from arcadia_workers.trainer.practice.arms import arm_directory, train, training_seconds
from arcadia_workers.trainer.practice.measuring import Stop
from arcadia_workers.trainer.practice.planning import check_review, make_plan, trace
from arcadia_workers.trainer.recording.recording import StoppedError
from arcadia_workers.trainer.review import ReviewRequest, reviewing
from arcadia_workers.trainer.run import durable_files
from arcadia_workers.trainer.run.progress import duration

PLAN, REVIEWS = "plan.json", "reviews"

Show = Callable[[str], None]
Model = TypeVar("Model", bound=BaseModel)


def read_if_exists(path: Path, model: type[Model]) -> Model | None:
    """Return the document in a file, or None if there is no file."""
    try:
        return model.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise RequestError(f"{path} cannot be read: choose another --out, or delete the file") from error


def write(path: Path, document: BaseModel) -> None:
    """Write a document to a file of the practice."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        durable_files.write(path, document.model_dump_json(indent=2).encode())
    except OSError as error:
        raise TrainerError(f"{path} cannot be written: {error.strerror}") from error


def practice(request: PracticeRequest, stop: Stop, show: Show) -> PracticeDocument:
    """Practice, or continue a practice that was stopped."""
    devices.compute_in(1)
    player = load(request.run_directory, request.step, request.protocol)
    plan = planned(request, player, stop, show)
    arms = [(name, pair) for pair in range(1, plan.options.pairs + 1) for name in ARMS]
    show(
        f"{len(plan.practiced)} mistakes are practiced, and {len(plan.held_out)} are kept to measure. The cost: "
        f"{len(arms)} arms of {plan.steps:,} steps, then {FUTURES} futures at each kept mistake by {len(arms) + 1} "
        f"agents, and {plan.options.evaluations} evaluation episodes per arm"
    )
    if smallest := smallest_improvement([each.scale for each in plan.held_out], plan.options.pairs):
        show(f"The smallest mean rise of the outcome at the kept mistakes that can be shown is {smallest:.2f}")
    trained: list[TrainedArm] = []
    for number, (name, pair) in enumerate(arms):

        def show_speed(speed: float, left: int = len(arms) - number) -> None:
            seconds = left * plan.steps / speed
            show(f"About {duration(seconds)} of training at {speed:,.0f} steps per second")

        config = player.config.model_copy(update=plan.changes(name, pair, player.config.seed))
        directory = arm_directory(request.out, name, pair)
        show(f"Training {directory}")
        train(directory, config, request.run_directory / player.checkpoint.file.file, stop, show_speed)
        trained.append(
            TrainedArm(
                name=name,
                pair=pair,
                directory=str(directory),
                seed=config.seed,
                training_seconds=training_seconds(directory),
            )
        )
    show("Measuring")
    before = measured(request.out / "before.json", player, plan, 0, stop)
    for arm in trained:
        directory = arm_directory(request.out, arm.name, arm.pair)
        agent = load(directory, None, plan.protocol)
        arm.measured = measured(directory.with_name(f"{arm.name}.json"), agent, plan, plan.options.evaluations, stop)
    return measuring.document(player, plan, before, trained)


def measured(path: Path, agent: Player, plan: PracticePlan, evaluations: int, stop: Stop) -> AgentMeasurement:
    """Measure an agent, and keep the result in a file."""
    if kept := read_if_exists(path, AgentMeasurement):
        return kept
    measurement = measuring.measure(agent, plan, evaluations, stop)
    write(path, measurement)
    return measurement


def planned(request: PracticeRequest, player: Player, stop: Stop, show: Show) -> PracticePlan:
    """Return the plan in the folder, or review the agent and make one."""
    plan = read_if_exists(request.out / PLAN, PracticePlan)
    if plan is None:
        episodes = [trace(player, review, stop) for review in reviews_of(request, player, stop, show)]
        plan = make_plan(player, request.options, episodes)
        # Raises if the mistakes cannot be restored.
        reach(player.config, plan.practice)
        write(request.out / PLAN, plan)
    ours = (player.checkpoint.file.sha256, player.protocol.name, request.options)
    if (plan.checkpoint_sha256, plan.protocol, plan.options) != ours:
        raise RequestError(
            f"--out {request.out} holds the practice of another agent or with other options: repeat these, or choose a "
            "new folder"
        )
    return plan


def reviews_of(request: PracticeRequest, player: Player, stop: Stop, show: Show) -> Iterator[ReviewDocument]:
    """Yield the given reviews, or review episodes of the agent."""
    for file in request.reviews:
        review = read_if_exists(file, ReviewDocument)
        if review is None:
            raise RequestError(f"--review {file}: there is no such file")
        check_review(review, player)
        yield review
    for episode in [] if request.reviews else range(request.episodes):
        show(f"Reviewing episode {episode + 1} of {request.episodes}")
        path = request.out / REVIEWS / f"seed-{request.seed}-episode-{episode}.json"
        wanted = ReviewRequest(
            request.run_directory, request.step, request.protocol, request.seed, episode, request.review
        )
        review = reviewing.reviewed(wanted, player, known=read_if_exists(path, ReviewDocument), should_stop=stop)
        write(path, review)
        if stop():
            raise StoppedError("practice was stopped")
        yield review


def plan_for_job(player: Player, which: PracticeParameters, report: JobReport, stop: Stop) -> None:
    """Plan the practice of a run, and measure its agent before practice."""
    episodes = [trace(player, each.review, stop, each.actions) for each in which.reviews]
    plan = make_plan(player, which.options, episodes)
    # Raises if the mistakes cannot be restored.
    reach(player.config, plan.practice)
    before = measuring.measure(player, plan, 0, stop, report.advanced)
    report.result(events.PracticeEvent, plan=plan, measured=before)


def measure_for_job(
    player: Player, plan: PracticePlan, which: PracticeParameters, report: JobReport, stop: Stop
) -> None:
    """Measure the next arm. The last one completes the document."""
    arm = next(each for each in which.arms if each.measured is None)
    arm.measured = measuring.measure(player, plan, plan.options.evaluations, stop, report.advanced)
    document = None
    if which.before and all(each.measured for each in which.arms):
        document = measuring.document(player, plan, which.before, which.arms)
    report.result(events.PracticeEvent, measured=arm.measured, document=document)
