"""The package refuses a Pinocchio that it was not built with, and a build that does not fit it."""

import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import exposim as xs
from exposim import _build_info, _core


def import_beside(tmp_path, *, libpinocchio=None, pin=None):
    """Imports exposim in a new process that finds other versions first."""
    if libpinocchio:
        info = tmp_path / f"libpinocchio-{libpinocchio}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: libpinocchio\nVersion: {libpinocchio}\n")
    if pin:
        (tmp_path / "pinocchio.py").write_text(f"__version__ = {pin!r}\n")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import exposim"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("found", [{"libpinocchio": "4.1.0"}, {"pin": "3.9.0"}])
def test_another_pinocchio_is_refused_with_both_versions_and_the_remedy(tmp_path, found):
    done = import_beside(tmp_path, **found)
    assert done.returncode != 0
    assert "PinocchioMismatch" in done.stderr
    assert f"built with Pinocchio {_build_info.PINOCCHIO_VERSION}" in done.stderr
    assert next(iter(found.values())) in done.stderr
    assert f"pip install pin=={_build_info.PINOCCHIO_VERSION}" in done.stderr


def test_the_pinocchio_of_the_build_is_accepted(tmp_path):
    assert import_beside(tmp_path).returncode == 0


def test_the_extension_and_the_package_know_the_same_build():
    assert _core.PINOCCHIO_VERSION == _build_info.PINOCCHIO_VERSION


def test_the_mismatch_is_an_import_error():
    assert issubclass(xs.PinocchioMismatch, ImportError)


def compile_with(*flags):
    """Whether matrices are laid out by these flags as Pinocchio has them, and what the compiler says."""
    root, prefix = Path(__file__).parents[2], Path(find_spec("cmeel").origin).parents[1] / "cmeel.prefix"
    includes = [f"-I{root / 'cpp'}", f"-I{prefix / 'include' / 'eigen3'}"]
    header = root / "cpp" / "exposim" / "robot" / "eigen_layout.hpp"
    command = [os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", "-x", "c++", *flags, *includes, str(header)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("flags", [(), ("-fsanitize=address", "-DEIGEN_MALLOC_ALREADY_ALIGNED=1")], ids=repr)
def test_a_build_that_lays_out_matrices_as_pinocchio_does_compiles(flags):
    done = compile_with(*flags)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(platform.machine() != "x86_64", reason="these flags are those of x86-64")
@pytest.mark.parametrize("flag", ["-mavx", "-mavx512f", "-DEIGEN_MAX_ALIGN_BYTES=0"])
def test_another_alignment_of_matrices_is_refused(flag):
    assert "align matrices to 16 bytes" in compile_with(flag).stderr


def test_another_allocator_of_matrices_is_refused():
    assert "take matrices from malloc" in compile_with("-fsanitize=address").stderr
