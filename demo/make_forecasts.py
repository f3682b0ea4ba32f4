#!/usr/bin/env python3
"""Writes the sample of questions about the future: `forecast/library` and `forecast/questions.jsonl`.

    python3 demo/make_forecasts.py

Everything is made up, and the same every time. Each of the 40 sources ends at its own date, and the
value of the next period, which no source holds, is the answer to its question:

- events by year, events by month with a season, amounts by quarter with a trend, and levels by month
  that wander, ten of each;
- the last two of each kind are notes, the others tables.
"""
import calendar
import json
import math
import pathlib
import random

HERE = pathlib.Path(__file__).parent / "forecast"
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December"]
TOWNS = ["Aldmoor", "Brackwell", "Corby Sands", "Dunholt", "Eskdale", "Farrow", "Glenmore", "Hartsea",
         "Inverley", "Kestrel Bay"]

# (what, one of it, what happens to it, the name of its date)
BY_YEAR = [
    ("lighthouses", "lighthouse", "automated", "automation"),
    ("windmills", "windmill", "restored", "restoration"),
    ("footbridges", "footbridge", "opened", "opening"),
    ("ferries", "ferry", "launched", "launch"),
    ("observatories", "observatory", "founded", "founding"),
    ("quarries", "quarry", "closed", "closure"),
    ("breweries", "brewery", "licensed", "licence"),
    ("archives", "archive", "digitised", "digitisation"),
    ("tramways", "tramway", "electrified", "electrification"),
    ("orchards", "orchard", "replanted", "replanting"),
]
BY_MONTH = [
    ("rescues", "rescue", "lifeboat"), ("hedgehog sightings", "sighting", "garden"),
    ("pothole repairs", "repair", "road"), ("swan ringings", "ringing", "lake"),
    ("kiln firings", "firing", "pottery"), ("moth captures", "capture", "trap"),
    ("piano tunings", "tuning", "hall"), ("glacier surveys", "survey", "ice"),
    ("canal lockings", "locking", "barge"), ("toad crossings", "crossing", "lane"),
]
# (goods, unit, who ships them)
BY_QUARTER = [
    ("slate", "tonnes", "quarry"), ("herring", "barrels", "harbour"), ("peat", "bales", "moor"),
    ("cider", "casks", "press"), ("kelp", "crates", "shore"), ("lanterns", "boxes", "foundry"),
    ("tweed", "rolls", "mill"), ("honey", "jars", "apiary"), ("salt", "sacks", "pan"),
    ("bricks", "pallets", "kiln"),
]
# (what has a level, its unit)
LEVELS = [
    ("oat price", "price", "oats"), ("reservoir depth", "depth", "reservoir"),
    ("wool price", "price", "wool"), ("well temperature", "temperature", "well"),
    ("copper price", "price", "copper"), ("lagoon salinity", "salinity", "lagoon"),
    ("barley price", "price", "barley"), ("cave humidity", "humidity", "cave"),
    ("timber price", "price", "timber"), ("spring flow", "flow", "spring"),
]


def poisson(chance, mean):
    limit, product, k = math.exp(-mean), chance.random(), 0
    while product > limit:
        product, k = product * chance.random(), k + 1
    return k


def noise(chance):
    """About normal, with a standard deviation of 1, the same on every machine."""
    return sum(chance.random() for _ in range(12)) - 6


def csv(name, head, rows):
    lines = [",".join(head)] + [",".join(str(cell) for cell in row) for row in rows]
    (HERE / "library" / f"{name.replace(' ', '-')}.csv").write_text("\n".join(lines) + "\n")


def note(name, sentences):
    text = "\n\n".join(" ".join(sentences[at:at + 6]) for at in range(0, len(sentences), 6))
    (HERE / "library" / f"{name.replace(' ', '-')}.md").write_text(f"# {name.capitalize()}\n\n{text}\n")


def day(chance, year, month):
    return f"{year}-{month:02}-{1 + int(chance.random() * 28):02}"


def last_day(year, month):
    return f"{year}-{month:02}-{calendar.monthrange(year, month)[1]:02}"


def spoken(date):
    year, month, of_month = date.split("-")
    return f"{int(of_month)} {MONTHS[int(month) - 1]} {year}"


def question(at, kind, text, values, asked_at):
    form = (lambda value: f"{value:.1f}") if isinstance(values[-1], float) else str
    return {"id": f"{kind}-{at + 1}", "kind": kind, "question": text, "answers": [form(values[-1])],
            "last": float(form(values[-2])), "asked_at": asked_at}


