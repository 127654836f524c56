"""`python -m backend.openapi` prints the OpenAPI document that the browser's types are generated from."""

import json
import sys

from backend.app import create_app, description
from backend.config import Settings


def main() -> None:
    """Print it, the same text each time."""
    document = description(create_app(Settings(host="127.0.0.1")))
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, sort_keys=True)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
