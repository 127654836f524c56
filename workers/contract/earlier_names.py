"""Names of earlier versions in files: checkpoints, run directories, and events that a worker has not delivered.

Database migrations cannot change these files, because hashes protect them or another host stores them. The API accepts
only the current names.
"""

from typing import Any

# Configuration fields, a value of the field `optimizer`, and fields of evaluation documents.
RENAMED = {
    "centred_inputs": "centered_inputs",
    "centred_rmsprop": "centered_rmsprop",
    "initialisation": "initialization",
    "prioritised_replay": "prioritized_replay",
    "human_normalised": "human_normalized",
    "normalised_by": "normalized_by",
    "not_normalised_because": "not_normalized_because",
}


def with_current_names(document: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration or an evaluation document of an earlier version with the current names."""
    return {
        RENAMED.get(name, name): RENAMED.get(value, value) if isinstance(value, str) else value
        for name, value in document.items()
    }
