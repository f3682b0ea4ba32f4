//! One value under one key, by AES-128-GCM-SIV (RFC 8452): enciphered, and with a tag that only the
//! key's holder can make, so that a damaged value is recognized and never returned.
//!
//! The nonce is the number of the segment and no random number. GCM-SIV is made for that: it
//! derives the key stream from the value itself, so one key seals any number of values, and all
//! that the file shows is when the same value was sealed twice with the same key. It saves the
//! twelve bytes that a nonce would take in every record.
//!
//! Values are sealed in segments of [`SEGMENT`] bytes, so that a chunk can be read from the text
//! of its document at the cost of the chunk. A segment is bound to its place, to being the last or
//! not, and to the tag of the first, so segments of two values are never taken for one.
use std::ops::Range;

use aes_gcm_siv::aead::{AeadInOut, KeyInit};
use aes_gcm_siv::{Aes128GcmSiv, Nonce, Tag};

use crate::seal::Key;

/// Bytes of a value in a segment.
const SEGMENT: usize = 4096;

/// Bytes that stand before the segment.
const TAG: usize = 16;

/// A sealed value is not what was sealed with this key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value is damaged")]
pub struct DamagedValue;

/// Appends the sealed value to `into`.
pub fn seal(key: &Key, value: &[u8], into: &mut Vec<u8>) {
    let cipher = Aes128GcmSiv::new(key.into());
    let count = segments(value.len());
    into.reserve(value.len() + count * TAG);
    let first = into.len();
    for number in 0..count {
        let segment = &value[number * SEGMENT..value.len().min((number + 1) * SEGMENT)];
        let about = if number == 0 { vec![] } else { into[first..first + TAG].to_vec() };
        let tag = into.len();
        into.extend([0; TAG]);
        let begin = into.len();
        into.extend(segment);
        let sealed = cipher
            .encrypt_inout_detached(&nonce(number, count), &about, (&mut into[begin..]).into())
            .expect("a segment is shorter than 64 GiB");
        into[tag..begin].copy_from_slice(&sealed);
    }
}

/// The value that [`seal`] took.
pub fn unseal(key: &Key, sealed: &[u8]) -> Result<Vec<u8>, DamagedValue> {
    let length = value_len(sealed.len()).ok_or(DamagedValue)?;
    let mut value = Vec::with_capacity(length);
    open(key, sealed, 0..segments(length), &mut value)?;
    Ok(value)
}

/// A part of the value, at the cost of the segments it lies in. `None` when the value is shorter.
pub fn unseal_part(
    key: &Key,
    sealed: &[u8],
    part: Range<usize>,
) -> Result<Option<Vec<u8>>, DamagedValue> {
    let length = value_len(sealed.len()).ok_or(DamagedValue)?;
    if part.start > part.end || part.end > length {
        return Ok(None);
    }
    let (first, end) = (part.start / SEGMENT, segments(part.end));
    let mut value = vec![];
    open(key, sealed, first..end, &mut value)?;
    let before = part.start - first * SEGMENT;
    if part.len() == value.len() {
        return Ok(Some(value));
    }
    Ok(Some(value[before..before + part.len()].to_vec()))
}

/// Bytes of the value in a sealed one of this many bytes; `None` for a length that none has.
#[must_use]
pub fn value_len(sealed: usize) -> Option<usize> {
    let count = sealed.div_ceil(TAG + SEGMENT).max(1);
    let rest = sealed - (count - 1) * (TAG + SEGMENT);
    // Only an empty value has an empty segment.
    let least = if count == 1 { TAG } else { TAG + 1 };
    (rest >= least).then(|| sealed - count * TAG)
}

