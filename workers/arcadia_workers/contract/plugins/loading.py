"""Import of the allowed packages, and registration of their parts."""

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint
from typing import Any, get_args

from arcadia_workers.contract.config import CONFIGURATIONS, METHODS, Method, TrainingConfig
from arcadia_workers.contract.environment_families import EnvironmentFamily
from arcadia_workers.contract.games import ENVIRONMENTS, NETWORKS, ActionKind, Environment, Network, ObservationKind
from arcadia_workers.contract.metrics import METRICS
from arcadia_workers.contract.plugins.discovery import SETTING, VERSION, Plugin, installed, package_names
from arcadia_workers.contract.presets import PRESETS, Preset
from arcadia_workers.contract.protocols import PROTOCOLS, EvaluationProtocol

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


NOT_INSTALLED = "It is not installed."
# Characters that a package may print while it is imported.
MAX_OUTPUT = 1_000_000
TOO_MUCH_OUTPUT = f"It printed more than {MAX_OUTPUT // 1_000_000} MB when it was imported."


@dataclass(frozen=True)
class LoadedPlugin:
    """An allowed package, and the result of loading it in this process."""

    name: str
    # None if it is not installed.
    version: str | None
    # Why none of its parts is available.
    problem: str | None = None
    # What it has added, such as ("method", "ppo").
    parts: tuple[tuple[str, str], ...] = ()


class PluginError(Exception):
    """A package cannot be used. The message says why."""


# The allowed packages of this process by name.
PLUGINS: dict[str, LoadedPlugin] = {}
# The package of each part that is not built in.
PROVIDERS: dict[tuple[str, str], str] = {}


def load(
    names: Sequence[str], groups: Sequence[Group] = GROUPS, begin: Callable[[str], None] = lambda _name: None
) -> None:
    """Import packages and register their parts. A faulty package gets a problem and adds nothing.

    `begin` receives the name of each package before it is imported.
    """
    new = [name for name in names if name not in PLUGINS or PLUGINS[name].problem]
    if not new:
        return  # before the search for packages, which reads a file of every installed one
    packages = installed()
    for name in new:
        package = packages.get(name)
        PLUGINS[name] = LoadedPlugin(name, package.version if package else None, None if package else NOT_INSTALLED)
    for group in groups:
        for name in new:
            if PLUGINS[name].problem is None:
                begin(name)
                points = [point for point in packages[name].entry_points if point.group == group.name]
                try:
                    _add(name, group, points)
                except PluginError as error:
                    version = PLUGINS[name].version
                    unload(name, groups)
                    PLUGINS[name] = LoadedPlugin(name, version, str(error))


def load_named_in_environment() -> None:
    """Load the packages that the parent process has checked, in a trainer or one of its processes."""
    load(package_names(os.environ.get(SETTING, "")))


def unload(name: str, groups: Sequence[Group] = GROUPS) -> None:
    """Remove the parts of a package from the registries."""
    by_noun = {group.noun: group for group in groups}
    for noun, key in PLUGINS.pop(name).parts if name in PLUGINS else ():
        by_noun[noun].remove(key)
        del PROVIDERS[noun, key]


def loaded_versions() -> dict[str, str]:
    """Return the versions of the packages that work."""
    return {plugin.name: plugin.version or "" for plugin in PLUGINS.values() if plugin.problem is None}


def _add(name: str, group: Group, points: Iterable[EntryPoint]) -> None:
    for point in points:
        for part in _parts(point, group):
            problem = next(group.problems(part), None)
            if problem is None and (key := group.key(part)) in group.registry:
                owner = PROVIDERS.get((group.noun, key), "Arcadia itself")
                problem = f"{owner} already has this {group.noun}"
            if problem is not None:
                raise PluginError(f"{point.value} is not usable: {_describe(group, part)}: {problem}.")
            group.add(part)
            PROVIDERS[group.noun, key] = name
            PLUGINS[name] = replace(PLUGINS[name], parts=(*PLUGINS[name].parts, (group.noun, key)))


def _parts(point: EntryPoint, group: Group) -> Iterator[Any]:
    plugin = _imported(point)
    if not isinstance(plugin, Plugin):
        raise PluginError(f"{point.value} must be a Plugin(interface={VERSION}, provides=[…]) of arcadia.plugins.")
    if plugin.interface != VERSION:
        raise PluginError(
            f"{point.value} was written for version {plugin.interface!r} of arcadia.plugins, but this Arcadia has "
            f"version {VERSION}. Install a version of the package for it."
        )
    for part in plugin.provides:
        if not isinstance(part, group.part):
            raise PluginError(f"{point.value} is in the group {group.name}, but provides {type(part).__name__}.")
        yield part


def _imported(point: EntryPoint) -> object:
    """Import an entry point. Its output must not mix with the documents of this process."""
    output = _Output()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            imported: object = point.load()
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise PluginError(f"{point.value} cannot be imported: {reason[:1_000]}") from error
    if output.written > MAX_OUTPUT:
        raise PluginError(TOO_MUCH_OUTPUT)
    return imported


class _Output(io.TextIOBase):
    """Output that counts its characters and discards them."""

    written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)


def _describe(group: Group, part: Any) -> str:
    try:
        return f"the {group.noun} {group.key(part)!r}"
    except AttributeError:
        return f"one {group.noun}"


# The fields of a configuration that can name a part of a plug-in.
_FIELDS = {"method": "algorithm", "environment": "env", "network": "network", "protocol": "evaluation_protocol"}


def needed_plugins(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the plug-ins whose parts a configuration names."""
    needed = {PROVIDERS.get((noun, str(config.get(field)))) for noun, field in _FIELDS.items()}
    return sorted(name for name in needed if name)


def missing_plugins(needed: str) -> str | None:
    """Return a clause about the needed plug-ins that this process lacks, or None if it has all."""
    if not needed:
        return None
    loaded = loaded_versions()
    missing = [name for name in package_names(needed) if name not in loaded]
    if not missing:
        return None
    return f"{joined(missing)} {'is' if len(missing) == 1 else 'are'} not installed or not allowed here"


def joined(names: Iterable[str]) -> str:
    """Return the names of plug-ins as a phrase, such as `the plug-ins a and b`."""
    listed = sorted(names)
    return f"the plug-in{'' if len(listed) == 1 else 's'} {' and '.join(listed)}"
