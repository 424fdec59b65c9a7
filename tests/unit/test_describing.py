"""What print(sim) says of a simulator, and of what it misses."""

import numpy as np
import pytest

import exposim as xs
from mesh_shapes import block, write_obj


class Wall(xs.Surface):
    material = xs.Material(2e5, (300.0, 100.0), 0.5)

    def distance(self, p):
        return 5.0 - p[:, 0]

    def normal(self, p):
        return np.tile([-1.0, 0.0, 0.0], (len(p), 1))


@pytest.fixture(scope="module")
def go2():
    return xs.load_robot("go2")


@pytest.fixture(scope="module")
def both(go2):
    crate = xs.rigid_body("crate", xs.Box(size=(0.4, 0.4, 0.4)), mass=5.0)
    return xs.combine(go2=go2, crate=crate, poses={"crate": [1.0, 0.0, 0.2, 0.0, 0.0, 0.0, 1.0]})


def lines(sim):
    return [line.strip() for line in str(sim).splitlines()]


def test_it_says_what_is_there(both):
    boxes = [xs.Box(size=(0.1, 0.1, 0.1), position=(5.0, i, 0.0)) for i in range(3)]
    lid = xs.Sphere(0.1, frame="crate/crate")
    sim = xs.Simulator(both, [xs.HalfSpace(), Wall(), lid, *boxes], dt=5e-3, collisions="all")
    told = lines(sim)
    assert told[0] == "simulator of 'go2+crate' by expo, dt 0.005 s, at t = 0 s"
    assert "go2: a free base, 12 actuated joints, 4 contact points, 19 shapes" in told
    assert "crate: a free base, 0 actuated joints, 8 contact points, 1 shape" in told
    assert "HalfSpace: 100000 N/m, 300 N·s/m, friction 1" in told
    assert "Wall: 200000 N/m, 300 and 100 N·s/m, friction 0.5" in told
    assert "3 x Box: 100000 N/m, 300 N·s/m, friction 1" in told
    assert "Sphere carried by 'crate/crate': 100000 N/m, 300 N·s/m, friction 1" in told
    assert "go2 with crate" in told
    assert "12 contact points against 20 shapes of bodies" in told
    assert "20 shapes of bodies against 36 edges of the ground" in told
    assert repr(sim).startswith("Simulator('go2+crate', Expo(")


def test_it_says_what_is_missed(both, go2):
    missed = str(xs.Simulator(go2, xs.HalfSpace())).partition("missed\n")[2]
    assert "without contact points, which pass through the ground: base, FL_thigh, " in missed
    assert "shapes of files that take no part (collisions=, or edges=True on ground with edges): go2" in missed
    missed = str(xs.Simulator(both, [xs.HalfSpace(), Wall()], collisions="all")).partition("missed\n")[2]
    assert "without contact points, which pass through the ground: go2/base, go2/FL_thigh, " in missed
    assert "edges that are not known, so that no shape lies on them: 1 x Wall, 19 x Mesh" in missed
    assert "take no part" not in missed


def test_edges_of_meshes_are_missed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "block.obj"
    write_obj(path, block((1.0, 1.0, 1.0)))
    mesh = xs.Mesh(path, resolution=0.1)
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=1.0)
    assert "so that no shape lies on them: 1 x Mesh" in str(xs.Simulator(ball, mesh))


def test_it_names_what_overlaps_at_the_start_and_robots_without_shapes(go2):
    auto = xs.load_robot("go2", contact_points="auto")
    sim = xs.Simulator(auto, xs.HalfSpace(), collisions=[("go2", "go2")])
    assert "go2 with itself" in lines(sim)
    assert "points within shapes of the same robot at q0, which do not touch them: FL_thigh_4 in base" in str(sim)
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=1.0)
    bare = xs.combine(go2=go2.replace(shapes=[]), ball=ball)
    assert "robots in collisions without shapes, through which points of others pass: go2" in str(
        xs.Simulator(bare, collisions="all")
    )


def test_nothing_missed_is_said_too():
    ball = xs.rigid_body("ball", xs.Sphere(0.05), mass=1.0)
    assert lines(xs.Simulator(ball))[-3:] == ["ground: none", "collisions: none", "missed: none"]
