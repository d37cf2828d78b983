"""What is no good is answered with an error, and nothing has changed."""

import http.client
import json
import socket
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest
import requests

from momagames.games.tileblast.serve import service
from momagames.games.tileblast.serve.limits import RateLimiter
from momagames.games.tileblast.serve.protocol import RequestError
from tests.games.tileblast.serve.client import click, create, error, post, raw

pytestmark = pytest.mark.compiled

CREATE = {"levelIndex": 1, "seed": 1, "returnFullState": False}


@pytest.fixture
def game(url):
    """A session that must be unchanged after the test."""
    session = create(url, 12, 1)["sessionId"]
    before = post(url, "/session/status", sessionId=session)
    yield session
    assert post(url, "/session/status", sessionId=session) == before


CASES = [
    ("/session/create", "", "levelIndex"),
    ("/session/create", "{", "JSON"),
    ("/session/create", "[]", ""),
    ("/session/create", "null", ""),
    ("/session/create", b"\xff\xfe", "JSON"),
    ("/session/create", "[" * 30000, ""),
    ("/session/create", '{"levelIndex": 1, "seed": NaN}', "seed"),
    ("/session/create", '{"levelIndex": 1}', "seed"),
    *(("/session/create", json.dumps(CREATE | {"levelIndex": bad}), "levelIndex") for bad in ("1", 1.5, True, [1], {})),
    *(("/session/create", json.dumps(CREATE | {"seed": bad}), "seed") for bad in ("1", 0.5, False, [])),
    ("/session/create", json.dumps(CREATE | {"returnFullState": 1}), "returnFullState"),
    ("/session/create", '{"state": 3}', "state"),
    ("/session/create", '{"levelIndex": 1, "seed": SEED}'.replace("SEED", "9" * 5000), "JSON"),
    ("/load", "{}", "levelIndex"),
    *(
        ("/session/click", '{"sessionId": "GAME", "x": BAD, "y": 0}'.replace("BAD", bad), "x")
        for bad in ('"0"', "0.5", "null", "[0]", "true")
    ),
    ("/session/click", '{"sessionId": "GAME", "x": 0}', "y"),
    ("/session/click", '{"sessionId": "GAME", "x": 0, "y": 0, "dryRun": "no"}', "dryRun"),
    ("/session/click", '{"sessionId": null, "x": 0, "y": 0}', "sessionId"),
    ("/session/click", '{"x": 0, "y": 0}', "sessionId"),
    ("/session/status", '{"sessionId": 7}', "sessionId"),
    ("/session/destroy", "{}", "sessionId"),
    ("/sessions/clear", "nonsense", "JSON"),
    ("/click", '{"state": "nonsense", "x": 0, "y": 0}', "state"),
    ("/click", json.dumps({"state": '{"levelIndex":1,"seed":0,"taps":[117]}', "x": 0, "y": 0}), "taps.0"),
    ("/click", json.dumps({"state": '{"levelIndex":1,"seed":0,"taps":[0]}', "x": 0, "y": 0}), "invalid tap"),
]


@pytest.mark.parametrize(("path", "body", "named"), CASES)
def test_bad_requests(url, game, path, body, named):
    if isinstance(body, str):
        body = body.replace("GAME", game)
    response = raw(url, path, body)
    assert response.status_code == 400
    assert named in error(response)


@pytest.mark.parametrize("level", [0, -1, 13, 110, 10**40])
def test_unknown_levels(url, level):
    for path in ("/session/create", "/load"):
        response = raw(url, path, json.dumps(CREATE | {"levelIndex": level}))
        assert (response.status_code, error(response)) == (404, f"invalid levelIndex={level}: expected 1 to 12")


@pytest.mark.parametrize("path", ["/session/click", "/session/status"])
def test_unknown_sessions(url, path):
    response = raw(url, path, json.dumps({"sessionId": "f" * 32, "x": 0, "y": 0}))
    assert response.status_code == 404
    assert "f" * 32 in error(response)


@pytest.mark.parametrize("session", ["f" * 32, "", None])
def test_destroy_of_an_unknown_session_is_no_error(url, session):
    assert post(url, "/session/destroy", sessionId=session) == {"destroyed": False}


def test_calls_in_the_wrong_order(url):
    """Clicks before create and after destroy; destroy twice."""
    session = create(url)["sessionId"]
    assert post(url, "/session/destroy", sessionId=session) == {"destroyed": True}
    assert post(url, "/session/destroy", sessionId=session) == {"destroyed": False}
    with pytest.raises(requests.HTTPError, match="404"):
        click(url, session, 60)


