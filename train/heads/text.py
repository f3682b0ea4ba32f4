"""Finding answers in passages, cutting passages, and counting what is left out."""

import functools
import hashlib
import re
from collections import Counter

# Of the same answer in one passage, at most this number of places is learned.
MOST_PLACES = 6
STOP = set(
    "a an the of in on at by for to from with and or is are was were be been did do does has have had "
    "what which who whom whose when where why how that this it its he she his her they their as".split()
)

left_out = Counter()


def normal(text):
    """For comparing questions and names: lower case, letters and digits only."""
    return " ".join(re.findall(r"\w+", text.lower()))


@functools.lru_cache(maxsize=None)
def content(text):
    return {word for word in normal(text).split() if word not in STOP}


# The share of the multi-hop questions that is held out of the training.
HELD_MULTI = 0.2


def share(key):
    """A number in 0..1 that depends on the key alone, so that a split stays as it is."""
    return int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) / 16**8


def places(passage, answer):
    """Where the answer stands as whole words, whatever its case, as [1, start, end]."""
    answer = answer.strip()
    # What follows is slow.
    if not answer or answer.lower() not in passage.lower():
        return []
    found = re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", passage, re.IGNORECASE)
    return [[1, one.start(), one.end()] for one in found][:MOST_PLACES]


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?][\"”]) +|(?<=[.!?]) +(?=[\"“A-Z0-9(])", text) if part]


def window(text, needed, words):
    """Whole sentences of at most about `words` words, around the one that holds `needed`.

    Most of the work is spent on the length of passages. The part depends on the text alone.
    """
    parts = sentences(text)
    if len(text.split()) <= words or len(parts) < 2:
        return text
    holds = [at for at, part in enumerate(parts) if needed and needed.lower() in part.lower()]
    if needed and not holds:
        return text
    low = high = holds[0] if holds else 0
    before = share(text + needed) < 0.5
    size = len(parts[low].split())
    while True:
        near = [at for at in (low - 1, high + 1) if 0 <= at < len(parts)]
        near = [at for at in near if size + len(parts[at].split()) <= words]
        if not near:
            return " ".join(parts[low:high + 1])
        at = near[0] if before or len(near) == 1 else near[-1]
        size += len(parts[at].split())
        low, high = min(low, at), max(high, at)
        before = not before


def pair(source, question, passage, answer=None, kind="span", relevance=1):
    """One example, or None (counted) where the answer cannot be learned."""
    question, passage = question.strip(), passage.strip()
    if not question or not passage:
        left_out["empty questions or passages"] += 1
        return None
    spans = []
    if kind == "span":
        if not (answer or "").strip():
            left_out["empty answers"] += 1
            return None
        spans = places(passage, answer)
        if not spans:
            left_out["answers that are not in the text"] += 1
            return None
    return {"source": source, "question": question, "passage": passage, "kind": kind,
            "spans": spans, "relevance": relevance}


def of_question(source, question, passage, answer):
    """A pair whose answer stands in the question: `Which is older, A or B?`"""
    spans = [[0, start, end] for _, start, end in places(question.strip(), answer)][:1]
    if not spans:
        left_out["answers that are not in the text"] += 1
        return None
    return {"source": source, "question": question.strip(), "passage": passage, "kind": "span",
            "spans": spans, "relevance": 1}
