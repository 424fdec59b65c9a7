"""Meshes of known shapes, and files of them."""

import numpy as np

STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def ball(radius, times):
    """Triangles (m, 3, 3) of an octahedron's, divided so many times and moved out to the ball."""
    x, y, z = np.eye(3)
    signs = [(a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1)]
    t = np.array([(a * x, b * y, c * z) if a * b * c > 0 else (b * y, a * x, c * z) for a, b, c in signs])
    for _ in range(times):
        a, b, c = t[:, 0], t[:, 1], t[:, 2]
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        t = np.concatenate([np.stack(each, axis=1) for each in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        t /= np.linalg.norm(t, axis=2, keepdims=True)
    return radius * t


def block(size):
    """Twelve triangles (12, 3, 3) of a box around the origin."""
    x, y, z = 0.5 * np.diag(size)
    quads = [
        (sign * a + b + c, sign * a - b + c, sign * a - b - c, sign * a + b - c)[:: int(sign)]
        for a, b, c in ((x, y, z), (y, z, x), (z, x, y))
        for sign in (1.0, -1.0)
    ]
    return np.array([triangle for p, q, r, s in quads for triangle in ((p, q, r), (p, r, s))])


def write_stl(path, triangles):
    data = np.zeros(len(triangles), STL)
    data["corners"] = triangles
    path.write_bytes(b"made for a test".ljust(80) + np.uint32(len(data)).tobytes() + data.tobytes())
    return path


def write_ascii_stl(path, triangles):
    facets = [
        "facet normal 0 0 0\n outer loop\n"
        + "".join(f"  vertex {x!r} {y!r} {z!r}\n" for x, y, z in triangle.astype(np.float32).tolist())
        + " endloop\nendfacet\n"
        for triangle in triangles
    ]
    path.write_text("solid shape\n" + "".join(facets) + "endsolid shape\n")
    return path


def write_obj(path, triangles):
    vertices, index = np.unique(triangles.astype(np.float32).reshape(-1, 3), axis=0, return_inverse=True)
    lines = ["# made for a test", *(f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()), "vn 0 0 1"]
    lines += ["f " + " ".join(f"{i + 1}//1" for i in face) for face in index.reshape(-1, 3).tolist()]
    path.write_text("\n".join(lines) + "\n")
    return path
