"""Named, complete configurations that cite the sources of their numbers."""

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
    """Reject a change of the method by the field `algorithm`, and say what to do instead."""
    if wanted in (None, algorithm) or wanted not in [*CONFIGURATIONS]:  # validation refuses an unknown method
        return None
    names = [preset.name for preset in PRESETS.values() if preset.config.algorithm == wanted]
    instead = f"start from {' or '.join(names)}" if names else "write a whole configuration"
    sentence = f"{title_of(algorithm)} and {title_of(str(wanted))} have different fields: {instead}"
    return FieldProblem("algorithm", sentence)
