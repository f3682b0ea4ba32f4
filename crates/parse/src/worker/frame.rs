//! Messages over a pipe: a length of 8 bytes, then the bytes.
use std::io::{self, Read, Write};

/// Bytes that are allocated before they have arrived; longer messages grow as they come.
const AT_ONCE: u64 = 1 << 16;

/// Longer messages are refused on both sides.
pub(crate) const LONGEST: u64 = 2 << 30;

pub(crate) fn write(to: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

/// The next message; `None` at the end of the stream.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 8];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(e) => return Err(e),
    }
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(AT_ONCE)).unwrap_or_default());
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(Some(bytes))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut pipe = vec![];
        for message in [&b""[..], b"one", &vec![7; 100_000]] {
            write(&mut pipe, message).unwrap();
        }
        let mut from = &pipe[..];
        assert_eq!(read(&mut from).unwrap().unwrap(), b"");
        assert_eq!(read(&mut from).unwrap().unwrap(), b"one");
        assert_eq!(read(&mut from).unwrap().unwrap().len(), 100_000);
        assert_eq!(read(&mut from).unwrap(), None);
    }

    #[test]
    fn a_false_length_allocates_nothing() {
        let mut claims = (LONGEST - 1).to_le_bytes().to_vec();
        claims.extend(b"three bytes");
        assert!(read(&mut &claims[..]).is_err());
        assert!(read(&mut &u64::MAX.to_le_bytes()[..]).is_err());
    }
}
