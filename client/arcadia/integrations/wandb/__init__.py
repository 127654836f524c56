"""A stand-in for wandb: the module and all modules below it."""

from __future__ import annotations

from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from arcadia.reporting.attached import warn_once

_CALLBACK_MODULE = "wandb.integration.sb3"


class _StandIn(ModuleType):
    """The module wandb. Its names are looked up at each use, because `wandb.run` changes."""

    def __getattr__(self, name: str) -> Any:
        from arcadia.integrations.wandb import api

        return getattr(api, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "config" and isinstance(value, dict):  # wandb.config = {…}
            self.config.update(value)
        else:
            super().__setattr__(name, value)


class _Submodule(ModuleType):
    """A module below wandb. Only the callback for Stable-Baselines3 has an effect."""

    def __getattr__(self, name: str) -> Any:
        from arcadia.integrations.wandb.artifacts import absent

        if (self.__name__, name) == (_CALLBACK_MODULE, "WandbCallback"):
            from arcadia.integrations.sb3 import WandbCallback

            return WandbCallback
        return absent(f"{self.__name__}.{name}".removeprefix("wandb.") if not name.startswith("__") else name)


class _StandInLoader(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Create an empty module."""
        return (_Submodule if "." in spec.name else _StandIn)(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Print once that this is a stand-in."""
        if isinstance(module, _StandIn):
            warn_once("wandb", "Calls of wandb are logged to this run, and not to wandb.")


def find_stand_in(name: str) -> ModuleSpec:
    """Return the module for wandb, or a module below it."""
    return ModuleSpec(name, _StandInLoader(), is_package=True)
