"""Figures 1 and 2: the components of DQN, and the architecture of Gorila. Figure 5: the time to reach scores."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.papers import measured
from arcadia_backend.papers.definition import (
    Arrow,
    Box,
    BoxGroup,
    Item,
    MethodDiagram,
    PaperDifference,
    PrintedNumber,
    Reading,
    StartedStudy,
)
from arcadia_workers.contract.metrics import STEPS_PER_SECOND

UPDATES = "throughput/updates_per_second"
EPSILON = Reading("ε", "train/epsilon", counts=True)
MEANS = "Varying numbers are the mean of the run's last 100 reports. ε is the latest value."

DQN = MethodDiagram(
    name="dqn",
    title="DQN: a Q-network, a target network and a replay memory",
    methods=("gorila",),
    preset="gorila-cartpole",
    boxes=(
        Box(
            "environment",
            "Environment",
            "in the actor's process",
            "Steps with the actions of the Q-network and stores each transition.",
            column=0,
            rows=2,
            readings=(Reading("Steps per second", STEPS_PER_SECOND), EPSILON),
        ),
        Box(
            "q-network",
            "Q-network",
            "θ, from the shards",
            "Chooses the action with the largest Q, or a random one with probability ε, and learns.",
            column=1,
            learned=True,
            readings=(
                Reading("Body", fields=("network",)),
                Reading("Mean Q", "train/q_mean"),
                Reading("Updates per second", UPDATES),
            ),
        ),
        Box(
            "replay",
            "Replay memory",
            "frames in memory",
            "Stores transitions and returns random minibatches.",
            column=1,
            row=1,
            readings=(
                Reading("Frames", fields=("replay_frames",)),
                Reading("In use", "gorila/replay_fill"),
            ),
        ),
        Box(
            "target",
            "Target network",
            "θ⁻, a copy of θ",
            "Values the next state in the loss. It is an older copy of the Q-network, updated after every N updates.",
            column=2,
            learned=True,
            readings=(Reading("Copied every N", fields=("target_update_interval",), unit="updates"),),
        ),
        Box(
            "loss",
            "DQN loss",
            "in the learner",
            "Compares Q(s, a; θ) with r + γ max Q(s′, a′; θ⁻) over a minibatch.",
            column=3,
            rows=2,
            readings=(
                Reading("Minibatch", fields=("batch_size",)),
                Reading("Loss", "train/value_loss"),
                Reading("Gradient norm", "train/grad_norm"),
            ),
        ),
    ),
    arrows=(
        Arrow("environment", "q-network", "s"),
        Arrow("q-network", "environment", "a"),
        Arrow("environment", "replay", "s, a, r, s′"),
        Arrow("q-network", "target", "copy"),
        Arrow("target", "loss", "max Q(s′, a′; θ⁻)"),
        Arrow("replay", "loss", "minibatch"),
        Arrow("loss", "q-network", "gradient of the loss", around=True),
    ),
)
GORILA = MethodDiagram(
    name="gorila",
    title="Gorila: actors, replay memories, learners and a parameter server",
    methods=("gorila",),
    preset="gorila-cartpole",
    boxes=(
        Box(
            "actors",
            "Actors",
            "one environment each",
            "Act with their replica of the Q-network and store their experience.",
            column=0,
            many=True,
            readings=(
                Reading("Actors, N_act", fields=("num_actors",)),
                Reading("Steps per second", STEPS_PER_SECOND),
                EPSILON,
                Reading("Busy", "gorila/actor_busy"),
            ),
        ),
        Box(
            "replay",
            "Replay memories",
            "frames in memory",
            "Store the experience. Each bundle has one; free mode has a global one in separate processes.",
            column=1,
            many=True,
            readings=(
                Reading("Mode", fields=("mode",)),
                Reading("Total frames", fields=("replay_frames",)),
                Reading("In use", "gorila/replay_fill"),
            ),
        ),
        Box(
            "learners",
            "Learners",
            "replicas of θ and θ⁻",
            "Compute the gradient of the DQN loss on a minibatch and discard outliers.",
            column=2,
            many=True,
            readings=(
                Reading("Learners, N_learn", fields=("num_learners",)),
                Reading("Minibatch", fields=("batch_size",)),
                Reading("Loss", "train/value_loss"),
                Reading("Busy", "gorila/learner_busy"),
            ),
        ),
        Box(
            "shards",
            "Parameter server",
            "shards of θ⁺, processes",
            "Each shard applies gradients to its part of the parameters and discards gradients that are too stale.",
            column=3,
            many=True,
            learned=True,
            readings=(
                Reading("Shards, N_param", fields=("num_shards",)),
                Reading("Updates per second", UPDATES),
                Reading("Staleness", "gorila/staleness"),
                Reading("Busy", "gorila/shard_busy"),
            ),
        ),
    ),
    arrows=(
        Arrow("actors", "replay", "s, a, r, s′"),
        Arrow("replay", "learners", "minibatches"),
        Arrow("learners", "shards", "gradients"),
        Arrow("shards", "learners", "θ⁺ and θ⁻"),
        Arrow("shards", "actors", "parameters θ⁺", around=True),
    ),
    groups=(BoxGroup("Bundle, one process", ("actors", "replay", "learners"), {"mode": "bundled"}),),
)


def _printed(what: str, value: float) -> PrintedNumber:
    return PrintedNumber(what, value, "", "Gorila (Nair et al. 2015)", "section 5.1", "all experiments, bundled mode")


FIGURE_1 = Item(
    name="figure-1",
    label="Figure 1",
    title="The components of DQN",
    theirs="Shows DQN: a Q-network that acts, a target Q-network, a replay memory, and the loss that connects them.",
    ours=f"Shows the same components in a Gorila run, with its numbers. {MEANS}",
    measures="",
    draw=None,
    diagrams=(DQN,),
    differs=(
        PaperDifference(
            "parameters",
            "one Q-network acts and learns",
            "actor and learner have replicas; the parameter server has the parameters",
            "here, DQN is Gorila with one actor, one learner and one memory",
        ),
    ),
    unpublished="The figure is a diagram without numbers.",
)
FIGURE_2 = Item(
    name="figure-2",
    label="Figure 2",
    title="The architecture of Gorila",
    theirs="Shows Gorila: actors and learners with replicas of the Q-network, replay memories, and a sharded "
    "parameter server that applies the learners' gradients.",
    ours=f"Shows the architecture of a run, bundled or free, with its numbers. {MEANS}",
    measures="",
    draw=None,
    diagrams=(GORILA,),
    differs=(
        PaperDifference(
            "processes",
            "run independently",
            "carry out requests of the trainer, a fifth of a second each",
            "stopping is fast, and steps and updates are counted in one place",
        ),
        PaperDifference(
            "target network",
            "each learner copies its θ⁻ from the parameter server",
            "each shard keeps its part of θ⁻, and all learners use the same copy",
            "a replaced bundle has the same θ⁻ as the others",
        ),
    ),
    published=(
        _printed("actors, N_act", 100),
        _printed("learners, N_learn", 100),
        _printed("shards of the parameter server, N_param", 31),
    ),
)


# Section 6: by hours of training, the number of 49 games in which Gorila passed the best score of DQN.
PASSED = {6: 19, 12: 23, 24: 30, 36: 38}


def draw(_session: Session, _started: Sequence[StartedStudy]) -> Figure:
    """Draw the numbers that the text states."""
    hover = [f"The paper: {games} of 49 games after {hours} h" for hours, games in PASSED.items()]
    trace = measured.line("Gorila, the paper", measured.THEIRS, [*PASSED], [*PASSED.values()], hover)
    return measured.figure([trace], "hours of training with 100 bundles")


ITEM = Item(
    name="figure-5",
    label="Figure 5",
    title="Training time until Gorila surpasses DQN",
    theirs="Counts by hours of training in how many of 49 games Gorila has passed the best score of a single "
    "DQN, and when it reaches its own best score.",
    ours="Shows only the numbers in the text.",
    measures="Games of 49 in which DQN's best score was passed",
    draw=draw,
    published=tuple(
        PrintedNumber(
            f"games after {hours} hours",
            games,
            "of 49",
            "Gorila (Nair et al. 2015)",
            "section 6",
            "human-starts, best evaluation so far",
        )
        for hours, games in PASSED.items()
    ),
    unavailable_reason="The figure needs 49 games with 100 bundles and days of training each, and hours on "
    "different hosts are not comparable. To compare runs of one game, use the time to a score on the Compare page.",
)
