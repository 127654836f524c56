"""API client of the command line, with the standard library only."""

import json
import os
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from backend.refusals import RefusedError
from workers.contract.secret_files import SecretFileError, read_secret

TIMEOUT_SECONDS = 60
MAX_RESPONSE_BYTES = 100_000_000


class Client:
    """Client of a running backend."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        if not self.url.startswith(("http://", "https://")):
            raise RefusedError(f"{url} is not a URL; use one such as http://127.0.0.1:8000")

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Call the API and return the parsed response. Raise RefusedError with a readable message if it fails."""
        headers = {"Content-Type": "application/json"}
        if token := self._token():
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.url}/api/v1{path}", data, headers, method=method)  # noqa: S310 - the scheme is checked above
        try:
            with urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                return json.loads(response.read(MAX_RESPONSE_BYTES))
        except HTTPError as error:
            raise RefusedError(self._error_message(error)) from None
        except (URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            message = f"no backend answers at {self.url} ({reason}); start one, or set --backend-url"
            raise RefusedError(message) from None
        except ValueError:
            raise RefusedError(f"the response of {self.url} is not from Arcadia") from None

    def _token(self) -> str | None:
        try:
            return read_secret(os.environ, "TOKEN") or os.environ.get("ARCADIA_TOKEN")
        except SecretFileError as error:
            raise RefusedError(str(error)) from None

    def _error_message(self, error: HTTPError) -> str:
        try:
            problem = json.loads(error.read(MAX_RESPONSE_BYTES))
        except ValueError:
            problem = None
        if not isinstance(problem, Mapping) or "detail" not in problem:
            return f"the response of {self.url} (status {error.code}) is not from Arcadia"
        if errors := problem.get("errors"):
            return "\n".join(["invalid request", *(f"  {each['field']}: {each['message']}" for each in errors)])
        return str(problem["detail"])
