"""Control of an Atari game by a viewer: who plays, the held keys, and the action that they mean."""

import time
from collections.abc import Callable, Collection, Sequence

from workers.contract.orders import SILENT_HANDS_SECONDS, Key

NO_ACTION = "NOOP"

Meaning = tuple[int, int, int]
"""Joystick state: right (1) or left (−1), up (1) or down (−1), and fire (1)."""


class Hands:
    """The viewer who plays, if any, and the keys that they hold."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.free()

    def free(self) -> None:
        """Remove the playing viewer."""
        self.viewer: str | None = None
        self._held: frozenset[Key] = frozenset()
        self._pressed: frozenset[Key] = frozenset()

    def take(self, viewer: str) -> None:
        """Let a viewer play unless another one does."""
        if self.viewer is None:
            self.viewer = viewer
            self.hear(viewer)

    def hear(self, viewer: str) -> None:
        """Record that a viewer is still connected."""
        if viewer == self.viewer:
            self._heard = self._clock()

    @property
    def silent(self) -> bool:
        """True if the playing viewer has been silent for too long."""
        return self.viewer is not None and self._clock() - self._heard > SILENT_HANDS_SECONDS

    def hold(self, viewer: str, keys: Collection[Key]) -> None:
        """Set the held keys if this viewer plays."""
        if viewer == self.viewer:
            self._pressed |= frozenset(keys) - self._held
            self._held = frozenset(keys)

    def action(self, names: Sequence[str]) -> str:
        """Return the action for the next frame. A short key press counts for at least one frame."""
        held, self._pressed = self._held | self._pressed, frozenset()
        return nearest(held, names)


def nearest(held: Collection[Key], names: Sequence[str]) -> str:
    """Return the game's action that is closest to the held keys; the first one if several are."""
    across, up = ("right" in held) - ("left" in held), ("up" in held) - ("down" in held)
    meant = [_meaning(name) for name in names]
    # Pong's paddle moves up with RIGHT. If a game uses one axis only, the keys of the other axis work too.
    if not any(each[1] for each in meant):
        across, up = across or up, 0
    elif not any(each[0] for each in meant):
        across, up = 0, up or across
    wish = (across, up, int("fire" in held))
    # A person can always do nothing, even if the action set lacks it.
    choices = dict(zip((NO_ACTION, *names), ((0, 0, 0), *meant), strict=True))
    return min(choices, key=lambda name: sum(abs(a - b) for a, b in zip(choices[name], wish, strict=True)))


def _meaning(name: str) -> Meaning:
    return ("RIGHT" in name) - ("LEFT" in name), ("UP" in name) - ("DOWN" in name), int("FIRE" in name)
