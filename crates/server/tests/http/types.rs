//! The web UI's types, generated from the `OpenAPI` description, so that they cannot differ from it.
//! Descriptions are left to `/api/docs`: a changed comment must not change the types.
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::world::World;

const COMMAND: &str = "HALMA_WRITE_REFERENCE=1 cargo test -p halma-server --test http types";

#[tokio::test(flavor = "multi_thread")]
async fn the_types_of_the_web_ui_are_those_of_the_description() {
    let world = World::start().await;
    let openapi = world.get_json("/api/v1/openapi.json").await;
    world.stop().await;
    let generated = typescript(&openapi);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/src/api/types.ts");
    if std::env::var_os("HALMA_WRITE_REFERENCE").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(committed == generated, "ui/src/api/types.ts is out of date; run `{COMMAND}`");
}

#[test]
fn every_form_of_schema_has_a_type() {
    let schemas = serde_json::json!({
        "Colour": {"type": "string", "enum": ["red", "blue"]},
        "Line": {"type": "object", "required": ["a-b"], "properties": {
            "a-b": {"type": "array", "items": {"oneOf": [{"type": "null"}, {"$ref": "#/x/Colour"}]}},
            "counts": {"type": "object", "propertyNames": {"$ref": "#/x/Colour"},
                "additionalProperties": {"type": "integer"}},
            "n": {"type": ["integer", "null"]}}},
        "List_Line": {"type": "object", "properties": {"items": {"type": "array", "items": {}}}},
        "Long": {"allOf": [{"$ref": "#/x/Line"}, {"type": "object", "properties": {"any": {}}}]},
    });
    let openapi = serde_json::json!({"components": {"schemas": schemas}});
    let expected = "\n\
        export const ColourValues = [\"red\", \"blue\"] as const;\n\
        export type Colour = (typeof ColourValues)[number];\n\
        \n\
        export interface Line {\n  \
          \"a-b\": (null | Colour)[];\n  \
          counts?: Partial<Record<Colour, number>>;\n  \
          n?: number | null;\n\
        }\n\
        \n\
        export type Long = Line & {\n  any?: unknown;\n};\n";
    assert!(typescript(&openapi).ends_with(expected), "{}", typescript(&openapi));
}

fn typescript(openapi: &Value) -> String {
    let mut out =
        format!("// Generated from the OpenAPI description; do not edit.\n// {COMMAND}\n");
    for (name, schema) in openapi["components"]["schemas"].as_object().unwrap() {
        // An instance of a generic type only repeats its item; the web UI has `Page<T>`.
        if name.contains('_') {
            continue;
        }
        out.push('\n');
        let plain_object = schema["properties"].is_object() && schema["allOf"].is_null();
        let strings = schema["enum"].as_array().is_some_and(|all| all.iter().all(Value::is_string));
        if strings {
            let values = join(&schema["enum"], ", ", &Value::to_string);
            writeln!(out, "export const {name}Values = [{values}] as const;").unwrap();
            writeln!(out, "export type {name} = (typeof {name}Values)[number];").unwrap();
        } else if plain_object {
            writeln!(out, "export interface {name} {}", object(schema, "")).unwrap();
        } else {
            writeln!(out, "export type {name} = {};", type_of(schema, "")).unwrap();
        }
    }
    out
}

fn join(list: &Value, separator: &str, render: &dyn Fn(&Value) -> String) -> String {
    list.as_array().unwrap().iter().map(render).collect::<Vec<_>>().join(separator)
}

fn type_of(schema: &Value, indent: &str) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return reference.rsplit('/').next().unwrap().to_owned();
    }
    let inner = |schema: &Value| type_of(schema, indent);
    if schema["enum"].is_array() {
        return join(&schema["enum"], " | ", &Value::to_string);
    }
    for choice in ["oneOf", "anyOf"] {
        if schema[choice].is_array() {
            return join(&schema[choice], " | ", &inner);
        }
    }
    if schema["allOf"].is_array() {
        return join(&schema["allOf"], " & ", &|part| parenthesised(inner(part)));
    }
    match &schema["type"] {
        Value::Array(names) => {
            let names: Vec<String> =
                names.iter().map(|name| named(name.as_str().unwrap(), schema, indent)).collect();
            names.join(" | ")
        }
        Value::String(name) => named(name, schema, indent),
        _ => "unknown".into(),
    }
}

fn named(name: &str, schema: &Value, indent: &str) -> String {
    match name {
        "integer" | "number" => "number".into(),
        "array" => format!("{}[]", parenthesised(type_of(&schema["items"], indent))),
        "object" => object(schema, indent),
        name => name.into(),
    }
}

fn parenthesised(inner: String) -> String {
    if inner.contains(" | ") { format!("({inner})") } else { inner }
}

fn object(schema: &Value, indent: &str) -> String {
    let values = &schema["additionalProperties"];
    let Some(properties) = schema["properties"].as_object() else {
        let values = if values.is_object() { type_of(values, indent) } else { "unknown".into() };
        let keys = &schema["propertyNames"];
        return if keys["$ref"].is_string() {
            format!("Partial<Record<{}, {values}>>", type_of(keys, ""))
        } else {
            format!("Record<string, {values}>")
        };
    };
    let deeper = format!("{indent}  ");
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut out = String::from("{\n");
    for (name, property) in properties {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let name = if plain { name.clone() } else { format!("{name:?}") };
        writeln!(out, "{deeper}{name}{optional}: {};", type_of(property, &deeper)).unwrap();
    }
    if values.is_object() {
        writeln!(out, "{deeper}[key: string]: {};", type_of(values, &deeper)).unwrap();
    }
    out + indent + "}"
}
