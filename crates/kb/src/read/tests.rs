//! Input as it really comes: broken, strange, official.
use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::settings::LARGEST;

fn read_as(format: InputFormat, name: &str, content: &[u8]) -> (Vec<ParsedDocument>, Vec<Refused>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, content).unwrap();
    read_path(format, &path)
}

fn read_path(format: InputFormat, path: &Path) -> (Vec<ParsedDocument>, Vec<Refused>) {
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let origin = format!("/{name}");
    let file = InputFile { path: path.to_owned(), name, origin, bytes: 0 };
    let mut drafts = vec![];
    let bytes = match file.load() {
        Ok(bytes) => bytes,
        Err(refusal) => return (drafts, vec![Refused::new(path, None, refusal)]),
    };
    let options = ParseOptions::default();
    let reader = FileReader { parser: Parser::default(), options: &options, format };
    let refused = reader.read(&file, bytes, &mut |draft| {
        drafts.push(draft);
        Ok(())
    });
    (drafts, refused.unwrap())
}

fn refused(name: &str, content: &[u8]) -> String {
    let (drafts, refused) = read_as(InputFormat::Auto, name, content);
    assert_eq!(drafts, [], "{name} is indexed");
    assert_eq!(refused.len(), 1, "{name}: {refused:?}");
    assert!(refused[0].file.ends_with(name) && !refused[0].hint.is_empty());
    format!("{} / {}", refused[0].reason, refused[0].hint)
}

fn texts(name: &str, content: &str) -> Vec<String> {
    let (drafts, refused) = read_as(InputFormat::Auto, name, content.as_bytes());
    assert_eq!(refused, []);
    drafts.into_iter().map(|draft| format!("{}: {}", draft.name, draft.parsed.text)).collect()
}

#[test]
fn what_cannot_be_read_is_refused_with_a_reason() {
    for (name, content, words) in [
        ("a.txt", &b""[..], "empty"),
        ("a.md", b" \n\r\n", "empty"),
        ("a.md", b"---\ntitle: x\n---\n\n", "front matter"),
        ("a.jsonl", b"text\0more", "bytes that are NUL"),
        ("a.jsonl", b"{\"text\": \"caf\xe9\"}", "byte 13 fits no character"),
        ("a.jsonl", b"\xff\xfe{\0", "UTF-16"),
        ("a.pdf", b"%PDF-1.7", ""),
        ("a.json", b"[{\"context\": [[\"T\", [\"One.\"", "half-written"),
        ("a.json", b"{\"key\": [1, 2", "half-written"),
        ("a.json", b"[{\"text\": \"a\"}, {oops}]", "does not fit"),
        ("a.csv", b"only,a,header\n", "no rows"),
    ] {
        let said = refused(name, content);
        assert!(said.contains(words), "{name}: {said}");
    }
}

#[test]
fn an_enormous_file_is_refused_without_reading_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big.txt");
    fs::File::create(&path).unwrap().set_len(LARGEST).unwrap();
    let (drafts, refused) = read_path(InputFormat::Auto, &path);
    assert!(drafts.is_empty() && refused[0].reason.contains("200 MB"), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn what_is_not_there_or_no_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("link.txt");
    std::os::unix::fs::symlink(dir.path().join("nowhere"), &link).unwrap();
    let (_, refused) = read_path(InputFormat::Auto, &link);
    assert!(refused[0].reason.contains("cannot be read"), "{refused:?}");
    // Reading a socket would wait for ever.
    let socket = dir.path().join("socket.txt");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let (_, refused) = read_path(InputFormat::Auto, &socket);
    assert!(refused[0].reason.contains("not a regular file"), "{refused:?}");
}

