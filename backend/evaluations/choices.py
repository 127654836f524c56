"""Choices for the evaluation form of a run, with the reason why a choice is unavailable."""

from typing import get_args

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from backend.checkpoints.playing import usual_acting_of, usual_protocol_of
from backend.database.tables import Run
from backend.evaluations.start_points import missing_start_sets
from backend.start_sets.schemas import StartSet
from backend.start_sets.service import list_start_sets, to_schema
from backend.web.lookup import refuse_without_agent
from workers.contract.config.evaluation import acting_unfit_because, unfit_because
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol
from workers.contract.protocols.acting import EPSILON_GREEDY, Acting, ActingName


class ProtocolChoice(BaseModel):
    """A protocol to choose."""

    name: str
    title: str
    sentence: str = Field(description="Description of the protocol.")
    source: str = Field(description="The paper and the place in it.")
    episodes: int = Field(description="Default number of episodes.")
    start_sets: list[StartSet] | None = Field(
        description="Start sets to choose from, for protocols that begin at start points."
    )
    unfit_because: str | None = Field(description="Why the protocol is unavailable, and what to do. Null if available.")


class ActingChoice(BaseModel):
    """A way to choose actions."""

    acting: Acting
    unfit_because: str | None = Field(description="Why it is unavailable for this run. Null if it is available.")


class EvaluationChoices(BaseModel):
    """Protocols and ways to choose actions, with their defaults."""

    protocols: list[ProtocolChoice]
    usual_protocol: str
    acting: list[ActingChoice]
    usual_acting: Acting = Field(description="The default, as in the method's paper.")


def choices(session: Session, run: Run) -> EvaluationChoices:
    """Return the choices for an evaluation of a run."""
    refuse_without_agent(run, "evaluate")
    usual = usual_acting_of(run)
    # Random play needs no checkpoint, so it is no choice for a run.
    ways = [EPSILON_GREEDY if name == EPSILON_GREEDY.name else Acting(name=name) for name in get_args(ActingName)]
    return EvaluationChoices(
        protocols=[_protocol(session, run.env, protocol) for protocol in PROTOCOLS.values()],
        usual_protocol=usual_protocol_of(run),
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
        unfit = missing_start_sets(session, env, protocol.name)
        sets = [to_schema(stored) for stored in list_start_sets(session, env, protocol.starts_from)]
    return ProtocolChoice(
        name=protocol.name,
        title=protocol.title,
        sentence=protocol.sentence,
        source=protocol.source,
        episodes=protocol.episodes,
        start_sets=sets,
        unfit_because=unfit,
    )
