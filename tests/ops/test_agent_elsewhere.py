"""An agent file plays in a bare environment, with the scores of an evaluation in Arcadia."""

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.trainer.host import devices
from tests.ops.test_installed_wheels import INSTALL_SECONDS, new_environment, run
from tests.workers.trainer.agents.made_agents import config_of, evaluate, unpacked

# All packages in the first line of the README, in the versions of this environment.
PACKAGES = ("torch", "numpy", "gymnasium", "ale-py")

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(INSTALL_SECONDS)]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with only the packages in the README."""
    programs = new_environment(tmp_path_factory.mktemp("bare") / "environment")
    pinned = [f"{name}=={version(name).partition('+')[0]}" for name in PACKAGES]
    run(programs / "python", "-m", "pip", "install", "--quiet", *pinned, cwd=Path(sys.prefix))
    return programs / "python"


@pytest.mark.parametrize(("title", "protocol"), [("lstm", "episodes"), ("pong", "no-op-5min")])
def test_the_scores_are_those_of_an_evaluation(python: Path, tmp_path: Path, title: str, protocol: str) -> None:
    devices.compute_in(1)
    agent = unpacked(tmp_path, config_of(title))
    expected = evaluate(agent.directory, PROTOCOLS[protocol], 3, 3)
    printed = run(python, "play.py", "--episodes", 3, "--seed", 3, "--protocol", protocol, cwd=agent.folder)
    scores = {int(number): float(score) for number, score in re.findall(r"episode (\d+): (\S+)", printed)}
    assert [scores[number] for number in range(3)] == expected
    assert not run(python, "-m", "pip", "list", cwd=tmp_path).lower().count("arcadia")
