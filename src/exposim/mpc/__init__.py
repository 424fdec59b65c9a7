"""Model predictive control: plans by sampling, by derivatives of steps, and by Crocoddyl's solvers."""

from exposim.mpc.cost import Cost
from exposim.mpc.feedback_plan import FeedbackPlan
from exposim.mpc.ilqr import ILQR
from exposim.mpc.plan import Plan, Samples
from exposim.mpc.points import Points
from exposim.mpc.sampling import SamplingMPC
from exposim.mpc.standing import standing_torques
from exposim.mpc.terms import Control, Force, Place, Posture, Term, Velocity
from exposim.mpc.through_crocoddyl import crocoddyl_model, crocoddyl_problem, crocoddyl_residual, crocoddyl_state

__all__ = [
    "ILQR",
    "Control",
    "Cost",
    "FeedbackPlan",
    "Force",
    "Place",
    "Plan",
    "Points",
    "Posture",
    "Samples",
    "SamplingMPC",
    "Term",
    "Velocity",
    "crocoddyl_model",
    "crocoddyl_problem",
    "crocoddyl_residual",
    "crocoddyl_state",
    "standing_torques",
]
