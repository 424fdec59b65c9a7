"""Scenarios and their runs: found by name or file, run again, interrupted and resumed with the same bits."""

import io
import textwrap

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from test_trajectory import assert_same

import exposim as xs
from exposim import scenarios
from exposim.scenarios import Run, Scenario
from exposim.simulation.settings import RobotSettings


def finish(run):
    while not run.done:
        run.advance()
    return run.trajectory


@pytest.fixture
def own(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        textwrap.dedent(
            """
            import exposim as xs
            from exposim.scenarios import Scenario

            def scenario(height=0.03, label="x"):
                robot = xs.load_robot("solo12")
                q = robot.q0
                q[2] += height
                return Scenario("own", robot, lambda: xs.controllers.PD(robot, 8.0, 0.1), 2e-3, 0.1, q0=q)
            """
        )
    )
    return file


@pytest.mark.parametrize("name", scenarios.SCENARIOS)
def test_every_scenario_has_a_line_about_itself(name):
    assert len(scenarios.describe(name)) > 20
    assert scenarios.get(name).description


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(xs.UnknownScenario, match="did you mean 'solo-trot'"):
        scenarios.get("solo-tort")


def test_an_unknown_option_is_refused():
    with pytest.raises(xs.InvalidArgument, match=r"no option 'heigth'; did you mean 'height'"):
        scenarios.get("drop", heigth=0.1)
    with pytest.raises(xs.InvalidArgument, match="it has none"):
        scenarios.get("solo-squat", robot="go2")


def test_a_scenario_of_one_s_own_is_found_in_its_file(own):
    scenario = scenarios.get(own, height=0.05)
    assert scenario.name == "own"
    assert scenario.q0[2] == pytest.approx(scenario.robot.q0[2] + 0.05)
    assert scenarios.of(scenario.run()).q0[2] == scenario.q0[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = 1", "has no function scenario"),
        ("scenario = 1", "has no function scenario"),
        ("def scenario(): return 3", r"scenario\(\) returned a int"),
        ("import nothing_of_that_name", "cannot be run: ModuleNotFoundError"),
        ("def scenario(:", "cannot be run: SyntaxError"),
    ],
)
def test_a_file_that_makes_no_scenario_is_refused(content, message, tmp_path):
    file = tmp_path / "bad.py"
    file.write_text(content)
    with pytest.raises(xs.InvalidArgument, match=message):
        scenarios.get(file)


def test_a_missing_file_is_refused():
    with pytest.raises(xs.UnknownFile, match=r"there is no file nowhere\.py"):
        scenarios.get("nowhere.py")


@pytest.mark.parametrize(
    "integrator",
    [
        xs.PaperExpo(kernel=xs.Pade(3), anchor="detected", projection="orthogonal"),
        xs.ImplicitEuler(tolerance=1e-7),
        xs.RungeKutta4(),
    ],
)
def test_a_loaded_trajectory_can_be_run_again_with_the_same_bits(integrator, tmp_path):
    scenario = scenarios.get("drop", robot="go2", height=0.01).with_material(stiffness=2e4, damping=(80.0, 60.0))
    first = scenario.run(integrator, dt=2.5e-4, duration=0.1)
    loaded = xs.Trajectory.load(first.save(tmp_path / "first.npz"))
    again = Run.again(loaded, scenarios.of(loaded))
    assert_same(finish(again), first)


@pytest.mark.parametrize("name", ["drop", "solo-squat"])  # a controller without and one with a memory
def test_an_interrupted_run_resumes_with_the_same_bits(name, tmp_path):
    whole = scenarios.get(name).run(duration=0.4)
    run = Run(scenarios.get(name), duration=0.4)
    for _ in range(4):
        run.advance()
    saved = xs.Trajectory.load(run.trajectory.save(tmp_path / "part.npz"))
    assert not saved.outcome.finished
    resumed = Run.resume(saved, scenarios.of(saved))
    assert_same(finish(resumed), whole)
    assert resumed.trajectory.header == whole.header


