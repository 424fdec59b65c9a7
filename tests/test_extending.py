"""docs/extending.md is true: its Python runs, its C++ is what is compiled; and what it adds is right."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from systems import block, point_mass

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SOURCES = [*(ROOT / "cpp").rglob("*.?pp"), *(ROOT / "examples").rglob("*.?pp")]


class Ball(xs.Surface):
    """As the page says, in this file alone."""

    def __init__(self, radius, centre, **material):
        self.radius, self.centre, self.material = radius, np.array(centre), xs.Material(**material)

    def distance(self, p):
        return np.linalg.norm(p - self.centre, axis=1) - self.radius

    def normal(self, p):
        outwards = p - self.centre
        return outwards / np.linalg.norm(outwards, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def page():
    """The names that the page defines, after running it."""
    names = {"__name__": "page"}
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "docs/extending.md", "exec"), names)
    return names


def test_the_page_runs_from_top_to_bottom(page):
    assert {"Ball", "Air", "Heun", "Stand", "scenario"} <= page.keys()


def test_the_page_shows_the_cpp_that_is_compiled():
    shown = re.findall(r"```cpp\n(.*?)\n```", PAGE, re.DOTALL)
    compiled = {path.read_text(encoding="utf-8").strip() for path in SOURCES}
    assert len(shown) == 4
    assert set(shown) <= compiled


def test_a_point_dragged_over_a_ball_at_constant_depth_keeps_its_force():
    ball = Ball(1.0, (0.0, 0.0, -1.0), stiffness=1e5, damping=0.0, friction=0.0)
    sim = xs.Simulator(point_mass(), ball)
    for way in np.linspace(0.0, 0.5, 26):  # [m] along the ball, 0.1 mm deep
        outwards = np.array([np.sin(way), 0.0, np.cos(way)])
        sim.reset(ball.centre + (1.0 - 1e-4) * outwards)
        assert_allclose(sim.forces[0], 10.0 * outwards, rtol=1e-9, atol=1e-9)


def test_a_point_that_slides_over_a_ball_feels_the_depth_where_it_is():
    ball = Ball(1.0, (0.0, 0.0, -1.0), stiffness=1e5, damping=300.0, friction=0.5)
    sim = xs.Simulator(point_mass(mass=1.0), ball, dt=1e-3)
    sim.reset([0.0, 0.0, -1e-4], [0.2, 0.0, 0.0])
    pushing = 0
    for _ in range(200):
        sim.step([20.0, 0.0, -20.0])
        n = ball.normal(sim.q[None])[0]
        depth = -ball.distance(sim.q[None])[0]
        assert_allclose(sim.forces[0] @ n, max(0.0, 1e5 * depth - 300.0 * (n @ sim.v)), rtol=1e-6, atol=1e-6)
        pushing += sim.forces[0] @ n > 1.0
    assert sim.q[0] > 0.1  # a decimetre on, where an anchor left behind would have lost it
    assert pushing > 150


@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_sliding_over_a_ball_is_second_order(friction):
    ball = Ball(1.0, (0.0, 0.0, -1.0), friction=friction)

    def end_of(integrator, dt):
        sim = xs.Simulator(point_mass(mass=1.0), ball, integrator, dt)
        sim.reset([0.0, 0.0, -1e-4], [1.0, 0.2, 0.0])
        sim.step(n=round(0.1 / dt))
        return np.r_[sim.q, sim.v]

    truth = end_of(xs.RungeKutta4(), 5e-5)
    errors = [np.abs(end_of(xs.Expo(), dt) - truth).max() for dt in (5e-3, 2.5e-3)]
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 3.0
    assert np.abs(end_of(xs.Expo(order=1), 5e-3) - truth).max() > 10 * errors[0]


def test_a_box_lands_on_a_ball_and_the_landing_is_located():
    ball = Ball(1.0, (0.0, 0.0, -1.0), friction=0.5)
    start = [0.0, 0.0, 0.08, 0.0, 0.0, 0.0, 1.0]

    def end_of(integrator, dt):
        sim = xs.Simulator(block(), ball, integrator, dt)
        sim.reset(start, [0.0, 0.0, -0.5, 0.0, 0.0, 0.0])
        events = 0
        for _ in range(round(0.1 / dt)):
            sim.step()
            events += sim.info.events
        return sim.v, events

    truth, _ = end_of(xs.RungeKutta4(), 2e-5)
    v, events = end_of(xs.Expo(), 5e-3)
    assert events >= 1
    assert_allclose(v, truth, atol=2e-2)


def test_reported_forces_on_curved_ground_lie_in_the_friction_cone():
    bowl = Ball(0.2, (0.0, 0.0, 0.2), stiffness=1e4, damping=60.0, friction=0.5)
    inside = Ball.distance, Ball.normal
    bowl.distance = lambda p: -inside[0](bowl, p)
    bowl.normal = lambda p: -inside[1](bowl, p)
    sim = xs.Simulator(point_mass(mass=1.0), bowl, dt=5e-3)
    sim.reset([0.0, 0.0, -1e-3], [1.0, 0.0, 0.0])
    slipped = 0
    for _ in range(40):
        sim.step()
        n, lam = bowl.normal(sim.q[None])[0], sim.forces[0]
        slipped += sim.slipping[0] and lam @ n > 1.0
        assert np.linalg.norm(lam - (lam @ n) * n) <= 0.5 * max(0.0, lam @ n) * (1.0 + 1e-9) + 1e-12
    assert slipped > 5


def test_a_surface_may_look_at_the_simulator_that_asks_it_but_not_move_it():
    class Lift(Ball):
        sim = None
        meddles = False

        def distance(self, p):
            if self.sim is not None and self.meddles:
                self.sim.step()
            return p[:, 2] - (0.01 * self.sim.t if self.sim else 0.0)

        def normal(self, p):
            return np.tile([0.0, 0.0, 1.0], (len(p), 1))

    lift = Lift(1.0, (0.0, 0.0, 0.0))
    lift.sim = sim = xs.Simulator(point_mass(), lift, dt=5e-3)
    sim.reset([0.0, 0.0, -1e-4])
    sim.step(n=200)
    assert_allclose(sim.q[2], 0.01, atol=1e-3)  # carried up
    lift.meddles = True
    with pytest.raises(RuntimeError, match="middle of a step"):
        sim.step()
    lift.meddles, lift.sim = False, None


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, RuntimeError])
def test_an_error_of_a_surface_comes_through_once_and_changes_nothing(error):
    class Fence(Ball):
        asked = 0

        def distance(self, p):
            if (p[:, 0] > 5.0).any():
                self.asked += 1
                raise error("out of the map")
            return super().distance(p)

    fence = Fence(1.0, (0.0, 0.0, -1.0))
    sim = xs.Simulator(point_mass(), fence, dt=1e-3)
    sim.reset([0.0, 0.0, -1e-4])
    sim.step(n=10)
    before, forces = sim.state, sim.forces
    elsewhere = before.replace(q=[6.0, 0.0, 1.0])
    for attempt in (lambda: sim.reset([6.0, 0.0, 1.0]), lambda: setattr(sim, "state", elsewhere)):
        with pytest.raises(error, match="out of the map"):
            attempt()
        assert sim.state == before
        assert np.array_equal(sim.forces, forces)
    assert fence.asked == 2


def test_a_surface_that_answers_nonsense_is_refused_by_name():
    class Wrong(Ball):
        def normal(self, p):
            return 2.0 * super().normal(p)

    with pytest.raises(xs.InvalidArgument, match=r"(?s)Wrong\.normal .* unit length"):
        xs.Simulator(point_mass(), Wrong(1.0, (0.0, 0.0, -1.0)))

    class Missing(xs.Surface):
        pass

    with pytest.raises(xs.InvalidArgument, match="Missing has no method distance"):
        xs.Simulator(point_mass(), Missing())


def test_a_surface_that_fails_within_a_step_leaves_the_state_as_it_was():
    class Failing(Ball):
        calls = 0

        def distance(self, p):
            self.calls += 1
            return super().distance(p) if self.calls < 30 else np.full(len(p), np.nan)

    sim = xs.Simulator(point_mass(), Failing(1.0, (0.0, 0.0, -1.0)))
    with pytest.raises(xs.InvalidArgument, match="distance"):
        for _ in range(100):
            before = sim.state
            sim.step()
    assert sim.state == before


def test_a_scenario_on_a_surface_of_ones_own_runs_and_is_saved(tmp_path):
    ball = Ball(2.0, (0.0, 0.0, -2.0))
    robot = xs.load_robot("solo12")
    scenario = xs.scenarios.Scenario(
        name="on a ball",
        robot=robot,
        make_controller=lambda: xs.controllers.PD(robot, 8.0, 0.1),
        control_period=5e-3,
        duration=0.1,
        ground=ball,
    )
    trajectory = scenario.run()
    loaded = xs.Trajectory.load(trajectory.save(tmp_path / "on_a_ball.npz"))
    assert loaded.settings.ground[0].name == "Ball"
    assert_allclose(np.linalg.norm(loaded.normal, axis=2), 1.0)
    assert np.array_equal(xs.scenarios.Run.resume(loaded, scenario).trajectory.q, trajectory.q)
    with pytest.raises(xs.InvalidArgument, match="'Ball' was written in Python"):
        xs.Simulator(robot, loaded.settings.ground)


def test_a_scenario_with_a_law_of_ones_own_runs_and_is_saved(page, tmp_path):
    robot = block()
    ground = xs.HalfSpace(page["Air"](2e4, 100.0))
    scenario = xs.scenarios.Scenario("on air", robot, lambda: lambda t, state: np.zeros(0), 5e-3, 0.05, ground=ground)
    loaded = xs.Trajectory.load(scenario.run().save(tmp_path / "on_air.npz"))
    assert loaded.settings.ground[0].material.name == "Air"
    with pytest.raises(xs.InvalidArgument, match="'Air' has a law of its own"):
        xs.Simulator(robot, loaded.settings.ground)


@pytest.mark.parametrize("integrator", [xs.Expo(), xs.RungeKutta4(), xs.ImplicitEuler()], ids=lambda each: each.name)
def test_the_cushion_is_a_contact_without_friction(page, integrator):
    ends = []
    for material in (page["Air"](2e4, 100.0), xs.Material(2e4, 100.0, friction=0.0)):
        sim = xs.Simulator(block(), xs.HalfSpace(material), integrator, 1e-3)
        sim.reset([0.0, 0.0, 0.08, 0.1, 0.0, 0.0, np.sqrt(0.99)], [0.4, 0.1, 0.0, 0.0, 0.0, 0.0])
        sim.step(n=150)
        ends.append(np.r_[sim.q, sim.v])
    assert_allclose(ends[0], ends[1], atol=2e-3)
    assert ends[0][0] > 0.05


def test_heun_is_of_the_order_that_it_states(page):
    heun = page["Heun"]()
    robot = block(bilateral=True, material=xs.Material(2e3, 5.0))

    def end_of(integrator, dt):
        sim = xs.Simulator(robot, integrator=integrator, dt=dt)
        sim.reset([0.01, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.2, -0.1, 0.3, 3.0, 2.0, -5.0])
        sim.step(n=round(0.064 / dt))
        return np.r_[sim.q, sim.v]

    truth = end_of(xs.RungeKutta4(), 5e-5)
    errors = [np.abs(end_of(heun, dt) - truth).max() for dt in (4e-4, 2e-4, 1e-4)]
    observed = np.polyfit(np.log2([4, 2, 1]), np.log2(errors), 1)[0]
    assert abs(observed - heun.order) < 0.2
