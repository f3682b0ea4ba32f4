//! From `halma.toml` and command-line flags to a [`Config`], with the origin of each value.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use halma_core::{ConfigError, plain_message};
use halma_kb::TableTarget;
use toml::{Table, Value};

use super::{Config, EmbedderKind, OFFLINE, Precision, ROLES, level, ranges};

/// A configuration, and the origin of each of its values by dotted key.
#[derive(Clone)]
pub struct Loaded {
    pub config: Config,
    pub origins: BTreeMap<String, String>,
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
}

/// Values from the command line: dotted key, value, the flag they came from.
pub type Flags = Vec<(String, Value, String)>;

/// Reads `file`, or `halma.toml` in the working folder if there is one, then applies the flags.
pub fn load(file: Option<&Path>, flags: Flags) -> Result<Loaded, ConfigError> {
    let default = Path::new("halma.toml");
    let file = file.or_else(|| default.is_file().then_some(default));
    let mut origins = BTreeMap::new();
    let mut table = Table::new();
    if let Some(file) = file {
        let text = read(file)?;
        // Parsed without the flags first, so that an error knows its line.
        toml::from_str::<Config>(&text).map_err(|e| in_file(file, &text, &e))?;
        table = toml::from_str(&text).map_err(|e| in_file(file, &text, &e))?;
        let origin = |(key, _)| (key, file.display().to_string());
        origins.extend(leaves("", &table).into_iter().map(origin));
    }
    for (key, value, flag) in flags {
        let path: Vec<&str> = key.split('.').collect();
        put(&mut table, &path, value);
        origins.insert(key, flag);
    }
    let name = file.map_or_else(|| "halma.toml".into(), |file| file.display().to_string());
    ranges::check_finite(&table, &Places { file: &name, origins: &origins })?;
    level::apply(&mut table, &mut origins)?;
    let mut config: Config =
        Value::Table(table.clone()).try_into().map_err(|e: toml::de::Error| {
            let key = key_of(&e);
            let file = origins.get(&key).cloned().unwrap_or_else(|| "flags".into());
            value_error(file, key, e.message())
        })?;
    check(&config, &name)?;
    let places = Places { file: &name, origins: &origins };
    ranges::check(&table, &config, &places)?;
    check_extra(&config, &places)?;
    check_hosts(&config, &places)?;
    config.file = name;
    let loaded = Loaded { config, origins, file: file.map(Path::to_owned) };
    check_servers(&loaded)?;
    Ok(loaded)
}

/// Where values were written, for errors.
pub(super) struct Places<'a> {
    file: &'a str,
    origins: &'a BTreeMap<String, String>,
}

impl Places<'_> {
    /// An error about the value of a key.
    pub(super) fn error(&self, key: &str, reason: String, hint: &str) -> ConfigError {
        let file = self.origins.get(key).map_or(self.file, String::as_str).to_owned();
        ConfigError { file, key: key.to_owned(), reason, hint: hint.to_owned() }
    }
}

fn read(file: &Path) -> Result<String, ConfigError> {
    std::fs::read_to_string(file).map_err(|e| ConfigError {
        file: file.display().to_string(),
        key: String::new(),
        reason: e.to_string(),
        hint: "write one with `halma init`, or omit `--config` for the defaults".into(),
    })
}

fn in_file(file: &Path, text: &str, error: &toml::de::Error) -> ConfigError {
    let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
    let file = match line {
        Some(line) => format!("{}:{line}", file.display()),
        None => file.display().to_string(),
    };
    let (message, key) = (error.message(), key_of(error));
    value_error(file, key, message)
}

/// What to do about a wrong value.
pub(super) const VALUES_HINT: &str = "`halma config show --all` lists every key with its value; \
                                      `halma init` writes a commented file";

/// What people write for a key that has another name or place, and what to do.
const INSTEAD: [(&str, &str); 4] = [
    ("api_key", "put the key into an environment variable, and name that by `key_env = \"NAME\"`"),
    ("base_url", "write `url = \"https://host/v1\"`"),
    ("host", "write `addr = \"127.0.0.1:8765\"`, the address and the port"),
    ("port", "write `addr = \"127.0.0.1:8765\"`, the address and the port"),
];

fn value_error(file: String, key: String, message: &str) -> ConfigError {
    let reason = plain_message(message.strip_prefix(&format!("`{key}`: ")).unwrap_or(message));
    let Some(rest) = reason.strip_prefix(&format!("unknown field `{key}`; ")) else {
        return ConfigError { file, key, reason, hint: VALUES_HINT.to_owned() };
    };
    let instead = INSTEAD.into_iter().find(|(other, _)| *other == key);
    let (rest, hint) = if let Some((_, instead)) = instead {
        (String::new(), instead)
    } else {
        let hint = "correct the key or delete the line; `halma config show --all` lists every key";
        (format!("; {}", rest.replace("the fields are", "the keys are")), hint)
    };
    ConfigError { file, key, reason: format!("there is no such key{rest}"), hint: hint.to_owned() }
}

