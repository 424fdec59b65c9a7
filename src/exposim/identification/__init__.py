"""Stiffness, damping, friction and masses from measured motions."""

from exposim.identification.identifying import identify
from exposim.identification.measured import Measured
from exposim.identification.result import Identified

__all__ = ["Identified", "Measured", "identify"]
