"""The live page opens for browsers of this machine, and for no page of somebody else's in them."""

import http.client
import logging
import socket
from contextlib import closing

import pytest

import exposim as xs
from command_line import exposim, refused

viser = pytest.importorskip("viser")

from websockets.exceptions import ConnectionClosedError, InvalidMessage, InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from exposim.viewer.visitors import Visitors, _is_kept, start_server  # noqa: E402

PORT = 8080
LOCAL = Visitors.of("127.0.0.1", ())
WIDE = Visitors.of("0.0.0.0", ("robot.example.org",))


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8080", None),
        ("LOCALHOST:8080", None),
        ("127.0.0.1:8080", None),
        ("[::1]:8080", None),
        ("localhost", "http://localhost"),
        ("localhost:8080", "http://localhost:8080"),
        ("127.0.0.1:8080", "http://localhost:8080"),
        ("localhost:9000", "http://localhost:9000"),  # through a tunnel
    ],
)
def test_this_machine_is_admitted(host, origin):
    assert LOCAL.refusal([host], [] if origin is None else [origin]) is None


@pytest.mark.parametrize(
    ("hosts", "origins"),
    [
        (["evil.org"], []),
        (["evil.org:8080"], []),
        (["evil.org:8080"], ["http://evil.org:8080"]),
        (["localhost.evil.org"], []),
        (["127.0.0.1.evil.org:8080"], []),
        (["192.168.1.2:8080"], []),
        (["0.0.0.0:8080"], []),
        (["localhost:8080@evil.org"], []),
        (["evil.org@localhost:8080"], []),
        (["localhost:8080/"], []),
        (["localhost:"], []),
        ([""], []),
        ([], []),
        (["localhost:8080", "localhost:8080"], []),
        (["localhost:8080"], ["http://evil.org"]),
        (["localhost:8080"], ["http://evil.org:8080"]),
        (["localhost:8080"], ["http://localhost:3000"]),  # another program of this machine
        (["localhost:8080"], ["https://localhost"]),
        (["localhost:8080"], ["http://localhost.evil.org:8080"]),
        (["localhost:8080"], ["http://localhost:8080@evil.org"]),
        (["localhost:8080"], ["http://localhost:8080.evil.org"]),
        (["localhost:8080"], ["file://localhost:8080"]),
        (["localhost:8080"], ["null"]),
        (["localhost:8080"], [""]),
        (["localhost:8080"], ["http://localhost:8080", "http://evil.org"]),
    ],
)
def test_everybody_else_is_refused(hosts, origins):
    assert LOCAL.refusal(hosts, origins)


def test_what_is_seen_from_elsewhere_goes_by_its_number_or_by_a_name_that_is_allowed():
    assert WIDE.refusal(["192.168.1.2:8080"], ["http://192.168.1.2:8080"]) is None
    assert WIDE.refusal(["robot.example.org"], ["https://robot.example.org"]) is None
    assert WIDE.refusal(["localhost:8080"], ["https://robot.example.org"]) is None  # a proxy that says its own address
    assert WIDE.refusal(["192.168.1.2:8080"], ["http://6.6.6.6:8080"])
    assert WIDE.refusal(["evil.org:8080"], ["http://evil.org:8080"])
    assert "robot.example.net" in WIDE.refusal(["robot.example.net"], [])


@pytest.mark.parametrize("names", ["localhost", 5, None, [5], ["a:80"], ["http://a"], ["*"], [""]], ids=str)
def test_bad_names_are_refused(names):
    with pytest.raises(xs.InvalidArgument, match="allowed_hosts"):
        Visitors.of("127.0.0.1", names)


@pytest.fixture(scope="module")
def server():
    with xs.viewer.LiveViewer(xs.load_robot("solo12"), port=0, allowed_hosts=["robot.example.org"]) as viewer:
        yield int(viewer.url.rsplit(":", 1)[1])


def visit(port, origin):
    return connect(
        f"ws://127.0.0.1:{port}", origin=origin, subprotocols=[f"viser-v{viser.__version__}"], max_size=2**26
    )


@pytest.mark.parametrize(
    "origin", [None, "http://localhost:{port}", "http://127.0.0.1:{port}", "https://robot.example.org"]
)
def test_a_page_of_ours_is_sent_the_robot(origin, server):
    with visit(server, origin if origin is None else origin.format(port=server)) as page:
        assert len(page.recv(timeout=20)) > 100


@pytest.mark.parametrize("origin", ["http://evil.org", "http://evil.org:{port}", "http://localhost:1", "null"])
def test_a_page_of_somebody_else_s_is_turned_away(origin, server):
    with pytest.raises(InvalidStatus) as caught:
        visit(server, origin.format(port=server))
    assert caught.value.response.status_code == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:{port}", 200), ("robot.example.org", 200), ("evil.org", 403), ("evil.org:{port}", 403), (None, 403)],
)
def test_the_page_itself_has_no_other_address(host, status, server):
    with closing(http.client.HTTPConnection("127.0.0.1", server, timeout=20)) as connection:
        connection.putrequest("GET", "/", skip_host=True)
        if host is not None:
            connection.putheader("Host", host.format(port=server))
        connection.endheaders()
        with connection.getresponse() as response:
            assert response.status == status
            response.read()


def test_other_servers_of_viser_are_left_alone(server):
    """The door is ours only while our own server starts."""
    other = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        with visit(other.get_port(), "http://evil.org") as page:
            assert page.recv(timeout=20)
    finally:
        other.stop()


def test_a_viser_that_cannot_be_guarded_is_refused(monkeypatch):
    monkeypatch.setattr("exposim.viewer.visitors._VISER", "another.")
    with pytest.raises(xs.MissingExtra, match="cannot be guarded"):
        start_server(LOCAL, 0, "x")


def test_the_command_allows_a_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    xs.scenarios.get("drop").run(duration=0.002).save("x.npz")
    asked = {}

    def serve(trajectory, **options):
        asked.update(options)
        raise xs.InvalidArgument("enough")

    monkeypatch.setattr(xs.viewer, "serve", serve)
    refused("view", "x.npz", "--allow-host", "a.org", "--allow-host", "b.org", says="enough")
    assert asked["allowed_hosts"] == ["a.org", "b.org"]
    assert "--allow-host" in exposim("view", "--help").output


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n"], ids=["nothing", "half a request"])
def test_nothing_is_said_of_a_browser_that_leaves(caplog, sent):
    logging.getLogger("websockets.server.exposim").filters.clear()  # viser adds one at the first request
    server = start_server(LOCAL, 0, "test")
    try:
        with socket.create_connection(("127.0.0.1", server.get_port())) as browser:
            browser.sendall(sent)
            browser.shutdown(socket.SHUT_WR)
            browser.settimeout(10.0)
            while browser.recv(1000):  # until the server has noticed
                pass
    finally:
        server.stop()
    assert caplog.records == []


def test_real_failures_of_the_server_are_told_of():
    def is_kept(error):
        return _is_kept(logging.LogRecord("", logging.ERROR, "", 0, "failed", None, (type(error), error, None)))

    assert is_kept(RuntimeError("handler"))
    assert is_kept(InvalidMessage("no HTTP"))
    assert not is_kept(ConnectionClosedError(None, None))
    assert _is_kept(logging.LogRecord("", logging.INFO, "", 0, "server listening", None, None))
