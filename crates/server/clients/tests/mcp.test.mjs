// The MCP project's own client, over HTTP and over standard input and output, with the demo library.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { HALMA } from "../servers.mjs";

const QUESTION = "In which year was the company that makes Cyltezo founded?";

const TRANSPORTS = {
  "over HTTP": () => new StreamableHTTPClientTransport(new URL("/mcp", process.env.HALMA_URL)),
  "over standard input and output": () =>
    new StdioClientTransport({ command: HALMA, args: ["mcp", "--kb", process.env.HALMA_KB], env: process.env, stderr: "ignore" }),
};

for (const [how, transport] of Object.entries(TRANSPORTS)) {
  describe(how, () => {
    const client = new Client({ name: "halma-clients", version: "0" });
    const faults = [];
    client.onerror = (error) => faults.push(error.message);
    const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
    const good = async (name, args, options) => {
      const result = await call(name, args, options);
      assert.ok(!result.isError, JSON.stringify(result.content));
      assert.equal(result.content[0].type, "text");
      return { text: result.content[0].text, data: result.structuredContent };
    };

    // What comes, in its order. The client loses word of steps that come in one piece with the answer.
    const messages = [];
    before(async () => {
      const way = transport();
      await client.connect(way);
      const handed = way.onmessage;
      way.onmessage = (message, extra) => {
        messages.push(message);
        handed(message, extra);
      };
    });
    after(async () => {
      await client.close();
      assert.deepEqual(faults.filter((fault) => !fault.includes("progress notification for an unknown token")), []);
    });

    test("the tools are described so that the client can check its arguments", async () => {
      assert.equal(client.getServerVersion().name, "halma");
      const { tools } = await client.listTools();
      const names = ["ask", "search", "grep", "read_document", "list_documents", "entity_timeline", "explain_answer", "give_feedback"];
      assert.deepEqual(tools.map((tool) => tool.name), names);
      for (const { name, description, inputSchema, annotations } of tools) {
        assert.ok(description.length > 20);
        assert.deepEqual([inputSchema.type, inputSchema.additionalProperties], ["object", false]);
        assert.equal(annotations.readOnlyHint, name !== "give_feedback");
      }
      await client.ping();
    });

    test("every step is reported before the answer, and the answer can be explained", async () => {
      const notified = [];
      messages.length = 0;
      const { text, data } = await good("ask", { question: QUESTION, strategy: "kar3" }, { onprogress: (step) => notified.push(step.message) });
      assert.match(text, /\b1885\b.*\[\d\]\./);
      assert.match(text, /\nSources:\n\[1\] /);
      assert.equal(data.answer.text, "1885");
      assert.equal(data.strategy, "kar3");
      assert.ok(messages.at(-1).result, "the answer comes last");
      const progress = messages.slice(0, -1).map((message) => message.params);
      const steps = progress.map((step) => step.message);
      assert.deepEqual(progress.map((step) => step.progress), progress.map((_, index) => index + 1));
      assert.deepEqual(notified, how === "over HTTP" ? steps : steps.slice(0, notified.length));
      for (let hop = 1; hop <= data.hops; hop += 1) assert.ok(steps.includes(`hop ${hop}`), `hop ${hop} of ${data.hops}`);
      const explained = await kept(data.id);
      assert.deepEqual(explained.data.steps, steps);
      assert.equal(explained.data.answer.text, "1885");
      assert.ok(explained.text.startsWith(QUESTION));
    });

    /** A trace is written when the answer is on its way already. */
    async function kept(id) {
      for (let attempt = 0; attempt < 100; attempt += 1) {
        const result = await call("explain_answer", { id });
        if (!result.isError) break;
        await new Promise((wake) => setTimeout(wake, 50));
      }
      return good("explain_answer", { id });
    }

    test("a question may refer to the conversation", async () => {
      const history = [
        { role: "user", text: "Which company makes Cyltezo?" },
        { role: "assistant", text: "Boehringer Ingelheim" },
      ];
      const { data } = await good("ask", { question: "In which year was it founded?", history });
      assert.equal(data.answer.text, "1885");
      assert.match(data.question, /Boehringer Ingelheim/);
    });

    test("cited passages can be read at their position", async () => {
      const { data } = await good("ask", { question: "Who founded Biocon?" });
      const [{ document, start, end, quote }] = data.answer.citations;
      const read = await good("read_document", { document, start, end });
      assert.equal(read.text, quote);
      assert.equal(read.data.document, document);
      const whole = await good("read_document", { document });
      assert.equal([...whole.text].slice(start, end).join(""), quote);
      assert.equal(whole.data.length, [...whole.text].length);
    });

    test("an expression finds the passages that it matches", async () => {
      const found = await good("grep", { expression: "Biocon is based in \\w+", limit: 3 });
      assert.match(found.text, /Biocon is based in Bengaluru/);
    });

    test("each layer and mode that is described can be searched", async () => {
      const { tools } = await client.listTools();
      const { layer, mode } = tools.find((tool) => tool.name === "search").inputSchema.properties;
      const found = await good("search", { query: "Cyltezo", limit: 3 });
      assert.ok(found.data.hits.length > 0 && found.data.hits.length <= 3);
      assert.match(found.text, /products\/cyltezo\.md, characters \d+–\d+/);
      for (const way of [...layer.enum.map((name) => ({ layer: name })), ...mode.enum.map((name) => ({ mode: name }))]) {
        const result = await call("search", { query: "Cyltezo", ...way });
        // Some need what this base has not, and say so.
        assert.match(result.content[0].text, /\w/, JSON.stringify(way));
      }
    });

    test("documents are listed page by page", async () => {
      const names = [];
      let after;
      do {
        const { data } = await good("list_documents", { limit: 20, ...(after && { after }) });
        assert.ok(data.items.length <= 20);
        names.push(...data.items.map((item) => item.name));
        after = data.next;
      } while (after);
      assert.equal(new Set(names).size, names.length);
      assert.ok(names.length > 40 && names.includes("products/cyltezo.md"));
      const { data } = await good("list_documents", { query: "cyltezo" });
      assert.deepEqual(data.items.map((item) => item.name), ["products/cyltezo.md"]);
    });

    test("concurrent calls get their own answers and steps", async () => {
      const questions = { "Who founded Biocon?": /Kiran/, "In which city is Biocon based?": /Bengaluru/, [QUESTION]: /1885/ };
      messages.length = 0;
      await Promise.all(Object.entries(questions).map(async ([question, answer]) => {
        const { data } = await good("ask", { question, strategy: "kar3" }, { onprogress: () => {} });
        assert.match(data.answer.text, answer);
      }));
      const steps = messages.filter((message) => message.method === "notifications/progress").map((message) => message.params);
      const tokens = new Set(steps.map((step) => step.progressToken));
      const about = [...tokens].map((token) => {
        const own = steps.filter((step) => step.progressToken === token);
        assert.deepEqual(own.map((step) => step.progress), own.map((_, index) => index + 1));
        return Object.keys(questions).filter((question) => own.some((step) => step.message.includes(question))).join();
      });
      assert.deepEqual(about.sort(), Object.keys(questions).sort());
    });

    test("an unknown tool is a protocol error", async () => {
      await assert.rejects(call("nothing", {}), (error) => {
        assert.ok(error instanceof McpError);
        assert.equal(error.code, ErrorCode.InvalidParams);
        assert.match(error.message, /`nothing`/);
        return true;
      });
    });

    test("errors of a tool are its result", async () => {
      for (const [name, args, expected] of [
        ["ask", { question: " " }, /no word or number/],
        ["ask", { question: "Who?", strategy: "none" }, /none/],
        ["read_document", { document: "../state.db" }, /no such document/],
        ["grep", { expression: "(Biocon" }, /unclosed group/],
        ["grep", { expression: "(a{1000}){1000}" }, /exceeds size limit/],
        ["explain_answer", { id: "../x" }, /no such answer/],
        ["ask", {}, /`question`/],
        ["ask", { question: "Who?", colour: "red" }, /`colour`/],
        ["ask", { question: 7 }, /`question` must be a text, not `7`/],
        ["search", { query: "x", layer: "moon" }, /`moon`/],
        ["search", { query: "x", limit: -1 }, /-1/],
        ["read_document", { document: "a.md", start: "x" }, /"x"/],
        ["list_documents", { after: 3 }, /`3`/],
        ["explain_answer", undefined, /`id`/],
      ]) {
        const result = await call(name, args);
        assert.equal(result.isError, true, name);
        assert.match(result.content[0].text, expected);
      }
    });
  });
}
