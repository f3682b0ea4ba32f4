"""Measures what summaries of chunks add to searching, and prints a table for docs/developers/measurements.md.

    HALMA_DATA=FOLDER HALMA=target/debug/halma python3 train/summaries.py WORK

WORK is a folder for samples, bases and results; a second run uses what is there. No language model
takes part. A server in this script stands in for the model of role `cutter`: it fills every chunk,
says of a chunk its first sentence and the names in it, and of the text so far the title and the
first sentence of the document. Such a summary holds no word that the document does not hold; a
language model's does, so the figures are a floor. The same server embeds texts by latent semantic
analysis (256 dimensions of a TF-IDF matrix of the passages), so that vectors take part as well.
"""

import http.server
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy
from search_settings import SETS, find, row, sample

NAMES = ["HotpotQA", "2Wiki", "MuSiQue"]
QUESTIONS = 100
WEIGHTS = [0.0, 0.25, 0.5, 1.0]
CHUNK_CHARS = 300
DIMENSIONS = 256
WORD = re.compile(r"\w+")
NAME = re.compile(r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")


def passages(records):
    for record in records:
        for paragraph in record.get("paragraphs", []):
            yield f"{paragraph['title']} {paragraph['paragraph_text']}"
        for title, sentences in record.get("context", []):
            yield f"{title} {' '.join(sentences)}"


class Lsa:
    """Texts as their words' share in the strongest singular vectors of the passages."""

    def __init__(self, texts):
        texts = [set(WORD.findall(text.lower())) for text in texts]
        counts = {}
        for words in texts:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        known = sorted(word for word, count in counts.items() if 1 < count < len(texts) / 4)
        self.places = {word: at for at, word in enumerate(known)}
        self.idf = numpy.log(len(texts) / numpy.array([counts[word] for word in known]))
        matrix = numpy.array([self.weighed(words) for words in texts], dtype=numpy.float32)
        # Randomized: the exact decomposition takes minutes.
        sketch = matrix @ numpy.random.default_rng(1).normal(size=(len(known), DIMENSIONS + 32))
        basis, _ = numpy.linalg.qr(matrix @ (matrix.T @ sketch))
        self.directions = numpy.linalg.svd(basis.T @ matrix, full_matrices=False)[2][:DIMENSIONS]

    def weighed(self, words):
        vector = numpy.zeros(len(self.places), dtype=numpy.float32)
        for word in words:
            if word in self.places:
                vector[self.places[word]] = self.idf[self.places[word]]
        return vector / max(numpy.linalg.norm(vector), 1e-6)

    def embed(self, text):
        vector = self.directions @ self.weighed(set(WORD.findall(text.lower())))
        vector[0] += 1e-3
        return (vector / max(numpy.linalg.norm(vector), 1e-6)).tolist()


def first_sentence(text):
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]


def cut(messages):
    """The reply of a model that fills every chunk."""
    text = "\n".join(message["content"] for message in messages)
    last = int(re.search(r"from 1 to (\d+)", text)[1])
    title = re.search(r"^Document: (.*)$", text, re.M)[1]
    known = re.search(r"^Known so far: (.*)$", text, re.M)[1]
    pieces = re.split(r"^\[\d+\]$", text[text.index("Known so far:") :], flags=re.M)[1:]
    chunk = " ".join(piece.strip() for piece in pieces[:last])
    names = "; ".join(dict.fromkeys(NAME.findall(chunk)))
    summary = f"{title}: {first_sentence(chunk)} {names}"[:1500]
    is_first = known.startswith("(this is")
    forward = f"{title}. {first_sentence(chunk)}"[:1500] if is_first else known
    return json.dumps({"end": last, "summary": summary, "forward": forward})


def serve(lsa):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path.endswith("/embeddings"):
                data = [
                    {"index": at, "embedding": lsa.embed(text)}
                    for at, text in enumerate(asked["input"])
                ]
                reply = {"data": data}
            else:
                message = {"role": "assistant", "content": cut(asked["messages"])}
                reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
            body = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def configure(work, port):
    url = f"http://127.0.0.1:{port}/v1"
    text = f"""
[models.rules]
url = "{url}"
model = "rules"
[roles]
cutter = "rules"
default = "extractive"
[embedder]
kind = "endpoint"
url = "{url}"
model = "lsa"
[kb]
atoms = "sentences"
chunks = "model"
chunk_chars = {CHUNK_CHARS}
"""
    (work / "halma.toml").write_text(text)


def run(halma, work, *arguments):
    command = [halma, *arguments]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def main():
    work = Path(sys.argv[1]).resolve()
    halma = str(Path(os.environ.get("HALMA", "target/debug/halma")).resolve())
    work.mkdir(parents=True, exist_ok=True)
    found = {}
    for name in NAMES:
        file = sample(Path(os.environ["HALMA_DATA"]), work, name)
        records = json.loads(file.read_text())[:QUESTIONS]
        file = work / f"{name}-{QUESTIONS}.json"
        file.write_text(json.dumps(records))
        server = serve(Lsa(list(dict.fromkeys(passages(records)))))
        configure(work, server.server_port)
        for mode in ["hybrid", "graph"]:
            for weight in WEIGHTS:
                # fmt: off
                report = json.loads(run(
                    halma, work, "eval", str(file), "--format", SETS[name][1],
                    "--retrieval", mode, "--kb", str(work / "bases" / name), "--json",
                    "--set", f"kb.search.summaries={weight}",
                    "--set", f"kb.graph.summaries={weight}",
                ))
                # fmt: on
                found[mode, weight, name] = 100 * next(iter(find(report, "r5")))["r5"]
        server.shutdown()
    for mode in ["hybrid", "graph"]:
        row(f"`{mode}`", [*NAMES, "mean"])
        row("---", ["---"] * (len(NAMES) + 1))
        for weight in WEIGHTS:
            cells = [found[mode, weight, name] for name in NAMES]
            cells.append(sum(cells) / len(cells))
            row(f"`summaries = {weight}`", [f"{cell:.1f}" for cell in cells])


if __name__ == "__main__":
    main()
