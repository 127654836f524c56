"""Figures 1 and 2: the parts of DQN, and Gorila's architecture."""

from backend.papers.definition import Difference, Item, Number
from backend.papers.diagram import Arrow, Box, Diagram, Group, Reading
from workers.contract.metrics import STEPS_PER_SECOND

UPDATES = "throughput/updates_per_second"
EPSILON = Reading("ε", "train/epsilon", counts=True)
MEANS = "Numbers that change are the mean of the run's last 100 reports; ε is the latest."

DQN = Diagram(
    name="dqn",
    title="DQN: a Q-network, a target network and a replay memory",
    methods=("gorila",),
    preset="gorila-cartpole",
    boxes=(
        Box(
            "environment",
            "Environment",
            "in the actor's process",
            "Steps by the actions of the Q-network and stores each transition.",
            column=0,
            rows=2,
            readings=(Reading("Steps a second", STEPS_PER_SECOND), EPSILON),
        ),
        Box(
            "q-network",
            "Q-network",
            "θ, from the shards",
            "Chooses the action of the largest Q, or a random one with probability ε, and learns.",
            column=1,
            learned=True,
            readings=(
                Reading("Body", fields=("network",)),
                Reading("Mean Q", "train/q_mean"),
                Reading("Updates a second", UPDATES),
            ),
        ),
        Box(
            "replay",
            "Replay memory",
            "frames in memory",
            "Stores transitions and gives random minibatches of them.",
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
            "Values the next state in the loss. It is an older copy: it copies the Q-network after every N updates.",
            column=2,
            learned=True,
            readings=(Reading("Copied after, N", fields=("target_update_interval",), unit="updates"),),
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
GORILA = Diagram(
    name="gorila",
    title="Gorila: actors, replay memories, learners and a parameter server",
    methods=("gorila",),
    preset="gorila-cartpole",
    boxes=(
        Box(
            "actors",
            "Actors",
            "one environment each",
            "Act by their replica of the Q-network and store what they experience.",
            column=0,
            many=True,
            readings=(
                Reading("Actors, N_act", fields=("num_actors",)),
                Reading("Steps a second", STEPS_PER_SECOND),
                EPSILON,
                Reading("Busy", "gorila/actor_busy"),
            ),
        ),
        Box(
            "replay",
            "Replay memories",
            "frames in memory",
            "Hold the experience: one in each bundle, or a global one in separate processes in free mode.",
            column=1,
            many=True,
            readings=(
                Reading("Mode", fields=("mode",)),
                Reading("Frames in all", fields=("replay_frames",)),
                Reading("In use", "gorila/replay_fill"),
            ),
        ),
        Box(
            "learners",
            "Learners",
            "replicas of θ and θ⁻",
            "Compute the gradient of the DQN loss over a minibatch, and discard outliers.",
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
            "Each shard applies the gradients to its part of the parameters, and discards those that are too stale.",
            column=3,
            many=True,
            learned=True,
            readings=(
                Reading("Shards, N_param", fields=("num_shards",)),
                Reading("Updates a second", UPDATES),
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
    groups=(Group("Bundle, one process", ("actors", "replay", "learners"), {"mode": "bundled"}),),
)


def _printed(what: str, value: float) -> Number:
    return Number(what, value, "", "Gorila (Nair et al. 2015)", "section 5.1", "all experiments, bundled mode")


FIGURE_1 = Item(
    name="figure-1",
    label="Figure 1",
    title="The parts of DQN",
    theirs="Drew DQN: a Q-network that acts, a target Q-network, a replay memory, and the loss that joins them.",
    ours=f"Draws the same parts as a Gorila run has them, with its numbers. {MEANS}",
    measures="",
    draw=None,
    diagrams=(DQN,),
    differs=(
        Difference(
            "parameters",
            "one Q-network acts and learns",
            "actor and learner have replicas, and the parameter server has the parameters",
            "DQN is Gorila with one actor, one learner and one memory here",
        ),
    ),
    unpublished="The figure is a drawing and has no numbers.",
)
FIGURE_2 = Item(
    name="figure-2",
    label="Figure 2",
    title="The architecture of Gorila",
    theirs="Drew Gorila: actors and learners with replicas of the Q-network, replay memories, and a parameter server "
    "in shards that applies the learners' gradients.",
    ours=f"Draws the architecture as a run has it, bundled or free, with its numbers. {MEANS}",
    measures="",
    draw=None,
    diagrams=(GORILA,),
    differs=(
        Difference(
            "processes",
            "loop on their own",
            "work through orders of the trainer, a fifth of a second each",
            "stops are heard in time, and steps and updates are counted in one place",
        ),
        Difference(
            "target network",
            "each learner syncs its θ⁻ from the parameter server",
            "each shard keeps its part of θ⁻, and all learners take the same one",
            "a bundle that is replaced has the θ⁻ of the others",
        ),
    ),
    published=(
        _printed("actors, N_act", 100),
        _printed("learners, N_learn", 100),
        _printed("shards of the parameter server, N_param", 31),
    ),
)
