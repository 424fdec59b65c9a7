"""Files and names that describe no robot are refused."""

import functools
import pathlib
import tempfile

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import exposim as xs
from bad_input import GOOD_MJCF, GOOD_URDF, JOINT, LINK, NAN, RAGGED, few, refused, short, solo12

# Robots and files.


@pytest.mark.parametrize(
    ("name", "closest"),
    [
        ("solo", "solo12"),
        ("solo-12", "solo12"),
        ("solo 12", "solo12"),
        ("Rome", "romeo"),
        ("tallos", "talos"),
        ("anymal", "anymal_c"),
        ("anymal_b", "anymal_c"),
        ("go", "go2"),
        ("g", "g1"),
    ],
)
def test_an_unknown_robot_is_told_the_closest(name, closest):
    refused(xs.UnknownRobot, lambda: xs.load_robot(name), repr(name), f"did you mean {closest!r}", ".urdf")


def test_an_unknown_robot_is_told_all_that_are_known():
    refused(xs.UnknownRobot, lambda: xs.load_robot("wombat"), "'wombat'", *xs.KNOWN_ROBOTS)


@few
@given(name=st.text().filter(lambda x: x.lower().replace("-", "_") not in xs.KNOWN_ROBOTS))
@example("")
@example(".")
@example("..")
@example("/")
@example("\0")
@example("\0.urdf")
@example("x" * 5000)
@example("x" * 5000 + ".urdf")
@example("x" * 5000 + "/a.xml")
@example(".urdf")
def test_any_text_that_is_no_robot_is_refused(name):
    refused(xs.ExposimError, lambda: xs.load_robot(name))


@pytest.mark.parametrize("source", [None, 5, 1.5, b"solo12", [], {}, object(), pin.Model, xs.load_robot], ids=short)
def test_a_source_that_is_none_is_refused(source):
    refused(xs.InvalidArgument, lambda: xs.load_robot(source), "source is", "pinocchio.Model")


def test_a_robot_is_no_source():
    refused(xs.InvalidArgument, lambda: xs.load_robot(solo12()), "source is a Robot", "pinocchio.Model")


@pytest.mark.parametrize("name", ["hopper.urdf", "hopper.xml"])
def test_an_unknown_file_is_told_the_closest_in_its_folder(tmp_path, name):
    (tmp_path / name).write_text("")
    (tmp_path / "wombat.urdf").write_text("")
    path = tmp_path / name.replace("pp", "p")
    refused(xs.UnknownFile, lambda: xs.load_robot(path), str(path), f"did you mean {name!r}")


def test_a_file_with_the_wrong_suffix_is_told_the_right_one(tmp_path):
    (tmp_path / "hopper.xml").write_text("")
    path = tmp_path / "hopper.urdf"
    refused(xs.UnknownFile, lambda: xs.load_robot(path), str(path), "did you mean 'hopper.xml'")


def test_a_file_in_a_folder_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "nowhere" / "robot.urdf"
    refused(xs.UnknownFile, lambda: xs.load_robot(path), str(path))


def test_an_unknown_file_is_also_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        xs.load_robot(tmp_path / "robot.urdf")


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize("suffix", [".sdf", ".SDF"])
def test_an_sdf_file_is_refused(tmp_path, suffix, exists):
    path = tmp_path / f"robot{suffix}"
    if exists:
        path.write_text("<sdf/>")
    refused(xs.UnsupportedModel, lambda: xs.load_robot(path), str(path), "SDF", "convert it to URDF")


@pytest.mark.parametrize("name", ["robot.stl", "robot.json", "robot.urdf.bak"])
def test_a_file_of_another_kind_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(GOOD_URDF)
    refused(xs.UnsupportedModel, lambda: xs.load_robot(path), str(path), ".urdf", ".xml")


def test_a_folder_is_refused(tmp_path):
    refused(xs.ExposimError, lambda: xs.load_robot(tmp_path), str(tmp_path))


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_a_folder_with_the_name_of_a_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"robot{suffix}"
    path.mkdir()
    message = refused(xs.ExposimError, lambda: xs.load_robot(path), str(path))
    assert f"did you mean 'robot{suffix}'" not in message, f"suggests what was given: {message}"


