//! A prompt file: front matter, then `## system` / `## user` / `## assistant` sections.
//!
//! ```text
//! ---
//! task: select
//! role: selector
//! variables: ["question", "atoms"]
//! max_tokens: 512
//! temperature: 0
//! schema: {"thinking": "string", "candidate": "integer"}
//! ---
//! ## user
//! {% for atom in atoms %}{{ loop.index }}. {{ atom.text }}
//! {% endfor %}
//! ```
//!
//! Every front matter line is `key: JSON`, a bare word counting as a string. The file is split
//! into roles here, before anything is substituted, so that a retrieved text can never open one.
use include_dir::{Dir, DirEntry};
use serde_json::{Map, Value, json};

use crate::{Message, PromptError};

/// A prompt that ships with a crate: its name is its path below `prompts/` without `.md`.
#[derive(Debug, Clone, Copy)]
pub struct PromptFile {
    pub name: &'static str,
    pub text: &'static str,
}

/// The prompt files that a crate ships.
#[derive(Debug, Clone, Copy)]
pub enum PromptSet {
    /// Every `*.md` of a folder, as `include_dir!("$CARGO_MANIFEST_DIR/prompts")` gives it.
    Folder(&'static Dir<'static>),
    /// Those files of a folder whose names begin in one way: `judge/`.
    Below(&'static Dir<'static>, &'static str),
    /// Files that are given one by one.
    Files(&'static [PromptFile]),
}

impl PromptSet {
    /// The files. What is not UTF-8 or not named `*.md` is not a prompt.
    pub fn iter(self) -> impl Iterator<Item = PromptFile> {
        self.into_iter()
    }
}

impl IntoIterator for PromptSet {
    type Item = PromptFile;
    type IntoIter = std::vec::IntoIter<PromptFile>;

    fn into_iter(self) -> Self::IntoIter {
        let mut files = vec![];
        match self {
            Self::Folder(folder) => collect(folder, &mut files),
            Self::Below(folder, prefix) => {
                collect(folder, &mut files);
                files.retain(|file| file.name.starts_with(prefix));
            }
            Self::Files(given) => files.extend(given),
        }
        files.into_iter()
    }
}

fn collect(folder: &'static Dir<'static>, into: &mut Vec<PromptFile>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(folder) => collect(folder, into),
            DirEntry::File(file) => {
                let name = file.path().to_str().and_then(|path| path.strip_suffix(".md"));
                let named = name.zip(file.contents_utf8());
                into.extend(named.map(|(name, text)| PromptFile { name, text }));
            }
        }
    }
}

/// What the front matter says about the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Front {
    pub(crate) task: String,
    pub(crate) role: String,
    pub(crate) variables: Vec<String>,
    /// Variables that are images (data URLs): attached to the last message, not put into it.
    pub(crate) images: Vec<String>,
    pub(crate) max_tokens: u32,
    pub(crate) temperature: f32,
    pub(crate) stop: Vec<String>,
    pub(crate) schema: Option<Value>,
    /// The prompt whose worked examples are shown with this one, if it has none of its own.
    pub(crate) demonstrations: Option<String>,
}

/// One message to be, with the line it starts at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Section {
    pub(crate) role: String,
    pub(crate) source: String,
}

/// Splits a file; `base` gives the front matter of the shipped file that this one replaces.
pub(crate) fn parse_file(
    prompt: &str,
    file: &str,
    text: &str,
    base: Option<&Front>,
) -> Result<(Front, Vec<Section>), PromptError> {
    let fail = |line: usize, reason: String| PromptError {
        prompt: prompt.to_owned(),
        file: file.to_owned(),
        line: Some(line),
        reason,
    };
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let mut front = base.cloned().unwrap_or(Front {
        task: String::new(),
        role: String::new(),
        variables: vec![],
        images: vec![],
        max_tokens: 1024,
        temperature: 0.0,
        stop: vec![],
        schema: None,
        demonstrations: None,
    });
    let mut body = 0;
    if lines.first().is_some_and(|line| line.trim() == "---") {
        let end = (1..lines.len())
            .find(|&i| lines[i].trim() == "---")
            .ok_or_else(|| fail(1, "the front matter is not closed with `---`".into()))?;
        for (i, line) in lines.iter().enumerate().take(end).skip(1) {
            set(&mut front, line, base.is_some()).map_err(|reason| fail(i + 1, reason))?;
        }
        body = end + 1;
    }
    if front.task.is_empty() || front.role.is_empty() {
        return Err(fail(1, "the front matter names no `task` and `role`".into()));
    }
    let sections = sections(&lines, body);
    if sections.is_empty() {
        return Err(fail(body + 1, "there is no text after the front matter".into()));
    }
    Ok((front, sections))
}

