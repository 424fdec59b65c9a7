"""Looking at motions: a page in the browser while Python runs, or one HTML file to keep and pass on.

Both show what Pinocchio's own visualizers draw of the robot, and besides the ground, the contact points and the contact
forces: an arrow each, red while the contact slips.
"""

from __future__ import annotations

import importlib
import warnings
from typing import TYPE_CHECKING, Any

from exposim._extras import extras

if TYPE_CHECKING:
    from exposim.viewer.live import LiveViewer, serve
    from exposim.viewer.replay import write_replay

__all__ = ["LiveViewer", "serve", "write_replay"]

_MODULES = {"LiveViewer": "live", "serve": "live", "write_replay": "replay"}


def __getattr__(name: str) -> Any:
    # Meshcat and viser are slow to import: only when they are used.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with extras(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a module of pyzmq that Meshcat imports
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
