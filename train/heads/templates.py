"""Ways to ask for a relation, and the patterns that find it in a passage. General English."""

import re

BIRTH_DATE, DEATH_DATE = "date of birth", "date of death"
PHRASES = {
    "director": ["Who directed {s}?", "Who is the director of {s}?", "Who is the director of the film {s}?",
                 "Which director made {s}?", "Who was {s} directed by?", "director of film {s}"],
    "country of citizenship": ["What nationality is {s}?", "What is the nationality of {s}?",
                               "Which country is {s} from?", "What country is {s} a citizen of?",
                               "Where is {s} from?", "What is the country of citizenship of {s}?"],
    BIRTH_DATE: ["When was {s} born?", "What is the date of birth of {s}?", "When is {s}'s birthday?",
                 "On which date was {s} born?", "When is the birth date of {s}?"],
    DEATH_DATE: ["When did {s} die?", "What is the date of death of {s}?", "On which day did {s} die?"],
    "country": ["Which country is {s} in?", "In which country is {s} located?", "What country is {s} in?"],
    "place of birth": ["Where was {s} born?", "What is the place of birth of {s}?",
                       "In which city was {s} born?", "What is {s}'s birthplace?"],
    "place of death": ["Where did {s} die?", "What is the place of death of {s}?",
                       "In which city did {s} die?"],
    "father": ["Who is the father of {s}?", "Who is {s}'s father?", "Who was {s}'s father?"],
    "mother": ["Who is the mother of {s}?", "Who is {s}'s mother?"],
    "child": ["Who is the child of {s}?", "Who is {s}'s child?"],
    "sibling": ["Who is the sibling of {s}?", "Who is {s}'s brother or sister?"],
    "spouse": ["Who is the spouse of {s}?", "Who is {s} married to?", "Who did {s} marry?",
               "Who is {s}'s husband or wife?"],
    "publication date": ["When was {s} released?", "When did {s} come out?",
                         "What is the publication date of {s}?", "In which year was {s} released?"],
    "country of origin": ["Which country is {s} from?", "What is the country of origin of {s}?",
                          "Where was {s} made?", "In which country was {s} made?"],
    "performer": ["Who performed {s}?", "Who is the performer of {s}?", "Who sang {s}?",
                  "Which artist recorded {s}?"],
    "composer": ["Who composed {s}?", "Who is the composer of {s}?", "Who wrote the music of {s}?"],
    "cause of death": ["How did {s} die?", "Why did {s} die?", "What is the cause of death of {s}?"],
    "award received": ["Which award did {s} receive?", "What award did {s} win?"],
    "educated at": ["Where did {s} study?", "Where was {s} educated?", "Which school did {s} attend?"],
    "founded by": ["Who founded {s}?", "Who is the founder of {s}?"],
    "publisher": ["Who published {s}?", "Which company published {s}?"],
    "inception": ["When was {s} founded?", "In what year was {s} founded?", "When was {s} established?"],
    "employer": ["Who does {s} work for?", "Where does {s} work?"],
    "writer": ["Who wrote {s}?", "Who is the author of {s}?", "Who is the writer of {s}?"],
    "producer": ["Who produced {s}?", "Who is the producer of {s}?"],
    "star": ["Who starred in {s}?", "Which actor plays in {s}?", "Who is in the cast of {s}?"],
    "occupation": ["What is {s}'s occupation?", "What was the profession of {s}?", "What does {s} do?"],
    "location": ["Where is {s}?", "Where is {s} located?", "What is the location of {s}?"],
}

