//! Files of which something is not read: it is reported, and read when it can be.
use super::common::Bench;
use crate::build::reader::InputReader;
use crate::store::FileKey;
use crate::{IndexOptions, KbSettings, ReadingSettings};

const PICTURE: &[u8] = include_bytes!("../../../../parse/tests/files/square.png");

fn without_ocr(seconds: usize) -> ReadingSettings {
    ReadingSettings { ocr: false, seconds, ..ReadingSettings::default() }
}

#[tokio::test]
async fn what_is_not_read_of_a_file_is_reported_and_tried_again_with_more_time() {
    let mut bench = Bench::new();
    bench.settings.reading = without_ocr(10);
    bench.write("picture.png", PICTURE).write("whole.md", "# Whole\n\nAll of it is read.\n");
    let base = bench.open(None);
    let report = bench.index(&base).await;
    assert_eq!(report.documents_new, 2);
    let [warning] = &report.warnings[..] else { panic!("{:?}", report.warnings) };
    assert!(warning.file.ends_with("picture.png"), "{warning:?}");
    assert!(warning.warning.contains("`kb.reading.ocr`"), "{warning:?}");
    // Nothing has changed: it is not read again.
    assert_eq!(bench.index(&base).await.warnings, []);
    bench.settings.reading = without_ocr(20);
    let report = bench.index(&base).await;
    assert_eq!((report.documents_unchanged, report.warnings.len()), (2, 1));
    assert_eq!(bench.index(&base).await.warnings, []);
    bench.options.rehash = true;
    assert_eq!(bench.index(&base).await.warnings.len(), 1);
}

#[tokio::test]
async fn files_that_a_former_version_has_read_are_read_again_only_for_other_settings() {
    let bench = Bench::new();
    bench.write("whole.md", "# Whole\n\nAll of it is read.\n");
    let base = bench.open(None);
    bench.index(&base).await;
    let reader = |settings: &KbSettings| {
        InputReader::new(&base, &IndexOptions::default(), settings).unwrap()
    };
    let former = reader(&bench.settings);
    let file = &former.walk(&[bench.input()]).unwrap().files[0];
    let key = FileKey::of(&file.origin);
    let mut record = base.store.read(|reader| reader.file(key)).unwrap().unwrap();
    record.read_with = former.read_with.former.unwrap();
    base.store.write(|writer| writer.put_file(key, &record)).unwrap();
    assert!(former.unchanged_file(file).unwrap().is_some());
    let settings = KbSettings { reading: without_ocr(10), ..bench.settings.clone() };
    assert!(reader(&settings).unchanged_file(file).unwrap().is_none());
}