def load_text(folder, text, suffix, **options):
    path = pathlib.Path(folder) / f"robot{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return xs.load_robot(path, **options)


def test_the_good_files_of_these_tests_are_good(tmp_path):
    assert load_text(tmp_path, GOOD_URDF, ".urdf").model.nv == 7
    assert load_text(tmp_path, GOOD_MJCF, ".xml").model.nv == 6


UNPARSABLE = {
    "empty": b"",
    "blank": b"  \n\n ",
    "zeros": b"\0" * 100,
    "binary": bytes(range(256)) * 4,
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "prose": b"This is no robot.",
    "an unclosed tag": b"<robot name='a'><link name='b'>",
    "another root": b"<model/>",
    "two roots": b"<robot name='a'/><robot name='b'/>",
    "an encoding that does not exist": b"<?xml version='1.0' encoding='klingon'?><robot name='a'/>",
    "an encoding that Python's parser lacks": b"<?xml version='1.0' encoding='utf-32'?><robot name='a'/>",
    "not the encoding it says": b"<?xml version='1.0' encoding='utf-8'?><robot name='\xff'/>",
    "an undefined entity": b"<robot name='a'>&nothing;</robot>",
    "HTML": b"<!DOCTYPE html><html><body>404</body></html>",
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
}


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
@pytest.mark.parametrize("what", UNPARSABLE)
def test_a_file_that_does_not_parse_is_refused(tmp_path, what, suffix):
    act = functools.partial(load_text, tmp_path, UNPARSABLE[what], suffix)
    refused(xs.ModelParseError, act, str(tmp_path / f"robot{suffix}"), "URDF" if suffix == ".urdf" else "MJCF")


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
@few
@given(text=st.binary(max_size=200))
def test_a_file_of_noise_is_refused(suffix, text):
    with tempfile.TemporaryDirectory() as folder:
        refused(xs.ModelParseError, lambda: load_text(folder, text, suffix), folder)


@pytest.mark.parametrize(("suffix", "root", "right"), [(".urdf", "mujoco", "robot"), (".xml", "robot", "mujoco")])
def test_a_file_with_the_wrong_root_is_told_the_right_one(tmp_path, suffix, root, right):
    act = functools.partial(load_text, tmp_path, f"<{root}/>", suffix)
    refused(xs.ModelParseError, act, str(tmp_path), f"<{root}>", f"<{right}>")


BROKEN_URDF = {
    "no links": '<robot name="a"/>',
    "no name": "<robot/>",
    "a missing link": GOOD_URDF.replace(LINK.format(name="tip"), ""),
    "a missing parent": GOOD_URDF.replace('parent link="base"', 'parent link="bass"'),
    "a link twice": GOOD_URDF.replace('name="tip"', 'name="base"'),
    "two trees": GOOD_URDF.replace(JOINT.format(parent="base", child="tip"), ""),
    "a loop": GOOD_URDF.replace(
        "</robot>", JOINT.format(parent="tip", child="base").replace("hinge", "back") + "</robot>"
    ),
    "an unknown joint type": GOOD_URDF.replace("revolute", "wobbly"),
    "an axis that is no vector": GOOD_URDF.replace("0 1 0", "0 one 0"),
    "an axis of two numbers": GOOD_URDF.replace("0 1 0", "0 1"),
    "an axis that is nan": GOOD_URDF.replace("0 1 0", "0 nan 0"),
}


@pytest.mark.parametrize("what", BROKEN_URDF)
def test_a_urdf_file_that_describes_no_robot_is_refused(tmp_path, what):
    act = functools.partial(load_text, tmp_path, BROKEN_URDF[what], ".urdf")
    refused(xs.ModelParseError, act, str(tmp_path / "robot.urdf"), "URDF")


