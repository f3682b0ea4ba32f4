"""Measures settings of searching on question sets, and prints a table for docs/developers/measurements.md.

    HALMA_DATA=FOLDER HALMA=target/debug/halma python3 train/search_settings.py WORK rrf
    HALMA_DATA=FOLDER HALMA=target/debug/halma python3 train/search_settings.py WORK graph

WORK is a folder for samples, bases and results; a second run uses what is there. `rrf` measures the
constant of hybrid search. `graph` halves and doubles each weight of graph search, one at a time, on
four of the sets; to fit the weights, take over the best line and repeat. Half of the sets are
paragraphs of Wikipedia (the training files of three sets of multi-hop questions), half are other
text: clauses of privacy policies, product reviews, comments of a forum.
"""

import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

QUESTIONS = 200
# Paragraphs of one base, for the sets whose paragraphs are not given with the questions.
PARAGRAPHS = 600
CONSTANTS = [5, 10, 20, 60]
WEIGHTS = {"dense": 1.0, "bm25": 0.5, "entities": 0.4, "titles": 1.5, "covers": 1.5, "led_to": 1.5}
SETS = {
    "HotpotQA": ("hotpotqa_train.json", "hotpotqa"),
    "2Wiki": ("2wiki_train.json", "2wiki"),
    "MuSiQue": ("musique_train100.json", "musique"),
    "policies": ("training/policyqa_dev.json.gz", "hotpotqa"),
    "reviews": ("training/squadshifts_amazon_v1.0.json.gz", "hotpotqa"),
    "comments": ("training/squadshifts_reddit_v1.0.json.gz", "hotpotqa"),
}


def from_squad(file, name):
    """Questions with their own paragraph and a share of the others, in HotpotQA's layout."""
    articles = json.load(gzip.open(file))["data"]
    paragraphs = [(a.get("title", ""), p) for a in articles for p in a["paragraphs"] if p["qas"]]
    random.Random(1).shuffle(paragraphs)
    paragraphs = paragraphs[:PARAGRAPHS]
    asked = paragraphs[:QUESTIONS]
    records = []
    for number, (title, paragraph) in enumerate(asked):
        question = random.Random(number).choice(paragraph["qas"])
        # Questions about a policy say `this website`: they get the name that its readers know.
        text = question["question"]
        if name == "policies":
            text = re.sub(r"\b(this|the) (web ?site|site|company|service)\b", title, text)
            text = text if title in text else f"{text.rstrip(' ?')} at {title}?"
        context = [paragraphs[at] for at in range(number, len(paragraphs), len(asked))]
        records.append(
            {
                "_id": str(number),
                "question": text,
                "answer": (question["answers"] or [{"text": "-"}])[0]["text"] or "-",
                "supporting_facts": [[title, 0]],
                "context": [[t, [p["context"]]] for t, p in context],
            }
        )
    return records


def sample(data, work, name):
    file, _ = SETS[name]
    target = work / f"{name}.json"
    if not target.exists():
        if file.endswith(".gz"):
            records = from_squad(data / file, name)
        else:
            records = json.loads((data / file).read_text())
            records = random.Random(1).sample(records, min(QUESTIONS, len(records)))
        target.write_text(json.dumps(records))
    return target


def recall(halma, work, name, mode, settings):
    """Recall@5 and Recall@10 of searches for the question itself, in percent."""
    key = "-".join([mode, *settings]).replace("kb.", "").replace("=", "_")
    out = work / "results" / f"{name}-{key}.json"
    if not out.exists():
        file = work / f"{name}.json"
        command = [halma, "eval", str(file), "--format", SETS[name][1], "--retrieval", mode]
        command += ["--kb", str(work / "bases" / name), "--json"]
        command += [part for setting in settings for part in ("--set", setting)]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        out.parent.mkdir(exist_ok=True)
        out.write_text(done.stdout)
    return numbers(json.loads(out.read_text()))


def numbers(report):
    found = next(iter(find(report, "r5")))
    return 100 * found["r5"], 100 * found["r10"]


def find(value, key):
    """The objects of a report that have a key."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for inner in value.values():
            yield from find(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from find(inner, key)


def row(first, cells):
    print(f"| {first} | " + " | ".join(cells) + " |", flush=True)


def table(measure, lines, names):
    """A line for each setting; returns the mean of its cells."""
    row("", [*names, "mean"])
    row("---", ["---"] * (len(names) + 1))
    means = {}
    for label, settings in lines.items():
        cells = [measure(name, settings)[0] for name in names]
        means[label] = sum(cells) / len(cells)
        row(label, [f"{cell:.1f}" for cell in [*cells, means[label]]])
    return means


def main():
    work, what = Path(sys.argv[1]).resolve(), sys.argv[2]
    halma = str(Path(os.environ.get("HALMA", "target/debug/halma")).resolve())
    work.mkdir(parents=True, exist_ok=True)
    names = list(SETS) if what == "rrf" else ["HotpotQA", "MuSiQue", "policies", "reviews"]
    for name in names:
        sample(Path(os.environ["HALMA_DATA"]), work, name)
    mode = "hybrid" if what == "rrf" else "graph"
    if what == "rrf":
        lines = {str(k): [f"kb.search.rrf_k={k}"] for k in CONSTANTS}
    else:
        lines = {"defaults": []}
        for weight, default in WEIGHTS.items():
            for factor in [0.5, 2]:
                value = round(default * factor, 3)
                lines[f"{weight} = {value}"] = [f"kb.graph.{weight}={value}"]
    means = table(lambda name, settings: recall(halma, work, name, mode, settings), lines, names)
    best = max(means, key=means.get)
    print(f"\nThe best mean has `{best}`: {means[best]:.1f}.")


if __name__ == "__main__":
    main()
