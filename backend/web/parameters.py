"""Query parameters that a route does not have are refused: a misspelled one must not be ignored."""

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute

from backend.errors import FieldError, Invalid

# The route of what is not there, which answers 404.
ANY_PATH = "{path:path}"


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise Invalid if the request has a query parameter that its route does not know."""
    route = request.scope.get("route")
    if not request.scope["query_string"] or not isinstance(route, APIRoute) or route.path.endswith(ANY_PATH):
        return
    known = {field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, Query)}
    hint = f"known are {', '.join(sorted(known))}" if known else "this path takes none"
    if unknown := [name for name in dict.fromkeys(request.query_params) if name not in known]:
        raise Invalid(*(FieldError(field=name[:100], message=f"no such parameter; {hint}") for name in unknown[:20]))
