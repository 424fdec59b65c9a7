"""Refuses a Pinocchio that the extension was not built with, before loading it.

The libraries carry no version in their names: beside another one, everything imports and computes nonsense.
"""

import sys
from pathlib import Path

from exposim._build_info import PINOCCHIO_VERSION
from exposim.errors import PinocchioMismatch


def require_pinocchio(found: str, what: str) -> None:
    """Raises unless `found`, the version of `what`, is the one the extension was built with."""
    if found != PINOCCHIO_VERSION:
        raise PinocchioMismatch(
            f"exposim was built with Pinocchio {PINOCCHIO_VERSION}, but {what} {found} is installed; "
            f"run: pip install pin=={PINOCCHIO_VERSION} libpinocchio=={PINOCCHIO_VERSION}"
        )


def _installed_version(package: str) -> str:
    """By the name of the folder that describes it: importlib.metadata would take as long as all of exposim."""
    infos = (info for folder in sys.path for info in Path(folder).glob(f"{package}-*.dist-info"))
    found = next(infos, None)
    return "(none)" if found is None else found.stem.removeprefix(f"{package}-")


require_pinocchio(_installed_version("libpinocchio"), "libpinocchio")

import pinocchio  # noqa: E402  only now: a mismatched library may not even load

require_pinocchio(pinocchio.__version__, "pin")
