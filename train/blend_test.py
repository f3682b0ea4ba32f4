"""Tests blend.py: its rules, its use of a model, and a run by rules over demo/world.

    python3 train/blend_test.py target/debug/halma    # or HALMA=target/debug/halma
"""

import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import blend

WORLD = Path(__file__).resolve().parent.parent / "demo/world"
NOTE = blend.place_in("text", "finch.md", "Orla Finch", "# Orla Finch\n\nOrla Finch, a smith, "
                      "built the first lift of Oldbridge, which burned. She has made 72 lifts.")
WEB = blend.place_in("web", "https://news.example.org", "News", "Mara Quill wrote on Orla Finch.")


class Words(unittest.TestCase):
    def test_words_are_held_whole_and_in_order(self):
        self.assertTrue(blend.holds("Who led the New Horizons team?", "new horizons"))
        self.assertFalse(blend.holds("Who led the News Horizons team?", "New Horizons"))
        self.assertTrue(blend.holds("谁发明了飞机？", "飞机"))
        self.assertEqual(blend.fold("Łódź, Sinéad O'Neil's"), blend.fold("Lodz Sinead O’Neil"))

    def test_a_part_of_a_name_is_another_name(self):
        names = blend.names_in("In May the University of Arizona saw de la Cruz and Io's moons.")
        self.assertEqual(names, {"may", "university of arizona", "cruz", "io"})


class Relations(unittest.TestCase):
    def test_the_shape_of_a_label_gives_the_words(self):
        self.assertEqual(blend.wordings("discovered by", "Titan", "moon"), [
            "By what or whom was Titan discovered?", "Which moon was discovered by Titan?",
            "the moon that Titan was discovered by", "the moon that was discovered by Titan"])
        self.assertEqual(blend.wordings("flows through", "Lenn", "town"), [
            "What does Lenn flow through?", "Which town flows through Lenn?",
            "the town that Lenn flows through", "the town that flows through Lenn"])
        self.assertEqual(blend.wordings("place of birth", "Ada", "person"), [
            "What is the place of birth of Ada?", "Which person has Ada as its place of birth?",
            "the person that is the place of birth of Ada",
            "the person whose place of birth is Ada"])
        self.assertEqual(blend.wordings("mass", "Juno")[0], "What is the mass of Juno?")
        self.assertEqual(blend.wordings("born in", "Ada")[0], "Where was Ada born?")
        self.assertEqual(blend.wordings("founded in", "X", is_date=True)[0], "When was X founded?")


class Statements(unittest.TestCase):
    def test_a_sentence_is_a_clue_and_a_question(self):
        clues, asks = blend.Rules().read("Orla Finch", "person", NOTE, None)
        self.assertEqual([(clue.question, clue.phrase) for clue in clues], [
            ("Who built the first lift of Oldbridge?",
             "the person who built the first lift of Oldbridge"),
            ("Who has made 72 lifts?", "the person who has made 72 lifts")])
        self.assertEqual([(ask.question, ask.answers) for ask in asks],
                         [("How many lifts has Orla Finch made?", ["72"])])
        _, asks = blend.Rules().read("Oldbridge", "town", NOTE, None)
        self.assertEqual([(ask.question, ask.answers) for ask in asks],
                         [("Who or what built the first lift of Oldbridge?", ["Orla Finch"])])

    def test_dates_are_asked_for(self):
        self.assertEqual(blend.ask_about("Gull House", "was restored by the town in March 1954"),
                         ("When was Gull House restored by the town?", "March 1954"))

    def test_other_sentences_are_left_alone(self):
        for sentence in ["He built the first lift.", "In 1954 Gull House was restored again.",
                         "Orla Finch of the Board of Works in town.", "Orla Finch built it there.",
                         "Did Orla Finch build the first lift?"]:
            self.assertEqual(list(blend.statements(sentence, "")), [], sentence)


