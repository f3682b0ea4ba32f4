//! The trained heads of the offline model, if it is used and the weights are there.
use std::sync::Arc;

use halma_core::PassageReader;
use halma_models::embed::minilm::{MiniLm, locate};
use halma_models::{Heads, HeadsError, HeadsFile};

use super::Opened;
use crate::config::{Config, EmbedderKind, OFFLINE, ROLES};

/// The heads, or none with the reason why the offline model works by rules alone.
pub(crate) fn heads(
    config: &Config,
    local: Option<&MiniLm>,
) -> Opened<Option<Arc<dyn PassageReader>>> {
    let used = ROLES.iter().any(|role| config.model_of(role) == OFFLINE);
    if !used || !config.offline.heads {
        return Opened { value: None, warning: None };
    }
    match open(config, local) {
        Ok(heads) => {
            let value = heads.map(|heads| Arc::new(heads) as Arc<dyn PassageReader>);
            Opened { value, warning: None }
        }
        Err(error) => {
            let turn_off = "`heads = false` under [offline] turns this warning off";
            let warning =
                format!("the offline model reads by its rules alone: {error}. {turn_off}");
            Opened { value: None, warning: Some(warning) }
        }
    }
}

/// None where there are no weights: then the embedder says so.
fn open(config: &Config, local: Option<&MiniLm>) -> Result<Option<Heads>, HeadsError> {
    let base = match (local, config.embedder.kind) {
        (Some(base), _) => base.clone(),
        (None, EmbedderKind::Local) => return Ok(None),
        (None, EmbedderKind::Endpoint | EmbedderKind::None) => match locate(None) {
            Ok(folder) => MiniLm::open(&folder, None)?,
            Err(_) => return Ok(None),
        },
    };
    let file = match &config.offline.heads_path {
        Some(path) => HeadsFile::read(path)?,
        None => HeadsFile::built_in()?,
    };
    Heads::new(file, &base).map(Some)
}
