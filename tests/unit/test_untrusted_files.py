"""A data file runs no code of its own accord, unpacks to no more than it may, and if damaged raises one error."""

import io
import json
import random
import subprocess
import sys
import zipfile
from contextlib import suppress

import numpy as np
import pytest

import exposim as xs
from command_line import exposim, refused
from exposim.errors import UntrustedFile
from exposim.scenarios import Run
from exposim.simulation.file_format import ARRAYS, FORMAT, FORMAT_VERSION

OWN = '''"""A scenario of one's own."""
import pathlib
import exposim as xs

pathlib.Path({mark!r}).touch()

def scenario(height: float = 0.05):
    """Drops Solo12."""
    return xs.scenarios.get("drop", height=height).replace(name="own")
'''


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr("exposim.cli.run._plot", lambda *_: [])


class Own:
    """A scenario file that leaves a mark when it is run, and a run that it has made."""

    def __init__(self, file, folder, mark):
        self.file, self.folder, self._mark = file, folder, mark
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(OWN.format(mark=str(mark)))
        assert exposim("run", file, "--duration", "10ms", "--no-replay", "--output", folder).exit_code == 0
        self.has_run()

    @property
    def trajectory(self):
        return self.folder / "trajectory.npz"

    def has_run(self):
        """Whether it was run since this was asked last."""
        run = self._mark.exists()
        self._mark.unlink(missing_ok=True)
        return run

    def name_instead(self, file, sha256=None, name="own"):
        """Lets the trajectory name another file."""
        rewrite_header(
            self.trajectory,
            lambda header: header["settings"]["scenario"]["origin"].update(
                {"file": file if file is None else str(file), "name": name} | ({"sha256": sha256} if sha256 else {})
            ),
        )


