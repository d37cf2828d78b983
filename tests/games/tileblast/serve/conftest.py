"""Simulators on real sockets."""

import sys

import pytest

from momagames.games.tileblast.serve.limits import Limits
from momagames.games.tileblast.serve.server import serve_in_background
from momagames.games.tileblast.serve.service import Service
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels


@pytest.fixture(scope="session")
def levels():
    found = Levels()
    found.warm_up()
    return found


@pytest.fixture(scope="module", autouse=True)
def quick_turns():
    """Shorten the switch interval: server and client are threads of one process, and would wait 5 ms for each other."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0002)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="session")
def url(levels):
    """Address of a simulator with default limits, for all tests."""
    with serve_in_background(Service(levels, Sessions()), Limits()) as url:
        yield url


@pytest.fixture
def serve(levels):
    """Factory of simulators: serve(max_sessions=..., idle=..., host=..., allow_hosts=..., rate=..., ...) -> context."""

    def start(max_sessions=10_000, idle=0, host="localhost", allow_hosts=(), **limits):
        service = Service(levels, Sessions(max_sessions, idle))
        return serve_in_background(service, Limits(**limits), host=host, allow_hosts=allow_hosts)

    return start
