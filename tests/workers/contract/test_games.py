"""Tests for the list of environments: suggestions for wrong names, and the methods that fit."""

import pytest
from pydantic import ValidationError

from arcadia_workers.contract.config import CONFIGURATIONS, config_adapter, methods_for
from arcadia_workers.contract.config.problems import problems_of
from arcadia_workers.contract.games import ENVIRONMENTS, close_to, id_of


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Breakot", "ALE/Breakout-v5"),
        ("PongNoFrameskip-v4", "ALE/Pong-v5"),
        ("ALE/SpaceInvader-v5", "ALE/SpaceInvaders-v5"),
        ("cartpole", "CartPole-v1"),
        ("LunarLander-v2", "LunarLander-v3"),
        ("CarRacing-v3", "Arcadia/CarRacing-v0"),
        ("Cheetah", "HalfCheetah-v5"),
        ("Labirinth", "Arcadia/Labyrinth-v0"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(written: str, meant: str) -> None:
    assert close_to(written)[0] == meant
    assert len(close_to(written)) <= 5


@pytest.mark.parametrize("written", ["", "os:system", "Doom", "-v5", "x" * 1_000_000])
def test_a_name_unlike_all_others_gets_no_suggestion(written: str) -> None:
    assert close_to(written) == []


@pytest.mark.parametrize(
    ("name", "env"),
    [
        ("pong", "ALE/Pong-v5"),
        ("ALE/Pong-v5", "ALE/Pong-v5"),
        ("ms_pacman", "ALE/MsPacman-v5"),
        ("tic_tac_toe_3d", "ALE/TicTacToe3D-v5"),
        ("CartPole", "CartPole-v1"),
        ("catch", "Arcadia/Catch-v0"),
    ],
)
def test_short_names_of_environments_are_accepted(name: str, env: str) -> None:
    assert id_of(name) == env


def test_every_environment_is_found_by_its_short_name() -> None:
    assert [id_of(env.split("/")[-1].rsplit("-", 1)[0]) for env in ENVIRONMENTS] == list(ENVIRONMENTS)


def test_misspelled_short_names_are_rejected_with_a_suggestion() -> None:
    with pytest.raises(ValueError, match="did you mean ALE/Pong-v5"):
        id_of("pongg")


@pytest.mark.parametrize("algorithm", CONFIGURATIONS)
def test_each_method_accepts_fitting_environments_and_explains_other_refusals(algorithm: str) -> None:
    refused = []
    for env, known in ENVIRONMENTS.items():
        if algorithm in methods_for(known):
            config_adapter.validate_python({"algorithm": algorithm, "env": env})
            continue
        with pytest.raises(ValidationError) as refusal:
            config_adapter.validate_python({"algorithm": algorithm, "env": env})
        (problem,) = problems_of(refusal.value)
        assert problem.field == "env"
        assert problem.message == (
            f"{algorithm} cannot learn {env}, because its actions are continuous: choose a3c or ppo, or another "
            "environment"
        )
        refused.append(env)
    continuous = [env for env, known in ENVIRONMENTS.items() if known.actions == "continuous"]
    assert refused == ([] if algorithm in ("a3c", "ppo") else continuous)
