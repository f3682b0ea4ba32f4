"""OpenAI's own client for Python, with the demo library."""

import math
import os
import unittest
from urllib.parse import urljoin
from urllib.request import urlopen

import openai

URL = os.environ["HALMA_URL"]
MODEL = "halma-kar3"


def user(text):
    return {"role": "user", "content": text}


class OpenAIsClient(unittest.TestCase):
    def setUp(self):
        self.client = openai.OpenAI(base_url=f"{URL}/v1", api_key="none is needed", max_retries=0)
        self.addCleanup(self.client.close)

    def ask(self, *messages, **more):
        return self.client.chat.completions.create(model=MODEL, messages=list(messages), **more)

    def test_each_strategy_is_a_model(self):
        names = [model.id for model in self.client.models.list()]
        self.assertEqual(names[0], "halma-auto")
        self.assertIn("halma-naive", names)

    def test_a_completion_has_marks_annotations_and_usage(self):
        reply = self.ask(user("Which company makes Cyltezo?"))
        message = reply.choices[0].message
        self.assertEqual(reply.choices[0].finish_reason, "stop")
        self.assertRegex(message.content, r"^Cyltezo is made by Boehringer Ingelheim \[1\]\.")
        self.assertIn("\n\nSources:\n[1] products/cyltezo.md", message.content)
        for number, annotation in enumerate(message.annotations, 1):
            place = annotation.url_citation
            self.assertEqual(message.content[place.start_index : place.end_index], f"[{number}]")
        quoted = message.annotations[0]
        with urlopen(urljoin(URL, quoted.url_citation.url)) as text:
            self.assertIn(quoted.halma["quote"].encode(), text.read())
        usage = reply.usage
        self.assertEqual(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)

    def test_a_later_question_refers_to_an_earlier_answer(self):
        messages = [user("Which company makes Cyltezo?")]
        first = self.ask(*messages).choices[0].message
        reply = self.ask(*messages, first.model_dump(), user("In which year was it founded?"))
        self.assertRegex(reply.choices[0].message.content, r"\b1885\b.*\[\d\]\.")

    def test_a_streamed_reply_is_the_same(self):
        question = user("Who founded Biocon?")
        whole = self.ask(question).choices[0].message.content
        text, usage = "", None
        for chunk in self.ask(question, stream=True, stream_options={"include_usage": True}):
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            usage = chunk.usage or usage
        self.assertEqual(text, whole)
        self.assertIsNotNone(usage)
        with self.client.chat.completions.stream(model=MODEL, messages=[question]) as stream:
            gathered = stream.get_final_completion()
        self.assertEqual(gathered.choices[0].message.content, whole)

    def test_errors_have_the_client_s_error_classes(self):
        question = user("Who founded Biocon?")
        for stream in (False, True):
            with self.assertRaises(openai.NotFoundError) as unknown:
                self.client.chat.completions.create(model="gpt-4o", messages=[question], stream=stream)
            self.assertIn("`gpt-4o`", unknown.exception.message)
            self.assertEqual(unknown.exception.type, "not_found_error")
            self.assertRegex(unknown.exception.request_id, r"^[0-9a-f]{16}$")
            with self.assertRaises(openai.UnprocessableEntityError):
                self.ask(question, n=2, stream=stream)

    def test_vectors_are_the_same_in_both_encodings(self):
        models = [model.id for model in self.client.models.list()]
        model = next((name for name in models if not name.startswith("halma-")), None)
        if model is None:
            self.skipTest("this server has no embedder")
        texts = ["Who founded Biocon?", "A reef at low tide."]
        # By default the client requests base64 and decodes it.
        decoded = self.client.embeddings.create(model=model, input=texts)
        plain = self.client.embeddings.create(model=model, input=texts, encoding_format="float")
        for one, other in zip(decoded.data, plain.data, strict=True):
            self.assertEqual(len(one.embedding), len(other.embedding))
            apart = max(abs(x - y) for x, y in zip(one.embedding, other.embedding, strict=True))
            self.assertLess(apart, 1e-6)
            self.assertAlmostEqual(math.hypot(*other.embedding), 1, delta=1e-3)
