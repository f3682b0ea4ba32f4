//! The keys of the configuration: their names as the parser knows them, their defaults as the types
//! have them, their texts from `keys.toml`.
use std::collections::BTreeMap;

use halma_engine::Config;
use serde::Deserialize;
use serde_json::Value;

const TEXTS: &str = include_str!("keys.toml");

/// A configuration in which every optional table exists, so that its defaults can be read.
const COMPLETE: &str =
    "[sources.web]\nkind = \"searxng\"\n[models.NAME]\nurl = \"\"\nmodel = \"\"\n";

/// A table of the configuration.
pub(super) struct Table {
    /// Dotted, without brackets; empty for the top level.
    pub(super) path: &'static str,
    /// The table of `keys.toml` with the texts.
    pub(super) texts: &'static str,
    /// Whether the template has the heading as a comment, since the table may be absent.
    pub(super) optional: bool,
}

impl Table {
    const fn new(path: &'static str) -> Self {
        Self { path, texts: path, optional: false }
    }
}

pub(super) const TABLES: &[Table] = &[
    Table::new(""),
    Table::new("ask"),
    Table::new("kb"),
    Table::new("kb.reading"),
    Table::new("kb.search"),
    Table::new("kb.vectors"),
    Table::new("kb.graph"),
    Table::new("feedback"),
    Table::new("embedder"),
    Table::new("reranker"),
    Table::new("tagger"),
    Table::new("sources"),
    Table::new("sources.text"),
    Table { path: "sources.web", texts: "sources.web", optional: true },
    Table::new("kg"),
    Table { path: "models.NAME", texts: "models.NAME", optional: true },
    Table::new("roles"),
    Table::new("offline"),
    Table { path: "budget.ask", texts: "budget", optional: false },
    Table { path: "budget.index", texts: "budget", optional: false },
    Table { path: "budget.eval", texts: "budget", optional: false },
    Table::new("cache"),
    Table::new("serve"),
    Table::new("telemetry"),
];

/// A key with everything that a reader wants to know.
pub(super) struct Key {
    pub(super) name: String,
    pub(super) text: String,
    /// As TOML; `None` when the key has no default.
    pub(super) default: Option<String>,
    /// As TOML, for keys without a default.
    pub(super) example: Option<String>,
    pub(super) required: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    /// What a table is for, by path.
    about: BTreeMap<String, String>,
    /// What a key does, by table and name.
    keys: BTreeMap<String, BTreeMap<String, String>>,
    /// Examples by dotted path.
    examples: BTreeMap<String, toml::Value>,
    /// Dotted paths.
    required: Vec<String>,
}

impl Texts {
    pub(super) fn read() -> Self {
        toml::from_str(TEXTS).unwrap()
    }

    pub(super) fn about(&self, table: &Table) -> &str {
        self.about.get(table.path).map_or("", String::as_str)
    }

    /// The keys of a table in the order of the code.
    pub(super) fn keys(&self, table: &Table) -> Vec<Key> {
        let config: Config = toml::from_str(COMPLETE).unwrap();
        let config = serde_json::to_value(config).unwrap();
        let defaults = table.path.split('.').filter(|part| !part.is_empty());
        let defaults = defaults.fold(&config, |value, part| &value[part]);
        let texts = &self.keys[table.texts];
        let names: Vec<String> =
            names(table.path).into_iter().filter(|name| !is_table(table.path, name)).collect();
        let superfluous: Vec<_> = texts.keys().filter(|name| !names.contains(name)).collect();
        assert!(superfluous.is_empty(), "keys.toml: [{}] has no {superfluous:?}", table.path);
        let key = |name: String| {
            let path = format!("{}.{name}", table.path);
            let path = path.trim_start_matches('.');
            let text = texts.get(&name).unwrap_or_else(|| panic!("keys.toml: {path} has no text"));
            let required = self.required.iter().any(|required| required == path);
            let default = literal(&defaults[&name]).filter(|_| !required && table.path != "roles");
            let example = self.examples.get(path).map(ToString::to_string);
            assert!(default.is_some() || example.is_some(), "keys.toml: {path} has no example");
            Key { text: text.clone(), default, example, required, name }
        };
        names.into_iter().map(key).collect()
    }
}

/// The keys of a table in the words of the parser, which refuses any other.
fn names(table: &str) -> Vec<String> {
    if table == "roles" {
        return halma_engine::ROLES.iter().map(ToString::to_string).collect();
    }
    let heading = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
    let error = toml::from_str::<Config>(&format!("{heading}__ = 0\n")).unwrap_err();
    expected(error.message())
}

/// The names in backticks that a parser lists after those of the wrong field.
pub(super) fn expected(message: &str) -> Vec<String> {
    let list = message.split_once("expected ").or_else(|| message.split_once("the fields are "));
    let (_, list) = list.unwrap_or_else(|| panic!("{message}"));
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a key is a table with a section of its own.
fn is_table(table: &str, key: &str) -> bool {
    let path = format!("{table}.{key}");
    let path = path.trim_start_matches('.');
    let below = |other: &str| other == path || other.starts_with(&format!("{path}."));
    path == "strategy" || TABLES.iter().any(|other| below(other.path))
}

/// A value as TOML; `None` for `null`, and for an empty string, which stands for no value.
pub(super) fn literal(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) if text.is_empty() => return None,
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Number(number) if number.is_f64() => float(number.as_f64()?),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(literal).collect();
            format!("[{}]", items?.join(", "))
        }
        Value::Object(fields) => {
            let field = |(name, value)| Some(format!("{name} = {}", literal(value)?));
            let fields: Vec<String> = fields.iter().filter_map(field).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    })
}

/// The shortest form, also of a number that the code holds in single precision.
fn float(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let single = number as f32;
    #[expect(clippy::float_cmp, reason = "whether nothing is lost")]
    let exact = f64::from(single) == number;
    if exact { format!("{single:?}") } else { format!("{number:?}") }
}
