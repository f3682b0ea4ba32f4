//! Keeps a PDF from unpacking to more than any document does: every stream that is packed is
//! unpacked once without keeping it.
use std::io::Read;

use crate::container::refusal;
use crate::detect::find;
use crate::parsed::Refusal;

/// A scan of A3 at 600 dots per inch in colours has 200 MB.
const MAX_STREAM_BYTES: u64 = 400_000_000;
/// Deflate packs to a thousandth at best: shorter data cannot grow beyond that size.
const MIN_PACKED: usize = 350_000;

pub(crate) fn check_streams(pdf: &[u8]) -> Result<(), Refusal> {
    let mut rest = pdf;
    while rest.len() >= MIN_PACKED
        && let Some(at) = find(rest, b"stream")
    {
        rest = &rest[at + 6..];
        let data = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
        // The first byte of zlib's format (RFC 1950).
        if data.first().is_some_and(|byte| byte & 0x0f == 8) {
            let unpacked = unpacked_size(data);
            if unpacked > MAX_STREAM_BYTES {
                let to = unpacked / 1_000_000;
                let reason =
                    format!("a part of it unpacks to {to} MB or more, as no document does");
                return Err(refusal(
                    &reason,
                    "the file is corrupt or unsafe: save it again, or split it",
                ));
            }
        }
    }
    Ok(())
}

fn unpacked_size(data: &[u8]) -> u64 {
    let mut decoder = flate2::read::ZlibDecoder::new(data);
    let (mut total, mut buffer) = (0, vec![0; 1 << 16]);
    // What is broken ends where it breaks.
    while let Ok(read @ 1..) = decoder.read(&mut buffer) {
        total += read as u64;
        if total > MAX_STREAM_BYTES {
            break;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_bomb_in_a_stream_is_refused() {
        let mut packed = flate2::write::ZlibEncoder::new(vec![], flate2::Compression::fast());
        let zeros = vec![0; 1 << 20];
        for _ in 0..=MAX_STREAM_BYTES >> 20 {
            packed.write_all(&zeros).unwrap();
        }
        let bomb = packed.finish().unwrap();
        let pdf = [b"%PDF-1.4\n1 0 obj\n<<>>\nstream\n", &bomb[..], b"\nendstream\n"].concat();
        assert!(check_streams(&pdf).unwrap_err().reason.contains("unpacks to"));
        check_streams(b"%PDF-1.4 stream\n\x78\x9cgarbage endstream").unwrap();
    }
}
