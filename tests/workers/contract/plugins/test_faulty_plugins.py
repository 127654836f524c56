"""Tests that a faulty package is reported, adds nothing, and does not affect other packages."""

from textwrap import indent

import pytest

from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.plugins.loading import NOT_INSTALLED, PLUGINS, PROVIDERS
from arcadia_workers.contract.plugins.trial import find_problems, load_after_trial
from tests.plugin_packages import ONE_ENVIRONMENT, Site

HEAD = """
    from typing import Literal
    from pydantic import ConfigDict, Field
    from arcadia.plugins import (
        CLASSIC_CONTROL, CONFIGURATIONS, Environment, EnvironmentFamily, EvaluationProtocol, Method, Network, Plugin,
        Preset, TrainingConfig,
    )
"""


def parts(provided: str, interface: int = 1) -> str:
    """Return the code of a package that provides one part."""
    return f"{HEAD}    PARTS = Plugin(interface={interface}, provides=[{provided}])\n"


def method(body: str, trainer: str = "toy.trainer:TOY") -> str:
    """Return the code of a package that provides a method."""
    config = f"    class ToyConfig(TrainingConfig):\n{indent(body, ' ' * 8)}\n"
    return f"{HEAD}{config}    PARTS = Plugin(interface=1, provides=[Method(ToyConfig, {trainer!r})])\n"


NAMED = 'algorithm: Literal["toy"] = Field("toy", title="Algorithm", description="It.")\nenv: str = Field("CartPole-v1"'
CHECKED = "validate_default=True"
TITLED = 'model_config = ConfigDict(title="Toy")\n'

FAULTY = {
    "raises": ("raise ValueError('no luck')", "environments", "toy:PARTS cannot be imported: ValueError: no luck"),
    "lacks a library": ("import no_such_library", "environments", "ModuleNotFoundError: No module named"),
    "exits": ("import sys; sys.exit(3)", "environments", "cannot be imported: SystemExit: 3"),
    "ends the process": ("import os; os._exit(3)", "environments", "Its import ended the process with status 3."),
    "kills itself": ("import os; os.kill(os.getpid(), 9)", "environments", "ended the process with status -9"),
    "prints megabytes": ("print('x' * 3_000_000)\nPARTS = 1", "environments", "printed more than 1 MB"),
    "writes megabytes": ("import os; os.write(1, b'x' * 3_000_000)", "environments", "printed more than 1 MB"),
    "lacks the name": ("OTHER = 1", "environments", "AttributeError"),
    "is no plug-in": ("PARTS = []", "environments", "must be a Plugin(interface=1, provides=[…])"),
    "has a newer version": (
        parts('Environment("Toy/A-v0", "A", CLASSIC_CONTROL)', interface=2),
        "environments",
        "was written for version 2 of arcadia.plugins, but this Arcadia has version 1",
    ),
    "is in another group": (
        parts('Environment("Toy/A-v0", "A", CLASSIC_CONTROL)'),
        "methods",
        "provides Environment",
    ),
    "shadows an environment": (
        parts('Environment("CartPole-v1", "Mine", CLASSIC_CONTROL)'),
        "environments",
        "the environment 'CartPole-v1': Arcadia itself already has this environment",
    ),
    "names a module in an id": (
        parts('Environment("os:Toy-v0", "Mine", CLASSIC_CONTROL)'),
        "environments",
        "its id must look like",
    ),
    "claims to be Atari": (
        parts('Environment("Toy/A-v0", "A", EnvironmentFamily(name="toy", title="Toy", simulator="ale"))'),
        "environments",
        "has capabilities that only Atari games have",
    ),
    "has another family of a name": (
        parts('Environment("Toy/A-v0", "A", EnvironmentFamily(name="mujoco", title="Toy"))'),
        "environments",
        "there is another family mujoco",
    ),
    "has an odd observation": (
        parts('Environment("Toy/A-v0", "A", CLASSIC_CONTROL, observations="smells")'),
        "environments",
        "its observations must be one of vector, pixels",
    ),
    "shadows a method": (
        method(f'{TITLED}{NAMED.replace("toy", "paac")}, title="E", description="E.")'),
        "methods",
        "the method 'paac': Arcadia itself already has this method",
    ),
    "has no algorithm": (method(TITLED), "methods", 'its configuration needs a field like algorithm: Literal["ppo"]'),
    "has no title": (method(f'{NAMED}, title="E", description="E.")'), "methods", "its configuration has no title"),
    "has a field without help": (
        method(f'{TITLED}{NAMED}, title="E", description="E.")\nwidth: int = 1'),
        "methods",
        "its field width has no title or no description",
    ),
    "has an unknown environment": (
        method(f'{TITLED}{NAMED.replace("CartPole-v1", "Nowhere-v0")}, title="E", description="E.", {CHECKED})'),
        "methods",
        "its configuration with default values is not valid",
    ),
    "has no reference": (
        method(f'{TITLED}{NAMED}, title="E", description="E.")', trainer="no reference"),
        "methods",
        "must look like package.module:NAME",
    ),
    "has no configuration": (parts('Method(int, "a:B")'), "methods", "must inherit from TrainingConfig"),
    "has a network called auto": (
        parts('Network("auto", "none", "vector", "a:b")'),
        "networks",
        "its name must be lower-case letters",
    ),
    "has start points": (
        parts('EvaluationProtocol("toy", "Toy", "It.", "None.", "starts", 1)'),
        "protocols",
        "start sets belong to built-in protocols",
    ),
    "shadows a preset": (
        parts('Preset("paac-pong", "Mine", "It.", "None.", CONFIGURATIONS["paac"]())'),
        "presets",
        "Arcadia itself already has this preset",
    ),
}


