"""The environments, with the networks that fit them."""

import difflib
import re
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import AfterValidator

from arcadia_workers.contract import environment_families as families
from arcadia_workers.contract.environment_families import EnvironmentFamily
from arcadia_workers.contract.inference.means import UNBOUNDED, Bounds

# vector: readings of sensors. pixels: stacked gray frames.
ObservationKind = Literal["vector", "pixels"]

# discrete: an action is one of several. continuous: an action is several numbers.
ActionKind = Literal["discrete", "continuous"]


@dataclass(frozen=True)
class Environment:
    """An environment's description for the launch form and the configuration, without importing its simulator."""

    id: str
    title: str
    family: EnvironmentFamily
    observations: ObservationKind = "vector"
    frames_per_step: int = 1
    actions: ActionKind = "discrete"
    # The heading under which the launch form lists it, if not the family's title.
    heading: str | None = None
    # The mean return of 100 episodes that solves the environment, or None if no source states one.
    solved_at: float | None = None
    # The lowest and the highest possible return of an episode. Unknown ones are infinite.
    bounds: Bounds = UNBOUNDED
    # Names of the actions by index, or of the numbers of a continuous action. Empty: numbered names.
    action_names: tuple[str, ...] = ()
    # The module of a plug-in that registers the id with gymnasium. Only the trainer imports it.
    module: str | None = None

    @property
    def group(self) -> str:
        """Return the heading under which the launch form lists the environment."""
        return self.heading or self.family.title

    @property
    def shows_pixels(self) -> bool:
        """Return True if observations are pictures."""
        return self.observations == "pixels"

    @property
    def unfit_because(self) -> str:
        """Return why some methods cannot act in it, as the end of a sentence."""
        return f"its actions are {self.actions}"


# The 57 games of the A3C paper, table S1. They include the games of the other papers.
GAMES_OF_THE_PAPERS = (
    "Alien Amidar Assault Asterix Asteroids Atlantis BankHeist BattleZone BeamRider Berzerk Bowling Boxing Breakout "
    "Centipede ChopperCommand CrazyClimber Defender DemonAttack DoubleDunk Enduro FishingDerby Freeway Frostbite "
    "Gopher Gravitar Hero IceHockey Jamesbond Kangaroo Krull KungFuMaster MontezumaRevenge MsPacman NameThisGame "
    "Phoenix Pitfall Pong PrivateEye Qbert Riverraid RoadRunner Robotank Seaquest Skiing Solaris SpaceInvaders "
    "StarGunner Surround Tennis TimePilot Tutankham UpNDown Venture VideoPinball WizardOfWor YarsRevenge Zaxxon"
).split()

# The other single-player games in ale-py.
OTHER_GAMES = (
    "Adventure AirRaid Atlantis2 Backgammon BasicMath Blackjack Carnival Casino Crossbow Darkchambers DonkeyKong "
    "Earthworld ElevatorAction Entombed Et FlagCapture Frogger Galaxian Hangman HauntedHouse HumanCannonball "
    "JourneyEscape Kaboom KeystoneKapers KingKong Klax Koolaid LaserGates LostLuggage MarioBros MiniatureGolf MrDo "
    "Othello Pacman Pitfall2 Pooyan SirLancelot SpaceWar Superman Tetris TicTacToe3D Trondead Turmoil VideoCheckers "
    "VideoChess VideoCube WordZapper"
).split()

FIRST_STEPS = (
    Environment("Arcadia/Identity-v0", "Identity", families.FIRST_STEPS),
    Environment("Arcadia/Catch-v0", "Catch", families.FIRST_STEPS),
    Environment("Arcadia/Recall-v0", "Recall", families.FIRST_STEPS),
    Environment("Arcadia/Target-v0", "Target", families.FIRST_STEPS, actions="continuous"),
)

CLASSIC_CONTROL = (
    Environment("CartPole-v1", "CartPole", families.CLASSIC_CONTROL),
    Environment("Acrobot-v1", "Acrobot", families.CLASSIC_CONTROL),
    Environment("MountainCar-v0", "Mountain Car", families.CLASSIC_CONTROL),
    Environment("MountainCarContinuous-v0", "Mountain Car, continuous", families.CLASSIC_CONTROL, actions="continuous"),
    Environment("Pendulum-v1", "Pendulum", families.CLASSIC_CONTROL, actions="continuous"),
)

