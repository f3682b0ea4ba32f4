//! The body of a response, read no further than its bounds.
use std::io::Read as _;

use flate2::read::{MultiGzDecoder, ZlibDecoder};
use reqwest::header::CONTENT_ENCODING;
use reqwest::{Response, Url};

use super::FetchError;
use crate::address::show;
use crate::failure::clip;
use crate::http::error_chain;

/// Reads and unpacks; neither form may be longer than `most` bytes.
pub(super) async fn read(
    mut response: Response,
    limit: usize,
    url: &Url,
) -> Result<Vec<u8>, FetchError> {
    let too_large = || FetchError::TooLarge { url: show(url), limit };
    let announced = response.content_length();
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let encoding = response.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok());
    let encoding = encoding.unwrap_or("identity").trim().to_ascii_lowercase();
    let mut bytes = vec![];
    loop {
        let piece = response.chunk().await.map_err(|e| {
            let reason = clip(&error_chain(&e.without_url()));
            FetchError::Broken { url: show(url), reason }
        })?;
        let Some(piece) = piece else { break };
        if bytes.len() + piece.len() > limit {
            return Err(too_large());
        }
        bytes.extend_from_slice(&piece);
    }
    let unpacked = match encoding.as_str() {
        "" | "identity" => return Ok(bytes),
        "gzip" | "x-gzip" => unpack(MultiGzDecoder::new(bytes.as_slice()), limit),
        "deflate" => unpack(ZlibDecoder::new(bytes.as_slice()), limit),
        _ => Err(std::io::Error::other("only gzip was asked for")),
    };
    let unpacked = unpacked.map_err(|e| FetchError::Packed {
        url: show(url),
        encoding: clip(&encoding),
        reason: e.to_string(),
    })?;
    if unpacked.len() > limit { Err(too_large()) } else { Ok(unpacked) }
}

/// One byte more than is allowed, at most.
fn unpack(packed: impl std::io::Read, limit: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    packed.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
