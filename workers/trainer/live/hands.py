"""Control of a game by a viewer: who plays, the held keys, and the action that they mean."""

import time
from collections.abc import Callable, Collection, Sequence

from workers.contract.keys import NO_ACTION, nearest
from workers.contract.orders import SILENT_HANDS_SECONDS, Key


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
        action = self._wish(names)
        self._pressed = frozenset()
        return action

    def mean_action(self, names: Sequence[str]) -> bool:
        """Return True if the keys mean an action other than none."""
        return self._wish(names) != NO_ACTION

    def _wish(self, names: Sequence[str]) -> str:
        return nearest(self._held | self._pressed, names)
