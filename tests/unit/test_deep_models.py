"""Model files that would bring the process down are refused by a typed error; numbers without measure as well."""

import subprocess
import sys

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs
from bad_input import GOOD_MJCF, GOOD_URDF, LINK, refused
from exposim.robots.model_files import DEEPEST
from exposim.robots.models import MOST_DOFS

INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'


def joint(name, parent, child, kind="fixed"):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/></joint>'


def chain(links, kind="fixed"):
    """A URDF text of so many links in a row, the joints first and from the end on."""
    joints = [joint(f"j{i}", f"l{i - 1}", f"l{i}", kind) for i in range(links - 1, 0, -1)]
    return f'<robot name="chain">{"".join(joints)}{"".join(LINK.format(name=f"l{i}") for i in range(links))}</robot>'


def star(links, kind):
    joints = [joint(f"j{i}", "l0", f"l{i}", kind) for i in range(1, links)]
    return f'<robot name="star">{"".join(LINK.format(name=f"l{i}") for i in range(links))}{"".join(joints)}</robot>'


def nested(bodies):
    """An MJCF text of so many bodies within each other."""
    start = "".join(f'<body name="b{i}">{"" if i else "<freejoint/>"}{INERTIAL}' for i in range(bodies))
    return f'<mujoco model="nested"><worldbody>{start}{"</body>" * bodies}</worldbody></mujoco>'


def defaults(classes):
    start = "".join(f'<default class="c{i}">' for i in range(classes))
    return GOOD_MJCF.replace("<worldbody>", f"<default>{start}{'</default>' * classes}</default><worldbody>")


def write(folder, text, suffix):
    path = folder / f"robot{suffix}"
    path.write_text(text)
    return path


DEEP = {
    "links in a row": (chain(5000), ".urdf"),
    "a few too many links": (chain(DEEPEST + 1), ".urdf"),
    "moving links in a row": (chain(5000, "continuous"), ".urdf"),
    "bodies within each other": (nested(10_000), ".xml"),
    "a few too many bodies": (nested(DEEPEST), ".xml"),
    "classes within each other": (defaults(10_000), ".xml"),
    "anything in URDF": ('<robot name="a">' + "<a>" * 10**5 + "</a>" * 10**5 + "</robot>", ".urdf"),
    "anything in MJCF": ("<mujoco>" + "<a>" * 10**5 + "</a>" * 10**5 + "</mujoco>", ".xml"),
    "an end that never comes": ("<mujoco>" + "<a>" * 10**5, ".xml"),
}


@pytest.mark.parametrize("what", DEEP)
def test_a_file_that_is_too_deep_is_refused(what, tmp_path):
    path = write(tmp_path, *DEEP[what])
    reading = f"""
import exposim as xs
try:
    xs.load_robot({str(path)!r})
except xs.UnsupportedModel as error:
    assert {str(path)!r} in str(error) and "{DEEPEST}" in str(error), error
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", reading], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.parametrize("stack", [1, 8])
def test_the_deepest_files_are_read_also_on_a_small_stack(stack, tmp_path):
    urdf, mjcf = write(tmp_path, chain(DEEPEST), ".urdf"), write(tmp_path, nested(DEEPEST - 3), ".xml")
    reading = f"""
import threading, warnings
import exposim as xs
warnings.simplefilter("ignore")
read = []
def work():
    read.extend(xs.load_robot(path).nv for path in {[str(urdf), str(mjcf)]})
