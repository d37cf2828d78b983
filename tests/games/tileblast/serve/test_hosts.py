"""Requests that a browser sends for another site are refused: a foreign name of this machine, or a foreign page."""

import json
import socket
from urllib.parse import urlsplit

import pytest
import requests
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.errors import InvalidParameter
from momagames.games.tileblast.serve.hosts import HostCheck
from tests.games.tileblast.serve.client import create, error, post, raw

pytestmark = pytest.mark.compiled

CREATE = json.dumps({"levelIndex": 1, "seed": 1})
SIMPLE_TYPES = [
    "text/plain",
    "text/plain;charset=UTF-8",
    "TEXT/Plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
]
OTHER_HOSTS = [
    *("evil.example", "evil.example:8090", "localhost.evil.example", "127.0.0.1.nip.io", "localhost@evil.example"),
    *("[::2]:80", "[localhost]", "", "192.0.2.1", "x" * 5000),
]


def send(url, **headers):
    return raw(url, "/session/create", CREATE, **headers)


@pytest.mark.parametrize("host", ["localhost", "LocalHost:1", "127.0.0.1:8090", "[::1]", "[0:0:0:0:0:0:0:1]:80", "localhost:"])
def test_loopback_hosts_are_served(url, host):
    assert send(url, host=host).status_code == 200


def test_other_hosts_are_refused(serve):
    with serve() as url:
        for host in OTHER_HOSTS:
            response = send(url, host=host)
            assert response.status_code == 421
            assert error(response).startswith(f"invalid Host={host[:100]!r}: expected localhost, 127.0.0.1, [::1]; ")
            assert "--allow-host NAME" in error(response)
            assert requests.get(url + "/ping", headers={"host": host}, timeout=120).status_code == 421
        assert post(url, "/sessions/list") == {"sessionIds": []}


def test_allowed_hosts_are_served(serve):
    with serve(host="127.0.0.1", allow_hosts=["Games.example", "2001:db8:0::1"]) as url:
        for host in ("games.example:80", "GAMES.example", "[2001:db8::1]:8090", "localhost"):
            assert send(url, host=host).status_code == 200
        response = send(url, host="more.games.example")
        assert response.status_code == 421
        assert "[::1], games.example, [2001:db8::1]; " in error(response)


def test_the_listening_address_is_served(serve):
    with serve(host="127.0.0.2") as url:
        assert "//127.0.0.2:" in url
        assert create(url)["sessionId"]


def test_a_request_without_a_host_is_served(url):
    """HTTP/1.0 has no Host; browsers always send one."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(b"GET /ping HTTP/1.0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")


def test_every_host_of_a_request_is_checked(url):
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
        client.sendall(b"GET /ping HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 421")


@pytest.mark.parametrize("name", ["http://games.example", "games.example:80", "[::1]:80", "games example", "", "*"])
def test_invalid_names_of_hosts(name):
    with pytest.raises(InvalidParameter, match="expected a name or an address"):
        HostCheck([name])
    done = CliRunner().invoke(app, ["serve", "tileblast", "--port", "0", "--allow-host", name])
    assert isinstance(done.exception, InvalidParameter)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:3000", "https://127.0.0.1.nip.io"])
def test_pages_of_other_origins_are_refused(serve, origin):
    with serve() as url:
        for kind in (*SIMPLE_TYPES, None):
            response = send(url, origin=origin, **{"content-type": kind})
            assert response.status_code == 403
            assert error(response).startswith(f"invalid Origin={origin!r}: ")
            assert "application/json" in error(response)
        assert post(url, "/sessions/list") == {"sessionIds": []}


@pytest.mark.parametrize("kind", [*SIMPLE_TYPES, None, "application/json"])
def test_the_same_origin_and_none_are_served(url, kind):
    assert send(url, origin=url, **{"content-type": kind}).status_code == 200
    assert send(url, **{"content-type": kind}).status_code == 200


def test_browsers_do_not_send_json_to_another_origin(url):
    """They ask first, with OPTIONS; programs that send an Origin need no permission."""
    response = requests.options(url + "/session/create", headers={"origin": "http://evil.example"}, timeout=120)
    assert response.status_code in (403, 405)
    assert not any(name.startswith("access-control") for name in response.headers)
    assert send(url, origin="http://evil.example").status_code == 200