def events_by_year(at, chance):
    what, one, done, event = BY_YEAR[at]
    first, last = 1990 + at, 2006 + at
    strength, rows, values = 1.5 + at / 2, [], []
    for year in range(first, last + 2):
        days = sorted(day(chance, year, 1 + int(chance.random() * 12))
                      for _ in range(poisson(chance, strength * (1 + (year - first) / 20))))
        values.append(len(days))
        rows += [(f"{one.capitalize()} {year - first}-{n + 1}", TOWNS[(at + n) % 10], date)
                 for n, date in enumerate(days) if year <= last]
    if at < 8:
        csv(f"{what} {done}", [one, "town", f"{event} date"], rows)
    else:
        note(f"{what} {done}", [f"{name} near {town} was {done} on {spoken(date)}."
                                for name, town, date in rows])
    text = f"How many {what} should we expect to be {done} in {last + 1}?"
    return question(at, "by_year", text, values, f"{last}-12-31")


def events_by_month(at, chance):
    what, one, where = BY_MONTH[at]
    first, months = 2012 + at % 5, 37 + at
    rows, values = [], []
    for step in range(months + 1):
        year, month = first + step // 12, 1 + step % 12
        season = 1 + 0.7 * math.sin(month * math.tau / 12)
        days = sorted(day(chance, year, month) for _ in range(poisson(chance, 3.5 * season)))
        values.append(len(days))
        rows += [(f"{where.capitalize()} {1 + int(chance.random() * 9)}", date)
                 for date in days if step < months]
    ahead, known = months, months - 1
    named = [f"{MONTHS[(s) % 12]} {first + s // 12}" for s in (known, ahead)]
    if at < 8:
        csv(what, [where, f"{one} date"], rows)
    else:
        note(what, [f"{name} had one of the {what} on {spoken(date)}." for name, date in rows])
    text = f"How many {what} should we expect in {named[1]}?"
    year, month = first + known // 12, 1 + known % 12
    return question(at, "by_month", text, values, last_day(year, month))


def amounts_by_quarter(at, chance):
    goods, unit, where = BY_QUARTER[at]
    first, quarters = 2004 + at, 26 + at
    rows, values = [], []
    for step in range(quarters + 1):
        year, quarter = first + step // 4, step % 4
        total = 0
        for part in range(2):
            amount = round(60 + (at + 1) * step / 3 + noise(chance) * 5)
            total += amount
            if step < quarters:
                date = f"{year}-{quarter * 3 + 1 + part:02}-15"
                rows.append((f"{TOWNS[(at + part) % 10]} {where}", date, amount))
        values.append(total)
    year, quarter = first + quarters // 4, quarters % 4 + 1
    if at < 8:
        csv(f"{goods} shipped", [where, "shipping date", unit], rows)
    else:
        note(f"{goods} shipped", [f"On {spoken(date)} the {name} shipped {amount} {unit} of {goods}."
                                  for name, date, amount in rows])
    text = f"How many {unit} of {goods} will be shipped in Q{quarter} {year}?"
    known = quarters - 1
    ends = ["03-31", "06-30", "09-30", "12-31"]
    return question(at, "by_quarter", text, values, f"{first + known // 4}-{ends[known % 4]}")


def levels(at, chance):
    what, column, where = LEVELS[at]
    first, months = 2013 + at % 6, 36 + at
    level, rows, values = 50.0 + 5 * at, [], []
    for step in range(months + 1):
        level += noise(chance) * (0.5 + at / 10)
        values.append(round(level + noise(chance) * 0.5, 1))
        if step < months:
            rows.append((where, f"{first + step // 12}-{1 + step % 12:02}-15", values[-1]))
    year, month = first + months // 12, 1 + months % 12
    if at < 8:
        csv(what, ["place", "reading date", column], rows)
    else:
        note(what, [f"The {what} was {value} on {spoken(date)}." for _, date, value in rows])
    text = f"What will the average {what} be in {MONTHS[month - 1]} {year}?"
    known = months - 1
    return question(at, "level", text, values, last_day(first + known // 12, 1 + known % 12))


def main():
    (HERE / "library").mkdir(parents=True, exist_ok=True)
    questions = []
    for kind, make in enumerate([events_by_year, events_by_month, amounts_by_quarter, levels]):
        for at in range(10):
            questions.append(make(at, random.Random(1000 * kind + at)))
    lines = [json.dumps(one) for one in questions]
    (HERE / "questions.jsonl").write_text("\n".join(lines) + "\n")


main()
