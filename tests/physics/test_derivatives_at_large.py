"""How often derivatives are right, along scenarios, random motions and falls: the bars that they are held to."""

import numpy as np
import pytest
from test_derivatives import GROUND
from test_derivatives_turning import GROUNDS, thrown

import exposim as xs
from differences import Around

SEED = 2024
GAINS = {"kp": 60.0, "kd": 1.2}
LENGTHS = (1e-3, 2e-3, 5e-3, 1e-2)


def along_a_scenario(name, dt, _):
    """(simulator, state, torques, what else is given) at every control period."""
    run = xs.scenarios.Run(xs.scenarios.get(name), duration=2.0)
    sim = xs.Simulator(run.scenario.robot, run.scenario.ground, dt=dt)
    while not run.done:
        state = run.sim.state
        yield sim, state, run.torques(state), {}
        run.advance()


def to_random_targets(drives, dt, rng):
    """Of Go2."""
    robot = xs.load_robot("go2").replace(armature=0.01)
    sim = xs.Simulator(robot.replace(drives=xs.Drive(**GAINS)) if drives else robot, GROUND, dt=dt)
    for _ in range(20):
        target = robot.q0[7:] + rng.uniform(-0.3, 0.3, 12)
        for _ in range(round(0.1 / dt)):
            tau = np.zeros(12) if drives else GAINS["kp"] * (target - sim.q[7:]) - GAINS["kd"] * sim.v[6:]
            given = {"target": target} if drives else {}
            yield sim, sim.state, tau, given
            sim.step(tau, **given)


def falls(name, ground, dt, rng):
    """Limp, and only while something touches."""
    for seed in rng.integers(1000, size=4):
        sim = thrown(xs.load_robot(name), GROUNDS[ground](), dt, int(seed))
        for _ in range(round(1.0 / dt)):
            state = sim.state
            sim.step()
            if state.active.any() or sim.active.any():
                yield sim, state, np.zeros(len(sim.robot.actuated_dofs)), {}


CELLS = {
    **{name: (along_a_scenario, name) for name in ("solo-squat", "solo-jump", "solo-trot", "romeo-walk")},
    "go2, targets": (to_random_targets, False),
    "go2, drives": (to_random_targets, True),
    **{f"{name}, stairs": (falls, name, "stairs") for name in ("solo12", "go2", "anymal_c", "g1")},
    "solo12, height field": (falls, "solo12", "height field"),
    "go2, sharp stairs": (falls, "go2", "sharp stairs"),
}


def errors(cell, dt, count):
    """The largest of every step at random states: of `count` that are calm and as many in which contacts change."""
    rng = np.random.default_rng([SEED, *map(ord, cell)])
    make, *of = CELLS[cell]
    steps = list(make(*of, dt, rng))
    found = {False: [], True: []}
    for k in rng.permutation(len(steps)):
        sim, state, tau, given = steps[k]
        around = Around(sim, state, tau, **given)
        of_its_kind = found[around.changes]
        if len(of_its_kind) == count:
            continue
        d = sim.linearize(state, tau, **given)
        assert d.method == "analytic"
        if not d.grazing:
            of_its_kind.append(max(around.errors(d)))
        if all(len(each) == count for each in found.values()):
            break
    return found[False], found[True]


def assert_bars(calm, changing):
    assert max(calm, default=0.0) < 1e-6
    assert sum(each >= 1e-5 for each in changing) <= max(1, 0.05 * len(changing))  # of few steps one may be off


@pytest.mark.parametrize(("cell", "dt"), [("solo-trot", 2e-3), ("go2, drives", 5e-3), ("solo12, stairs", 2e-3)])
def test_random_states_have_the_derivatives_of_differences(cell, dt):
    calm, changing = errors(cell, dt, 4)
    assert min(len(calm), len(changing)) >= 3
    assert_bars(calm, changing)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::exposim.SetupWarning")
@pytest.mark.parametrize("cell", CELLS)
def test_nearly_all_steps_have_the_derivatives_of_differences(cell):
    """All steps without events within 1e-6, 95 % of those with events within 1e-5, whatever the length of the step."""
    calm, changing = [], []
    for dt in LENGTHS:
        of_calm, of_changing = errors(cell, dt, 10)
        calm += of_calm
        changing += of_changing
    assert len(calm) + len(changing) >= 40
    assert_bars(calm, changing)
