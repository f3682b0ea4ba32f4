"""What the logits of a pair mean: the answer, how sure it is, and the keywords. FORMAT says the same in
words; the program does the same."""

import re
import string
from collections import Counter

import torch

from bert import KINDS, batch, encode

MOST_TOKENS = 24
BATCH_TOKENS = 6000


def logits_of(model, base, pairs):
    """Encoded input and logits of each (question, passage); a passage of None is left out."""
    encoded = [encode(base.tokenizer, *one) for one in pairs]
    order = sorted(range(len(pairs)), key=lambda at: len(encoded[at][0]))
    replies = [None] * len(pairs)
    at = 0
    while at < len(order):
        end = at + 1
        while end < len(order) and (end + 1 - at) * len(encoded[order[end]][0]) <= BATCH_TOKENS:
            end += 1
        ids, types, mask = batch([encoded[one][:2] for one in order[at:end]])
        with torch.no_grad():
            logits = model(base.embeddings(ids, types), mask)
        for row, one in enumerate(order[at:end]):
            size = len(encoded[one][0])
            replies[one] = {name: value[row, :size] if value.dim() > 1 and name in ("span", "keyword")
                            else value[row] for name, value in logits.items()}
        at = end
    return [(places, reply) for (_, _, places), reply in zip(encoded, replies)]


def best_span(logits, places, segment):
    """The best first and last token of a segment, and the sum of their logits."""
    held = [at for at, place in enumerate(places) if place and place[0] == segment]
    if not held:
        return None
    start, end = logits[held, 0], logits[held, 1]
    sums = start[:, None] + end[None, :]
    size = len(held)
    allowed = torch.ones(size, size).triu().tril(MOST_TOKENS - 1).bool()
    at = int(sums.masked_fill(~allowed, -1e9).argmax())
    return held[at // size], held[at % size], float(sums[at // size, at % size])


def answer(question, passage, places, logits):
    """The best span of passage or question, its margin over `no answer`, and the kinds."""
    none = float(logits["span"][0].sum())
    best = None
    for segment, text in ((0, question.strip()), (1, passage)):
        found = best_span(logits["span"], places, segment)
        if found and (best is None or found[2] - none > best[1]):
            best = (text[places[found[0]][1]:places[found[1]][2]], found[2] - none)
    return {"text": best[0], "margin": best[1],
            "kinds": dict(zip(KINDS, logits["kind"].softmax(0).tolist())),
            "relevance": float(logits["relevance"])}


def final(reply, yes_no):
    """Yes or no where their kinds together exceed `yes_no`, else the span."""
    yes, no = reply["kinds"]["yes"], reply["kinds"]["no"]
    if yes + no > yes_no:
        return "yes" if yes >= no else "no"
    return reply["text"]


def keywords(question, places, logits, threshold):
    """Words with a token above the threshold; neighbours are one keyword."""
    question = question.strip()
    sure = logits["keyword"].sigmoid().tolist()
    words = [one.span() for one in re.finditer(r"\S+", question)]
    chosen = [any(place and place[1] < end and place[2] > start and sure[at] > threshold
                  for at, place in enumerate(places)) for start, end in words]
    made, open_word = [], False
    for (start, end), held in zip(words, chosen):
        if held and open_word:
            made[-1] = (made[-1][0], end)
        elif held:
            made.append((start, end))
        open_word = held
    return [question[start:end].strip(string.punctuation + "“”’ ") for start, end in made]


def worded(text):
    """As the official scripts compare answers."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1(given, gold):
    given, gold = worded(given), worded(gold)
    if given in (["yes"], ["no"]) or gold in (["yes"], ["no"]):
        return float(given == gold)
    same = sum((Counter(given) & Counter(gold)).values())
    return 2 * same / (len(given) + len(gold)) if same else 0.0
