//! The parameters of an address: ours are taken out, the others are for the driver.
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::wrong;
use crate::pg::PgError;

/// Characters of a workspace's name.
const LONGEST_NAME: usize = 200;
/// More connections of one program than any server is set up for.
const LARGEST_POOL: usize = 1_000;

pub(super) struct OwnParameters {
    /// The address without our parameters.
    pub(super) rest: String,
    pub(super) workspace: Option<String>,
    pub(super) keys: Option<PathBuf>,
    pub(super) sslmode: Option<String>,
    pub(super) sslrootcert: Option<PathBuf>,
    pub(super) pool: Option<usize>,
}

impl OwnParameters {
    pub(super) fn split(text: &str) -> Result<Self, PgError> {
        let (start, parameters) = text.split_once('?').unwrap_or((text, ""));
        let mut split = Self {
            rest: start.to_owned(),
            workspace: None,
            keys: None,
            sslmode: None,
            sslrootcert: None,
            pool: None,
        };
        let mut others = vec![];
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let decoded = percent_decode_str(value).decode_utf8().map_err(|_| {
                wrong(&format!("has a `{name}` that is not UTF-8"), "write it in UTF-8")
            })?;
            match name {
                "workspace" => split.workspace = Some(workspace(&decoded)?),
                "keys" if decoded.is_empty() => {
                    return Err(wrong("has an empty `keys`", "name the folder of the keys"));
                }
                // Machines of one base start in different folders, as do commands on one of them.
                "keys" if Path::new(&*decoded).is_relative() => {
                    let reason = format!("has `keys={decoded}`, which is a relative path");
                    return Err(wrong(&reason, "begin it with `/`"));
                }
                "keys" => split.keys = Some(PathBuf::from(&*decoded)),
                "sslmode" => split.sslmode = Some(decoded.into_owned()),
                "sslrootcert" => split.sslrootcert = Some(PathBuf::from(&*decoded)),
                "pool" => split.pool = Some(pool(&decoded)?),
                _ => others.push(parameter),
            }
        }
        if !others.is_empty() {
            split.rest = format!("{start}?{}", others.join("&"));
        }
        Ok(split)
    }
}

fn workspace(name: &str) -> Result<String, PgError> {
    let fits = !name.trim().is_empty() && name.chars().count() <= LONGEST_NAME;
    if fits && !name.contains(char::is_control) {
        return Ok(name.to_owned());
    }
    Err(wrong("has a `workspace` that cannot be a name", "give 1 to 200 printable characters"))
}

fn pool(number: &str) -> Result<usize, PgError> {
    let parsed = number.parse().ok().filter(|pool| (2..=LARGEST_POOL).contains(pool));
    parsed.ok_or_else(|| {
        wrong(&format!("has `pool={number}`"), "give a number of connections from 2 to 1000")
    })
}