def test_a_urdf_file_with_a_zero_axis_is_refused(tmp_path):
    refused(xs.ExposimError, lambda: load_text(tmp_path, GOOD_URDF.replace("0 1 0", "0 0 0"), ".urdf"))


BROKEN_MJCF = {
    "nothing in it": "<mujoco/>",
    "an empty world": "<mujoco><worldbody/></mujoco>",
    "an unknown joint type": GOOD_MJCF.replace("<freejoint/>", '<joint name="j" type="wobbly"/>'),
    "an unknown default class": GOOD_MJCF.replace("<freejoint/>", '<joint name="j" class="nope"/>'),
    "a mass that is no number": GOOD_MJCF.replace('mass="1"', 'mass="heavy"'),
    "a mass that is missing": GOOD_MJCF.replace('mass="1"', ""),
    "a short keyframe": GOOD_MJCF.replace("</mujoco>", '<keyframe><key name="home" qpos="0 0 1"/></keyframe></mujoco>'),
    "a keyframe of words": GOOD_MJCF.replace(
        "</mujoco>", '<keyframe><key name="home" qpos="a b c d e f g"/></keyframe></mujoco>'
    ),
    "a position of two numbers": GOOD_MJCF.replace('<body name="brick"', '<body name="brick" pos="0 1"'),
    "an inertia of two numbers": GOOD_MJCF.replace("0.1 0.1 0.1", "0.1 0.1"),
    "an unknown shape": GOOD_MJCF.replace("</body>", '<geom type="blob" size="1"/></body>'),
}


@pytest.mark.parametrize("what", BROKEN_MJCF)
def test_an_mjcf_file_that_describes_no_robot_is_refused(tmp_path, what):
    act = functools.partial(load_text, tmp_path, BROKEN_MJCF[what], ".xml")
    refused(xs.ModelParseError, act, str(tmp_path / "robot.xml"), "MJCF")


@pytest.mark.parametrize(("suffix", "text"), [(".urdf", GOOD_URDF), (".xml", GOOD_MJCF)])
@settings(few, max_examples=60)
@given(data=st.data())
def test_a_damaged_file_is_loaded_or_refused_by_a_typed_error(suffix, text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    patch = data.draw(st.sampled_from(["", "0", "-1", "nan", '"', "<a>", "<!--", "x", " ", "1e999"]))
    damaged = text[:start] + patch + text[start + length :]
    with tempfile.TemporaryDirectory() as folder:
        try:
            robot = load_text(folder, damaged, suffix)
        except xs.ExposimError as error:
            assert "/project/" not in str(error), error
        else:
            assert np.isfinite(robot.q0).all()


@pytest.mark.parametrize("value", [1, 0, "yes", []], ids=short)
def test_a_floating_base_that_is_neither_true_nor_false_is_refused(tmp_path, value):
    refused(
        xs.InvalidArgument,
        lambda: load_text(tmp_path, GOOD_URDF, ".urdf", floating_base=value),
        "floating_base is",
        "True or False",
    )


@pytest.mark.parametrize("value", [["/no/such/folder"], [5], [None], 5, None], ids=short)
def test_package_dirs_that_are_no_folders_are_refused(tmp_path, value):
    act = functools.partial(load_text, tmp_path, GOOD_URDF, ".urdf", package_dirs=value)
    refused(xs.InvalidArgument, act, "package_dirs", "give")


def test_a_single_package_dir_is_refused_whole(tmp_path):
    # Not letter by letter.
    act = functools.partial(load_text, tmp_path, GOOD_URDF, ".urdf", package_dirs=str(tmp_path))
    refused(xs.InvalidArgument, act, "package_dirs", str(tmp_path), "give")


@pytest.mark.parametrize("q0", [np.zeros(3), np.zeros(8), np.full(8, NAN), "abc", np.zeros((8, 1)), RAGGED], ids=short)
def test_a_bad_q0_is_refused(tmp_path, q0):
    refused(xs.InvalidArgument, lambda: load_text(tmp_path, GOOD_URDF, ".urdf", q0=q0), "q0")
