"""Bad input must raise a typed error with the argument, the value and the remedy in it, and change nothing."""

import functools

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import exposim as xs

few = settings(deadline=None, max_examples=30, derandomize=True)

NAN, INF = np.nan, np.inf
HUGE = 10**400  # an integer that no float can hold
RAGGED = [[1.0], [2.0, 3.0]]
not_positive = st.floats(max_value=0.0) | st.sampled_from([NAN, INF, -INF, 0, -1, -HUGE, HUGE])


def short(value):
    """Names a parameter, the same in every process: without addresses."""
    return repr(value).split(" at 0x")[0][:40]


LINK = """<link name="{name}"><inertial><mass value="1"/>
  <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="hinge" type="revolute"><parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>
  <limit lower="-9" upper="9" effort="10" velocity="10"/></joint>"""
GOOD_URDF = f"""<robot name="arm">{LINK.format(name="base")}{LINK.format(name="tip")}
  {JOINT.format(parent="base", child="tip")}</robot>"""
GOOD_MJCF = """<mujoco model="brick"><worldbody><body name="brick"><freejoint/>
  <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


@functools.cache
def solo12():
    return xs.load_robot("solo12")


def on_the_ground(robot=None):
    """A simulator in the middle of something: landed, sliding, with anchors that matter."""
    robot = solo12() if robot is None else robot
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.3)))
    v = np.zeros(robot.model.nv)
    v[:3] = 0.5, 0.2, -0.3
    sim.reset(None, v)
    sim.step(n=5)
    return sim


def refused(error, act, *words):
    """Runs `act`, which must raise that error, with these words in its message."""
    with pytest.raises(xs.ExposimError) as caught:
        act()
    assert isinstance(caught.value, error), f"{type(caught.value).__name__}, not {error.__name__}: {caught.value}"
    message = str(caught.value)
    for word in words:
        assert str(word) in message, f"{word!r} is not in the message: {message}"
    assert "/project/" not in message, f"a path of the build machine is in the message: {message}"
    return message


def refused_untouched(error, act, *words, robot=None):
    """As `refused`, for `act(sim)`; afterwards the simulator goes on as one that was never asked."""
    sim, twin = on_the_ground(robot), on_the_ground(robot)
    before, forces = sim.state, [contact.force for contact in sim.contacts]
    refused(error, lambda: act(sim), *words)
    assert sim.state == before, "the state was touched"
    assert_array_equal([contact.force for contact in sim.contacts], forces)
    sim.step(n=3)
    twin.step(n=3)
    assert sim.state == twin.state, "the simulator goes on differently"
