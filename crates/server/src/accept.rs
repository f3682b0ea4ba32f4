//! The header `accept`: which media types a client takes (RFC 9110, 12.5.1).
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

/// Whether a client takes a media type, in whatever order and with whatever preference; without the
/// header it takes any.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges = values.collect::<Vec<_>>().join(",").to_ascii_lowercase();
    let group = format!("{}/*", media_type.split('/').next().unwrap_or_default());
    let mut ranges = ranges.split(',').map(|range| range.split_once(';').unwrap_or((range, "")));
    ranges.any(|(name, parameters)| {
        ["", "*/*", &group, media_type].contains(&name.trim()) && parameters.trim() != "q=0"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_accepted_in_any_order_and_weight() {
        let accepted = |accept: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in accept {
                headers.append(ACCEPT, value.parse().unwrap());
            }
            ["text/html", "text/event-stream", "application/json"]
                .map(|media_type| accepts(&headers, media_type))
        };
        assert_eq!(accepted(&[]), [true; 3]);
        assert_eq!(accepted(&[" "]), [true; 3]);
        assert_eq!(accepted(&["*/*"]), [true; 3]);
        assert_eq!(accepted(&["application/*"]), [false, false, true]);
        assert_eq!(accepted(&["text/*;q=0.1"]), [true, true, false]);
        assert_eq!(accepted(&["Text/Event-Stream;q=0.5, application/json"]), [false, true, true]);
        assert_eq!(accepted(&["application/json", "text/event-stream; q=1"]), [false, true, true]);
        assert!(!accepted(&["text/html;q=0, application/json; charset=utf-8"])[0]);
        assert_eq!(accepted(&["image/png, nonsense"]), [false; 3]);
    }
}
