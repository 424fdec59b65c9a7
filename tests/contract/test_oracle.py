"""The default step and its NumPy reading of the theory agree, after single steps and over whole motions."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from contact_space import follow_exactly, resolve
from systems import BARE, block, chain, on_slope, oracle_of, point_mass, random_contact_space, slope

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
    """One step of both."""
    by_joint = []
    for frame, wrench in (wrenches or {}).items():
        joint, placement = sim.robot.locate(frame)
        by_joint.append((joint, placement.translation, np.asarray(wrench, float)))
    sim.step(tau, wrenches=wrenches)
    oracle.step(tau, by_joint)


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
        differs = difference(sim, oracle)
        if sim.info.limited or oracle.hesitated or (oracle.borderline and differs > TOLERANCE):
            self.left_out += 1
            return
        self.differences.append(differs)
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


def touching(sim, q, v, rng):
    """The same attitude, slower, with the lowest point within some hundredths of a millimetre of the ground."""
    sim.reset(q, v)
    normal = np.array(sim.surfaces[0].normal)
    gap = min(normal @ (c.position - np.array(sim.surfaces[0].point)) for c in sim.contacts)
    q = np.array(q)
    q[:3] -= (gap - 1e-5 * rng.normal()) * normal
    return q, 0.6 * v


def survey_random_states(sim, states, steps, torque=0.0, wrenches=None, hard=False):
    survey = Survey(sim)
    for seed in range(states):
        rng = np.random.default_rng(seed)
        q, v = random_state(sim.robot, rng)
        sim.reset(*(touching(sim, q, v, rng) if hard else (q, v)))
        for _ in range(steps):
            survey.step(torque * rng.normal(size=sim.robot.model.nv), wrenches)
    return survey


# Single steps.


@ORDERS
@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_agree_after_single_steps_from_random_states(robot, order):
    robot = xs.load_robot(robot).replace(joint_damping=0.01, **BARE)
    sim = xs.Simulator(robot, slope(0.1, friction=0.6), xs.Expo(order=order), 2e-3)
    survey = survey_random_states(sim, 6, 4, torque=0.5)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 4
    assert len(survey.seen) >= 2


@ORDERS
@pytest.mark.parametrize("stiffness, damping", [(1e4, 30.0), (1e5, 300.0), (1e7, 3e3)])
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.0])
def test_a_point_mass_agrees_whatever_the_material(stiffness, damping, friction, order):
    ground = slope(0.3, stiffness=stiffness, damping=damping, friction=friction)
    survey = survey_random_states(xs.Simulator(point_mass(), ground, xs.Expo(order=order), 5e-3), 12, 8)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 2


@ORDERS
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_block_between_two_surfaces_agrees(dt, order):
    ground = [slope(0.2, friction=0.4), xs.HalfSpace(xs.Material(3e4, 90.0, 0.2), (0.1, 0, 0), (-1.0, 0.3, 0.5))]
    survey = survey_random_states(xs.Simulator(block(), ground, xs.Expo(order=order), dt), 12, 6)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 2
    assert {("open", "slipping"), ("sticking", "slipping"), ("slipping", "idle")} <= survey.seen


@pytest.mark.parametrize("material", [xs.Material((1e5, 3e4), 300.0, 0.4), xs.Material(1e5, (300.0, 50.0), 0.4)])
def test_damping_that_is_not_proportional_to_stiffness_agrees(material):
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(material), xs.Expo(tolerance=1e-13), 2e-3)
    survey = survey_random_states(sim, 8, 4, torque=0.5)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out == 0


@pytest.mark.parametrize("friction", [0.9, 3.0])
def test_friction_that_is_held_back_agrees(friction):
    sim = xs.Simulator(block(), slope(0.3, friction=friction), xs.Expo(), 2e-3)
    survey = survey_random_states(sim, 16, 6)
    assert max(survey.differences) < TOLERANCE


@ORDERS
@pytest.mark.parametrize(
    "kp, kd, ground", [(15.0, 0.2, True), (100.0, 5.0, False), (3000.0, 1.0, False), (0.0, 2.0, False)]
)
def test_robots_with_drives_agree(kp, kd, ground, order):
    """On the ground with drives that are not followed through changes; in the air with any."""
    drive = xs.Drive(kp, kd, effort=np.inf, velocity=np.inf)
    robot = xs.load_robot("go2").replace(drives=drive, **BARE)
    surfaces = slope(0.1, friction=0.6) if ground else []
    survey = survey_random_states(xs.Simulator(robot, surfaces, xs.Expo(order=order), 2e-3), 6, 4, torque=0.5)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 4


def test_a_push_and_joint_damping_agree():
    robot = xs.load_robot("go2").replace(joint_damping=0.1)
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.5)), xs.Expo(), 4e-3)
    survey = survey_random_states(sim, 6, 4, torque=2.0, wrenches={"base": [20.0, 40.0, -30.0, 1.0, 2.0, 3.0]})
    assert max(survey.differences) < TOLERANCE


@ORDERS
@pytest.mark.parametrize("stiffness, damping", [(1e7, 3e3), (1e8, 1e4), (1e8, 300.0)])
def test_hard_ground_agrees(stiffness, damping, order):
    ground = slope(0.2, stiffness=stiffness, damping=damping, friction=0.5)
    survey = survey_random_states(xs.Simulator(block(), ground, xs.Expo(order=order), 2e-3), 8, 6, hard=True)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 4


def test_robots_on_hard_ground_agree():
    ground = xs.HalfSpace(xs.Material(1e8, 1e4, 0.6))
    survey = survey_random_states(xs.Simulator(xs.load_robot("go2"), ground, xs.Expo(), 5e-3), 6, 4, 2.0, hard=True)
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 4


@pytest.mark.parametrize("damping", [(300.0, 0.0), (300.0, 10.0), (0.0, 1.0)])
def test_a_block_whose_contacts_yield_or_spring_back_agrees(damping):
    ground = slope(0.3, stiffness=(1e5, 1e5), damping=damping, friction=0.5)
    survey = survey_random_states(xs.Simulator(block(), ground, xs.Expo(), 2e-3), 8, 6)
    assert max(survey.differences) < 1e-8  # where a contact stops, last digits grow
    assert survey.left_out <= 8


@pytest.mark.parametrize("stiffness, damping, dt", [(1e6, 0.0, 1e-2), (1e8, 0.0, 2e-3), (1e8, 1e3, 5e-3)])
def test_a_chain_on_stiff_pins_agrees(stiffness, damping, dt):
    robot = chain(material=xs.Material((stiffness, stiffness), (damping, damping)))
    sim = xs.Simulator(robot, None, xs.Expo(), dt)
    q = pin.neutral(robot.model)
    q[7:] = 0.6, -1.0
    sim.reset(q, [0, 0, 0, 0, 0, 0, 1.0, -2.0])
    survey = Survey(sim)
    for _ in range(40):
        survey.step(np.zeros(8))
    assert max(survey.differences) < TOLERANCE
    assert survey.left_out <= 12


def test_a_corner_that_touches_and_leaves_within_a_micro_step_agrees():
    """A corner of a block that turns over it, at such a height that it grazes the ground in the middle of the step."""
    sim = xs.Simulator(block(), slope(0.0, friction=0.5), xs.Expo(), 5e-3)
    attitude = pin.Quaternion(pin.rpy.rpyToMatrix(0.05, np.arctan2(0.1, 0.05) - 0.04, 0.0)).coeffs()

    def lifted(height):
        sim.reset([0.0, 0.0, height, *attitude], [0.0, 0.0, 0.0, 0.0, 15.0, 0.0])
        return sim

    touching, above = 0.11, 0.125
    for _ in range(16):
        middle = 0.5 * (touching + above)
        lifted(middle).step()
        touching, above = (middle, above) if sim.info.events else (touching, middle)
    survey = Survey(lifted(touching))
    survey.step(np.zeros(6))
    assert survey.differences[0] < TOLERANCE
    assert survey.seen == {("open", "slipping"), ("slipping", "idle")}
    landing, leaving = survey.oracle.followed.events
    assert leaving.t - landing.t < sim.dt / 20


# Whole motions.


def run_both(sim, q, v, seconds, controller=None):
    """Both from the same start, each by itself; the largest difference on the way and what happened."""
    oracle = oracle_of(sim)
    sim.reset(q, v)
    oracle.reset(sim.q, sim.v)
    largest, events = 0.0, set()
    for _ in range(round(seconds / sim.dt)):
        tau = np.zeros(sim.robot.model.nv)
        if controller is not None:
            tau[list(sim.robot.actuated_dofs)] = controller(sim.t, sim.state)
        step_both(sim, oracle, tau)
        assert not sim.info.limited
        largest = max(largest, difference(sim, oracle))
        events.update((event.before, event.after) for event in oracle.followed.events)
    return largest, events


def test_a_dropped_mass_bounces_alike_for_a_second():
    sim = xs.Simulator(point_mass(), slope(0.2, friction=0.15), xs.Expo(), 5e-3)
    largest, events = run_both(sim, [0, 0, 0.1], [0.3, 0.1, 0], 1.0)
    assert largest < TOLERANCE
    assert ("open", "sticking") in events or ("open", "slipping") in events


@ORDERS
def test_a_block_that_slides_down_a_slope_and_turns_agrees(order):
    sim = xs.Simulator(block(half=(0.1, 0.1, 0.02)), slope(0.3, friction=0.2), xs.Expo(order=order), 4e-3)
    largest, _ = run_both(sim, on_slope(0.3, 0.02 - 5e-5), [0.6, 0.2, 0, 0, 0, 4.0], 0.2)
    assert largest < TOLERANCE


@ORDERS
def test_a_block_that_lands_askew_and_comes_to_rest_agrees(order):
    sim = xs.Simulator(block(), xs.HalfSpace(xs.Material(friction=0.4)), xs.Expo(order=order), 2e-3)
    attitude = pin.Quaternion(pin.rpy.rpyToMatrix(0.15, 0.1, 0.0)).coeffs()
    largest, events = run_both(sim, [0.0, 0.0, 0.075, *attitude], [0.5, 0, -0.3, 0, 0, 1.0], 0.3)
    assert largest < 1e-7  # it lands four times, and a last digit grows with each
    assert {before for before, _ in events} >= {"open", "sticking", "slipping"}


def test_solo12_dropped_agrees():
    robot = xs.load_robot("solo12")
    sim = xs.Simulator(robot, xs.HalfSpace(), xs.Expo(), 2e-3)
    q = robot.q0
    q[2] += 0.03
    largest, _ = run_both(sim, q, None, 0.3, xs.controllers.PD(robot, 5.0, 0.05))
    assert largest < 1e-7


def test_go2_with_ball_feet_slides_down_a_slope_alike():
    robot = xs.load_robot("go2")
    sim = xs.Simulator(robot, slope(0.2, friction=0.3), xs.Expo(), 4e-3)
    q = robot.q0
    q[2] += 0.02
    largest, _ = run_both(sim, q, None, 0.2, xs.controllers.PD(robot, 50.0, 1.0))
    assert largest < 1e-7


def test_a_block_on_bilateral_points_swings_alike():
    robot = block(bilateral=True, material=xs.Material(stiffness=(1e4, 1e4), damping=(20.0, 20.0)))
    sim = xs.Simulator(robot, None, xs.Expo(), 5e-3)
    largest, events = run_both(sim, [0, 0, 0.1, 0, 0, 0, 1.0], [0.3, 0.1, -0.3, 1.0, 0.5, 0.2], 0.5)
    assert largest < TOLERANCE
    assert not events


# The reading itself.


@pytest.mark.parametrize("seed", [0, 4, 7, 10, 17, 19, 20])
def test_micro_steps_tend_to_the_exact_motion_by_second_order(seed):
    """Through landings, slips and lift-offs; where a contact stops, the direction of its last sliding is sensitive."""
    system, dt = random_contact_space(seed), 8e-3
    exact = follow_exactly(*system, dt)
    few, many = (resolve(*system, dt, micro_steps) for micro_steps in (20, 160))
    assert exact.changed
    assert exact.modes == many.modes
    scale = np.abs(exact.lam_bar).max()
    for name in ("lam_bar", "lam_bar2"):
        errors = [np.abs(getattr(found, name) - getattr(exact, name)).max() / scale for found in (few, many)]
        assert errors[1] < 1e-5
        assert errors[1] < errors[0] / 30.0  # 64 for second order
    assert np.abs(many.velocity - exact.velocity).max() < 1e-4
    assert np.abs(many.stretch - exact.stretch).max() < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_averages_move_the_contacts_where_they_were_followed_to(seed):
    (Upsilon, ddp_bar, elements), dt = random_contact_space(seed, 3), 4e-3
    found = resolve(Upsilon, ddp_bar, elements, dt)
    start = np.array([e.velocity for e in elements])
    mean, mean2 = ((Upsilon @ lam.ravel() + ddp_bar).reshape(-1, 3) for lam in (found.lam_bar, found.lam_bar2))
    assert np.allclose(found.velocity, start + dt * mean, rtol=0, atol=1e-12)
    assert np.allclose(found.displacement, dt * start + dt**2 / 2 * mean2, rtol=0, atol=1e-14)
