//! Files mapped into memory, and their bytes as numbers: the one place with `unsafe` for it.
#![expect(unsafe_code, reason = "mapping a file is unsafe, because others may change it")]
use std::fs::File;
use std::io;

use memmap2::{Advice, Mmap, MmapOptions};

/// Maps the whole file for reading here and there.
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the file is in the base's folder and never made shorter; slots in it are replaced by
    // `write_at` while others read, who compare nothing but numbers: a slot that is half written
    // gives a wrong cosine and nothing worse, and its row is not listed before it is whole.
    let map = unsafe { MmapOptions::new().map(file) }?;
    // Without it the kernel reads 128 KB for every slot.
    #[cfg(unix)]
    map.advise(Advice::Random)?;
    Ok(map)
}

/// Bytes as whole numbers with a sign.
pub(super) fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: both have the same size and alignment, and every value of one is one of the other.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
