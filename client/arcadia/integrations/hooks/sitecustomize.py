# This module must start fast and run in any Python version.
# ruff: noqa: PTH100, PTH118, PTH120, UP036
"""Start of each Python process below `arcadia run`.

Python imports this module because its folder is in PYTHONPATH. It also runs the user's module of the same name, if any.
It adds no other module: the package `arcadia` is found here only if Python cannot find it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(os.path.dirname(_HERE))


class _ClientFinder:
    """Finder of the package `arcadia` for a Python in which it is not installed."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG004 - a finder's signature
        if name != "arcadia":
            return None
        file = os.path.join(_PACKAGE, "__init__.py")
        return importlib.util.spec_from_file_location(name, file, submodule_search_locations=[_PACKAGE])


def _install_hooks() -> None:
    if sys.version_info < (3, 10):
        print("arcadia: Python before 3.10 is not supported, so only the output is recorded.", file=sys.stderr)
        return
    sys.meta_path.append(_ClientFinder)
    from arcadia.integrations import install

    install()


def _run_other_sitecustomize() -> None:
    """Run the module that this one hides."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec(__name__)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[__name__] = module
        spec.loader.exec_module(module)


try:
    _install_hooks()
except Exception as error:  # the user's script must start
    print(f"arcadia: nothing but output is recorded ({type(error).__name__}: {error}).", file=sys.stderr)
_run_other_sitecustomize()
