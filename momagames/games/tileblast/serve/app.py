"""Requests by path: what comes in is limited, read and answered; every error is {"error": text}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic_core import to_json
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from momagames.games.tileblast.serve import protocol
from momagames.games.tileblast.serve.limits import Limits, Rates, whole
from momagames.games.tileblast.serve.protocol import Kind, Refusal
from momagames.games.tileblast.serve.service import Answer, Service

Handler = Callable[[Request], Awaitable[Response]]


def app(service: Service, limits: Limits) -> ASGIApp:
    """The application, for any ASGI server that runs it in one process.

    Starlette's requests and responses without its routes and middleware: these took as long as a tap.
    """
    rates, answers = Rates(limits.rate), handlers(service, limits)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            rates.admit(request.client.host if request.client else "")
            response = await handler(answers, request)(request)
        except Refusal as error:
            response = refused(error)
        except ClientDisconnect:  # before the request was in; nobody reads this
            response = as_json({"error": "the request is not complete"}, 400)
        except Exception:
            await as_json({"error": "the simulator failed; its log says why"}, 500)(scope, receive, send)
            raise
        await response(scope, receive, send)

    return answer


def handlers(service: Service, limits: Limits) -> dict[str, dict[str, Handler]]:
    """What answers: path -> method -> handler."""

    async def ping(request: Request) -> Response:
        return PlainTextResponse("Pong")

    def answering(kind: type[Kind], answer: Callable[[Kind], Answer]) -> dict[str, Handler]:
        async def handle(request: Request) -> Response:
            body = await whole(request.stream(), request.headers.get("content-length"), limits)
            return as_json(answer(protocol.read(kind, body or b"{}")))

        return {"POST": handle}

    return {
        "/ping": dict.fromkeys(("GET", "HEAD", "POST"), ping),
        "/load": answering(protocol.Load, service.load),
        "/click": answering(protocol.Click, service.click),
        "/session/create": answering(protocol.Create, service.create),
        "/session/click": answering(protocol.SessionClick, service.session_click),
        "/session/status": answering(protocol.Status, service.status),
        "/session/destroy": answering(protocol.Destroy, service.destroy),
        "/sessions/list": answering(protocol.Empty, service.list),
        "/sessions/clear": answering(protocol.Empty, service.clear),
    }


def handler(answers: dict[str, dict[str, Handler]], request: Request) -> Handler:
    """What answers a request; Refusal 404 or 405 if nothing does."""
    asked = f"{request.method} {request.scope['path']}"
    methods = answers.get(request.scope["path"])
    if methods is None:
        raise Refusal(404, f"{asked}: Not Found")
    if request.method not in methods:
        raise Refusal(405, f"{asked}: Method Not Allowed", {"allow": ", ".join(methods)})
    return methods[request.method]


def as_json(data: Answer, status: int = 200, headers: Any = None) -> Response:
    return Response(to_json(data), status, headers, media_type="application/json")


def refused(error: Refusal) -> Response:
    return as_json({"error": error.text}, error.status, error.headers)
