"""Opening of an uploaded agent file. It is checked completely before any of it is used."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from arcadia_backend.agents import stable_baselines
from arcadia_backend.agents.stable_baselines import GUARDS, BadAgent
from arcadia_workers.contract.agents import weights
from arcadia_workers.contract.agents.document import MANIFEST, VERSION, WEIGHTS, AgentDocument, AgentHeading, shape_of
from arcadia_workers.contract.agents.weights import Weights, WeightsError
from arcadia_workers.contract.config import TrainingConfig, config_adapter
from arcadia_workers.contract.config.problems import problems_of
from arcadia_workers.contract.layout import TRAINED_BY
from arcadia_workers.contract.tracks import with_current_names


@dataclass(frozen=True)
class OpenedAgent:
    """An agent of a file, ready to be stored."""

    name: str
    algorithm: str
    # The software that wrote the file.
    label: str
    config: TrainingConfig
    network: Mapping[str, Weights]
    step: int
    frames: int
    # Settings to show, if the configuration only describes the network.
    settings: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] | None = None
    # The hash of the checkpoint that it was exported from.
    source_sha256: str | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """Facts of its checkpoint."""
        return {} if self.settings is None else {TRAINED_BY: self.algorithm}


def open_agent(path: Path, max_file_bytes: int, env: str | None) -> OpenedAgent:
    """Read an agent file, or a Stable-Baselines3 model of this environment. Raise BadAgent if it cannot be imported."""
    with ExitStack() as stack, GUARDS.checking():
        opened, members = GUARDS.open(stack, stack.enter_context(path.open("rb")))
        GUARDS.check_sizes(members.values(), max_file_bytes)
        if stable_baselines.POLICY in members:
            return _of_stable_baselines(stable_baselines.read(opened, members), env)
        content = GUARDS.read_manifest(opened, members, MANIFEST)
        GUARDS.check_version(GUARDS.validate(AgentHeading, content, MANIFEST), VERSION)
        document = GUARDS.validate(AgentDocument, content, MANIFEST)
        contents = GUARDS.check_contents(opened, members, document.contents, MANIFEST)
        if WEIGHTS not in contents:
            raise BadAgent(f"The agent file is incomplete: {WEIGHTS} is missing.")
        return _of_arcadia(document, opened.read(WEIGHTS))


def _of_arcadia(document: AgentDocument, content: bytes) -> OpenedAgent:
    config = _validated(document.config)
    network = _read_weights(content)
    if shape_of(config, network) != document.network or document.network is None:
        raise BadAgent(
            f"{WEIGHTS} does not fit the network that {MANIFEST} describes, or needs a plug-in. Export the agent again."
        )
    trained_elsewhere = document.method.algorithm != document.config["algorithm"]
    return OpenedAgent(
        name=document.name,
        algorithm=document.method.algorithm,
        label=f"Arcadia {document.arcadia_version}"[:50],
        config=config,
        network=network,
        step=document.step,
        frames=document.frames,
        settings={"env": config.env} if trained_elsewhere else None,
        notes=tuple(
            f"Its file reports {each.mean:.6g} points, the mean of {len(each.scores)} episodes by {each.protocol}, "
            f"acting {each.acting}, seed {each.seed}."
            for each in document.evaluations
        ),
        versions=document.versions,
        source_sha256=document.checkpoint_sha256,
    )


def _of_stable_baselines(agent: stable_baselines.StableBaselinesAgent, env: str | None) -> OpenedAgent:
    if env is None:
        raise BadAgent(
            "This is a Stable-Baselines3 model, whose file does not have an environment. Name its environment, such as "
            "CartPole-v1."
        )
    config = _validated(agent.to_config(env))
    stable_baselines.check_actions(agent, config.environment)
    frames = agent.steps * config.environment.frames_per_step
    return OpenedAgent(
        name=f"{agent.algorithm} of Stable-Baselines3",
        algorithm=agent.algorithm,
        label=f"Stable-Baselines3 {agent.version}".strip()[:50],
        config=config,
        network=agent.network,
        step=agent.steps,
        frames=frames,
        settings=agent.settings,
    )


def _validated(values: dict[str, Any]) -> TrainingConfig:
    try:
        return config_adapter.validate_python(with_current_names(values))
    except ValidationError as error:
        problem, *_ = problems_of(error)
        raise BadAgent(
            f"The configuration of the agent is not valid here: {problem.field}: {problem.message}."
        ) from None


def _read_weights(content: bytes) -> dict[str, Weights]:
    try:
        tensors = weights.read(content)
        weights.check_numbers(tensors)
    except WeightsError as error:
        raise BadAgent(f"{WEIGHTS} cannot be used: {error}.") from None
    return tensors
