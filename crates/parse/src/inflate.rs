//! Keeps a PDF from unpacking to more than any document does: every stream is unpacked once,
//! through all its filters, without keeping the result.
use std::borrow::Cow;
use std::io::Read;
use std::time::Instant;

use flate2::read::{DeflateDecoder, ZlibDecoder};
use hayro_interpret::hayro_syntax::object::{Array, Object, Stream};
use hayro_interpret::hayro_syntax::page::Page;
use hayro_interpret::hayro_syntax::reader::{Reader, ReaderContext, ReaderExt};
use hayro_interpret::hayro_syntax::{Filter, Pdf};

use crate::container::refusal;
use crate::detect::find;
use crate::parsed::Refusal;

/// A scan of A3 at 600 dots per inch in colours has 200 MB.
const MAX_STREAM_BYTES: u64 = 400_000_000;

/// Checks the streams of a file before it is opened, which unpacks some of them.
pub(crate) fn check_file(pdf: &[u8], until: Instant) -> Result<(), Refusal> {
    let mut rest = pdf;
    while let Some(at) = find(rest, b"obj") {
        check_time(until)?;
        rest = &rest[at + 3..];
        let mut reader = Reader::new(rest);
        reader.skip_white_spaces_and_comments();
        let stream = reader.read_with_context::<Stream<'_>>(&ReaderContext::dummy());
        let Some(stream) = stream else { continue };
        let filters = stream.filters();
        // Filters that the file names elsewhere are known only when it is open.
        let unknown = [Filter::FlateDecode, Filter::FlateDecode];
        let filters = if filters.is_empty() { &unknown[..] } else { &filters };
        check_size(unpacked_size(&stream, filters))?;
    }
    Ok(())
}

/// Checks the streams of which only the open file says how they are packed.
pub(crate) fn check_objects(pdf: &Pdf, until: Instant) -> Result<(), Refusal> {
    for object in pdf.objects() {
        check_time(until)?;
        let Object::Stream(stream) = object else { continue };
        let filters = stream.filters();
        let is_encrypted = matches!(stream.raw_data(), Cow::Owned(_));
        if is_encrypted || *filters != [Filter::FlateDecode] {
            check_size(unpacked_size(&stream, &filters))?;
        }
    }
    Ok(())
}

