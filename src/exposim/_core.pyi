"""
C++ core of exposim: takes validated input; the package around it is what people use.
"""

from collections.abc import Sequence
import enum
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


PINOCCHIO_VERSION: str = '4.0.0'

class KernelMethod(enum.Enum):
    EXPM = 0

    PADE = 1

class KernelOptions:
    def __init__(self, method: KernelMethod, degree: int, balance: bool) -> None: ...

class KernelInfo:
    @property
    def degree(self) -> int: ...

    @property
    def squarings(self) -> int: ...

    @property
    def products(self) -> int: ...

    @property
    def terms(self) -> int: ...

    @property
    def error_bound(self) -> float: ...

class ContactMethod(enum.Enum):
    AUTO = 0

    MODAL = 1

    DENSE = 2

class ContactKernel:
    def __init__(self, method: ContactMethod, tolerance: float, dense: KernelOptions) -> None: ...

def contact_integrals(Upsilon: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], K: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], B: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], ddp_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], x0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dt: float, kernel: ContactKernel) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], KernelInfo]: ...

def oscillator_integrals(omega: float, c: float, t: float) -> tuple[float, float, float, float, float]: ...

def oscillator_pairs(omega: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], c: float, t: float) -> list[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

def integrals(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], x0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dt: float, options: KernelOptions) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], KernelInfo]: ...

def balance(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

class ContactPoint:
    def __init__(self, joint: int, position: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], radius: float) -> None: ...

class ExternalWrench:
    def __init__(self, joint: int, position: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], force: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], torque: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> None: ...

class Robot:
    def __init__(self, serialized_model: str, points: Sequence[ContactPoint], actuated: Sequence[int]) -> None: ...

    def with_masses(self, masses: Sequence[tuple[int, float]]) -> Robot: ...

class Surface:
    def distance(self, p: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> float: ...

    def normal(self, p: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]: ...

    def curvature(self, p: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(3, 3), order='F')]: ...

    def gap(self, p: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> float:
        """That of a whole query."""

    def distances(self, p: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def normals(self, p: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def bounds(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], float]:
        """Centre and radius of a ball that holds all of its inside."""

class HalfSpace(Surface):
    def __init__(self, point: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], normal: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> None: ...

class Box(Surface):
    def __init__(self, half_size: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], rounding: float) -> None: ...

class Sphere(Surface):
    def __init__(self, radius: float) -> None: ...

class Capsule(Surface):
    def __init__(self, radius: float, half_length: float) -> None: ...

class Cylinder(Surface):
    def __init__(self, radius: float, half_length: float, rounding: float) -> None: ...

class HeightField(Surface):
    def __init__(self, heights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], spacing: float, origin: Annotated[NDArray[numpy.float64], dict(shape=(2), order='C')]) -> None: ...

    def heights_at(self, xy: Annotated[NDArray[numpy.float64], dict(shape=(None, 2), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

class Profile(Surface):
    def __init__(self, corners: Annotated[NDArray[numpy.float64], dict(shape=(None, 2), order='C')], rounding: float) -> None: ...

class Triangles(Surface):
    def __init__(self, vertices: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], faces: Annotated[NDArray[numpy.int32], dict(shape=(None, 3), order='C')]) -> None: ...

class DistanceGrid(Surface):
    def __init__(self, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], size: Annotated[NDArray[numpy.int32], dict(shape=(3), order='C')], low: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], spacing: float, around: Surface) -> None: ...

