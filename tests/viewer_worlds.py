"""Ground written in Python, to be looked at."""

import numpy as np

import exposim as xs


class _Ground(xs.Surface):
    def normal(self, p):
        steps = 1e-6 * np.eye(3)
        n = np.stack([self.distance(p + step) - self.distance(p - step) for step in steps], axis=1)
        return n / np.linalg.norm(n, axis=1)[:, None]


class Stairs(_Ground):
    """Level until x = 0.5 m, then steps upwards, in a direction turned about z."""

    def __init__(self, rise=0.12, run=0.3, steps=8, yaw=0.0):
        self.rise, self.run, self.steps, self.yaw = rise, run, steps, yaw

    def distance(self, p):
        x, z = p[:, 0] * np.cos(self.yaw) + p[:, 1] * np.sin(self.yaw), p[:, 2]
        nearest = z.copy()
        for i in range(self.steps):
            out = np.stack([0.5 + self.run * i - x, z - self.rise * (i + 1)])
            step = np.linalg.norm(np.maximum(out, 0.0), axis=0) + np.minimum(out.max(axis=0), 0.0)
            nearest = np.minimum(nearest, step)
        return nearest


class Bumps(_Ground):
    """Waves in both directions."""

    def __init__(self, height=0.05, waves=5.0):
        self.height, self.waves = height, waves

    def distance(self, p):
        return p[:, 2] - self.height * np.sin(self.waves * p[:, 0]) * np.cos(self.waves * p[:, 1])


class Pit(_Ground):
    """A plane with a round hole of half a metre."""

    def distance(self, p):
        beside, above = 0.5 - np.hypot(p[:, 0], p[:, 1]), p[:, 2]
        out = np.stack([beside, above])
        return np.linalg.norm(np.maximum(out, 0.0), axis=0) + np.minimum(out.max(axis=0), 0.0)
