"""Names of an environment's actions, by index. For continuous actions, names of the numbers."""

from dataclasses import dataclass

from arcadia_workers.contract.games import ENVIRONMENTS


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


# The names of Atari actions come from the emulator.
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


_HUMANOID = (
    "abdomen y,abdomen z,abdomen x,right hip x,right hip z,right hip y,right knee,left hip x,left hip z,left hip y,"
    "left knee,right shoulder 1,right shoulder 2,right elbow,left shoulder 1,left shoulder 2,left elbow"
).split(",")

# The joint of each number of a MuJoCo action, in the order of the model's motors.
MUJOCO_JOINTS: dict[str, tuple[str, ...]] = {
    "Ant": ("hip 4", "ankle 4", "hip 1", "ankle 1", "hip 2", "ankle 2", "hip 3", "ankle 3"),
    "HalfCheetah": ("back thigh", "back shin", "back foot", "front thigh", "front shin", "front foot"),
    "Hopper": ("thigh", "leg", "foot"),
    "Humanoid": tuple(_HUMANOID),
    "HumanoidStandup": tuple(_HUMANOID),
    "InvertedDoublePendulum": ("cart",),
    "InvertedPendulum": ("cart",),
    "Pusher": (
        "shoulder pan",
        "shoulder lift",
        "upper arm roll",
        "elbow flex",
        "forearm roll",
        "wrist flex",
        "wrist roll",
    ),
    "Reacher": ("shoulder", "elbow"),
    "Swimmer": ("rotor 1", "rotor 2"),
    "Walker2d": ("right thigh", "right leg", "right foot", "left thigh", "left leg", "left foot"),
}
NAMES |= {f"{task}-v5": joints for task, joints in MUJOCO_JOINTS.items()}
NAMES |= {f"Arcadia/{task}Pixels-v0": joints for task, joints in MUJOCO_JOINTS.items()}


def action_names(env: str, actions: ActionSpace) -> tuple[str, ...]:
    """Return the names of the actions of an environment other than an Atari game."""
    named = ENVIRONMENTS[env].action_names or NAMES.get(env)
    if named:
        return named
    size = actions.size if isinstance(actions, Continuous) else actions.count
    kind = "torque" if isinstance(actions, Continuous) else "action"
    return tuple(f"{kind} {i + 1}" for i in range(size))
