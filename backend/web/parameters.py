"""Check for unknown query parameters, since a misspelled one must not be ignored."""

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute

from backend.errors import FieldError, Invalid

# The catch-all route, which returns 404.
CATCH_ALL = "{path:path}"


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise Invalid if the request has a query parameter that its route does not declare."""
    route = request.scope.get("route")
    if not request.scope["query_string"] or not isinstance(route, APIRoute) or route.path.endswith(CATCH_ALL):
        return
    known = {field.alias for field in get_flat_params(route.dependant) if isinstance(field.field_info, Query)}
    hint = f"the parameters are {', '.join(sorted(known))}" if known else "this path has none"
    if unknown := [name for name in dict.fromkeys(request.query_params) if name not in known]:
        raise Invalid(*(FieldError(field=name[:100], message=f"no such parameter; {hint}") for name in unknown[:20]))
