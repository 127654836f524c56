"""Callback of Stable-Baselines3 that logs a training as a reported run.

model.learn(100_000, callback=ArcadiaCallback(project="cartpole"))
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback, CallbackList, ConvertCallback, EventCallback
from stable_baselines3.common.logger import KVWriter, TensorBoardOutputFormat

from arcadia.reporting.attached import attached_run, not_stopping, warn_once
from arcadia.reporting.initialization import start_run
from arcadia.reporting.run import ReportedRun
from arcadia.reporting.run_options import RunOptions

# Attributes of models that are hyperparameters. Each kind of model has some of them.
HYPERPARAMETERS = (
    "learning_rate n_steps n_envs batch_size n_epochs gamma gae_lambda clip_range clip_range_vf ent_coef vf_coef "
    "max_grad_norm use_sde sde_sample_freq target_kl buffer_size learning_starts tau train_freq gradient_steps "
    "target_update_interval exploration_fraction exploration_initial_eps exploration_final_eps policy_delay "
    "target_policy_noise target_noise_clip target_entropy policy_kwargs normalize_advantage seed device"
).split()


class ArcadiaCallback(BaseCallback):
    """Callback that logs SB3's metrics, each episode's return and length, and the hyperparameters.

    The arguments are those of `arcadia.init`. Without a `run`, the callback starts one and ends it with the training.
    """

    def __init__(self, *arguments: Any, run: ReportedRun | None = None, verbose: int = 0, **named: Any) -> None:
        super().__init__(verbose)
        self._arguments, self._named = arguments, named
        self._given = run or attached_run()
        self.run: ReportedRun | None = self._given
        self._is_watching = False

    def _on_training_start(self) -> None:
        if self.run is None:
            defaults = {
                "method": type(self.model).__name__,
                "env": _env_name(self.model),
                "total_steps": self.model._total_timesteps,
                "origin_label": "Stable-Baselines3",
            }
            self.run = start_run(RunOptions(*self._arguments, **{**defaults, **self._named}))
        else:
            self.run.set_total_steps(self.model._total_timesteps)
        env = _env_name(self.model)
        self.run.config.update(hyperparameters(self.model), {"env": env} if env else {})
        records_tensorboard = self._given is not None and self._given is attached_run()
        formats = self.logger.output_formats
        if not (records_tensorboard and any(isinstance(each, TensorBoardOutputFormat) for each in formats)):
            formats.append(_LoggerOutput(self.run))

    def _on_step(self) -> bool:
        if self.run is None:
            return True
        for info in self.locals.get("infos", ()):
            if episode := info.get("episode"):
                values = {"episode/return": episode["r"], "episode/length": episode["l"]}
                self.run.log(values, step=self.num_timesteps)
        return not self.run.should_stop()

    def _on_training_end(self) -> None:
        formats = self.logger.output_formats
        formats[:] = [each for each in formats if not isinstance(each, _LoggerOutput)]
        if self.run is not None and self._given is None:
            self.run.finish()
            self.run = None


class WandbCallback(ArcadiaCallback):
    """Callback in place of wandb's. The models that it saves are versions of the artifact `model`."""

    def __init__(
        self,
        verbose: int = 0,
        model_save_path: str | None = None,
        model_save_freq: int = 0,
        gradient_save_freq: int = 0,
        log: str | None = None,
        **_named: Any,
    ) -> None:
        super().__init__(verbose=verbose)
        del log
        self._folder = None if model_save_path is None else Path(model_save_path)
        self._frequency = model_save_freq
        if gradient_save_freq > 0:
            warn_once("gradients", "gradient_save_freq has no effect: Arcadia does not record gradients.")

    def _on_step(self) -> bool:
        if self._frequency > 0 and self.n_calls % self._frequency == 0:
            self._save_model()
        return super()._on_step()

    def _on_training_end(self) -> None:
        self._save_model()
        super()._on_training_end()

    def _save_model(self) -> None:
        if self._folder is None or self.run is None:
            return
        with not_stopping("A model"):
            self._folder.mkdir(parents=True, exist_ok=True)
            self.model.save(self._folder / "model.zip")
            steps = {"num_timesteps": self.num_timesteps}
            self.run.log_artifact(self._folder / "model.zip", "model", kind="model", metadata=steps)


def with_callback(callback: Any) -> Any:
    """Return the callbacks of a training with an `ArcadiaCallback`, unless there is one."""
    if _logs_to_arcadia(callback):
        return callback
    given = callback if isinstance(callback, list | BaseCallback) else ConvertCallback(callback)
    return [*(given if isinstance(given, list) else [given]), ArcadiaCallback()]


def _logs_to_arcadia(callback: Any) -> bool:
    if isinstance(callback, CallbackList):
        callback = callback.callbacks
    if isinstance(callback, list):
        return any(map(_logs_to_arcadia, callback))
    return isinstance(callback, ArcadiaCallback) or (
        isinstance(callback, EventCallback) and _logs_to_arcadia(callback.callback)
    )


class _LoggerOutput(KVWriter):
    """Output of SB3's logger."""

    def __init__(self, run: ReportedRun) -> None:
        self._run = run

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Log numbers under their names. Texts, images and figures of the logger are left out."""
        del key_excluded
        numbers = {
            name: value for name, value in key_values.items() if not isinstance(value, str) and _is_number(value)
        }
        self._run.log(numbers, step=step)

    def close(self) -> None:
        """Do nothing, because the callback ends the run."""


def hyperparameters(model: Any) -> dict[str, Any]:
    """Return the settings of a model."""
    settings = {name: getattr(model, name) for name in HYPERPARAMETERS if hasattr(model, name)}
    shown = {name: _as_setting(value) for name, value in settings.items()}
    return {"algorithm": type(model).__name__, "policy": type(model.policy).__name__, **shown}


def _as_setting(value: Any) -> Any:
    if callable(value):
        value = getattr(value, "value_schedule", value)
        constant = getattr(value, "val", None)  # a schedule that has one value
        return float(value(1.0)) if constant is None else constant
    return value


def _env_name(model: Any) -> str:
    environments = model.get_env()
    spec = environments.get_attr("spec")[0] if environments is not None else None
    return spec.id if spec is not None else ""


def _is_number(value: Any) -> bool:
    is_array = hasattr(value, "item") and getattr(value, "size", 1) == 1
    return isinstance(value, int | float) or is_array
