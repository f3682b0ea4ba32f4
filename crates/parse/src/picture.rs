//! Pictures: a figure, and its text where it can be read.
use crate::inline::Inline;
use crate::parsed::Parsed;
use crate::scan::Scans;
use crate::writer::Writer;

pub(crate) fn read(name: &str, bytes: Vec<u8>, media: &str, scans: &Scans) -> Parsed {
    let mut writer = Writer::new("image");
    let text = scans.picture(&bytes);
    let name = name.rsplit(['/', '\\']).next().filter(|name| !name.is_empty());
    writer.figure("", name.unwrap_or("picture"), Some((media.to_owned(), bytes)));
    match text {
        Ok(text) => text.split("\n\n").for_each(|part| writer.paragraph(&Inline::lines(part))),
        Err(why) => writer.warn(why),
    }
    writer.finish()
}
