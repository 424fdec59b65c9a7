"""Why a state is not one of a simulator's."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from exposim import _checks
from exposim.contact.modes import MODES
from exposim.errors import InvalidArgument, StateMismatch
from exposim.robots.robot import Robot
from exposim.simulation.layout import Layout
from exposim.simulation.state import State

MOST_SHOWN = 12


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
    contacts = np.arange(own.nc)
    if own.nc > MOST_SHOWN:  # those that touch
        contacts = np.flatnonzero(state.mode)[:MOST_SHOWN]
    numbered = f"contacts {contacts.tolist()}, among others," if len(contacts) < own.nc else "contacts"
    raise StateMismatch(
        f"state has {numbered} with surfaces {state.surface[contacts].tolist()} in modes "
        f"{[MODES[m] for m in state.mode[contacts]]} and stretches {state.stretch[contacts].tolist()}, which this "
        f"simulator's cannot have (stretches are tangential); restore it in a simulator of the same robot and ground"
    )