@pytest.mark.required_cases(6)
@pytest.mark.parametrize(("code", "group", "problem"), FAULTY.values(), ids=FAULTY.keys())
def test_a_faulty_package_is_reported_and_adds_nothing(site: Site, code: str, group: str, problem: str) -> None:
    site.install("toy", code, group=f"arcadia.{group}")
    site.install("good")
    load_after_trial(["toy", "good"])
    assert problem in str(PLUGINS["toy"].problem)
    assert (PLUGINS["toy"].version, PLUGINS["toy"].parts) == ("1.0", ())
    assert PLUGINS["good"].problem is None
    assert PROVIDERS == {("environment", "Toy/One-v0"): "good"}


@pytest.mark.nightly
def test_a_package_that_hangs_is_killed(site: Site) -> None:
    site.install("toy", "import time; time.sleep(600)")
    site.install("good")
    assert find_problems(["toy", "good"], seconds=5.0) == {"toy": "Its import did not end within 5 s."}


def test_two_packages_cannot_have_the_same_environment(site: Site) -> None:
    site.install("first")
    site.install("second")
    load_after_trial(["first", "second"])
    assert "first already has this environment" in str(PLUGINS["second"].problem)
    assert PROVIDERS["environment", "Toy/One-v0"] == "first"


def test_a_package_that_fails_late_leaves_nothing_behind(site: Site) -> None:
    points = {"arcadia.environments": "toy:PARTS", "arcadia.presets": "toy:NONE"}
    site.install("toy", ONE_ENVIRONMENT, points=points)
    load_after_trial(["toy"])
    assert "has no attribute 'NONE'" in str(PLUGINS["toy"].problem)
    assert "Toy/One-v0" not in ENVIRONMENTS
    assert PROVIDERS == {}


def test_a_package_that_is_not_installed_is_reported(site: Site) -> None:
    load_after_trial(["no-such-package"])
    assert (PLUGINS["no-such-package"].version, PLUGINS["no-such-package"].problem) == (None, NOT_INSTALLED)
    assert site.folder.exists()


def test_output_of_a_package_does_not_reach_the_documents_of_this_process(
    site: Site, capfd: pytest.CaptureFixture[str]
) -> None:
    site.install("toy", f"print('hello')\n{ONE_ENVIRONMENT.replace(chr(10) + '    ', chr(10))}")
    load_after_trial(["toy"])
    assert PLUGINS["toy"].problem is None
    assert capfd.readouterr().out == ""


def test_a_package_that_is_not_allowed_is_not_imported(site: Site) -> None:
    site.install("toy", f"open({str(site.folder / 'imported')!r}, 'w')")
    site.install("good")
    load_after_trial(["good"])
    assert not (site.folder / "imported").exists()
