//! Names for everything that an answer depends on.

/// The fingerprint of everything that an answer depends on (strategy, settings, prompt hashes,
/// model names, the base's fingerprint): equal lists of parts give equal fingerprints, and no two
/// different lists are likely to. Sixteen hexadecimal digits.
pub fn fingerprint<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        let part = part.as_ref();
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize().to_hex()[..16].to_owned()
}
