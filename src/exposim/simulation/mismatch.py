"""Why a state is not one of a simulator's."""

from __future__ import annotations

from typing import NoReturn

from exposim import _checks
from exposim.contact.modes import MODES
from exposim.errors import InvalidArgument, StateMismatch
from exposim.robots.robot import Robot
from exposim.simulation.layout import Layout
from exposim.simulation.state import State


def refuse_layout(state: State, own: Layout, robot: Robot) -> None:
    """Of another robot or ground, to go by the sizes."""
    if not isinstance(state, State):
        raise InvalidArgument(
            f"state is a {type(state).__name__}; give what sim.state returned, or State.from_array(array)"
        )
    if state.layout == own:
        return
    given = state.layout
    of_joints = ""
    if (given.nf, given.nh) != (own.nf, own.nh):
        of_joints = (
            f" (and {given.nf} joints with dry friction, {given.nh} targets for delayed drives, instead of {own.nf} "
            f"and {own.nh})"
        )
    raise StateMismatch(
        f"state has nq, nv = {(given.nq, given.nv)} and {given.nc} contacts; this simulator of "
        f"{robot.name!r} has {(own.nq, own.nv)} and {own.nc}{of_joints}; restore it in a simulator of the same "
        f"robot and ground"
    )


def refuse_state(state: State, own: Layout, robot: Robot) -> NoReturn:
    """Says what is wrong with a state that the core does not take."""
    refuse_layout(state, own, robot)
    _checks.vector("state", state._x)
    robot.check_configuration(state.q, "state.q", normalise=False)
    raise StateMismatch(
        f"state has contacts with surfaces {state.surface.tolist()} in modes {[MODES[m] for m in state.mode]} and "
        f"stretches {state.stretch.tolist()}, which this simulator's cannot have (stretches are tangential); "
        f"restore it in a simulator of the same robot and ground"
    )
