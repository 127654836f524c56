"""Action spaces: a choice of one action, or several numbers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Discrete:
    """A choice of one of `count` actions, as an int64."""

    count: int


@dataclass(frozen=True)
class Continuous:
    """Bounded float32 numbers."""

    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        """Return the number of numbers in one action."""
        return len(self.low)


ActionSpace = Discrete | Continuous


def number_of_actions(actions: ActionSpace) -> int:
    """Return the number of actions. Raise TypeError if actions are continuous."""
    if isinstance(actions, Continuous):
        raise TypeError(f"this method chooses among actions, but the environment takes {actions.size} numbers")
    return actions.count