def test_unknown_paths_and_methods(url):
    response = raw(url, "/session/jump", "{}")
    assert response.status_code == 404
    assert "/session/jump" in error(response)
    response = requests.get(url + "/load", timeout=120)
    assert response.status_code == 405
    assert "GET" in error(response)


def test_ping(url):
    for ask in (requests.get, requests.post):
        assert ask(url + "/ping", timeout=120).content == b"Pong"


def test_unknown_fields_and_content_types_are_ignored(url):
    response = raw(url, "/session/create", json.dumps(CREATE | {"color": "blue"}), **{"content-type": "text/plain"})
    assert response.status_code == 200


@pytest.mark.parametrize("size", [2049, 100_000, 10_000_000])
def test_huge_requests(serve, size):
    with serve(body=2048) as url:
        response = raw(url, "/session/create", json.dumps(CREATE).ljust(size))
        assert response.status_code == 413
        assert "2048" in error(response)
        assert raw(url, "/session/create", json.dumps(CREATE).ljust(2048)).status_code == 200
        assert raw(url, "/session/create", (b"x" * 1000 for _ in range(5))).status_code == 413  # of no declared length


def test_the_rate_of_an_address(serve):
    with serve(rate=5) as url:
        codes = [requests.get(url + "/ping", timeout=120) for _ in range(12)]
        assert [one.status_code for one in codes[:5]] == [200] * 5
        late = next(one for one in codes if one.status_code == 429)
        assert "5 requests per second" in error(late)
        time.sleep(0.5)
        assert requests.get(url + "/ping", timeout=120).status_code == 200


@pytest.mark.long
def test_rate_limited_clicks_are_not_played(serve):
    with serve(rate=3) as url:
        session = create(url, 1, 1)["sessionId"]
        codes = [raw(url, "/session/click", json.dumps({"sessionId": session, "x": 0, "y": 0})).status_code for _ in range(8)]
        time.sleep(1)
        played = json.loads(post(url, "/session/status", sessionId=session)["state"])["taps"]
        assert 429 in codes
        assert len(played) <= codes.count(200)


def test_rates_refill_and_are_by_address():
    now = [0.0]
    rates = RateLimiter(2, lambda: now[0])
    for _ in range(2):
        rates.check("a")
    with pytest.raises(RequestError):
        rates.check("a")
    rates.check("b")
    now[0] = 0.5
    rates.check("a")
    with pytest.raises(RequestError):
        rates.check("a")


def test_rate_zero_is_unlimited():
    rates = RateLimiter(0)
    for _ in range(10_000):
        rates.check("a")


def connection(url):
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=120)


@pytest.mark.parametrize("said", [b"", b"POST /session/create HTTP/1.1\r\nhost: localhost\r\n"])
def test_silent_connections_are_closed(serve, said):
    with serve(patience=0.2) as url, connection(url) as silent:
        silent.sendall(said)
        assert silent.recv(100) == b""


def test_endless_heads_are_closed(serve):
    with serve() as url, connection(url) as chatty:
        chatty.sendall(b"POST /load HTTP/1.1\r\n")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            chatty.sendall((b"x-more: " + b"y" * 4000 + b"\r\n") * 3000)


def test_missing_body(serve):
    with serve(patience=0.2) as url, connection(url) as slow:
        slow.sendall(b"POST /session/create HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{")
        assert slow.recv(15) == b"HTTP/1.1 408 Re"
        assert post(url, "/sessions/list") == {"sessionIds": []}


def test_client_disconnects_during_a_request(url, game):
    for _ in range(20):
        with connection(url) as half:
            head = b"POST /session/click HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5000\r\n\r\n"
            half.sendall(head + f'{{"sessionId": "{game}"'.encode())
    assert requests.get(url + "/ping", timeout=120).text == "Pong"


LOAD = json.dumps(CREATE).encode()
LOAD = b"POST /load HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % len(LOAD) + LOAD


def cut_off(greedy, said):
    """Return whether the connection is reset while this is sent again and again and nothing is read."""
    until, left = time.monotonic() + 30, b""
    while time.monotonic() < until:
        left = left or said
        try:
            left = left[greedy.send(left) :]
        except TimeoutError:
            pass
        except ConnectionError:
            return True
        time.sleep(0.005)
    return False


