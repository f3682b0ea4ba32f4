//! Commands that call no server need none of the keys that the configuration names.
use super::Config;

impl Config {
    /// For commands that ask no model: where the variable with a model's key is not set, or a file
    /// holds the key, the model is configured without one.
    #[must_use]
    pub fn without_unset_model_keys(mut self) -> Self {
        for model in self.models.values_mut() {
            forget_unset(&mut model.key_env);
            model.key_file = None;
        }
        self
    }

    /// For commands that read a base and call no server: likewise of the embedder, the reranker, the
    /// web and the knowledge graph.
    #[must_use]
    pub fn without_unset_keys(self) -> Self {
        let mut config = self.without_unset_model_keys();
        let web = config.sources.web.as_mut().map(|web| &mut web.key_env);
        let others =
            [&mut config.embedder.key_env, &mut config.reranker.key_env, &mut config.kg.key_env];
        others.into_iter().chain(web).for_each(forget_unset);
        config
    }
}

fn forget_unset(variable: &mut String) {
    if std::env::var_os(&*variable).is_none() {
        variable.clear();
    }
}