def rewrite(path, **changes):
    """The same file with some members changed; ``None`` leaves one out."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            if data is not None:
                archive.writestr(name, data)


def rewrite_header(path, change):
    with np.load(path) as arrays:
        header = json.loads(str(arrays["header"]))
    change(header)
    rewrite(path, **{"header.npy": npy(np.array(json.dumps(header)))})


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=False)
    return stream.getvalue()


@pytest.fixture
def own(tmp_path):
    return Own(tmp_path / "here" / "own.py", tmp_path / "here" / "out", tmp_path / "mark")


@pytest.fixture
def elsewhere(tmp_path):
    return Own(tmp_path / "elsewhere" / "own.py", tmp_path / "here" / "out", tmp_path / "mark")


# ----- the Python file that a trajectory names

READERS = [
    ("run", "out", "--output", "again"),
    ("run", "out/trajectory.npz", "--output", "again", "--option", "height=0.1"),
    ("run", "out", "--resume", "--duration", "20ms"),
    ("compare", "out", "--integrators", "expo", "--output", "again"),
]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_that_has_not_changed_and_is_here_is_run(words, own):
    result = exposim(*words, *(["--no-replay"] if words[0] == "run" else []))
    assert result.exit_code == 0, result.output
    assert own.has_run()


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_that_has_changed_is_not_run(words, own):
    own.file.write_text(own.file.read_text() + "\n# another")
    refused(*words, says=[str(own.file), "has changed since the run was saved", "--scenario-file"])
    assert not own.has_run()


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_elsewhere_is_not_run_without_a_word(words, elsewhere):
    refused(*words, says=[str(elsewhere.file), "neither in its folder nor in the working directory", "--scenario-file"])
    assert not elsewhere.has_run()


@pytest.mark.parametrize("words", READERS, ids=" ".join)
def test_a_file_elsewhere_is_run_if_it_is_named(words, elsewhere):
    flags = ["--no-replay"] if words[0] == "run" else []
    result = exposim(*words, *flags, "--scenario-file", elsewhere.file)
    assert result.exit_code == 0, result.output
    assert elsewhere.has_run()


def test_a_changed_file_that_is_named_is_run_with_a_note_but_not_resumed(own):
    own.file.write_text(own.file.read_text() + "\n# another")
    again = exposim("run", "out", "--output", "again", "--no-replay", "--scenario-file", "own.py")
    assert again.exit_code == 0, again.output
    assert "note: own.py is not what" in again.stderr
    refused("run", "own.py", "--resume", "--output", "out", "--duration", "20ms", says="not as it was when the run was")


def test_a_file_that_has_moved_goes_on_with_its_run(own, tmp_path):
    moved = own.file.rename(tmp_path / "moved.py")
    refused("run", "out", "--resume", "--duration", "20ms", says=str(own.file))
    for words in (
        ("out", "--scenario-file", moved, "--duration", "20ms"),
        (moved, "--output", "out", "--duration", "30ms"),
    ):
        result = exposim("run", *words, "--resume", "--no-replay")
        assert result.exit_code == 0, result.output
    assert xs.Trajectory.load("out/trajectory.npz").settings.scenario.origin.file == str(moved)


def test_the_file_of_saved_results_is_for_them_alone(own):
    refused("run", "drop", "--scenario-file", "own.py", says=["--scenario-file is for saved results", "leave it out"])
    refused("run", "own.py", "--scenario-file", "own.py", says="leave it out")
    refused("run", "own.py", "--resume", "--output", "out", "--scenario-file", "own.py", says="leave it out")
    assert exposim("run", "drop", "--duration", "5ms", "--no-replay", "--output", "drop").exit_code == 0
    refused("run", "./drop", "--scenario-file", "own.py", says=["the run is of drop", "leave it out"])


@pytest.mark.parametrize("way", ["a link to it", "a way round", "a link to its folder"])
def test_no_way_round_leads_to_a_file_elsewhere(way, elsewhere, tmp_path):
    if way == "a link to it":
        path = tmp_path / "here" / "own.py"
        path.symlink_to(elsewhere.file)
    elif way == "a way round":
        path = f"{tmp_path}/here/out/../../elsewhere/own.py"
    else:
        (tmp_path / "here" / "link").symlink_to(elsewhere.file.parent)
        path = tmp_path / "here" / "link" / "own.py"
    elsewhere.name_instead(path)
    refused("run", "out", "--output", "again", says="neither in its folder nor in the working directory")
    assert not elsewhere.has_run()


def test_a_file_that_stands_for_the_name_of_a_scenario_is_not_run(own):
    own.name_instead(None, name=str(own.file))
    refused("run", "out", "--output", "again", says=[str(own.file), "is not known"])
    assert not own.has_run()


def test_a_file_without_a_checksum_is_not_run(own):
    rewrite_header(own.trajectory, lambda header: header["settings"]["scenario"]["origin"].update({"sha256": None}))
    refused("run", "out", "--output", "again", says="has changed")
    assert not own.has_run()


def test_a_file_that_is_exchanged_after_it_was_checked_is_not_run(own, tmp_path, monkeypatch):
    evil = tmp_path / "evil"
    read = type(own.file).read_bytes

    def exchange(path):
        data = read(path)
        if path.name == "own.py":
            path.write_text(f"import pathlib; pathlib.Path({str(evil)!r}).touch()\n" + data.decode())
        return data

    monkeypatch.setattr(type(own.file), "read_bytes", exchange)
    assert exposim("run", "out", "--output", "again", "--no-replay").exit_code == 0
    assert own.has_run()
    assert not evil.exists()


def test_in_python_a_file_elsewhere_is_named_too(elsewhere):
    trajectory = xs.Trajectory.load(elsewhere.trajectory)
    with pytest.raises(UntrustedFile, match=r"file=\.\.\."):
        xs.scenarios.of(trajectory)
    assert not elsewhere.has_run()
    assert xs.scenarios.of(trajectory, elsewhere.file).name == "own"
    made = xs.scenarios.get(elsewhere.file).run(duration=0.002)  # of this process: it has run the file already
    assert xs.scenarios.of(made).name == "own"


# ----- files that unpack to more than they should


def zeros(shape, dtype="<f8"):
    """An array of zeros as a file has it, without having it."""
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": dtype, "fortran_order": False, "shape": shape})
    yield head.getvalue()
    left = int(np.prod([float(n) for n in shape])) * int(dtype[2:]) * (4 if dtype[1] == "U" else 1)
    while left > 0:
        yield bytes(min(left, 2**24))
        left -= 2**24


def pack(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, pieces in members.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as stream:
                for piece in pieces:
                    stream.write(piece)


def header_of(recorded, **changes):
    return [npy(np.array(json.dumps(recorded.header | changes)))]


@pytest.fixture(scope="module")
def recorded():
    return xs.scenarios.get("drop").run(duration=0.01)


@pytest.fixture
def saved(recorded, tmp_path):
    return recorded.save(tmp_path / "saved.npz")


def peak_memory_of(code):
    """Of a Python process that does this, in bytes beyond what importing takes."""
    measured = f"""
