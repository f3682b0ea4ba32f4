//! Texts that are too long for one call, in windows of a model's length.

/// Pieces together, in order, up to so many characters; a longer piece is cut.
pub(super) fn pack(pieces: &[String], limit: usize) -> Vec<Vec<String>> {
    let mut windows: Vec<Vec<String>> = vec![vec![]];
    let mut room = limit;
    for piece in pieces {
        let mut rest = piece.as_str();
        while !rest.is_empty() {
            let length = rest.chars().count();
            let begun = windows.last().is_some_and(|window| !window.is_empty());
            if length > room && begun {
                windows.push(vec![]);
                room = limit;
            }
            let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
            let (head, tail) = rest.split_at(end);
            if let Some(window) = windows.last_mut() {
                window.push(head.to_owned());
            }
            room = room.saturating_sub(length.min(limit));
            rest = tail;
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_hold_all_text_in_order_and_no_more_than_they_may() {
        let pieces: Vec<String> = [3, 4, 25, 1, 9, 2].map(|n| "é".repeat(n)).to_vec();
        let windows = pack(&pieces, 10);
        let lengths: Vec<usize> =
            windows.iter().map(|w| w.iter().map(|t| t.chars().count()).sum()).collect();
        assert!(lengths.iter().all(|length| *length <= 10), "{lengths:?}");
        assert_eq!(windows.concat().concat(), pieces.concat());
        assert_eq!(pack(&["a".to_owned()], 10).len(), 1);
    }
}
