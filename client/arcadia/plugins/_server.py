"""Makes the server's packages importable, which define the classes of plug-ins."""

try:
    import arcadia_server
except ModuleNotFoundError as error:
    raise ImportError(
        "arcadia.plugins needs Arcadia's server package, and only the client is installed here. "
        "Install the server's wheel too, which `make wheel` builds in a copy of Arcadia's repository."
    ) from error

arcadia_server.use_application()
