"""Orders of the passages of a question, for judging the relevance head: by the cosine of the base, by
BM25, by both, and by the head."""

import math
from collections import Counter

import torch
from torch.nn import functional

from bert import batch, encode
from text import STOP, normal


def vectors(model, base, texts):
    """Mean of the last states, of length one: the base as an embedder."""
    made = torch.zeros(len(texts), 384)
    encoded = [encode(base.tokenizer, text) for text in texts]
    order = sorted(range(len(texts)), key=lambda at: len(encoded[at][0]))
    for chunk in range(0, len(order), 24):
        part = order[chunk:chunk + 24]
        ids, types, mask = batch([encoded[at][:2] for at in part])
        with torch.no_grad():
            states = base.embeddings(ids, types)
            for layer in model.encoder["layer"]:
                states = layer(states, mask[:, None, None, :])
        mean = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        made[part] = functional.normalize(mean, dim=1)
    return made


class Bm25:
    def __init__(self, texts):
        self.number = len(texts)
        words = [[word for word in normal(text).split() if word not in STOP] for text in texts]
        self.mean = sum(map(len, words)) / max(1, len(words))
        self.holding = Counter(word for own in words for word in set(own))

    def scores(self, question, passages):
        made = []
        for passage in passages:
            own = Counter(normal(passage).split())
            size = sum(own.values()) / self.mean
            made.append(sum(
                math.log(1 + self.number / (0.5 + self.holding[word]))
                * own[word] * 2.2 / (own[word] + 1.2 * (0.25 + 0.75 * size))
                for word in set(normal(question).split()) - STOP if own[word]
            ))
        return made


def fused(*orders):
    """Reciprocal ranks, summed."""
    made = [0.0] * len(orders[0])
    for scores in orders:
        for rank, at in enumerate(sorted(range(len(scores)), key=lambda at: -scores[at])):
            made[at] += 1 / (60 + rank)
    return made


def first(scores, gold):
    """The share of the gold passages among the first ones, as many as there are."""
    top = sorted(range(len(scores)), key=lambda at: -scores[at])[: sum(gold)]
    return sum(gold[at] for at in top) / max(1, sum(gold))
