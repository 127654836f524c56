"""Docking for Arcadia. The backend imports this module, so it imports neither gymnasium nor PyTorch."""

from arcadia.plugins import Environment, EnvironmentFamily, Plugin

FAMILY = EnvironmentFamily(name="docking", title="Docking", aspect_ratio=1.0)

ENVIRONMENTS = Plugin(
    interface=1,
    provides=[
        Environment(
            "Docking/Station-v0",
            "Stop at a station",
            FAMILY,
            actions="continuous",
            action_names=("thrust in x", "thrust in y"),
            module="arcadia_docking.station",
        )
    ],
)