class Placed(Surface):
    def __init__(self, surface: Surface, rotation: Annotated[NDArray[numpy.float64], dict(shape=(3, 3), order='F')], position: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> None: ...

class PythonSurface(Surface):
    def __init__(self, distance: object, normal: object) -> None: ...

class Material:
    def __init__(self, K_n: float, K_t: float, B_n: float, B_t: float, mu: float) -> None: ...

class Law:
    pass

class Bilateral(Law):
    def __init__(self, material: Material) -> None: ...

class CoulombContact(Law):
    def __init__(self, material: Material) -> None: ...

class Point:
    def __init__(self, bilateral: bool, law: Law | None, anchor: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')] | None) -> None: ...

class Ground:
    def __init__(self, surface: Surface, law: Law, joint: int = 0, laws: Sequence[Law | None] = [], guests: int = 0, guest_laws: Sequence[Law | None] = []) -> None: ...

class Edge:
    def __init__(self, start: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], direction: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], spacing: float, count: int, radius: float, surface: int, joint: int) -> None: ...

class Bond:
    @staticmethod
    def coordinate(joint: int, in_q: int, in_v: int, rest: float, law: Law) -> Bond: ...

    @staticmethod
    def position(a: int, position_a: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], b: int, position_b: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], law: Law) -> Bond: ...

    @staticmethod
    def pose(a: int, placement_a: Annotated[NDArray[numpy.float64], dict(shape=(4, 4), order='F')], b: int, placement_b: Annotated[NDArray[numpy.float64], dict(shape=(4, 4), order='F')], law: Law, angular_law: Law) -> Bond: ...

class JointLaws:
    def __init__(self, kp: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], kd: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], effort: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], velocity: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], delay: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], static_friction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dynamic_friction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], friction_stiffness: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], friction_damping: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], limits: Sequence[tuple[int, int, float, float, float, float]], rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> None: ...

class World:
    def __init__(self, robot: Robot, points: Sequence[Point], surfaces: Sequence[Ground], bonds: Sequence[Bond], slots: int, joints: JointLaws | None = None, history: int = 0, edges: Sequence[Edge] = []) -> None: ...

    def varied(self, robot: Robot | None, points: Sequence[Law | None], surfaces: Sequence[Law | None], joints: JointLaws | None) -> World: ...

    @property
    def contacts(self) -> list[tuple[int | None, int]]: ...

    @property
    def packed_size(self) -> int: ...

    @property
    def makes_wait(self) -> bool: ...

    @property
    def tangent_size(self) -> int: ...

    def minus(self, to: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], from_: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None: ...

class PositionUpdate(enum.Enum):
    DOUBLE_AVERAGE = 0

    SINGLE_AVERAGE = 1

class AnchorRule(enum.Enum):
    SURFACE = 0

    DETECTED = 1

class Projection(enum.Enum):
    HORIZONTAL = 0

    ORTHOGONAL = 1

MICRO_STEPS: int = 2

MICRO_TOLERANCE: float = 0.01

MAX_ACCELERATION: float = 1500.0

MAX_TURN: float = 0.3

MOST_PARTS: int = 64

KERNEL_TOLERANCE: float = 1e-08

class Integrator:
    def contact_law(self, material: Material) -> Law: ...

class Expo(Integrator):
    def __init__(self, order: int, tolerance: float, micro_steps: int, micro_tolerance: float, max_acceleration: float, max_turn: float) -> None: ...

class PaperExpo(Integrator):
    def __init__(self, kernel: ContactKernel, position_update: PositionUpdate, anchor_rule: AnchorRule, projection: Projection) -> None: ...

class ExplicitEuler(Integrator):
    def __init__(self) -> None: ...

class SemiImplicitEuler(Integrator):
    def __init__(self) -> None: ...

class RungeKutta4(Integrator):
    def __init__(self) -> None: ...

class ImplicitEuler(Integrator):
    def __init__(self, tolerance: float, max_iterations: int) -> None: ...

class Element:
    def __init__(self, law: Law, n: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], phi: float, dp: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], mode: int, s: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], phi0: float) -> None: ...

