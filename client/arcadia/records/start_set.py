"""Start sets."""

from __future__ import annotations

from arcadia.records.record import Record


class StartSet(Record):
    """Stored start points of a game. Pass `id` to `run.evaluate(protocol, start_set=id)`."""

    @property
    def id(self) -> int:
        """Number of the set."""
        return int(self.data["id"])

    @property
    def name(self) -> str:
        """Name, unique for the game."""
        return str(self.data["name"])

    @property
    def env(self) -> str:
        """Environment of the game."""
        return str(self.data["env"])

    @property
    def player(self) -> str:
        """Who played the games: human or agent."""
        return str(self.data["player"])

    @property
    def protocol(self) -> str:
        """Protocol of evaluations from these points, such as agent-starts."""
        return str(self.data["protocol"])

    @property
    def points(self) -> int:
        """Number of points."""
        return int(self.data["points"])

    def __repr__(self) -> str:
        return f"<StartSet {self.id} {self.name!r} of {self.env}: {self.points} points>"
