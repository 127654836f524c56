"""Environments a run may name: an allow-list, so that no request can make gymnasium import code (no torch here)."""

import re
from dataclasses import dataclass
from typing import Literal

AlgorithmName = Literal["a3c", "one_step_q", "one_step_sarsa", "n_step_q", "paac", "paac_q", "ga3c"]

# atari: 4 stacked grey frames of the emulator. vector: readings. pixels: pictures of other environments.
EnvironmentKind = Literal["atari", "vector", "pixels"]

CHOOSING: tuple[AlgorithmName, ...] = ("a3c", "one_step_q", "one_step_sarsa", "n_step_q", "paac", "paac_q", "ga3c")
SETTING_NUMBERS: tuple[AlgorithmName, ...] = ("a3c",)


@dataclass(frozen=True)
class Environment:
    """What the launch form and the configuration need to know without importing the emulator."""

    id: str
    title: str
    kind: EnvironmentKind
    frames_per_step: int
    actions: Literal["discrete", "continuous"] = "discrete"

    @property
    def shows_pixels(self) -> bool:
        """Whether observations are pictures."""
        return self.kind != "vector"

    @property
    def algorithms(self) -> tuple[AlgorithmName, ...]:
        """The methods that can act in it."""
        return CHOOSING if self.actions == "discrete" else SETTING_NUMBERS

    @property
    def unfit_because(self) -> str:
        """Why the other methods cannot."""
        return f"its actions are {self.actions}"


ATARI_GAMES = (
    "Adventure AirRaid Alien Amidar Assault Asterix Asteroids Atlantis Atlantis2 Backgammon BankHeist "
    "BasicMath BattleZone BeamRider Berzerk Blackjack Bowling Boxing Breakout Carnival Casino Centipede "
    "ChopperCommand CrazyClimber Crossbow Darkchambers Defender DemonAttack DonkeyKong DoubleDunk "
    "Earthworld ElevatorAction Enduro Entombed Et FishingDerby FlagCapture Freeway Frogger Frostbite "
    "Galaxian Gopher Gravitar Hangman HauntedHouse Hero HumanCannonball IceHockey Jamesbond JourneyEscape "
    "Kaboom Kangaroo KeystoneKapers KingKong Klax Koolaid Krull KungFuMaster LaserGates LostLuggage "
    "MarioBros MiniatureGolf MontezumaRevenge MrDo MsPacman NameThisGame Othello Pacman Phoenix Pitfall "
    "Pitfall2 Pong Pooyan PrivateEye Qbert Riverraid RoadRunner Robotank Seaquest SirLancelot Skiing "
    "Solaris SpaceInvaders SpaceWar StarGunner Superman Surround Tennis Tetris TicTacToe3D TimePilot "
    "Trondead Turmoil Tutankham UpNDown Venture VideoCheckers VideoChess VideoCube VideoPinball "
    "WizardOfWor WordZapper YarsRevenge Zaxxon"
).split()

VECTOR_ENVIRONMENTS = (
    Environment("CartPole-v1", "CartPole", "vector", 1),
    Environment("Acrobot-v1", "Acrobot", "vector", 1),
    Environment("MountainCar-v0", "Mountain Car", "vector", 1),
    Environment("LunarLander-v3", "Lunar Lander", "vector", 1),
    Environment("Arcadia/Identity-v0", "Identity", "vector", 1),
    Environment("Arcadia/Catch-v0", "Catch", "vector", 1),
    Environment("Arcadia/Recall-v0", "Recall", "vector", 1),
    Environment("Arcadia/Target-v0", "Target", "vector", 1, "continuous"),
)


def _title(game: str) -> str:
    """Space the words of a game's name: `NameThisGame` reads Name This Game."""
    return "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(game))


ENVIRONMENTS: dict[str, Environment] = {
    environment.id: environment
    for environment in (
        *VECTOR_ENVIRONMENTS,
        *(Environment(f"ALE/{game}-v5", _title(game), "atari", 4) for game in ATARI_GAMES),
    )
}


def rom_of(env: str) -> str:
    """Name the ROM of an Atari id: `ALE/UpNDown-v5` is up_n_down."""
    game = env.removeprefix("ALE/").removesuffix("-v5")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", game)
    return words.lower().replace("to_e3_d", "toe_3d").replace("toe3_d", "toe_3d")
