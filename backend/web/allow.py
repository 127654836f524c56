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
        self._named: dict[str, set[str]] = {}
        for each in routes:
            if "{" not in each.path:
                self._named.setdefault(each.path, set()).update(each.methods or ())

    def methods(self, path: str) -> list[str]:
        """The methods of a path, in order."""
        if not path.startswith(self._prefix):
            return []
        rest = path.removeprefix(self._prefix)
        if rest in self._named:
            return sorted(self._named[rest])
        return sorted(set().union(*(methods for pattern, methods in self._routes if pattern.match(rest))))

    async def refuse_others(self, request: Request) -> None:
        """Refuse what would take a path that has a name, as /runs/bulk, for one with a number."""
        path: str = request.scope["path"]
        named = self._named.get(path.removeprefix(self._prefix))
        if named is not None and request.method not in named:
            raise MethodNotAllowed(request.method, sorted(named))

    def install(self, app: FastAPI) -> None:
        """Have the framework's own 405, which names the methods of one route, name those of all."""

        @app.exception_handler(405)
        def wrong_method(request: Request, error: HTTPException) -> JSONResponse:
            named = (error.headers or {}).get("Allow", "")
            methods = self.methods(request.scope["path"]) or sorted(named.split(", "))
            return respond(MethodNotAllowed(request.method, methods))
