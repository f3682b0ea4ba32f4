"""Labels for keywords (DEC, Section 3.2), the same rule as `halma train keywords`:

    D*(K) = {d of the pool: all K occur in d}
    Eq. 9   I(K) = 1 where all K occur in the gold passage
    Eq. 6   K* = argmax |D*(K) and gold| / |D*(K)|, of the fewest words

Here K are parts of the question itself: names of several words, and single content words.
"""

import itertools
import re

from text import STOP, content, left_out, normal

MOST_KEYWORDS, MOST_PASSAGES = 3, 10
NAME = re.compile(r"[A-Z0-9][\w’'.-]*(?: (?:(?:of|the|and|de|von|van) )?[A-Z0-9][\w’'.-]*)*")


def candidates(question):
    """Character ranges of names and of the words outside them."""
    first = question.split(" ", 1)[0]
    held = []
    for one in NAME.finditer(question):
        start, end = one.span()
        words = question[start:end].split(" ")
        # The word that opens the sentence is written large whatever it is.
        while words and (words[0].lower() in STOP or start == 0 and words[0] == first and len(words) > 1):
            start += len(words[0]) + 1
            words = words[1:]
        if words:
            held.append((start, end - (question[end - 1] in ".'")))
    for one in re.finditer(r"[\w’'-]{3,}", question):
        inside = any(start <= one.start() < end for start, end in held)
        if not inside and one[0].lower() not in STOP and one.start() > 0:
            held.append(one.span())
    held.sort(key=lambda span: (span[0] - span[1], span[0]))
    return held[:7]


class Pool:
    """The passages among which the right one is to be found."""

    def __init__(self, passages):
        self.texts = [f" {normal(text)} " for text in dict.fromkeys(passages)]
        self.words = {}
        for at, text in enumerate(self.texts):
            for word in set(text.split()):
                self.words.setdefault(word, set()).add(at)

    def holding(self, keyword):
        words = normal(keyword).split()
        found = set.intersection(*(self.words.get(word, set()) for word in words)) if words else set()
        return found if len(words) < 2 else {at for at in found if f" {normal(keyword)} " in self.texts[at]}

    def label(self, question, passage):
        """Character ranges of K*, or None (counted)."""
        gold = f" {normal(passage)} "
        spans = [span for span in candidates(question) if f" {normal(question[slice(*span)])} " in gold]
        best = None
        holding = [self.holding(question[slice(*span)]) for span in spans]
        for size in range(1, MOST_KEYWORDS + 1):
            for chosen in itertools.combinations(range(len(spans)), size):
                found = set.intersection(*(holding[at] for at in chosen))
                if not found or len(found) > MOST_PASSAGES:
                    continue
                words = sum(len(question[slice(*spans[at])].split()) for at in chosen)
                rank = (-1 / len(found), words)
                if any(self.texts[at] == gold for at in found) and (best is None or rank < best[0]):
                    best = (rank, chosen)
        if best is None:
            left_out["questions without keywords (Eq. 6, Eq. 9)"] += 1
            return None
        return sorted(list(spans[at]) for at in best[1])


def labelled(asked, pool, with_gold=False):
    """Keyword examples of questions with their passage (title and text)."""
    known = set()
    for source, question, passage in asked:
        if question in known or not content(question):
            continue
        known.add(question)
        spans = pool.label(question, passage)
        if spans:
            gold = {"gold": normal(passage)} if with_gold else {}
            yield {"source": source, "question": question, "keywords": spans, **gold}
