//! Published collections of passages as documents that `halma index` reads: the abstracts of
//! Wikipedia, 2017, those of `PubMed`, and others of their shapes. They are read line by line, so
//! that their size does not matter.
//!
//! | collection | a line |
//! |---|---|
//! | `HotpotQA`'s Wikipedia of October 2017 | `{"title", "text": [sentences]}`, also by paragraphs |
//! | `wiki.abstracts.2017` of `ColBERT`'s authors | the same, or `id ⇥ title \| text` |
//! | `PubMed` and others of MedRAG | `{"id", "title", "content"}` |
//! | `psgs_w100.tsv` of DPR's authors | `id ⇥ text ⇥ title` |
//! | BEIR, BrowseComp-Plus | `{"_id" or "docid", "title", "text"}` |
//! | `HippoRAG`'s pools, `MultiHop-RAG` | a JSON list of `{"title", "text" or "body"}` |
use std::fs::File;
use std::io::{BufRead, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use crate::error::EvalError;

/// Bytes of one file of documents: below the limit of what is read as one file.
const PART: u64 = 64_000_000;

/// What could not be done, in an error.
const UNWRITTEN: &str = "the passages cannot be written";

/// What became of a collection.
#[derive(Debug, Default, Serialize)]
pub struct Converted {
    pub passages: u64,
    /// Files written.
    pub parts: usize,
    /// Lines that are not passages, and the first of them with the reason.
    pub skipped: u64,
    pub first_skipped: Option<String>,
}

/// Writes the passages of some collections into a folder, as JSON lines in parts.
pub struct CorpusWriter {
    folder: PathBuf,
    part: Option<BufWriter<File>>,
    /// Bytes in the current part.
    written: u64,
    /// The columns of a table with tabs, where its first line names them.
    text_before_title: bool,
    converted: Converted,
}

impl CorpusWriter {
    /// Makes the folder, which must not hold documents of an earlier run.
    pub fn create(folder: &Path) -> Result<Self, EvalError> {
        let fail = EvalError::file(folder, "the folder cannot be made; give a new one");
        std::fs::create_dir_all(folder).map_err(&fail)?;
        if std::fs::read_dir(folder).map_err(fail)?.next().is_some() {
            return Err(EvalError::FullFolder { folder: folder.into() });
        }
        Ok(Self {
            folder: folder.into(),
            part: None,
            written: 0,
            text_before_title: false,
            converted: Converted::default(),
        })
    }

    /// Adds a collection; `name` is that of its file, for messages.
    pub fn add(&mut self, name: &str, mut lines: impl BufRead) -> Result<(), EvalError> {
        let unreadable = EvalError::file(Path::new(name), "the collection cannot be read");
        let start = lines.fill_buf().map_err(&unreadable)?;
        if start.trim_ascii_start().starts_with(b"[") {
            return self.add_list(name, lines);
        }
        let (mut bytes, mut number) = (vec![], 0_u64);
        self.text_before_title = false;
        while lines.read_until(b'\n', &mut bytes).map_err(&unreadable)? > 0 {
            number += 1;
            let line = String::from_utf8_lossy(&bytes);
            let line = line.trim_start_matches('\u{feff}').trim_end_matches(['\r', '\n']);
            if number == 1 && line == "id\ttext\ttitle" {
                self.text_before_title = true;
            } else if !line.trim().is_empty() {
                let place = format!("{name}:{number}");
                self.put(passage(line, self.text_before_title), &place)?;
            }
            bytes.clear();
        }
        Ok(())
    }

    /// Adds a collection that is one JSON list.
    fn add_list(&mut self, name: &str, list: impl BufRead) -> Result<(), EvalError> {
        let records: Vec<Value> = serde_json::from_reader(list)
            .map_err(EvalError::file(Path::new(name), "the list cannot be read"))?;
        for (number, record) in records.iter().enumerate() {
            self.put(from_record(record), &format!("{name}, record {}", number + 1))?;
        }
        Ok(())
    }

    /// Writes a passage, or remembers where there is none.
    fn put(
        &mut self,
        passage: Result<CorpusPassage, String>,
        place: &str,
    ) -> Result<(), EvalError> {
        match passage {
            Ok(passage) => self.write(passage),
            Err(reason) => {
                self.converted.skipped += 1;
                let first = || format!("{place}: {reason}");
                self.converted.first_skipped.get_or_insert_with(first);
                Ok(())
            }
        }
    }

    /// Ends the last part.
    pub fn finish(mut self) -> Result<Converted, EvalError> {
        self.end_part()?;
        Ok(self.converted)
    }

    fn write(&mut self, passage: CorpusPassage) -> Result<(), EvalError> {
        self.converted.passages += 1;
        let CorpusPassage { id, title, text, url, date } = passage;
        let id = id.unwrap_or_else(|| self.converted.passages.to_string());
        let mut record = json!({ "id": id, "title": title, "text": text });
        for (key, value) in [("url", url), ("date", date)] {
            if let Some(value) = value {
                record[key] = value.into();
            }
        }
        let line = format!("{record}\n");
        if self.written + line.len() as u64 > PART {
            self.end_part()?;
        }
        self.written += line.len() as u64;
        let part = if let Some(part) = &mut self.part {
            part
        } else {
            self.converted.parts += 1;
            let path = self.folder.join(format!("part-{:05}.jsonl", self.converted.parts));
            let file = File::create(&path).map_err(EvalError::file(&path, UNWRITTEN))?;
            self.part.insert(BufWriter::new(file))
        };
        part.write_all(line.as_bytes()).map_err(EvalError::file(&self.folder, UNWRITTEN))
    }

    fn end_part(&mut self) -> Result<(), EvalError> {
        self.written = 0;
        let Some(mut part) = self.part.take() else { return Ok(()) };
        part.flush().map_err(EvalError::file(&self.folder, UNWRITTEN))
    }
}

#[derive(Debug, PartialEq)]
struct CorpusPassage {
    id: Option<String>,
    title: String,
    text: String,
    url: Option<String>,
    date: Option<String>,
}

fn passage(line: &str, text_before_title: bool) -> Result<CorpusPassage, String> {
    let passage = if line.trim_start().starts_with('{') {
        from_record(&serde_json::from_str(line).map_err(|error| error.to_string())?)?
    } else {
        from_cells(line, text_before_title)?
    };
    Ok(passage)
}

fn from_record(record: &Value) -> Result<CorpusPassage, String> {
    let field = |keys: &[&str]| keys.iter().find_map(|key| record.get(*key));
    let id = match field(&["id", "_id", "pid", "PMID", "docid"]) {
        Some(Value::String(id)) => Some(id.clone()),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    let title = field(&["title"]).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let text =
        field(&["text", "content", "abstract", "contents", "body"]).ok_or("it has no `text`")?;
    let text = joined(text).ok_or("its text is not text")?.trim().to_owned();
    let words = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
    with_text(CorpusPassage { id, title, text, url: words("url"), date: words("published_at") })
}

fn with_text(passage: CorpusPassage) -> Result<CorpusPassage, String> {
    if passage.text.trim().is_empty() { Err("it has no text".into()) } else { Ok(passage) }
}

/// A text, or the sentences of one; where paragraphs are lists of sentences, a line for each.
fn joined(value: &Value) -> Option<String> {
    let Value::Array(parts) = value else { return value.as_str().map(str::to_owned) };
    let nested = parts.iter().any(Value::is_array);
    let texts: Vec<String> = parts.iter().map(joined).collect::<Option<_>>()?;
    let mut text = String::new();
    for part in texts.iter().filter(|part| !part.trim().is_empty()) {
        if !text.is_empty() && (nested || !part.starts_with(char::is_whitespace)) {
            text.push(if nested { '\n' } else { ' ' });
        }
        text.push_str(part);
    }
    Some(text)
}

fn from_cells(line: &str, text_before_title: bool) -> Result<CorpusPassage, String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let (id, title, text) = match cells[..] {
        [id, text, title] if text_before_title => (id, title, text),
        [id, title, text] => (id, title, text),
        [id, text] => {
            let (title, text) = text.split_once(" | ").unwrap_or(("", text));
            (id, title, text)
        }
        _ => return Err(format!("it is not JSON and has {} cells", cells.len())),
    };
    let unquoted = |text: &str| {
        let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\"\"", "\""))
    };
    let (id, title, text) = (Some(id.to_owned()), unquoted(title), unquoted(text));
    with_text(CorpusPassage { id, title, text, url: None, date: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, String, String) {
        let CorpusPassage { id, title, text, .. } = passage(line, false).unwrap();
        (id.unwrap_or_default(), title, text)
    }

    fn parts(id: &str, title: &str, text: &str) -> (String, String, String) {
        (id.into(), title.into(), text.into())
    }

    #[test]
    fn the_published_shapes_are_read() {
        let hotpot = r#"{"id": "12", "url": "u", "title": "Varn", "text": ["Varn is an isle.", " It has a lamp."]}"#;
        assert_eq!(read(hotpot), parts("12", "Varn", "Varn is an isle. It has a lamp."));
        let paragraphs =
            r#"{"id": 7, "title": "Lenn", "text": [["A river."], ["Long.", "Cold."]]}"#;
        assert_eq!(read(paragraphs), parts("7", "Lenn", "A river.\nLong. Cold."));
        let med = r#"{"id": "pubmed23n0001_0", "title": "On lamps.", "content": "Lamps glow.", "contents": "On lamps. Lamps glow.", "PMID": 1}"#;
        assert_eq!(read(med), parts("pubmed23n0001_0", "On lamps.", "Lamps glow."));
        assert_eq!(read("3\tVarn | An isle."), parts("3", "Varn", "An isle."));
        let dpr = passage("4\t\"The \"\"Gull\"\" sails.\"\tGull", true).unwrap();
        assert_eq!((dpr.title.as_str(), dpr.text.as_str()), ("Gull", "The \"Gull\" sails."));
        for bad in ["{\"title\": \"x\"}", "{", "plain words", "5\t", "{\"text\": [1]}"] {
            assert!(passage(bad, false).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_is_read_with_addresses_and_dates() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("corpus");
        let mut writer = CorpusWriter::create(&out).unwrap();
        let list = r#"
            [{"title": "Varn", "body": "An isle.", "url": "u", "published_at": "2023-09-28T12:00:00+00:00"},
             {"title": "Lenn", "text": "A river.", "idx": 1}, {"title": "Skell", "text": " "}]"#;
        writer.add("corpus.json", list.as_bytes()).unwrap();
        assert!(writer.add("cut.json", &b"[{\"title\": \"Va"[..]).is_err());
        let converted = writer.finish().unwrap();
        assert_eq!((converted.passages, converted.skipped), (2, 1));
        assert_eq!(converted.first_skipped.unwrap(), "corpus.json, record 3: it has no text");
        let written = std::fs::read_to_string(out.join("part-00001.jsonl")).unwrap();
        let first = r#"{"id":"1","title":"Varn","text":"An isle.","url":"u","date":"2023-09-28T12:00:00+00:00"}"#;
        assert!(written.lines().next() == Some(first), "{written}");
    }

    #[test]
    fn a_collection_becomes_a_folder_of_documents() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("corpus");
        let mut writer = CorpusWriter::create(&out).unwrap();
        writer
            .add("a.jsonl", &b"{\"title\": \"Varn\", \"text\": \"An isle.\"}\nwhat\n\n"[..])
            .unwrap();
        writer.add("psgs.tsv", &b"id\ttext\ttitle\n9\tA river.\tLenn\n"[..]).unwrap();
        let converted = writer.finish().unwrap();
        assert_eq!((converted.passages, converted.parts, converted.skipped), (2, 1, 1));
        assert!(converted.first_skipped.unwrap().starts_with("a.jsonl:2: "));
        let written = std::fs::read_to_string(out.join("part-00001.jsonl")).unwrap();
        assert_eq!(
            written,
            "{\"id\":\"1\",\"title\":\"Varn\",\"text\":\"An isle.\"}\n\
             {\"id\":\"9\",\"title\":\"Lenn\",\"text\":\"A river.\"}\n"
        );
        assert!(CorpusWriter::create(&out).is_err(), "it holds documents already");
    }
}
