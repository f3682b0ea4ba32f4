"""Puts the questions of a multi-hop training file that the heads have not seen first: those that data.py
holds out. What is measured on the others flatters the heads."""

import argparse
import json
import sys
from pathlib import Path

from text import HELD_MULTI, share


def read(file):
    """The records of a JSON list or of JSON lines."""
    text = file.read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("["):
        return json.loads(text)
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="training file of HotpotQA, 2Wiki or MuSiQue")
    records = read(parser.parse_args().file)
    records.sort(key=lambda record: share(record.get("_id") or record["id"]) >= HELD_MULTI)
    json.dump(records, sys.stdout)


if __name__ == "__main__":
    main()
