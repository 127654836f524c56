"""Figure 1: the architecture of the parallel framework."""

from backend.papers.definition import Difference, Item, Number
from backend.papers.diagram import Arrow, Box, Diagram, Reading
from backend.papers.paac.source import ENVIRONMENTS, SOURCE
from workers.contract.metrics import STEPS_PER_SECOND

PAAC = Diagram(
    name="paac",
    title="PAAC: one network acts in all environments and learns from all of them",
    methods=("paac", "paac_q"),
    preset="paac-cartpole",
    boxes=(
        Box(
            "environments",
            "Environments",
            "instances of one game",
            "Step together, each by its own action. In Atari one half steps while the network acts for the other.",
            column=0,
            rows=2,
            many=True,
            readings=(
                Reading("Environments, n_e", fields=("num_envs",)),
                Reading("Steps a second", STEPS_PER_SECOND),
                Reading("Time in them", "time/environment"),
            ),
        ),
        Box(
            "workers",
            "Workers",
            "threads",
            "Apply the actions to their environments. No more are started than the host has cores.",
            column=1,
            rows=2,
            many=True,
            readings=(Reading("Workers, n_w, at most", fields=("num_workers",)),),
        ),
        Box(
            "network",
            "Network",
            "one model",
            "The master's. Selects an action for every environment at once, and is updated from every rollout.",
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
            "Holds t_max steps of all environments: states, actions, rewards. One rollout is the batch of one update.",
            column=2,
            row=1,
            readings=(
                Reading("Length, t_max", fields=("t_max",), unit="steps"),
                Reading("Batch n_e · t_max", fields=("num_envs", "t_max")),
                Reading("Updates a second", "throughput/updates_per_second"),
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


def _printed(what: str, value: float) -> Number:
    return Number(what, value, "", SOURCE, "section 5.1", "for the scores of table 1")


ITEM = Item(
    name="figure-1",
    label="Figure 1",
    title="The architecture of the parallel framework",
    theirs="Drew the framework: a master samples actions for n_e environments from one policy, n_w workers apply them "
    "in parallel and store what is observed, and the master updates the policy with it.",
    ours="Draws the framework as it is built here, with the numbers of a run by either of its methods. Numbers that "
    "change are the mean of the run's last 100 reports.",
    measures="",
    draw=None,
    diagrams=(PAAC,),
    differs=(
        ENVIRONMENTS,
        Difference("workers", "n_w, as many as given", "n_w, at most one for each core", "more threads are no faster"),
    ),
    published=(_printed("workers, n_w", 8), _printed("environments, n_e", 32), _printed("steps, t_max", 5)),
)
