"""Specification of a suite: one study over the games of a list, whose runs are evaluated at their end."""

from collections.abc import Sequence

from backend.errors import FieldError, Invalid
from backend.games.catalog import ATARI, GAMES, slug_of
from backend.studies.specification import Axis, Specification
from backend.suites.schemas import SuiteRequest
from workers.contract.config.evaluation import unfit_without_starts_because, usual_protocol
from workers.contract.game_lists import GAME_LISTS, GameList
from workers.contract.games import close_to
from workers.contract.presets import PRESETS, Preset, unknown_preset

DEFAULT_PRESET = "paac-sticky"


def specification(request: SuiteRequest) -> Specification:
    """Return the study of a suite. Raise Invalid for unknown games, presets and protocols."""
    named = [request.games] if isinstance(request.games, str) else request.games
    games = GAME_LISTS.get(named[0]) if len(named) == 1 else None
    envs = games.games if games else _own_games(named)
    preset = _find_preset(request.preset or (games.preset if games else DEFAULT_PRESET))
    steps = request.total_steps or (games.total_steps if games else preset.config.total_steps)
    protocol = request.protocol or _default_protocol(games, preset, envs[0])
    if (reason := unfit_without_starts_because(protocol, envs[0])) is not None:
        raise Invalid(FieldError(field="protocol", message=reason))
    title = games.title if games else f"{len(envs)} games"
    return Specification(
        name=request.name or f"{title}: {preset.title}",
        question=f"Scores over {title if games else 'these games'} after {steps:,} steps per run, by {protocol}.",
        preset=preset.name,
        # Each run is evaluated once: its last checkpoint is the first at or after this step.
        changes={"evaluate_every_steps": steps, "evaluation_protocol": protocol},
        axes=[Axis(field="env", values=[*envs])],
        seeds=request.seeds,
        total_steps=steps,
    )


def _own_games(games: Sequence[str]) -> Sequence[str]:
    """Return the environments of games, which may be named as in URLs."""
    envs = [_find_game(name) for name in games]
    if len(set(envs)) < len(envs):
        raise Invalid(FieldError(field="games", message="use each game once"))
    return envs


def _find_game(name: str) -> str:
    found = GAMES.get(name)
    env = found.id if found else name
    if env not in ATARI:
        close = [slug_of(each) for each in close_to(name.replace("-", "")) if each in ATARI]
        hint = f"did you mean {', '.join(close)}?" if close else f"use names such as pong, or {' or '.join(GAME_LISTS)}"
        raise Invalid(FieldError(field="games", message=f"there is no Atari game {name[:80]!r}: {hint}"))
    return env


def _find_preset(name: str) -> Preset:
    if name not in PRESETS:
        raise Invalid(FieldError(field="preset", message=unknown_preset(name)))
    return PRESETS[name]


def _default_protocol(games: GameList | None, preset: Preset, env: str) -> str:
    """Return the protocol that the preset trains for, or else the list's."""
    if preset.config.evaluation_protocol != "auto":
        return str(preset.config.evaluation_protocol)
    return games.protocol if games else usual_protocol(env)
