"""Routes of requests: check, limit, parse and answer. Every error is {"error": text}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from momagames.games.tileblast.serve import protocol
from momagames.games.tileblast.serve.health import Counters
from momagames.games.tileblast.serve.hosts import HostCheck
from momagames.games.tileblast.serve.limits import Limits, RateLimiter, read_body
from momagames.games.tileblast.serve.protocol import Kind, RequestError
from momagames.games.tileblast.serve.service import Answer, Service

Handler = Callable[[Request], Awaitable[Response]]


def app(service: Service, limits: Limits, hosts: HostCheck, counters: Counters) -> ASGIApp:
    """Return the application, for any ASGI server that runs it in one process.

    It uses Starlette's requests and responses without its routes and middleware: these took as long as a tap.
    """
    rates, answers = RateLimiter(limits.rate), build_handlers(service, limits, counters)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        counters.requests += 1
        try:
            rates.check(request.client.host if request.client else "")
            hosts.check(request.headers)
            response = await find_handler(answers, request)(request)
        except RequestError as error:
            response = error_response(error)
        except ClientDisconnect:  # the client left before its request was complete; this answer is never read
            response = json_response({"error": "the request is not complete"}, 400)
        except Exception:
            counters.errors += 1
            await json_response({"error": "internal error: see the log of the simulator"}, 500)(scope, receive, send)
            raise
        counters.errors += response.status_code >= 400
        await response(scope, receive, send)

    return answer


def build_handlers(service: Service, limits: Limits, counters: Counters) -> dict[str, dict[str, Handler]]:
    """Return the handlers: path -> method -> handler."""

    async def ping(request: Request) -> Response:
        return PlainTextResponse("Pong")

    async def health(request: Request) -> Response:
        return json_response(counters.describe_health(len(service.sessions)))

    def answering(kind: type[Kind], answer: Callable[[Kind], Answer]) -> dict[str, Handler]:
        async def handle(request: Request) -> Response:
            body = await read_body(request.stream(), request.headers.get("content-length"), limits)
            return json_response(answer(protocol.parse_request(kind, body or b"{}")))

        return {"POST": handle}

    return {
        "/ping": dict.fromkeys(("GET", "HEAD", "POST"), ping),
        "/health": dict.fromkeys(("GET", "HEAD"), health),
        "/load": answering(protocol.Load, service.load),
        "/click": answering(protocol.Click, service.click),
        "/session/create": answering(protocol.Create, service.create),
        "/session/click": answering(protocol.SessionClick, service.session_click),
        "/session/status": answering(protocol.Status, service.status),
        "/session/destroy": answering(protocol.Destroy, service.destroy),
        "/sessions/list": answering(protocol.Empty, service.list),
        "/sessions/clear": answering(protocol.Empty, service.clear),
    }


def find_handler(answers: dict[str, dict[str, Handler]], request: Request) -> Handler:
    """Return the handler of a request; raise RequestError 404 or 405 without one."""
    requested = f"{request.method} {request.scope['path']}"
    methods = answers.get(request.scope["path"])
    if methods is None:
        raise RequestError(404, f"{requested}: Not Found")
    if request.method not in methods:
        raise RequestError(405, f"{requested}: Method Not Allowed", {"allow": ", ".join(methods)})
    return methods[request.method]


def json_response(data: Answer, status: int = 200, headers: Any = None) -> Response:
    """Return a JSON response."""
    return Response(to_json(data), status, headers, media_type="application/json")


def error_response(error: RequestError) -> Response:
    """Return the response of an error."""
    return json_response({"error": error.text}, error.status, error.headers)