BOX2D = (
    Environment("LunarLander-v3", "Lunar Lander", families.BOX2D),
    Environment("LunarLanderContinuous-v3", "Lunar Lander, continuous", families.BOX2D, actions="continuous"),
    Environment("BipedalWalker-v3", "Bipedal Walker", families.BOX2D, actions="continuous"),
    Environment("BipedalWalkerHardcore-v3", "Bipedal Walker, hardcore", families.BOX2D, actions="continuous"),
    Environment("Arcadia/CarRacing-v0", "Car Racing", families.BOX2D, "pixels", frames_per_step=4),
    Environment("Arcadia/CarRacingContinuous-v0", "Car Racing, continuous", families.BOX2D, "pixels", 4, "continuous"),
)

# Gymnasium's tasks for the MuJoCo physics engine.
MUJOCO_TASKS = {
    "Ant": "Ant",
    "HalfCheetah": "Half Cheetah",
    "Hopper": "Hopper",
    "Humanoid": "Humanoid",
    "HumanoidStandup": "Humanoid Standup",
    "InvertedDoublePendulum": "Inverted Double Pendulum",
    "InvertedPendulum": "Inverted Pendulum",
    "Pusher": "Pusher",
    "Reacher": "Reacher",
    "Swimmer": "Swimmer",
    "Walker2d": "Walker 2D",
}

MUJOCO = (
    *(Environment(f"{task}-v5", title, families.MUJOCO, actions="continuous") for task, title in MUJOCO_TASKS.items()),
    *(
        Environment(
            f"Arcadia/{task}Pixels-v0",
            f"{title}, from pixels",
            families.MUJOCO,
            "pixels",
            actions="continuous",
            heading="MuJoCo from pixels",
        )
        for task, title in MUJOCO_TASKS.items()
    ),
)

MAZES = (Environment("Arcadia/Labyrinth-v0", "Labyrinth", families.MAZES, "pixels", frames_per_step=4),)


def _atari(game: str) -> Environment:
    """Return the environment of a game. Its title separates the words: `NameThisGame` becomes Name This Game."""
    title = "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(game))
    heading = "Atari, of the papers" if game in GAMES_OF_THE_PAPERS else None
    return Environment(f"ALE/{game}-v5", title, families.ATARI, "pixels", frames_per_step=4, heading=heading)


# Gymnasium's reward thresholds, checked by a test. For Pong, 18 of its 21 points.
SOLVED_AT = {
    "CartPole-v1": 475.0,
    "Acrobot-v1": -100.0,
    "MountainCar-v0": -110.0,
    "MountainCarContinuous-v0": 90.0,
    "LunarLander-v3": 200.0,
    "LunarLanderContinuous-v3": 200.0,
    "BipedalWalker-v3": 300.0,
    "BipedalWalkerHardcore-v3": 300.0,
    "Arcadia/CarRacing-v0": 900.0,
    "Arcadia/CarRacingContinuous-v0": 900.0,
    "Ant-v5": 6000.0,
    "HalfCheetah-v5": 4800.0,
    "Hopper-v5": 3800.0,
    "InvertedDoublePendulum-v5": 9100.0,
    "InvertedPendulum-v5": 950.0,
    "Pusher-v5": 0.0,
    "Reacher-v5": -3.75,
    "Swimmer-v5": 360.0,
    "ALE/Pong-v5": 18.0,
}

# The lowest and the highest possible return of an episode, where the rules of the environment fix them.
BOUNDS = {
    "Arcadia/Identity-v0": Bounds(-10, 10),
    "Arcadia/Catch-v0": Bounds(-1, 1),
    "Arcadia/Recall-v0": Bounds(-1, 1),
    "Arcadia/Target-v0": Bounds(high=0),
    "CartPole-v1": Bounds(0, 500),
    "Acrobot-v1": Bounds(-500, 0),
    "MountainCar-v0": Bounds(-200, 0),
    "MountainCarContinuous-v0": Bounds(high=100),
    "Pendulum-v1": Bounds(high=0),
    "InvertedPendulum-v5": Bounds(0, 1000),
    "Arcadia/InvertedPendulumPixels-v0": Bounds(0, 1000),
    "ALE/Boxing-v5": Bounds(-100, 100),
    "ALE/Breakout-v5": Bounds(0, 864),
    "ALE/Pong-v5": Bounds(-21, 21),
}

