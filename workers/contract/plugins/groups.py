"""The kinds of parts that plug-ins add: one entry-point group, registry and check each."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from workers.contract.config import CONFIGURATIONS, METHODS, Method, TrainingConfig
from workers.contract.environment_families import EnvironmentFamily
from workers.contract.games import ENVIRONMENTS, ActionKind, Environment, ObservationKind
from workers.contract.metrics import METRICS
from workers.contract.networks import NETWORKS, Network
from workers.contract.presets import PRESETS, Preset
from workers.contract.protocols import PROTOCOLS, EvaluationProtocol

# Like gymnasium's ids, but without a module.
ENVIRONMENT_ID = re.compile(r"([A-Za-z0-9_-]+/)?[A-Za-z0-9_.-]+-v\d+")
NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")
ALGORITHM = re.compile(r"[a-z][a-z0-9_]{0,49}")
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
REFERENCE = re.compile(rf"{MODULE.pattern}:[A-Za-z_]\w*")


@dataclass(frozen=True)
class Group:
    """One kind of part."""

    # The group of the entry points, such as arcadia.environments.
    name: str
    noun: str
    part: type[Any]
    registry: dict[str, Any]
    # The part's name in the registry.
    key: Callable[[Any], str]
    # Yields the problems of a part.
    problems: Callable[[Any], Iterator[str]]

    def add(self, part: Any) -> None:
        """Register a part."""
        self.registry[self.key(part)] = part
        if isinstance(part, Method):
            CONFIGURATIONS[part.algorithm] = part.config
            METRICS.update({metric.name: metric for metric in part.metrics if metric.name not in METRICS})

    def remove(self, key: str) -> None:
        """Remove a part from the registry."""
        part = self.registry.pop(key)
        if isinstance(part, Method):
            del CONFIGURATIONS[key]


def _environment_problems(environment: Environment) -> Iterator[str]:
    if not ENVIRONMENT_ID.fullmatch(environment.id):
        yield "its id must look like Name-v0 or Group/Name-v0"
    if not environment.title:
        yield "it has no title"
    if environment.observations not in get_args(ObservationKind):
        yield f"its observations must be one of {', '.join(get_args(ObservationKind))}"
    if environment.actions not in get_args(ActionKind):
        yield f"its actions must be one of {', '.join(get_args(ActionKind))}"
    if environment.module is not None and not MODULE.fullmatch(environment.module):
        yield f"{environment.module!r} is not the name of a module"
    yield from _family_problems(environment.family)


def _family_problems(family: EnvironmentFamily) -> Iterator[str]:
    if not isinstance(family, EnvironmentFamily):
        yield "its family must be an EnvironmentFamily"
        return
    if family.simulator == "ale" or family.has_game_pages or family.has_start_points:
        yield f"its family {family.name} has capabilities that only Atari games have"
    others = {environment.family.name: environment.family for environment in ENVIRONMENTS.values()}
    if others.get(family.name, family) != family:
        yield f"there is another family {family.name}"


def _network_problems(network: Network) -> Iterator[str]:
    if not NAME.fullmatch(network.name) or network.name == "auto":
        yield "its name must be lower-case letters, digits and dashes"
    if network.reads not in get_args(ObservationKind):
        yield f"it must read one of {', '.join(get_args(ObservationKind))}"
    if not REFERENCE.fullmatch(network.body):
        yield f"its body {network.body!r} must look like package.module:NAME"


def _protocol_problems(protocol: EvaluationProtocol) -> Iterator[str]:
    if not NAME.fullmatch(protocol.name) or protocol.name == "auto":
        yield "its name must be lower-case letters, digits and dashes"
    if protocol.opening == "starts" or protocol.starts_from is not None:
        yield "start sets belong to built-in protocols"
    if protocol.episodes < 1:
        yield "it has no episodes"


def _method_problems(method: Method) -> Iterator[str]:
    config = method.config
    if not (isinstance(config, type) and issubclass(config, TrainingConfig)):
        yield "its configuration must inherit from TrainingConfig"
        return
    algorithm = config.model_fields["algorithm"]
    if get_args(algorithm.annotation) != (algorithm.default,):
        yield 'its configuration needs a field like algorithm: Literal["ppo"] = "ppo"'
        return
    if not ALGORITHM.fullmatch(method.algorithm):
        yield "its algorithm must be lower-case letters, digits and underscores"
    if not config.model_config.get("title"):
        yield "its configuration has no title: add model_config = ConfigDict(title=…)"
    if not REFERENCE.fullmatch(method.trainer):
        yield f"its trainer {method.trainer!r} must look like package.module:NAME"
    for name, field in config.model_fields.items():
        if name != "algorithm" and not (field.title and field.description):
            yield f"its field {name} has no title or no description, which the launch form shows"
    try:
        config.model_json_schema()
        config.model_validate({})
    except Exception as error:  # of pydantic, or of the class itself
        yield f"its configuration with default values is not valid: {' '.join(str(error).split())}"


def _preset_problems(preset: Preset) -> Iterator[str]:
    if not NAME.fullmatch(preset.name):
        yield "its name must be lower-case letters, digits and dashes"
    if not isinstance(preset.config, TrainingConfig) or type(preset.config) not in CONFIGURATIONS.values():
        yield "its configuration is not of a registered method"


GROUPS = (
    Group(
        "arcadia.environments",
        "environment",
        Environment,
        ENVIRONMENTS,
        lambda part: part.id,
        _environment_problems,
    ),
    Group("arcadia.networks", "network", Network, NETWORKS, lambda part: part.name, _network_problems),
    Group("arcadia.protocols", "protocol", EvaluationProtocol, PROTOCOLS, lambda part: part.name, _protocol_problems),
    Group("arcadia.methods", "method", Method, METHODS, lambda part: part.algorithm, _method_problems),
    Group("arcadia.presets", "preset", Preset, PRESETS, lambda part: part.name, _preset_problems),
)