class Merging(unittest.TestCase):
    def merge(self, text):
        clue, ask = blend.Clue("", "the one that burned", NOTE, []), blend.Ask(text, ["x"], WEB)
        return blend.Rules().merge(clue, ask, "Juno")

    def test_the_phrase_takes_the_place_of_the_name(self):
        self.assertEqual(self.merge("When was Juno built?"), "When was the one that burned built?")
        self.assertEqual(self.merge("Who led the probe Juno?"), "Who led the one that burned?")
        for question in ["What is Juno's mass?", "Who are Junos?", "Is Juno older than Juno?"]:
            self.assertRaisesRegex(blend.Dropped, "not_merged", self.merge, question)

    def test_what_gives_something_away_is_dropped(self):
        clue = blend.Clue("Who built the lift?", "the builder of the lift", NOTE, ["Lenn"])
        ask = blend.Ask("Who wrote on Orla Finch?", ["Mara Quill"], WEB)
        blend.check("Orla Finch", clue, ask, "Who wrote on the builder of the lift?")
        for why, changed, question in [
            ("given_away", (clue, ask), "Who wrote on Orla Finch, the builder?"),
            ("given_away", (clue, ask), "Did Mara Quill write on the builder of the lift?"),
            ("given_away", (clue._replace(phrase="the town of Mara Quill"), ask), None),
            ("one_source_is_enough", (clue, ask._replace(answers=["72"])), None),
            ("one_source_is_enough", (clue._replace(others=["Mara Quill"]), ask), None),
            ("not_merged", (clue, ask), "Tell me who wrote on the builder of the lift."),
        ]:
            with self.assertRaisesRegex(blend.Dropped, why):
                blend.check("Orla Finch", *changed, question)

    def test_a_model_is_asked_again_and_its_halves_are_answered_again(self):
        model, dropped = blend.Model("http://127.0.0.1:9/", "m", None, None), collections.Counter()
        replies = ["I do not know.", '{"question": "Who built it?", "phrase": "the builder"}',
                   '{"answer": "a person named Orla Finch"}',
                   '{"question": "How many lifts has Orla Finch made?", "answer": "72"}',
                   '{"answer": ""}', '{"question": "Who wrote on Orla Finch?"}',
                   '<think>{}</think>{"question": "Who wrote on the builder?"}']
        with mock.patch.object(model, "chat", side_effect=replies) as chat:
            clues, asks = model.read("Orla Finch", None, NOTE, dropped)
            ask = blend.Ask("Who wrote on Orla Finch?", ["Mara Quill"], WEB)
            merged = model.merge(clues[0], ask, "Orla Finch")
        self.assertEqual((merged, asks, chat.call_count), ("Who wrote on the builder?", [], 7))
        self.assertEqual(dropped, {"unverified": 1})


class World(unittest.TestCase):
    def test_each_kind_gets_questions_that_hide_bridge_and_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            kb, out = f"{folder}/kb", Path(folder, "out.jsonl")
            for command in (["index", WORLD / "documents"], ["kg", "load", WORLD / "graph.ttl"]):
                subprocess.run([os.environ["HALMA"], *command, "--kb", kb], check=True,
                               capture_output=True)
            run = [sys.executable, blend.__file__, "--web", WORLD / "web", "--each", "2",
                   "--kb", kb, "--out", out]
            subprocess.run(run, check=True, capture_output=True)
            made = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
            again = subprocess.run(run, capture_output=True, text=True)
            unknown = subprocess.run([*run, "--force", "--kinds", "text-kg"], capture_output=True)
            written = out.read_bytes()
            subprocess.run([*run, "--force"], check=True, capture_output=True)
            self.assertEqual(out.read_bytes(), written)
        self.assertEqual(sorted(one["type"] for one in made), sorted([*blend.KINDS] * 2))
        for one in made:
            self.assertFalse(blend.holds(one["question"], one["entity"], *one["answers"]), one)
            self.assertTrue(blend.holds(one["sub_q2"], one["entity"]), one)
            self.assertTrue(blend.holds(blend.text_of(one["sub_source1"]), one["entity"]), one)
            self.assertTrue(blend.holds(blend.text_of(one["sub_source2"]), one["answers"][0]), one)
            sources = {one[key]["source"] for key in ("sub_source1", "sub_source2")}
            self.assertEqual(sources, set(blend.KINDS[one["type"]]))
        self.assertTrue(again.returncode == unknown.returncode == 2 and "--force" in again.stderr)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        os.environ["HALMA"] = str(Path(sys.argv.pop(1)).resolve())
    os.environ.setdefault("HALMA", "halma")
    unittest.main()
