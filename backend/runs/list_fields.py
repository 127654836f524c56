"""Selection of the fields of listed runs, for clients that show only some of them."""

from collections.abc import Sequence
from typing import Any

from backend.errors import FieldError, Invalid
from backend.runs.schemas import Run, RunPage

CONFIG_PREFIX = "config."


def to_partial_json(page: RunPage, fields: Sequence[str]) -> str:
    """Return the page as JSON with only these fields of each run, and its id. Raise Invalid if there is no such field.

    A field such as config.seed selects one field of the configuration.
    """
    chosen: dict[str, Any] = {"id": True}
    settings = {name.removeprefix(CONFIG_PREFIX) for name in fields if name.startswith(CONFIG_PREFIX)}
    if settings:
        chosen["config"] = settings
    for name in fields:
        if name in Run.model_fields:
            chosen[name] = True
        elif not name.startswith(CONFIG_PREFIX):
            known = ", ".join(Run.model_fields)
            raise Invalid(FieldError(field="fields", message=f"no field {name!r}; use config.FIELD or one of {known}"))
    return page.model_dump_json(include={"items": {"__all__": chosen}, "next_cursor": True, "total": True})
