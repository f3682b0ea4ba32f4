//! Pictures: a figure, and its text where it can be read.
use crate::ocr::Ocr;
use crate::parsed::Parsed;
use crate::writer::Writer;
use crate::writer::inline::Inline;

pub(crate) fn read(name: &str, bytes: Vec<u8>, media: &str, ocr: &Ocr) -> Parsed {
    let mut writer = Writer::new("image");
    let text = ocr.picture(&bytes);
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
    writer.figure("", name.unwrap_or("picture"), Some((media.to_owned(), bytes)));
    match text {
        Ok(text) => text.split("\n\n").for_each(|part| writer.paragraph(&Inline::lines(part))),
        Err(why) => writer.warn(format!("the picture is not read: {why}")),
    }
    writer.finish()
}
