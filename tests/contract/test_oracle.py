"""The default step and its NumPy reading of the theory agree, after single steps and over whole motions."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
import oracle as theory
from systems import block, on_slope, oracle_of, point_mass, slope

TOLERANCE = 1e-9
ORDERS = pytest.mark.parametrize("order", [1, 2])
ROBOTS = ["solo12", "go2", "anymal_c", "romeo", "talos"]
pytestmark = pytest.mark.filterwarnings("ignore::exposim.ModelWarning")


def difference(sim, oracle):
    """Largest of q, v and the average forces, each relative to its size where that is above one."""
    lam, lam2 = sim.info.lam_pr - oracle.lam_pr, sim.info.lam_pr2 - oracle.lam_pr2
    forces = np.abs(np.vstack([lam, lam2])).max(initial=0.0) / (1.0 + np.abs(oracle.lam_pr).max(initial=0.0))
    velocity = np.abs(sim.v - oracle.v).max() / max(1.0, np.abs(oracle.v).max())
    return max(np.abs(pin.difference(sim.robot.model, sim.q, oracle.q)).max(), velocity, forces)


def step_both(sim, oracle, tau, wrenches=None):
    """One step of both; whether changes could be ruled out is a matter of a bound, which the oracle does not repeat."""
    by_joint = []
    for frame, wrench in (wrenches or {}).items():
        joint, placement = sim.robot.locate(frame)
        by_joint.append((joint, placement.translation, np.asarray(wrench, float)))
    sim.step(tau, wrenches=wrenches)
    oracle.step(tau, by_joint, follow=sim.info.micro_steps > 0)


class Survey:
    """Differences after single steps from many states, and what happened in them."""

    def __init__(self, sim):
        self.sim, self.oracle = sim, oracle_of(sim)
        self.differences, self.seen, self.left_out = [], set(), 0

    def step(self, tau, wrenches=None):
        sim, oracle = self.sim, self.oracle
        oracle.adopt(sim)
        step_both(sim, oracle, tau, wrenches)
        # Located changes ran out, by an instant that was looked for over and over: then rounding decides.
        if sim.info.limited or oracle.hesitated:
            self.left_out += 1
            return
        self.differences.append(difference(sim, oracle))
        assert sim.info.resolved == oracle.followed.changed
        assert sim.info.events == len(oracle.followed.events)
        assert [c.active for c in sim.contacts] == oracle.active.tolist()
        assert [c.slipping for c in sim.contacts] == oracle.slipping.tolist()
        anchors = np.array([c.anchor for c in sim.contacts]).reshape(-1, 3)[oracle.active]
        assert np.abs(anchors - oracle.p0[oracle.active]).max(initial=0.0) < TOLERANCE
        self.seen.update((event.before, event.after) for event in oracle.followed.events)


def random_state(robot, rng):
    model, nv = robot.model, robot.model.nv
    if nv == 3:
        return [0, 0, 2e-3 * rng.normal()], rng.normal(size=3) * [1, 1, 0.5]
    spread = [0.005] * 3 + [0.03] * 3 + [0.05] * (nv - 6)
    return pin.integrate(model, robot.q0, rng.normal(scale=spread)), 0.5 * rng.normal(size=nv)
