"""Controllers: callables ``(t, state) -> tau``, usable with any robot."""

from exposim.controllers.inverse_dynamics import InverseDynamics
from exposim.controllers.linear_feedback import LinearFeedback, Reference
from exposim.controllers.pd import PD
from exposim.controllers.together import Together

__all__ = ["PD", "InverseDynamics", "LinearFeedback", "Reference", "Together"]
