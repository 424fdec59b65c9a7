"""Which contact or joint went first: the one that was made to, whatever else was shaken by it."""

import numpy as np
import pytest

import exposim as xs
from bad_input import refused
from command_line import exposim, fails
from exposim.analysis import first_to_go
from flights import DT, changed, flown, hung, until_it_diverges

# Robot, joint, and gains of which its own is so unstable where torques are held for 5 ms that no last digit matters.
PLANTED = {
    "solo12, a thigh": ("solo12", "FR_HFE", dict(kp=3.0, kd=0.02, planted=20.0)),
    "go2, a thigh": ("go2", "RL_thigh_joint", dict(kp=40.0, kd=1.0, planted=80.0)),
    "anymal_c, a hip": ("anymal_c", "LH_HAA", dict(kp=80.0, kd=1.0, planted=800.0)),
    "anymal_c, a knee": ("anymal_c", "LH_KFE", dict(kp=80.0, kd=1.0, planted=100.0)),
}


@pytest.mark.parametrize("case", PLANTED)
def test_the_joint_with_the_unstable_gain_went_first(case, tmp_path):
    robot, joint, gains = PLANTED[case]
    for seed in range(3):
        dump, _ = flown(tmp_path, robot=robot, joint=joint, seed=seed, **gains)
        flight = xs.FlightDump.load(dump).replay()
        assert flight.mismatch is None
        found = first_to_go(flight)
        assert (found.first.kind, found.first.name, found.first.by) == ("joint", joint, "motor")
        assert not found.is_sudden


def test_who_went_first_is_found_after_a_long_calm(tmp_path):
    dump, _ = flown(tmp_path, calm=400)
    flight = xs.FlightDump.load(dump).replay()
    found = first_to_go(flight)
    assert found.first.name == "LH_KFE"
    assert flight.t[found.gone[0].step] >= 400 * DT - 1e-9  # not before there was anything to find
    assert found.gone[0].energy > 1e3 * found.usual


@pytest.mark.parametrize("scheme", ["explicit-euler", "semi-implicit-euler"])
@pytest.mark.parametrize("stiff", [0, 3])
def test_the_contact_that_is_too_stiff_went_first(scheme, stiff, tmp_path):
    sim, name = hung(scheme, stiff)
    recorder = xs.FlightRecorder(sim, tmp_path)
    until_it_diverges(sim.step, n=3)
    flight = xs.FlightDump.load(recorder.dumps[0]).replay()
    found = first_to_go(flight)
    assert (found.first.kind, found.first.name) == ("contact", name)
    assert any("Expo()" in line for line in found.advice)


def test_energy_that_sources_put_in_is_what_the_robot_gains(tmp_path):
    sim, _ = hung("explicit-euler", 1)
    recorder = xs.FlightRecorder(sim, tmp_path)
    until_it_diverges(sim.step)
    flight = xs.FlightDump.load(recorder.dumps[0]).replay()
    gained = np.diff(flight.energy.sum(axis=1))
    put_in = sum(flight.work.values())
    early = slice(0, len(flight) // 2)  # before it turns by a large angle within a step
    np.testing.assert_allclose(put_in[early], gained[early], rtol=1e-3, atol=1e-9)


def test_a_wrench_that_throws_the_robot_went_first(tmp_path):
    sim = xs.Simulator(xs.load_robot("solo12"), xs.HalfSpace(), dt=DT)
    recorder = xs.FlightRecorder(sim, tmp_path)
    sim.step(n=50)
    push = iter(10.0 ** np.arange(0, 40))
    until_it_diverges(lambda: sim.step(wrenches={"base_link": (0.0, 0.0, next(push), 0.0, 0.0, 0.0)}))
    flight = xs.FlightDump.load(recorder.dumps[0]).replay()
    assert flight.mismatch is None
    assert first_to_go(flight).first.kind == "wrench" and first_to_go(flight).first.name == "base_link"


class Nonsense(xs.Surface):
    """Ground that is flat up to x = 3 m, and beyond as far away as it is told."""

    def __init__(self, beyond):
        self.beyond = beyond

    def distance(self, p):
        return np.where(p[:, 0] < 3.0, p[:, 2], self.beyond)

    def normal(self, p):
        return np.tile([0.0, 0.0, 1.0], (len(p), 1))


def rolling(ground, folder):
    sim = xs.Simulator(xs.rigid_body("ball", xs.Sphere(radius=0.1), mass=1.0), ground, dt=DT)
    recorder = xs.FlightRecorder(sim, folder)
    sim.reset([2.8, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    return sim, recorder


def test_a_surface_that_is_absurdly_deep_is_a_divergence_that_came_suddenly(tmp_path):
    sim, recorder = rolling(Nonsense(-1e300), tmp_path)
    until_it_diverges(sim.step, n=3)
    dump = xs.FlightDump.load(recorder.dumps[0])
    refused(xs.InvalidArgument, dump.replay, "Nonsense", "replay(ground=...)")  # which no file holds
    flight = dump.replay(ground=Nonsense(-1e300))
    assert flight.mismatch is None
    assert first_to_go(flight).is_sudden and any("surfaces of your own" in line for line in first_to_go(flight).advice)
    assert dump.replay(ground=xs.HalfSpace()).mismatch is not None


def test_a_surface_that_returns_no_number_is_refused_and_no_divergence(tmp_path):
    sim, recorder = rolling(Nonsense(np.nan), tmp_path)
    refused(xs.InvalidArgument, lambda: sim.step(n=200), "Nonsense.distance", "nan")
    assert not recorder.dumps and not sim.diverged


def test_replay_says_who_went_first_and_draws_it(tmp_path):
    dump, _ = flown(tmp_path, calm=30)
    result = exposim("replay", dump, "--output", tmp_path / "plots")
    assert result.exit_code == 0
    assert "the same bits" in result.output
    assert "joint LH_KFE (its motor) went first" in result.output and "robot.replace(drives=...)" in result.output
    picture = tmp_path / "plots" / "diverged-001.png"
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 20_000
    other = changed(dump, tau=lambda tau: tau * (1.0 + 1e-15))
    fails(1, "replay", other, says=("lead elsewhere", "differ"))
    fails(2, "replay", tmp_path, says=("folder", "diverged-001.npz"))
    fails(2, "replay", tmp_path / "none.npz", says="none.npz")


SCENARIO = """
import numpy as np
import exposim as xs


def scenario():
    robot = xs.load_robot("solo12").replace(effort_limits=False)
    gains = np.full(12, 0.02)
    gains[4] = 5.0  # FR_HFE

    def controller(t, state):
        return 3.0 * (robot.q0[7:] - state.q[7:]) - gains * state.v[6:] + 0.01 * np.sin(1e3 * t + np.arange(12))

    return xs.scenarios.Scenario(
        name="shaky", description="a gain too large", robot=robot, ground=xs.HalfSpace(), q0=robot.q0,
        make_controller=lambda: controller, duration=20.0, control_period=5e-3,
    )
"""


def test_a_run_that_diverges_leaves_a_dump_and_says_so(tmp_path):
    (tmp_path / "shaky.py").write_text(SCENARIO)
    dumps = tmp_path / "dumps"
    words = ("run", tmp_path / "shaky.py", "--output", tmp_path / "out", "--no-replay", "--flight-recorder", dumps)
    line = fails(1, *words, says=("diverged", "exposim replay", "diverged-001.npz"))
    assert line
    result = exposim("replay", dumps / "diverged-001.npz")
    assert result.exit_code == 0 and "joint FR_HFE (its motor) went first" in result.output
    assert (dumps / "diverged-001.png").is_file()
