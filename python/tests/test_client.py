"""The client against a real server with the demo library (`HALMA_URL`)."""

import asyncio
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import halma
from halma import (
    AnswerDelta,
    Answered,
    AsyncHalma,
    AuthenticationError,
    ConnectionFailed,
    Halma,
    HalmaError,
    InvalidRequestError,
    NotFoundError,
    Started,
    TraceEvent,
    _requests,
    models,
)

URL = os.environ["HALMA_URL"]
QUESTION = "Who founded Biocon?"


class Sync(unittest.TestCase):
    def setUp(self):
        self.halma = Halma(URL)
        self.addCleanup(self.halma.close)

    def test_an_answer_has_citations_that_stand_in_their_documents(self):
        reply = self.halma.ask(QUESTION)
        self.assertIsInstance(reply, models.AskResponse)
        self.assertIn("Mazumdar", reply.answer.text)
        citation = reply.answer.citations[0]
        text = self.halma.document_text(citation.document, start=citation.start, end=citation.end)
        self.assertEqual(text.text, citation.quote)
        self.assertEqual(self.halma.node(citation.node).document, citation.document)
        self.assertTrue(self.halma.neighbours(citation.node, limit=3).nodes)

    def test_a_stream_ends_with_the_answer_that_its_pieces_make(self):
        with self.halma.ask_stream(QUESTION) as events:
            events = list(events)
        self.assertIsInstance(events[0], Started)
        self.assertTrue(any(isinstance(event, TraceEvent) for event in events))
        self.assertIsInstance(events[-1], Answered)
        self.assertEqual(events[-1].response.id, events[0].id)
        pieces = ""
        for event in events:
            if isinstance(event, AnswerDelta):
                pieces = event.text if event.restart else pieces + event.text
        answer = events[-1].response.answer
        self.assertEqual(pieces, answer.full.text if answer.full else answer.text)

    def test_a_stream_can_be_left(self):
        with self.halma.ask_stream(QUESTION) as events:
            self.assertIsInstance(next(events), Started)
        self.assertEqual(self.halma.health().status, "ok")

    def test_a_stream_quotes_documents_with_separators_of_unicode(self):
        text = "# Lantern\n\nThe lantern\u2028of Brixham\u0085was lit\u2029by Mara Quill.\n"
        uploaded = self.halma.upload([("lantern.md", text.encode())])
        build = self.halma.build([file.upload for file in uploaded.accepted])
        self.halma.wait_for_build(build.id)
        self.addCleanup(self.halma.delete_document, "lantern.md")
        with self.halma.ask_stream("Who lit the lantern of Brixham?") as events:
            answered = list(events)[-1]
        self.assertIsInstance(answered, Answered)
        self.assertIn("\u2028", "".join(c.quote for c in answered.response.answer.citations))

    def test_documents_are_listed_uploaded_given_fields_and_deleted(self):
        names = [document.name for document in self.halma.documents()]
        self.assertGreater(len(names), 10)
        self.assertEqual(len(names), len(set(names)))
        page = self.halma.documents_page(limit=2)
        self.assertEqual(len(page.items), 2)
        following = self.halma.documents_page(limit=2, after=page.next)
        self.assertFalse({d.id for d in page.items} & {d.id for d in following.items})
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "notes.md")
            path.write_text("# Skell\n\nSkell Light was first lit in 1890.\n")
            uploaded = self.halma.upload(
                [path, ("bad.bin", b"\x00\x01"), ("lens.md", io.BytesIO(b"# Lens\n\nA lens of glass.\n"))],
                folder="of test",
                metadata={"team": "lights", "year": 1890},
            )
        self.assertEqual([file.name for file in uploaded.accepted], ["of test/notes.md", "of test/lens.md"])
        self.assertEqual([file.name for file in uploaded.refused], ["of test/bad.bin"])
        uploads = [file.upload for file in uploaded.accepted]
        self.assertGreaterEqual(self.halma.estimate(uploads).documents, 2)
        build = self.halma.wait_for_build(self.halma.build(uploads).id)
        self.assertEqual(build.state, models.BuildPhase.done, build)
        self.assertIn(build.id, [build.id for build in self.halma.builds()])
        self.assertEqual([e.date for e in self.halma.timeline("Skell Light").events], ["1890"])
        again = self.halma.build(uploads, rebuild=["entities"])
        self.assertEqual(again.rebuild, [models.BasePart.entities])
        self.assertEqual(self.halma.wait_for_build(again.id).state, models.BuildPhase.done)
        lights = {"metadata": {"team": "lights", "year": {"gte": 1800}}}
        hits = self.halma.search("Skell Light", filter=lights, mode="bm25")
        self.assertEqual({hit.document for hit in hits}, {"of test/notes.md"})
        reply = self.halma.ask("When was Skell Light first lit?", strategy="naive", filter=lights)
        self.assertEqual({c.document for c in reply.answer.citations}, {"of test/notes.md"})
        self.assertEqual(self.halma.set_metadata("of test/notes.md", {"team": "none"}), {"team": "none"})
        self.assertEqual(self.halma.search("Skell Light", filter=lights, mode="bm25"), [])
        self.assertIn(b"Skell", self.halma.download("of test/notes.md"))
        changed = [("notes.md", b"# Skell\n\nSkell Light was first lit in 1891.\n")]
        with self.assertRaises(HalmaError) as taken:
            self.halma.upload(changed, folder="of test")
        self.assertEqual(taken.exception.status, 409)
        replaced = self.halma.upload(changed, folder="of test", replace=True)
        self.assertEqual([file.name for file in replaced.accepted], ["of test/notes.md"])
        self.assertIn(b"1891", self.halma.download("of test/notes.md"))
        for name in ["of test/notes.md", "of test/lens.md"]:
            self.assertTrue(self.halma.delete_document(name).removed)

    def test_tables_and_traces_are_read(self):
        table = self.halma.tables()[0]
        rows = self.halma.sql(f'SELECT count(*) FROM "{table.name}"')
        self.assertEqual(rows.rows[0].values, [table.rows])
        self.assertEqual(len(self.halma.table(table.name, limit=1).data), 1)
        trace = self.halma.ask(QUESTION, strategy="naive").id
        for _ in range(100):
            heads = self.halma.traces(strategy="naive")
            if trace in [head.id for head in heads.items]:
                break
        self.assertEqual(self.halma.trace(trace).question, QUESTION)
        self.halma.delete_trace(trace)
        with self.assertRaises(NotFoundError):
            self.halma.trace(trace)
        self.assertIn("kar3", [strategy.name for strategy in self.halma.strategies()])
        self.assertTrue(self.halma.examples())
        self.assertTrue(self.halma.usage(by="strategy"))
        self.assertTrue(self.halma.me().demo)

    def test_feedback_is_given_accepted_taken_back_and_deleted(self):
        run = self.halma.ask(QUESTION).id
        self.trace_of(run)
        given = self.halma.give_feedback(run, "wrong", correction="Kiran Mazumdar-Shaw", note="her full name")
        self.assertEqual(given.verdict, models.Verdict.wrong)
        accepted = self.halma.accept_feedback(given.id, [1], despite=True)
        self.assertEqual(accepted.candidates[0].state, models.CandidateState.accepted)
        page = self.halma.feedback_page(run=run, verdict=models.Verdict.wrong, state="accepted")
        self.assertEqual([feedback.id for feedback in page.items], [given.id])
        undone = self.halma.undo_feedback(given.id)
        self.assertEqual(undone.candidates[0].state, models.CandidateState.undone)
        self.assertEqual(self.halma.verify_feedback(given.id).accepted, [])
        self.assertEqual(self.halma.feedback(given.id).note, "her full name")
        self.halma.reject_feedback(given.id)
        self.halma.delete_feedback(given.id)
        with self.assertRaises(NotFoundError):
            self.halma.feedback(given.id)

    def trace_of(self, run):
        for _ in range(100):
            try:
                return self.halma.trace(run)
            except NotFoundError:
                time.sleep(0.02)
        self.fail("the trace is not written")

    def test_an_evaluation_is_run_and_read(self):
        questions = [{"question": QUESTION, "answers": ["Kiran Mazumdar-Shaw"]}]
        run = self.halma.evaluate("python", questions, ["naive"])
        for _ in range(500):
            run = next(r for r in self.halma.evaluation_runs() if r.id == run.id)
            if run.state != models.RunState.running:
                break
            time.sleep(0.02)
        self.assertEqual((run.state, run.error), (models.RunState.done, None))
        line = next(line for line in self.halma.evaluations() if line.dataset == "python")
        self.assertEqual(line.n, 1)
        self.assertTrue(self.halma.evaluation(line.id))

    def test_models_and_prompts_are_read_and_changed(self):
        self.assertTrue(self.halma.list_models().roles)
        name = self.halma.prompts()[0].name
        shipped = self.halma.prompt(name)
        changed = self.halma.set_prompt(name, shipped.text + "\nBe brief.\n")
        self.assertTrue(changed.changed)
        self.assertEqual(self.halma.reset_prompt(name).text, shipped.text)

    def test_tags_are_learned_from_questions(self):
        samples = [{"question": QUESTION, "answer": "Kiran Mazumdar-Shaw"}]
        self.assertEqual(self.halma.estimate_tags(samples).documents, 0)
        learned = self.halma.wait_for_build(self.halma.learn_tags(samples).id)
        self.assertEqual(learned.state, models.BuildPhase.done)

    def test_errors_say_what_is_wrong_and_what_to_do(self):
        with self.assertRaises(NotFoundError) as missing:
            self.halma.document("no such document")
        self.assertEqual(missing.exception.status, 404)
        self.assertRegex(missing.exception.request_id, r"^[0-9a-f]{16}$")
        with self.assertRaises(InvalidRequestError) as wrong:
            self.halma.ask(QUESTION, settings={"chunks": 10**10})
        self.assertIn("chunks", wrong.exception.detail)
        self.assertTrue(wrong.exception.hint)
        with self.assertRaises(InvalidRequestError), self.halma.ask_stream(" ") as events:
            list(events)
        with self.assertRaises(ConnectionFailed), Halma("http://127.0.0.1:9", timeout=2) as nowhere:
            nowhere.health()
        self.assertTrue(issubclass(AuthenticationError, HalmaError))

    def test_a_key_is_taken_without_its_line_and_not_repeated_in_an_error(self):
        key = "halma_0123456789_secret"
        headers = _requests.headers(f"{key}\n", None)
        self.assertEqual(headers["authorization"], f"Bearer {key}")
        for wrong in (f"{key}\nx", f"{key} x", f"{key}\u00e9"):
            with self.assertRaises(AuthenticationError) as refused:
                Halma(URL, key=wrong)
            self.assertNotIn("secret", str(refused.exception))


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_several_questions_at_once(self):
        async with AsyncHalma(URL) as client:
            asked = [client.ask(QUESTION, strategy="naive") for _ in range(4)]
            replies = await asyncio.gather(*asked)
            self.assertEqual(len({reply.answer.text for reply in replies}), 1)
            async with client.ask_stream(QUESTION) as events:
                kinds = [type(event) async for event in events]
            self.assertEqual((kinds[0], kinds[-1]), (Started, Answered))
            names = [document.name async for document in client.documents()]
            self.assertGreater(len(names), 10)
            with self.assertRaises(NotFoundError):
                await client.node("c-0000000000000000")


class Package(unittest.TestCase):
    def test_generated_files_are_up_to_date(self):
        script = Path(__file__).resolve().parents[1] / "generate.py"
        subprocess.run([sys.executable, str(script), URL, "--check"], check=True)

    def test_nothing_is_imported_before_it_is_used(self):
        code = "import halma, sys; assert not {'httpx', 'pydantic'} & set(sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)
        with self.assertRaises(AttributeError):
            halma.unheard_of  # noqa: B018


if __name__ == "__main__":
    unittest.main()
