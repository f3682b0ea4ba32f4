# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "safetensors==0.8.0", "tokenizers==0.23.3", "numpy==2.4.6"]
# ///
"""Scores exported heads on what data.py held out, and chooses their thresholds.

    uv run train/heads/score.py work/data --base FOLDER --heads heads.safetensors --out scores.json

Answers are scored by F1, in percent. `--few N` takes only N examples of each part.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import torch

from bert import BASE, Base, read_lines
from decode import answer, f1, final, keywords, logits_of
from export import read
from keywords import Pool, candidates
from rank import Bm25, first, fused, vectors

YES_NO = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9]
KEYWORD = [0.2, 0.3, 0.4, 0.5, 0.6]


def percent(values):
    values = list(values)
    return round(100 * sum(values) / len(values), 1) if values else None


def few(records, number):
    """At most `number` of them, from all over the list."""
    return records[:: max(1, -(-len(records) // number))] if number else records


class Reader:
    """Reads each pair once."""

    def __init__(self, model, base):
        self.model, self.base, self.read = model, base, {}

    def __call__(self, pairs):
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.read]
        for pair, (places, logits) in zip(new, logits_of(self.model, self.base, new)):
            self.read[pair] = answer(*pair, places, logits)
        return [self.read[pair] for pair in pairs]


def gold_of(record):
    if record["kind"] != "span":
        return [record["kind"]]
    texts = (record["question"], record["passage"])
    return list(dict.fromkeys(texts[segment][start:end] for segment, start, end in record["spans"]))


def read_given(reader, records, scores):
    """Pairs that hold their answer. Chooses the threshold of yes and no."""
    made = reader([(one["question"], one["passage"]) for one in records])

    def right(threshold):
        return [max(f1(final(reply, threshold), gold) for gold in gold_of(one))
                for one, reply in zip(records, made)]

    chosen = max(YES_NO, key=lambda one: sum(right(one)))
    parts = defaultdict(list)
    for one, score, reply in zip(records, right(chosen), made):
        kind = one["kind"] if one["kind"] != "span" else "of two" if one["spans"][0][0] == 0 else "span"
        parts[one["source"]].append(score)
        if "joined" in one["source"]:
            parts[f"{one['source']} ({kind})"].append(score)
        if one["kind"] == "span":
            parts["answer found (margin > 0)"].append(float(reply["margin"] > 0))
    scores["f1"] = {name: percent(own) for name, own in sorted(parts.items())}
    scores["pairs"] = {name: len(own) for name, own in sorted(parts.items())}
    scores["thresholds"]["yes_no"] = chosen


def read_all(reader, asked, scores):
    """Over all passages of a question the best margin wins. Chooses the margin below which a passage
    has no answer, by the balance of both errors on sub-questions."""
    parts, right, wrong = defaultdict(list), [], []
    for one in asked:
        passages, source = one["passages"], one["source"]
        for question, gold, value in one["steps"]:
            made = reader([(question, passage) for passage in passages])
            at = max(range(len(made)), key=lambda at: made[at]["margin"])
            parts[f"{source}-hops over all passages"].append(f1(made[at]["text"], value))
            parts[f"{source}-hops: right passage"].append(float(passages[at] == gold))
            for passage, reply in zip(passages, made):
                (right if passage == gold else wrong).append(reply["margin"])
        made = reader([(one["question"], passage) for passage in passages])
        gold = [reply for reply, is_gold in zip(made, one["gold"]) if is_gold]
        for name, among in (("all", made), ("gold", gold)):
            if among:
                best = max(among, key=lambda reply: reply["margin"])
                parts[f"{source}: each of the {name} passages"].append(
                    f1(final(best, scores["thresholds"]["yes_no"]), one["answer"]))
    scores["f1"] |= {name: percent(own) for name, own in sorted(parts.items())}
    if right and wrong:
        limits = [value / 2 for value in range(-16, 17)]
        limit = max(limits, key=lambda limit: sum(m > limit for m in right) / len(right)
                    + sum(m <= limit for m in wrong) / len(wrong))
        scores["thresholds"]["margin"] = limit
        scores["margin"] = {"right passages above": percent(m > limit for m in right),
                            "other passages below": percent(m <= limit for m in wrong)}


def order(reader, asked, scores):
    """Whole questions and sub-questions: the order of their question's passages."""
    base = reader.base
    untrained = base.heads().eval()
    texts = list(dict.fromkeys(passage for one in asked for passage in one["passages"]))
    cases = []
    for one in asked:
        passages = one["passages"]
        cases.append((one["source"], one["question"], passages, one["gold"]))
        cases += [(f"{one['source']}-hops", question, passages, [passage == gold for passage in passages])
                  for question, gold, _ in one["steps"]]
    cases = [case for case in cases if any(case[3])]
    own = dict(zip(texts, vectors(untrained, base, texts)))
    asked_for = vectors(untrained, base, [question for _, question, *_ in cases])
    bm25 = Bm25(texts)
    parts = defaultdict(lambda: defaultdict(list))
    for (source, question, passages, gold), vector in zip(cases, asked_for):
        made = reader([(question, passage) for passage in passages])
        cosine = [float(vector @ own[passage]) for passage in passages]
        lexical = bm25.scores(question, passages)
        relevance = [one["relevance"] for one in made]
        orders = {"cosine": cosine, "bm25": lexical, "cosine and bm25": fused(cosine, lexical),
                  "relevance": relevance, "relevance and cosine": fused(relevance, cosine),
                  "all three": fused(relevance, cosine, lexical), "margin": [one["margin"] for one in made]}
        for name, values in orders.items():
            parts[source][name].append(first(values, gold))
    scores["gold passages first"] = {
        source: {name: percent(values) for name, values in own.items()}
        for source, own in sorted(parts.items())}