ENVIRONMENTS: dict[str, Environment] = {
    environment.id: replace(
        environment, solved_at=SOLVED_AT.get(environment.id), bounds=BOUNDS.get(environment.id, UNBOUNDED)
    )
    for environment in (
        *FIRST_STEPS,
        *CLASSIC_CONTROL,
        *(_atari(game) for game in (*GAMES_OF_THE_PAPERS, *OTHER_GAMES)),
        *BOX2D,
        *MUJOCO,
        *MAZES,
    )
}


def known(env: str) -> str:
    """Return a known environment id. Raise ValueError with similar ids for an unknown one."""
    if env in ENVIRONMENTS:
        return env
    close = close_to(env)
    hint = f"did you mean {', '.join(close)}?" if close else "use one such as ALE/Pong-v5 or CartPole-v1"
    raise ValueError(f"unknown environment {env[:80]!r}: {hint}")


EnvironmentId = Annotated[str, AfterValidator(known)]


def env_title(env: str) -> str:
    """Return the title of an environment, or its id if it is unknown."""
    environment = ENVIRONMENTS.get(env)
    return environment.title if environment else env


def score_bounds(env: str) -> Bounds:
    """Return the lowest and the highest possible return of an environment, as far as they are known."""
    environment = ENVIRONMENTS.get(env)
    return environment.bounds if environment else UNBOUNDED


def id_of(name: str) -> str:
    """Return the id of an environment for a short name such as pong, ms_pacman or CartPole."""
    short = {_bare(env): env for env in ENVIRONMENTS}
    return known(short.get(_bare(name).replace("_", ""), name))


def close_to(env: str) -> list[str]:
    """Return ids of environments with a similar name, the most similar first."""
    wanted = _bare(env[:80])
    bare = {_bare(known): known for known in reversed(ENVIRONMENTS)}
    similar = difflib.get_close_matches(wanted, bare, n=5, cutoff=0.75)
    # For example PongNoFrameskip or Cheetah.
    related = [
        name for name in reversed(bare) if min(len(name), len(wanted)) > 3 and (name in wanted or wanted in name)
    ]
    return [bare[name] for name in dict.fromkeys([*similar, *related])][:5]


def _bare(env: str) -> str:
    return re.sub(r"-v\d+$", "", env).split("/")[-1].lower()


def rom_of(env: str) -> str:
    """Return the ROM name of an Atari id, such as up_n_down for `ALE/UpNDown-v5`."""
    game = env.removeprefix("ALE/").removesuffix("-v5")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", game)
    return words.lower().replace("to_e3_d", "toe_3d").replace("toe3_d", "toe_3d")


# (output channels, kernel, stride) of each convolution, and the width of the hidden layer after them.
Convolutions = tuple[tuple[int, int, int], ...]
ARCHITECTURES: dict[str, tuple[Convolutions, int]] = {
    "nips": (((16, 8, 4), (32, 4, 2)), 256),
    "nature": (((32, 8, 4), (64, 4, 2), (64, 3, 1)), 512),
    # GA3C, section 5.1: more filters, a third layer, and a first stride that sets the cost.
    "large-stride-4": (((32, 8, 4), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-3": (((32, 8, 3), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-2": (((32, 8, 2), (32, 4, 2), (64, 4, 2)), 256),
    "large-stride-1": (((32, 8, 1), (32, 4, 2), (64, 4, 2)), 1024),
}

_BODIES = "arcadia_workers.trainer.networks.bodies"


@dataclass(frozen=True)
class Network:
    """A body that turns observations into features, for the heads of any method."""

    name: str
    # Its layers, for the launch form.
    summary: str
    reads: ObservationKind
    # "package.module:NAME" of a function that takes the configuration, the shape of observations and the number of
    # streams. Only the trainer imports it.
    body: str


def _summarize(convolutions: Convolutions, hidden: int) -> str:
    layers = [f"{filters}×{kernel}×{kernel}/{stride}" for filters, kernel, stride in convolutions]
    return ", ".join([*layers, str(hidden)])


NETWORKS: dict[str, Network] = {
    network.name: network
    for network in (
        *(
            Network(name, _summarize(*layers), "pixels", f"{_BODIES}:build_convolutions")
            for name, layers in ARCHITECTURES.items()
        ),
        Network("mlp", "hidden layers", "vector", f"{_BODIES}:build_mlp"),
    )
}