#[test]
fn a_broken_line_is_named_and_the_others_are_read() {
    let content = "\u{feff}{\"text\": \"One\", \"id\": 7, \"title\": null}\r\n\r\n{\"text\": \"Tw\r\n\
                   {\"id\": \"x\"}\r\n{\"text\": \" \"}\n[1]\n{\"text\": \"Five\", \"extra\": {}}";
    let (drafts, refused) = read_as(InputFormat::Auto, "r.jsonl", content.as_bytes());
    let names: Vec<&str> = drafts.iter().map(|draft| draft.name.as_str()).collect();
    assert_eq!(names, ["7", "r.jsonl#7"]);
    let lines: Vec<Option<usize>> = refused.iter().map(|refused| refused.line).collect();
    assert_eq!(lines, [Some(3), Some(4), Some(5), Some(6)]);
    // Its line in the file is said, and not that of the text that was read.
    assert!(refused[0].reason.starts_with("broken JSON at column 12: EOF"), "{refused:?}");
    assert!(!refused[0].reason.contains("line 1"), "{refused:?}");
    assert!(refused[1].reason.contains("text"), "{refused:?}");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_fine() {
    let (drafts, refused) = read_as(InputFormat::Auto, "a.md", b"\xef\xbb\xbf# T\r\n\r\nText.\r\n");
    assert_eq!(refused, []);
    assert_eq!(drafts[0].title.as_deref(), Some("T"));
    assert_eq!(drafts[0].parsed.text, "# T\r\n\r\nText.\r\n");
}

#[test]
fn the_official_forms_are_recognised() {
    let hotpot = r#"[{"_id": "q", "context": [["T", ["One.", " Two."]], ["E", []]]}]"#;
    assert_eq!(texts("hotpot.json", hotpot), ["T: One. Two."]);
    let musique = r#"{"id": "q", "paragraphs": [{"idx": 0, "title": "T", "paragraph_text": "P"}]}"#;
    assert_eq!(texts("m.jsonl", musique), ["T: P"]);
    assert_eq!(texts("m.json", &format!("{musique}\n{musique}\n")), ["T: P", "T: P"]);
    assert_eq!(texts("m.json", &format!("[{musique}]")), ["T: P"]);
    assert_eq!(
        texts("list.json", r#"[{"text": "A"}, {"text": "B", "id": "b"}]"#),
        ["list.json#1: A", "b: B"]
    );
    assert_eq!(texts("other.json", "{\"a\": 1}"), ["other.json: {\"a\": 1}"]);
    let (drafts, _) = read_as(InputFormat::Hotpotqa, "hotpot.txt", hotpot.as_bytes());
    assert_eq!((drafts.len(), drafts[0].naming), (1, Naming::Pooled));
    let (drafts, refused) = read_as(InputFormat::Musique, "hotpot.json", b"[{\"question\": 1}]");
    assert!(drafts.is_empty() && refused[0].reason.contains("no `paragraphs`"), "{refused:?}");
}

/// The public files.
#[test]
#[ignore = "needs HALMA_DATA: the folder with hotpotqa_dev.json and the like"]
fn public_files_give_their_paragraphs() {
    let data = PathBuf::from(std::env::var_os("HALMA_DATA").expect("HALMA_DATA names the folder"));
    for (name, least) in [
        ("hotpotqa_dev.json", 2800),
        ("2wiki_dev.json", 700),
        ("musique_ans_dev.jsonl", 3700),
        ("musique_train100.json", 1900),
    ] {
        let (drafts, refused) = read_path(InputFormat::Auto, &data.join(name));
        assert_eq!(refused, []);
        assert!(drafts.len() >= least, "{name}: {}", drafts.len());
    }
}

#[test]
fn a_file_is_recognised_by_its_beginning_and_an_archive_by_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let read = |start: &[u8]| {
        let mut bytes = vec![b'x'; 2 * halma_parse::HEAD];
        bytes[..start.len()].copy_from_slice(start);
        std::fs::write(&path, &bytes).unwrap();
        distinctive(&path).unwrap().len()
    };
    assert_eq!(read(b"# Notes"), halma_parse::HEAD);
    assert_eq!(read(b"PK\x03\x04"), 2 * halma_parse::HEAD);
    assert_eq!(read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), 2 * halma_parse::HEAD);
}
