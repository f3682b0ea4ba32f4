#!/usr/bin/env python3
"""Asks everyday questions and counts what a person gets: right, wrong, or honest.

    python3 demo/everyday/measure.py target/debug/halma
    python3 demo/everyday/measure.py target/debug/halma --model http://127.0.0.1:8080/v1 qwen
    python3 demo/everyday/measure.py target/debug/halma --only work --failures

`questions.jsonl` is to work with. `held_out.jsonl` is for the end: its questions are never printed.
Each folder is indexed once into target/everyday and kept; `--rebuild` begins again. Only the
standard library is used.
"""

import argparse
import concurrent.futures
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SETS = {"work": "questions.jsonl", "held out": "held_out.jsonl"}
# Which roles the language model plays; the offline model plays the others.
MIXES = {
    "reader": ["reader"],
    "reader + selector": ["reader", "selector"],
    "all roles": ["default"],
}

# --- judging ------------------------------------------------------------------------------------

MONTHS = {}
for names in (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "jan feb mar apr may jun jul aug sep oct nov dec",
):
    MONTHS.update({name: number for number, name in enumerate(names.split(), 1)})
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
NUMBERS = {word: str(number) for number, word in enumerate(WORDS.split())}


def date(year, month, day):
    """A date is one word, so that a number is never found within it."""
    month = MONTHS[month] if month in MONTHS else int(month)
    return f" date{int(year):04}{month:02}{int(day):02} "


