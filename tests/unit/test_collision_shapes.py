"""The shapes of links: read as Pinocchio reads them, carried by the links' frames, and no mesh is read for it."""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import exposim as xs
from bad_input import refused
from exposim.contact import mesh_hulls, meshes
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.robots import hulls
from exposim.robots.collision_shapes import shapes_of
from exposim.robots.solids import Solid, by_link
from mesh_files import cube, write_stl
from robot_files import ARM_URDF, BODY_URDF, KNOWN, known, pendulum, write

COLLISION = '<collision><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><geometry>{}</geometry></collision>'


def brick(folder, *geometries):
    text = "".join(COLLISION.format(each) for each in geometries)
    return xs.load_robot(write(folder, BODY_URDF.replace("</link>", text + "</link>")), contact_points=())


def size_of(shape):
    """As Pinocchio has it."""
    kind = type(shape).__name__
    if kind == "Box":
        return (2.0 * shape.halfSide).tolist()
    return [shape.radius] if kind == "Sphere" else [shape.radius, 2.0 * shape.halfLength]


@pytest.mark.parametrize("name", KNOWN)
def test_the_shapes_of_a_known_robot_are_those_that_pinocchio_reads(name):
    robot = known(name)
    folders = [str(folder) for folder in (*robot.package_dirs, *robot.source.parents)]
    geometry = pin.buildGeomFromUrdf(robot.model, str(robot.source), pin.GeometryType.COLLISION, package_dirs=folders)
    expected = {shape.name: shape for shape in geometry.geometryObjects}
    found = {
        f"{link}_{i}": solid
        for link, solids in by_link(robot.file_shapes.solids).items()
        for i, solid in enumerate(solids)
    }
    assert found.keys() == expected.keys()
    for key, solid in found.items():
        joint, placement = robot.locate(solid.link)
        assert joint == expected[key].parentJoint
        assert_allclose((placement * solid.placement).homogeneous, expected[key].placement.homogeneous, atol=1e-12)
        if solid.kind == "mesh":
            assert str(solid.path) == str(expected[key].meshPath)
            assert_allclose(solid.size, expected[key].meshScale)
        else:
            assert_allclose(solid.size, size_of(expected[key].geometry))


@pytest.mark.parametrize("name", KNOWN)
def test_every_shape_is_carried_by_a_frame_of_the_robot(name):
    robot = known(name)
    assert len(robot.shapes) == len(robot.file_shapes.solids)
    for shape in robot.shapes:
        robot.locate(shape.frame)


def test_no_mesh_is_read_where_nobody_asks_for_its_points(monkeypatch):
    for module, name in ((mesh_hulls, "_read_vertices"), (meshes, "convex_hull"), (hulls, "vertices")):
        monkeypatch.setattr(module, name, lambda *_: pytest.fail("read"))
    shapes = xs.load_robot("solo12").shapes
    assert all(isinstance(shape, Mesh) and shape.hull for shape in shapes)


def test_shapes_are_made_once_and_go_with_copies():
    robot = known("anymal_c")
    assert robot.shapes is robot.shapes
    assert robot.replace(joint_damping=0.1).shapes == robot.shapes
    assert pickle.loads(pickle.dumps(robot)).shapes == robot.shapes


def test_every_kind_of_urdf_shape(tmp_path):
    write_stl(tmp_path / "it.stl", cube(0.1))
    robot = brick(
        tmp_path,
        '<box size="1 2 3"/>',
        '<sphere radius="0.5"/>',
        '<cylinder radius="0.5" length="2"/>',
        '<capsule radius="0.5" length="2"/>',
        '<mesh filename="it.stl" scale="2 2 2"/>',
    )
    box, sphere, cylinder, capsule, mesh = robot.shapes
    assert [type(each) for each in robot.shapes] == [Box, Sphere, Cylinder, Capsule, Mesh]
    assert_allclose(box.size, [1, 2, 3])
    assert (sphere.radius, cylinder.radius, cylinder.length, capsule.radius, capsule.length) == (0.5, 0.5, 2, 0.5, 2)
    assert (str(mesh.path), mesh.scale) == (str((tmp_path / "it.stl").resolve()), 2.0)
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3)).coeffs()
    for shape in robot.shapes:
        assert shape.frame == "brick"
        assert_allclose(shape.position, [1, 2, 3])
        if shape is not sphere:
            assert_allclose(shape.rotation, turn, atol=1e-12)


@pytest.mark.parametrize(
    ("geometry", "why"),
    [
        ('<box size="1 2"/>', "its size is 1 2"),
        ('<box size="1 2 -3"/>', "its size is 1 2 -3"),
        ('<sphere radius="0"/>', "its size is 0"),
        ('<sphere radius="nan"/>', "its size is nan"),
        ('<cone radius="1" length="2"/>', "a shape of that kind is not known"),
        ('<mesh filename="gone.stl"/>', "there is no file gone.stl"),
        ('<mesh filename="file:///gone.stl"/>', "there is no file file:///gone.stl"),
        (f'<mesh filename="{"a" * 5000}"/>', "there is no file aaa"),
    ],
)
def test_what_is_no_shape_is_left_out_and_told_of(geometry, why, tmp_path):
    try:
        robot = brick(tmp_path, geometry, '<sphere radius="0.5"/>')
    except xs.ModelParseError:  # Pinocchio's reader may be stricter
        return
    assert len(robot.shapes) == 1
    assert why in str(robot)


def test_an_ellipsoid_is_no_surface():
    surfaces, left_out = shapes_of([Solid("it", "ellipsoid", (1.0, 2.0, 3.0)), Solid("it", "sphere", (1.0,))])
    assert [type(each) for each in surfaces] == [Sphere]
    (lost,) = left_out
    assert (lost.link, lost.what, lost.why) == ("it", "ellipsoid", "there is no surface of that kind")


def test_friction_of_a_file_is_that_of_the_surface():
    (surface,), _ = shapes_of([Solid("it", "sphere", (1.0,), friction=0.3)])
    assert surface.material == xs.Material(friction=0.3)


def test_a_robot_without_shapes_has_none(tmp_path):
    assert xs.load_robot(pendulum()).shapes == ()
    assert xs.load_robot(write(tmp_path, ARM_URDF)).shapes == ()


def test_surfaces_given_by_hand_are_printed_too():
    robot = known("go2").replace(shapes=[Sphere(0.1, frame="base"), Box((1, 1, 1), frame="FL_foot")])
    assert [type(each).__name__ for each in robot.shapes] == ["Sphere", "Box"]
    assert np.all([word in str(robot) for word in ("base     sphere", "FL_foot  box")])


def test_a_damaged_mesh_is_told_of_when_it_is_touched(tmp_path):
    (tmp_path / "it.stl").write_bytes(b"solid it\nfacet")
    robot = brick(tmp_path, '<mesh filename="it.stl"/>')
    refused(xs.UnreadableFile, robot.shapes[0]._build, "it.stl", "no mesh")
