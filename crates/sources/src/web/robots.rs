//! What a site lets robots read: `robots.txt` by RFC 9309, for a robot named `halma`.
//!
//! Our own, because the RFC is short (groups of names, `allow` and `disallow`, the longest pattern
//! wins, `*` and a last `$`), and the crate for it has not been released since 2022 and brings
//! second versions of others.

/// Our name in a `robots.txt`.
const NAME: &str = "halma";
/// What follows after this many bytes is not read (RFC 9309, Section 2.5).
pub(super) const MAX_BYTES: usize = 500 << 10;

#[derive(Debug, Default)]
pub(super) struct Robots {
    /// Whether it allows, and which paths.
    rules: Vec<(bool, String)>,
}

impl Robots {
    /// The rules of the groups for our name, or else of those for all robots.
    pub(super) fn parse(text: &str) -> Self {
        let (mut ours, mut anybodys) = (vec![], vec![]);
        // Whom the group is for that is being read: us or all robots; and whether it has rules yet.
        let (mut us, mut all, mut ruled) = (false, false, false);
        let mut named = false;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if ruled {
                        (us, all, ruled) = (false, false, false);
                    }
                    let name: String = value
                        .chars()
                        .take_while(|c| c.is_ascii_alphabetic() || "-_".contains(*c))
                        .collect();
                    us |= name.eq_ignore_ascii_case(NAME);
                    all |= value == "*";
                    named |= us;
                }
                "allow" | "disallow" => {
                    ruled = true;
                    // An empty pattern matches nothing.
                    if !value.is_empty() {
                        let rule = || (key == "allow", decoded(value));
                        if us {
                            ours.push(rule());
                        }
                        if all {
                            anybodys.push(rule());
                        }
                    }
                }
                _ => {}
            }
        }
        Self { rules: if named { ours } else { anybodys } }
    }

    /// Whether a path with its query may be read. The longest pattern wins, of equals the one that
    /// allows.
    pub(super) fn allow(&self, path: &str) -> bool {
        let path = decoded(path);
        let fitting = self.rules.iter().filter(|(_, pattern)| fits(pattern, &path));
        let best = fitting.max_by_key(|(allows, pattern)| (pattern.len(), *allows));
        best.is_none_or(|(allows, _)| *allows)
    }
}

/// Whether a path begins as a pattern says: `*` is anything, a last `$` the end.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (at, part) in parts.iter().enumerate() {
        if whole && at + 1 == parts.len() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    !whole || rest.is_empty()
}

/// With `%41` as `A`; what stands for a mark of addresses stays as it is, in upper case.
fn decoded(path: &str) -> String {
    let bytes = path.as_bytes();
    let (mut out, mut at) = (vec![], 0);
    while at < bytes.len() {
        let hex = bytes.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match byte.filter(|_| bytes[at] == b'%') {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                out.push(byte);
                at += 3;
            }
            Some(byte) => {
                out.extend(format!("%{byte:02X}").bytes());
                at += 3;
            }
            None if bytes[at].is_ascii() => {
                out.push(bytes[at]);
                at += 1;
            }
            None => {
                out.extend(format!("%{:02X}", bytes[at]).bytes());
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_fit_as_the_rfc_says() {
        for (pattern, path, fitting) in [
            ("/", "/a", true),
            ("/a", "/ab", true),
            ("/a/", "/a", false),
            ("/*.gif$", "/x/y.gif", true),
            ("/*.gif$", "/x/y.gif?z", false),
            ("/a*b*c", "/axxbyyc/d", true),
            ("/a*b*c", "/axxcyyb", false),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("*", "/", true),
            ("/*a$", "/aba", true),
        ] {
            assert_eq!(fits(pattern, path), fitting, "{pattern} {path}");
        }
    }

    #[test]
    fn the_group_of_our_name_counts_or_else_everybodys() {
        let everybody = "User-agent: *\nDisallow: /private\nAllow: /private/open\n";
        let robots = Robots::parse(everybody);
        assert!(robots.allow("/") && robots.allow("/private/open/x"));
        assert!(!robots.allow("/private/x") && !robots.allow("/pri%76ate"));

        let lines =
            format!("\u{feff}{everybody}\n# us\nuser-AGENT : Halma/1.0 # again\nDisallow: /h\n");
        let robots = Robots::parse(&lines);
        assert!(robots.allow("/private/x") && !robots.allow("/h") && robots.allow("/g"));

        // Two names share a group; a group of ours without rules lets us read all.
        let shared = "User-agent: other\nUser-agent: halma\nDisallow: /\n\nUser-agent: *\nAllow: /";
        assert!(!Robots::parse(shared).allow("/a"));
        let open = "User-agent: halma\nDisallow:\nUser-agent: *\nDisallow: /";
        assert!(Robots::parse(open).allow("/a"));
        assert!(!Robots::parse("User-agent: *\nDisallow: /\nAllow: /$").allow("/a"));
        assert!(Robots::parse("User-agent: *\nDisallow: /\nAllow: /$").allow("/"));
    }

    #[test]
    fn what_is_no_robots_file_forbids_nothing() {
        for text in ["", "<html>no</html>", "Disallow: /", "User-agent: halmaesque\nDisallow: /"] {
            assert!(Robots::parse(text).allow("/a"), "{text}");
        }
        assert!(!Robots::parse("User-agent: *\nDisallow: /ä").allow("/%c3%a4"));
    }

    proptest! {
        #[test]
        fn no_file_is_too_odd(text in "(?s).{0,200}", path in "/.{0,50}") {
            Robots::parse(&text).allow(&path);
            Robots::parse(&format!("User-agent: *\nDisallow: {text}")).allow(&path);
        }
    }
}
