"use strict";
// The browser of single questions. Whatever came from documents, models or users is only ever put
// into text nodes and values, never into markup.
(() => {
  const place = document.getElementById("browser");
  if (!place) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const { runs, losses, questions, lines } = data;
  const GLYPHS = { right: "✓", wrong: "✗", abstained: "–", failed: "!", unasked: "·" };
  const words = (places) => (places || []).map((i) => lines[i]).join("\n");
  const first = (text) => text.trim().split("\n")[0];
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

  // An element with attributes and children; strings become text nodes.
  const h = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  };
  const option = (value, text) => h("option", { value }, text);
  const field = (label, control) => h("label", {}, label, control);

  const kinds = [...new Set(questions.map((q) => q.kind).filter(Boolean))].sort();
  const search = h("input", { type: "search", placeholder: "question, answer or id", autocomplete: "off" });
  const left = h("select", {}, runs.map((label, i) => option(i, label)));
  const right = h("select", {}, option("", "none"), runs.map((label, i) => option(i, label)));
  if (runs.length > 1) right.value = "1";
  const show = h("select", {});
  const kind = h("select", {}, option("", "every kind"), kinds.map((name) => option(name, name)));

  const OUTCOMES = [
    ["all", "all"], ["missed", "not right"], ["right", "right"], ["wrong", "wrong"],
    ["abstained", "abstained"], ["failed", "failed"], ["unasked", "not asked"],
  ];
  const PAIRS = [
    ["differ", "the two differ"], ["gained", "only the second is right"], ["lost", "only the first is right"],
    ["neither", "neither is right"], ["both", "both are right"],
  ];
  const fillShow = () => {
    const kept = show.value;
    const groups = [h("optgroup", { label: "first strategy" }, OUTCOMES.map(([v, t]) => option(v, t)))];
    if (right.value !== "") groups.push(h("optgroup", { label: "both strategies" }, PAIRS.map(([v, t]) => option(v, t))));
    const known = new Set(questions.flatMap((q) => q.runs.map((run) => run.lost)).filter(Boolean));
    const lost = Object.entries(losses).filter(([name]) => known.has(name));
    if (lost.length) groups.push(h("optgroup", { label: "lost by the first" }, lost.map(([name, [title]]) => option("lost:" + name, title))));
    show.replaceChildren(...groups);
    if ([...show.options].some((o) => o.value === kept)) show.value = kept;
  };

  const isRight = (question, run) => question.runs[run].fate === "right";
  const matches = (question) => {
    const a = Number(left.value), b = right.value === "" ? a : Number(right.value), mode = show.value;
    const run = question.runs[a];
    const shown = mode.startsWith("lost:") ? run.lost === mode.slice(5) : {
      all: () => true, missed: () => run.fate !== "right" && run.fate !== "unasked",
      differ: () => isRight(question, a) !== isRight(question, b),
      gained: () => !isRight(question, a) && isRight(question, b), lost: () => isRight(question, a) && !isRight(question, b),
      neither: () => !isRight(question, a) && !isRight(question, b), both: () => isRight(question, a) && isRight(question, b),
    }[mode]?.() ?? run.fate === mode;
    if (!shown || (kind.value && question.kind !== kind.value)) return false;
    const wanted = search.value.trim().toLowerCase();
    if (!wanted) return true;
    const held = [question.id, question.text, ...question.golds, ...question.runs.map((r) => r.answer || "")];
    return held.some((text) => text.toLowerCase().includes(wanted));
  };

  const fate = (name, label) =>
    h("span", { class: "fate " + name, role: "img", "aria-label": label ? label + ": " + name : name, title: label ? label + ": " + name : name }, GLYPHS[name]);

  const list = h("div", { class: "list", role: "group", "aria-label": "Questions" });
  const detail = h("div", { class: "detail", "aria-live": "off" });
  const count = h("p", { class: "count", role: "status" });
  let current = null;

  const update = () => {
    fillShow();
    const found = questions.filter(matches);
    count.textContent = found.length + " of " + questions.length + " questions";
    const at = [...new Set([Number(left.value), right.value === "" ? Number(left.value) : Number(right.value)])];
    list.replaceChildren(...found.map((question) =>
      h("button", { type: "button", "data-id": question.id, "aria-current": String(question === current), onclick: () => open(question, true) },
        h("span", { class: "fates" }, at.map((i) => fate(question.runs[i].fate, runs[i]))),
        h("span", {}, cut(question.text || question.id, 160)))));
    if (!found.length) list.append(h("p", { class: "empty" }, "No question is like that."));
    if (!found.includes(current)) current = found[0] || null;
    open(current, false);
  };

  const open = (question, chosen) => {
    current = question;
    for (const button of list.querySelectorAll("button")) {
      button.setAttribute("aria-current", String(question !== null && button.dataset.id === question.id));
    }
    detail.replaceChildren(...(question ? full(question) : []));
    if (chosen && question) {
      history.replaceState(null, "", "#question/" + encodeURIComponent(question.id));
      if (window.matchMedia("(max-width: 900px)").matches) detail.scrollIntoView();
    }
  };

  const full = (question) => {
    const facts = [question.id, question.kind, question.hops ? question.hops + " hops" : null].filter(Boolean).join(" · ");
    const shown = [...new Set([left.value, right.value].filter((v) => v !== "").map(Number))];
    return [
      h("h3", {}, question.text || question.id),
      h("p", { class: "facts" }, facts, h("br"), "Right: ", h("b", {}, question.golds.join(" / ") || "(no answer)"),
        question.gold.length ? [h("br"), "Gold passages: " + [...new Set(question.gold)].join(", ")] : []),
      h("div", { class: "beside" }, shown.map((i) => answer(question, i))),
    ];
  };

  const answer = (question, i) => {
    const run = question.runs[i];
    const said = run.failure ? run.failure[0] + ": " + run.failure[1]
      : run.fate === "abstained" ? "abstained" : run.fate === "unasked" ? "not asked" : run.answer ?? "(the answer is not here)";
    const badges = [run.lost && losses[run.lost] ? losses[run.lost][0] : null, run.partial ? "partial" : null,
      run.ruling ? "judge: " + run.ruling : null].filter(Boolean);
    const meta = [run.f1 === null ? null : "F1 " + (run.f1 * 100).toFixed(0), run.tokens + " tokens", run.hops + " hops",
      run.ms >= 1000 ? (run.ms / 1000).toFixed(1) + " s" : run.ms.toFixed(0) + " ms",
      run.usd > 0 ? run.usd.toFixed(4) + " USD" : null].filter(Boolean).join(" · ");
    return h("article", { class: "answer" },
      h("header", {}, fate(run.fate), h("b", {}, runs[i]), badges.map((text) => h("span", { class: "badge" }, text))),
      h("p", { class: "said " + run.fate }, said),
      run.reason ? h("p", { class: "why" }, run.reason) : null,
      h("p", { class: "meta" }, meta),
      run.citations && run.citations.length ? citations(question, run.citations) : null,
      run.trace ? h("div", { class: "tree" }, tree(question, run.trace))
        : run.fate === "unasked" ? null : h("p", { class: "meta" }, "The trace is not in this page; it may be in the folder of the evaluation."));
  };

  const squeeze = (text) => text.replace(/\s+/g, "");
  const isGold = (question, title) => question.gold.some((gold) => squeeze(gold) === squeeze(title));
  const citations = (question, cited) => h("details", {}, h("summary", {}, cited.length + (cited.length === 1 ? " citation" : " citations")),
    cited.map(([title, section, quote]) => h("blockquote", { class: "quote" + (isGold(question, title) ? " gold" : "") },
      h("b", {}, title + (section ? " · " + section : "")), cut(quote, 600))));

  // Spans become a tree; events hang where they happened.
  const tree = (question, trace) => {
    const root = h("div", {});
    const spans = new Map([[0, root]]);
    for (const event of trace) {
      const parent = spans.get(event.s) || root;
      if (event.k === "span") {
        const inside = h("div", {});
        spans.set(event.i, inside);
        parent.append(h("details", { class: "span", open: "" }, h("summary", {}, event.n), inside));
      } else {
        parent.append(show_event(question, event));
      }
    }
    return h("details", { open: "" }, h("summary", {}, "How it came to it"), root);
  };

  // Its inside is made when it is opened: prompts are long.
  const lazy = (summary, inside) => {
    const box = h("details", { class: "event" }, h("summary", {}, summary));
    box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(...inside()); });
    return box;
  };

  const show_event = (question, event) => ({
    ask: () => lazy([h("span", { class: "tag ask" + (event.bad ? " bad" : "") }, "ask " + event.p),
      cut(first(words(event.y)), 140) || "(empty)", event.bad ? h("span", { class: "dim" }, " malformed: " + event.bad) : null],
      () => [h("p", { class: "meta" }, [event.m + " as " + event.r, event.t[0] + " + " + event.t[1] + " tokens",
        event.c ? "from the cache" : event.ms.toFixed(0) + " ms", event.a > 1 ? "try " + event.a : null].filter(Boolean).join(" · ")),
        ...event.x.flatMap(([role, text]) => [h("p", { class: "role" }, role), h("pre", { tabindex: "0" }, words(text))]),
        h("p", { class: "role" }, "reply"), h("pre", { tabindex: "0" }, words(event.y))]),
    search: () => lazy([h("span", { class: "tag search" }, event.by ? "rerank by " + event.by : "search " + event.l), event.q,
      h("span", { class: "dim" }, " → " + (event.h.length || "nothing"))],
      () => [h("ol", { class: "hits" }, event.h.map(([title, text, score]) =>
        h("li", { class: isGold(question, title) ? "gold" : "" }, h("span", { class: "score" }, score.toFixed(3)), h("b", {}, title),
          isGold(question, title) ? h("span", { class: "badge" }, "gold") : null, h("br"), cut(words(text), 500))))]),
    compute: () => h("p", { class: "line" }, h("span", { class: "tag" }, "compute"), event.q, h("span", { class: "dim" }, " → " + event.n + " rows")),
    fail: () => h("p", { class: "line" }, h("span", { class: "tag bad" }, "no reply to " + event.p), event.n),
    note: () => h("p", { class: "line dim" }, event.n),
  }[event.k]());

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = [...list.querySelectorAll("button")];
    const next = buttons[buttons.indexOf(document.activeElement) + step];
    if (next) { event.preventDefault(); next.focus(); next.click(); }
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName || "");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); search.focus(); }
  });
  for (const control of [left, right, show, kind]) control.addEventListener("change", update);
  search.addEventListener("input", update);

  const wanted = () => {
    const id = location.hash.startsWith("#question/") ? decodeURIComponent(location.hash.slice(10)) : null;
    return questions.find((question) => question.id === id) || null;
  };
  place.append(
    h("div", { class: "filters", role: "search" }, field("Search", search), field("First strategy", left), field("Second strategy", right),
      field("Show", show), field("Kind", kind)),
    count, h("div", { class: "split" }, list, detail));
  current = wanted();
  update();
  if (wanted()) place.scrollIntoView();
  window.addEventListener("hashchange", () => { const question = wanted(); if (question) { current = question; update(); } });
})();
