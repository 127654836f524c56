"""Named, complete configurations that cite where their numbers come from."""

from pydantic import JsonValue

from workers.contract.config import CONFIGURATIONS
from workers.contract.config.problems import FieldProblem, title_of
from workers.contract.presets import first_steps, gorila, modern, mujoco, papers, poles, two_cores
from workers.contract.presets.preset import Preset as Preset

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        *poles.PRESETS,
        *first_steps.PRESETS,
        *mujoco.PRESETS,
        *two_cores.PRESETS,
        *modern.PRESETS,
        *papers.PRESETS,
        *gorila.PRESETS,
    )
}


def refusal_of_other_method(algorithm: str, wanted: JsonValue) -> FieldProblem | None:
    """Refuse to switch a configuration's method by its `algorithm` field, and say what to do instead."""
    if wanted in (None, algorithm) or wanted not in [*CONFIGURATIONS]:  # validation refuses an unknown method
        return None
    names = [preset.name for preset in PRESETS.values() if preset.config.algorithm == wanted]
    instead = f"start from {' or '.join(names)}" if names else "write a whole configuration"
    sentence = f"{title_of(algorithm)} has other fields than {title_of(str(wanted))}, for which you {instead}"
    return FieldProblem("algorithm", sentence)
