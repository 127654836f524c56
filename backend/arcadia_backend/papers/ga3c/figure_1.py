"""Figure 1: the architectures of A3C and of GA3C."""

from arcadia_backend.papers.definition import Arrow, Box, Item, MethodDiagram, PaperDifference, PrintedNumber, Reading
from arcadia_workers.contract.metrics import STEPS_PER_SECOND

UPDATES = "throughput/updates_per_second"

A3C = MethodDiagram(
    name="a3c",
    title="A3C: each actor-learner has a replica of the network",
    methods=("a3c",),
    preset="a3c-cartpole",
    boxes=(
        Box(
            "environments",
            "Environments",
            "one in each actor-learner",
            "Step with the actions of their actor-learner.",
            column=0,
            many=True,
            readings=(
                Reading("Environments", fields=("num_actors",)),
                Reading("Steps per second", STEPS_PER_SECOND),
            ),
        ),
        Box(
            "actor-learners",
            "Actor-learners",
            "processes",
            "Each acts with its own replica of the network and computes gradients from its rollout.",
            column=1,
            many=True,
            readings=(
                Reading("Actor-learners", fields=("num_actors",)),
                Reading("Rollout, t_max", fields=("t_max",), unit="steps"),
                Reading("Entropy", "train/entropy"),
            ),
        ),
        Box(
            "shared",
            "Parameters θ",
            "shared memory, no locks",
            "Every actor-learner applies its gradients to the shared parameters and copies them before each rollout.",
            column=2,
            learned=True,
            readings=(
                Reading("Updates per second", UPDATES),
                Reading("Learning rate", "train/learning_rate", fields=("learning_rate",), counts=True),
                Reading("Gradient norm", "train/grad_norm"),
            ),
        ),
    ),
    arrows=(
        Arrow("environments", "actor-learners", "states, rewards"),
        Arrow("actor-learners", "environments", "actions"),
        Arrow("actor-learners", "shared", "gradients"),
        Arrow("shared", "actor-learners", "θ"),
    ),
)
GA3C = MethodDiagram(
    name="ga3c",
    title="GA3C: queues between the agents and one network",
    methods=("ga3c",),
    preset="ga3c-cartpole",
    boxes=(
        Box(
            "agents",
            "Agents",
            "processes, one game each",
            "Each queues its state before every action, and queues its experiences at the end of a rollout.",
            column=0,
            rows=2,
            many=True,
            readings=(
                Reading("Agents, N_A", "ga3c/agents", fields=("num_agents",), counts=True),
                Reading("Rollout, t_max", fields=("t_max",), unit="steps"),
                Reading("Steps per second", STEPS_PER_SECOND),
            ),
        ),
        Box(
            "prediction-queue",
            "Prediction queue",
            "a pipe",
            "Holds the row numbers of states that wait for a policy. The states are in shared memory.",
            column=1,
            readings=(Reading("Waiting", "ga3c/prediction_queue"),),
        ),
        Box(
            "training-queue",
            "Training queue",
            "a pipe",
            "Holds the row numbers of rollouts that wait for a trainer.",
            column=1,
            row=1,
            readings=(Reading("Waiting", "ga3c/training_queue"),),
        ),
        Box(
            "predictors",
            "Predictors",
            "threads",
            "Each takes all waiting states, gets their policies in one batch, and replies to the agents.",
            column=2,
            many=True,
            readings=(
                Reading("Predictors, N_P", "ga3c/predictors", fields=("num_predictors",), counts=True),
                Reading("Batch", "ga3c/prediction_batch"),
                Reading("States per second", "throughput/predictions_per_second"),
            ),
        ),
        Box(
            "trainers",
            "Trainers",
            "threads",
            "Each collects rollouts into a batch and updates the network with it.",
            column=2,
            row=1,
            many=True,
            readings=(
                Reading("Trainers, N_T", "ga3c/trainers", fields=("num_trainers",), counts=True),
                Reading("Batch", "ga3c/training_batch"),
                Reading("Minimum batch", fields=("min_training_batch",)),
            ),
        ),
        Box(
            "network",
            "Network",
            "one model, GPU or CPU",
            "The only copy of the parameters. Predictors read it while a trainer updates it.",
            column=3,
            rows=2,
            learned=True,
            readings=(
                Reading("Body", fields=("network",)),
                Reading("Updates per second", UPDATES),
                Reading("Policy lag", "ga3c/policy_lag"),
            ),
        ),
    ),
    arrows=(
        Arrow("agents", "prediction-queue", "states"),
        Arrow("prediction-queue", "predictors", "states"),
        Arrow("predictors", "network", "one batch"),
        Arrow("network", "predictors", "π and V"),
        Arrow("predictors", "agents", "policy π and value V", around=True),
        Arrow("agents", "training-queue", "rollouts"),
        Arrow("training-queue", "trainers", "rollouts"),
        Arrow("trainers", "network", "one batch"),
    ),
)


def _printed(what: str, value: float, section: str, protocol: str) -> PrintedNumber:
    return PrintedNumber(what, value, "", "GA3C (Babaeizadeh et al. 2017)", section, protocol)


ITEM = Item(
    name="figure-1",
    label="Figure 1",
    title="The architectures of A3C and GA3C",
    theirs="Shows A3C, where each agent has a replica of the network and sends gradients, beside GA3C. In "
    "GA3C, agents query one network on a GPU through predictors, and trainers collect their "
    "experiences.",
    ours="Shows both architectures as implemented here, with the numbers of a run. Varying numbers are the "
    "mean of the run's last 100 reports. The counts of agents, predictors and trainers are the latest "
    "values.",
    measures="",
    draw=None,
    diagrams=(A3C, GA3C),
    differs=(
        PaperDifference("agents of A3C", "threads", "processes", "Python cannot run threads in parallel"),
        PaperDifference(
            "queues", "hold states and experiences", "hold row numbers of tables in shared memory", "it avoids copies"
        ),
        PaperDifference(
            "training queue",
            "unlimited",
            "at most two waiting rollouts per agent, except in ga3c-paper",
            "it limits the policy lag (docs/decisions/0015-ga3c-queues.md)",
        ),
        PaperDifference(
            "trainers", "update in parallel", "update one after the other", "they share one gradient buffer"
        ),
    ),
    published=(
        _printed("agents of A3C", 16, "section 3.2", "the original implementation, on a 16-core CPU"),
        _printed("agents of GA3C, N_A", 128, "section 5.1", "fastest on system I, Pong"),
        _printed("predictors of GA3C, N_P", 2, "section 5.1", "fastest on system I, Pong"),
        _printed("trainers of GA3C, N_T", 2, "section 5.1", "fastest on system I, Pong"),
    ),
)
