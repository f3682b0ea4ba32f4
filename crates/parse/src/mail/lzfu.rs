//! RTF as Outlook stores it: compressed (`LZFu`) or not (`MELA`) below a header (MS-OXRTFCP).

/// What texts may refer to before they have said anything.
const BEGINNING: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \
    \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier\
    {\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// Bytes that a text may refer back to.
const WINDOW: usize = 4_096;

/// The RTF; of a text that is cut off, what there is. `None` if it is not stored in this way.
pub(super) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?);
    let (kind, body) = (bytes.get(8..12)?, bytes.get(16..)?);
    let mut text = match kind {
        b"LZFu" => decompressed(body),
        b"MELA" => body.to_vec(),
        _ => return None,
    };
    text.truncate(usize::try_from(length).ok()?);
    Some(text)
}

fn decompressed(body: &[u8]) -> Vec<u8> {
    let mut out = BEGINNING.to_vec();
    let mut rest = body.iter().copied();
    // Eight flags say which of the eight items behind them are references.
    'items: while let Some(flags) = rest.next() {
        for bit in 0..8 {
            let Some(byte) = rest.next() else { break 'items };
            if flags >> bit & 1 == 0 {
                out.push(byte);
                continue;
            }
            let Some(second) = rest.next() else { break 'items };
            let reference = usize::from(u16::from_be_bytes([byte, second]));
            let back = (out.len() + WINDOW - (reference >> 4)) % WINDOW;
            // A reference to the place where it stands is the end.
            if back == 0 || back > out.len() {
                break 'items;
            }
            for _ in 0..(reference & 15) + 2 {
                out.push(out[out.len() - back]);
            }
        }
    }
    out.split_off(BEGINNING.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification (MS-OXRTFCP 4.1.1).
    const HELLO: &[u8] = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\
        \x0a\xf3 hel\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0";

    #[test]
    fn the_examples_of_the_specification_are_unpacked() {
        let text = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n";
        assert_eq!(unpacked(HELLO).unwrap(), text);
        // A reference into what it writes itself.
        let crossing =
            b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4\x4b\x51\x41\0\x04\x20WXYZ\x0d\x6e\x7d\x01\
            \x0e\xb0";
        assert_eq!(unpacked(crossing).unwrap(), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
    }

    #[test]
    fn what_is_cut_off_or_foreign_does_no_harm() {
        for end in 0..HELLO.len() {
            let text = unpacked(&HELLO[..end]);
            assert_eq!(text.is_some(), end >= 16, "{end}");
        }
        assert_eq!(unpacked(b"\0\0\0\0\xff\0\0\0OTHER  \0\0\0\0{"), None);
        assert_eq!(unpacked(b"\0\0\0\0\x05\0\0\0MELA\0\0\0\0{\\rtf}").unwrap(), b"{\\rtf");
    }
}
