"""Pairs from multi-hop questions: sub-questions with their passage, whole questions over each gold
passage and over all of them, other passages of the question as negatives, and questions that rules
make from triples and passages."""

from templates import COMPARISONS, CONFIRMATIONS, PHRASES, SAME, found, plain, year
from text import content, of_question, pair, places, window
from bert import passage_text

WORDS = 80
# Of two or more passages that are read together, and how many they are while training.
JOINED_WORDS, MOST_JOINED = 210, 4
# Passages without the answer, for each question over single passages.
NEGATIVES = {"hotpotqa": 3, "2wiki": 1, "musique": 2}


def shown(passage, needed="", words=WORDS):
    return passage_text(passage.title, window(passage.text, needed, words))


def hard(question, passages, answer, count, drawn):
    """Passages that share the most words with the question and do not hold the answer."""
    asked = content(question)
    fit = [one for one in passages if answer in ("yes", "no") or not places(one.text, answer)]
    drawn.shuffle(fit)
    fit.sort(key=lambda one: -len(asked & content(one.title + " " + one.text)))
    # The nearest is always among them, the others are drawn from the nearer half.
    near = fit[1:max(count + 1, len(fit) // 2)]
    return fit[:1] + drawn.sample(near, min(count - 1, len(near))) if count else []


def ask(relation, subject, drawn):
    """One wording; now and then the bare form `subject >> relation`."""
    forms = PHRASES.get(relation, [f"What is the {relation} of {{s}}?"])
    if drawn.random() < 0.12:
        return f"{subject} >> {relation}"
    return drawn.choice(forms).format(s=subject)


def sub_questions(asked, drawn):
    """Question, answer and passage of every hop that is known."""
    for question, answer, passage in asked.steps:
        if " >> " in question and drawn.random() < 0.6:
            subject, relation = question.split(" >> ", 1)
            question = ask(relation, subject, drawn)
        yield question, answer, passage
    for subject, relation, value in asked.triples:
        named = [one for one in asked.passages
                 if one.title == subject or plain(one.title) == plain(subject)]
        if named:
            yield ask(relation, drawn.choice([subject, plain(subject)]), drawn), value, named[0]


def hops(asked, drawn, full=False):
    """Sub-questions over their passage and over others."""
    source = f"{asked.source}-hops"
    for question, answer, passage in sub_questions(asked, drawn):
        made = pair(source, question, passage_text(passage.title, passage.text) if full
                    else shown(passage, answer), answer)
        if made is None:
            continue
        yield made
        others = [one for one in asked.passages if one is not passage]
        count = 0 if full else NEGATIVES[asked.source]
        for other in hard(question, others, answer, count, drawn):
            yield pair(source, question, shown(other), kind="none", relevance=0)


def joined(asked, drawn, full=False):
    """The whole question over all gold passages at once, in any order; while training with up to two
    others among them, since the program does not know which are gold."""
    gold = [one for one in asked.passages if one.gold]
    if not full and len(gold) < MOST_JOINED:
        others = [one for one in asked.passages if not one.gold]
        count = drawn.randint(0, min(2, MOST_JOINED - len(gold)))
        gold += hard(asked.question, others, asked.answer, count, drawn)
    drawn.shuffle(gold)
    source = f"{asked.source}-joined"
    holds = any(places(one.text, asked.answer) for one in gold)

    def part(one):
        if full:
            return passage_text(one.title, one.text)
        needed = asked.answer if places(one.text, asked.answer) else one.support
        return passage_text(one.title, window(one.text, needed, JOINED_WORDS // len(gold)))

    text = " ".join(part(one) for one in gold)
    answer = asked.answer.strip().lower()
    if answer in ("yes", "no"):
        return pair(source, asked.question, text, kind=answer)
    if "comparison" in asked.kind and places(asked.question, asked.answer):
        return of_question(source, asked.question, text, asked.answer)
    if not holds and places(asked.question, asked.answer):
        return of_question(source, asked.question, text, asked.answer)
    return pair(source, asked.question, text, asked.answer)


def whole(asked, drawn):
    """The whole question over single passages. A gold passage helps even without the answer."""
    source = f"{asked.source}-whole"
    compared = asked.answer in ("yes", "no") or "comparison" in asked.kind
    for passage in asked.passages:
        if passage.gold:
            holds = not compared and places(passage.text, asked.answer)
            yield pair(source, asked.question, shown(passage, asked.answer if holds else passage.support),
                       asked.answer, "span" if holds else "none")
    others = [one for one in asked.passages if not one.gold]
    for other in hard(asked.question, others, asked.answer, NEGATIVES[asked.source], drawn):
        yield pair(source, asked.question, shown(other), kind="none", relevance=0)


def from_rules(asked, drawn, known):
    """Questions that patterns make of the passages; passages of `known` titles are left out."""
    passages = [one for one in asked.passages if one.title not in known]
    held = [(one, found(one.title, one.text)) for one in passages]
    known.update(one.title for one in passages)
    for passage, facts in held:
        for relation in drawn.sample(sorted(facts), min(2, len(facts))):
            question = ask(relation, drawn.choice([plain(passage.title), passage.title]), drawn)
            yield pair("rules", question, shown(passage, facts[relation], 60), facts[relation])
            others = [one for one, other in held if one is not passage and relation in other
                      and other[relation] != facts[relation]]
            if others and drawn.random() < 0.5:
                yield pair("rules", question, shown(drawn.choice(others), "", 60), kind="none", relevance=0)
    yield from confirmations(held, drawn)
    yield from comparisons(held, drawn)


def confirmations(held, drawn):
    """`Was X born in Y?`, of a fact that the passage states or of another passage's."""
    for relation, form in CONFIRMATIONS:
        fit = [(one, facts[relation]) for one, facts in held if relation in facts]
        if len(fit) < 2:
            continue
        (passage, fact), (_, other) = drawn.sample(fit, 2)
        right = drawn.random() < 0.5 or fact == other
        question = form.format(s=plain(passage.title), o=fact if right else other)
        yield pair("rules-yes-no", question, shown(passage, fact, 60), kind="yes" if right else "no")


def comparisons(held, drawn):
    def both(first, second):
        pages = [shown(first, "", 30), shown(second, "", 30)]
        drawn.shuffle(pages)
        return " ".join(pages)

    for relation, earlier, forms in COMPARISONS:
        fit = [(one, year(facts[relation])) for one, facts in held if year(facts.get(relation, ""))]
        if len(fit) < 2 or drawn.random() < 0.5:
            continue
        (first, one), (second, other) = drawn.sample(fit, 2)
        text = both(first, second)
        if one != other and str(one) in text and str(other) in text:
            a, b = plain(first.title), plain(second.title)
            right = a if (one < other) == earlier else b
            question = drawn.choice(forms).format(a=a, b=b)
            yield of_question("rules-compare", question, text, right)
    fit = [(one, facts["country of citizenship"]) for one, facts in held if "country of citizenship" in facts]
    if len(fit) >= 2:
        (first, one), (second, other) = drawn.sample(fit, 2)
        question = drawn.choice(SAME).format(a=plain(first.title), b=plain(second.title))
        yield pair("rules-yes-no", question, both(first, second), kind="yes" if one == other else "no")
