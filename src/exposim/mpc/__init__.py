"""Model predictive control: plans made by trying many of them in a :class:`exposim.Rollout`."""

from exposim.mpc.plan import Plan, Samples
from exposim.mpc.sampling import SamplingMPC

__all__ = ["Plan", "Samples", "SamplingMPC"]