/// A template without any role line is one user message.
fn sections(lines: &[&str], body: usize) -> Vec<Section> {
    let mut sections: Vec<Section> = vec![];
    for (i, line) in lines.iter().enumerate().skip(body) {
        let role = line.strip_prefix("## ").map(str::trim_end);
        if let Some(role @ ("system" | "user" | "assistant")) = role {
            // Leading newlines keep the line numbers of the template engine's errors right.
            sections.push(Section { role: role.into(), source: "\n".repeat(i + 1) });
            continue;
        }
        if sections.is_empty() {
            if line.trim().is_empty() {
                continue;
            }
            sections.push(Section { role: "user".into(), source: "\n".repeat(i) });
        }
        if let Some(last) = sections.last_mut() {
            last.source.push_str(line);
            last.source.push('\n');
        }
    }
    sections
}

/// The messages of a file of worked examples.
pub(crate) fn demonstrated(text: &str) -> Vec<Message> {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    let message = |Section { role, source }| Message { role, text: source.trim().to_owned() };
    sections(&lines, 0).into_iter().map(message).collect()
}

fn set(front: &mut Front, line: &str, overriding: bool) -> Result<(), String> {
    if line.trim().is_empty() || line.trim_start().starts_with('#') {
        return Ok(());
    }
    let (key, value) =
        line.split_once(':').ok_or_else(|| format!("`{line}` is not `key: value`"))?;
    let (key, value) = (key.trim(), value.trim());
    let value: Value =
        serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    let fits = |what: &str| format!("`{key}` is not {what}");
    match key {
        "task" => value.as_str().ok_or_else(|| fits("a word"))?.clone_into(&mut front.task),
        "role" => value.as_str().ok_or_else(|| fits("a word"))?.clone_into(&mut front.role),
        // An override is given the variables of the file it replaces, whatever it says.
        "variables" if overriding => {}
        "variables" => front.variables = strings(&value).ok_or_else(|| fits("a list of names"))?,
        "images" => front.images = strings(&value).ok_or_else(|| fits("a list of names"))?,
        "stop" => front.stop = strings(&value).ok_or_else(|| fits("a list of strings"))?,
        "max_tokens" => {
            let tokens = value.as_u64().and_then(|n| u32::try_from(n).ok());
            front.max_tokens = tokens.ok_or_else(|| fits("a whole number"))?;
        }
        "temperature" => {
            #[expect(clippy::cast_possible_truncation, reason = "0.7 is 0.7")]
            let temperature = value.as_f64().map(|t| t as f32);
            front.temperature = temperature.ok_or_else(|| fits("a number"))?;
        }
        "demonstrations" => {
            front.demonstrations = Some(value.as_str().ok_or_else(|| fits("a prompt"))?.to_owned());
        }
        "schema" => front.schema = Some(Shape(&value).schema()?),
        _ => {
            return Err(format!(
                "unknown key `{key}` (known: task, role, variables, images, max_tokens, \
                 temperature, stop, schema, demonstrations)"
            ));
        }
    }
    Ok(())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The shape of a reply as a person writes it, `{"answer": "string", "steps": ["string"]}`, which
/// stands for a JSON schema with every key required and no other allowed. `"string|null"` is a choice
/// of types, `"'yes'|'no'"` one of values; `"string<=400"` has at most 400 characters, and
/// `["string", 4]` at most 4 items.
pub struct Shape<'a>(pub &'a Value);

impl Shape<'_> {
    /// The JSON schema this shape stands for.
    pub fn schema(&self) -> Result<Value, String> {
        match self.0 {
            Value::String(kinds) => choice(kinds),
            Value::Array(items) => match items.as_slice() {
                [item] => Ok(json!({"type": "array", "items": Shape(item).schema()?})),
                [item, Value::Number(limit)] if limit.is_u64() => {
                    let items = Shape(item).schema()?;
                    Ok(json!({"type": "array", "items": items, "maxItems": limit}))
                }
                _ => Err("a list in `schema` holds one shape, and the maximum of items".into()),
            },
            Value::Object(fields) => {
                let mut properties = Map::new();
                for (name, field) in fields {
                    properties.insert(name.clone(), Shape(field).schema()?);
                }
                let required: Vec<&String> = fields.keys().collect();
                Ok(json!({
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": false,
                }))
            }
            other => Err(format!("`{other}` in `schema` is not a valid shape")),
        }
    }
}

