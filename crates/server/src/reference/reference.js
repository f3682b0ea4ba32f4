// Renders /api/v1/openapi.json. All values are inserted as text, never as markup.
"use strict";

const METHODS = ["get", "post", "put", "delete"];

function element(name, text, attributes = {}) {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

// A schema as JSON with comments; each reference is followed once per branch.
function shape(description, schema, indent = "", visited = []) {
  if (!schema) return "any";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    if (visited.includes(name)) return name;
    return shape(description, description.components.schemas[name], indent, [...visited, name]);
  }
  const choices = (schema.oneOf || schema.anyOf || []).filter((one) => one.type !== "null");
  if (choices.length) {
    return choices.map((one) => shape(description, one, indent, visited)).join(" | ");
  }
  if (schema.allOf) {
    const properties = {}, required = [];
    for (const part of schema.allOf) {
      const whole = part.$ref ? description.components.schemas[part.$ref.split("/").pop()] : part;
      Object.assign(properties, whole.properties);
      required.push(...(whole.required || []));
    }
    return shape(description, { type: "object", properties, required }, indent, visited);
  }
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const types = [schema.type].flat().filter((type) => type && type !== "null");
  if (types.includes("array")) return `[${shape(description, schema.items, indent, visited)}, …]`;
  if (schema.properties) {
    const required = schema.required || [];
    const lines = Object.entries(schema.properties).map(([key, value]) => {
      const inner = shape(description, value, indent + "  ", visited);
      const comment = value.description ? `  // ${value.description.replace(/\s+/g, " ")}` : "";
      return `${indent}  ${key}${required.includes(key) ? "" : "?"}: ${inner}${comment}`;
    });
    return `{\n${lines.join("\n")}\n${indent}}`;
  }
  return types.join(" | ") || "any";
}

function parameters(list) {
  const table = element("table");
  for (const parameter of list) {
    const row = element("tr");
    const name = element("td");
    name.append(element("code", parameter.name));
    row.append(name, element("td", parameter.in), element("td", parameter.description || ""));
    table.append(row);
  }
  return table;
}

function operation(description, { path, method, details }) {
  const block = element("details");
  const summary = element("summary");
  summary.append(element("span", method.toUpperCase(), { class: "method" }), element("code", path));
  summary.append(element("span", details.summary || "", { class: "summary" }));
  block.append(summary);
  if (details.description) block.append(element("p", details.description));
  if ((details.parameters || []).length) block.append(parameters(details.parameters));
  for (const [kind, body] of Object.entries(details.requestBody?.content || {})) {
    block.append(element("p", `Body, ${kind}`));
    block.append(element("pre", shape(description, body.schema)));
  }
  for (const [status, response] of Object.entries(details.responses || {}).filter(([status]) => status < 400)) {
    const content = Object.entries(response.content || {});
    if (!content.length) block.append(element("p", `${status} ${response.description || ""}`));
    for (const [kind, body] of content) {
      block.append(element("p", `${status}, ${kind} ${response.description || ""}`));
      block.append(element("pre", shape(description, body.schema)));
    }
  }
  return block;
}

async function show() {
  const description = await (await fetch("/api/v1/openapi.json")).json();
  document.getElementById("info").textContent =
    `${description.info.description} Version ${description.info.version}.`;
  const groups = new Map();
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const method of METHODS.filter((method) => methods[method])) {
      const tag = (methods[method].tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(operation(description, { path, method, details: methods[method] }));
    }
  }
  const operations = document.getElementById("operations");
  operations.replaceChildren();
  for (const [tag, blocks] of groups) {
    document.getElementById("contents").append(element("a", tag, { href: `#${tag}` }));
    operations.append(element("h2", tag, { id: tag }), ...blocks);
  }
}

show().catch((error) => {
  document.getElementById("operations").textContent = `Cannot load the description: ${error}`;
});
