"""Robots in stiff frictional contact, simulated by exponential integration.

The stiffness you type is the stiffness you get, at steps of several milliseconds::

    import exposim as xs

    robot = xs.load_robot("solo12")
    ground = xs.HalfSpace(material=xs.Material(stiffness=1e5, damping=300.0, friction=1.0))
    sim = xs.Simulator(robot, ground, integrator=xs.Expo(), dt=5e-3)
    sim.step(tau)
"""

import importlib
from typing import TYPE_CHECKING, Any

import exposim._abi  # noqa: F401  # isort: skip  # first of all: refuses a wrong Pinocchio before the extension loads

from exposim import kernels, terrain
from exposim.contact.contacts import Contact
from exposim.contact.height_fields import HeightField
from exposim.contact.materials import Material
from exposim.contact.meshes import Mesh
from exposim.contact.shapes import Box, Capsule, Cylinder, Sphere
from exposim.contact.surfaces import HalfSpace, Surface
from exposim.errors import (
    ContactWarning,
    ExposimError,
    InvalidArgument,
    MissingExtra,
    ModelParseError,
    ModelWarning,
    PinocchioMismatch,
    SetupWarning,
    SimulationDiverged,
    SimulatorBusy,
    StateMismatch,
    UnknownFile,
    UnknownFrame,
    UnknownRobot,
    UnknownScenario,
    UnreadableFile,
    UnsupportedModel,
)
from exposim.kernels import Pade
from exposim.robots.auto_points import AutoPoints
from exposim.robots.combining import combine
from exposim.robots.joints import Drive, DryFriction, Joint, JointLimits
from exposim.robots.known import KNOWN_ROBOTS
from exposim.robots.loading import load_ground, load_robot
from exposim.robots.loops import Loop
from exposim.robots.rigid_bodies import rigid_body
from exposim.robots.robot import ContactPoint, Robot
from exposim.simulation.events import Event
from exposim.simulation.integrators import (
    ExplicitEuler,
    Expo,
    ImplicitEuler,
    Integrator,
    PaperExpo,
    RungeKutta4,
    SemiImplicitEuler,
)
from exposim.simulation.path import Path
from exposim.simulation.simulator import Simulator
from exposim.simulation.state import State

if TYPE_CHECKING:
    from exposim import analysis as analysis
    from exposim import controllers, scenarios, sensors
    from exposim import envs as envs
    from exposim import identification as identification
    from exposim import jax as jax
    from exposim import mpc as mpc
    from exposim import plots as plots
    from exposim import sweeps as sweeps
    from exposim import tasks as tasks
    from exposim import torch as torch
    from exposim import viewer as viewer
    from exposim.errors import Unobservable as Unobservable
    from exposim.identification import Identified as Identified
    from exposim.identification import Measured as Measured
    from exposim.identification import identify as identify
    from exposim.simulation.flight_dump import FlightDump
    from exposim.simulation.flight_recorder import FlightRecorder
    from exposim.simulation.policies import MLP, LinearPolicy
    from exposim.simulation.recorder import Recorder
    from exposim.simulation.rollout import Rollout
    from exposim.simulation.rollout_result import RolloutResult as RolloutResult
    from exposim.simulation.trajectory import Trajectory
    from exposim.sweeps import sweep as sweep

__version__ = "0.1.0"

__all__ = [
    "KNOWN_ROBOTS",
    "MLP",
    "AutoPoints",
    "Box",
    "Capsule",
    "Contact",
    "ContactPoint",
    "ContactWarning",
    "Cylinder",
    "Drive",
    "DryFriction",
    "Event",
    "ExplicitEuler",
    "Expo",
    "ExposimError",
    "FlightDump",
    "FlightRecorder",
    "HalfSpace",
    "HeightField",
    "ImplicitEuler",
    "Integrator",
    "InvalidArgument",
    "Joint",
    "JointLimits",
    "LinearPolicy",
    "Loop",
    "Material",
    "Mesh",
    "MissingExtra",
    "ModelParseError",
    "ModelWarning",
    "Pade",
    "PaperExpo",
    "Path",
    "PinocchioMismatch",
    "Recorder",
    "Robot",
    "Rollout",
    "RungeKutta4",
    "SemiImplicitEuler",
    "SetupWarning",
    "SimulationDiverged",
    "Simulator",
    "SimulatorBusy",
    "Sphere",
    "State",
    "StateMismatch",
    "Surface",
    "Trajectory",
    "UnknownFile",
    "UnknownFrame",
    "UnknownRobot",
    "UnknownScenario",
    "UnreadableFile",
    "UnsupportedModel",
    "combine",
    "controllers",
    "kernels",
    "load_ground",
    "load_robot",
    "rigid_body",
    "scenarios",
    "sensors",
    "terrain",
]

# Loaded at first use: what a simulator does not need, or what needs packages that are extras.
_PLACES = {
    "FlightDump": "simulation.flight_dump",
    "FlightRecorder": "simulation.flight_recorder",
    "Identified": "identification",
    "LinearPolicy": "simulation.policies",
    "MLP": "simulation.policies",
    "Measured": "identification",
    "Recorder": "simulation.recorder",
    "Rollout": "simulation.rollout",
    "RolloutResult": "simulation.rollout_result",
    "Trajectory": "simulation.trajectory",
    "Unobservable": "errors",
    "identify": "identification",
    "sweep": "sweeps",
}
_ON_USE = (
    *_PLACES,
    "analysis",
    "controllers",
    "envs",
    "identification",
    "jax",
    "mpc",
    "plots",
    "scenarios",
    "sensors",
    "sweeps",
    "tasks",
    "torch",
    "viewer",
)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(importlib.import_module(f"exposim.{_PLACES[name]}"), name)
    if name in _ON_USE:
        return importlib.import_module(f"exposim.{name}")
    raise AttributeError(f"module 'exposim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ON_USE, *(name for name in globals() if name.startswith("__"))})
