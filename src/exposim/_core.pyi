"""
C++ core of exposim: takes validated input; the package around it is what people use.
"""

from collections.abc import Sequence
import enum
from typing import Annotated

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
    def error_bound(self) -> float: ...

class ContactMethod(enum.Enum):
    AUTO = 0

    MODAL = 1

    DENSE = 2

class ContactKernel:
    def __init__(self, method: ContactMethod, tolerance: float, dense: KernelOptions) -> None: ...

def contact_integrals(Upsilon: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], K: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], B: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], ddp_bar: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], x0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dt: float, kernel: ContactKernel) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], KernelInfo]: ...

def oscillator_integrals(omega: float, c: float, t: float) -> tuple[float, float, float, float, float]: ...

def integrals(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], x0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], dt: float, options: KernelOptions) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], KernelInfo]: ...

def balance(A: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]]: ...

class ContactPoint:
    def __init__(self, joint: int, position: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], radius: float) -> None: ...

class ExternalWrench:
    def __init__(self, joint: int, position: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], force: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], torque: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> None: ...

class Robot:
    def __init__(self, serialized_model: str, points: Sequence[ContactPoint], actuated: Sequence[int]) -> None: ...

class AnchorRule(enum.Enum):
    SURFACE = 0

    DETECTED = 1

class Projection(enum.Enum):
    HORIZONTAL = 0

    ORTHOGONAL = 1

class Material:
    def __init__(self, K_n: float, K_t: float, B_n: float, B_t: float, mu: float) -> None: ...

class Surface:
    pass

class HalfSpace(Surface):
    def __init__(self, point: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')], normal: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')]) -> None: ...

class PositionUpdate(enum.Enum):
    DOUBLE_AVERAGE = 0

    SINGLE_AVERAGE = 1

class Transitions(enum.Enum):
    RESOLVED = 0

    AVERAGED = 1

class IntegratorFactory:
    pass

def expo(kernel: ContactKernel, position_update: PositionUpdate, transitions: Transitions, order: int) -> IntegratorFactory: ...

def explicit_euler() -> IntegratorFactory: ...

def semi_implicit_euler() -> IntegratorFactory: ...

def runge_kutta4() -> IntegratorFactory: ...

def implicit_euler(tolerance: float, max_iterations: int) -> IntegratorFactory: ...

class State:
    def __init__(self, t: float, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], active: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')], slipping: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C')], p0: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')], dp0: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]) -> None: ...

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
    def p0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def dp0(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

class Divergence:
    @property
    def t(self) -> float: ...

    @property
    def step(self) -> int: ...

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

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

class ContactSpec:
    def __init__(self, point: int, surface: Surface | None, material: Material, anchor: Annotated[NDArray[numpy.float64], dict(shape=(3), order='C')] | None) -> None: ...

MAX_VELOCITY: float = 100000.0

class Simulator:
    def __init__(self, robot: Robot, contacts: Sequence[ContactSpec], anchor_rule: AnchorRule, projection: Projection, integrator: IntegratorFactory, dt: float) -> None: ...

    def step(self, tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n: int = 1, wrenches: Sequence[ExternalWrench] = []) -> bool: ...

    def reset(self, q: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], v: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> None: ...

    @property
    def state(self) -> State: ...

    @state.setter
    def state(self, arg: State, /) -> None: ...

    def linearise(self, tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], wrenches: Sequence[ExternalWrench], v_next: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]]: ...

    def predict_forces(self, times: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')] | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]: ...

    def contact_matrix(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F')]: ...

    def try_kernel(self, kernel: ContactKernel) -> KernelInfo: ...

    def enable_profiler(self, arg: bool, /) -> None: ...

    @property
    def profile(self) -> list[tuple[int, float]]: ...

    @property
    def t(self) -> float: ...

    @property
    def q(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def v(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]: ...

    @property
    def positions(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def velocities(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def forces(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def lam_pr(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def lam_pr2(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C')]: ...

    @property
    def kernel_info(self) -> KernelInfo: ...

    @property
    def transition_info(self) -> TransitionInfo: ...

    @property
    def newton_info(self) -> NewtonInfo: ...

    @property
    def statistics(self) -> StepStatistics: ...

    @property
    def divergence(self) -> Divergence | None: ...

def time_steps(simulator: Simulator, states: Sequence[State], tau: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> tuple[list[float], list[int]]: ...

def time_kernel(simulator: Simulator, states: Sequence[State], kernel: ContactKernel) -> list[float]: ...

def time_eigen_exponential(simulator: Simulator, states: Sequence[State]) -> tuple[list[float], float, float]: ...

def time_floor(simulator: Simulator, states: Sequence[State]) -> tuple[list[float], list[float]]: ...
