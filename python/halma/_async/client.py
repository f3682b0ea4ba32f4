"""The client for programs that wait for several things at once."""

# `halma/_sync/client.py` is generated from this file: see `generate.py`.
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx

from halma import _requests, models
from halma._async.administration import AsyncAdministration
from halma._async.evaluations import AsyncEvaluations
from halma._async.feedback import AsyncFeedback
from halma._requests import Call, Filter, Metadata, Page, Upload, of, part
from halma.errors import ConnectionFailed
from halma.events import StreamEvent, read_events_async


class AsyncHalma(AsyncFeedback, AsyncEvaluations, AsyncAdministration):
    """A client of one server, with one key.

    ``url`` and ``key`` default to the environment variables ``HALMA_URL`` and ``HALMA_KEY``. A key with
    the scope ``admin`` selects another workspace with ``workspace``. Questions may take minutes:
    ``timeout`` is for a silence of the server, in seconds.
    """

    # Questions

    async def ask(
        self,
        question: str,
        *,
        strategy: str | None = None,
        effort: str | None = None,
        filter: Filter | None = None,
        history: Sequence[Mapping[str, str]] | None = None,
        options: Sequence[str] | None = None,
        answer_kind: str | None = None,
        answer_style: str | None = None,
        asked_at: str | None = None,
        settings: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
    ) -> models.AskResponse:
        """Answers a question from the documents, with citations.

        ``effort`` is ``quick``, ``normal``, ``deep`` or ``exhaustive`` where no strategy is named;
        ``filter`` names the documents that the answer may come from, ``history`` is the conversation so
        far as ``{"role": …, "text": …}``, ``options`` are the choices of a multiple-choice question.
        """
        return await self._send(
            _requests.ask(
                question,
                {
                    "strategy": strategy,
                    "effort": effort,
                    "filter": filter,
                    "history": history,
                    "options": options,
                    "answer_kind": answer_kind,
                    "answer_style": answer_style,
                    "asked_at": asked_at,
                    "settings": settings,
                    "budget": budget,
                },
            )
        )

    @asynccontextmanager
    async def ask_stream(
        self,
        question: str,
        *,
        strategy: str | None = None,
        effort: str | None = None,
        filter: Filter | None = None,
        history: Sequence[Mapping[str, str]] | None = None,
        options: Sequence[str] | None = None,
        answer_kind: str | None = None,
        answer_style: str | None = None,
        asked_at: str | None = None,
        settings: Mapping[str, Any] | None = None,
        budget: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[AsyncIterator[StreamEvent]]:
        """Answers a question as a stream of events; leaving the block stops the run on the server."""
        call = _requests.ask(
            question,
            {
                "strategy": strategy,
                "effort": effort,
                "filter": filter,
                "history": history,
                "options": options,
                "answer_kind": answer_kind,
                "answer_style": answer_style,
                "asked_at": asked_at,
                "settings": settings,
                "budget": budget,
                "stream": True,
            },
        )
        request = self._http.build_request(
            call.method, call.path, json=call.json, headers={"accept": "text/event-stream"}
        )
        try:
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    _requests.check(response)
                yield read_events_async(response.aiter_text())
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise ConnectionFailed(f"{self.url}: {error or type(error).__name__}") from error

    async def search(
        self,
        text: str,
        *,
        layer: str | None = None,
        mode: str | None = None,
        limit: int | None = None,
        filter: Filter | None = None,
    ) -> list[models.Hit]:
        """Searches one layer of the base (``chunk`` by default), best hit first."""
        options = {"layer": layer, "mode": mode, "limit": limit, "filter": filter}
        return await self._send(_requests.search(text, options))

    async def strategies(self) -> list[models.StrategyLine]:
        """The ways of answering, with what each needs."""
        return await self._send(Call("GET", "/api/v1/strategies", of(list[models.StrategyLine])))

    async def examples(self) -> list[models.Suggestion]:
        """A few questions that the documents answer."""
        return await self._send(Call("GET", "/api/v1/examples", _requests.items_of(models.Suggestion)))

    # Documents

    async def documents_page(
        self,
        *,
        query: str | None = None,
        state: str | None = None,
        limit: int | None = None,
        after: str | None = None,
    ) -> Page[models.DocumentLine]:
        """A page of the documents by name; ``query`` is a part of one."""
        params = _requests.given(query=query, state=state, limit=limit, after=after)
        read = _requests.page_of(models.DocumentLine)
        return await self._send(Call("GET", "/api/v1/documents", read, params=params))

    async def documents(
        self, *, query: str | None = None, state: str | None = None
    ) -> AsyncIterator[models.DocumentLine]:
        """All documents, page by page."""
        after: str | None = None
        while True:
            page = await self.documents_page(query=query, state=state, limit=500, after=after)
            for document in page.items:
                yield document
            after = page.next
            if after is None:
                return

    async def document(self, document: str) -> models.DocumentDetail:
        """A document, by its id or name, with its sections, counts and fields."""
        path = f"/api/v1/documents/{part(document)}"
        return await self._send(Call("GET", path, of(models.DocumentDetail)))

    async def document_text(
        self, document: str, *, start: int | None = None, end: int | None = None
    ) -> models.DocumentText:
        """The text of a document, or the characters from ``start`` to ``end``."""
        path = f"/api/v1/documents/{part(document)}/text"
        params = _requests.given(start=start, end=end)
        return await self._send(Call("GET", path, of(models.DocumentText), params=params))

    async def download(self, document: str) -> bytes:
        """The original file of a document."""
        path = f"/api/v1/documents/{part(document)}/file"
        return await self._send(Call("GET", path, _requests.raw))

    async def upload(
        self,
        files: Iterable[Upload],
        *,
        folder: str | None = None,
        metadata: Metadata | None = None,
        replace: bool = False,
    ) -> models.UploadResult:
        """Uploads files, given as paths or as ``(name, bytes)``; a build makes them documents.

        ``metadata`` are the fields that they get, such as ``{"team": "legal", "year": 2024}``. A file
        whose name is taken is refused, unless ``replace`` is set: then it takes the other's place, and
        keeps its fields where there is no ``metadata``.
        """
        fields = _requests.upload_fields(folder, metadata)
        with contextlib.ExitStack() as opened:
            return await self._send(_requests.upload(files, fields, opened, replace))

    async def set_metadata(self, document: str, metadata: Metadata) -> dict[str, Any]:
        """Gives a document other fields; nothing is indexed again."""
        path = f"/api/v1/documents/{part(document)}/metadata"
        return await self._send(Call("PUT", path, of(dict[str, Any]), json=dict(metadata)))

    async def delete_document(self, document: str) -> models.DeletedDocument:
        """Deletes a document with everything that was made of it."""
        path = f"/api/v1/documents/{part(document)}"
        return await self._send(Call("DELETE", path, of(models.DeletedDocument)))

    # Builds

    async def estimate(
        self, uploads: Sequence[str] | None = None, *, rebuild: Sequence[str] | None = None
    ) -> models.BuildEstimate:
        """What a build would cost; ``kept`` is what stays although the configuration differs."""
        body = _requests.given(uploads=uploads, rebuild=rebuild)
        call = Call("POST", "/api/v1/builds/estimate", of(models.BuildEstimate), json=body)
        return await self._send(call)

    async def build(
        self, uploads: Sequence[str] | None = None, *, rebuild: Sequence[str] | None = None
    ) -> models.BuildStatus:
        """Starts a build of these uploads, or of all; ``wait_for_build`` returns when it has ended.

        ``rebuild`` names parts of the base that are made again: ``"atoms"``, ``"entities"`` …
        """
        return await self._send(_requests.build(uploads, rebuild))

    async def builds(self) -> list[models.BuildStatus]:
        """The builds, newest first."""
        return await self._send(Call("GET", "/api/v1/builds", _requests.items_of(models.BuildStatus)))

    async def build_status(self, build: str) -> models.BuildStatus:
        """The status of a build."""
        path = f"/api/v1/builds/{part(build)}"
        return await self._send(Call("GET", path, of(models.BuildStatus)))

    async def wait_for_build(self, build: str, *, interval: float = 0.5) -> models.BuildStatus:
        """Returns the status of a build when it has ended or is paused."""
        while True:
            status = await self.build_status(build)
            if status.state != models.BuildPhase.running:
                return status
            await asyncio.sleep(interval)

    async def pause_build(self, build: str) -> models.BuildStatus:
        """Pauses a build; what it has done is kept."""
        path = f"/api/v1/builds/{part(build)}/pause"
        return await self._send(Call("POST", path, of(models.BuildStatus)))

    async def resume_build(self, build: str) -> models.BuildStatus:
        """Resumes a build that was paused or has failed."""
        path = f"/api/v1/builds/{part(build)}/resume"
        return await self._send(Call("POST", path, of(models.BuildStatus)))

    async def cancel_build(self, build: str) -> models.BuildStatus:
        """Cancels a build; what it has done is kept."""
        path = f"/api/v1/builds/{part(build)}/cancel"
        return await self._send(Call("POST", path, of(models.BuildStatus)))

    # Nodes and tables

    async def node(self, node: str) -> models.Hit:
        """A node of any layer."""
        return await self._send(Call("GET", f"/api/v1/nodes/{part(node)}", of(models.Hit)))

    async def neighbours(
        self, node: str, *, edge: str | None = None, limit: int | None = None
    ) -> models.Neighbourhood:
        """The nodes that share an edge with a node."""
        path = f"/api/v1/nodes/{part(node)}/neighbours"
        params = _requests.given(edge=edge, limit=limit)
        return await self._send(Call("GET", path, of(models.Neighbourhood), params=params))

    async def timeline(
        self,
        entity: str,
        *,
        document: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> models.Timeline:
        """What is dated of an entity, by one of its names, in the order of the dates.

        ``document`` (a name with ``*``), ``since`` and ``until`` restrict which documents are read.
        """
        params = _requests.given(
            name=entity, document=document, since=since, until=until, limit=limit
        )
        path = "/api/v1/entities/timeline"
        return await self._send(Call("GET", path, of(models.Timeline), params=params))

    async def tables(self) -> list[models.TableLine]:
        """The tables that can be queried."""
        return await self._send(Call("GET", "/api/v1/tables", _requests.items_of(models.TableLine)))

    async def table(
        self, name: str, *, limit: int | None = None, offset: int | None = None
    ) -> models.TableRows:
        """A page of the rows of a table."""
        params = _requests.given(limit=limit, offset=offset)
        call = Call("GET", f"/api/v1/tables/{part(name)}", of(models.TableRows), params=params)
        return await self._send(call)

    async def sql(self, sql: str) -> models.SqlResult:
        """Runs one ``SELECT`` over the tables; each row names the nodes that it comes from."""
        return await self._send(Call("POST", "/api/v1/sql", of(models.SqlResult), json={"sql": sql}))

    # Traces

    async def traces(
        self, *, strategy: str | None = None, query: str | None = None, after: str | None = None
    ) -> Page[models.TraceHead]:
        """Earlier questions, newest first."""
        params = _requests.given(strategy=strategy, query=query, after=after)
        read = _requests.page_of(models.TraceHead)
        return await self._send(Call("GET", "/api/v1/traces", read, params=params))

    async def trace(self, trace: str) -> models.TraceDetail:
        """A question with everything that happened while it was answered."""
        return await self._send(Call("GET", f"/api/v1/traces/{part(trace)}", of(models.TraceDetail)))

    async def delete_trace(self, trace: str) -> None:
        """Deletes a trace."""
        await self._send(Call("DELETE", f"/api/v1/traces/{part(trace)}", _requests.nothing))
