"""What an environment's actions are called, by their number; for continuous actions, what each number sets."""

from workers.contract.games import ENVIRONMENTS
from workers.contract.spaces import ActionSpace, Continuous

# Atari's names are the emulator's, for those that a game has.
NAMES: dict[str, tuple[str, ...]] = {
    "Arcadia/Identity-v0": ("1", "2", "3", "4"),
    "Arcadia/Catch-v0": ("left", "stay", "right"),
    "Arcadia/Recall-v0": ("orange", "blue"),
    "Arcadia/Target-v0": ("to the right", "up"),
    "CartPole-v1": ("left", "right"),
    "Acrobot-v1": ("torque −1", "no torque", "torque +1"),
    "MountainCar-v0": ("left", "coast", "right"),
    "MountainCarContinuous-v0": ("force",),
    "Pendulum-v1": ("torque",),
    "LunarLander-v3": ("coast", "left engine", "main engine", "right engine"),
    "LunarLanderContinuous-v3": ("main engine", "side engines"),
    "BipedalWalker-v3": ("hip 1", "knee 1", "hip 2", "knee 2"),
    "BipedalWalkerHardcore-v3": ("hip 1", "knee 1", "hip 2", "knee 2"),
    "Arcadia/CarRacing-v0": ("coast", "right", "left", "gas", "brake"),
    "Arcadia/CarRacingContinuous-v0": ("steering", "gas", "brake"),
    "Arcadia/Labyrinth-v0": ("forward", "turn left", "turn right", "step left", "step right"),
}


def action_names(env: str, actions: ActionSpace) -> tuple[str, ...]:
    """Name the actions of an environment that is not the Atari emulator."""
    named = NAMES.get(ENVIRONMENTS[env].id)
    if named:
        return named
    size = actions.size if isinstance(actions, Continuous) else actions.count
    kind = "number" if isinstance(actions, Continuous) else "action"
    return tuple(f"{kind} {i + 1}" for i in range(size))
