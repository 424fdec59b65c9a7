"""Throws nonsense at the package: only its own errors may come of it, no crash and no hang.

    python tools/fuzz.py [--minutes 10] [--first 0] [--kind models] [--patience 60] [--output build/fuzz]
    python tools/fuzz.py --seed 1234 --kind states      one case again, in this process, with all that it says

A case is made of its seed and kind alone. They run in child processes, so that a
crash is seen and a hang ended; what fails is printed, and kept in the output folder.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from queue import Empty, Queue

sys.path.insert(0, str(Path(__file__).parent))

KINDS = ("models", "files", "states", "settings")
CASES_OF_A_CHILD = 200
MEMORY = 6 * 2**30  # [bytes] of a child, so that the machine survives it


def run_case(kind: str, seed: int) -> str:
    """What came of a case: "fine" or "refused"; any other error than the package's own gets through."""
    from fuzz_cases import CASES, generator, xs  # noqa: PLC0415  the parent does without them

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            CASES[kind](generator(KINDS.index(kind), seed), Path(folder))
        except xs.ExposimError:
            return "refused"
    return "fine"


def child() -> None:
    """Runs the cases of its input, a line each, and says before and after each where it is."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    for line in sys.stdin:
        kind, seed = line.split()
        try:
            answers.write(run_case(kind, int(seed)) + "\n")
        except BaseException:
            answers.write("untyped " + traceback.format_exc().replace("\n", "\x1f") + "\n")


class Child:
    """A process that runs cases, until one takes it down."""

    def __init__(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by end()
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", __file__, "--child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, bufsize=1,
        )  # fmt: skip
        self._answers: Queue[str] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.cases = 0

    def _listen(self) -> None:
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")

    def run(self, kind: str, seed: int, patience: float) -> tuple[str, str]:
        """What came of a case, and what there is to say of it."""
        self.cases += 1
        self._errors.seek(0)
        self._errors.truncate()
        try:
            self._process.stdin.write(f"{kind} {seed}\n")
            answer = self._answers.get(timeout=patience)
        except Empty:
            return "hang", f"no answer in {patience:g} s"
        except BrokenPipeError:
            answer = ""
        if not answer:
            self._errors.seek(0)
            return "crash", f"exit status {self._process.wait()}\n{self._errors.read().decode(errors='replace')}"
        outcome, _, message = answer.strip().partition(" ")
        return outcome, message.replace("\x1f", "\n")

    def end(self) -> None:
        """Ends the process, whatever it does."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def fuzz(kinds: tuple[str, ...], first: int, minutes: float, patience: float, output: Path) -> int:
    """How many cases failed."""
    counts: Counter[str] = Counter()
    ends, seed, worker = time.monotonic() + 60.0 * minutes, first, Child()
    while time.monotonic() < ends:
        for kind in kinds:
            if worker.cases >= CASES_OF_A_CHILD:
                worker.end()
                worker = Child()
            outcome, message = worker.run(kind, seed, patience)
            counts[f"{kind} {outcome}"] += 1
            if outcome in ("hang", "crash"):
                worker.end()
                worker = Child()
            if outcome not in ("fine", "refused"):
                output.mkdir(parents=True, exist_ok=True)
                again = f"python tools/fuzz.py --seed {seed} --kind {kind}"
                (output / f"{kind}-{seed}.txt").write_text(f"{again}\n{outcome}\n{message}\n", encoding="utf-8")
                last = (message.strip().splitlines() or [""])[-1]
                print(f"{outcome}: {again}\n    {last[:200]}", flush=True)
        seed += 1
    worker.end()
    failed = sum(count for name, count in counts.items() if name.split()[1] not in ("fine", "refused"))
    print(f"{sum(counts.values())} cases, seeds {first} to {seed - 1}: {failed} failed")
    for name, count in sorted(counts.items()):
        print(f"    {name}: {count}")
    return failed


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first case; the others follow")
    parser.add_argument("--kind", choices=KINDS, help="only of this kind")
    parser.add_argument("--patience", type=float, default=60.0, help="time limit of a case [s]")
    parser.add_argument("--output", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--seed", type=int, help="the case of this seed alone, in this process")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    kinds = (options.kind,) if options.kind else KINDS
    if options.child:
        child()
    elif options.seed is not None:
        for kind in kinds:
            print(kind, options.seed, run_case(kind, options.seed))
    else:
        sys.exit(fuzz(kinds, options.first, options.minutes, options.patience, options.output) > 0)


if __name__ == "__main__":
    main()
