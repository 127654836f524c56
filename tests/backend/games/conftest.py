"""Fixture of evaluated runs of Atari games."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.factories import Api, start_set

NO_OP_5MIN = {"protocol": "no-op-5min", "env": "ALE/Pong-v5"}
ENOUGH = 30


@dataclass
class Scorer:
    """A client that trains and evaluates runs."""

    api: Api

    def run(self, env: str = "ALE/Pong-v5", **more: Any) -> int:
        """Create a finished run with a checkpoint."""
        return self.run_with_checkpoints(1, env, **more)[0]

    def run_with_checkpoints(self, many: int, env: str = "ALE/Pong-v5", **more: Any) -> tuple[int, list[int]]:
        """Create a finished run. Return its id and the ids of its checkpoints."""
        algorithm = more.pop("algorithm", "paac")
        config = {"algorithm": algorithm, "env": env, "total_steps": 1_000}
        run_id, attempt = self.api.running(config=config | ({"num_envs": 4} if algorithm == "paac" else {}), **more)
        saved = [self.api.save(run_id, attempt, 2 + number, 100 * (1 + number)) for number in range(many)]
        self.api.release(run_id, attempt, "finished")
        return run_id, saved

    def evaluate(self, run_id: int, mean: Any, protocol: str = "no-op-5min", **more: Any) -> int:
        """Evaluate a run with this mean. Return the id of the evaluation."""
        episodes = more.pop("episodes", ENOUGH)
        chosen = {name: more.pop(name) for name in ("checkpoint", "acting", "seed") if name in more}
        queued = self.api.evaluate(run_id, protocol=protocol, episodes=episodes, **chosen)
        spread = [float(mean) - 1, float(mean) + 1] if mean != "NaN" else ["NaN", "NaN"]
        self.api.play([mean] * episodes, mean=mean, interval=more.pop("interval", spread), protocol=protocol, **more)
        return int(queued["id"])

    def evaluate_from_points(
        self, run_id: int, env: str = "ALE/Pong-v5", points: int = 100, episodes: int | None = None
    ) -> str:
        """Evaluate a run from a start set of an agent's play. Return the SHA-256 of the set."""
        stored = self.api.import_starts(start_set("agent", points, env), f"{points} points")
        self.api.evaluate(run_id, protocol="agent-starts", start_set=stored["id"], episodes=episodes)
        used = {"player": "agent", "sha256": stored["sha256"], "starts": points, "source": "paac"}
        self.api.play([4.0] * (episodes or points), protocol="agent-starts", env=env, starts=used)
        return str(stored["sha256"])

    def scored(self, env: str, mean: Any, protocol: str = "no-op-5min", **more: Any) -> int:
        """Create a run with a score. Return its id."""
        run_id = self.run(env, **more)
        self.evaluate(run_id, mean, protocol)
        return run_id

    def games(self) -> dict[str, Any]:
        """Return the response for all games, with the games by slug."""
        answer: dict[str, Any] = self.api.user.get("/api/v1/games").json()
        return {**answer, "games": {game["slug"]: game for game in answer["games"]}}

    def game(self, slug: str) -> dict[str, Any]:
        """Return the response for one game."""
        response = self.api.user.get(f"/api/v1/games/{slug}")
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer


@pytest.fixture
def scorer(api: Api) -> Scorer:
    """Return a client that trains and evaluates runs."""
    return Scorer(api)
