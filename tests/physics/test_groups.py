"""Bodies that feel nothing of each other are followed as if each were alone."""

import numpy as np
import pinocchio as pin
import pytest

import exposim as xs

MASSES = [  # mass, position and velocity of points: one slides, one lands, one is pushed off, one flies
    (1.0, (0.0, 0.0, -1e-4), (1.5, -0.5, 0.0)),
    (2.0, (1.0, 0.0, 3e-3), (0.3, 0.2, -1.1)),
    (0.5, (2.0, 0.0, -2e-4), (0.0, 0.0, 0.4)),
    (1.5, (3.0, 0.0, 2e-3), (0.1, 0.0, 0.2)),
]


def simulator(masses, **options):
    model = pin.Model()
    for i, (mass, _, _) in enumerate(masses):
        joint = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), f"slide_{i}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.zeros(3), 1e-2 * np.eye(3)), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"mass_{i}", joint, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    robot = xs.load_robot(model, contact_points=[xs.ContactPoint(f"mass_{i}") for i in range(len(masses))])
    sim = xs.Simulator(robot, xs.HalfSpace(xs.Material(friction=0.4)), xs.Expo(**options), dt=5e-3)
    sim.reset(np.concatenate([p for _, p, _ in masses]), np.concatenate([v for _, _, v in masses]))
    return sim


@pytest.mark.filterwarnings("ignore::exposim.ModelWarning")
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 1, 0, 2]])
def test_masses_that_share_nothing_move_as_if_each_were_alone(order):
    masses = [MASSES[i] for i in order]
    # Alone, what holds is integrated in closed form; beside others that slip it is followed, to a tolerance.
    closely = {"micro_tolerance": 5e-6}
    together, alone = simulator(masses, **closely), [simulator([mass], **closely) for mass in masses]
    events = 0
    for _ in range(20):
        for sim in (together, *alone):
            sim.step()
        events += together.info.events
        assert np.abs(together.q - np.concatenate([sim.q for sim in alone])).max() < 1e-7
        assert np.abs(together.v - np.concatenate([sim.v for sim in alone])).max() < 1e-5
        assert together.info.events == sum(sim.info.events for sim in alone)
        assert together.active.tolist() == [sim.active[0] for sim in alone]
    assert events >= 3


@pytest.mark.filterwarnings("ignore::exposim.ModelWarning")
def test_a_mass_that_lands_costs_those_that_slide_no_micro_steps():
    sliding = [(1.0, (float(i), 0.0, -1e-4), (1.0 + i, 0.0, 0.0)) for i in range(3)]
    together, alone, landing = simulator([*sliding, MASSES[1]]), simulator(sliding), simulator([MASSES[1]])
    for sim in (together, alone, landing):
        sim.step()
    assert landing.info.events >= 1
    assert together.info.micro_steps == alone.info.micro_steps + landing.info.micro_steps
