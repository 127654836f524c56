"""Environment families: environments with the same interface.

A new family is one entry here, with its environments in `games.py`. If no existing simulator runs it, the trainer needs
a class for it too (`arcadia_workers.trainer.environments` and `.games`). All other code reads the capabilities.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

# no-ops: the agent takes over after a random number of frames without action. starts: it takes over at a stored start
# point. plain: the environment's own start.
Opening = Literal["no-ops", "starts", "plain"]
# The library that steps the environments.
Simulator = Literal["ale", "gymnasium", "mujoco"]


def _require_all(schema: dict[str, Any]) -> None:
    """Mark every field as present. The defaults only shorten the entries below."""
    schema["required"] = sorted(schema["properties"])


class EnvironmentFamily(BaseModel):
    """Environments with the same interface, and what they support."""

    model_config = ConfigDict(frozen=True, json_schema_extra=_require_all)

    name: str = Field(description="Identifies the family, such as atari.")
    title: str = Field(description="The heading of the family.")
    simulator: Simulator = Field(default="gymnasium", description="The library that steps the environments.")
    openings: tuple[Opening, ...] = Field(
        default=("plain",), description="How an evaluation episode can begin. This decides which protocols fit."
    )
    has_action_sets: bool = Field(
        default=False, description="Whether a run chooses between the minimal and the full set of actions."
    )
    has_adjustable_frame_skip: bool = Field(
        default=False, description="Whether the number of frames per action can be chosen."
    )
    has_game_pages: bool = Field(
        default=False,
        description="Whether each environment has a page with published scores and human play.",
    )
    steps_in_threads: bool = Field(
        default=False, description="Whether environments step in separate threads while the network computes."
    )
    is_pixel_art: bool = Field(
        default=False, description="Whether pictures are enlarged with hard edges, in whole multiples of a pixel."
    )
    aspect_ratio: float = Field(default=3 / 2, description="Expected ratio of width to height of a picture.")

    @property
    def has_start_points(self) -> bool:
        """Return True if episodes can begin at stored start points."""
        return "starts" in self.openings


ATARI = EnvironmentFamily(
    name="atari",
    title="Atari",
    simulator="ale",
    openings=("no-ops", "starts"),
    has_action_sets=True,
    has_adjustable_frame_skip=True,
    has_game_pages=True,
    steps_in_threads=True,
    is_pixel_art=True,
    aspect_ratio=160 / 210,
)
FIRST_STEPS = EnvironmentFamily(name="first-steps", title="First steps")
CLASSIC_CONTROL = EnvironmentFamily(name="classic-control", title="Classic control")
BOX2D = EnvironmentFamily(name="box2d", title="Box2D")
MUJOCO = EnvironmentFamily(name="mujoco", title="MuJoCo", simulator="mujoco")
MAZES = EnvironmentFamily(name="mazes", title="Mazes")
