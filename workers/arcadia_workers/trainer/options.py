"""Options of the commands for one job without a server (commands.py)."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import get_args

from arcadia_workers.contract.futures import (
    MAX_FUTURES,
    MIN_FUTURES,
    USUAL_CALIBRATION_FUTURES,
    USUAL_EPISODES,
    USUAL_FUTURES,
    USUAL_HORIZON,
    USUAL_MOMENTS,
    Until,
)
from arcadia_workers.contract.practice import USUAL_BEFORE, USUAL_EVALUATIONS, USUAL_REVIEWS, USUAL_SHARE
from arcadia_workers.contract.protocols.document import USUAL_EPSILON
from arcadia_workers.contract.review import USUAL_REVIEWED, USUAL_REVIEWED_EPISODES

LONGEST_SECONDS = 300.0

Add = Callable[..., argparse.Action]


def add_evaluate(add: Add) -> None:
    add("--run-dir", type=Path, metavar="DIR", help="the run whose agent is evaluated")
    add("--checkpoint", type=int, metavar="STEP", help="the step of its checkpoint (default: the newest)")
    add("--random", action="store_true", help="evaluate the random policy instead")
    add("--game", metavar="NAME", help="the random policy's environment, such as pong or CartPole-v1")
    add("--protocol", metavar="NAME", help="the evaluation protocol (below)")
    add("--episodes", type=int, metavar="N", help="number of episodes (default: as in the protocol)")
    add("--seed", type=int, default=1, metavar="S", help="the same seed gives the same scores (default: 1)")
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
    add("--protocol", metavar="NAME", help="how episodes begin and end (below; default: the run's protocol)")
    add("--seed", type=int, default=1, metavar="S", help="the same seed gives the same episodes (default: 1)")
    add("--json", action="store_true", help="print one JSON document instead of text")


def _add_episode(add: Add) -> None:
    _add_agent(add)
    help_text = "index of the episode in an evaluation with this seed, from 0"
    add("--episode", type=int, default=0, metavar="N", help=help_text)


def add_record(add: Add) -> None:
    _add_episode(add)
    help_text = f"cut longer recordings (default: {LONGEST_SECONDS:.0f})"
    add("--longest", type=float, default=LONGEST_SECONDS, metavar="SECONDS", help=help_text)
    add("--out", type=Path, metavar="DIR", required=True, help="a new folder for recording.mp4, seen.mp4, track.npz")


def _add_size(add: Add, usual: int) -> None:
    help_text = f"futures per decision, {MIN_FUTURES} to {MAX_FUTURES} (default: {usual})"
    add("--futures", type=int, default=usual, metavar="N", help=help_text)
    help_text = f"longest future, in decisions (default: {USUAL_HORIZON})"
    add("--horizon", type=int, default=USUAL_HORIZON, metavar="H", help=help_text)


def add_futures(add: Add) -> None:
    _add_episode(add)
    add("--decision", type=int, metavar="K", required=True, help="the decision to continue from, counted from 0")
    _add_size(add, USUAL_FUTURES)
    add(
        "--until",
        choices=get_args(Until),
        default="horizon",
        help="also stop at a reward or a lost life; outcome: at the next of both",
    )
    add(
        "--first",
        action="append",
        default=[],
        metavar="ACTION",
        help="force the first action, such as LEFT, or repeat it, such as LEFT×10 or LEFTx10; give the option several "
        "times for a sequence",
    )
    add("--each-action", action="store_true", help="also force each action first and compare them")
    add(
        "--temperature",
        type=float,
        default=1.0,
        metavar="T",
        help="divide the policy's logits by T: above 1 futures explore more, below 1 less (default: 1)",
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
    _add_episode(add)
    help_text = f"decisions to review, chosen by what the episode shows (default: {USUAL_REVIEWED})"
    add("--decisions", type=int, default=USUAL_REVIEWED, metavar="N", help=help_text)
    add("--every", type=int, metavar="K", help="review every k-th decision instead")
    help_text = "a game that you played and kept, from GET /api/v1/kept-games/N/actions, instead of an episode"
    add("--kept-game", type=Path, metavar="FILE", help=help_text)
    help_text = "review the decisions of all checkpoints at the same moments, spread over some episodes"
    add("--over-training", action="store_true", help=help_text)
    add("--episodes", type=int, metavar="N", help=f"with --over-training, default: {USUAL_REVIEWED_EPISODES}")
    help_text = f"longest future, in decisions (default: {USUAL_HORIZON})"
    add("--horizon", type=int, default=USUAL_HORIZON, metavar="H", help=help_text)


def add_practice(add: Add) -> None:
    _add_agent(add)
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
    help_text = f"share of episodes that begin before a mistake (default: {USUAL_SHARE})"
    add("--share", type=float, default=USUAL_SHARE, metavar="P", help=help_text)
    help_text = f"decisions between such a start and the mistake (default: {USUAL_BEFORE})"
    add("--before", type=int, default=USUAL_BEFORE, metavar="K", help=help_text)
    add("--steps", type=int, metavar="N", help="steps of each arm (default: a tenth of the checkpoint's, from 10,000)")
    add(
        "--pairs", type=int, default=1, metavar="N", help="pairs of practice and control: 1, or 3 and more (default: 1)"
    )
    help_text = f"evaluation episodes of each arm (default: {USUAL_EVALUATIONS})"
    add("--evaluations", type=int, default=USUAL_EVALUATIONS, metavar="N", help=help_text)
    add("--out", type=Path, metavar="DIR", required=True, help="the folder of the practice; a known one is continued")


def add_calibrate(add: Add) -> None:
    _add_agent(add)
    add("--episodes", type=int, default=USUAL_EPISODES, metavar="N", help=f"default: {USUAL_EPISODES}")
    chosen = f"chosen so that about {USUAL_MOMENTS} decisions are judged"
    add("--every", type=int, metavar="K", help=f"judge every K-th decision of an episode (default: {chosen})")
    _add_size(add, USUAL_CALIBRATION_FUTURES)
    add(
        "--no-regret",
        dest="measure_regret",
        action="store_false",
        help="do not force each action, which takes most of the time",
    )
