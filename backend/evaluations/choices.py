"""How a run can be evaluated: what a form offers, and why it does not offer the rest."""

from typing import get_args

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from backend.database.tables import Run
from backend.evaluations.starting import no_starts_because
from backend.start_sets.schemas import StartSet
from backend.start_sets.service import listed, shown
from workers.contract.config import CONFIGURATIONS
from workers.contract.config.evaluation import acting_unfit_because, protocol_of, unfit_because
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from workers.contract.protocols.acting import EPSILON_GREEDY, Acting, ActingName


class ProtocolChoice(BaseModel):
    """A protocol, in words."""

    name: str
    title: str
    sentence: str = Field(description="What happens.")
    source: str = Field(description="Which paper has it, and where.")
    episodes: int = Field(description="How many unless told otherwise.")
    start_sets: list[StartSet] | None = Field(
        description="Where its episodes begin at start points, the sets to choose from."
    )
    unfit_because: str | None = Field(description="Why the run cannot be evaluated by it, and what would help.")


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


def choices(session: Session, run: Run) -> EvaluationChoices:
    """What there is to choose for an evaluation of a run."""
    usual = CONFIGURATIONS[run.algorithm].usual_acting
    # Random play needs no checkpoint, so nothing of a run is evaluated by it.
    ways = [EPSILON_GREEDY if name == EPSILON_GREEDY.name else Acting(name=name) for name in get_args(ActingName)]
    return EvaluationChoices(
        protocols=[_protocol(session, run.env, protocol) for protocol in PROTOCOLS.values()],
        usual_protocol=protocol_of(run.config),
        acting=[
            ActingChoice(acting=way, unfit_because=acting_unfit_because(way, usual, run.env))
            for way in ways
            if way.name != "random"
        ],
        usual_acting=usual,
    )


def _protocol(session: Session, env: str, protocol: EvaluationProtocol) -> ProtocolChoice:
    unfit, sets = unfit_because(protocol.name, env), None
    if protocol.starts_from is not None and unfit is None:
        unfit = no_starts_because(session, env, protocol.name)
        sets = [shown(stored) for stored in listed(session, env, protocol.starts_from)]
    return ProtocolChoice(
        name=protocol.name,
        title=protocol.title,
        sentence=protocol.sentence,
        source=protocol.source,
        episodes=protocol.episodes,
        start_sets=sets,
        unfit_because=unfit,
    )
