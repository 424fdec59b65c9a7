"""Figures of recorded motions. They are made without pyplot: no window, no global state."""

from exposim._extras import extras as _extras

with _extras():
    from exposim.plots.comparison import comparison
    from exposim.plots.flight import flight
    from exposim.plots.forces import forces
    from exposim.plots.joints import torques
    from exposim.plots.motion import motion
    from exposim.plots.style import save
    from exposim.plots.sweep import sweep

__all__ = ["comparison", "flight", "forces", "motion", "save", "sweep", "torques"]


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
