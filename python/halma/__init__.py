"""Halma answers hard questions over your own documents, hop by hop, and shows its work.

``Halma`` and ``AsyncHalma`` are clients for a server (``halma serve``), ``halma.models`` has the types
of its interface, ``halma.langchain`` and ``halma.llama_index`` have retrievers. Where the package brings
the program as well, ``find_halma()`` is its path.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halma.client import AsyncHalma, Halma
    from halma.errors import (
        AuthenticationError,
        ConnectionFailed,
        HalmaError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
        RateLimitError,
        ServerError,
    )
    from halma.events import AnswerDelta, Answered, Started, StreamEvent, TraceEvent

# Loaded when they are first used: starting the program needs none of them.
_MODULES = {
    "Halma": "client",
    "AsyncHalma": "client",
    "AuthenticationError": "errors",
    "ConnectionFailed": "errors",
    "HalmaError": "errors",
    "InvalidRequestError": "errors",
    "NotFoundError": "errors",
    "PermissionDeniedError": "errors",
    "RateLimitError": "errors",
    "ServerError": "errors",
    "AnswerDelta": "events",
    "Answered": "events",
    "Started": "events",
    "StreamEvent": "events",
    "TraceEvent": "events",
    "find_halma": "_program",
}

__all__ = [
    "AnswerDelta",
    "Answered",
    "AsyncHalma",
    "AuthenticationError",
    "ConnectionFailed",
    "Halma",
    "HalmaError",
    "InvalidRequestError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "Started",
    "StreamEvent",
    "TraceEvent",
    "find_halma",
]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'halma' has no attribute '{name}'")
    return getattr(importlib.import_module(f"halma.{module}"), name)
