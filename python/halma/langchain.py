"""A retriever for LangChain: ``pip install 'halma[langchain]'``."""

from __future__ import annotations

from typing import Any, Optional

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, SecretStr

from halma.client import AsyncHalma, Halma
from halma.models import Hit


class HalmaRetriever(BaseRetriever):
    """Passages of a Halma base as LangChain's documents.

    .. code-block:: python

        retriever = HalmaRetriever(url="http://127.0.0.1:8765", k=5, filter={"metadata": {"team": "legal"}})
        documents = retriever.invoke("Which law applies?")
    """

    url: Optional[str] = None
    """Address of the server; ``HALMA_URL`` by default."""
    key: Optional[SecretStr] = None
    """An API key; ``HALMA_KEY`` by default."""
    k: int = Field(default=5, ge=1, le=500)
    """Number of passages."""
    layer: str = "chunk"
    """What is searched: ``chunk``, ``atom``, ``table`` …"""
    mode: str = "graph"
    """``graph``, ``hybrid``, ``dense`` or ``bm25``."""
    filter: Optional[dict[str, Any]] = None
    """Only documents that meet this filter."""

    def _secret(self) -> str | None:
        return self.key.get_secret_value() if self.key else None

    def _options(self) -> dict[str, Any]:
        return {"layer": self.layer, "mode": self.mode, "limit": self.k, "filter": self.filter}

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        with Halma(self.url, self._secret()) as halma:
            return [_document(hit) for hit in halma.search(query, **self._options())]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        async with AsyncHalma(self.url, self._secret()) as halma:
            return [_document(hit) for hit in await halma.search(query, **self._options())]


def _document(hit: Hit) -> Document:
    metadata = {
        "source": hit.document,
        "title": hit.title,
        "section": hit.section,
        "page": hit.page,
        "start": hit.span.start,
        "end": hit.span.end,
        "score": hit.score,
        "layer": hit.layer.value,
    }
    return Document(id=str(_plain(hit.id)), page_content=hit.text, metadata=metadata)


def _plain(identifier: Any) -> Any:
    return getattr(identifier, "root", identifier)
