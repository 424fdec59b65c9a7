"""Springs attached to a mass block by block, (I + AB)⁻¹A, held to NumPy through sequences of calls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import block_diag

from exposim import _bench

SIZES = {
    "one point": [3],
    "quadruped": [3, 3, 3, 3],
    "soles": [6, 6],
    "soles and limits": [6, 1, 3, 1, 6],
    "many": [3] * 9,
}


def random_mass(rng: np.random.Generator, n: int) -> np.ndarray:
    """What forces do to n coordinates: symmetric and positive."""
    R = rng.standard_normal((n, n + 4))
    return R @ R.T


def random_blocks(rng: np.random.Generator, sizes: list[int]) -> list[np.ndarray]:
    """Springs, some of which pull sideways like friction, and some of which are not there."""
    blocks = []
    for size in sizes:
        R = rng.standard_normal((size, size))
        sideways = 0.1 * rng.standard_normal((size, size))
        blocks.append((R @ R.T + sideways) * 10.0 ** rng.uniform(-3.0, 2.0) * (rng.random() > 0.2))
    return blocks


def assert_attached(attaching, A, blocks, rng):
    matrix = np.eye(len(A)) + A @ block_diag(*blocks)
    X = np.linalg.solve(matrix, A)
    w = rng.standard_normal(len(A))
    assert_allclose(attaching.apply(w), X @ w, rtol=1e-6, atol=1e-7 * np.abs(X).max())
    assert_allclose(attaching.determinant, np.linalg.det(matrix), rtol=1e-6)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_attached_is_right_after_every_call_of_a_random_sequence(name, seed):
    """Those that last are kept from call to call, also from calls in which all or none of them did."""
    rng = np.random.default_rng(seed)
    sizes = SIZES[name]
    A = random_mass(rng, sum(sizes))
    attaching = _bench.Attaching(A)
    kept = None  # blocks that last, by their index
    for _ in range(30):
        blocks = random_blocks(rng, sizes)
        as_before = kept is not None and rng.random() < 0.5
        lasting = (rng.random(len(sizes)) < rng.random()).tolist()
        if as_before:
            lasting = [i in kept for i in range(len(sizes))]
            blocks = [kept.get(i, block) for i, block in enumerate(blocks)]
        attaching.attach(blocks, lasting, as_before)
        assert_attached(attaching, A, blocks, rng)
        kept = {i: block for i, block in enumerate(blocks) if lasting[i]}


@pytest.mark.parametrize("seed", range(8))
def test_blocks_that_cannot_be_attached_first_wait_for_others(seed):
    """As friction that jams: its own equation is singular, that of all is not."""
    rng = np.random.default_rng(seed)
    A = random_mass(rng, 6)
    jams = -np.linalg.inv(A[:3, :3])  # I + A₁₁B₁ = 0
    blocks = [jams, 5.0 * np.eye(3)]
    attaching = _bench.Attaching(A)
    attaching.attach(blocks, [False, False], False)
    assert_attached(attaching, A, blocks, rng)