import resource, exposim as xs
xs.Trajectory
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{code}
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))
"""
    done = subprocess.run([sys.executable, "-c", measured], check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_a_small_file_that_unpacks_to_gigabytes_is_refused_unread(recorded, tmp_path):
    path = tmp_path / "bomb.npz"
    instants = 2**20
    members = {
        name: zeros((instants, *getattr(recorded, name).shape[1:]), getattr(recorded, name).dtype.str)
        for name in ARRAYS
    }
    outcome = recorded.header["outcome"] | {"steps": instants}
    pack(path, header=header_of(recorded, outcome=outcome), **members)
    assert path.stat().st_size < 10e6
    reading = f"""
try:
    xs.Trajectory.load({str(path)!r})
except xs.UnreadableFile as error:
    assert "would unpack to 1." in str(error), error
else:
    raise AssertionError
"""
    assert peak_memory_of(reading) < 50e6


def test_memory_that_is_large_is_read_when_it_is_looked_at(recorded, saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("memory/x.npy", "w") as stream:
        for piece in zeros((2**24,)):
            stream.write(piece)
    assert peak_memory_of(f"loaded = xs.Trajectory.load({str(saved)!r}); loaded.t, len(loaded.memory)") < 50e6
    assert xs.Trajectory.load(saved).memory["x"].shape == (2**24,)


@pytest.mark.parametrize("shape", [(10**17,), (10**9, 10**9, 10**9), (0, 10**18), (2**63 - 1,)])
def test_an_array_that_claims_to_be_larger_than_it_is_is_refused(shape, saved):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": shape})
    rewrite(saved, **{"t.npy": head.getvalue() + bytes(80)})
    with pytest.raises(xs.UnreadableFile, match="damaged: t"):
        xs.Trajectory.load(saved)


def test_a_member_that_lies_about_its_size_is_not_unpacked_further(saved):
    plain = npy(np.zeros(11)) + bytes(2**28)
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, plain if name == "t.npy" else data)
    data = saved.read_bytes()
    true, false = (n.to_bytes(4, "little") for n in (len(plain), len(plain) - 2**28))
    assert data.count(true) == 2
    saved.write_bytes(data.replace(true, false))
    reading = f"""
try:
    xs.Trajectory.load({str(saved)!r}).t
except xs.UnreadableFile:
    pass
else:
    raise AssertionError
