# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.15.0", "safetensors==0.8.0", "tokenizers==0.23.3", "numpy==2.4.6"]
# ///
"""Says what a small language model is to learn, and of which passages it is to make questions.

    uv run train/heads/questions.py DATA --out work/questions --exclude dev1.json dev2.jsonl

DATA as for data.py, whose split is kept: nothing is taken from questions that are held out, or from
the passages that they are answered from. Writes examples.jsonl (prompt and completion: reading an
answer, and asking a question with its answer) and passages.jsonl (what generate.py asks about).
"""

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path

from bert import fail, passage_text
from data import HELD_SINGLE, questions, write
from multihop import hard, sub_questions
from sources import SINGLE, held_aside, single
from templates import plain
from text import left_out, normal, places, share, window

# How questions of a set are worded. Sets of other texts are read, but nothing is asked like them.
STYLES = {"squadshifts_new_wiki": "encyclopedia", "xquad": "encyclopedia", "nq": "search", "qed": "search",
          "squadshifts_amazon": "review", "squadshifts_reddit": "forum", "policyqa": "policy"}
# Of these, less is taken: they are far from an encyclopedia.
MOST = ["squadshifts_amazon=2000", "squadshifts_reddit=2000", "policyqa=300"]
WORDS = {1: 140, 2: 100, 3: 70, 4: 50}
# How often a question of several steps is gone through, with its passages in another order each time.
ROUNDS = {"hotpotqa": 8, "2wiki": 1, "musique": 6}
# Questions of a passage in each wording, and of two passages of which one names the other.
ONE = {"encyclopedia": 4, "search": 2, "step": 2}
TWO = {"hotpotqa": 8, "musique": 2}
# Two passages from different questions, at most, for each that is named.
NAMING = 10


def shown(parts):
    """Passages as the model sees them; `parts` are (title, text, what has to be in it)."""
    words = WORDS[min(4, len(parts))]
    return "\n".join(passage_text(title, window(text, needed, words)) for title, text, needed in parts)


def asking(style, passages):
    return f"Ask a question in the style of {style}.\n{passages}\nAnswer and question:"


def reading(question, passages):
    return f"Answer the question.\n{passages}\nQuestion: {question}\nAnswer:"


def both(style, question, answer, parts):
    """The two examples of a question whose answer stands in the passages."""
    if any(places(text, answer) for _, text, _ in parts):
        passages = shown(parts)
        yield {"prompt": asking(style, passages), "completion": f" {answer} | {question}"}
        yield {"prompt": reading(question, passages), "completion": f" {answer}"}


def of_single(folder, excluded, most):
    known = set()
    for name in SINGLE:
        if most.get(name) == 0:
            continue
        records = [one for one in single(folder, name) if one.answer.strip()]
        random.Random(name).shuffle(records)
        taken = 0
        for one in records:
            key = (normal(one.question), one.text)
            if key in known or key[0] in excluded or share(one.text) < HELD_SINGLE:
                continue
            if taken >= most.get(name, len(records)):
                break
            known.add(key)
            taken += 1
            yield name, one


def of_multi(asked, drawn):
    gold = [one for one in asked.passages if one.gold]
    for _ in range(ROUNDS[asked.source]):
        drawn.shuffle(gold)
        parts = [(one.title, one.text, asked.answer if places(one.text, asked.answer) else one.support)
                 for one in gold]
        if asked.answer not in ("yes", "no"):
            yield from both(asked.source, asked.question, asked.answer, parts)
        others = [one for one in asked.passages if not one.gold]
        count = drawn.randint(0, 2)
        parts += [(one.title, one.text, "") for one in hard(asked.question, others, asked.answer, count, drawn)]
        drawn.shuffle(parts)
        yield {"prompt": reading(asked.question, shown(parts)), "completion": f" {asked.answer}"}
    if asked.source == "musique":
        for question, answer, passage in sub_questions(asked, drawn):
            if " >> " not in question:
                yield from both("step", question, answer, [(passage.title, passage.text, answer)])


def naming(passages):
    """Pairs of passages of which the first names the second."""
    titles = defaultdict(list)
    for one in passages:
        name = plain(one.title)
        if len(name) > 3 and name[0].isupper():
            titles[name].append(one)
    longest = max((len(name.split()) for name in titles), default=0)
    named = Counter()
    for one in passages:
        words = one.text.split()
        found = {}
        for at in range(len(words)):
            for size in range(1, min(longest, len(words) - at) + 1):
                name = " ".join(words[at:at + size]).strip(".,;:()\"'“”")
                for other in titles.get(name, []):
                    # A name of one word is too often another one's.
                    if other.title != one.title and (size > 1 or len(name) > 7):
                        found.setdefault(other.title, other)
        for title, other in found.items():
            if named[title] < NAMING:
                named[title] += 1
                yield one, other


def to_ask(style, count, parts):
    return {"style": style, "count": count, "passages": [[title, text] for title, text in parts],
            "prompt": asking(style, shown([(title, text, "") for title, text in parts]))}


def passages_of(train, held, singles, drawn):
    """What is to be asked about: single passages, and pairs of which one names the other."""
    known = {one.title for asked in held for one in asked.passages if one.gold}
    kept = {}
    for asked in train:
        for one in asked.passages:
            if one.title not in known:
                kept.setdefault((one.title, one.text), one)
    passages = list(kept.values())
    for one in passages:
        for style, count in ONE.items():
            yield to_ask(style, count, [(one.title, one.text)])
    texts = dict.fromkeys((one.title, one.text) for name, one in singles
                          if STYLES[name] in ("encyclopedia", "search"))
    for title, text in texts:
        # A long text is asked about in one part, which depends on the text alone.
        yield to_ask("encyclopedia", ONE["encyclopedia"], [(title, text)])
    for one, other in naming(passages):
        parts = [(one.title, one.text), (other.title, other.text)]
        drawn.shuffle(parts)
        for style, count in TWO.items():
            yield to_ask(style, count, parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path, help="folder of the public data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--most", nargs="*", default=MOST, metavar="SET=N",
                        help="take at most N questions of a set (default: %(default)s)")
    given = parser.parse_args()
    if not given.data.is_dir():
        fail(f"`{given.data}` is not a folder", "name the folder of the public data")
    most = {name: int(count) for name, count in (one.split("=") for one in given.most)}
    excluded = held_aside(given.exclude)
    train, held = questions(given.data, excluded)
    drawn = random.Random(1)
    singles = list(of_single(given.data / "training", excluded, most))
    examples = [made for name, one in singles
                for made in both(STYLES[name], one.question.strip(), one.answer.strip(),
                                 [(one.title, one.text, one.answer)])]
    for one in train:
        examples += of_multi(one, drawn)
    drawn.shuffle(examples)
    asked = list(passages_of(train, held, singles, drawn))
    given.out.mkdir(parents=True, exist_ok=True)
    write(given.out, "examples.jsonl", examples)
    write(given.out, "passages.jsonl", asked)
    print(f"{len(examples)} examples, {len(asked)} prompts, {sum(one['count'] for one in asked)} questions"
          f" to make; left out: {dict(left_out)}")


if __name__ == "__main__":
    main()
