//! Text without marks: paragraphs, parted by empty lines.
use crate::parsed::{Block, BlockKind, Parsed};

pub(crate) fn read(text: String) -> Parsed {
    let mut blocks: Vec<Block> = vec![];
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim();
        if words.is_empty() {
            open = None;
        } else {
            let start = at + (line.len() - line.trim_start().len());
            let end = start + words.len();
            match open.and_then(|index: usize| blocks.get_mut(index)) {
                Some(block) => block.range.end = end,
                None => {
                    open = Some(blocks.len());
                    blocks.push(Block { range: start..end, kind: BlockKind::Paragraph });
                }
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
