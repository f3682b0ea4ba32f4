//! Pictures that stand in the page itself, as `data:` addresses.
use mail_parser::decoders::base64::base64_decode;

/// The media type and the bytes of `data:image/png;base64,…`.
pub(super) fn decode(address: &str) -> Option<(String, Vec<u8>)> {
    let (head, body) = address.strip_prefix("data:")?.split_once(',')?;
    let media = head.strip_suffix(";base64")?.split(';').next()?;
    if !media.starts_with("image/") {
        return None;
    }
    let bytes = base64_decode(body.as_bytes())?;
    Some((media.to_owned(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_in_an_address_is_decoded() {
        let picture = decode("data:image/gif;base64,R0lGODlhAQ==").unwrap();
        assert_eq!(picture, ("image/gif".to_owned(), b"GIF89a\x01".to_vec()));
        assert_eq!(decode("data:text/html,<p>"), None);
        assert_eq!(decode("https://a.example/b.png"), None);
    }
}
