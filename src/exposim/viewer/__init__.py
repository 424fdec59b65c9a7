"""Looking at motions: in the browser while Python runs, as one HTML file to keep and pass on, as pictures and films.

All show what Pinocchio's own visualizers draw of the robot, and besides the ground, the contact points and the contact
forces: an arrow each, red while the contact slips.
"""

from __future__ import annotations

import importlib as _importlib
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING

from exposim._extras import extras as _extras

if _TYPE_CHECKING:
    from exposim.viewer.camera import Camera
    from exposim.viewer.films import video
    from exposim.viewer.live import LiveViewer, serve
    from exposim.viewer.pictures import Renderer, render
    from exposim.viewer.replay import write_replay
    from exposim.viewer.watching import Live

__all__ = ["Camera", "Live", "LiveViewer", "Renderer", "render", "serve", "video", "write_replay"]

_MODULES = {
    "Camera": "camera",
    "Live": "watching",
    "LiveViewer": "live",
    "Renderer": "pictures",
    "render": "pictures",
    "serve": "live",
    "video": "films",
    "write_replay": "replay",
}


def __getattr__(name: str) -> object:
    # Meshcat, viser and Embree are slow to import: only when they are used.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    with _extras(), _warnings.catch_warnings():
        _warnings.simplefilter("ignore", DeprecationWarning)  # of a module of pyzmq that Meshcat imports
        return getattr(_importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
