"""What a server refuses, by what to do next."""

from __future__ import annotations

from typing import Any


class HalmaError(Exception):
    """An error of the server, or on the way to it.

    ``hint`` says what to do about it; ``request_id`` identifies the request in the server's log.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        hint: str | None = None,
        kind: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{detail}; {hint}" if hint else detail)
        self.detail = detail
        self.status = status
        self.hint = hint
        self.kind = kind
        self.request_id = request_id
        self.retry_after = retry_after


class ConnectionFailed(HalmaError):
    """The server was not reached, or stopped in the middle of an answer."""


class InvalidRequestError(HalmaError):
    """The request cannot be processed as it is (400, 413, 415, 422)."""


class AuthenticationError(HalmaError):
    """A key is required, or this one is not valid (401)."""


class PermissionDeniedError(HalmaError):
    """The key may not do this (403)."""


class NotFoundError(HalmaError):
    """There is none, or the key may not see it (404)."""


class RateLimitError(HalmaError):
    """Too many requests, or a limit is reached (429); ``retry_after`` says when to try again."""


class ServerError(HalmaError):
    """The server, or a model that it calls, has failed or is busy (5xx)."""


def error_for(status: int, problem: dict[str, Any], retry_after: float | None = None) -> HalmaError:
    """The error for the problem in a response."""
    kinds: dict[int, type[HalmaError]] = {
        401: AuthenticationError,
        403: PermissionDeniedError,
        404: NotFoundError,
        429: RateLimitError,
    }
    kind = kinds.get(status, ServerError if status >= 500 else InvalidRequestError)
    return kind(
        str(problem.get("detail") or problem.get("title") or f"the server answered {status}"),
        status=status,
        hint=problem.get("hint"),
        kind=problem.get("type"),
        request_id=problem.get("request_id"),
        retry_after=retry_after,
    )
