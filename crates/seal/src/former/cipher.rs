//! The cipher of base formats 3 to 5, for reading only: a nonce of eight bytes that is a keyed hash of
//! the value, then the value combined (exclusive or) with a key stream of `ChaCha12`.
use chacha20::ChaCha12;
use chacha20::cipher::{KeyIvInit, StreamCipher};

use crate::{DamagedValue, Key};

const NONCE: usize = 8;

/// The value that a former version sealed.
pub fn unseal(key: &Key, sealed: &[u8]) -> Result<Vec<u8>, DamagedValue> {
    let (nonce, value) = sealed.split_first_chunk::<NONCE>().ok_or(DamagedValue)?;
    let mut value = value.to_vec();
    let mut long = [0; 12];
    long[..NONCE].copy_from_slice(nonce);
    ChaCha12::new(&twice(key).into(), &long.into()).apply_keystream(&mut value);
    let hash = blake3::keyed_hash(&twice(key), &value);
    if hash.as_bytes()[..NONCE] == nonce[..] { Ok(value) } else { Err(DamagedValue) }
}

/// What a former version made of a value, for tests of reading it.
#[doc(hidden)]
#[must_use]
pub fn seal(key: &Key, value: &[u8]) -> Vec<u8> {
    let hash = blake3::keyed_hash(&twice(key), value);
    let mut long = [0; 12];
    long[..NONCE].copy_from_slice(&hash.as_bytes()[..NONCE]);
    let mut value = value.to_vec();
    ChaCha12::new(&twice(key).into(), &long.into()).apply_keystream(&mut value);
    [&long[..NONCE], &value].concat()
}

/// As `ChaCha` takes keys of 256 bits.
fn twice(key: &Key) -> [u8; 32] {
    let mut long = [0; 32];
    long[..16].copy_from_slice(key);
    long[16..].copy_from_slice(key);
    long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_former_version_sealed_is_read_and_damage_is_found() {
        let sealed = seal(&[7; 16], b"a chunk of a document");
        // As the version before made it.
        assert_eq!(blake3::hash(&sealed).to_hex()[..16], *"72fd893b496e4040");
        assert_eq!(unseal(&[7; 16], &sealed).unwrap(), b"a chunk of a document");
        for at in 0..sealed.len() {
            let mut sealed = sealed.clone();
            sealed[at] ^= 1;
            assert_eq!(unseal(&[7; 16], &sealed), Err(DamagedValue), "byte {at}");
        }
        assert_eq!(unseal(&[8; 16], &sealed), Err(DamagedValue));
        assert_eq!(unseal(&[7; 16], &[1; 7]), Err(DamagedValue));
    }
}
