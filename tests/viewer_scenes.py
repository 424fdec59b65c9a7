"""Small motions to look at, and ways to look at them in a page of the browser."""

import io
import time

import numpy as np
from PIL import Image

import exposim as xs
from exposim.contact.modes import OPEN, SLIPPING, STICKING
from exposim.scenarios import Scenario, get
from exposim.simulation.trajectory import Trajectory
from robot_files import write

INERTIAL = '<inertial><mass value="1"/><inertia ixx=".02" iyy=".02" izz=".02" ixy="0" ixz="0" iyz="0"/></inertial>'
TABLE_URDF = f"""<robot name="table"><link name="top">{INERTIAL}
  <visual><geometry><box size="0.4 0.3 0.05"/></geometry>
    <material name="wood"><color rgba="0.9 0.7 0.3 1"/></material></visual>
  {{legs}}</link></robot>"""
LEG = '<visual><origin xyz="{x} {y} -0.1"/><geometry><cylinder radius="0.004" length="0.2"/></geometry></visual>'
CORNERS = [(0.15, 0.1), (0.15, -0.1), (-0.15, 0.1), (-0.15, -0.1)]
# Least distance of the robot's vertices from a plane z = …, or n·(p − point), in metres.
DISTANCE = """(() => {{
  const THREE = MeshCat.THREE, node = replay.viewer.scene_tree.find(["meshcat", "robot"]).object;
  const [n, p, v] = [new THREE.Vector3(...{normal}), new THREE.Vector3(...{point}), new THREE.Vector3()];
  let least = Infinity;
  replay.viewer.scene.updateMatrixWorld();
  node.traverse((mesh) => {{
    const vertices = mesh.geometry?.attributes.position;
    for (let i = 0; i < (vertices?.count ?? 0); i++) {{
      v.fromBufferAttribute(vertices, i).applyMatrix4(mesh.matrixWorld);
      least = Math.min(least, n.dot(new THREE.Vector3(v.x, -v.z, v.y).sub(p)));
    }}
  }});
  return least;
}})()"""
ARROWS = """[0, 1, 2, 3].map((i) => {
  const find = (...path) => replay.viewer.scene_tree.find(["meshcat", "contacts", `${i}`, "arrow", ...path]).object;
  const head = find("head");
  return {visible: find().visible, colour: find("head", "<object>").material.color.toArray(),
          shaft: find("shaft", "<object>").material.color.toArray(), length: head.position.z + head.scale.z};
})"""


def table_robot(folder):
    """A table of boxes and cylinders that touches with the ends of its four legs."""
    legs = "".join(LEG.format(x=x, y=y) for x, y in CORNERS)
    feet = [xs.ContactPoint("top", offset=(x, y, -0.2), name=f"{x}, {y}") for x, y in CORNERS]
    return xs.load_robot(write(folder, TABLE_URDF.format(legs=legs)), contact_points=feet)


def slide(robot, ground, height=0.05, duration=0.4):
    """A robot let go above the ground."""
    q0 = robot.q0
    q0[2] += height
    return Scenario("slide", robot, None, 1e-3, duration, ground=ground, q0=q0).run()


def fall_and_slip():
    """Solo12 falls, lands and bounces; two of its feet are said to slip in the last tenth of a second."""
    recorded = get("drop").run(duration=0.6)
    mode = np.where(recorded.active, STICKING, OPEN)
    late = recorded.t > 0.5
    mode[late, :2] = np.where(recorded.active[late, :2], SLIPPING, OPEN)
    return Trajectory({**recorded._arrays, "mode": mode}, recorded.header)


def pixels(page, width=1.0):
    """Of the left part of the page, (h, w, 3)."""
    shot = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)
    return shot[:, : round(width * shot.shape[1])]


def count(shot, colour):
    """Pixels of about that hue, in any light."""
    red, green, blue = np.moveaxis(shot, -1, 0)
    if colour == "red":
        return int(np.sum((red > 90) & (red > 3 * green) & (red > 3 * blue)))
    return int(np.sum((blue > 90) & (blue > 2.5 * red) & (blue > 1.4 * green)))


def is_a_picture(shot):
    return len(np.unique(shot.reshape(-1, 3), axis=0)) > 200


def settled(page, holds):
    """The picture, left of the controls, once it is as it should be."""
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        shot = pixels(page, 0.55)
        if holds(shot):
            return shot
        page.next_frame()
    raise AssertionError("the picture does not become what it should be")


def press(page, label):
    page.evaluate(f"[...document.querySelectorAll('button')].find((b) => b.textContent === {label!r}).click()")
