"""The retrievers within LangChain and LlamaIndex themselves, against a real server."""

import asyncio
import os
import unittest

URL = os.environ["HALMA_URL"]
QUESTION = "Who founded Biocon?"


class LangChain(unittest.TestCase):
    def test_a_retriever_is_a_step_of_a_chain(self):
        from langchain_core.runnables import RunnableLambda

        from halma.langchain import HalmaRetriever

        retriever = HalmaRetriever(url=URL, k=3)
        documents = retriever.invoke(QUESTION)
        self.assertEqual(len(documents), 3)
        self.assertIn("companies/biocon.md", {document.metadata["source"] for document in documents})
        self.assertTrue(all(document.id and document.page_content for document in documents))
        chain = retriever | RunnableLambda(lambda found: len(found))
        self.assertEqual(chain.invoke(QUESTION), 3)
        self.assertEqual(asyncio.run(chain.ainvoke(QUESTION)), 3)
        self.assertEqual(len(retriever.batch([QUESTION, "Cyltezo"])), 2)

    def test_a_filter_restricts_it_and_a_key_is_not_shown(self):
        from halma.langchain import HalmaRetriever

        retriever = HalmaRetriever(url=URL, key="halma_secret", filter={"documents": ["products/*"]})
        self.assertNotIn("halma_secret", repr(retriever))
        sources = {document.metadata["source"] for document in retriever.invoke(QUESTION)}
        self.assertTrue(sources)
        self.assertTrue(all(source.startswith("products/") for source in sources))


class LlamaIndex(unittest.TestCase):
    def test_a_retriever_gives_nodes_with_scores(self):
        from llama_index.core.base.base_retriever import BaseRetriever

        from halma.llama_index import HalmaRetriever

        retriever = HalmaRetriever(URL, similarity_top_k=3)
        self.assertIsInstance(retriever, BaseRetriever)
        nodes = retriever.retrieve(QUESTION)
        self.assertEqual(len(nodes), 3)
        self.assertEqual(sorted(nodes, key=lambda node: -node.score), nodes)
        self.assertIn("companies/biocon.md", {node.metadata["file_name"] for node in nodes})
        again = asyncio.run(retriever.aretrieve(QUESTION))
        self.assertEqual([node.node_id for node in again], [node.node_id for node in nodes])


if __name__ == "__main__":
    unittest.main()
