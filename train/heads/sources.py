"""Reads the public data: sets with one passage a question, and multi-hop sets.

Files may have Windows line ends or a byte order mark, and may be packed with gzip or not.
"""

import gzip
import json
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bert import fail
from text import left_out, normal

SINGLE = {
    "squadshifts_new_wiki": "squadshifts_new_wiki_v1.0.json", "xquad": "xquad.en.json",
    "nq": "nq-open-oracle.jsonl", "qed": "qed-dev.jsonlines", "policyqa": "policyqa_dev.json",
    "squadshifts_amazon": "squadshifts_amazon_v1.0.json",
    "squadshifts_reddit": "squadshifts_reddit_v1.0.json",
}
MULTI = {
    "hotpotqa": "hotpotqa_train.json", "2wiki": "2wiki_train.json", "musique": "musique_train100.json",
}


@dataclass
class Single:
    """A question with its passage; `others` are passages of the same document."""

    source: str
    question: str
    title: str
    text: str
    answer: str
    others: list = field(default_factory=list)


@dataclass
class Passage:
    title: str
    text: str
    gold: bool
    # Sentences that the set names as support, or nothing.
    support: str = ""


@dataclass
class Multi:
    """A multi-hop question with its passages, gold ones among them.

    `steps`: sub-question, answer and passage. `triples`: subject, relation, object.
    """

    source: str
    id: str
    question: str
    answer: str
    kind: str
    passages: list
    steps: list = field(default_factory=list)
    triples: list = field(default_factory=list)


def text_of(file):
    packed = file.with_name(file.name + ".gz")
    try:
        if packed.is_file():
            raw = gzip.decompress(packed.read_bytes())
        else:
            raw = file.read_bytes()
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        fail(f"`{file}` cannot be read: {reason}", "get the file again, see train/heads/CARD.md")


def records(file):
    """One JSON value as a list, or JSON lines."""
    text = text_of(file)
    try:
        held = json.loads(text)
        return held if isinstance(held, list) else [held]
    except ValueError:
        held = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                held.append(json.loads(line))
            except ValueError:
                fail(f"`{file}`, line {number}: not JSON", "get the file again")
    return held


def squad(source, file):
    for article in records(file)[0]["data"]:
        texts = [paragraph["context"].strip() for paragraph in article["paragraphs"]]
        title = article.get("title", "").replace("_", " ") if "amazon" not in source else ""
        for paragraph, text in zip(article["paragraphs"], texts):
            for asked in paragraph["qas"]:
                answers = Counter(one["text"].strip() for one in asked["answers"])
                # The answer that most people gave; of those, the shortest.
                ranked = sorted(answers.items(), key=lambda one: (-one[1], len(one[0])))
                answer = ranked[0][0] if ranked else ""
                yield Single(source, asked["question"], title, text, answer, texts)


def single(folder, name):
    """The questions of a set with one passage a question."""
    file = folder / SINGLE[name]
    try:
        yield from single_records(name, file)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        fail(f"`{file}`: {error!r}", f"this is not a file of {name}, see train/heads/CARD.md")


def single_records(name, file):
    if name == "nq":
        for record in records(file):
            context = record["ctxs"][0] if record["ctxs"] else {"title": "", "text": ""}
            held = [one for one in record["answers"] if one.strip()]
            answer = min(held, key=lambda one: context["text"].find(one) % 10**6, default="")
            yield Single(name, record["question"], context["title"], context["text"], answer)
    elif name == "qed":
        for record in records(file):
            answers = record["annotation"].get("answer") or []
            if not answers:
                left_out["empty answers"] += 1
                continue
            answer = answers[0]["paragraph_reference"]["string"]
            yield Single(name, record["question_text"], record["title_text"],
                         record["paragraph_text"], answer)
    else:
        yield from squad(name, file)


def with_context(source, record):
    """HotpotQA and 2Wiki."""
    support = {}
    texts = {title: sentences for title, sentences in record["context"]}
    for title, at in record["supporting_facts"]:
        if at < len(texts.get(title, [])):
            support[title] = (support.get(title, "") + " " + texts[title][at].strip()).strip()
    gold = {title for title, _ in record["supporting_facts"]}
    passages = [
        Passage(title, " ".join(part.strip() for part in sentences), title in gold, support.get(title, ""))
        for title, sentences in texts.items()
    ]
    return Multi(source, record.get("_id", record["question"]), record["question"], record["answer"],
                 record["type"], passages, triples=record.get("evidences", []))


def musique(record):
    passages = [Passage(one["title"], one["paragraph_text"], one["is_supporting"])
                for one in record["paragraphs"]]
    steps, answers = [], []
    for step in record["question_decomposition"]:
        question = step["question"]
        for number, answer in reversed(list(enumerate(answers, 1))):
            question = question.replace(f"#{number}", answer)
        answers.append(step["answer"])
        steps.append((question.strip(), step["answer"], passages[step["paragraph_support_idx"]]))
    return Multi("musique", record["id"], record["question"], record["answer"], "compositional",
                 passages, steps=steps)


def multi(folder, name):
    """The questions of a set, each once."""
    file = folder / MULTI[name]
    if "_dev" in file.name:
        fail(f"`{file}` is a development file", "train on train files only")
    known = set()
    for number, record in enumerate(records(file), 1):
        try:
            made = musique(record) if name == "musique" else with_context(name, record)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            fail(f"`{file}`, record {number}: {error!r}", f"this is not a file of {name}")
        if normal(made.question) in known:
            left_out["duplicate questions"] += 1
            continue
        known.add(normal(made.question))
        yield made


def held_aside(files):
    """Questions and sub-questions of files that nothing may be trained on."""
    questions = set()
    for file in files:
        for number, record in enumerate(records(Path(file)), 1):
            try:
                questions.add(normal(record["question"]))
                if "question_decomposition" in record:
                    questions.update(normal(question) for question, _, _ in musique(record).steps)
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                fail(f"`{file}`, record {number}: {error!r}",
                     "exclude files of HotpotQA, 2WikiMultihopQA or MuSiQue")
    return questions
