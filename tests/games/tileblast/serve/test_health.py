"""Counters of /health, and the bounded log of what clients provoke."""

import logging
import socket
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
import requests

import momagames
from momagames.games.tileblast.serve import service
from momagames.games.tileblast.serve.health import Counters
from momagames.games.tileblast.serve.request_log import FULL_RECORDS, INTERVAL, MALFORMED, LogLimiter
from tests.games.tileblast.serve.client import create, error, post, raw

pytestmark = pytest.mark.compiled

GARBAGE = b"\x16\x03\x01 not HTTP\r\n\r\n"


@contextmanager
def read_log():
    """Yield the list of the records that reach the handlers of uvicorn; it sets them when a simulator starts."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(handler)
    yield records
    logger.removeHandler(handler)


def send_garbage(url, times):
    parts = urlsplit(url)
    for _ in range(times):
        with socket.create_connection((parts.hostname, parts.port), timeout=120) as client:
            client.sendall(GARBAGE)
            assert client.recv(1000).startswith(b"HTTP/1.1 400")


def read_health(url):
    response = requests.get(url + "/health", timeout=120)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    return response.json()


def test_health(serve):
    with serve() as url:
        first = read_health(url)
        assert 0 <= first.pop("uptime") < 60
        assert first == {
            "status": "ok", "version": momagames.__version__, "sessions": 0, "requests": 1, "errors": 0, "malformed": 0,
        }  # fmt: skip
        sessions = [create(url)["sessionId"] for _ in range(3)]
        post(url, "/session/destroy", sessionId=sessions[0])
        assert raw(url, "/session/create", "{").status_code == 400
        assert raw(url, "/nowhere", "{}").status_code == 404
        assert raw(url, "/ping", "{}", host="evil.example").status_code == 421
        send_garbage(url, 2)
        time.sleep(0.01)
        found = read_health(url)
    assert found.pop("uptime") > 0.01
    assert found == {
        "status": "ok", "version": momagames.__version__, "sessions": 2, "requests": 9, "errors": 3, "malformed": 2,
    }  # fmt: skip


def test_internal_errors_are_counted(serve, monkeypatch):
    with serve() as url:
        monkeypatch.setattr(service, "format_position", lambda *ignored: 1 / 0)
        assert raw(url, "/session/create", '{"levelIndex": 1, "seed": 1}').status_code == 500
        assert read_health(url)["errors"] == 1


def test_head_and_other_methods_of_health(url):
    assert requests.head(url + "/health", timeout=120).status_code == 200
    response = raw(url, "/health", "{}")
    assert response.status_code == 405
    assert "POST /health" in error(response)


def test_the_log_of_malformed_requests_is_bounded(serve):
    with serve() as url, read_log() as log:
        send_garbage(url, 5 * FULL_RECORDS)
        assert read_health(url)["malformed"] == 5 * FULL_RECORDS
    assert [record.getMessage() for record in log] == [MALFORMED] * FULL_RECORDS


def test_the_log_of_upgrades_and_internal_errors_is_bounded(serve, monkeypatch):
    with serve() as url, read_log() as log:
        monkeypatch.setattr(service, "format_position", lambda *ignored: 1 / 0)
        for _ in range(2 * FULL_RECORDS):
            assert raw(url, "/session/create", '{"levelIndex": 1, "seed": 1}').status_code == 500
            raw(url, "/ping", "", connection="upgrade", upgrade="websocket")
    tracebacks = [record for record in log if record.exc_info]
    assert len(tracebacks) == FULL_RECORDS
    assert len(log) == 3 * FULL_RECORDS  # an upgrade makes two records


def make_record(text, *args, error=None):
    return logging.LogRecord("uvicorn.error", logging.WARNING, "", 0, text, args, error and (type(error), error, None))


def test_counted_records_make_a_line_per_minute():
    now = [0.0]
    counters = Counters()
    limiter = LogLimiter(counters, lambda: now[0])
    lines = []
    for second in range(0, 10 * INTERVAL, 2):
        now[0] = float(second)
        record = make_record(MALFORMED)
        if limiter.filter(record):
            lines.append((second, record.getMessage()))
    in_full = 2 * (FULL_RECORDS - 1)
    assert lines[:FULL_RECORDS] == [(second, MALFORMED) for second in range(0, in_full + 1, 2)]
    later = [(in_full + n * INTERVAL, f"{MALFORMED} ({INTERVAL // 2} times in {INTERVAL} s)") for n in range(1, 10)]
    assert lines[FULL_RECORDS:] == later
    assert counters.malformed == 5 * INTERVAL


def test_kinds_of_records_are_counted_apart():
    now = [0.0]
    limiter = LogLimiter(Counters(), lambda: now[0])
    for _ in range(3 * FULL_RECORDS):
        limiter.filter(make_record("failed\n", error=ValueError("x")))
    assert limiter.filter(make_record("failed\n", error=KeyError("x")))
    assert limiter.filter(make_record("unsupported"))
    now[0] = 100.0
    record = make_record("failed\n", error=ValueError("50%d" + "y" * 1000))
    assert limiter.filter(record)
    assert (record.exc_info, record.getMessage().count("\n")) == (None, 0)
    assert record.getMessage().startswith("failed ValueError('50%dyyy")
    assert record.getMessage().endswith(f"y ({2 * FULL_RECORDS + 1:,} times in 100 s)")
    assert len(record.getMessage()) < 300
