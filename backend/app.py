"""The application: routes, safety, background threads and the built frontend, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from fastapi import APIRouter, FastAPI

from backend import errors
from backend.config import Settings
from backend.db import open_database

API = "/api/v1"

# Every package below has a routes.py with a `router`; the first path that matches answers.
PACKAGES = ("runs", "metrics", "files", "live", "figures", "compare", "export", "workers", "health", "configuration")


def create_app(settings: Settings) -> FastAPI:
    """Build the application; nothing is opened until its lifespan begins."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.database = open_database(settings)
        try:
            yield
        finally:
            app.state.database.close()

    app = FastAPI(title="Arcadia", lifespan=lifespan, openapi_url=f"{API}/openapi.json", docs_url=None, redoc_url=None)
    app.state.settings = settings
    errors.install(app)
    api = APIRouter(prefix=API)
    for package in filter(lambda name: find_spec(f"backend.{name}") and find_spec(f"backend.{name}.routes"), PACKAGES):
        api.include_router(import_module(f"backend.{package}.routes").router)
    app.include_router(api)
    return app
