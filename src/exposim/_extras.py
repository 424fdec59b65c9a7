"""Packages that only parts of exposim need: loaded on use, and where one is missing, the command that installs it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from exposim.errors import MissingExtra

# Module: the package that has it, and the extra of exposim that installs it.
EXTRAS = {
    "PIL": ("pillow", "render"),
    "av": ("av", "render"),
    "collada": ("pycollada", "view"),
    "crocoddyl": ("crocoddyl", "mpc"),
    "embreex": ("embreex", "render"),
    "gymnasium": ("gymnasium", "envs"),
    "jax": ("jax", "jax"),
    "matplotlib": ("matplotlib", "plot"),
    "meshcat": ("meshcat", "view"),
    "pandas": ("pandas", "plot"),
    "proxsuite": ("proxsuite", "control"),
    "ray": ("ray", "ray"),
    "rich": ("rich", "cli"),
    "torch": ("torch", "torch"),
    "trimesh": ("trimesh", "view"),
    "typer": ("typer", "cli"),
    "umsgpack": ("u-msgpack-python", "view"),
    "viser": ("viser", "view"),
}


@contextmanager
def extras() -> Iterator[None]:
    """Within, an import that fails for want of an extra raises MissingExtra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (module := (error.name or "").partition(".")[0]) not in EXTRAS:
            raise
        package, extra = EXTRAS[module]
        raise MissingExtra(
            f'this needs {package}, which is not installed; run: pip install "exposim[{extra}]"', name=module
        ) from None


def load(module: str) -> Any:
    """A module of an extra."""
    with extras():
        return importlib.import_module(module)