class Resolved:
    @property
    def lam_bar(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def lam_bar2(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def displacement(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def velocity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def stretch(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def modes(self) -> list[int]: ...

    @property
    def events(self) -> list[tuple[float, int, int, int]]: ...

    @property
    def micro_steps(self) -> int: ...

    @property
    def limited(self) -> bool: ...

    @property
    def changed(self) -> bool: ...

def resolve(Upsilon: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], ddp_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], elements: Sequence[Element], dt: float, micro_steps: int, tolerance: float) -> Resolved: ...

class SystemTangent:
    def __init__(self, Upsilon_by_q: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]], dq: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], ddp_bar: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], delta: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], dp: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], materials: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]], dofs: Sequence[int] = [], drives: Sequence[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]] = []) -> None: ...

class ResolvedTangents:
    @property
    def lam_bar(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def lam_bar2(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def displacement(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def velocity(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def stretch(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def grazing(self) -> list[tuple[float, int, int]]: ...

    @property
    def supported(self) -> bool: ...

def resolve_tangents(Upsilon: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], ddp_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], elements: Sequence[Element], dt: float, micro_steps: int, tolerance: float, tangent: SystemTangent) -> ResolvedTangents: ...

class Path:
    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...

    def states(self, times: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]]: ...

    def forces(self, times: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    def accelerations(self, times: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

class Divergence:
    def __init__(self, t: float, step: int, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> None: ...

    @property
    def t(self) -> float: ...

    @property
    def step(self) -> int: ...

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def start(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

class NewtonInfo:
    @property
    def iterations(self) -> int: ...

    @property
    def converged(self) -> bool: ...

    @property
    def residual(self) -> float: ...

class TransitionInfo:
    @property
    def resolved(self) -> bool: ...

    @property
    def micro_steps(self) -> int: ...

    @property
    def events(self) -> int: ...

    @property
    def limited(self) -> bool: ...

class StepChoice:
    def __init__(self, accuracy: float, smallest: float, largest: float) -> None: ...

class Advanced:
    @property
    def steps(self) -> int: ...

    @property
    def rejected(self) -> int: ...

    @property
    def smallest(self) -> float: ...

    @property
    def largest(self) -> float: ...

    @property
    def error(self) -> float: ...

class PartsInfo:
    @property
    def count(self) -> int: ...

    @property
    def redone(self) -> int: ...

    @property
    def turn(self) -> float: ...

class StepStatistics:
    @property
    def steps(self) -> int: ...

    @property
    def iterations(self) -> int: ...

    @property
    def max_iterations(self) -> int: ...

    @property
    def not_converged(self) -> int: ...

    @property
    def resolved(self) -> int: ...

    @property
    def limited(self) -> int: ...

    @property
    def parts(self) -> int: ...

    @property
    def overflows(self) -> int: ...

OVERFLOW: int = 1

SATURATED: int = 2

MAX_VELOCITY: float = 100000.0

MIN_STEP: float = 1e-12

QUATERNION_TOLERANCE: float = 0.001

class Simulator:
    def __init__(self, world: World, integrator: Integrator, dt: float, stops: bool = False) -> None: ...

    @property
    def t(self) -> float: ...

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def active(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')]: ...

    @property
    def slipping(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')]: ...

    @property
    def touched(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]: ...

    @property
    def positions(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def velocities(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def normals(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def forces(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def anchors(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def lam_pr(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def lam_pr2(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def torques(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def recorded(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def saturated(self) -> list[int]: ...

    @property
    def limit_forces(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def mean_limit_forces(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def friction_torques(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def event_count(self) -> int: ...

    def events_from(self, first: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C')]: ...

    @property
    def loose(self) -> list[bool]: ...

    @loose.setter
    def loose(self, arg: Sequence[bool], /) -> None: ...

    @property
    def acceleration(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def path(self) -> Path: ...

    @property
    def kernel_info(self) -> KernelInfo: ...

    @property
    def transition_info(self) -> TransitionInfo: ...

    @property
    def parts_info(self) -> PartsInfo: ...

    @property
    def newton_info(self) -> NewtonInfo: ...

    @property
    def statistics(self) -> StepStatistics: ...

    def step(self, tau: object | None, n: object | None, wrenches: Sequence[ExternalWrench], target: object | None = None, target_velocity: object | None = None, continues: bool = False) -> int | Divergence: ...

    def forget_events(self) -> None: ...

    def advance(self, tau: object | None, until: float, choice: StepChoice, h: float, most: int, wrenches: Sequence[ExternalWrench], target: object | None = None, target_velocity: object | None = None) -> tuple[int | Divergence, float, Advanced]: ...

    def reset(self, q: object | None, v: object | None) -> bool: ...

    def set_state(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool: ...

    def plus(self, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dx: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None: ...

    @property
    def state(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    def time_steps(self, states: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[list[float], list[int]]: ...

    def predict_forces(self, times: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, wrenches: Sequence[ExternalWrench]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]: ...

    def contact_matrix(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]: ...

    def try_kernel(self, kernel: ContactKernel) -> KernelInfo: ...

    def enable_profiler(self, arg: bool, /) -> None: ...

    @property
    def profile(self) -> list[tuple[int, float]]: ...

    def set_divergence(self, arg: Divergence, /) -> None: ...

    @property
    def divergence(self) -> Divergence | None: ...

class Grazing:
    @property
    def t(self) -> float: ...

    @property
    def strand(self) -> int: ...

    @property
    def kind(self) -> int: ...

class StepDerivatives:
    @property
    def x(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def force(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def wrench(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def parameters(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')]: ...

    @property
    def grazing(self) -> list[Grazing]: ...

    @property
    def differences(self) -> bool: ...

def events_of(simulator: Simulator, found: StepDerivatives) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C')]: ...

def differentiate(simulator: Simulator, parameters: Sequence[tuple[World, World, float]], wrenches: bool, exact: bool, differences: bool) -> StepDerivatives | None: ...

def linearize(simulator: Simulator, x: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None, dt: float, forces: Sequence[ExternalWrench], target: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None, target_velocity: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None, parameters: Sequence[tuple[World, World, float]], wrenches: bool, exact: bool, differences: bool) -> tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], StepDerivatives]: ...

class Policy:
    pass

class LinearPolicy(Policy):
    def __init__(self, gain: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], q: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], torques: bool, entries: Sequence[int], hold: int) -> None: ...

class MLP(Policy):
    def __init__(self, layers: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]], activation: MLP.Activation, observation: Sequence[MLP.Seen], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], offset: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], in_q: Sequence[int], in_v: Sequence[int], rest: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], command: int, torques: bool, entries: Sequence[int], hold: int) -> None: ...

    class Activation(enum.Enum):
        elu = 0

        relu = 1

        tanh = 2

    class Seen(enum.Enum):
        gravity = 0

        linear_velocity = 1

        angular_velocity = 2

        joint_positions = 3

        joint_velocities = 4

        last_action = 5

        command = 6

class Rollout:
    def __init__(self, world: World, integrator: Integrator, dt: float) -> None: ...

    def run(self, states: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], steps: int, every: int, tau: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, target: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, target_velocity: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, wrenches: Sequence[tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)]]], policy: Policy | None, commands: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)] | None, worlds: Sequence[World], threads: int, arrays: dict[str, Any], with_events: bool, progress: object | None) -> tuple[list[tuple[int, Divergence]], list[Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C')]], int]: ...

    def linearize(self, states: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], tau: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, target: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, target_velocity: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)], Sequence[tuple[int, int]]] | None, wrenches: Sequence[tuple[int, Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), device='cpu', writable=False)]]], worlds: Sequence[World], threads: int, dt: float, parameters: Sequence[tuple[World, World, float]], exact: bool, differences: bool, arrays: dict[str, Any]) -> None: ...

    def reset(self, q: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], v: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], worlds: Sequence[World], arrays: dict[str, Any]) -> int: ...
