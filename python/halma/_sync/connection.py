"""Requests to one server."""

# Generated from `halma/_async/connection.py` by `generate.py`; do not edit.
from __future__ import annotations

from types import TracebackType
from typing import TypeVar

import httpx

from halma import _requests
from halma._requests import Call
from halma.errors import ConnectionFailed

T = TypeVar("T")
Self = TypeVar("Self", bound="Connection")


class Connection:
    """Sends requests with a key, and reads their replies."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        workspace: str | None = None,
        timeout: float | httpx.Timeout | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = _requests.server_url(url)
        self._http = httpx.Client(
            base_url=self.url,
            headers=_requests.headers(key, workspace),
            timeout=_requests.DEFAULT_TIMEOUT if timeout is None else timeout,
            transport=transport,
        )

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _send(self, call: Call[T]) -> T:
        try:
            response = self._http.request(
                call.method,
                call.path,
                params=call.params or None,
                json=call.json,
                data=call.data,
                files=call.files,
            )
        except httpx.TransportError as error:
            raise ConnectionFailed(f"{self.url}: {error or type(error).__name__}") from error
        return call.read(_requests.check(response).content)
