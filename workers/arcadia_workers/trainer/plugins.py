"""Check of plug-ins by the trainer."""

import sys
from collections.abc import Callable

from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.games import NETWORKS
from arcadia_workers.contract.plugins.discovery import resolve
from arcadia_workers.contract.plugins.loading import PLUGINS, load_named_in_environment

STEPS = 20


def main() -> int:
    """Check every part of the plug-ins that the environment names. Return 1 if any has a problem."""
    load_named_in_environment()
    status = 0
    for plugin in PLUGINS.values():
        problems = [plugin.problem] if plugin.problem else []
        for noun, key in plugin.parts:
            if noun in CHECKS:
                try:
                    CHECKS[noun](key)
                except Exception as error:  # of the plug-in
                    problems.append(f"{noun} {key}: {type(error).__name__}: {error}")
        parts = ", ".join(f"{noun} {key}" for noun, key in plugin.parts)
        print(f"{plugin.name} {plugin.version}: {' '.join(problems) or f'usable, with {parts}'}")
        status |= bool(problems)
    return status


def play(env: str) -> None:
    """Play random actions in an environment, as training and as replays do."""
    from arcadia_workers.trainer.environments.environments import GymnasiumEnvironments
    from arcadia_workers.trainer.environments.episodes import drawn  # loads torch, which takes seconds
    from arcadia_workers.trainer.games.games import GymnasiumGame
    from arcadia_workers.trainer.games.video import Frame

    batch = GymnasiumEnvironments(env, 2, 1)
    try:
        batch.reset()
        for actions in drawn(batch.actions, 2, 1)[:STEPS]:
            batch.send(actions)
            batch.receive()
    finally:
        batch.close()
    game = GymnasiumGame(env, filmed=True)
    try:
        game.begin(1)
        pictures: list[Frame] = []
        game.show(pictures.append)
        if game.observation.shape != batch.observation_shape:
            raise ValueError(f"observations have the shape {game.observation.shape}, not {batch.observation_shape}")
    finally:
        game.close()


def import_trainer(algorithm: str) -> None:
    """Import the trainer half of a method."""
    from arcadia_workers.trainer.methods import TRAINERS  # loads torch, which takes seconds

    if TRAINERS[algorithm].config is not CONFIGURATIONS[algorithm]:
        raise ValueError("its trainer has another configuration")


def import_network(name: str) -> None:
    """Import the function that builds a network."""
    resolve(NETWORKS[name].body)


CHECKS: dict[str, Callable[[str], None]] = {"environment": play, "method": import_trainer, "network": import_network}

if __name__ == "__main__":
    sys.exit(main())
