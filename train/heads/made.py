"""Pairs from the questions that generate.py had a language model make."""

import random
from collections import defaultdict

from bert import passage_text, read_lines
from multihop import JOINED_WORDS, hard, shown
from sources import Passage
from text import left_out, normal, pair, places, window

# How many of the questions are also put to another passage.
NEGATIVES = 0.5


def of_several(question, answer, parts, drawn):
    """Passages as the program puts them together: of each its first sentences or those around the answer."""
    words = JOINED_WORDS // len(parts)
    texts = []
    for one in parts:
        needed = answer if places(one.text, answer) else one.support
        texts.append(passage_text(one.title, window(one.text, needed, words)))
    drawn.shuffle(texts)
    return " ".join(texts)


def made_pairs(file, asked, excluded, drawn):
    """`asked`: the questions whose passages the made ones were asked about; their other passages are
    the negatives."""
    near = defaultdict(list)
    for one in asked:
        for passage in one.passages:
            near[passage.text].append(one)
    for made in read_lines(file):
        question, answer = made["question"], made["answer"]
        if normal(question) in excluded:
            left_out["questions of excluded files"] += 1
            continue
        passages = [Passage(title, text, True) for title, text in made["passages"]]
        texts = {one.text for one in passages}
        others = [other for text in texts for one in near[text] for other in one.passages
                  if other.text not in texts]
        holding = [one for one in passages if places(one.text, answer)]
        if not holding:
            left_out["answers that are not in the text"] += 1
            continue
        if len(passages) == 1:
            words = drawn.choice([60, 100, 150])
            yield pair("made", question, shown(passages[0], answer, words), answer)
        else:
            more = hard(question, others, answer, drawn.randint(0, 2), drawn)
            text = of_several(question, answer, passages + more, drawn)
            yield pair("made-joined", question, text, answer)
            if drawn.random() < NEGATIVES:
                yield pair("made-whole", question, shown(drawn.choice(holding), answer), answer)
        if others and drawn.random() < NEGATIVES:
            for other in hard(question, others, answer, 1, drawn):
                yield pair("made", question, shown(other), kind="none", relevance=0)
