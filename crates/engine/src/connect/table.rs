//! The table of a connected model, as it is added to a configuration file.
use std::path::{Path, PathBuf};

use halma_core::ConfigError;
use halma_net::address::is_loopback;

use super::discover::list_models;
use crate::config::{Config, ModelConfig, ModelKind};

/// A model to connect, as a user names it.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// The base of the server's API.
    pub url: String,
    pub model: String,
    /// The environment variable that holds the key; empty for servers without keys.
    pub key_env: String,
    pub key_file: Option<PathBuf>,
    /// A model file that llama.cpp's server is started for; there is no URL then.
    pub file: Option<PathBuf>,
}

impl Connection {
    /// Parses `URL/NAME`: `http://127.0.0.1:11434/v1/llama3.2:3b`. Without a name it is the only model
    /// that the server lists. A model file (`*.gguf`) is served by llama.cpp.
    pub async fn parse(written: &str) -> Result<Self, ConfigError> {
        let wrong = |reason: String, hint: &str| ConfigError {
            file: "--model".into(),
            key: written.to_owned(),
            reason,
            hint: hint.to_owned(),
        };
        let is_path = !written.contains("://");
        if is_path && Path::new(written).extension().is_some_and(|extension| extension == "gguf") {
            let file = std::path::absolute(written).ok().filter(|file| file.is_file());
            let hint = "name a model file (GGUF) that is there";
            let file = file.ok_or_else(|| wrong("there is no such file".into(), hint))?;
            return Ok(Self::of_file(file));
        }
        // A name may begin with `/` itself, as a path does.
        let (base, name) = match written.split_once("/v1/") {
            Some(parts) => parts,
            None => (written.trim_end_matches('/').trim_end_matches("/v1"), ""),
        };
        let url = format!("{base}/v1");
        let new = |name: &str| Self { url: url.clone(), model: name.to_owned(), ..Self::default() };
        if !name.is_empty() {
            return Ok(new(name));
        }
        let hint = "name the model after the address: http://127.0.0.1:11434/v1/NAME";
        let server = list_models(&url, "").await.map_err(|reason| wrong(reason, hint))?;
        match server.models.as_slice() {
            _ if server.loading => {
                let hint = "run the command again when the model is loaded, or name the model";
                Err(wrong("its server is loading its model".into(), hint))
            }
            [only] => Ok(new(&only.name)),
            [] => Err(wrong("its server lists no model".into(), hint)),
            models => {
                let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
                Err(wrong(format!("its server has several models: {}", names.join(", ")), hint))
            }
        }
    }

    fn of_file(file: PathBuf) -> Self {
        let model = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self { model, file: Some(file), ..Self::default() }
    }

    /// Where the model is, as a person reads it.
    pub fn place(&self) -> String {
        match &self.file {
            Some(file) => format!("in {}, served by llama.cpp", file.display()),
            None => format!("at {}", self.url),
        }
    }

    /// How the model is configured.
    pub fn config(&self) -> ModelConfig {
        ModelConfig {
            kind: match self.file {
                Some(_) => ModelKind::LlamaServer,
                None => ModelKind::Openai,
            },
            file: self.file.clone(),
            key_env: self.key_env.clone(),
            key_file: self.key_file.clone(),
            stream: self.is_local(),
            ..ModelConfig::new(self.url.clone(), self.model.clone())
        }
    }

    /// Whether the server is on this machine: small models run there, and a reply that repeats itself
    /// is cut off where it is read as it is generated.
    fn is_local(&self) -> bool {
        self.url.parse().is_ok_and(|url| is_loopback(&url))
    }

    /// The text of a configuration file with the table `[models.NAME]` added at its end; the rest stays
    /// as it is. A file that is not valid, or that has a model of this name, is refused.
    pub fn add_to(&self, text: &str, file: &str, name: &str) -> Result<String, ConfigError> {
        let wrong = |key: &str, reason: String, hint: &str| ConfigError {
            file: file.to_owned(),
            key: key.to_owned(),
            reason,
            hint: hint.to_owned(),
        };
        let read = |text: &str| {
            toml::from_str::<Config>(text).map_err(|e| {
                wrong("models", e.message().to_owned(), "correct the file, then connect the model")
            })
        };
        let before = read(text)?;
        if before.models.contains_key(name) {
            let reason = "there is a model of this name already".to_owned();
            let hint = "give the new one another name with `--name`, or change the table by hand";
            return Err(wrong(&format!("models.{name}"), reason, hint));
        }
        if before.models.len() == 1 && !before.roles.contains_key("default") {
            let reason = "the only model has all roles, which it would lose to the offline model";
            let hint = "write `default = \"NAME\"` under [roles], with the name of a model";
            return Err(wrong("roles", reason.to_owned(), hint));
        }
        let added = format!("{}\n\n{}", text.trim_end(), self.table(name));
        read(&added)?;
        Ok(added.trim_start().to_owned())
    }

    /// The table as TOML.
    pub fn table(&self, name: &str) -> String {
        let line = |key: &str, value: &str| format!("{key} = {}\n", toml::Value::from(value));
        let mut table = format!("[models.{name}]\n");
        table += &match &self.file {
            Some(file) => line("kind", "llama-server") + &line("file", &file.display().to_string()),
            None => line("url", &self.url) + &line("model", &self.model),
        };
        if !self.key_env.is_empty() {
            table += &line("key_env", &self.key_env);
        }
        if let Some(file) = &self.key_file {
            table += &line("key_file", &file.display().to_string());
        }
        if self.is_local() {
            table += "stream = true\n";
        }
        table
    }
}

