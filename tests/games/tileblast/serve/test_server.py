"""Start and stop: ports, Ctrl-C, what is missing."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import requests
from typer.testing import CliRunner

from momagames.cli.app import app
from momagames.errors import InvalidLevel, InvalidParameter, MissingExtra
from momagames.games.tileblast.levels import loader as packaged
from momagames.games.tileblast.levels.document import format_level
from momagames.games.tileblast.serve.limits import Limits
from momagames.games.tileblast.serve.server import listen, serve_in_background
from momagames.games.tileblast.serve.service import Service
from momagames.games.tileblast.serve.sessions import Sessions
from momagames.games.tileblast.serve.simulator import Levels
from tests.games.tileblast.serve.client import create, post, raw

pytestmark = pytest.mark.compiled


def test_both_loopbacks(url):
    port = url.rpartition(":")[2]
    assert url == f"http://localhost:{port}"
    assert requests.get(f"http://127.0.0.1:{port}/ping", timeout=120).text == "Pong"
    try:
        socket.create_connection(("::1", int(port)), timeout=1).close()
    except OSError as error:
        assert error.errno in (97, 99)  # this machine has no IPv6  # noqa: PT017
    else:
        assert requests.get(f"http://[::1]:{port}/ping", timeout=120).text == "Pong"


def test_port_in_use(url):
    port = int(url.rpartition(":")[2])
    with pytest.raises(InvalidParameter, match=f"127.0.0.1 port {port}: another program listens there.*--port"):
        listen("localhost", port)
    done = CliRunner().invoke(app, ["serve", "tileblast", "--port", str(port)])
    assert isinstance(done.exception, InvalidParameter)


def test_unknown_hosts():
    with pytest.raises(InvalidParameter, match=r"nowhere\.invalid"):
        listen("nowhere.invalid", 0)
    with pytest.raises(InvalidParameter, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", 0)


def test_host_by_address(levels):
    with serve_in_background(Service(levels, Sessions()), Limits(), host="127.0.0.1") as url:
        assert url.startswith("http://127.0.0.1:")
        assert post(url, "/sessions/list") == {"sessionIds": []}


def test_running_requests_are_answered_at_the_end(levels):
    """Clients that click all the time get complete answers until the end; every played click is answered."""
    sessions = Sessions()
    service = Service(levels, sessions)
    answered, broken = [], []
    with serve_in_background(service, Limits()) as url:
        session = create(url, 12, 1)["sessionId"]

        def click_on():
            for action in range(10_000):
                body = json.dumps({"sessionId": session, "x": action % 13 - 6, "y": action // 13 % 9 - 4})
                try:
                    response = raw(url, "/session/click", body)
                except requests.ConnectionError:
                    return
                if response.status_code != 200:
                    broken.append(response.text)
                    return
                answered.append(response.json()["clickSuccessful"])

        threads = [threading.Thread(target=click_on) for _ in range(3)]
        for thread in threads:
            thread.start()
        while len(answered) < 60:
            time.sleep(0.01)
    for thread in threads:
        thread.join()
    assert not broken
    assert len(sessions.position(session).taps) == sum(answered)


def test_level_files_continue_the_numbers(tmp_path):
    for name, level in (("b.yaml", 4), ("a.json", 2), ("notes.txt", 1)):
        (tmp_path / name).write_text(
            format_level(packaged.load(level).data | {"title": name}) if name != "notes.txt" else "hello"
        )
    found = Levels([tmp_path, tmp_path / "b.yaml"])
    assert [(level.index, level.name) for level in found.from_files] == [(13, "a.json"), (14, "b.yaml"), (15, "b.yaml")]
    service = Service(found, Sessions())
    with serve_in_background(service, Limits()) as url:
        own, original = create(url, 14, 5), create(url, 4, 5)
        assert own["levelName"] == "b.yaml"
        assert own["multichannelArrayState"] == original["multichannelArrayState"]
        assert raw(url, "/load", '{"levelIndex": 16, "seed": 1}').status_code == 404
    (tmp_path / "b.yaml").write_text("id: 3")
    with pytest.raises(InvalidLevel, match=r"b\.yaml"):
        Levels([tmp_path])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidLevel, match="no level file"):
        Levels([tmp_path / "empty"])


def test_missing_extra(monkeypatch):
    for name in [
        name for name in sys.modules if name.split(".")[0] == "uvicorn" or name == "momagames.games.tileblast.serve.server"
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    done = CliRunner().invoke(app, ["serve", "tileblast"])
    assert isinstance(done.exception, MissingExtra)
    assert 'pip install "momagames[serve]"' in str(done.exception)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent these signals on Windows")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped(tmp_path, stop):
    file = tmp_path / "mine.yaml"
    file.write_text(format_level(packaged.load(3).data | {"title": "Mine"}))
    command = [sys.executable, "-m", "momagames", "serve", "tileblast", "--port", "0", "--levels", str(file)]
    command += ["--allow-host", "games.example", "--allow-host", "192.0.2.7"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert running.stdout.readline() == "level 13: Mine\n"
        url = re.search(r"http://localhost:\d+", running.stdout.readline()).group()
        session = create(url, 13)["sessionId"]
        for host, status in (("games.example", 200), ("192.0.2.7:80", 200), ("other.example", 421)):
            assert requests.get(url + "/ping", headers={"host": host}, timeout=120).status_code == status
        running.send_signal(stop)
        _, errors = running.communicate(timeout=30)
    finally:
        running.kill()
    assert len(session) == 32
    assert "Traceback" not in errors
    assert running.returncode in ((0,) if stop == signal.SIGINT else (0, -signal.SIGTERM))
