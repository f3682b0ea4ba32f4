// OpenAI's own client for Node, with the demo library.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";

const url = process.env.HALMA_URL;
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none is needed", maxRetries: 0 });
const MODEL = "halma-kar3";
const user = (content) => ({ role: "user", content });
const ask = (messages, more) => client.chat.completions.create({ model: MODEL, messages, ...more });

test("each strategy is a model, the configured one first", async () => {
  const names = [];
  for await (const model of client.models.list()) {
    assert.equal(model.object, "model");
    names.push(model.id);
  }
  assert.equal(names[0], "halma-auto");
  assert.ok(names.includes("halma-naive") && names.includes(MODEL), names.join());
});

test("a completion has citation marks, a list of sources and annotations", async () => {
  const reply = await ask([user("Which company makes Cyltezo?")]);
  assert.equal(reply.object, "chat.completion");
  assert.equal(reply.model, MODEL);
  assert.ok(Math.abs(Date.now() / 1000 - reply.created) < 600);
  const [{ message, finish_reason }] = reply.choices;
  assert.deepEqual([finish_reason, message.role], ["stop", "assistant"]);
  assert.match(message.content, /^Cyltezo is made by Boehringer Ingelheim \[1\]\./);
  assert.match(message.content, /\n\nSources:\n\[1\] products\/cyltezo\.md/);
  assert.ok(message.annotations.length > 0);
  const letters = [...message.content];
  for (const [index, { type, url_citation: place, halma }] of message.annotations.entries()) {
    assert.equal(type, "url_citation");
    assert.equal(letters.slice(place.start_index, place.end_index).join(""), `[${index + 1}]`);
    assert.ok(message.content.includes(`\n[${index + 1}] ${halma.document}`));
    const text = await (await fetch(new URL(place.url, url))).json();
    assert.equal([...text.text].slice(halma.start, halma.end).join(""), halma.quote);
  }
  const { prompt_tokens, completion_tokens, total_tokens } = reply.usage;
  assert.equal(total_tokens, prompt_tokens + completion_tokens);
});

test("a later question may refer to an earlier answer", async () => {
  const messages = [user("Which company makes Cyltezo?")];
  const first = await ask(messages);
  messages.push(first.choices[0].message, user("In which year was it founded?"));
  const second = await ask(messages);
  assert.match(second.choices[0].message.content, /\b1885\b.*\[\d\]\./);
  assert.match(second.halma.question, /Boehringer Ingelheim/);
  messages.push(second.choices[0].message, user("In which city is Biocon based?"));
  const third = await ask(messages);
  assert.match(third.choices[0].message.content, /\bBengaluru\b/);
});

test("a streamed reply is the same, with its usage at the end", async () => {
  const messages = [{ role: "system", content: "Be kind." }, user([{ type: "text", text: "Who founded Biocon?" }])];
  const whole = (await ask(messages)).choices[0].message;
  const stream = await ask(messages, { stream: true, stream_options: { include_usage: true }, temperature: 0.7 });
  let [text, usage, annotations] = ["", undefined, []];
  const [ids, reasons] = [new Set(), []];
  for await (const chunk of stream) {
    assert.equal(chunk.object, "chat.completion.chunk");
    ids.add(chunk.id);
    text += chunk.choices[0]?.delta.content ?? "";
    annotations.push(...(chunk.choices[0]?.delta.annotations ?? []));
    if (chunk.choices[0]?.finish_reason) reasons.push(chunk.choices[0].finish_reason);
    if (chunk.usage) {
      assert.deepEqual(chunk.choices, []);
      usage = chunk.usage;
    }
  }
  assert.equal(text, whole.content);
  assert.deepEqual(annotations, whole.annotations);
  assert.equal(ids.size, 1);
  assert.deepEqual(reasons, ["stop"]);
  assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
});

test("the client's stream helper works", async () => {
  const runner = client.chat.completions.stream({ model: MODEL, messages: [user("Who founded Biocon?")] });
  const reply = await runner.finalChatCompletion();
  assert.match(reply.choices[0].message.content, /\bKiran Mazumdar-Shaw\b.*\[1\]/);
});

test("a question that the documents do not answer is not answered", async () => {
  const reply = await ask([user("Who won the tennis tournament of Wimbledon in 1977?")]);
  assert.equal(reply.halma.abstained, true, reply.choices[0].message.content);
  assert.match(reply.choices[0].message.content, /^No answer was found/);
});

test("errors have the client's error classes", async () => {
  const question = [user("Who founded Biocon?")];
  const fails = async (call, kind, status, message) => {
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
      assert.equal(error.status, status);
      assert.match(error.message, message);
      assert.ok(error.type && error.code, "type and code");
      assert.match(error.requestID, /^[0-9a-f]{16}$/);
      return true;
    });
  };
  for (const stream of [false, true]) {
    await fails(ask(question, { model: "gpt-4o", stream }), OpenAI.NotFoundError, 404, /`gpt-4o`/);
    await fails(ask(question, { n: 2, stream }), OpenAI.UnprocessableEntityError, 422, /`n` must be 1/);
    await fails(ask([], { stream }), OpenAI.UnprocessableEntityError, 422, /no user message/);
    await fails(ask([user("  ")], { stream }), OpenAI.UnprocessableEntityError, 422, /no word or number/);
  }
  await fails(client.models.retrieve("none"), OpenAI.NotFoundError, 404, /there is no/);
  await fails(client.embeddings.create({ model: "any", input: [] }), OpenAI.UnprocessableEntityError, 422, /`input`/);
});

test("vectors are the same in both encodings", async (t) => {
  const models = (await client.models.list()).data.map((model) => model.id);
  const model = models.find((id) => !id.startsWith("halma-"));
  if (!model) return t.skip("this server has no embedder");
  const input = ["Who founded Biocon?", "A reef at low tide."];
  // By default the client requests base64 and decodes it.
  const decoded = await client.embeddings.create({ model, input });
  const plain = await client.embeddings.create({ model, input, encoding_format: "float" });
  assert.equal(plain.model, model);
  assert.ok(plain.usage.total_tokens > 0);
  for (const [index, { embedding }] of plain.data.entries()) {
    assert.equal(decoded.data[index].index, index);
    const other = decoded.data[index].embedding;
    assert.equal(other.length, embedding.length);
    assert.ok(embedding.every((x, at) => Math.abs(x - other[at]) < 1e-6));
    const length = Math.hypot(...embedding);
    assert.ok(Math.abs(length - 1) < 1e-3, `length ${length}`);
  }
  assert.notDeepEqual(plain.data[0].embedding, plain.data[1].embedding);
  const one = await client.embeddings.create({ model, input: input[0], encoding_format: "float" });
  assert.ok(one.data[0].embedding.every((x, at) => Math.abs(x - plain.data[0].embedding[at]) < 1e-3));
});
