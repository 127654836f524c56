"""Warehouse for Arcadia. The backend imports this module, so it imports neither gymnasium nor PyTorch."""

from arcadia.plugins import Environment, EnvironmentFamily, Plugin

FAMILY = EnvironmentFamily(name="warehouse", title="Warehouse", is_pixel_art=True, aspect_ratio=1.0)

ENVIRONMENTS = Plugin(
    interface=1,
    provides=[
        Environment(
            "Warehouse/Deliver-v0",
            "Deliver a parcel",
            FAMILY,
            action_names=("up", "down", "left", "right"),
            module="arcadia_warehouse.deliver",
        )
    ],
)
