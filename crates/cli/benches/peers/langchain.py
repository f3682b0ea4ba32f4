"""LangChain with FAISS on the work that Halma does in this bench, as its documentation puts it
together: `langchain.py URL index PASSAGES`, `langchain.py URL ask PASSAGES QUESTIONS TOGETHER AT_ONCE`.
Needs langchain-openai, langchain-community, faiss-cpu and rank_bm25. Prints `key value` lines."""

import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from langchain_community.retrievers import BM25Retriever
from langchain_community.vectorstores import FAISS
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

url, work, passages, *counts = sys.argv[1:]
embeddings = OpenAIEmbeddings(
    model="double", base_url=url, api_key="none", check_embedding_ctx_length=False
)


def build():
    with open(passages) as file:
        records = [json.loads(line) for line in file]
    documents = [Document(page_content=r["text"], metadata={"id": r["id"]}) for r in records]
    return documents, FAISS.from_documents(documents, embeddings)


if work == "index":
    # Without the time of starting Python, which Halma's includes.
    began, used = time.perf_counter(), time.process_time()

    def show(key):
        took, cpu = time.perf_counter() - began, time.process_time() - used
        count = len(documents)
        print(f"{key} {count / took:.0f}/s, {cpu * 1e6 / count:.0f} µs CPU each")

    documents, _ = build()
    show("vectors")
    # Halma indexes words as well.
    BM25Retriever.from_documents(documents)
    show("both")
else:
    questions, together, at_once = map(int, counts)
    _, store = build()
    retriever = store.as_retriever(search_kwargs={"k": 10})
    prompt = ChatPromptTemplate.from_template(
        "Answer the question from these passages.\n\n{context}\n\nQuestion: {question}"
    )
    join = lambda found: "\n\n".join(document.page_content for document in found)
    model = ChatOpenAI(model="double", base_url=url, api_key="none")
    chain = (
        {"context": retriever | join, "question": RunnablePassthrough()}
        | prompt | model | StrOutputParser()
    )
    ask = lambda part, i: chain.invoke(f"Where was the maker of thing number {i} of lot {part} born?")
    for i in range(10):
        ask("warm", i)
    times = []
    for i in range(questions):
        began = time.perf_counter()
        ask("one", i)
        times.append(time.perf_counter() - began)
    used = time.process_time()
    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda i: ask("many", i), range(together)))
    took, used = time.perf_counter() - began, time.process_time() - used
    print(f"p50 {statistics.median(times) * 1e3:.2f} ms")
    print(f"rate {together / took:.0f}/s, {used * 1e3 / together:.2f} ms CPU each")
