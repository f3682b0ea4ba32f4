//! Addresses of model servers: which can be one, and how they are shown without their secrets.
use halma_core::ConfigError;
use reqwest::Url;

/// The base of an API, as a user gives it.
pub fn base(url: &str) -> Result<Url, ConfigError> {
    let hint = "give the base of the API, for instance `https://host/v1`";
    let base = Url::parse(url.trim()).map_err(|e| {
        wrong("url", &format!("`{}` is not a valid URL: {e}", without_userinfo(url)), hint)
    })?;
    if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
        let reason = format!("`{}` is not an http or https address", without_userinfo(url));
        return Err(wrong("url", &reason, hint));
    }
    if !base.username().is_empty() || base.password().is_some() {
        let hint = "name an environment variable with the key in `key_env` instead";
        return Err(wrong("url", "the address holds a user name or password", hint));
    }
    let path = base.path().trim_end_matches('/');
    if let Some(end) =
        ["/chat/completions", "/embeddings", "/rerank"].iter().find(|end| path.ends_with(**end))
    {
        let reason = format!("`{}` is one call, not the base", show(&base));
        return Err(wrong("url", &reason, &format!("leave out `{end}`")));
    }
    Ok(base)
}

/// What is wrong with an address must be reported without a password in it.
fn without_userinfo(url: &str) -> String {
    match url.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => url.to_owned(),
    }
}

/// The address without its query, which may hold a key.
pub fn show(url: &Url) -> String {
    let end = url.as_str().find(['?', '#']).unwrap_or(url.as_str().len());
    url.as_str()[..end].to_owned()
}

pub fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

/// An error whose `file` is left empty for the caller that read the configuration.
pub fn wrong(key: &str, reason: &str, hint: &str) -> ConfigError {
    ConfigError {
        file: String::new(),
        key: key.to_owned(),
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    }
}