/// Checks what a page draws: it may name a stream many times.
pub(crate) fn check_page(page: &Page<'_>) -> Result<(), Refusal> {
    let contents = page.raw().get::<Array<'_>>(b"Contents".as_slice());
    let streams = || contents.iter().flat_map(Array::iter::<Stream<'_>>);
    let bounds =
        streams().map(|stream| max_size(stream.raw_data().len() as u64, &stream.filters()));
    if bounds.fold(0, u64::saturating_add) <= MAX_STREAM_BYTES {
        return Ok(());
    }
    let mut size = 0;
    for stream in streams() {
        size += unpacked_size(&stream, &stream.filters());
        check_size(size)?;
    }
    Ok(())
}

pub(crate) fn check_size(bytes: u64) -> Result<(), Refusal> {
    if bytes <= MAX_STREAM_BYTES {
        return Ok(());
    }
    let reason =
        format!("a part of it unpacks to {} MB or more, as no document does", bytes / 1_000_000);
    Err(refusal(&reason, "the file is corrupt or unsafe: save it again, or split it"))
}

pub(crate) fn check_time(until: Instant) -> Result<(), Refusal> {
    let in_time = Instant::now() < until;
    in_time.then_some(()).ok_or_else(|| {
        refusal("it takes too long to read", "split it, or raise `kb.reading.seconds`")
    })
}

/// The size after each filter, as far as it can matter: the largest of them.
fn unpacked_size(stream: &Stream<'_>, filters: &[Filter]) -> u64 {
    let is_predicted = ["DecodeParms", "DP"].iter().any(|key| stream.dict().contains_key(key));
    let (mut data, mut filters) = (stream.raw_data(), filters);
    let mut largest = data.len() as u64;
    while let [filter, rest @ ..] = filters
        && largest <= MAX_STREAM_BYTES
        && max_size(data.len() as u64, filters) > MAX_STREAM_BYTES
    {
        let size = match filter {
            Filter::FlateDecode => inflated_size(&data),
            Filter::LzwDecode => lzw_size(&data, true).max(lzw_size(&data, false)),
            Filter::RunLengthDecode => run_length_size(&data),
            Filter::AsciiHexDecode | Filter::Ascii85Decode | Filter::Crypt => 0,
            // The size of a picture is limited where it is drawn.
            _ => break,
        };
        largest = largest.max(size);
        if is_predicted && size > 0 {
            // Only the PDF reader knows what the next filter gets.
            return largest.max(max_size(size, rest));
        }
        if !rest.is_empty() && largest <= MAX_STREAM_BYTES {
            data = Cow::Owned(unpack(&data, *filter));
        }
        filters = rest;
    }
    largest
}

/// What filters can make of so many bytes at most.
fn max_size(bytes: u64, filters: &[Filter]) -> u64 {
    let growth = filters.iter().map(|filter| match filter {
        Filter::FlateDecode => 1_032,
        // A code of 12 bits stands for at most 3,838 bytes.
        Filter::LzwDecode => 2_559,
        Filter::RunLengthDecode => 64,
        Filter::Ascii85Decode => 4,
        _ => 1,
    });
    growth.fold(bytes, u64::saturating_mul)
}

/// Undoes one filter as the PDF reader does; nothing remains of what it cannot read.
fn unpack(data: &[u8], filter: Filter) -> Vec<u8> {
    let name = match filter {
        Filter::FlateDecode => "Fl",
        Filter::LzwDecode => "LZW",
        Filter::RunLengthDecode => "RL",
        Filter::AsciiHexDecode => "AHx",
        Filter::Ascii85Decode => "A85",
        _ => return data.to_vec(),
    };
    let head = format!("<</Filter/{name}/Length {}>>stream\n", data.len());
    let stream = [head.as_bytes(), data, b"\nendstream"].concat();
    let stream = Reader::new(&stream).read_with_context::<Stream<'_>>(&ReaderContext::dummy());
    let unpacked = stream.and_then(|stream| Some(stream.decoded_data().ok()?.into_owned()));
    unpacked.unwrap_or_else(Vec::new)
}

/// Without a sound header the data may still be deflated: the PDF reader tries that too.
fn inflated_size(data: &[u8]) -> u64 {
    read_size(ZlibDecoder::new(data)).unwrap_or_else(|size| {
        size.max(read_size(DeflateDecoder::new(data)).unwrap_or_else(|size| size))
    })
}

/// The bytes that can be read, as an error when it breaks off.
fn read_size(mut reader: impl Read) -> Result<u64, u64> {
    let (mut total, mut buffer) = (0, vec![0; 1 << 16]);
    while total <= MAX_STREAM_BYTES {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => total += read as u64,
            Err(_) => return Err(total),
        }
    }
    Ok(total)
}

/// How much LZW (PDF 32000-1, 7.4.4) stands for; `early` when codes get longer one code early.
fn lzw_size(data: &[u8], early: bool) -> u64 {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut lengths: Vec<u64> = vec![1; 258];
    let (mut total, mut previous) = (0, None);
    let (mut bits, mut bit_count) = (0u32, 0u32);
    for byte in data {
        (bits, bit_count) = ((bits << 8) | u32::from(*byte), bit_count + 8);
        let next = lengths.len() + usize::from(early);
        let width = if next < 512 {
            9
        } else if next < 1_024 {
            10
        } else if next < 2_048 {
            11
        } else {
            12
        };
        if bit_count < width {
            continue;
        }
        bit_count -= width;
        let code = (bits >> bit_count) as usize;
        bits &= (1 << bit_count) - 1;
        match code {
            CLEAR => {
                lengths.truncate(258);
                previous = None;
                continue;
            }
            END => break,
            _ => {}
        }
        if let Some(previous) = previous
            && lengths.len() < 4_096
        {
            lengths.push(previous + 1);
        }
        let Some(length) = lengths.get(code) else { break };
        total += length;
        previous = Some(*length);
    }
    total
}

