//! What the readers of XML as a stream of events share.
use quick_xml::events::BytesStart;

/// An attribute by its local name.
pub(crate) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().flatten().find(|a| a.key.local_name().as_ref() == name)?;
    let value = found.value.into_owned();
    if !value.contains('&') {
        return Some(value);
    }
    quick_xml::escape::unescape(&value).ok().map(std::borrow::Cow::into_owned)
}
/// What `&name;` stands for.
pub(crate) fn entity(name: &str) -> String {
    let escaped = format!("&{name};");
    quick_xml::escape::unescape(&escaped).map(std::borrow::Cow::into_owned).unwrap_or_default()
}
