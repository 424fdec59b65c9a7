"""Trajectories: complete, saved without loss, refused when damaged."""

import json
import zipfile
from dataclasses import fields

import numpy as np
import pytest

import exposim as xs
from exposim.contact.modes import MODES
from exposim.scenarios import Run, Scenario
from exposim.simulation.file_format import ARRAYS, EVENT_ARRAYS
from exposim.simulation.header import Outcome
from exposim.simulation.settings import RunSettings


@pytest.fixture(scope="module")
def trajectory():
    return xs.scenarios.get("drop", height=0.02).run(duration=0.2)


@pytest.fixture
def file(trajectory, tmp_path):
    return trajectory.save(tmp_path / "drop.npz")


def assert_same(one, other):
    for name in ARRAYS:
        a, b = getattr(one, name), getattr(other, name)
        assert a.dtype == b.dtype, name
        assert np.array_equal(a, b), name
    for name in EVENT_ARRAYS:
        assert np.array_equal(one._arrays[name], other._arrays[name]), name


def rewrite(file, change):
    """The file again, with `change` applied to its members, a dictionary from names to bytes."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_file_gives_back_every_bit_and_every_setting(trajectory, file):
    loaded = xs.Trajectory.load(file)
    assert_same(loaded, trajectory)
    assert loaded.header == json.loads(json.dumps(trajectory.header))
    assert loaded.header["exposim"] == xs.__version__


def test_numpy_reads_it_without_pickle(file, trajectory):
    with np.load(file, allow_pickle=False) as arrays:
        assert np.array_equal(arrays["q"], trajectory.q)
        assert json.loads(str(arrays["header"]))["settings"]["dt"] == trajectory.settings.dt


def test_arrays_are_read_when_they_are_looked_at(file):
    loaded = xs.Trajectory.load(file)
    assert "force" not in loaded._arrays._read
    assert loaded.force.shape[1:] == (4, 3)
    assert loaded.force is loaded.force
    assert "q" not in loaded._arrays._read


def test_every_instant_continues_bit_for_bit(trajectory):
    scenario = xs.scenarios.get("drop", height=0.02)
    sim = xs.Simulator(scenario.robot, scenario.ground, dt=scenario.dt)
    middle = len(trajectory) // 2
    sim.state = trajectory.state(middle)
    for i in range(middle, len(trajectory) - 1):
        sim.step(trajectory.tau[i])
    assert sim.state == trajectory.state(-1)


def test_forces_and_positions_are_those_of_the_simulator(trajectory):
    scenario = xs.scenarios.get("drop", height=0.02)
    sim = xs.Simulator(scenario.robot, scenario.ground, dt=scenario.dt)
    sim.reset(scenario.q0)
    for i in range(len(trajectory)):
        assert np.array_equal([contact.force for contact in sim.contacts], trajectory.force[i])
        assert np.array_equal([contact.position for contact in sim.contacts], trajectory.position[i])
        assert np.array_equal([contact.velocity for contact in sim.contacts], trajectory.velocity[i])
        sim.step(trajectory.tau[i])


def test_the_data_frame_has_named_columns(trajectory):
    frame = trajectory.to_dataframe()
    assert len(frame) == len(trajectory)
    assert np.array_equal(frame["q_root_joint_z"], trajectory.q[:, 2])
    assert np.array_equal(frame["tau_FL_HAA"], trajectory.tau[:, 0])
    assert np.array_equal(frame["HR_FOOT_fz"], trajectory.force[:, 3, 2])
    assert frame["HR_FOOT_active"].dtype == bool


def test_contacts_with_two_surfaces_have_columns_of_their_own():
    wall = xs.HalfSpace(point=(1.0, 0.0, 0.0), normal=(-1.0, 0.0, 0.0))
    scenario = xs.scenarios.get("drop").replace(ground=(xs.HalfSpace(), wall))
    frame = scenario.run(duration=0.01).to_dataframe()
    assert {"FL_FOOT@0_fz", "FL_FOOT@1_fz"} <= set(frame.columns)
    assert frame.columns.is_unique


def test_only_npz_files_are_written(trajectory, tmp_path):
    with pytest.raises(xs.InvalidArgument, match=r"ends in \.npz"):
        trajectory.save(tmp_path / "drop.csv")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(trajectory, file, monkeypatch):
    before = file.read_bytes()

    def fail(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="no space"):
        trajectory.save(file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(xs.UnknownFile, match="there is no file"):
        xs.Trajectory.load(tmp_path / "nothing.npz")


@pytest.mark.parametrize("content", [b"", b"time,q\n0,1\n", b"PK\x03\x04 not a zip", bytes(1000)])
def test_a_file_of_another_kind_is_refused(content, tmp_path):
    file = tmp_path / "foreign.npz"
    file.write_bytes(content)
    with pytest.raises(xs.UnreadableFile, match="not a trajectory of exposim, or is damaged"):
        xs.Trajectory.load(file)


def test_arrays_of_somebody_else_are_refused(tmp_path):
    file = tmp_path / "other.npz"
    np.savez(file, q=np.zeros(3))
    with pytest.raises(xs.UnreadableFile, match="it has no header"):
        xs.Trajectory.load(file)
    np.savez(file, header=np.array("hello"))
    with pytest.raises(xs.UnreadableFile, match="not JSON"):
        xs.Trajectory.load(file)
    np.savez(file, header=np.array('{"format": "log"}'))
    with pytest.raises(xs.UnreadableFile, match="not a trajectory"):
        xs.Trajectory.load(file)


def test_pickled_objects_are_not_loaded(tmp_path, file):
    np.savez(tmp_path / "evil.npz", header=np.array([{"format": "exposim trajectory"}], dtype=object))
    with pytest.raises(xs.UnreadableFile):
        xs.Trajectory.load(tmp_path / "evil.npz")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(file, share):
    data = file.read_bytes()
    file.write_bytes(data[: int(share * len(data))])
    with pytest.raises(xs.UnreadableFile):
        xs.Trajectory.load(file)


def test_a_flipped_bit_is_noticed_when_the_array_is_read(file):
    with zipfile.ZipFile(file) as archive:
        entry = archive.getinfo("force.npy")
    data = bytearray(file.read_bytes())
    data[entry.header_offset + entry.compress_size // 2] ^= 0x10
    file.write_bytes(data)
    with pytest.raises(xs.UnreadableFile, match="damaged"):
        _ = xs.Trajectory.load(file).force


def test_a_missing_array_is_refused(file):
    rewrite(file, lambda members: members.pop("force.npy"))
    with pytest.raises(xs.UnreadableFile, match="damaged: it has no force"):
        xs.Trajectory.load(file)


def test_arrays_that_do_not_fit_together_are_refused(file):
    with zipfile.ZipFile(file) as archive:
        shorter = archive.read("q.npy")
    rewrite(file, lambda members: members.update({"v.npy": shorter}))
    with pytest.raises(xs.UnreadableFile, match="v has shape"):
        xs.Trajectory.load(file)


def test_a_newer_format_is_refused_with_the_version_that_wrote_it(trajectory, tmp_path):
    header = trajectory.header | {"format_version": 99, "exposim": "7.0"}
    newer = xs.Trajectory({name: getattr(trajectory, name) for name in ARRAYS}, header)
    with pytest.raises(xs.UnreadableFile, match=r"written by exposim 7\.0.*update exposim"):
        xs.Trajectory.load(newer.save(tmp_path / "newer.npz"))


def test_the_format_with_anchors_is_refused_with_the_version_that_wrote_it(trajectory, tmp_path):
    header = trajectory.header | {"format_version": 1, "exposim": "0.3"}
    older = xs.Trajectory({name: getattr(trajectory, name) for name in ARRAYS}, header)
    with pytest.raises(xs.UnreadableFile, match=r"has format 1, written by exposim 0\.3"):
        xs.Trajectory.load(older.save(tmp_path / "older.npz"))


def test_the_arrays_are_those_of_a_state_and_what_is_read_beside_it(trajectory):
    of_contacts = ("t", "q", "v", "surface", "mode", "phi0", "stretch")
    of_joints = ("friction_stretch", "friction_slips", "commands", "command_t", "command_target", "command_velocity")
    beside = ("tau", "torque", "position", "normal", "force", "velocity")
    given = ("target", "target_velocity", "wrench", "steps", "step_size")
    assert tuple(ARRAYS) == (*of_contacts, *of_joints, *beside, *given)
    for i in (0, len(trajectory) // 2, -1):
        state = trajectory.state(i)
        for name in (*of_contacts, *of_joints, "active", "slipping"):
            assert np.array_equal(getattr(state, name), getattr(trajectory, name)[i]), name


def test_flags_follow_from_the_modes(trajectory):
    assert np.array_equal(trajectory.active, trajectory.mode != MODES.index("open"))
    assert np.array_equal(trajectory.slipping, np.isin(trajectory.mode, [MODES.index("idle"), MODES.index("slipping")]))
    assert trajectory.active.any() and not trajectory.active.all()


def test_a_file_that_changes_while_it_is_open_is_noticed(trajectory, file):
    loaded = xs.Trajectory.load(file)
    scenario = xs.scenarios.get("drop")
    scenario.run(duration=0.01).save(file)
    with pytest.raises(xs.UnreadableFile, match="has changed since it was opened"):
        _ = loaded.q


def test_an_unknown_attribute_is_an_attribute_error(trajectory):
    with pytest.raises(AttributeError, match="no 'momentum'; its arrays are"):
        _ = trajectory.momentum


def test_a_run_without_actuated_joints_or_ground_is_recorded(tmp_path):
    model = xs.load_robot("solo12")
    ball = model.replace(actuated_joints=[])
    scenario = Scenario("fall", ball, None, control_period=0.01, duration=0.05, ground=None)
    loaded = xs.Trajectory.load(scenario.run().save(tmp_path / "fall.npz"))
    assert loaded.tau.shape == (6, 0)
    assert loaded.force.shape == (6, 0, 3)
    assert loaded.q[-1, 2] == pytest.approx(ball.q0[2] - 0.5 * 9.81 * 0.05**2, rel=1e-6)


def test_an_unfinished_run_says_so():
    run = Run(xs.scenarios.get("drop"))
    for _ in range(5):
        run.advance()
    assert run.trajectory.outcome == Outcome(finished=False, steps=5, diverged_at=None, divergence=None)


def test_settings_survive_a_file(tmp_path):
    run = Run(xs.scenarios.get("drop", robot="go2"), xs.PaperExpo(kernel=xs.Pade(3), anchor="detected"), 5e-4)
    loaded = xs.Trajectory.load(run.trajectory.save(tmp_path / "drop.npz"))
    assert loaded.settings == run.settings
    assert loaded.settings.describe() == loaded.header["settings"]
    assert loaded.settings.integrator.kernel == xs.Pade(3)
    assert loaded.settings.scenario.origin.options == {"robot": "go2"}


@pytest.mark.parametrize("name", [f.name for f in fields(RunSettings)])
def test_a_file_without_a_setting_is_refused(name, tmp_path):
    recorded = Run(xs.scenarios.get("drop")).trajectory
    settings = {key: value for key, value in recorded.header["settings"].items() if key != name}
    with pytest.raises(xs.UnreadableFile, match="lacks the settings"):
        xs.Trajectory(recorded._arrays, recorded.header | {"settings": settings})


def test_a_scheme_of_another_version_is_named():
    recorded = Run(xs.scenarios.get("drop")).trajectory
    settings = recorded.header["settings"] | {"integrator": {"type": "Later", "order": 7}}
    other = xs.Trajectory(recorded._arrays, recorded.header | {"settings": settings})
    with pytest.raises(xs.InvalidArgument, match="'Later', which this version does not know"):
        _ = other.settings
