"""Controllers: callables ``(t, state) -> tau``, usable with any robot."""

from exposim.controllers.pd import PD

__all__ = ["PD"]