/// `string|null` gives a choice of types, and `'up'|'down'|null` one of values.
fn choice(kinds: &str) -> Result<Value, String> {
    const TYPES: [&str; 5] = ["string", "integer", "number", "boolean", "null"];
    if let Some(limit) = kinds.strip_prefix("string<=") {
        let limit: u32 =
            limit.parse().map_err(|_| format!("`{limit}` in `schema` is no length"))?;
        return Ok(json!({"type": "string", "maxLength": limit}));
    }
    let literal = |kind: &str| Some(kind.strip_prefix('\'')?.strip_suffix('\'')?.to_owned());
    let (mut types, mut values) = (vec![], vec![]);
    for kind in kinds.split('|').map(str::trim) {
        if let Some(value) = literal(kind) {
            values.push(Value::String(value));
        } else if TYPES.contains(&kind) {
            types.push(kind);
        } else {
            return Err(format!(
                "`{kind}` in `schema` is none of {TYPES:?} and not in quotes ('')"
            ));
        }
    }
    if values.is_empty() {
        return Ok(json!({"type": if let [one] = types[..] { json!(one) } else { json!(types) }}));
    }
    match types[..] {
        [] => Ok(json!({"type": "string", "enum": values})),
        ["null"] => {
            values.push(Value::Null);
            Ok(json!({"type": ["string", "null"], "enum": values}))
        }
        _ => Err(format!("`{kinds}` in `schema`: only `null` can be a choice with values")),
    }
}

/// How a prompt shows its schema, where it says `{{ form }}`: types in the places of values, with
/// nothing that can be copied as content.
pub(crate) fn form(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => format!("[{}]", form(&schema["items"])),
        Value::String(kind) if kind == "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields = fields.map(|(name, field)| format!("\"{name}\": {}", form(field)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        kind => kind.as_str().unwrap_or("null").to_owned(),
    }
}

/// The first line on which a name stands as a whole word.
pub(crate) fn line_of(source: &str, name: &str) -> Option<usize> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    source.lines().position(|line| line.split(|c| !word(c)).any(|part| part == name)).map(|i| i + 1)
}

/// The names in `{% include "NAME" %}`, with the lines on which they stand.
pub(crate) fn includes(source: &str) -> Vec<(&str, usize)> {
    let mut names = vec![];
    for (at, tag) in source.match_indices("{%") {
        let tag = source[at + tag.len()..].trim_start_matches(['-', '+']).trim_start();
        let name = tag.strip_prefix("include").map(str::trim_start);
        let name =
            name.and_then(|rest| rest.strip_prefix('"')).and_then(|rest| rest.split_once('"'));
        if let Some((name, _)) = name {
            names.push((name, source[..at].matches('\n').count() + 1));
        }
    }
    names
}

/// The data URLs that these variables hold, one each or a list.
pub(crate) fn images(names: &[String], vars: &minijinja::Value) -> Vec<String> {
    let mut images = vec![];
    for name in names {
        let Ok(value) = vars.get_attr(name) else { continue };
        match value.as_str() {
            Some(one) => images.push(one.to_owned()),
            None => images.extend(
                value
                    .try_iter()
                    .into_iter()
                    .flatten()
                    .filter_map(|v| v.as_str().map(str::to_owned)),
            ),
        }
    }
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_a_choice_of_types_or_of_values() {
        let schema = |kinds: &str| Shape(&json!({"a": kinds})).schema();
        let field = |kinds: &str| schema(kinds).map(|schema| schema["properties"]["a"].clone());
        assert_eq!(field("string|null"), Ok(json!({"type": ["string", "null"]})));
        assert_eq!(field("'up'|'down'"), Ok(json!({"type": "string", "enum": ["up", "down"]})));
        let open = json!({"type": ["string", "null"], "enum": ["up", null]});
        assert_eq!(field("'up' | null"), Ok(open));
        for wrong in ["up", "'up'|number", "'up'|string", "'up", "", "string<=", "string<=-1"] {
            assert!(schema(wrong).unwrap_err().contains("in `schema`"), "{wrong}");
        }
    }

    #[test]
    fn a_shape_has_bounds_and_a_form() {
        let shape = json!({
            "why": "string<=400", "rows": [{"n": "integer", "kind": "'a'|'b'|null"}, 3],
            "score": "number|null", "names": ["string"],
        });
        let schema = Shape(&shape).schema().unwrap();
        assert_eq!(schema["properties"]["why"], json!({"type": "string", "maxLength": 400}));
        assert_eq!(schema["properties"]["rows"]["maxItems"], json!(3));
        let expected = r#"{"why": string, "rows": [{"n": integer, "kind": "a" | "b" | null}], "score": number | null, "names": [string]}"#;
        assert_eq!(form(&schema), expected);
        for wrong in [json!([]), json!(["string", "string"]), json!(["string", -1])] {
            assert!(Shape(&wrong).schema().is_err(), "{wrong}");
        }
    }
}
