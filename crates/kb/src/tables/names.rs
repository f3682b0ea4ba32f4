//! Names that can be written in SQL without quotes.
use std::collections::{HashMap, HashSet};

/// Longer names are cut.
const LONGEST: usize = 60;

/// SQLite's keywords that are not names without quotes.
const RESERVED: &str = "add all alter and as autoincrement between case check collate commit constraint create \
    default deferrable delete distinct drop else escape except exists foreign from group \
    having in index insert intersect into is isnull join limit not nothing notnull null on or \
    order primary references returning select set table then to transaction union unique \
    update using values when where";

/// `First approval (EU)` as `first_approval_eu`; `None` where nothing is left.
pub(super) fn identifier(text: &str) -> Option<String> {
    let mut name = String::new();
    for c in text.chars() {
        if c.is_alphanumeric() {
            name.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        if name.chars().count() >= LONGEST {
            break;
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        return None;
    }
    if name.starts_with(char::is_numeric) {
        return Some(format!("_{name}"));
    }
    Some(if RESERVED.split(' ').any(|word| word == name) {
        format!("{name}_")
    } else {
        name.to_owned()
    })
}

/// A name of its own for each column.
pub(super) fn columns<'a>(written: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = vec![];
    // Thousands of columns may be called the same.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (i, written) in written.enumerate() {
        let name = identifier(written).unwrap_or_else(|| format!("column_{}", i + 1));
        let number = numbers.entry(name.clone()).or_default();
        *number += 1;
        let name = if *number > 1 { format!("{name}_{number}") } else { name };
        names.push(free(name, &mut taken));
    }
    names
}

/// The name, or the name with the first number that is free.
pub(super) fn free(name: String, taken: &mut HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or(name);
    taken.insert(free.clone());
    free
}

/// What a table is called after.
#[derive(Debug, Clone, Default)]
pub(super) struct Called<'a> {
    pub(super) caption: Option<&'a str>,
    /// Name of its document, with the table's number in it, counted from 1.
    pub(super) document: Option<(&'a str, usize)>,
}

impl Called<'_> {
    /// From the shortest name to the one that says most.
    fn candidates(&self) -> [String; 3] {
        let number = |number: usize| if number > 1 { format!("_{number}") } else { String::new() };
        let (path, stem, place) = match self.document {
            Some((name, at)) => {
                let file = name.rsplit('/').next().unwrap_or(name);
                let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
                (&name[..name.len() - file.len() + stem.len()], stem, number(at))
            }
            None => ("", "", String::new()),
        };
        let joined = |before: &str| match (self.caption.and_then(identifier), identifier(before)) {
            (Some(caption), Some(before)) => format!("{before}_{caption}"),
            (Some(caption), None) => caption,
            (None, before) => before.unwrap_or_else(|| "table_1".to_owned()) + &place,
        };
        let short = self.caption.and_then(identifier).unwrap_or_else(|| joined(stem));
        [short, joined(stem), joined(path)]
    }
}

/// A name of its own for each table: its caption, or its document's name, or both, as far as
/// needed to distinguish it from the others. A name that several share is left to what unites them.
pub(super) fn tables(
    called: &[Called<'_>],
    taken: &mut HashSet<String>,
) -> (Vec<String>, Vec<[String; 3]>) {
    let candidates: Vec<[String; 3]> = called.iter().map(Called::candidates).collect();
    let mut names: Vec<Option<String>> = vec![None; called.len()];
    let mut shared = HashSet::new();
    for level in 0..3 {
        let mut count: HashMap<&str, usize> = HashMap::new();
        for (name, candidates) in names.iter().zip(&candidates) {
            if name.is_none() {
                *count.entry(&candidates[level]).or_default() += 1;
            }
        }
        for (name, candidates) in names.iter_mut().zip(&candidates) {
            let candidate = &candidates[level];
            let free = !taken.contains(candidate) && !shared.contains(candidate);
            if name.is_none() && free && count[candidate.as_str()] == 1 {
                taken.insert(candidate.clone());
                *name = Some(candidate.clone());
            }
        }
        shared.extend(count.into_iter().filter(|(_, n)| *n > 1).map(|(name, _)| name.to_owned()));
    }
    let told_apart = |(name, candidates): (Option<String>, &[String; 3])| {
        name.unwrap_or_else(|| free(candidates[2].clone(), taken))
    };
    (names.into_iter().zip(&candidates).map(told_apart).collect(), candidates)
}

/// What several tables have in common: their shortest name, or the words that all begin with.
pub(super) fn common<'a>(names: &[&'a str]) -> Option<&'a str> {
    let first = *names.first()?;
    let mut length = first.len();
    for name in names {
        let same = first.chars().zip(name.chars()).take_while(|(a, b)| a == b);
        length = length.min(same.map(|(c, _)| c.len_utf8()).sum());
    }
    let whole =
        names.iter().all(|name| name[length..].is_empty() || name[length..].starts_with('_'));
    let common = if whole { &first[..length] } else { first[..length].rsplit_once('_')?.0 };
    let common = common.trim_end_matches(|c: char| c == '_' || c.is_numeric());
    (!common.is_empty()).then_some(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_needs_no_quotes() {
        let name = |text| identifier(text).unwrap();
        assert_eq!(name("First approval (EU)"), "first_approval_eu");
        assert_eq!(name("Größe in %"), "größe_in");
        assert_eq!(name("2023"), "_2023");
        assert_eq!(name("Order"), "order_");
        assert_eq!(name("_rowid_"), "rowid");
        assert_eq!(identifier(" \"' "), None);
        assert!(name(&"x".repeat(500)).len() <= LONGEST);
    }

    #[test]
    fn columns_of_one_name_or_none_are_told_apart() {
        let names = columns(["Name", "name", "", "\"", "Name 2"].into_iter());
        assert_eq!(names, ["name", "name_2", "column_3", "column_4", "name_2_2"]);
    }

    #[test]
    fn ten_thousand_columns_of_one_name_are_named_at_once() {
        let names = columns(std::iter::repeat_n("x", 10_000));
        assert_eq!((names[1].as_str(), names[9_999].as_str()), ("x_2", "x_10000"));
        let different: HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
        assert_eq!(columns(["x_3", "x", "x", "x"].into_iter()), ["x_3", "x", "x_2", "x_3_2"]);
    }

    #[test]
    fn tables_are_called_as_shortly_as_they_can_be_told_apart() {
        let of = |caption, document| Called { caption, document };
        let called = [
            of(None, Some(("biosimilars.csv", 1))),
            of(Some("Sales"), Some(("reports/2021.xlsx", 1))),
            of(Some("Sales"), Some(("reports/2022.xlsx", 1))),
            of(None, Some(("a/list.html", 1))),
            of(None, Some(("b/list.html", 1))),
            of(None, Some(("b/list.html", 2))),
            of(Some("founder of"), None),
            of(Some("Tables"), None),
        ];
        let mut taken = HashSet::from(["tables".to_owned()]);
        let (names, _) = tables(&called, &mut taken);
        assert_eq!(
            names,
            [
                "biosimilars",
                "_2021_sales",
                "_2022_sales",
                "a_list",
                "b_list",
                "list_2",
                "founder_of",
                "tables_2"
            ]
        );
    }

    #[test]
    fn what_names_have_in_common() {
        assert_eq!(common(&["sales_2021", "sales_2022"]), Some("sales"));
        assert_eq!(common(&["sales", "sales_2022"]), Some("sales"));
        assert_eq!(common(&["sales_eu", "sales_extra"]), Some("sales"));
        assert_eq!(common(&["north", "nothing"]), None);
    }
}
