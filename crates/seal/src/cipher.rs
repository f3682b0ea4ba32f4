//! One value under one key: a nonce, then the value combined (exclusive or) with a key stream of
//! `ChaCha12`. Twelve rounds, as Rust's standard generator has: half the time of twenty, and no
//! attack is known on more than seven.
//!
//! The nonce is a keyed hash of the value. So the same value under the same key gives the same
//! bytes, two values never share a key stream, and a damaged value is recognised.
use std::ops::Range;

use chacha20::ChaCha12;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};

use crate::Key;

/// Bytes that stand before a sealed value.
pub const NONCE: usize = 8;

/// Appends the sealed value to `into`: [`NONCE`] bytes more than it has.
pub fn seal(key: &Key, value: &[u8], into: &mut Vec<u8>) {
    let nonce = nonce(key, value);
    into.reserve(NONCE + value.len());
    into.extend(nonce);
    let begin = into.len();
    into.extend(value);
    stream(key, nonce).apply_keystream(&mut into[begin..]);
}

/// The value that [`seal`] took. `None` when there are fewer bytes than a nonce has; another key
/// gives other bytes.
pub fn unseal(key: &Key, sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, value) = sealed.split_first_chunk::<NONCE>()?;
    let mut value = value.to_vec();
    stream(key, *nonce).apply_keystream(&mut value);
    Some(value)
}

/// A part of the value, at the cost of that part. `None` when the value is shorter.
pub fn unseal_part(key: &Key, sealed: &[u8], part: Range<usize>) -> Option<Vec<u8>> {
    let (nonce, value) = sealed.split_first_chunk::<NONCE>()?;
    let mut value = value.get(part.clone())?.to_vec();
    let mut stream = stream(key, *nonce);
    stream.try_seek(part.start as u64).ok()?;
    stream.apply_keystream(&mut value);
    Some(value)
}

/// Whether the bytes are what [`seal`] made with this key.
pub fn is_whole(key: &Key, sealed: &[u8]) -> bool {
    unseal(key, sealed).is_some_and(|value| sealed.starts_with(&nonce(key, &value)))
}

fn nonce(key: &Key, value: &[u8]) -> [u8; NONCE] {
    let hash = blake3::keyed_hash(&twice(key), value);
    let mut nonce = [0; NONCE];
    nonce.copy_from_slice(&hash.as_bytes()[..NONCE]);
    nonce
}

fn stream(key: &Key, nonce: [u8; NONCE]) -> ChaCha12 {
    let mut long = [0; 12];
    long[..NONCE].copy_from_slice(&nonce);
    ChaCha12::new(&twice(key).into(), &long.into())
}

/// As `ChaCha` takes keys of 128 bits.
fn twice(key: &Key) -> [u8; 32] {
    let mut long = [0; 32];
    long[..16].copy_from_slice(key);
    long[16..].copy_from_slice(key);
    long
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = [7; 16];

    fn sealed(value: &[u8]) -> Vec<u8> {
        let mut into = vec![];
        seal(&KEY, value, &mut into);
        into
    }

    #[test]
    fn a_value_comes_back_whole_and_in_parts() {
        for length in [0, 1, 63, 64, 65, 1000, 70_000] {
            let value: Vec<u8> = (0..length).map(|i| u8::try_from(i % 251).unwrap()).collect();
            let sealed = sealed(&value);
            assert_eq!(sealed.len(), NONCE + length);
            assert_eq!(unseal(&KEY, &sealed).unwrap(), value);
            assert!(is_whole(&KEY, &sealed));
            let part = length / 3..length / 2;
            assert_eq!(unseal_part(&KEY, &sealed, part.clone()).unwrap(), value[part]);
            assert_eq!(unseal_part(&KEY, &sealed, 0..length + 1), None);
        }
        assert_eq!(unseal(&KEY, &[1; NONCE - 1]), None);
    }

    #[test]
    fn nothing_of_the_value_is_seen_and_damage_is() {
        let value = b"marker marker marker marker".repeat(10);
        let mut sealed = sealed(&value);
        assert!(!sealed.windows(6).any(|window| window == b"marker"));
        assert_ne!(unseal(&[8; 16], &sealed).unwrap(), value);
        assert!(!is_whole(&[8; 16], &sealed));
        for at in 0..sealed.len() {
            sealed[at] ^= 1;
            assert!(!is_whole(&KEY, &sealed), "byte {at}");
            sealed[at] ^= 1;
        }
    }

    #[test]
    fn two_values_share_no_key_stream() {
        let (one, other) = (sealed(&[0; 100]), sealed(&[1; 100]));
        let both: Vec<u8> = one[NONCE..].iter().zip(&other[NONCE..]).map(|(a, b)| a ^ b).collect();
        assert_ne!(both, [1; 100]);
    }
}