def test_an_interruption_within_a_period_loses_that_period_only(monkeypatch):
    run = Run(scenarios.get("solo-squat"), dt=0.01, duration=0.2)
    run.advance()
    whole = finish(Run(scenarios.get("solo-squat"), dt=0.01, duration=0.2))
    row, calls = run._recording._row, []

    def interrupted(*led):
        calls.append(led)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return row(*led)

    monkeypatch.setattr(run._recording, "_row", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run.advance()
    saved = run.trajectory
    assert len(saved) == 5
    assert_same(finish(Run.resume(saved, scenarios.of(saved))), whole)


def test_a_finished_run_can_be_made_longer():
    whole = scenarios.get("drop").run(duration=0.06)
    half = scenarios.get("drop").run(duration=0.03)
    assert_same(finish(Run.resume(half, scenarios.of(half), duration=0.06)), whole)
    with pytest.raises(xs.InvalidArgument, match=r"0\.03 s have been simulated already"):
        Run.resume(half, scenarios.of(half), duration=0.01)


def test_a_run_is_not_resumed_with_another_scenario():
    half = scenarios.get("drop").run(duration=0.03)
    with pytest.raises(xs.StateMismatch, match="ground of scenario 'drop' is not as it was"):
        Run.resume(half, scenarios.get("drop").with_material(friction=0.5))


def test_a_scenario_made_in_python_is_not_found_again_by_itself():
    robot = xs.load_robot("solo12")
    scenario = Scenario("mine", robot, None, 0.01, 0.05)
    trajectory = scenario.run(duration=0.03)
    with pytest.raises(xs.InvalidArgument, match="give the scenario itself"):
        scenarios.of(trajectory)
    assert_same(finish(Run.resume(trajectory, scenario, duration=0.05)), scenario.run())


def test_divergence_ends_the_run_and_keeps_what_came_before(tmp_path):
    run = Run(scenarios.get("drop", height=0.3), xs.ExplicitEuler(), dt=1e-3)
    trajectory = finish(run)
    assert run.divergence is not None
    loaded = xs.Trajectory.load(trajectory.save(tmp_path / "x.npz"))
    assert loaded.outcome.diverged_at == pytest.approx(loaded.t[-1] + 1e-3)
    assert "ExplicitEuler needs a smaller dt" in loaded.outcome.divergence
    assert np.isfinite(loaded.q).all()
    assert run.scenario.judge(loaded).complaints[0].startswith("diverged at")


def test_the_torque_is_held_over_the_control_period():
    trajectory = scenarios.get("solo-squat").run(dt=0.01, duration=0.2)
    held = trajectory.tau[:-1].reshape(5, 4, 12)
    assert np.array_equal(held, np.repeat(held[:, :1], 4, axis=1))
    assert len(np.unique(held[:, 0, 1])) == 5


def test_the_control_period_is_never_changed_unless_asked():
    trot = scenarios.get("solo-trot")
    with pytest.raises(
        xs.InvalidArgument, match=r"period of 0\.002 s; .*control_period=0\.005 \(--control-period 5ms\)"
    ):
        Run(trot, dt=5e-3)
    with pytest.raises(xs.InvalidArgument, match=r"dt is 0\.002 s, but 'solo-trot' holds its inputs .* 0\.001 s"):
        trot.replace(control_period=1e-3)
    asked = Run(trot, dt=5e-3, control_period=5e-3)
    assert (asked.settings.dt, asked.settings.control_period, asked.steps_per_period) == (5e-3, 5e-3, 1)
    assert Run(trot, control_period=1e-3).settings.dt == 1e-3  # no longer than the period that was asked for
    fitted = Run(trot, dt=2e-3 * (1.0 + 1e-7))
    assert fitted.control_period == fitted.sim.dt == 2e-3


def test_a_longer_control_period_is_what_the_controller_sees():
    calls = []
    zeros = np.zeros(12)
    slow = scenarios.get("drop").replace(make_controller=lambda: lambda t, state: calls.append(t) or zeros)
    slow.run(dt=1e-3, duration=0.02, control_period=5e-3)
    assert_allclose(calls, [0.0, 5e-3, 0.01, 0.015], atol=1e-12)


def test_where_nothing_is_held_steps_may_be_longer_than_the_control_period():
    drop = scenarios.get("drop")
    assert not drop.is_controlled
    assert Run(drop, dt=5e-3, duration=0.02).sim.dt == 5e-3
    for held in (
        {"make_controller": lambda: lambda t, state: np.zeros(12)},
        {"target": lambda t: drop.robot.q0},
        {"disturbance": lambda t: {}},
    ):
        with pytest.raises(xs.InvalidArgument, match="holds its inputs"):
            Run(drop.replace(**held), dt=5e-3)


def test_runs_keep_the_control_period_that_was_asked_for(tmp_path):
    trot = scenarios.get("solo-trot")
    whole = trot.run(dt=5e-3, duration=0.1, control_period=5e-3)
    loaded = xs.Trajectory.load(trot.run(dt=5e-3, duration=0.05, control_period=5e-3).save(tmp_path / "half.npz"))
    assert loaded.settings.control_period == 5e-3
    assert_same(finish(Run.resume(loaded, scenarios.of(loaded), 0.1)), whole)
    assert_same(finish(Run.again(loaded, scenarios.of(loaded), 0.1)), whole)


def test_integrators_go_by_the_names_of_the_command_line():
    drop = scenarios.get("drop")
    assert drop.run("rk4", 1e-4, 1e-3).settings.integrator == xs.RungeKutta4()
    assert Run(drop, "paper_expo").sim.integrator == xs.PaperExpo()
    assert xs.Simulator(drop.robot, integrator="RungeKutta4").integrator == xs.RungeKutta4()


@pytest.mark.parametrize(
    ("dt", "every", "instants"), [(1e-3, None, 0.2e3), (1e-4, None, 0.2e3), (1e-4, 1, 2e3), (4e-3, None, 50)]
)
def test_instants_are_recorded_as_often_as_asked(dt, every, instants):
    scenario = scenarios.get("drop").replace(control_period=4e-3)
    trajectory = scenario.run(dt=dt, duration=0.2, record_every=every)
    assert len(trajectory) == instants + 1
    assert np.ptp(np.diff(trajectory.t)) < 1e-12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"dt": 3e-4},
            r"no whole number makes the control period of 0\.001 s; give for example 0\.00025 or 0\.000333333",
        ),
        ({"dt": 0.0}, "dt is 0.0"),
        ({"duration": -1.0}, "duration is -1.0"),
        ({"dt": 2.5e-4, "record_every": 3}, "does not divide the 4 steps"),
        ({"anchor": "detected"}, "anchor is no option of Run but of the paper's method"),
        ({"integrator": "expoo"}, "integrator is 'expoo'; did you mean 'expo'"),
        ({"control_period": 0.0}, "control_period is 0.0"),
        ({"control_period": 1e-3, "dt": 2e-3}, "holds its inputs for a control period of 0.001 s"),
    ],
)
def test_bad_settings_of_a_run_are_refused(settings, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        scenarios.get("drop").run(**settings)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name is ''"),
        ({"robot": "solo12"}, "robot is a str"),
        ({"make_controller": 3}, "make_controller is not callable"),
        ({"control_period": 0.0}, "control_period is 0.0"),
        ({"duration": np.inf}, "duration is inf"),
        ({"q0": np.zeros(3)}, "q0 has 3 entries"),
        ({"v0": np.zeros(3)}, "v0 has 3 entries"),
        ({"ground": "floor"}, "ground is 'floor'"),
    ],
)
def test_bad_scenarios_are_refused(changes, message):
    with pytest.raises(xs.InvalidArgument, match=message):
        scenarios.get("drop").replace(**changes)


