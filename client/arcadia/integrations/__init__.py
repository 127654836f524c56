"""Record what other libraries log: import hooks, which change a library when the script imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Hook = Callable[[ModuleType], None]


def _record_tensorboard(module: ModuleType) -> None:
    from arcadia.integrations.tensorboard import record_writer

    record_writer(module.SummaryWriter)


def _record_gymnasium_videos(module: ModuleType) -> None:
    from arcadia.integrations.training import record_gymnasium

    record_gymnasium(module.RecordVideo)


def _record_sb3_videos(module: ModuleType) -> None:
    from arcadia.integrations.training import record_sb3

    record_sb3(module.VecVideoRecorder)


def _record_sb3_training(module: ModuleType) -> None:
    from arcadia.integrations.training import record_training

    record_training(module.BaseAlgorithm)


HOOKS: dict[str, Hook] = {
    "torch.utils.tensorboard.writer": _record_tensorboard,
    "tensorboardX.writer": _record_tensorboard,
    "gymnasium.wrappers.rendering": _record_gymnasium_videos,
    "stable_baselines3.common.base_class": _record_sb3_training,
    "stable_baselines3.common.vec_env.vec_video_recorder": _record_sb3_videos,
}
STAND_IN = "wandb"


class HookFinder(MetaPathFinder):
    """Finder that adds hooks to the modules that other finders find."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module with its hook, or the stand-in for wandb. Return None for other modules."""
        if fullname.partition(".")[0] == STAND_IN:
            from arcadia.integrations.wandb import find_stand_in

            return find_stand_in(fullname)
        if (hook := HOOKS.get(fullname)) is None:
            return None
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                if spec.loader is not None:
                    spec.loader = _HookLoader(spec.loader, hook)
                return spec
        return None


class _HookLoader(Loader):
    def __init__(self, loader: Any, hook: Hook) -> None:
        self._loader, self._hook = loader, hook

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module with the library's loader."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run the library's module, then the hook."""
        from arcadia.reporting.attached import not_stopping

        self._loader.exec_module(module)
        with not_stopping(f"The output of {module.__name__}"):
            self._hook(module)

    def __getattr__(self, name: str) -> Any:  # inspect reads the source from the loader
        return getattr(self._loader, name)


def install() -> None:
    """Install the hooks in this process."""
    if not any(isinstance(finder, HookFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, HookFinder())
