"""Requests by path: what comes in is limited, read and answered; every error is {"error": text}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from momagames.serve import protocol
from momagames.serve.limits import Limits, Rates, whole
from momagames.serve.protocol import Kind, Refusal
from momagames.serve.service import Answer, Service

Handler = Callable[[Request], Awaitable[Response]]


def app(service: Service, limits: Limits) -> Starlette:
    """The application, for any ASGI server that runs it in one process."""
    rates = Rates(limits.rate)

    def admit(request: Request) -> None:
        rates.admit(request.client.host if request.client else "")

    async def ping(request: Request) -> Response:
        admit(request)
        return PlainTextResponse("Pong")

    def answering(kind: type[Kind], answer: Callable[[Kind], Answer]) -> Handler:
        async def handle(request: Request) -> Response:
            admit(request)
            body = await whole(request.stream(), request.headers.get("content-length"), limits)
            return as_json(answer(protocol.read(kind, body or b"{}")))

        return handle

    answers: dict[str, Handler] = {
        "/session/click": answering(protocol.SessionClick, service.session_click),  # the first is found first
        "/session/create": answering(protocol.Create, service.create),
        "/load": answering(protocol.Load, service.load),
        "/click": answering(protocol.Click, service.click),
        "/session/status": answering(protocol.Status, service.status),
        "/session/destroy": answering(protocol.Destroy, service.destroy),
        "/sessions/list": answering(protocol.Empty, service.list),
        "/sessions/clear": answering(protocol.Empty, service.clear),
    }
    routes = [Route(path, handle, methods=["POST"]) for path, handle in answers.items()]
    routes.append(Route("/ping", ping, methods=["GET", "POST"]))
    handlers: dict[Any, Any] = {Refusal: refused, HTTPException: unknown, ClientDisconnect: gone, Exception: failed}
    return Starlette(routes=routes, exception_handlers=handlers)


def as_json(data: Answer, status: int = 200, headers: Any = None) -> Response:
    return Response(to_json(data), status, headers, media_type="application/json")


def refused(request: Request, error: Refusal) -> Response:
    return as_json({"error": error.text}, error.status, {"retry-after": "1"} if error.status == 429 else None)


def unknown(request: Request, error: HTTPException) -> Response:
    """A path or a method that there is not."""
    return as_json({"error": f"{request.method} {request.url.path}: {error.detail}"}, error.status_code, error.headers)


def gone(request: Request, error: ClientDisconnect) -> Response:
    """The client left before its request was in; nobody reads this."""
    return as_json({"error": "the request is not complete"}, 400)


def failed(request: Request, error: Exception) -> Response:
    return as_json({"error": "the simulator failed; its log says why"}, 500)
