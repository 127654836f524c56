"""405 and the Allow header: a path that answers to other methods says to which."""

from collections.abc import Sequence
from re import Pattern

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from backend.errors import Problem, respond


class MethodNotAllowed(Problem):
    """The path is there, but not for this method."""

    status = 405
    kind = "method-not-allowed"
    title = "Method not allowed"

    def __init__(self, method: str, methods: Sequence[str]) -> None:
        allowed = ", ".join(methods)
        super().__init__(f"{method[:20]} is not possible here; {allowed} is.")
        self.headers = {"Allow": allowed}


class Allowed:
    """Which methods each path of the API answers to."""

    def __init__(self, prefix: str, routers: Sequence[APIRouter]) -> None:
        self._prefix = prefix
        routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
        self._routes: list[tuple[Pattern[str], set[str]]] = [
            (each.path_regex, each.methods or set()) for each in routes
        ]

    def methods(self, path: str) -> list[str]:
        """The methods of a path, in order."""
        if not path.startswith(self._prefix):
            return []
        rest = path.removeprefix(self._prefix)
        return sorted(set().union(*(methods for pattern, methods in self._routes if pattern.match(rest))))

    def install(self, app: FastAPI) -> None:
        """Have the framework's own 405, which names the methods of one route, name those of all."""

        @app.exception_handler(405)
        def wrong_method(request: Request, error: HTTPException) -> JSONResponse:
            named = (error.headers or {}).get("Allow", "")
            methods = self.methods(request.scope["path"]) or sorted(named.split(", "))
            return respond(MethodNotAllowed(request.method, methods))
