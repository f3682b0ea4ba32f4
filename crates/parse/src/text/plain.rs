//! Text without marks: paragraphs, separated by empty lines.
use crate::parsed::{Block, BlockKind, Parsed};

pub(crate) fn read(text: String) -> Parsed {
    let mut blocks: Vec<Block> = vec![];
    let mut open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if words.is_empty() {
            open = false;
        } else {
            let start = at + (line.len() - line.trim_start().len());
            let end = start + words.len();
            if let (true, Some(block)) = (open, blocks.last_mut()) {
                block.range.end = end;
            } else {
                open = true;
                blocks.push(Block { range: start..end, kind: BlockKind::Paragraph });
            }
        }
        at += line.len();
    }
    Parsed { format: "text", text, blocks, ..Parsed::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{check, outline};

    #[test]
    fn empty_lines_part_paragraphs() {
        let parsed = read("\u{feff}one\ntwo \r\n \r\n\n three".to_owned());
        check(&parsed);
        assert_eq!(outline(&parsed), ["p \u{feff}one two", "p three"]);
    }
}
