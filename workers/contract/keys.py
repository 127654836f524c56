"""Mapping from a person's keys to actions, for every environment that a person can play."""

from collections.abc import Collection, Sequence

from workers.contract.orders import Key
from workers.contract.protocols.starts import MAX_ACTION

NO_ACTION = "NOOP"

Meaning = tuple[int, int, int]
"""Joystick state: right (1) or left (−1), up (1) or down (−1), and fire (1)."""

NO_KEY: Meaning = (0, 0, 0)

# Parts of action names for each key. The torque belongs to Acrobot.
_WORDS: dict[Key, tuple[str, ...]] = {
    "right": ("right", "torque +1"),
    "left": ("left", "torque −1"),
    "up": ("up", "forward", "main engine", "gas"),
    "down": ("down", "backward", "brake"),
    "fire": ("fire", "step "),
}


def meaning(name: str) -> Meaning:
    """Return the joystick state that an action's name describes."""
    meant = {key for key, words in _WORDS.items() if any(word in name.lower() for word in words)}
    return ("right" in meant) - ("left" in meant), ("up" in meant) - ("down" in meant), int("fire" in meant)


def are_playable(names: Sequence[str]) -> bool:
    """Return True if each of these actions has its own combination of keys."""
    return len(names) <= MAX_ACTION + 1 and len({meaning(name) for name in names}) == len(names) > 1


def allow_rest(names: Sequence[str]) -> bool:
    """Return True if one of these actions needs no key, so that a person can do nothing."""
    return any(meaning(name) == NO_KEY for name in names)


def use_fire(names: Sequence[str]) -> bool:
    """Return True if one of these actions needs the fire key."""
    return any(meaning(name)[2] for name in names)


def nearest(held: Collection[Key], names: Sequence[str]) -> str:
    """Return the action that is closest to the held keys; the first one if several are.

    A person can always do nothing. If the action set has no such action, the result is NO_ACTION.
    """
    across, up = ("right" in held) - ("left" in held), ("up" in held) - ("down" in held)
    meant = {name: meaning(name) for name in names}
    # Pong's paddle moves up with RIGHT. If a game uses one axis only, the keys of the other axis work too.
    if not any(each[1] for each in meant.values()):
        across, up = across or up, 0
    elif not any(each[0] for each in meant.values()):
        across, up = 0, up or across
    wish = (across, up, int("fire" in held))
    choices = meant if allow_rest(names) else {NO_ACTION: NO_KEY} | meant
    return min(choices, key=lambda name: sum(abs(a - b) for a, b in zip(choices[name], wish, strict=True)))
