//! Roles that an administrator has assigned to models over HTTP. They are stored in a file of the base
//! and take precedence over the configuration.
use std::collections::BTreeMap;
use std::path::Path;

use halma_engine::{Config, Engine, OFFLINE, ROLES, replace_file};

use crate::problem::Problem;

const FILE: &str = "roles.json";

pub(crate) type Roles = BTreeMap<String, String>;

/// The configuration with these roles assigned. A role or a model that does not exist is refused.
pub(crate) fn assign(config: &Config, roles: &Roles) -> Result<Config, Problem> {
    let mut config = config.clone();
    for (role, model) in roles {
        if !ROLES.contains(&role.as_str()) {
            return Err(Problem::unfit(format!("there is no role `{role}`"))
                .hint(format!("the roles are {}", ROLES.join(", "))));
        }
        if model != OFFLINE && !config.models.contains_key(model) {
            return Err(Problem::unfit(format!("there is no model `{model}`"))
                .hint("GET /api/v1/models lists the models; [models] in halma.toml names more"));
        }
        config.roles.insert(role.clone(), model.clone());
    }
    Ok(config)
}

/// Replaces the assignment in the folder of the base.
pub(crate) fn write(dir: &Path, all: &Roles) -> Result<(), Problem> {
    let text = serde_json::to_vec_pretty(all).map_err(|e| Problem::internal(&e))?;
    replace_file(&dir.join(FILE), &text).map_err(|e| Problem::io(&e))
}

/// The engine with the roles that are stored.
pub(crate) fn restore(engine: Engine, dir: &Path) -> Result<Engine, Problem> {
    let config = with_stored(engine.config(), dir)?;
    let is_changed = config.roles != engine.config().roles;
    Ok(if is_changed { engine.with_prompts(&config)? } else { engine })
}

/// The configuration with the roles that are stored.
pub(crate) fn with_stored(config: &Config, dir: &Path) -> Result<Config, Problem> {
    Ok(with_roles(config, &read(dir)?))
}

/// The configuration with these roles. Those of models that this server does not have are left out.
pub(crate) fn with_roles(config: &Config, roles: &Roles) -> Config {
    let mut config = config.clone();
    for (role, model) in roles {
        match assign(&config, &Roles::from([(role.clone(), model.clone())])) {
            Ok(assigned) => config = assigned,
            Err(problem) => {
                tracing::warn!("{role} = {model} is ignored on this server: {}", problem.detail);
            }
        }
    }
    config
}

/// The assignment in the folder of the base.
pub(crate) fn read(dir: &Path) -> Result<Roles, Problem> {
    match std::fs::read(dir.join(FILE)) {
        Ok(text) => serde_json::from_slice(&text).map_err(|e| Problem::internal(&e)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Roles::new()),
        Err(e) => Err(Problem::internal(&e)),
    }
}
