"""Options of the commands for one job without a server (commands.py), made from the parameters of the jobs."""

import argparse
from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from arcadia_workers.contract.futures import FuturesOptions
from arcadia_workers.contract.jobs import CalibrationParameters, RecordingParameters, SeededEpisodes
from arcadia_workers.contract.practice import USUAL_REVIEWS, PracticeOptions
from arcadia_workers.contract.protocols.document import USUAL_EPSILON
from arcadia_workers.contract.review import USUAL_REVIEWED, USUAL_REVIEWED_EPISODES, ReviewOptions

LONGEST_SECONDS = 300.0

Add = Callable[..., argparse.Action]


def add_fields(add: Add, model: type[BaseModel], *, without: tuple[str, ...] = (), **help_texts: str) -> None:
    """Add an option for each field of a model, with its type, default and description.

    `help_texts` replace descriptions. The model checks the values (`commands.validated`).
    """
    for name, field in model.model_fields.items():
        if name in without:
            continue
        option = f"--{name.replace('_', '-')}"
        help_text = help_texts.get(name) or _sentence_to_help(field.description or "")
        default = None if field.default is PydanticUndefined else field.default
        if default is not None and default != [] and not isinstance(default, bool):
            help_text = f"{help_text} (default: {default})"
        written = _type_of(field.annotation)
        if written is bool:
            add(option, action="store_true", help=help_text)
        elif get_origin(written) is Literal:
            add(option, choices=get_args(written), default=default, help=help_text)
        elif get_origin(written) is list:
            add(option, action="append", default=[], metavar="NAME", help=help_text)
        else:
            metavar = {int: "N", float: "X"}.get(written, "NAME")
            add(option, type=written, default=default, metavar=metavar, required=field.is_required(), help=help_text)


def _type_of(annotation: Any) -> Any:
    """Return the type of a field without its limits, and without None."""
    while get_args(annotation) and get_origin(annotation) not in (Literal, list):
        annotation = next(each for each in get_args(annotation) if each is not NoneType)
    return annotation


def _sentence_to_help(description: str) -> str:
    """Return a description in the style of the help: no capital at its start, and no period at its end."""
    return description[:1].lower() + description[1:].removesuffix(".").replace("%", "%%")


def add_evaluate(add: Add) -> None:
    add("--run-dir", type=Path, metavar="DIR", help="the run whose agent is evaluated")
    add("--checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add("--random", action="store_true", help="evaluate the random policy instead")
    add("--game", metavar="NAME", help="the random policy's environment, such as pong or CartPole-v1")
    add_fields(add, SeededEpisodes, protocol="the evaluation protocol (below)")
    add("--episodes", type=int, metavar="N", help="number of episodes (default: as in the protocol)")
    add(
        "--acting",
        choices=["sampled", "greedy", "epsilon-greedy"],
        help="default: sampled for methods that learn a policy, epsilon-greedy for methods that learn values",
    )
    add("--epsilon", type=float, metavar="E", help=f"share of random actions (default: {USUAL_EPSILON})")
    add("--starts", type=Path, metavar="FILE", help="the set of start points, for human-starts and agent-starts")
    add("--save-starts", type=Path, metavar="FILE", help="cut a set for agent-starts from the episodes played")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    add("--dir", type=Path, metavar="DIR", help="a new folder for events.jsonl")


def _add_agent(add: Add) -> None:
    add("--run-dir", type=Path, metavar="DIR", required=True, help="the run whose agent plays")
    add("--checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add("--json", action="store_true", help="print one JSON document instead of text")


def add_record(add: Add) -> None:
    _add_agent(add)
    add_fields(add, RecordingParameters)
    help_text = f"cut longer recordings (default: {LONGEST_SECONDS:.0f})"
    add("--longest", type=float, default=LONGEST_SECONDS, metavar="SECONDS", help=help_text)
    add("--out", type=Path, metavar="DIR", required=True, help="a new folder for recording.mp4, seen.mp4, track.npz")


def add_futures(add: Add) -> None:
    _add_agent(add)
    add_fields(add, RecordingParameters)
    add_fields(
        add,
        FuturesOptions,
        without=("record_videos", "videos_of"),
        first="force the first action, such as LEFT, or repeat it, such as LEFT×10 or LEFTx10; give the option several "
        "times for a sequence",
    )
    add("--agent", type=Path, metavar="DIR", help="let the agent of another run act in the futures")
    add("--agent-checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add(
        "--videos",
        type=Path,
        metavar="DIR",
        help="write videos of the best, median and worst future, and of all blended, into this directory",
    )


def add_review(add: Add) -> None:
    _add_agent(add)
    add_fields(add, RecordingParameters)
    add_fields(add, ReviewOptions)
    help_text = "a game that you played and kept, from GET /api/v1/kept-games/N/actions, instead of an episode"
    add("--kept-game", type=Path, metavar="FILE", help=help_text)
    help_text = "review the decisions of all checkpoints at the same moments, spread over some episodes"
    add("--over-training", action="store_true", help=help_text)
    add("--episodes", type=int, metavar="N", help=f"with --over-training, default: {USUAL_REVIEWED_EPISODES}")


def add_practice(add: Add) -> None:
    _add_agent(add)
    add_fields(add, SeededEpisodes)
    add(
        "--review",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        dest="reviews",
        help="the output of `arcadia review --json`; repeatable (default: review episodes now)",
    )
    add("--episodes", type=int, metavar="N", help=f"episodes to review (default: {USUAL_REVIEWS})")
    add("--decisions", type=int, metavar="N", help=f"decisions to review in each (default: {USUAL_REVIEWED})")
    add_fields(add, PracticeOptions)
    add("--out", type=Path, metavar="DIR", required=True, help="the folder of the practice; a known one is continued")


def add_calibrate(add: Add) -> None:
    _add_agent(add)
    add_fields(add, CalibrationParameters, without=("measure_regret",))
    help_text = "do not force each action, which takes most of the time"
    add("--no-regret", dest="measure_regret", action="store_false", help=help_text)
