"""How a run can be evaluated: what a form offers, and why it does not offer the rest."""

from typing import get_args

from pydantic import BaseModel, Field

from backend.models import Run
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import acting_unfit_because, protocol_of, unfit_because
from workers.contract.protocols import PROTOCOLS
from workers.contract.protocols.acting import EPSILON_GREEDY, Acting, ActingName


class ProtocolChoice(BaseModel):
    """A protocol, in words."""

    name: str
    title: str
    sentence: str = Field(description="What happens.")
    source: str = Field(description="Which paper has it, and where.")
    episodes: int = Field(description="How many unless told otherwise.")
    unfit_because: str | None = Field(description="Why the run cannot be evaluated by it, and by which it can.")


class ActingChoice(BaseModel):
    """A way to act."""

    acting: Acting
    unfit_because: str | None = Field(description="Why the run's agents cannot act like this, and how they can.")


class EvaluationChoices(BaseModel):
    """The protocols and the ways to act, and which are taken unless told otherwise."""

    protocols: list[ProtocolChoice]
    usual_protocol: str
    acting: list[ActingChoice]
    usual_acting: Acting = Field(description="As the method's paper has it.")


def choices(run: Run) -> EvaluationChoices:
    """What there is to choose for an evaluation of a run."""
    usual = CONFIGURATIONS[run.algorithm].usual_acting
    # Random play needs no checkpoint, so nothing of a run is evaluated by it.
    ways = [EPSILON_GREEDY if name == EPSILON_GREEDY.name else Acting(name=name) for name in get_args(ActingName)]
    return EvaluationChoices(
        protocols=[
            ProtocolChoice(
                name=protocol.name,
                title=protocol.title,
                sentence=protocol.sentence,
                source=protocol.source,
                episodes=protocol.episodes,
                unfit_because=unfit_because(protocol.name, run.env),
            )
            for protocol in PROTOCOLS.values()
        ],
        usual_protocol=protocol_of(run.config),
        acting=[
            ActingChoice(acting=way, unfit_because=acting_unfit_because(way, usual, run.env))
            for way in ways
            if way.name != "random"
        ],
        usual_acting=usual,
    )
