"""Status 405 with an Allow header that lists all methods of a path (docs/decisions/0054-the-allow-header.md)."""

from collections.abc import Sequence
from re import Pattern

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from backend.errors import Problem, respond


class MethodNotAllowed(Problem):
    """The path exists, but not for this method."""

    status = 405
    kind = "method-not-allowed"
    title = "Method not allowed"

    def __init__(self, method: str, methods: Sequence[str]) -> None:
        allowed = ", ".join(methods)
        super().__init__(f"{method[:20]} is not allowed here. Use {allowed}.")
        self.headers = {"Allow": allowed}


class AllowedMethods:
    """The methods of each path of the API."""

    def __init__(self, prefix: str, routers: Sequence[APIRouter]) -> None:
        self._prefix = prefix
        routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
        self._routes: list[tuple[Pattern[str], set[str]]] = [
            (each.path_regex, each.methods or set()) for each in routes
        ]
        self._literal: dict[str, set[str]] = {}
        for each in routes:
            if "{" not in each.path:
                self._literal.setdefault(each.path, set()).update(each.methods or ())

    def methods(self, path: str) -> list[str]:
        """Return the methods of a path in alphabetical order."""
        if not path.startswith(self._prefix):
            return []
        rest = path.removeprefix(self._prefix)
        if rest in self._literal:
            return sorted(self._literal[rest])
        return sorted(set().union(*(methods for pattern, methods in self._routes if pattern.match(rest))))

    async def check_literal_path(self, request: Request) -> None:
        """Raise MethodNotAllowed if a literal path such as /runs/bulk would be read as /runs/{run_id}."""
        path: str = request.scope["path"]
        named = self._literal.get(path.removeprefix(self._prefix))
        if named is not None and request.method not in named:
            raise MethodNotAllowed(request.method, sorted(named))

    def install(self, app: FastAPI) -> None:
        """Replace the framework's 405, which lists only the methods of one route."""

        @app.exception_handler(405)
        def wrong_method(request: Request, error: HTTPException) -> JSONResponse:
            fallback = (error.headers or {}).get("Allow", "")
            methods = self.methods(request.scope["path"]) or sorted(fallback.split(", "))
            return respond(MethodNotAllowed(request.method, methods))
