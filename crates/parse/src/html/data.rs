//! Pictures that stand in the page itself, as `data:` addresses.

/// The media type and the bytes of `data:image/png;base64,…`.
pub(super) fn decode(address: &str) -> Option<(String, Vec<u8>)> {
    let (head, body) = address.strip_prefix("data:")?.split_once(',')?;
    let media = head.strip_suffix(";base64")?.split(';').next()?;
    if !media.starts_with("image/") {
        return None;
    }
    let mut bytes = Vec::with_capacity(body.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in body.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => break,
            _ if byte.is_ascii_whitespace() => continue,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count).to_le_bytes()[0]);
        }
    }
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
