//! How mailboxes (RFC 4155) are told from other texts, and their messages from one another.

/// What the line above a message begins with.
pub(crate) const SEPARATOR: &[u8] = b"From ";

/// Whether a text begins like a mailbox: with the line above a message, and its first header.
pub(crate) fn is_mailbox(head: &str) -> bool {
    let mut lines = head.lines();
    let separator = lines.next().is_some_and(|line| is_separator(line.as_bytes()));
    separator && lines.next().is_some_and(|line| is_header(line.as_bytes()))
}

/// Whether a line stands above a message: a sender and a time, as in `Mon Jan  1 00:00:00 2024`.
pub(crate) fn is_separator(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(SEPARATOR) else { return false };
    let is_time = |part: &[u8]| part.len() >= 5 && part[2] == b':' && part[0].is_ascii_digit();
    rest.split(u8::is_ascii_whitespace).any(is_time)
}

/// Whether a line is a header: a name, and a colon.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let name = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-');
    let length = name.count();
    length > 0 && line.get(length) == Some(&b':')
}
