"""On what the experiments were done, as far as it matters for times."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """Processor, cores and operating system, without names of hosts or users."""
    return f"{_processor()}, {os.cpu_count() or 1} cores, {platform.system()}, Python {platform.python_version()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
