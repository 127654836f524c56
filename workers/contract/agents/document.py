"""agent.json, the manifest of an agent file."""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workers.contract.agents.shape import NetworkShape
from workers.contract.events import Sha256
from workers.contract.members import ManifestHeading, Member
from workers.contract.protocols.acting import Acting
from workers.contract.protocols.document import EvaluationDocument
from workers.contract.values import Count, ShortText

VERSION = 1
SUFFIX = ".agent.zip"
MANIFEST, WEIGHTS, ONNX, CARD = "agent.json", "weights.safetensors", "agent.onnx", "README.md"
CONFIG, CURVE, REPLAY, PLAYER = "config.json", "curve.svg", "replay.mp4", "play.py"
# Every member of an agent file has one of these names.
MEMBER = "|".join(map(re.escape, (MANIFEST, WEIGHTS, ONNX, CARD, CONFIG, CURVE, REPLAY, PLAYER)))
MAX_EVALUATIONS = 100


class TrainingMethod(BaseModel):
    """The method that trained an agent."""

    algorithm: ShortText
    title: ShortText


class PlayedEnvironment(BaseModel):
    """The environment that an agent plays, and how its observations and actions are made."""

    id: ShortText
    title: ShortText
    rom: ShortText | None = Field(description="Name of an Atari game's ROM in ale-py.")
    pixels: bool
    frames_per_step: Count
    action_set: ShortText | None = Field(description="Of Atari games: minimal or full.")
    module: ShortText | None = Field(
        default=None, description="Module of a plug-in that registers the environment with gymnasium."
    )
    action_names: list[ShortText] = Field(description="Empty if the emulator names them.")


class AgentHeading(ManifestHeading):
    """The part of agent.json that every version has."""

    format: Literal["arcadia-agent"]


class AgentDocument(AgentHeading):
    """The whole of agent.json. Fields of a newer version are ignored."""

    model_config = ConfigDict(ser_json_inf_nan="strings")

    name: Annotated[str, Field(max_length=200)]
    method: TrainingMethod
    step: Count
    frames: Count
    checkpoint_sha256: Sha256
    environment: PlayedEnvironment
    network: NetworkShape | None = Field(description="Null for the network of a plug-in, which has to be installed.")
    acting: Acting = Field(description="How the method's paper chooses actions in an evaluation.")
    protocols: list[dict[str, Any]] = Field(description="Protocols that play.py knows. The first is the default.")
    evaluations: Annotated[list[EvaluationDocument], Field(max_length=MAX_EVALUATIONS)]
    config: dict[str, Any] = Field(description="The configuration of the training.")
    versions: dict[str, str] = Field(description="Versions of the packages that trained it.")
    contents: Annotated[list[Member], Field(max_length=20)]