def normal(text):
    """Lower case, without marks, with numbers, dates and amounts of money in one form."""
    text = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    text = re.sub(r"\[\d+\]|[*_|#`“”\"]", " ", text)
    text = re.sub(r"\b(\d{4})-(\d\d)-(\d\d)\b", lambda m: date(m[1], m[2], m[3]), text)
    text = re.sub(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:de\s+|of\s+)?({MONTH})\.?,?\s+(?:de\s+|del\s+)?(\d{{4}})\b",
        lambda m: date(m[3], m[2], m[1]), text)
    text = re.sub(
        rf"\b({MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b",
        lambda m: date(m[3], m[1], m[2]), text)
    text = re.sub(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日", lambda m: date(m[1], m[2], m[3]), text)
    text = re.sub(r"€\s*([\d.,]*\d)", r"\1 euros", text)
    text = re.sub(r"€|\beuros?\b|\beur\b", " euros ", text)
    text = re.sub(r"(?<=\d)[,. '\u00a0\u202f](?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    text = re.sub(r"(\d+\.\d*?)0+(?!\d)", r"\1", text)
    text = re.sub(r"(\d)\.(?!\d)", r"\1 ", text)
    text = re.sub(r"[^\W\d_]+", lambda m: NUMBERS.get(m[0], m[0]), text)
    return re.sub(r"[^\w.'%-]+|\.(?!\d)", " ", text).strip()


def holds(text, form):
    """Whether the form stands in the text as whole words; parts around an ellipsis stand in any order."""
    text = normal(text)
    for part in re.split(r" … | & ", form):
        part = normal(part)
        edge = "" if re.search(r"[\u3040-\u9fff]", part) else r"(?:^|$|[^\w])"
        if not re.search((f"(?:^|[^\\w.]|(?<!\\d)\\.){re.escape(part)}(?!\\w|\\.\\d)" if edge else re.escape(part)), text):
            return False
    return True


def right(headline, answers):
    """An answer is right if it holds an accepted form and is not a heap of other things."""
    words = len(normal(headline).split())
    sentence = headline.rstrip().endswith((".", "!", "。")) and words <= 60
    return any(
        holds(headline, form) and (sentence or words <= max(12, 4 * len(normal(form).split())))
        for form in answers
    )


def outcome(line, reply):
    """What a person gets: the kind of the reply, and whether it is right."""
    kind = reply.get("kind")
    headline = (reply.get("answer") or "").strip() or (reply.get("full") or {}).get("text", "").strip()
    given = bool(headline) and not reply.get("abstained") and kind not in ("passages", "none")
    passages = reply.get("passages")
    if passages is None:
        passages = [{"title": c.get("title"), "text": c.get("quote")} for c in reply.get("citations", [])]
    texts = [f"{p.get('title') or ''} {p.get('document') or ''} {p.get('text') or ''}" for p in passages]
    good = given and right(headline, line["answers"])
    # A question that could not be asked is no abstention.
    answered = not reply.get("error")
    return {
        "headline": headline if given else "",
        "right": good,
        "wrong": given and not good,
        "wrong with a citation": given and not good and bool(reply.get("citations")),
        "passages": not given and bool(passages) and kind in (None, "passages"),
        "abstained": answered and not given and not (passages and kind in (None, "passages")),
        "recognised": answered and not line["answers"] and not given,
        "holds": bool(line["answers"]) and (good or any(holds(t, e) for t in texts for e in line["evidence"])),
        "error": reply.get("error"),
    }


# --- asking -------------------------------------------------------------------------------------


def base(options, folder):
    """The base of a folder, made once."""
    path = ROOT / "target" / "everyday" / folder.replace("/", "-")
    if options.rebuild and path.exists():
        shutil.rmtree(path)
    if not path.exists():
        command = [options.halma, "index", folder, "--kb", str(path)]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if run.returncode:
            shutil.rmtree(path, ignore_errors=True)
            sys.exit(f"{' '.join(command)}\n{run.stderr}")
    return str(path)


def ask(options, line, config):
    command = [options.halma, "ask", "--json", "--no-feedback", "--kb", base(options, line["folder"])]
    command += ["--strategy", options.strategy] if options.strategy else []
    command += ["--config", str(config)] if config else []
    command += ["--max-seconds", str(options.seconds)] if options.seconds else []
    run = subprocess.run([*command, "--", line["question"]], cwd=ROOT, capture_output=True, text=True)
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError:
        return {"error": run.stderr.strip()[-300:] or "no reply"}


def configuration(options, roles):
    """A configuration in which the language model plays these roles."""
    url, name = options.model
    lines = ["[models.main]", f'url = "{url}"', f'model = "{name}"', "timeout_seconds = 600.0", "", "[roles]"]
    if "default" not in roles:
        lines.append('default = "extractive"')
    lines += [f'{role} = "main"' for role in roles]
    if roles == ["reader"]:
        # As `halma init` writes it for a slow model.
        lines += ["", "[strategy.naive]", "chunks = 5", "", "[strategy.pike_l1]", "chunks = 5"]
    path = ROOT / "target" / "everyday" / "halma.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path


# --- counting -----------------------------------------------------------------------------------


def share(part, whole):
    return f"{part} ({100 * part / whole:.0f} %)" if whole else "-"


def figures(pairs):
    total = Counter()
    for line, result in pairs:
        total["asked"] += 1
        total["answerable"] += bool(line["answers"])
        total["unanswerable"] += not line["answers"]
        total["standing"] += bool(line["evidence"])
        total["held"] += bool(line["evidence"]) and result["holds"]
        total["given"] += bool(line["answers"]) and bool(result["headline"])
        total["error"] += bool(result["error"])
        total["headlines"] += bool(result["headline"])
        for key in ("right", "wrong", "wrong with a citation", "passages", "abstained", "recognised", "holds"):
            total[key] += result[key]
    return total


def report(title, pairs):
    total = figures(pairs)
    asked, answerable = total["asked"], total["answerable"]
    print(f"\n{title}: {asked} questions, {answerable} with an answer, {total['unanswerable']} without")
    rows = [(name, total[name], asked) for name in ("right", "wrong", "wrong with a citation", "abstained")]
    rows += [
        ("shown as passages", total["passages"], asked),
        ("of the unanswerable: recognised", total["recognised"], total["unanswerable"]),
        ("of the answerable: passages hold the answer", total["holds"], answerable),
        ("where the answer stands in a passage: they hold it", total["held"], total["standing"]),
        ("of the answerable: headline given", total["given"], answerable),
        ("of the answerable: headline right", total["right"], answerable),
        ("of the headlines: right", total["right"], total["headlines"]),
    ]
    for name, part, whole in rows:
        print(f"  {name:53}{share(part, whole):>12}")
    if total["error"]:
        first = next(result["error"] for _, result in pairs if result["error"])
        print(f"  {'could not be asked':53}{total['error']:>12}\n    the first: {first}")
    for field in ("kind", "language", "folder"):
        print(f"  {'by ' + field:24} asked right wrong recognised of holds of")
        for value in sorted({line[field] for line, _ in pairs}):
            one = figures([pair for pair in pairs if pair[0][field] == value])
            print(
                f"    {value:22} {one['asked']:5} {one['right']:5} {one['wrong']:5}"
                f" {one['recognised']:10} {one['unanswerable']:2} {one['holds']:5} {one['answerable']:2}"
            )


def failures(pairs):
    print("\nFailures of the working set:")
    for line, result in pairs:
        if result["error"]:
            what = f"error: {result['error']}"
        elif result["wrong"]:
            what = f"wrong: {result['headline']!r}"
        elif line["answers"] and not result["holds"]:
            what = "the passages do not hold the answer"
        else:
            continue
        expected = "; ".join(line["answers"]) or "nothing"
        print(f"  {line['id']:14} {line['question']}\n{'':17}{what}, expected: {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("halma", help="the binary")
    parser.add_argument("--only", choices=["work"], help="ask the working set only")
    parser.add_argument("--held-out", action="store_true", help="ask the held-out set only")
    parser.add_argument("--failures", action="store_true", help="list what is wrong in the working set")
    parser.add_argument("--strategy", help="default: that of `halma ask`")
    parser.add_argument("--model", nargs=2, metavar=("URL", "NAME"), help="measure a language model in each mix of roles")
    parser.add_argument("--mix", choices=list(MIXES), action="append", help="only this mix of roles; may be repeated")
    parser.add_argument("--first", type=int, help="ask every n-th question so that about this number is asked of each set")
    parser.add_argument("--seconds", type=int, help="time limit of a question")
    parser.add_argument("--jobs", type=int, default=2, help="questions asked at once [default: 2]")
    parser.add_argument("--rebuild", action="store_true", help="index the folders again")
    parser.add_argument("--out", help="write each question's outcome of the working set to this JSONL file")
    options = parser.parse_args()
    options.halma = str(Path(options.halma).resolve())
    names = ["held out"] if options.held_out else ["work"] if options.only else list(SETS)
    mixes = [("no model", None)]
    if options.model:
        mixes = [(mix, MIXES[mix]) for mix in options.mix or MIXES]
    sets = {}
    for name in names:
        lines = [json.loads(line) for line in (HERE / SETS[name]).read_text().splitlines()]
        sets[name] = lines[:: max(1, len(lines) // options.first)] if options.first else lines
    for folder in sorted({line["folder"] for lines in sets.values() for line in lines}):
        base(options, folder)
    options.rebuild = False
    table = []
    for mix, roles in mixes:
        config = configuration(options, roles) if roles else None
        for name, lines in sets.items():
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                replies = list(pool.map(lambda line: ask(options, line, config), lines))
            pairs = [(line, outcome(line, reply)) for line, reply in zip(lines, replies)]
            report(f"{name}, {mix}", pairs)
            table.append((f"{name}, {mix}", figures(pairs)))
            if options.failures and name == "work":
                failures(pairs)
            if options.out and name == "work":
                with open(options.out, "a") as file:
                    for line, result in pairs:
                        file.write(json.dumps({"mix": mix, "id": line["id"], **result}, ensure_ascii=False) + "\n")
    print("\n| set | right | wrong | wrong with a citation | abstained | passages | unanswerable recognised | answerable: passages hold it |")
    print("|---|---|---|---|---|---|---|---|")
    for name, total in table:
        cells = [share(total[key], total["asked"]) for key in ("right", "wrong", "wrong with a citation", "abstained", "passages")]
        cells += [share(total["recognised"], total["unanswerable"]), share(total["holds"], total["answerable"])]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
