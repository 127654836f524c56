"""Named, complete configurations that cite the sources of their numbers."""

import difflib

from pydantic import JsonValue

from arcadia_workers.contract.config import CONFIGURATIONS
from arcadia_workers.contract.config.problems import FieldProblem, title_of
from arcadia_workers.contract.presets import modern, papers, poles, ppo, two_cores
from arcadia_workers.contract.presets.preset import Preset as Preset

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        *poles.PRESETS,
        *modern.FIRST_STEPS_PRESETS,
        *modern.MUJOCO_PRESETS,
        *two_cores.PRESETS,
        *ppo.PRESETS,
        *modern.PRESETS,
        *papers.PRESETS,
        *papers.GORILA_PRESETS,
    )
}


def unknown_preset(name: str) -> str:
    """Return an error message for an unknown preset, with similar names."""
    close = (
        difflib.get_close_matches(name[:100], PRESETS, n=3) or [each for each in PRESETS if name and name in each][:3]
    )
    hint = f"did you mean {' or '.join(close)}?" if close else "`arcadia presets` lists them"
    return f"there is no preset {name[:60]!r}; {hint}"


def refusal_of_other_method(algorithm: str, wanted: JsonValue) -> FieldProblem | None:
    """Reject a change of the method by the field `algorithm`, and say what to do instead."""
    if wanted in (None, algorithm) or wanted not in [*CONFIGURATIONS]:  # validation refuses an unknown method
        return None
    names = [preset.name for preset in PRESETS.values() if preset.config.algorithm == wanted]
    instead = f"start from {' or '.join(names)}" if names else "write a whole configuration"
    sentence = f"{title_of(algorithm)} and {title_of(str(wanted))} have different fields: {instead}"
    return FieldProblem("algorithm", sentence)
