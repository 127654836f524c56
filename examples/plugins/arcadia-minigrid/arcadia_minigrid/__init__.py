"""MiniGrid for Arcadia. The backend imports this module, so it imports neither gymnasium nor MiniGrid."""

from dataclasses import dataclass

from arcadia.plugins import Environment, EnvironmentFamily, Plugin


@dataclass(frozen=True)
class World:
    """A world of MiniGrid, with its useful actions. They have MiniGrid's names."""

    title: str
    actions: tuple[str, ...]


FAMILY = EnvironmentFamily(name="minigrid", title="MiniGrid", is_pixel_art=True, aspect_ratio=1.0)
# By their names in MiniGrid.
WORLDS = {
    "Empty-5x5": World("Empty room", ("left", "right", "forward")),
    "DoorKey-5x5": World("Door and key", ("left", "right", "forward", "pickup", "toggle")),
    "GoToDoor-5x5": World("Go to the door of a color", ("left", "right", "forward", "done")),
    "Fetch-5x5-N2": World("Fetch an object", ("left", "right", "forward", "pickup")),
}

ENVIRONMENTS = Plugin(
    interface=1,
    provides=[
        Environment(
            f"ArcadiaMiniGrid/{name}-v0",
            world.title,
            FAMILY,
            action_names=world.actions,
            module="arcadia_minigrid.readable",
        )
        for name, world in WORLDS.items()
    ],
)
