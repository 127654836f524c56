"""Figure 1: the architecture of the parallel framework."""

from arcadia_backend.papers.definition import Arrow, Box, Item, MethodDiagram, PaperDifference, PrintedNumber, Reading
from arcadia_backend.papers.paac.source import ENVIRONMENTS, SOURCE
from arcadia_workers.contract.metrics import STEPS_PER_SECOND

PAAC = MethodDiagram(
    name="paac",
    title="PAAC: one network acts in all environments and learns from all of them",
    methods=("paac", "paac_q"),
    preset="paac-cartpole",
    boxes=(
        Box(
            "environments",
            "Environments",
            "instances of one game",
            "Step together, each with its own action. In Atari one half steps while the network acts for the other.",
            column=0,
            rows=2,
            many=True,
            readings=(
                Reading("Environments, n_e", fields=("num_envs",)),
                Reading("Steps per second", STEPS_PER_SECOND),
                Reading("Share of time", "time/environment"),
            ),
        ),
        Box(
            "workers",
            "Workers",
            "threads",
            "Apply the actions to their environments. There are at most as many as the host has cores.",
            column=1,
            rows=2,
            many=True,
            readings=(Reading("Maximum workers, n_w", fields=("num_workers",)),),
        ),
        Box(
            "network",
            "Network",
            "one model",
            "Selects the actions of all environments in one batch and learns from every rollout.",
            column=2,
            learned=True,
            readings=(
                Reading("Body", fields=("network",)),
                Reading("Time selecting", "time/selection"),
                Reading("Time learning", "time/learning"),
            ),
        ),
        Box(
            "rollout",
            "Rollout",
            "tables in memory",
            "Stores t_max steps of all environments: states, actions, rewards. One rollout is the batch of one update.",
            column=2,
            row=1,
            readings=(
                Reading("Length, t_max", fields=("t_max",), unit="steps"),
                Reading("Batch n_e · t_max", fields=("num_envs", "t_max")),
                Reading("Updates per second", "throughput/updates_per_second"),
            ),
        ),
    ),
    arrows=(
        Arrow("network", "workers", "actions"),
        Arrow("workers", "environments", "actions"),
        Arrow("environments", "workers", "states, rewards"),
        Arrow("workers", "rollout", "states, rewards"),
        Arrow("rollout", "network", "states, batches"),
    ),
)


def _printed(what: str, value: float) -> PrintedNumber:
    return PrintedNumber(what, value, "", SOURCE, "section 5.1", "for the scores of table 1")


ITEM = Item(
    name="figure-1",
    label="Figure 1",
    title="The architecture of the parallel framework",
    theirs="Shows the framework: a master samples actions for n_e environments from one policy, n_w workers "
    "apply them in parallel and store the observations, and the master updates the policy.",
    ours="Shows the framework as implemented here, with the numbers of a run of PAAC or its Q-learning "
    "variant. Varying numbers are the mean of the run's last 100 reports.",
    measures="",
    draw=None,
    diagrams=(PAAC,),
    differs=(
        ENVIRONMENTS,
        PaperDifference("workers", "n_w, as configured", "n_w, at most one per core", "more threads are no faster"),
    ),
    published=(_printed("workers, n_w", 8), _printed("environments, n_e", 32), _printed("steps, t_max", 5)),
)
