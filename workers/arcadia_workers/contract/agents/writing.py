"""Writing of an agent file from a checkpoint."""

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from arcadia_workers.contract.action_names import NAMES
from arcadia_workers.contract.agents import document as names
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import (
    AgentDocument,
    PlayedEnvironment,
    TrainingMethod,
    shape_of,
    to_card,
    to_svg,
)
from arcadia_workers.contract.agents.onnx_graph import to_onnx
from arcadia_workers.contract.agents.weights import Weights, WeightsError
from arcadia_workers.contract.archives import Member
from arcadia_workers.contract.config import TrainingConfig, config_adapter
from arcadia_workers.contract.config.emulator import choosable_protocols, protocol_of
from arcadia_workers.contract.config.problems import problems_of, title_of
from arcadia_workers.contract.games import rom_of
from arcadia_workers.contract.layout import METADATA, CheckpointMetadata, algorithm_of
from arcadia_workers.contract.protocols import PROTOCOLS, fitting_protocols
from arcadia_workers.contract.protocols.document import EvaluationDocument
from arcadia_workers.contract.tracks import with_current_names

# The earliest time that a zip file can express: equal contents make equal files.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


class NoAgentError(ValueError):
    """The checkpoint cannot be exported as an agent file."""


@dataclass(frozen=True)
class AgentSource:
    """The content of an agent file: a checkpoint, and facts about it."""

    name: str
    checkpoint: bytes
    evaluations: Sequence[EvaluationDocument] = ()
    # Frames and mean returns of the training curve.
    curve: Sequence[tuple[float, float]] = ()
    replay: Path | None = None


def write_agent(source: AgentSource, target: BinaryIO) -> AgentDocument:
    """Write the agent file of a checkpoint. Return its agent.json."""
    try:
        metadata = CheckpointMetadata.model_validate_json(weights.read_metadata(source.checkpoint)[METADATA])
        network = weights.network_of(weights.read(source.checkpoint).items())
        weights.check_numbers(network)
    except (WeightsError, ValueError, KeyError) as error:
        raise NoAgentError(f"The checkpoint cannot be read: {error}.") from error
    config = _validated(metadata)
    document = _document(source, metadata, config, network)
    members = _members(source, document, config, network)
    document.contents = [
        Member(path=path, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        for path, content in members.items()
    ]
    members[names.MANIFEST] = document.model_dump_json(indent=1).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for path, content in members.items():
            info = zipfile.ZipInfo(path, _NO_TIME)
            info.external_attr = 0o644 << 16
            is_compressed = path.endswith((".mp4", ".safetensors", ".onnx"))
            info.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return document


def _validated(metadata: CheckpointMetadata) -> TrainingConfig:
    try:
        return config_adapter.validate_python(with_current_names(metadata.config))
    except ValidationError as error:
        problems = "; ".join(f"{problem.field}: {problem.message}" for problem in problems_of(error))
        raise NoAgentError(f"The checkpoint was made with another version's configuration: {problems}.") from error


def _document(
    source: AgentSource, metadata: CheckpointMetadata, config: TrainingConfig, network: Mapping[str, Weights]
) -> AgentDocument:
    algorithm = algorithm_of(metadata.facts, metadata.config)
    return AgentDocument(
        format="arcadia-agent",
        version=names.VERSION,
        arcadia_version=version("arcadia"),
        name=source.name,
        method=TrainingMethod(algorithm=algorithm, title=title_of(algorithm)),
        step=metadata.step,
        frames=metadata.frames,
        checkpoint_sha256=hashlib.sha256(source.checkpoint).hexdigest(),
        environment=_environment(config),
        network=shape_of(config, network),
        acting=config.usual_acting,
        protocols=_protocols(config),
        evaluations=list(source.evaluations)[-names.MAX_EVALUATIONS :],
        config=config.model_dump(mode="json"),
        versions=metadata.versions,
        contents=[],
    )


def _environment(config: TrainingConfig) -> PlayedEnvironment:
    environment = config.environment
    return PlayedEnvironment(
        id=environment.id,
        title=environment.title,
        rom=rom_of(environment.id) if environment.family.simulator == "ale" else None,
        pixels=environment.shows_pixels,
        frames_per_step=environment.frames_per_step,
        action_set=config.action_set if environment.family.has_action_sets else None,
        module=environment.module,
        action_names=list(environment.action_names or NAMES.get(environment.id, ())),
    )


def _protocols(config: TrainingConfig) -> list[dict[str, Any]]:
    """Return the protocols without start points, the run's first."""
    usual = protocol_of(config.model_dump())
    fitting = [name for name in fitting_protocols(config.environment.family) if name in choosable_protocols()]
    return [asdict(PROTOCOLS[name]) for name in sorted(fitting, key=lambda name: name != usual)]


def _members(
    source: AgentSource, document: AgentDocument, config: TrainingConfig, network: Mapping[str, Weights]
) -> dict[str, bytes]:
    """Return the contents of all members but agent.json."""
    members = {names.WEIGHTS: weights.pack(network, {"format": "pt"})}
    if document.network is not None:
        continuous = config.environment.actions == "continuous"
        members[names.ONNX] = to_onnx(
            document.network, network, pixels=document.environment.pixels, continuous=continuous
        )
    members[names.PLAYER] = Path(__file__).with_name(names.PLAYER).read_bytes()
    members[names.CONFIG] = json.dumps(document.config, indent=1).encode()
    if source.curve:
        members[names.CURVE] = to_svg(source.curve, f"{document.method.title}, {document.environment.title}").encode()
    if source.replay is not None:
        members[names.REPLAY] = source.replay.read_bytes()
    return {names.CARD: to_card(document, config.environment.family.name, [*members]).encode(), **members}
