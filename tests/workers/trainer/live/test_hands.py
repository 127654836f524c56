"""Tests that held keys give the nearest action of each game."""

from collections.abc import Sequence

import pytest

from arcadia_workers.contract.action_names import NAMES
from arcadia_workers.contract.games import ENVIRONMENTS
from arcadia_workers.contract.live import KEYS, Key, allow_rest, are_playable, nearest, use_fire
from arcadia_workers.trainer.games.emulator import game_of
from arcadia_workers.trainer.live.connection import PlayerInput

ATARI = [env for env in ENVIRONMENTS if env.startswith("ALE/")]


def chosen(env: str, *held: Key) -> str:
    """Return the action of a game for some keys."""
    return nearest(held, [action.name for action in game_of(f"ALE/{env}-v5")[1]])


@pytest.mark.parametrize(
    ("env", "held", "action"),
    [
        ("Seaquest", ("up", "right", "fire"), "UPRIGHTFIRE"),
        ("Seaquest", ("left", "right"), "NOOP"),
        ("Pong", ("up",), "RIGHT"),
        ("Pong", ("down", "fire"), "LEFTFIRE"),
        ("Pong", ("left",), "LEFT"),
        ("Freeway", ("left",), "DOWN"),
        ("Freeway", ("up", "fire"), "UP"),
        ("Qbert", ("up", "right"), "UP"),
        ("Breakout", ("left", "fire"), "FIRE"),
        ("Atlantis", ("left",), "NOOP"),
        ("Atlantis", ("left", "fire"), "LEFTFIRE"),
        ("MsPacman", ("fire",), "NOOP"),
        ("VideoCheckers", ("left",), "NOOP"),
        ("VideoCheckers", ("left", "down"), "DOWNLEFT"),
    ],
)
def test_keys_give_the_nearest_action_of_the_game(env: str, held: tuple[Key, ...], action: str) -> None:
    assert chosen(env, *held) == action


@pytest.mark.parametrize(
    "games",
    [
        # Opening a game takes 0.2 s, so the required tests try every twelfth game.
        pytest.param(ATARI[::12], id="some games"),
        pytest.param(ATARI, id="every game", marks=pytest.mark.nightly),
    ],
)
def test_a_person_can_rest_and_take_each_action_of_every_game(games: list[str]) -> None:
    for env in games:
        names = [action.name for action in game_of(env)[1]]
        assert nearest((), names) == "NOOP", env
        for name in names:
            assert nearest([key for key in KEYS if key.upper() in name], names) == name, env


@pytest.mark.parametrize(
    ("env", "held", "action"),
    [
        ("CartPole-v1", ("left",), "left"),
        ("CartPole-v1", (), "NOOP"),
        ("CartPole-v1", ("fire",), "NOOP"),
        ("MountainCar-v0", (), "coast"),
        ("Acrobot-v1", ("right",), "torque +1"),
        ("LunarLander-v3", ("up",), "main engine"),
        ("Arcadia/CarRacing-v0", ("down",), "brake"),
        ("Arcadia/Labyrinth-v0", ("up",), "forward"),
        ("Arcadia/Labyrinth-v0", ("left",), "turn left"),
        ("Arcadia/Labyrinth-v0", ("left", "fire"), "step left"),
        ("Arcadia/Labyrinth-v0", (), "NOOP"),
    ],
)
def test_keys_give_actions_of_other_environments(env: str, held: tuple[Key, ...], action: str) -> None:
    assert are_playable(NAMES[env])
    assert nearest(held, NAMES[env]) == action


@pytest.mark.parametrize("names", [["1", "2"], ["orange", "blue"], ["left"], ["left", "turn left"]])
def test_actions_without_separate_keys_cannot_be_played(names: list[str]) -> None:
    assert not are_playable(names)


@pytest.mark.parametrize(
    ("names", "rests"),
    [(["NOOP", "up"], True), (NAMES["MountainCar-v0"], True), (NAMES["CartPole-v1"], False)],
)
def test_a_person_can_rest_if_an_action_needs_no_key(names: Sequence[str], rests: bool) -> None:
    assert allow_rest(names) == rests


def test_the_fire_key_is_offered_if_an_action_needs_it() -> None:
    assert {env for env, names in NAMES.items() if use_fire(names)} == {"Arcadia/Labyrinth-v0"}
    assert use_fire(["NOOP", "FIRE", "RIGHTFIRE"])


def test_one_viewer_holds_the_hands_until_they_are_free() -> None:
    hands = PlayerInput()
    hands.hold("a", ["up"])
    hands.take("a")
    hands.take("b")
    hands.hold("b", ["down"])
    assert (hands.viewer, hands.action(["UP", "DOWN"])) == ("a", "NOOP")
    hands.hold("a", ["up"])
    assert hands.action(["UP", "DOWN"]) == "UP"
    hands.free()
    hands.take("b")
    assert (hands.viewer, hands.action(["UP", "DOWN"])) == ("b", "NOOP")
