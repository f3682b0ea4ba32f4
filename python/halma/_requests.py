"""What is sent for each call, and how its reply is read; shared by both clients."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import IO, Any, Callable, Generic, Optional, TypeVar, Union
from urllib.parse import quote

import httpx
from pydantic import BaseModel, TypeAdapter

from halma import models
from halma.errors import AuthenticationError, error_for

T = TypeVar("T")

Filter = Union[models.Filter, Mapping[str, Any]]
Metadata = Mapping[str, Any]
#: A path, or a name with its bytes or an open file.
Upload = Union[str, "os.PathLike[str]", "tuple[str, Union[bytes, IO[bytes]]]"]

#: A question with what is known of its answer.
Sample = Union[models.TagSample, Mapping[str, Any]]

DEFAULT_URL = "http://127.0.0.1:8765"
DEFAULT_TIMEOUT = httpx.Timeout(600.0, connect=10.0)


def server_url(url: str | None) -> str:
    return (url or os.environ.get("HALMA_URL") or DEFAULT_URL).rstrip("/")


def headers(key: str | None, workspace: str | None) -> dict[str, str]:
    sent = {"accept": "application/json"}
    # A key that was read from a file ends with the line.
    key = (key or os.environ.get("HALMA_KEY") or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        # Not what it is: errors are logged.
        raise AuthenticationError(
            "the API key has a character that no key has", hint="check `key` or HALMA_KEY"
        )
    if key:
        sent["authorization"] = f"Bearer {key}"
    if workspace:
        sent["x-halma-workspace"] = workspace
    return sent


@dataclass
class Call(Generic[T]):
    """A request, and how the body of its reply is read."""

    method: str
    path: str
    read: Callable[[bytes], T]
    params: dict[str, Any] = field(default_factory=dict)
    json: Any = None
    data: dict[str, str] | None = None
    files: list[tuple[str, Any]] | None = None


def check(response: httpx.Response) -> httpx.Response:
    """Raises for a response that is an error; its body has been read."""
    if response.is_success:
        return response
    try:
        problem = response.json()
    except ValueError:
        problem = {}
    if not isinstance(problem, dict):
        problem = {}
    retry_after: Optional[float] = None
    with contextlib.suppress(ValueError):
        retry_after = float(response.headers.get("retry-after", ""))
    raise error_for(response.status_code, problem, retry_after)


def part(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")


def plain(value: Any) -> Any:
    """A model as JSON, without what was not set."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def given(**values: Any) -> dict[str, Any]:
    """What was given, without what was not."""
    return {name: plain(value) for name, value in values.items() if value is not None}


def of(model: type[T]) -> Callable[[bytes], T]:
    adapter: TypeAdapter[T] = TypeAdapter(model)
    return adapter.validate_json


def items_of(model: type[T]) -> Callable[[bytes], list[T]]:
    """The items of a list that comes whole, or of a page."""
    adapter: TypeAdapter[T] = TypeAdapter(model)

    def read(body: bytes) -> list[T]:
        return [adapter.validate_python(item) for item in json.loads(body)["items"]]

    return read


def nothing(_: bytes) -> None:
    return None


def raw(body: bytes) -> bytes:
    return body


@dataclass
class Page(Generic[T]):
    """A part of a list, and where the next one begins."""

    items: list[T]
    next: str | None


def page_of(model: type[T]) -> Callable[[bytes], Page[T]]:
    adapter: TypeAdapter[T] = TypeAdapter(model)

    def read(body: bytes) -> Page[T]:
        page = json.loads(body)
        return Page([adapter.validate_python(item) for item in page["items"]], page.get("next"))

    return read


def ask(question: str, options: dict[str, Any]) -> Call[models.AskResponse]:
    body = {"question": question, **given(**options)}
    return Call("POST", "/api/v1/ask", of(models.AskResponse), json=body)


def search(text: str, options: dict[str, Any]) -> Call[list[models.Hit]]:
    adapter: TypeAdapter[list[models.Hit]] = TypeAdapter(list[models.Hit])

    def read(body: bytes) -> list[models.Hit]:
        return adapter.validate_python(json.loads(body)["hits"])

    return Call("POST", "/api/v1/search", read, json={"text": text, **given(**options)})


def upload_fields(folder: str | None, metadata: Metadata | None) -> list[tuple[str, Any]]:
    """What is sent before the files that it is about."""
    parts: list[tuple[str, Any]] = []
    if folder:
        parts.append(("path", (None, folder)))
    if metadata is not None:
        parts.append(("metadata", (None, json.dumps(dict(metadata)))))
    return parts


def upload(
    files: Iterable[Upload], fields: list[tuple[str, Any]], opened: contextlib.ExitStack, replace: bool
) -> Call[models.UploadResult]:
    """The files are sent as they are read."""
    parts = list(fields)
    for file in files:
        if isinstance(file, tuple):
            parts.append(("file", (file[0], file[1])))
        else:
            path = Path(file)
            parts.append(("file", (path.name, opened.enter_context(path.open("rb")))))
    params = {"replace": "true"} if replace else {}
    return Call("POST", "/api/v1/documents", of(models.UploadResult), params=params, files=parts)


def build(
    uploads: Sequence[str] | None, rebuild: Sequence[str] | None
) -> Call[models.BuildStatus]:
    body = given(uploads=uploads, rebuild=rebuild)
    return Call("POST", "/api/v1/builds", of(models.BuildStatus), json=body)


def new_key(
    name: str, scopes: Sequence[str], options: dict[str, Any], where: Metadata | None
) -> Call[models.CreatedKey]:
    body = {"name": name, "scopes": list(scopes), **given(**options)}
    if where is not None:
        body["where"] = plain(where)
    return Call("POST", "/api/v1/keys", of(models.CreatedKey), json=body)


def decide(
    feedback: str, what: str, candidates: Sequence[int] | None, despite: bool = False
) -> Call[models.Feedback]:
    """A decision about candidates of feedback."""
    body = given(candidates=candidates, despite=despite or None)
    path = f"/api/v1/feedback/{part(feedback)}/{what}"
    return Call("POST", path, of(models.Feedback), json=body)
