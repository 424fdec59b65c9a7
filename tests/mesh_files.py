"""Small meshes as files."""

import itertools

import numpy as np


def write_stl(path, triangles):
    """ASCII, of (n, 3, 3) corners."""
    lines = ["solid it"]
    for corners in np.asarray(triangles, dtype=float):
        n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        n /= np.linalg.norm(n)
        lines += [f"facet normal {n[0]} {n[1]} {n[2]}", "outer loop"]
        lines += [f"vertex {x:.9g} {y:.9g} {z:.9g}" for x, y, z in corners]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid it"]), encoding="utf-8")
    return path


def cube(half):
    """Twelve triangles."""
    found = []
    for axis, sign in itertools.product(range(3), (-1.0, 1.0)):
        u, v = np.roll(np.eye(3), axis, axis=0)[1:]
        middle = sign * np.roll(np.eye(3), axis, axis=0)[0]
        corners = [middle - u - v, middle + u - v, middle + u + v, middle - u + v]
        found += [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
    return half * np.array(found)


def ball(radius, n=24):
    """By latitude and longitude."""
    theta, phi = np.linspace(0.0, np.pi, n), np.linspace(0.0, 2.0 * np.pi, 2 * n)
    p = np.stack(
        [
            np.outer(np.sin(theta), np.cos(phi)),
            np.outer(np.sin(theta), np.sin(phi)),
            np.outer(np.cos(theta), np.ones_like(phi)),
        ],
        axis=2,
    )
    triangles = []
    for i, j in itertools.product(range(n - 1), range(2 * n - 1)):
        triangles += [[p[i, j], p[i + 1, j], p[i + 1, j + 1]], [p[i, j], p[i + 1, j + 1], p[i, j + 1]]]
    areas = [np.linalg.norm(np.cross(t[1] - t[0], t[2] - t[0])) for t in triangles]
    return radius * np.array([t for t, area in zip(triangles, areas, strict=True) if area > 1e-9])