@pytest.mark.parametrize("torque", [np.zeros(5), np.full(12, np.nan), np.ones(18), "none"])
def test_a_controller_that_returns_no_torques_is_refused(torque):
    scenario = scenarios.get("drop").replace(make_controller=lambda: lambda t, state: torque)
    with pytest.raises(xs.InvalidArgument, match="the controller"):
        scenario.run()


def test_torques_for_all_degrees_of_freedom_are_taken_if_the_base_gets_none():
    twelve = scenarios.get("drop").replace(make_controller=lambda: lambda t, state: np.full(12, 0.1))
    full = np.concatenate([np.zeros(6), np.full(12, 0.1)])
    eighteen = twelve.replace(make_controller=lambda: lambda t, state: full)
    assert_same(twelve.run(duration=0.05), eighteen.run(duration=0.05))


def test_a_push_is_felt_while_it_lasts():
    def push(t):
        return {"base_link": [0.0, 3.0, 0.0, 0.0, 0.0, 0.0]} if t < 0.05 else {}

    still = scenarios.get("drop", height=1.0)
    pushed = still.replace(disturbance=push).run(duration=0.2)
    data = still.robot.model.createData()
    momentum = [
        pin.computeCentroidalMomentum(still.robot.model, data, q, v).linear[1]
        for q, v in zip(pushed.q, pushed.v, strict=True)
    ]
    assert momentum[-1] == pytest.approx(3.0 * 0.05, rel=1e-2)


