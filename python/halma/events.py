"""The events of a question that is answered as a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Union

from halma.errors import ConnectionFailed, error_for
from halma.models import AskResponse


@dataclass(frozen=True)
class Started:
    """The question is accepted; ``id`` is that of its trace."""

    id: str
    strategy: str


@dataclass(frozen=True)
class TraceEvent:
    """A step on the way to the answer, as it is stored in the trace."""

    event: dict[str, Any]


@dataclass(frozen=True)
class AnswerDelta:
    """A piece of the answer. With ``restart`` the pieces before it are void."""

    text: str
    restart: bool = False


@dataclass(frozen=True)
class Answered:
    """The end: what ``ask`` would have returned."""

    response: AskResponse


StreamEvent = Union[Started, TraceEvent, AnswerDelta, Answered]


class _Lines:
    """Collects the lines of server-sent events.

    Lines end at a line feed alone: a separator of Unicode, which documents contain, ends none.
    """

    def __init__(self) -> None:
        self.rest: list[str] = []
        self.name = ""
        self.data: list[str] = []
        self.ended = False

    def feed(self, piece: str) -> Iterator[StreamEvent]:
        """The events that a piece of the text completes."""
        first, *others = piece.split("\n")
        self.rest.append(first)
        for line in others:
            event = self.add("".join(self.rest).removesuffix("\r"))
            self.rest = [line]
            if event is not None:
                yield event

    def add(self, line: str) -> StreamEvent | None:
        if line.startswith("event:"):
            self.name = line[6:].strip()
        elif line.startswith("data:"):
            self.data.append(line[5:].removeprefix(" "))
        elif not line and self.data:
            name, data = self.name, "\n".join(self.data)
            self.name, self.data = "", []
            return self.event(name, data)
        return None

    def event(self, name: str, data: str) -> StreamEvent | None:
        if name == "answer":
            self.ended = True
            return Answered(AskResponse.model_validate_json(data))
        value = json.loads(data)
        if name == "error":
            self.ended = True
            raise error_for(int(value.get("status", 500)), value)
        if name == "started":
            return Started(value["id"], value["strategy"])
        if name == "answer_delta":
            return AnswerDelta(value["text"], bool(value.get("restart", False)))
        # Kinds of events that a later server may send are steps, too.
        return TraceEvent(value) if isinstance(value, dict) else None

    def end(self) -> None:
        if not self.ended:
            raise ConnectionFailed("the stream ended before the answer", hint="ask again")


def read_events(pieces: Iterable[str]) -> Iterator[StreamEvent]:
    """The events in the text of a response."""
    collected = _Lines()
    for piece in pieces:
        yield from collected.feed(piece)
    collected.end()


async def read_events_async(pieces: AsyncIterable[str]) -> AsyncIterator[StreamEvent]:
    """``read_events`` of text that is waited for."""
    collected = _Lines()
    async for piece in pieces:
        for event in collected.feed(piece):
            yield event
    collected.end()