def held_by(pool, records, found):
    """How well keywords bring the passage: D* must hold it, and few others."""
    precision, holds = [], []
    for one, own in zip(records, found):
        passages = set.intersection(*map(pool.holding, own)) if own else set()
        right = any(pool.texts[at] == f" {one['gold']} " for at in passages)
        holds.append(float(right))
        precision.append(right / len(passages) if passages else 0.0)
    return {"holds the passage": percent(holds), "precision (Eq. 6)": percent(precision),
            "keywords": round(sum(map(len, found)) / max(1, len(found)), 2)}


def words(model, base, records, texts, scores):
    """Keywords by the head, and all names of the question as the simplest rule."""
    pool = Pool(texts)
    made = logits_of(model, base, [(one["question"], None) for one in records])

    def chosen(threshold):
        return [[word for word in keywords(one["question"], places, logits, threshold) if word]
                for one, (places, logits) in zip(records, made)]

    tried = {threshold: held_by(pool, records, chosen(threshold)) for threshold in KEYWORD}
    best = max(KEYWORD, key=lambda threshold: tried[threshold]["precision (Eq. 6)"] or 0)
    names = [[text for start, end in candidates(one["question"])
              if (text := one["question"][start:end])[0].isupper()] for one in records]
    scores["keywords"] = {"head": tried[best], "names": held_by(pool, records, names)}
    scores["thresholds"]["keyword"] = best


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder that data.py wrote")
    parser.add_argument("--base", type=Path, required=True, help=f"folder of {BASE}")
    parser.add_argument("--heads", type=Path, required=True, help="file that export.py wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--few", type=int, help="only this number of each part")
    parser.add_argument("--any-base", action="store_true", help="take a base of another hash (tests)")
    given = parser.parse_args()
    torch.set_num_threads(1)
    base = Base(given.base, None) if given.any_base else Base(given.base)
    model, _, names = read(given.heads, base)
    held, asked, labelled = (read_lines(given.data / f"{name}.jsonl")
                             for name in ("heldout", "ranked", "keywords-heldout"))
    scores = {"thresholds": {}}
    by_source = defaultdict(list)
    for one in held:
        by_source[one["source"]].append(one)
    reader = Reader(model, base)
    read_given(reader, [one for own in by_source.values() for one in few(own, given.few)], scores)
    texts = list(dict.fromkeys(passage for one in asked for passage in one["passages"]))
    if "keyword.weight" in names:
        words(model, base, few(labelled, given.few), texts, scores)
    asked = few(asked, given.few)
    # All at once: pairs of about the same length are read together.
    reader([(question, passage) for one in asked for passage in one["passages"]
            for question in [one["question"], *(step[0] for step in one["steps"])]])
    read_all(reader, asked, scores)
    if "relevance.weight" in names:
        order(reader, asked, scores)
    text = json.dumps(scores, indent=1)
    given.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
