//! Pages that would be drawn for ever: reading them ends by itself, so that no thread is left.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::*;

pub(super) fn object(number: usize, dict: &str, stream: Option<&str>) -> String {
    let stream = stream.map_or(String::new(), |text| format!("stream\n{text}\nendstream\n"));
    let length =
        if stream.is_empty() { String::new() } else { format!("/Length {}", stream.len() - 18) };
    format!("{number} 0 obj\n<<{dict}{length}>>\n{stream}endobj\n")
}

/// A file with some pages that are all alike.
fn pdf(pages: usize, page: &str, objects: &[String]) -> Vec<u8> {
    let page = format!("/Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]{page}");
    let numbers = || 100..100 + pages;
    let kids: String = numbers().flat_map(|number| [number.to_string(), " 0 R ".into()]).collect();
    let tree = format!("/Type/Pages/Count {pages}/Kids[{kids}]");
    let mut file = format!("%PDF-1.4\n{}", object(1, "/Type/Catalog/Pages 2 0 R", None));
    file += &object(2, &tree, None);
    numbers().for_each(|number| file += &object(number, &page, None));
    file += &objects.concat();
    (file + "trailer\n<</Root 1 0 R>>\n").into_bytes()
}

/// How reading ends when its time is over after some milliseconds.
fn stopped(bytes: Vec<u8>) -> String {
    let until = Instant::now() + Duration::from_millis(300);
    let ocr = Ocr { enabled: false, languages: String::new(), until };
    match catch_unwind(AssertUnwindSafe(|| read(bytes, &ocr, until))) {
        Ok(result) => result.map(|parsed| parsed.text).unwrap_err().reason,
        Err(panic) => panic.downcast_ref::<&str>().copied().unwrap_or("another panic").to_owned(),
    }
}

#[test]
fn forms_that_only_draw_each_other_are_stopped() {
    let form = |number: usize| {
        let next = number + 1;
        let dict = format!(
            "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</A {next} 0 R>>>>"
        );
        object(number, &dict, Some(&"/A Do ".repeat(20)))
    };
    let mut objects: Vec<String> = (5..17).map(form).collect();
    objects.push(object(17, "/Type/XObject/Subtype/Form/BBox[0 0 9 9]", Some("q Q")));
    objects.push(object(4, "", Some("/A Do")));
    let page = "/Contents 4 0 R/Resources<</XObject<</A 5 0 R>>>>";
    assert_eq!(stopped(pdf(1, page, &objects)), "the time is up");
}

#[test]
fn many_pages_that_draw_nothing_are_stopped() {
    let nothing = object(4, "", Some(&"q Q ".repeat(5_000)));
    let reason = stopped(pdf(5_000, "/Contents 4 0 R", &[nothing]));
    assert!(reason.contains("too long"), "{reason}");
}

#[test]
fn a_stream_that_a_page_names_often_is_counted_as_often() {
    let large = object(4, "", Some(&"q Q ".repeat(50_000)));
    let contents = format!("/Contents[{}]", "4 0 R ".repeat(3_000));
    let bytes = pdf(1, &contents, &[large]);
    let pdf = Pdf::new(bytes).unwrap();
    let refused = inflate::check_page(&pdf.pages()[0]).unwrap_err();
    assert!(refused.reason.contains("unpacks to"), "{refused:?}");
}
