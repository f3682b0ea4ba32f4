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

/// Bytes of a line of the processor's cache.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Has bytes brought into the processor's cache, for someone who reads them soon. Nothing happens
/// on processors other than x86.
pub(super) fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: it changes nothing that a program sees, and the address is that of a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Bytes as whole numbers with a sign.
pub(super) fn signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: both have the same size and alignment, and every value of one is one of the other.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
