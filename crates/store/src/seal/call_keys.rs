//! The keys of calls on their way between machines: one of all calls, which lives as long as a build,
//! and many of which each document has one. A call is sealed with the first and with those of the
//! documents that it quotes, so that overwriting the key of a document destroys the calls about it and
//! no others. Which of the keys a document has follows from its name, so none is made for it.
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;

use crate::seal::{Key, private};

/// Keys of documents. Of n documents each shares its key with n / 65,536 others on average: calls of an
/// unfinished build about those are done again after one of them is deleted.
const DOCUMENTS: usize = 1 << 16;

/// The key of calls of which it is not known what they quote, after those of documents.
const UNKNOWN: i32 = 1 << 16;

const KEY: usize = size_of::<Key>();

/// A secret number, then the keys.
const BYTES: usize = KEY + (DOCUMENTS + 1) * KEY;

/// The keys as they were when they were read.
#[derive(Clone)]
pub struct CallKeys {
    of_all: Key,
    file: Vec<u8>,
}

impl CallKeys {
    pub(crate) fn new(of_all: Key, file: Vec<u8>) -> Self {
        Self { of_all, file }
    }

    /// The numbers of the keys that calls which quote these documents are sealed with, at least one.
    /// A number says nothing of the document to those who do not have the keys.
    #[must_use]
    pub fn numbers(&self, documents: &[String]) -> Vec<i32> {
        let number = |document: &String| {
            let (secret, _) = self.file.split_at(KEY);
            let hash = blake3::derive_key(
                "halma key of a document that calls quote",
                &[secret, document.as_bytes()].concat(),
            );
            i32::from(u16::from_le_bytes([hash[0], hash[1]]))
        };
        let mut numbers: Vec<i32> = documents.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() { vec![UNKNOWN] } else { numbers }
    }

    /// The numbers of the keys that are renewed when these documents are deleted.
    #[must_use]
    pub fn numbers_to_renew(&self, documents: &[String]) -> Vec<i32> {
        let mut numbers = self.numbers(documents);
        if numbers.last() != Some(&UNKNOWN) {
            numbers.push(UNKNOWN);
        }
        numbers
    }

    /// The key of a call; `None` for numbers that there are not.
    #[must_use]
    pub fn key(&self, numbers: &[i32]) -> Option<Key> {
        let mut keys = self.of_all.to_vec();
        keys.extend(self.documents_key(numbers)?);
        Some(derived("halma key of a call", &keys))
    }

    /// What changes when a document that a call quotes is deleted, and not when a build is complete.
    #[must_use]
    pub fn documents_key(&self, numbers: &[i32]) -> Option<Key> {
        let mut keys = vec![];
        for number in numbers {
            let place = place(*number)?;
            keys.extend(self.file.get(place..place + KEY)?);
        }
        Some(derived("halma keys of documents that a call quotes", &keys))
    }

    /// Whether it is known what a call with keys of these numbers quotes.
    #[must_use]
    pub fn is_known(numbers: &[i32]) -> bool {
        !numbers.contains(&UNKNOWN)
    }
}

/// Where the key of a number is in the file.
fn place(number: i32) -> Option<usize> {
    let number = usize::try_from(number).ok().filter(|number| *number <= DOCUMENTS)?;
    Some(KEY + number * KEY)
}

fn derived(purpose: &str, keys: &[u8]) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&blake3::derive_key(purpose, keys)[..KEY]);
    key
}

/// Reads the file; the first who asks makes it. The caller holds the lock.
pub(crate) fn read_or_make(path: &Path) -> io::Result<Vec<u8>> {
    match fs::read(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {}
        Ok(bytes) if bytes.len() == BYTES => return Ok(bytes),
        // Without them no call can be read, and all are asked for again.
        Ok(_) => {}
        Err(e) => return Err(e),
    }
    let mut bytes = vec![0; BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    let part = path.with_added_extension("part");
    private::write(&part, &bytes)?;
    fs::rename(&part, path)?;
    Ok(bytes)
}

/// Overwrites keys in place; they are on the disk when this returns. The caller holds the lock.
pub(crate) fn renew(path: &Path, numbers: &[i32]) -> io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    for place in numbers.iter().filter_map(|number| place(*number)) {
        let mut key = Key::default();
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        file.seek(SeekFrom::Start(place as u64))?;
        file.write_all(&key)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use crate::seal::{CallKeys, KeyStore};

    fn documents(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn with_a_document_go_the_calls_that_quote_it_and_those_of_which_nothing_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let [one, other] = [(), ()].map(|()| KeyStore::new(&dir.path().join("shared"), 1));
        let before = one.call_keys().unwrap();
        let quoting: Vec<Vec<i32>> = [&["a.md"][..], &["b.md"], &["b.md", "a.md"], &[]]
            .map(|names| before.numbers(&documents(names)))
            .into();
        let keys = |keys: &CallKeys| {
            quoting.iter().map(|numbers| keys.key(numbers).unwrap()).collect::<Vec<_>>()
        };
        let first = keys(&before);
        assert_eq!(keys(&other.call_keys().unwrap()), first, "all machines have the same");
        let mut distinct = first.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4);
        other.renew_document_keys(&before.numbers_to_renew(&documents(&["a.md"]))).unwrap();
        let after = one.call_keys().unwrap();
        let unchanged: Vec<bool> =
            keys(&after).iter().zip(&first).map(|(now, then)| now == then).collect();
        assert_eq!(unchanged, [false, true, false, false]);
        assert_eq!(before.documents_key(&quoting[1]), after.documents_key(&quoting[1]));
        assert_ne!(before.documents_key(&quoting[2]), after.documents_key(&quoting[2]));
        assert!(CallKeys::is_known(&quoting[2]) && !CallKeys::is_known(&quoting[3]));
        // Nothing of the former key is left in the folder.
        let file = std::fs::read(dir.path().join("shared/0000000000000001/calls.keys")).unwrap();
        let [number] = quoting[0][..] else { panic!("one document has one key") };
        let place = 16 + 16 * usize::try_from(number).unwrap();
        assert!(!file.windows(16).any(|key| *key == before.file[place..place + 16]));
        // When a build is complete, all of them go.
        one.renew_calls_key().unwrap();
        assert_ne!(one.call_keys().unwrap().key(&quoting[1]), Some(first[1]));
        assert_eq!(after.key(&[-1]), None);
        assert_eq!(after.key(&[70_000]), None);
    }
}
