# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "safetensors==0.8.0", "tokenizers==0.23.3", "numpy==2.4.6"]
# ///
"""Makes the training examples of the heads from public data.

    uv run train/heads/data.py DATA --out work/data --exclude dev1.json dev2.jsonl

DATA holds the multi-hop train files and a folder `training` with the sets of one passage a
question; CARD.md lists them. Writes train.jsonl, keywords.jsonl, what is held out of both, and
statistics.json. The same files give the same bytes.

Held out: a fifth of the multi-hop questions and every 25th passage of the other sets, by a hash of
the question or passage. `--exclude` names files whose questions are removed wherever they occur.
"""

import argparse
import json
import random
from collections import Counter
from pathlib import Path

from bert import fail, passage_text
from keywords import Pool, labelled
from made import made_pairs
from multihop import from_rules, hard, hops, joined, sub_questions, whole
from sources import MULTI, SINGLE, Passage, held_aside, multi, single
from text import HELD_MULTI, left_out, normal, pair, places, share, window

HELD_SINGLE = 0.04
# Of a passage; which, a question decides.
WORDS = [60, 100, 150]
# Of these, less is taken: they are far from an encyclopedia.
MOST = ["squadshifts_amazon=4000", "squadshifts_reddit=4000", "policyqa=300"]
# How often a multi-hop set is gone through, with other negatives and wordings each time.
ROUNDS = {"hotpotqa": 6, "2wiki": 3, "musique": 6}


def single_pairs(folder, most, excluded):
    """Examples of the sets with one passage a question: (train, held out, keyword questions)."""
    train, held, asked = [], [], []
    known = set()
    for name in SINGLE:
        if most.get(name) == 0:
            continue
        records = []
        for one in single(folder, name):
            key = normal(one.question)
            if key in excluded:
                left_out["questions of excluded files"] += 1
            elif (key, one.text) in known or name == "qed" and key in known:
                left_out["duplicate questions"] += 1
            else:
                known.update([(key, one.text), key])
                records.append(one)
        random.Random(name).shuffle(records)
        taken = 0
        for one in records:
            is_held = share(one.text) < HELD_SINGLE
            if not is_held and taken >= most.get(name, len(records)):
                continue
            words = random.Random(one.question).choice(WORDS)
            made = pair(name, one.question,
                        passage_text(one.title, one.text if is_held else window(one.text, one.answer, words)),
                        one.answer)
            if made is None:
                continue
            (held if is_held else train).append(made)
            taken += not is_held
            if name == "nq":
                asked.append((name, one.question, passage_text(one.title, one.text)))
            drawn = random.Random(one.question)
            if not is_held and drawn.random() < 0.3:
                pool = one.others or [other.text for other in drawn.sample(records, 20)]
                others = [Passage(one.title, text, False) for text in pool if text != one.text]
                for other in hard(one.question, others, one.answer, 1, drawn):
                    text = passage_text(other.title, window(other.text, "", words))
                    train.append(pair(name, one.question, text, kind="none", relevance=0))
    return train, held, asked


def multi_pairs(asked, drawn):
    made = []
    for one in asked:
        for _ in range(ROUNDS[one.source]):
            made += [*hops(one, drawn), *whole(one, drawn), joined(one, drawn)]
    return made


def held_pairs(asked, drawn):
    """What scores are measured on, with whole passages: hops, and questions over gold passages."""
    return [pair for one in asked for pair in [*hops(one, drawn, True), joined(one, drawn, True)]]


def write(folder, name, records):
    lines = [json.dumps(one, ensure_ascii=False, sort_keys=True) + "\n" for one in records]
    (folder / name).write_text("".join(lines), encoding="utf-8", newline="\n")


def questions(folder, excluded):
    """The multi-hop questions of all sets: (train, held out)."""
    train, held = [], []
    for name in MULTI:
        for one in multi(folder, name):
            if normal(one.question) in excluded:
                left_out["questions of excluded files"] += 1
                continue
            one.steps = [step for step in one.steps if normal(step[0]) not in excluded]
            (held if share(one.id) < HELD_MULTI else train).append(one)
    return train, held


def ranked(asked):
    """Held-out questions with all their passages, for measuring the order of relevance."""
    return [{"source": one.source, "question": one.question, "answer": one.answer,
             "passages": [passage_text(p.title, p.text) for p in one.passages],
             "gold": [p.gold for p in one.passages],
             "steps": [[q, passage_text(p.title, p.text), value]
                       for q, value, p in sub_questions(one, random.Random(1)) if places(p.text, value)]}
            for one in asked]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the public data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--most", nargs="*", default=MOST, metavar="SET=N",
                        help="take at most N questions of a set (default: %(default)s)")
    parser.add_argument("--made", type=Path, metavar="FILE", help="questions that generate.py made")
    given = parser.parse_args()
    if not given.data.is_dir():
        fail(f"`{given.data}` is not a folder", "name the folder of the public data")
    most = {name: int(count) for name, count in (one.split("=") for one in given.most)}
    excluded = held_aside(given.exclude)
    train_asked, held_asked = questions(given.data, excluded)
    train, held, asked = single_pairs(given.data / "training", most, excluded)
    drawn = random.Random(1)
    train += multi_pairs(train_asked, drawn)
    # Nothing is made of passages that a held-out question is answered from.
    known = {passage.title for one in held_asked for passage in one.passages if passage.gold}
    for one in train_asked:
        train += from_rules(one, drawn, known)
    if given.made:
        train += made_pairs(given.made, train_asked, excluded, random.Random(3))
    held += held_pairs(held_asked, random.Random(2))
    pool = Pool(passage_text(p.title, p.text) for one in train_asked + held_asked for p in one.passages)
    labels = {}
    for part, own in (("keywords", train_asked), ("keywords-heldout", held_asked)):
        words = [(one.source, q, passage_text(p.title, p.text)) for one in own
                 for q, _, p in [*sub_questions(one, drawn), *sub_questions(one, drawn)]]
        words += [(one.source, one.question, passage_text(p.title, p.text)) for one in own
                  for p in one.passages if p.gold][: len(words)]
        labels[part] = list(labelled(words, pool, with_gold=own is held_asked))
    in_training = Pool(text for _, _, text in asked)
    labels["keywords"] += [one for one in labelled(asked, in_training)]
    train, held = [[one for one in part if one] for part in (train, held)]
    drawn.shuffle(train)
    given.out.mkdir(parents=True, exist_ok=True)
    files = {"train": train, "heldout": held, "ranked": ranked(held_asked), **labels}
    for name, records in files.items():
        write(given.out, f"{name}.jsonl", records)
    statistics = {
        "examples": {name: len(records) for name, records in files.items()},
        "train": dict(sorted(Counter(f"{one['source']} {one['kind']}" for one in train).items())),
        "held out": dict(sorted(Counter(f"{one['source']} {one['kind']}" for one in held).items())),
        "left out": dict(sorted(left_out.items())),
    }
    text = json.dumps(statistics, indent=1)
    (given.out / "statistics.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
