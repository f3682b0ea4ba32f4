//! The sample library says the same thing in each format.
use crate::{cells, parse, repository};

fn read(name: &str) -> halma_parse::Parsed {
    let path = repository().join("demo/library").join(name);
    parse(name, &std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .unwrap()
}

#[test]
fn the_table_is_the_same_in_three_formats() {
    let table = read("biosimilars.csv").tables.remove(0);
    for name in ["biosimilars.xlsx", "biosimilars.html"] {
        let other = read(name).tables.remove(0);
        assert_eq!(other.columns, table.columns, "{name}; run demo/make_documents.py");
        assert_eq!(cells(&other), cells(&table), "{name}; run demo/make_documents.py");
    }
}

#[test]
fn the_notes_have_titles_sections_and_tables() {
    for (name, title, pages) in [
        ("law/patent-dance.pdf", "Patent dance", 2),
        ("law/exclusivity.docx", "Exclusivity of biological products", 1),
    ] {
        let note = read(name);
        assert_eq!(note.title.as_deref(), Some(title));
        assert_eq!(
            (note.tables.len(), note.pages.len(), note.language.as_deref()),
            (1, pages, Some("en"))
        );
        let headings = note.blocks.iter().filter_map(|block| note.heading(block)).count();
        assert_eq!(headings, 4, "{name}");
    }
}
