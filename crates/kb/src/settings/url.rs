//! The base that the configuration names.
use std::fmt;

use serde::{Deserialize, Serialize};

/// A folder or an address, as `--kb` has it. An address may hold a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// With its password.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Without its password.
    pub fn shown(&self) -> String {
        let Some((scheme, rest)) = self.0.split_once("://") else { return self.0.clone() };
        let (server, parameters) = match rest.split_once('?') {
            Some((server, parameters)) => (server, Some(parameters)),
            None => (rest, None),
        };
        let mut shown = format!("{scheme}://{}", without_password(server));
        let others: Vec<&str> = parameters
            .into_iter()
            .flat_map(|all| all.split('&'))
            .filter(|p| !is_secret(p))
            .collect();
        if !others.is_empty() {
            shown = format!("{shown}?{}", others.join("&"));
        }
        shown
    }
}

fn is_secret(parameter: &str) -> bool {
    parameter.split('=').next().is_some_and(|name| name.eq_ignore_ascii_case("password"))
}

/// `user:password@host/db` without the password. It may hold any character that is not escaped.
fn without_password(server: &str) -> String {
    let Some((who, host)) = server.rsplit_once('@') else { return server.to_owned() };
    let user = who.split(':').next().unwrap_or(who);
    format!("{user}@{host}")
}

impl From<&str> for BaseUrl {
    fn from(url: &str) -> Self {
        Self(url.to_owned())
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BaseUrl({})", self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown_wherever_it_stands() {
        let cases = [
            ("postgres://a:b@c/d?workspace=w&keys=/k", "postgres://a@c/d?workspace=w&keys=/k"),
            ("postgres://a:b@c@h/d", "postgres://a@h/d"),
            ("postgres://a:b/x@h:5432/d", "postgres://a@h:5432/d"),
            ("postgres://a@h/d?password=b&workspace=w", "postgres://a@h/d?workspace=w"),
            ("postgres://a@h/d?password=b", "postgres://a@h/d"),
            ("folder/of:a@base", "folder/of:a@base"),
        ];
        for (url, shown) in cases {
            let url = BaseUrl::from(url);
            assert_eq!(url.shown(), shown);
            assert_eq!(format!("{url:?}"), format!("BaseUrl({shown})"));
        }
    }
}
