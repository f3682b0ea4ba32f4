"""A retriever for LlamaIndex: ``pip install 'halma[llama-index]'``."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from halma.client import AsyncHalma, Halma
from halma.models import Hit


class HalmaRetriever(BaseRetriever):
    """Passages of a Halma base as LlamaIndex's nodes.

    .. code-block:: python

        retriever = HalmaRetriever("http://127.0.0.1:8765", similarity_top_k=5)
        nodes = retriever.retrieve("Which law applies?")
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        similarity_top_k: int = 5,
        layer: str = "chunk",
        mode: str = "graph",
        filter: dict[str, Any] | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        self._url = url
        self._key = key
        self._options: dict[str, Any] = {"layer": layer, "mode": mode, "limit": similarity_top_k, "filter": filter}
        super().__init__(callback_manager=callback_manager)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        with Halma(self._url, self._key) as halma:
            return [_node(hit) for hit in halma.search(query_bundle.query_str, **self._options)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        async with AsyncHalma(self._url, self._key) as halma:
            hits = await halma.search(query_bundle.query_str, **self._options)
            return [_node(hit) for hit in hits]


def _node(hit: Hit) -> NodeWithScore:
    metadata = {
        "file_name": hit.document,
        "title": hit.title,
        "section": hit.section,
        "page_label": hit.page,
        "layer": hit.layer.value,
    }
    node = TextNode(
        id_=str(getattr(hit.id, "root", hit.id)),
        text=hit.text,
        start_char_idx=hit.span.start,
        end_char_idx=hit.span.end,
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
    return NodeWithScore(node=node, score=hit.score)