"""
    assert peak_memory_of(reading) < 50e6


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(method, saved):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    with pytest.raises(xs.UnreadableFile, match="packed in another way"):
        xs.Trajectory.load(saved)


def test_a_long_rest_is_saved_so_that_it_can_be_loaded(recorded, tmp_path, monkeypatch):
    monkeypatch.setattr("exposim._npz.MOST_BYTES", 10**5)
    monkeypatch.setattr("exposim._npz.MOST_TIMES", 20)
    n = 5000
    arrays = {name: np.repeat(getattr(recorded, name)[:1], n, axis=0) for name in ARRAYS}
    resting = xs.Trajectory(arrays, recorded.header | {"outcome": recorded.header["outcome"] | {"steps": n}})
    assert len(xs.Trajectory.load(resting.save(tmp_path / "rest.npz"))) == n
    np.savez_compressed(tmp_path / "packed.npz", **arrays)
    with pytest.raises(xs.UnreadableFile, match="would unpack"):
        xs.Trajectory.load(tmp_path / "packed.npz")


# ----- damage of all kinds


def look_at_everything(path):
    trajectory = xs.Trajectory.load(path)
    for name in (*ARRAYS, "active", "slipping", "settings", "outcome", "columns", "contacts"):
        getattr(trajectory, name)
    dict(trajectory.memory)
    trajectory.state(-1)
    repr(trajectory)
    return trajectory


DEEP = "[" * 10**5 + "]" * 10**5
HEADERS = {
    "nothing": "",
    "deep lists": DEEP,
    "deep lists in a good one": f'{{"format": "{FORMAT}", "format_version": {FORMAT_VERSION}, "settings": {DEEP}}}',
    "a list": "[]",
    "no settings": f'{{"format": "{FORMAT}", "format_version": {FORMAT_VERSION}}}',
    "half a character": f'{{"format": "{FORMAT}", "format_version": {FORMAT_VERSION}, "x": "\\ud800"}}',
    "a huge number": f'{{"format": "{FORMAT}", "format_version": {"9" * 5000}}}',
    "a number that is none": f'{{"format": "{FORMAT}", "format_version": NaN}}',
}


@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_says_nothing_is_refused(what, saved):
    rewrite(saved, **{"header.npy": npy(np.array(HEADERS[what]))})
    with pytest.raises(xs.UnreadableFile):
        xs.Trajectory.load(saved)


def test_a_header_of_many_megabytes_is_refused_unread(saved):
    with zipfile.ZipFile(saved) as archive:
        members = {name: [archive.read(name)] for name in archive.namelist()}
    pack(
        saved,
        **{name.removesuffix(".npy"): data for name, data in members.items()} | {"header": zeros((), "<U99999999")},
    )
    assert peak_memory_of(f"try: xs.Trajectory.load({str(saved)!r})\nexcept xs.UnreadableFile: pass") < 50e6


DESCRIPTIONS = {
    "deep": b"(" * 9000,
    "open": b"{'descr': '<f8', 'fortran_order': False, 'shape': (",
    "tokens": b"{'descr': '<f8' \\ 'shape'",
    "objects": b"{'descr': '|O', 'fortran_order': False, 'shape': (11,), }\n",
    "records": b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (11,), }\n",
    "another type": b"{'descr': '<q9', 'fortran_order': False, 'shape': (11,), }\n",
    "no number": b"{'descr': '<f8', 'fortran_order': False, 'shape': (nan,), }\n",
    "less than nothing": b"{'descr': '<f8', 'fortran_order': False, 'shape': (-11,), }\n",
    "texts without end": b"{'descr': '<U99999999999999999999', 'fortran_order': False, 'shape': (11,), }\n",
}


@pytest.mark.parametrize("name", ["t", "header"])
@pytest.mark.parametrize("what", DESCRIPTIONS)
def test_an_array_that_is_described_badly_is_refused(what, name, saved):
    text = DESCRIPTIONS[what]
    rewrite(saved, **{f"{name}.npy": b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(88)})
    with pytest.raises(xs.UnreadableFile):
        xs.Trajectory.load(saved)


@pytest.mark.parametrize(
    "start", [b"", b"\x93NUMPY", b"\x93NUMPY\x02\x00\xff\xff\xff\xff", b"\x93NUMPY\x01\x00\xff\xff{"]
)
def test_an_array_that_breaks_off_is_refused(start, saved):
    rewrite(saved, **{"t.npy": start})
    with pytest.raises(xs.UnreadableFile):
        xs.Trajectory.load(saved)


VALUES = [
    None,
    True,
    0,
    -1,
    2**70,
    10**400,
    1e308,
    np.nan,
    -np.inf,
    "",
    "x",
    "a.py",
    [],
    {},
    [[]],
    [None],
    {"type": []},
]


def places(value, here=()):
    yield here
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from places(each, (*here, key))


def put(header, place, value):
    for key in place[:-1]:
        header = header[key]
    header[place[-1]] = value


@pytest.mark.parametrize("seed", range(2))
def test_every_entry_of_the_header_may_be_anything(seed, recorded, saved):
    everywhere = [place for place in places(recorded.header) if place]
    assert len(everywhere) > 150
    rng = random.Random(seed)
    for place in everywhere:
        header, value = json.loads(json.dumps(recorded.header)), rng.choice(VALUES)
        put(header, place, value)
        rewrite(saved, **{"header.npy": npy(np.array(json.dumps(header)))})
        try:
            look_at_everything(saved)
        except xs.UnreadableFile:
            continue
        except Exception as error:
            raise AssertionError(f"{place} is {value!r}") from error


@pytest.mark.parametrize("seed", range(6))
def test_bytes_that_are_changed_or_lost_raise_one_error(seed, saved, recorded):
    good = saved.read_bytes()
    rng = random.Random(seed)
    for _ in range(60):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 4, 50])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        start, end = sorted((rng.randrange(len(data)), rng.randrange(len(data))))
        saved.write_bytes(rng.choice([data, data[:end], data[:start] + data[end:], good[start:]]))
        with suppress(xs.UnreadableFile):
            look_at_everything(saved)


@pytest.mark.parametrize("kind", ["f2", "f4", ">f8", "c16", "?", "U3"])
def test_arrays_of_other_types_are_refused_or_read(kind, saved, recorded):
    rewrite(saved, **{"q.npy": npy(recorded.q.astype(kind))})
    try:
        loaded = look_at_everything(saved)
    except xs.UnreadableFile:
        assert kind not in (">f8",)
    else:
        assert kind in ("f2", "f4", ">f8")
        np.testing.assert_allclose(loaded.q, recorded.q, atol=1e-2)


def test_a_state_that_cannot_be_is_refused(saved, recorded):
    mode = np.array(recorded.mode)
    mode[-1] = 99
    rewrite(saved, **{"mode.npy": npy(mode)})
    with pytest.raises(xs.UnreadableFile, match=r"saved\.npz is damaged: instant -1: state\.mode"):
        xs.Trajectory.load(saved).state(-1)


@pytest.mark.parametrize("name", ["t", "q"])
def test_a_motion_that_is_not_finite_is_not_drawn(name, saved, recorded, tmp_path):
    pytest.importorskip("meshcat")
    array = np.array(getattr(recorded, name))
    array.flat[-1] = np.nan
    rewrite(saved, **{f"{name}.npy": npy(array)})
    with pytest.raises(xs.InvalidArgument, match=rf"trajectory\.{name} must be finite"):
        xs.viewer.write_replay(saved, tmp_path / "x.html")


def test_names_are_drawn_as_they_are(saved, tmp_path):
    plots = pytest.importorskip("exposim.plots")

    def change(header):
        header["settings"]["robot"]["name"] = r"a $\nonsense{$ robot"
        header["columns"]["tau"][:2] = [r"$\frac$", "b$^$"]
        header["contacts"][0]["name"] = "$_$"

    rewrite_header(saved, change)
    for plot in (plots.motion, plots.torques, plots.forces, lambda file: plots.comparison({r"$\x$": file})):
        assert plots.save(plot(saved), tmp_path / "x.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "memory", [{"x": np.zeros(3)}, {"x": np.array(1.0), "y": np.zeros(2), "z": np.zeros(2)}, {"q": np.zeros(0)}]
)
def test_what_no_controller_remembers_is_refused(memory, tmp_path):
    pytest.importorskip("proxsuite")
    for name in ("drop", "solo-squat"):
        made = xs.scenarios.get(name).run(duration=0.04)
        forged = xs.Trajectory({each: getattr(made, each) for each in ARRAYS}, made.header, memory)
        loaded = xs.Trajectory.load(forged.save(tmp_path / "x.npz"))
        with pytest.raises(xs.StateMismatch, match="does not take what was remembered"):
            Run.resume(loaded, xs.scenarios.of(loaded), duration=0.08)


def test_a_robot_that_is_no_model_file_is_not_read(saved):
    rewrite_header(saved, lambda header: header["settings"]["robot"].update(source="/proc/kcore"))
    with pytest.raises(xs.UnknownFile, match="no model file"):
        xs.Trajectory.load(saved).settings.robot.load()


def test_a_count_of_steps_that_cannot_be_is_refused(recorded, saved):
    rewrite_header(saved, lambda header: header["outcome"].update(steps=-5))
    with pytest.raises(xs.UnreadableFile, match="of -5 steps"):
        xs.Trajectory.load(saved)


def test_a_damaged_run_is_refused_by_every_command_in_one_line(saved, tmp_path):
    rewrite_header(saved, lambda header: header["settings"].update(robot=[1], dt="x"))
    for command in ("run", "compare", "view"):
        refused(command, saved, says=["saved.npz is damaged, or of another version"])


def test_a_saved_run_goes_on_after_all_this(saved, recorded):
    loaded = look_at_everything(saved)
    assert Run.resume(loaded, xs.scenarios.of(loaded), duration=0.012).steps == 12