def test_clients_with_too_many_pending_requests_are_closed(serve, url):
    """At once if more arrives than the server takes, otherwise when its answers have waited too long."""
    with serve(patience=1) as other, connection(other) as greedy:
        greedy.settimeout(0.1)
        assert cut_off(greedy, LOAD * 100)
    with connection(url) as eager:
        eager.sendall(LOAD * 50)
        said = b""
        while said.count(b"HTTP/1.1 200") < 50 or not said.endswith(b"}"):
            said += eager.recv(1 << 20)


def test_clients_that_do_not_read_are_closed(serve):
    with serve(patience=1, rate=0) as url, connection(url) as deaf:
        deaf.sendall(LOAD * 2000)
        assert requests.get(url + "/ping", timeout=120).text == "Pong"
        deaf.settimeout(0.1)
        assert cut_off(deaf, b"\r\n")  # which means nothing, and shows whether it is open


@pytest.mark.parametrize("said", [b"", b"POST /session/create HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{"])
def test_idle_connections_are_closed_first(serve, said):
    with serve(connections=10) as url, ExitStack() as stack:
        waiting = [stack.enter_context(connection(url)) for _ in range(25)]
        for one in waiting[:5]:
            one.sendall(said)
        for seed in range(20):
            assert create(url, seed=seed)["sessionId"]
        with suppress(ConnectionResetError):
            assert waiting[0].recv(100) == b""


def test_requests_that_wait_for_a_busy_simulator_are_answered(serve, monkeypatch):
    """Time in which the simulator reads nothing is not time in which the client says nothing."""
    seen = service.format_position

    def slowly(*asked):
        time.sleep(0.4)
        return seen(*asked)

    monkeypatch.setattr(service, "format_position", slowly)
    with serve(patience=0.1) as url, ExitStack() as stack:
        clients = [stack.enter_context(connection(url)) for _ in range(6)]
        for one in clients:
            one.sendall(LOAD.replace(b"/load", b"/session/create"))
        assert [one.recv(12) for one in clients] == [b"HTTP/1.1 200"] * 6


@pytest.mark.long
def test_oldest_of_simultaneous_connections_is_closed(serve, monkeypatch):
    """Connections that arrive while the simulator is busy are accepted in one turn of its loop; the last one
    gets an answer.
    """
    seen = service.format_position

    def slowly(*asked):
        time.sleep(0.2)
        return seen(*asked)

    monkeypatch.setattr(service, "format_position", slowly)
    ask = json.dumps(CREATE)
    head = f"POST /session/create HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(ask)}\r\n\r\n"
    for _ in range(3):
        with serve(connections=10) as url, connection(url) as busy, ExitStack() as stack:
            busy.sendall((head + ask).encode())
            time.sleep(0.05)
            for _ in range(25):
                stack.enter_context(connection(url))
            assert create(url, seed=1)["sessionId"]


def test_one_connection_for_a_thousand_requests(url):
    ask = b"GET /ping HTTP/1.1\r\nhost: localhost\r\nx-long: " + b"y" * 200 + b"\r\n\r\n"
    with connection(url) as client:
        for _ in range(1000):
            client.sendall(ask)
            said = client.recv(1000)
            while said and not said.endswith(b"Pong"):
                said += client.recv(1000)
            assert said.startswith(b"HTTP/1.1 200")


def test_internal_error(serve, monkeypatch):
    """A failing click is answered with an error and is not played; clients repeat it."""
    with serve() as url:
        session = create(url, 12, 1)["sessionId"]
        before = post(url, "/session/status", sessionId=session)
        x, y = json.loads(create(url, 12, 1)["validActionPositions"])[0]
        ask = json.dumps({"sessionId": session, "x": x, "y": y})
        with monkeypatch.context() as patch:
            patch.setattr(service, "format_position", lambda *ignored: 1 / 0)
            failed = raw(url, "/session/click", ask)
        assert (failed.status_code, error(failed)) == (500, "internal error: see the log of the simulator")
        assert post(url, "/session/status", sessionId=session) == before
        assert raw(url, "/session/click", ask).json()["clickSuccessful"]


def test_not_http(url):
    with connection(url) as other:
        other.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert b"400" in other.recv(100)


def test_http_1_0_and_keep_alive(url):
    with connection(url) as old:
        old.sendall(b"GET /ping HTTP/1.0\r\n\r\n")
        said = b""
        while part := old.recv(1000):
            said += part
        assert said.endswith(b"Pong")
    parts = urlsplit(url)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
    for _ in range(3):
        client.request("POST", "/session/create", json.dumps(CREATE))
        assert client.getresponse().read()
    client.close()