/// The key that an error is about: the one that its message begins with, or else that of the value.
fn key_of(error: &toml::de::Error) -> String {
    let names_key = ["`", "unknown field `", "missing field `"];
    let message = error.message();
    let named = quoted(message).filter(|_| names_key.iter().any(|key| message.starts_with(key)));
    // Only the text of an error without its input has the path of the value.
    let mut error = error.clone();
    error.set_input(None);
    let text = error.to_string();
    let path = || Some(text.trim_end().rsplit_once("\nin `")?.1.trim_end_matches('`').to_owned());
    named.or_else(path).unwrap_or_default()
}

/// The first word in backticks of a message.
fn quoted(message: &str) -> Option<String> {
    let key = |word: &&str| word.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
    message.split('`').nth(1).filter(key).map(str::to_owned)
}

pub(super) fn put(table: &mut Table, path: &[&str], value: Value) {
    match path {
        [] => {}
        [key] => {
            table.insert((*key).to_owned(), value);
        }
        [key, rest @ ..] => {
            let inner = table.entry(*key).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// The values of a table and of the tables in it, by their whole keys.
pub(super) fn leaves<'a>(prefix: &str, table: &'a Table) -> Vec<(String, &'a Value)> {
    let mut all = vec![];
    for (key, value) in table {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            Value::Table(inner) => all.extend(leaves(&key, inner)),
            _ => all.push((key, value)),
        }
    }
    all
}

/// The smallest limit of a cache, in bytes.
const LEAST_CACHE: u64 = 1_000_000;

/// Checks that names refer to something, which types cannot express.
fn check(config: &Config, file: &str) -> Result<(), ConfigError> {
    let fail = |key: String, reason: String, hint: String| ConfigError {
        file: file.to_owned(),
        key,
        reason,
        hint,
    };
    for (role, model) in &config.roles {
        if !ROLES.contains(&role.as_str()) {
            let hint = format!("the roles are {}", ROLES.join(", "));
            return Err(fail(format!("roles.{role}"), "there is no such role".into(), hint));
        }
        if model != OFFLINE && !config.models.contains_key(model) {
            let mut names: Vec<&str> = config.models.keys().map(String::as_str).collect();
            names.push(OFFLINE);
            let hint = format!("add a table [models.{model}], or use one of: {}", names.join(", "));
            let reason = format!("there is no model `{model}`");
            return Err(fail(format!("roles.{role}"), reason, hint));
        }
    }
    if let Some(problem) = TableTarget::problem(&config.kb.tables_of) {
        let hint = "give every table and every column a name of its own";
        return Err(fail("kb.tables_of".into(), problem, hint.into()));
    }
    if config.cache.max_bytes < LEAST_CACHE {
        let reason = "the cache would hold hardly a reply, and most calls would be paid for again";
        let hint = format!("give at least {LEAST_CACHE} bytes");
        return Err(fail("cache.max_bytes".into(), reason.into(), hint));
    }
    Ok(())
}

/// What Halma writes into a request itself: a model's `extra` cannot have these fields.
const OWN_FIELDS: [&str; 10] = [
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "response_format",
    "logprobs",
    "stream",
    "stream_options",
    "n",
];

/// Refuses fields that Halma writes itself.
fn check_extra(config: &Config, places: &Places<'_>) -> Result<(), ConfigError> {
    for (name, model) in &config.models {
        if let Some(field) = model.extra.keys().find(|field| OWN_FIELDS.contains(&field.as_str())) {
            let key = format!("models.{name}.extra.{field}");
            let reason = format!("Halma writes `{field}` into every request itself");
            return Err(places.error(&key, reason, "delete this field of `extra`"));
        }
    }
    Ok(())
}

/// Refuses names of hosts that no request can have: they are compared without scheme, port and path.
fn check_hosts(config: &Config, places: &Places<'_>) -> Result<(), ConfigError> {
    let is_name = |host: &str| {
        let is_address = host.starts_with('[') && host.ends_with(']');
        let has_other =
            |c: char| c.is_whitespace() || "/@?#*".contains(c) || c == ':' && !is_address;
        !host.is_empty() && !host.contains(has_other)
    };
    match config.serve.hosts.iter().find(|host| !is_name(host)) {
        None => Ok(()),
        Some(wrong) => Err(places.error(
            "serve.hosts",
            format!("`{wrong}` is not the name of a host"),
            "write names without scheme, port and path, such as \"halma.example.org\"",
        )),
    }
}

/// Refuses the address of a server that is not asked because no `kind` says so, which is easily
/// forgotten, and a precision that the server decides: something else would be used without a word.
fn check_servers(loaded: &Loaded) -> Result<(), ConfigError> {
    let Config { embedder, reranker, models, .. } = &loaded.config;
    let wrong = |key: &str, reason: &str, hint: &str| ConfigError {
        file: loaded.config.file.clone(),
        key: key.to_owned(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    };
    for (name, model) in models {
        model
            .check()
            .map_err(|(key, reason, hint)| wrong(&format!("models.{name}{key}"), reason, hint))?;
    }
    if embedder.kind == EmbedderKind::Endpoint && embedder.precision == Precision::Int8 {
        let reason = "it is that of the local embedder; a server decides its own";
        let hint = "delete the line, or write `kind = \"local\"`";
        return Err(wrong("embedder.precision", reason, hint));
    }
    for (table, url) in [("embedder", &embedder.url), ("reranker", &reranker.url)] {
        if !url.is_empty() && !loaded.origins.contains_key(&format!("{table}.kind")) {
            let reason = format!("no `kind` under [{table}] says that this server is used");
            return Err(wrong(&format!("{table}.url"), &reason, "add `kind = \"endpoint\"`"));
        }
    }
    Ok(())
}

/// The value of a flag as TOML, or as a string when it is not valid TOML.
pub fn flag_value(text: &str) -> Value {
    toml::from_str::<Table>(&format!("v = {text}"))
        .ok()
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A setting from JSON in the form of `--set`.
pub fn flag_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Result<Loaded, ConfigError> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("halma.toml");
        std::fs::write(&file, text).unwrap();
        load(Some(&file), vec![])
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let error = load_text("[kb]\natoms = \"none\"\nchunk_size = 3\n").err().unwrap();
        assert!(error.file.ends_with("halma.toml:3"), "{error}");
        assert_eq!(error.key, "chunk_size");
        assert!(error.hint.contains("config show"));
    }

    #[test]
    fn a_value_of_another_type_is_named_by_its_key_and_in_words() {
        for (text, key, words) in [
            ("ask = 3\n", "ask", "must be a table"),
            ("[serve]\nhosts = \"x\"\n", "serve.hosts", "must be a list"),
            ("[kb]\nchunk_chars = \"many\"\n", "kb.chunk_chars", "must be a whole number"),
            ("[ask]\ncheck_claims = \"x\"\n", "ask.check_claims", "must be"),
        ] {
            let error = load_text(text).err().unwrap();
            assert_eq!(error.key, key, "{error}");
            assert!(error.reason.contains(words), "{error}");
            for name in ["struct", "AskConfig", "usize", "enum"] {
                assert!(!error.reason.contains(name), "{error}");
            }
        }
        let flag = ("serve.hosts".to_owned(), flag_value("x"), "--hosts".to_owned());
        let error = load(Some("/dev/null".as_ref()), vec![flag]).err().unwrap();
        assert_eq!((error.file.as_str(), error.key.as_str()), ("--hosts", "serve.hosts"));
    }

    #[test]
    fn a_host_is_a_name_without_scheme_port_and_path() {
        let hosts = |host: &str| load_text(&format!("[serve]\nhosts = [\"{host}\"]\n"));
        for host in ["halma.example.org", "halma", "10.0.0.1", "[::1]"] {
            assert!(hosts(host).is_ok(), "{host}");
        }
        for host in ["http://x", "x:80", "x/y", "", "a b"] {
            let error = hosts(host).err().unwrap();
            assert_eq!(error.key, "serve.hosts", "{host}");
            assert!(error.file.ends_with("halma.toml"), "{error}");
        }
    }

    #[test]
    fn a_limit_that_cannot_be_reached_is_refused_with_its_line() {
        for wrong in ["usd = -1", "usd = nan", "usd = inf", "seconds = -0.5", "seconds = 1e12"] {
            let key = wrong.split(' ').next().unwrap();
            let error = load_text(&format!("[budget.ask]\n{wrong}\n")).err().unwrap();
            assert!(error.file.ends_with("halma.toml:2"), "{error}");
            assert_eq!(error.key, key);
            assert!(error.reason.ends_with("omit a limit that does not matter"), "{error}");
        }
        let error = load_text("[budget.ask]\ncalls = \"many\"\n").err().unwrap();
        assert_eq!(error.reason, "must be a whole number, not \"many\"");
        let config = load_text("[budget.index]\nusd = 0\nseconds = 90\n").unwrap().config;
        assert_eq!((config.budget.index.usd, config.budget.index.seconds), (Some(0.0), Some(90.0)));
    }

    #[test]
    fn tables_of_one_relation_are_refused() {
        let table = |relation: &str| format!("{{ relation = \"{relation}\", head = \"a\" }}");
        let both = format!("[{}, {}]", table("founder of"), table("Founder of"));
        let error = load_text(&format!("[kb]\ntables_of = {both}\n")).err().unwrap();
        assert_eq!(error.key, "kb.tables_of");
        assert!(error.reason.contains("of two entries"), "{error}");
        let column =
            "{ relation = \"a\", head = \"b\", columns = [{ name = \"c\", type = \"day\" }] }";
        let error = load_text(&format!("[kb]\ntables_of = [{column}]\n")).err().unwrap();
        assert_eq!(error.key, "kb.tables_of.columns.type", "{error}");
    }

    #[test]
    fn a_role_with_an_unknown_model_says_what_to_add() {
        let error = load_text("[roles]\nreader = \"big\"\n").err().unwrap();
        assert_eq!(error.key, "roles.reader");
        assert!(error.hint.contains("[models.big]"), "{}", error.hint);
    }

    #[test]
    fn a_server_that_would_not_be_asked_is_refused() {
        let url = "url = \"http://127.0.0.1:1/v1\"\n";
        let endpoint = format!("[embedder]\nkind = \"endpoint\"\n{url}");
        assert!(load_text(&endpoint).is_ok());
        assert!(load_text(&endpoint.replace("endpoint", "none")).is_ok());
        for table in ["embedder", "reranker"] {
            let error = load_text(&format!("[{table}]\n{url}")).err().unwrap();
            assert_eq!(error.key, format!("{table}.url"));
            assert!(error.hint.contains("kind = \"endpoint\""), "{error}");
        }
    }

    #[test]
    fn a_precision_that_the_server_decides_is_refused() {
        let local = "[embedder]\nkind = \"local\"\nprecision = \"int8\"\n";
        assert!(load_text(local).is_ok());
        let error = load_text(&local.replace("local", "endpoint")).err().unwrap();
        assert_eq!(error.key, "embedder.precision");
    }

    #[test]
    fn flags_override_the_file_and_origins_are_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("halma.toml");
        std::fs::write(&file, "[strategy.kar3]\nn = 3\nk = 2\n").unwrap();
        let flags = vec![("strategy.kar3.n".into(), flag_value("7"), "--set".into())];
        let loaded = load(Some(&file), flags).unwrap();
        assert_eq!(loaded.config.strategy["kar3"]["n"], Value::Integer(7));
        assert_eq!(loaded.config.strategy["kar3"]["k"], Value::Integer(2));
        assert_eq!(loaded.origins["strategy.kar3.n"], "--set");
        assert!(loaded.origins["strategy.kar3.k"].ends_with("halma.toml"));
    }

    #[test]
    fn a_single_model_gets_every_role() {
        let loaded = load_text("[models.m]\nurl = \"http://x/v1\"\nmodel = \"m1\"\n").unwrap();
        assert_eq!(loaded.config.model_of("reader"), "m");
        assert_eq!(Config::default().model_of("reader"), OFFLINE);
    }

    #[test]
    fn flag_values_are_toml_or_plain_words() {
        assert_eq!(flag_value("5"), Value::Integer(5));
        assert_eq!(flag_value("true"), Value::Boolean(true));
        assert_eq!(flag_value("chunks"), Value::String("chunks".into()));
        assert_eq!(flag_value("\"5\""), Value::String("5".into()));
    }

    #[test]
    fn extra_fields_are_read_and_those_of_halma_refused() {
        let loaded = |extra: &str| {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join("halma.toml");
            let model = "[models.small]\nurl = \"http://localhost:1/v1\"\nmodel = \"m\"\n";
            std::fs::write(&file, format!("{model}extra = {extra}\n")).unwrap();
            load(Some(&file), vec![])
        };
        let fields = "{ temperature = 0.6, chat_template_kwargs = { enable_thinking = false } }";
        let config = loaded(fields).unwrap().config;
        let extra = &config.models["small"].extra;
        assert_eq!(extra["chat_template_kwargs"]["enable_thinking"], false);
        let error = loaded("{ messages = [] }").err().unwrap();
        assert_eq!(error.key, "models.small.extra.messages");
        assert!(loaded("[1]").is_err());
    }
}