YEAR = r"(?:1\d|20)\d\d"
DATE = rf"(?:\d{{1,2}} [A-Z][a-z]+ {YEAR}|[A-Z][a-z]+ \d{{1,2}}, {YEAR})"
PART = r"[A-Z][\w’'.-]*[\w’']"
NAME = rf"{PART}(?: (?:de|von|van|der|la|di|du|del|al|bin|{PART}|[A-Z]\.))*"
NATION = r"[A-Z][a-z]+(?:n|ish|ese|ch|i|k|ss|sh)"
PATTERNS = [
    (BIRTH_DATE, rf"\bborn (?:on )?(?P<a>{DATE})"),
    (BIRTH_DATE, rf"\( ?(?P<a>{DATE}) ?[–-] ?{DATE} ?\)"),
    (DEATH_DATE, rf"\([^()]*?{DATE}[^()]{{0,30}}? ?[–-] ?(?P<a>{DATE}) ?\)"),
    ("place of birth", rf"\b(?:was )?born (?:[\w, ]{{0,24}} )?in (?P<a>{NAME}(?:, {NAME})?)"),
    ("place of death", rf"\bdied (?:[\w, ]{{0,24}} )?in (?P<a>{NAME})"),
    ("country of citizenship", rf"\) ?(?:is|was) an? (?P<a>{NATION}) [a-z]"),
    ("occupation", rf"\) ?(?:is|was) an? (?:{NATION} )?"
     r"(?P<a>(?:[a-z]+ ){0,4}?[a-z]+(?:er|or|ist|ian|ess|ete|eer|man|ant|ect))"
     r"(?=[.,;(]| who| from| of| in| known)"),
    ("director", rf"\bdirected by (?P<a>{NAME})"),
    ("writer", rf"\bwritten by (?P<a>{NAME})"),
    ("producer", rf"\bproduced by (?P<a>{NAME})"),
    ("composer", rf"\b(?:composed|music) by (?P<a>{NAME})"),
    ("performer", rf"\b(?:performed|recorded|sung) by (?:[A-Za-z-]+ ){{0,3}}?(?P<a>{NAME})"),
    ("star", rf"\bstarring (?P<a>{NAME})"),
    ("publication date", rf"^[^.]{{0,80}}? (?:is|was) an? (?P<a>{YEAR}) [A-Z]?[a-z]"),
    ("publication date", rf"\breleased (?:on|in) (?P<a>{DATE}|{YEAR})"),
    ("publisher", rf"\bpublished by (?P<a>{NAME})"),
    ("inception", rf"\b(?:founded|established) in (?P<a>{YEAR})"),
    ("founded by", rf"\bfounded by (?P<a>{NAME})"),
    ("father", rf"\b(?:son|daughter) of (?:[A-Z]?[a-z]+ ){{0,2}}?(?P<a>{NAME})"),
    ("spouse", rf"\bmarried (?:to )?(?:[a-z]+ ){{0,2}}?(?P<a>{NAME})"),
    ("location", rf"\blocated (?:in|on|near) (?P<a>[^.,;(]{{3,40}})"),
    ("educated at", rf"\b(?:studied at|graduated from|attended) (?:the )?(?P<a>{NAME}(?: of (?:the )?{NAME})?)"),
]
PATTERNS = [(relation, re.compile(pattern)) for relation, pattern in PATTERNS]

# A comparison: the relation, whether the earlier of the two is asked for, and how.
COMPARISONS = [
    (BIRTH_DATE, True, ["Who was born first, {a} or {b}?", "Who is older, {a} or {b}?",
                        "Who was born earlier, {a} or {b}?"]),
    (BIRTH_DATE, False, ["Who was born later, {a} or {b}?", "Who is younger, {a} or {b}?"]),
    (DEATH_DATE, True, ["Who died first, {a} or {b}?", "Who died earlier, {a} or {b}?"]),
    (DEATH_DATE, False, ["Who died later, {a} or {b}?"]),
    ("publication date", True, ["Which came out first, {a} or {b}?", "Which film was released first, {a} or {b}?",
                                "Which came out earlier, {a} or {b}?", "Which is older, {a} or {b}?"]),
    ("publication date", False, ["Which was released more recently, {a} or {b}?",
                                 "Which came out later, {a} or {b}?"]),
    ("inception", True, ["Which was founded first, {a} or {b}?", "Which is older, {a} or {b}?"]),
    ("inception", False, ["Which was established later, {a} or {b}?"]),
]
CONFIRMATIONS = [("director", "Was {s} directed by {o}?"), ("place of birth", "Was {s} born in {o}?"),
                 ("country of citizenship", "Is {s} {o}?")]
SAME = ["Are {a} and {b} of the same nationality?", "Do {a} and {b} have the same nationality?",
        "Are {a} and {b} both from the same country?", "Did {a} and {b} come from the same country?"]


def plain(title):
    """`Low Tide (1974 film)` is written `Low Tide` in most texts."""
    return title.split(" (")[0].strip()


def found(title, text):
    """Relation to answer, of what the patterns find in a passage. Its title must open it."""
    name = plain(title)
    head = text[: len(name) + 60].lower()
    if not name or not any(word in head for word in name.lower().split()):
        return {}
    held = {}
    for relation, pattern in PATTERNS:
        match = pattern.search(text[:600])
        if match and relation not in held and match["a"].lower() not in name.lower():
            held[relation] = match["a"].strip()
    return held


def year(answer):
    match = re.search(YEAR, answer)
    return int(match[0]) if match else None
