//! `extra` of a model: fields of its server's own, which go into every request.
use halma_core::ConfigError;

use super::Config;
use super::load::Places;

/// What Halma writes into a request itself.
const OURS: [&str; 10] = [
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
pub(super) fn check(config: &Config, places: &Places<'_>) -> Result<(), ConfigError> {
    for (name, model) in &config.models {
        if let Some(field) = model.extra.keys().find(|field| OURS.contains(&field.as_str())) {
            let key = format!("models.{name}.extra.{field}");
            let reason = format!("Halma writes `{field}` into every request itself");
            return Err(places.error(&key, reason, "delete this field of `extra`"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::load::load;

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