/// The text of a configuration file in which the model `name` has the role of the reader alone, and few
/// passages to read. The text stays as it is where it gives roles already.
pub fn with_reader_only(text: &str, name: &str) -> String {
    let config: Config = toml::from_str(text).unwrap_or_default();
    if !config.roles.is_empty() {
        return text.to_owned();
    }
    let keys = format!(
        "# The model reads passages and writes answers. Rules do the other steps, since each call \
         takes\n# long here; without these lines the model does them.\ndefault = \
         \"extractive\"\nreader = {}\n",
        toml::Value::from(name)
    );
    let is_heading = |line: &&str| line.trim_start().starts_with("[roles]");
    let whole = match text.split_inclusive('\n').find(is_heading) {
        Some(heading) => text.replacen(heading, &format!("{heading}\n{keys}"), 1),
        None => format!("{}\n\n[roles]\n{keys}", text.trim_end()),
    };
    // Those that read in one call: a small model reads few passages better, and sooner.
    let reading =
        ["naive", "pike_l1"].into_iter().filter(|one| !config.strategy.contains_key(*one));
    let tables = reading.map(|one| format!("\n[strategy.{one}]\nchunks = 5\n"));
    whole + &tables.collect::<String>()
}

#[cfg(test)]
mod tests {
    use halma_testkit::double::{Behaviour, Double};

    use super::*;

    fn connection() -> Connection {
        Connection {
            url: "http://127.0.0.1:1/v1".into(),
            model: "org/m:3b \"q\"".into(),
            key_env: "KEY".into(),
            key_file: None,
            file: None,
        }
    }

    #[tokio::test]
    async fn an_address_names_a_model_or_has_only_one() {
        let named = Connection::parse("http://127.0.0.1:1/v1/org/m:3b").await.unwrap();
        assert_eq!(
            (named.url.as_str(), named.model.as_str()),
            ("http://127.0.0.1:1/v1", "org/m:3b")
        );
        let path = Connection::parse("http://127.0.0.1:1/v1//models/m.gguf").await.unwrap();
        assert_eq!(path.model, "/models/m.gguf");
        let double = Double::start(Behaviour::default());
        let whole = double.url();
        for written in [whole.as_str(), whole.trim_end_matches("/v1")] {
            let only = Connection::parse(written).await.unwrap();
            assert_eq!((only.url, only.model.as_str()), (double.url(), "double"));
        }
        let error = Connection::parse("none.gguf").await.unwrap_err();
        assert!(error.reason.contains("no such file"), "{error}");
        let error = Connection::parse("http://127.0.0.1:9/v1").await.unwrap_err();
        assert!(error.hint.contains("/v1/NAME"), "{error}");
    }

    #[test]
    fn a_model_file_is_served_by_llama_cpp() {
        let connection = Connection::of_file("/models/small q4.gguf".into());
        let config: Config = toml::from_str(&connection.table("main")).unwrap();
        let model = &config.models["main"];
        assert_eq!((model.kind, model.file.clone()), (ModelKind::LlamaServer, connection.file));
        assert_eq!((model.url.as_str(), model.model.as_str()), ("", ""));
    }

    #[test]
    fn a_slow_model_reads_only_unless_roles_are_given() {
        let text = connection().add_to("", "halma.toml", "main").unwrap();
        let config: Config = toml::from_str(&with_reader_only(&text, "main")).unwrap();
        assert_eq!(config.roles["reader"], "main");
        assert_eq!(config.roles["default"], "extractive");
        assert_eq!(config.strategy["naive"]["chunks"], 5.into());
        let configured = format!("{text}\n[strategy.naive]\nchunks = 9\n");
        let config: Config = toml::from_str(&with_reader_only(&configured, "main")).unwrap();
        assert_eq!(config.strategy["naive"]["chunks"], 9.into());
        assert_eq!(config.strategy["pike_l1"]["chunks"], 5.into());
        for heading in ["\n[roles]\n# reader = 1\n", "[roles] # mine\r\n", "[kb]\r\n[roles]\r\n"] {
            let whole = with_reader_only(&format!("{heading}{text}"), "main");
            let config: Config = toml::from_str(&whole).unwrap();
            assert_eq!(config.roles["reader"], "main", "{heading}");
        }
        let end = with_reader_only(&format!("{text}[roles]"), "main");
        assert!(toml::from_str::<Config>(&end).is_ok_and(|config| config.roles.len() == 2));
        let given = format!("[roles]\ndefault = \"main\"\n{text}");
        assert_eq!(with_reader_only(&given, "main"), given);
    }

    #[test]
    fn a_table_is_added_and_the_rest_stays() {
        let text = "# mine\n[kb]\natoms = \"none\" # none\n";
        let added = connection().add_to(text, "halma.toml", "main").unwrap();
        assert!(added.starts_with(text), "{added}");
        let config: Config = toml::from_str(&added).unwrap();
        assert_eq!(config.models["main"].model, connection().model);
        assert_eq!(config.models["main"].key_env, "KEY");
        let twice = connection().add_to(&added, "halma.toml", "main").unwrap_err();
        assert!(twice.hint.contains("--name"), "{twice}");
        let second = connection().add_to(&added, "halma.toml", "second").unwrap_err();
        assert!(second.key == "roles" && second.hint.contains("default"), "{second}");
        let roles = format!("{added}[roles]\ndefault = \"main\"\n");
        assert!(connection().add_to(&roles, "halma.toml", "second").is_ok());
        let broken = connection().add_to("[kb\n", "halma.toml", "main").unwrap_err();
        assert_eq!(broken.file, "halma.toml");
        assert!(connection().add_to("", "halma.toml", "a b").is_err());
    }
}
