"""Names of earlier versions in files: checkpoints, run directories, recordings, and undelivered events of a worker.

Database migrations cannot change these files, because hashes protect them or another host stores them. The API accepts
only the current names.
"""

from typing import Any

# Configuration fields, a value of the field `optimizer`, and fields of evaluation documents and recordings.
RENAMED = {
    "centred_inputs": "centered_inputs",
    "centred_rmsprop": "centered_rmsprop",
    "initialisation": "initialization",
    "prioritised_replay": "prioritized_replay",
    "learnt": "numbers_kind",
    "human_normalised": "human_normalized",
    "normalised_by": "normalized_by",
    "not_normalised_because": "not_normalized_because",
}


def with_current_names(document: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration, evaluation document or head of a recording with the current names."""
    return {
        RENAMED.get(name, name): RENAMED.get(value, value) if isinstance(value, str) else value
        for name, value in document.items()
    }