fn run_length_size(data: &[u8]) -> u64 {
    let (mut total, mut at) = (0, 0);
    while let Some(length) = data.get(at).map(|byte| usize::from(*byte)) {
        let (size, taken) = match length {
            0..=127 => (length + 1, length + 2),
            128 => break,
            _ => (257 - length, 2),
        };
        total += size as u64;
        at += taken;
    }
    total
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::{DeflateEncoder, ZlibEncoder};

    use super::*;

    fn zlib(data: &[u8]) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(vec![], Compression::best());
        packed.write_all(data).unwrap();
        packed.finish().unwrap()
    }

    /// More bytes than are allowed, all of them zero.
    fn zeros(mut packed: impl Write) {
        let zeros = vec![0; 1 << 20];
        for _ in 0..=MAX_STREAM_BYTES >> 20 {
            packed.write_all(&zeros).unwrap();
        }
    }

    fn bomb() -> Vec<u8> {
        let mut packed = ZlibEncoder::new(vec![], Compression::fast());
        zeros(&mut packed);
        packed.finish().unwrap()
    }

    fn pdf(dict: &str, data: &[u8]) -> Vec<u8> {
        let head = format!("%PDF-1.4\n1 0 obj\n<<{dict}/Length {}>>\nstream\n", data.len());
        [head.as_bytes(), data, b"\nendstream\nendobj\n"].concat()
    }

    fn check(dict: &str, data: &[u8]) -> Result<(), Refusal> {
        check_file(&pdf(dict, data), Instant::now() + Duration::from_mins(1))
    }

    fn assert_refused(dict: &str, data: &[u8]) {
        let refused = check(dict, data).unwrap_err();
        assert!(refused.reason.contains("unpacks to"), "{dict}: {refused:?}");
    }

    #[test]
    fn a_bomb_is_refused_however_it_is_packed() {
        let bomb = bomb();
        assert_refused("/Filter /FlateDecode", &bomb);
        // The filter is named elsewhere in the file.
        assert_refused("/Filter 2 0 R", &bomb);
        let twice = zlib(&bomb);
        assert!(twice.len() < 350_000, "{}", twice.len());
        assert_refused("/Filter [/FlateDecode /FlateDecode]", &twice);
        assert_refused("/Filter [/Fl#61teDecode /Fl]", &twice);
        assert_refused("/Filter [/Fl /Fl /Fl]", &zlib(&twice));
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap();
        let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
        let hex: String = twice.iter().flat_map(digits).collect();
        assert_refused("/Filter [/ASCIIHexDecode /FlateDecode /FlateDecode]", hex.as_bytes());
        let mut raw = DeflateEncoder::new(vec![], Compression::fast());
        zeros(&mut raw);
        assert_refused("/Filter /FlateDecode", &raw.finish().unwrap());
        assert_refused(
            "/Filter [/FlateDecode /RunLengthDecode]",
            &zlib(&[129, 0].repeat(4_000_000)),
        );
    }

    #[test]
    fn what_cannot_be_followed_counts_as_its_worst() {
        let dict = "/DecodeParms [<</Predictor 12>> null] /Filter [/FlateDecode /FlateDecode]";
        assert_refused(dict, &zlib(&bomb()));
        check(dict, &zlib(&zlib(b"few words"))).unwrap();
    }

    #[test]
    fn large_pictures_and_garbage_pass() {
        let noise: Vec<u8> =
            (0..2_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        check("/Filter /FlateDecode", &zlib(&noise)).unwrap();
        check("/Filter [/FlateDecode /FlateDecode]", &zlib(&zlib(&noise))).unwrap();
        for filter in ["LZWDecode", "RunLengthDecode", "ASCII85Decode", "FlateDecode", "DCTDecode"]
        {
            check(&format!("/Filter /{filter}"), &noise).unwrap();
        }
    }

    #[test]
    fn lzw_is_counted_by_its_codes() {
        // The example of PDF 32000-1, 7.4.4.2: ten bytes in eight codes.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(lzw_size(&packed, true), 10);
        assert_eq!(run_length_size(&[4, 10, 11, 12, 13, 14, 253, 3, 128]), 9);
    }
}