/// Opens segments and appends what they hold.
fn open(
    key: &Key,
    sealed: &[u8],
    numbers: Range<usize>,
    into: &mut Vec<u8>,
) -> Result<(), DamagedValue> {
    let cipher = Aes128GcmSiv::new(key.into());
    let pieces: Vec<&[u8]> = sealed.chunks(TAG + SEGMENT).collect();
    let head = sealed.get(..TAG).ok_or(DamagedValue)?;
    for number in numbers {
        let (tag, piece) = pieces[number].split_first_chunk::<TAG>().ok_or(DamagedValue)?;
        let about = if number == 0 { &[][..] } else { head };
        let begin = into.len();
        into.extend(piece);
        let nonce = nonce(number, pieces.len());
        let (tag, buffer) = (Tag::from(*tag), (&mut into[begin..]).into());
        let opened = cipher.decrypt_inout_detached(&nonce, about, buffer, &tag);
        opened.map_err(|_| DamagedValue)?;
    }
    Ok(())
}

fn segments(length: usize) -> usize {
    length.div_ceil(SEGMENT).max(1)
}

fn nonce(number: usize, count: usize) -> Nonce {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&(number as u64).to_le_bytes());
    nonce[8] = u8::from(number + 1 == count);
    nonce.into()
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

    fn value(length: usize) -> Vec<u8> {
        (0..length).map(|i| u8::try_from(i % 251).unwrap()).collect()
    }

    #[test]
    fn a_value_comes_back_in_full_and_in_parts() {
        for length in [0, 1, 63, 1000, 4095, 4096, 4097, 8192, 70_000] {
            let (value, sealed) = (value(length), sealed(&value(length)));
            assert_eq!(sealed.len(), length + TAG * segments(length), "{length}");
            assert_eq!(value_len(sealed.len()), Some(length));
            assert_eq!(unseal(&KEY, &sealed).unwrap(), value);
            for part in [0..0, 0..length, length / 3..length / 2, length..length, 0..length.min(10)]
            {
                let read = unseal_part(&KEY, &sealed, part.clone()).unwrap().unwrap();
                assert_eq!(read, value[part.clone()], "{length} {part:?}");
            }
            assert_eq!(unseal_part(&KEY, &sealed, 0..length + 1).unwrap(), None);
        }
        assert_eq!(unseal(&KEY, &[1; TAG - 1]), Err(DamagedValue));
    }

    #[test]
    fn nothing_of_the_value_is_visible_and_every_changed_bit_is_found() {
        let value = b"marker marker marker marker".repeat(10);
        let mut sealed = sealed(&value);
        assert!(!sealed.windows(6).any(|window| window == b"marker"));
        assert_eq!(unseal(&[8; 16], &sealed), Err(DamagedValue));
        for bit in 0..sealed.len() * 8 {
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unseal(&KEY, &sealed), Err(DamagedValue), "bit {bit}");
            assert_eq!(unseal_part(&KEY, &sealed, 3..9), Err(DamagedValue), "bit {bit}");
            sealed[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_value_that_is_cut_lengthened_or_put_together_of_two_is_damaged() {
        let one = sealed(&value(10_000));
        for length in 0..one.len() {
            assert_eq!(unseal(&KEY, &one[..length]), Err(DamagedValue), "{length}");
        }
        assert_eq!(unseal(&KEY, &[&one[..], &[0]].concat()), Err(DamagedValue));
        let other = sealed(&[9; 10_000]);
        let whole = TAG + SEGMENT;
        for (head, tail) in [(&one, &other), (&other, &one)] {
            let mixed = [&head[..whole], &tail[whole..]].concat();
            assert_eq!(unseal(&KEY, &mixed), Err(DamagedValue));
        }
        let swapped = [&one[..whole], &one[whole..2 * whole], &one[whole..2 * whole]].concat();
        assert_eq!(unseal(&KEY, &swapped), Err(DamagedValue));
    }

    #[test]
    fn two_values_share_no_key_stream() {
        let (one, other) = (sealed(&[0; 100]), sealed(&[1; 100]));
        let both: Vec<u8> = one[TAG..].iter().zip(&other[TAG..]).map(|(a, b)| a ^ b).collect();
        assert!(both.windows(4).all(|four| four != [1; 4]));
    }
}