@pytest.mark.parametrize("name", ["solo12", "talos", "g1"])
def test_a_robot_is_described_and_built_again(name):
    robot = xs.load_robot(name).replace(armature=0.01, gravity=(0.0, 0.0, -1.6))
    again = RobotSettings.of(robot).load()
    assert RobotSettings.of(again) == RobotSettings.of(robot)
    q = pin.integrate(robot.model, robot.q0, np.full(robot.nv, 0.1))
    one, other = (pin.crba(r.model, r.model.createData(), q) for r in (robot, again))
    assert np.array_equal(one, other)
    assert "/" not in RobotSettings.of(robot).source.split(":")[0]


def test_a_robot_without_a_file_is_not_built_again():
    robot = xs.load_robot(pin.buildSampleModelHumanoid())
    with pytest.raises(xs.UnknownFile, match=r"made from a pinocchio\.Model"):
        RobotSettings.of(robot).load()


def test_a_scenario_file_may_have_data_classes_and_modules_beside_it(tmp_path):
    (tmp_path / "beside_it.py").write_text("HEIGHT = 0.02")
    file = tmp_path / "own.py"
    file.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom beside_it import HEIGHT\n"
        "import exposim as xs\n@dataclass\nclass Setting:\n    height: float = HEIGHT\n"
        "def scenario(**options): return xs.scenarios.get('drop', height=Setting().height, **options)"
    )
    assert scenarios.get(file, robot="go2").robot.name == "go2"


def test_a_scenario_file_that_exits_is_refused(tmp_path):
    file = tmp_path / "exits.py"
    file.write_text("import sys; sys.exit()")
    with pytest.raises(xs.InvalidArgument, match="cannot be run: SystemExit"):
        scenarios.get(file)


def test_a_step_that_was_suggested_is_taken():
    with pytest.raises(xs.InvalidArgument, match=r"or 0\.000333333"):
        scenarios.get("drop").run(dt=3e-4)
    assert scenarios.get("drop").run(dt=0.000333333, duration=0.01).t[-1] == pytest.approx(0.01)


@pytest.mark.parametrize("dt", [5e-324, 1e-300, 1e-15])
def test_a_step_too_small_to_count_is_refused_at_once(dt):
    with pytest.raises(xs.InvalidArgument, match="give a larger one"):
        scenarios.get("drop").run(dt=dt)


@pytest.mark.parametrize(
    ("dt", "every"),
    [(1e-3, 1), (5e-4, 2), (1e-3 / 7, 7), (1e-4, 10), (1e-3 / 97, 97), (1e-9, 1_000_000), (1e-12, 10**9)],
)
def test_the_recording_interval_is_found_at_once(dt, every):
    assert Run(scenarios.get("drop"), dt=dt, duration=dt).record_every == every


@pytest.mark.parametrize("contacts", ["FL_FOOT", 5, None, {1, 2}])
def test_contacts_that_are_no_list_are_refused(contacts):
    with pytest.raises(xs.InvalidArgument, match="contacts is"):
        scenarios.get("drop", contacts=contacts)


def test_contacts_may_have_a_radius():
    points = scenarios.get("drop", contacts={"FL_FOOT": 0.02, "FR_FOOT": 0}).robot.contact_points
    assert [point.radius for point in points] == [0.02, 0.0]
    with pytest.raises(xs.InvalidArgument, match="radius is -1"):
        scenarios.get("drop", contacts={"FL_FOOT": -1})


# ----- progress


def test_progress_is_told_after_every_control_period():
    told = []
    trajectory = scenarios.get("solo-squat").run(dt=0.01, duration=0.2, progress=lambda run: told.append(run.t))
    np.testing.assert_allclose(told, trajectory.t[4::4], atol=1e-12)
    with pytest.raises(xs.InvalidArgument, match="progress is 3; give True, False or a function"):
        scenarios.get("drop").run(progress=3)


@pytest.mark.parametrize("terminal", [True, False])
def test_a_line_of_progress_is_drawn_over_on_a_terminal_alone(terminal, monkeypatch):
    class Stream(io.StringIO):
        def isatty(self):
            return terminal

    stream = Stream()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("exposim._progress.REFRESH", 0.0)
    scenarios.get("drop").run(duration=0.01, progress=True)
    if not terminal:
        assert stream.getvalue() == ""  # it is over before a line is due
        return
    *lines, cleared, last = stream.getvalue().split("\r")
    assert len(lines) == 11 and "0.01 / 0.01 s" in lines[-1] and "real time" in lines[-1]
    assert cleared.isspace() and last == ""