threading.stack_size({stack} * 2**20)
thread = threading.Thread(target=work)
thread.start()
thread.join()
assert read == [6, 6]
"""
    done = subprocess.run([sys.executable, "-c", reading], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]


def test_many_links_beside_each_other_are_not_deep(tmp_path):
    with pytest.warns(xs.ModelWarning):
        robot = xs.load_robot(write(tmp_path, star(3 * DEEPEST, "fixed"), ".urdf"))
    assert robot.nv == 6


def test_a_robot_of_too_many_joints_is_refused(tmp_path):
    path = write(tmp_path, star(3000, "continuous"), ".urdf")
    refused(xs.UnsupportedModel, lambda: xs.load_robot(path), "3005 degrees of freedom", MOST_DOFS)
    model = pin.Model()
    for i in range(MOST_DOFS + 1):
        model.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), f"j{i}")
    refused(xs.UnsupportedModel, lambda: xs.load_robot(model), "degrees of freedom")


LOOPS = {
    "ways that double with every link": "".join(
        joint(f"{side}{i}", f"l{i - 1}", f"l{i}") for i in range(1, 40) for side in "ab"
    ),
    "a link that hangs on its grandchild": joint("a", "l0", "l1") + joint("b", "l1", "l2") + joint("c", "l2", "l1"),
    "a link that hangs on itself": joint("a", "l0", "l1") + joint("b", "l1", "l1"),
}


@pytest.mark.parametrize("what", LOOPS)
def test_links_that_hang_on_two_joints_are_refused(what, tmp_path):
    links = "".join(LINK.format(name=f"l{i}") for i in range(40 if "double" in what else 3))
    path = write(tmp_path, f'<robot name="loop">{links}{LOOPS[what]}</robot>', ".urdf")
    refused(xs.ModelParseError, lambda: xs.load_robot(path), str(path), "'l1' hangs on two joints")


ENTITIES = {
    "one": '<!DOCTYPE x [<!ENTITY a "b">]>',
    "of a file": '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    "that multiply": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>",
    "of parameters": '<!DOCTYPE x [<!ENTITY % a "b">]>',
}


@pytest.mark.parametrize(("suffix", "text"), [(".urdf", GOOD_URDF), (".xml", GOOD_MJCF)])
@pytest.mark.parametrize("what", ENTITIES)
def test_entities_are_refused(what, suffix, text, tmp_path):
    path = write(tmp_path, ENTITIES[what] + text, suffix)
    refused(xs.ModelParseError, lambda: xs.load_robot(path), str(path), "declares an entity")


def test_files_that_are_included_are_said_not_to_be_read(tmp_path):
    text = GOOD_MJCF.replace("<worldbody>", '<include file="robot.xml"/><worldbody>')  # itself, at that
    with pytest.warns(xs.ModelWarning, match=r"includes, which are not read \(robot\.xml\)"):
        assert xs.load_robot(write(tmp_path, text, ".xml")).nv == 6


def test_a_file_that_may_not_be_read_is_said_to_be_so(tmp_path, monkeypatch):
    path = write(tmp_path, GOOD_URDF, ".urdf")

    def deny(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "read_bytes", deny)
    refused(xs.ModelParseError, lambda: xs.load_robot(path), str(path), "cannot be read: Permission denied")


# ----- numbers without measure

EXTREME = ("1e-320", "1e-30", "1e30", "1e160", "1e300", "1.7e308")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("value", EXTREME)
@pytest.mark.parametrize("what", ["mass", "inertia", "place", "all"])
def test_a_robot_of_extreme_numbers_is_loaded_or_refused(what, value, tmp_path):
    text = GOOD_URDF.replace("<axis", '<origin xyz="0 0 0.1"/><axis')
    for word, old in {"mass": 'mass value="1"', "inertia": '="0.1"', "place": "0 0 0.1"}.items():
        if what in (word, "all"):
            text = text.replace(old, old.replace("0.1" if word != "mass" else "1", value))
    assert value in text
    for floating in (True, False):
        try:
            robot = xs.load_robot(write(tmp_path, text, ".urdf"), floating_base=floating)
        except xs.ExposimError:
            continue
        assert np.isfinite(robot.q0).all()
        assert isinstance(xs.Simulator(robot).advise().fastest, float)


def advice(stiffness, damping, mass="1"):
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "j")
    model.appendBodyToJoint(joint, pin.Inertia(float(mass), np.zeros(3), np.zeros((3, 3))), pin.SE3.Identity())
    model.addFrame(pin.Frame("p", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    robot = xs.load_robot(
        model, contact_points=[xs.ContactPoint("p", bilateral=True, material=xs.Material(stiffness, damping))]
    )
    sim = xs.Simulator(robot)
    sim.reset()
    return sim.advise()


@pytest.mark.filterwarnings("ignore:robot")
@pytest.mark.parametrize("scale", [1e-120, 1e-20, 1.0, 1e30, 1e120, 1e150])
def test_advice_is_right_at_every_stiffness(scale):
    """An oscillator of 1 kg whose time runs faster by `scale`: rates and steps scale with it, the ratio does not."""
    shown = advice(4.0 * scale**2, 1.0 * scale)
    assert shown.fastest == pytest.approx(2.0 * scale)
    assert shown.damping_ratio == pytest.approx(0.25)
    assert np.abs(shown.modes) == pytest.approx(2.0 * scale)
    plain = advice(4.0, 1.0).explicit_euler_dt
    assert shown.explicit_euler_dt == pytest.approx(min(plain / scale, 1.0) if scale < 1e12 else 0.0, rel=1e-3)


@pytest.mark.filterwarnings("ignore:robot")
@pytest.mark.parametrize(
    ("stiffness", "damping"),
    [(1e-320, 1e30), (1e-200, 1e300), (1e300, 0.0), (1e-320, 0.0), (1e160, 1e300), (1.0, 1e308)],
)
def test_advice_at_extreme_ratios_has_a_number_for_everything(stiffness, damping):
    shown = advice(stiffness, damping)
    assert shown.fastest > 0.0 or stiffness < 1e-300
    assert shown.damping_ratio >= 0.0
    assert not np.isnan(shown.modes).any()
    assert str(shown)


@pytest.mark.filterwarnings("ignore:robot")
@pytest.mark.parametrize(("stiffness", "damping"), [(1e305, 0.0), (1.0, 1e305)])
def test_contacts_beyond_all_numbers_are_said_to_be_so(stiffness, damping):
    refused(xs.InvalidArgument, lambda: advice(stiffness, damping, mass="1e-5"), "stiffness or damping", "not finite")
