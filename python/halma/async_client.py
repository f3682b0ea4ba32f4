"""The client for programs that wait for several things at once."""

# `halma/sync_client.py` is generated from this file: see `generate.py`.
from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx

from halma import _requests, models
from halma._requests import Call, Filter, Metadata, Page, Upload, of, part
from halma.errors import ConnectionFailed
from halma.events import StreamEvent, read_events_async

T = TypeVar("T")


class AsyncHalma:
    """A client of one server, with one key.

    ``url`` and ``key`` default to the environment variables ``HALMA_URL`` and ``HALMA_KEY``. A key with
    the scope ``admin`` selects another workspace with ``workspace``. Questions may take minutes:
    ``timeout`` is for a silence of the server, in seconds.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        workspace: str | None = None,
        timeout: float | httpx.Timeout | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.url = _requests.server_url(url)
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers=_requests.headers(key, workspace),
            timeout=_requests.DEFAULT_TIMEOUT if timeout is None else timeout,
            transport=transport,
        )

    async def __aenter__(self) -> AsyncHalma:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _send(self, call: Call[T]) -> T:
        try:
            response = await self._http.request(
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

    # Questions

    async def ask(
        self,
        question: str,
        *,
        strategy: str | None = None,
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

        ``filter`` names the documents that the answer may come from, ``history`` is the conversation so
        far as ``{"role": …, "text": …}``, ``options`` are the choices of a multiple-choice question.
        """
        return await self._send(
            _requests.ask(
                question,
                {
                    "strategy": strategy,
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
                yield read_events_async(response.aiter_lines())
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

    async def examples(self) -> list[str]:
        """A few questions that the documents answer."""
        return await self._send(Call("GET", "/api/v1/examples", _requests.items_of(str)))

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

    # Server

    async def health(self) -> models.Health:
        """Whether the server runs; needs no key."""
        return await self._send(Call("GET", "/api/v1/health", of(models.Health)))

    async def me(self) -> models.Me:
        """The workspace and the scopes of the key."""
        return await self._send(Call("GET", "/api/v1/me", of(models.Me)))

    async def usage(self, by: str | None = None) -> list[models.UsageLine]:
        """What questions and builds have used, by ``day``, ``key`` or ``strategy``."""
        read = of(list[models.UsageLine])
        return await self._send(Call("GET", "/api/v1/usage", read, params=_requests.given(by=by)))

    async def create_key(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        workspace: str | None = None,
        where: Metadata | None = None,
        expires: str | None = None,
        budget_per_day_usd: float | None = None,
        calls_per_day: int | None = None,
    ) -> models.CreatedKey:
        """Creates a key; ``where`` restricts it to the documents whose fields meet the conditions."""
        options = {
            "workspace": workspace,
            "expires": expires,
            "budget_per_day_usd": budget_per_day_usd,
            "calls_per_day": calls_per_day,
        }
        return await self._send(_requests.new_key(name, scopes, options, where))

    async def keys(self) -> list[models.Key]:
        """The keys, without their secrets."""
        return await self._send(Call("GET", "/api/v1/keys", _requests.items_of(models.Key)))

    async def revoke_key(self, key: str) -> None:
        """Revokes a key and closes its open streams."""
        await self._send(Call("DELETE", f"/api/v1/keys/{part(key)}", _requests.nothing))

    async def workspaces(self) -> list[models.WorkspaceLine]:
        """The workspaces of the server."""
        read = _requests.items_of(models.WorkspaceLine)
        return await self._send(Call("GET", "/api/v1/workspaces", read))

    async def create_workspace(self, name: str) -> models.WorkspaceLine:
        """Creates a workspace."""
        read = of(models.WorkspaceLine)
        return await self._send(Call("POST", "/api/v1/workspaces", read, json={"name": name}))

    async def delete_workspace(self, name: str) -> None:
        """Deletes a workspace with everything in it."""
        await self._send(Call("DELETE", f"/api/v1/workspaces/{part(name)}", _requests.nothing))
