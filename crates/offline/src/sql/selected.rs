//! What is asked of the rows: how many, how much together, which one, or what it says.
use super::Words;
use super::quoting::name;
use crate::input::{Column, Table};
use crate::lexicon::Lexicon;
use crate::lists::is_listed;

/// The head and the tail of a query.
pub(super) struct Selected {
    pub(super) columns: String,
    pub(super) tail: String,
}

pub(super) fn selected(
    words: &Words,
    table: &Table,
    conditions: &[String],
    used: &[String],
    lexicon: &Lexicon,
) -> Option<Selected> {
    let only = |columns: String| Some(Selected { columns, tail: String::new() });
    let said = said(words, table, used, lexicon);
    let number = number(words, table, used, lexicon);
    let label = table.columns.iter().find(|column| column.kind == "text");
    let rows = || names_rows(words, table, lexicon);
    if words.has(&["average", "mean"]) {
        return only(format!("AVG({})", name(&number?.name)));
    }
    if words.has(&["total", "sum", "altogether"]) {
        if let Some(number) = number {
            return only(format!("SUM({})", name(&number.name)));
        }
        return rows().then(|| Selected { columns: "COUNT(*)".into(), tail: String::new() });
    }
    let end = [("descending", "DESC", "MAX"), ("ascending", "ASC", "MIN")];
    if let Some((_, order, function)) =
        end.into_iter().find(|(name, ..)| words.lower.iter().any(|word| is_listed(name, word)))
    {
        return ended(words, table, (order, function), (label, number), lexicon);
    }
    if words.says("how many") || words.says("number of") || words.has(&["count"]) {
        if let Some(distinct) = after(words, &["different", "distinct"], table, lexicon) {
            return only(format!("COUNT(DISTINCT {})", name(&distinct.name)));
        }
        return match number {
            // `How many beds does X have?` reads a row; without a row all rows are meant.
            Some(number) if conditions.is_empty() => only(format!("SUM({})", name(&number.name))),
            Some(number) => only(name(&number.name)),
            None => rows().then(|| Selected { columns: "COUNT(*)".into(), tail: String::new() }),
        };
    }
    let asked = number.or(said).filter(|_| !conditions.is_empty());
    if let Some(asked) = asked {
        return only(name(&asked.name));
    }
    let which = words.has(&["which", "who", "what", "list"]) && !conditions.is_empty() && rows();
    label
        .filter(|label| which && !used.contains(&label.name))
        .and_then(|label| only(name(&label.name)))
}

/// The row, the value or the group at one end of an order.
fn ended(
    words: &Words,
    table: &Table,
    (order, function): (&str, &str),
    (label, number): (Option<&Column>, Option<&Column>),
    lexicon: &Lexicon,
) -> Option<Selected> {
    let head = after(words, &["which", "what"], table, lexicon);
    let which = words.has(&["which", "who", "whose", "where"]) || words.says("what is the name");
    if let Some(number) = number.or_else(|| dated(words, table)) {
        let number = name(&number.name);
        let Some(shown) = head.or(label.filter(|_| which)) else {
            return Some(Selected {
                columns: format!("{function}({number})"),
                tail: String::new(),
            });
        };
        let shown = name(&shown.name);
        return Some(Selected {
            columns: format!("{shown}, {number}"),
            // Rows without a value are at no end.
            tail: format!(" ORDER BY {number} IS NULL, {number} {order}, {shown} LIMIT 1"),
        });
    }
    let group = head.filter(|head| label.is_some_and(|label| label.name != head.name))?;
    let group = name(&group.name);
    Some(Selected {
        columns: format!("{group}, COUNT(*)"),
        tail: format!(" GROUP BY {group} ORDER BY COUNT(*) {order}, {group} LIMIT 1"),
    })
}

/// The column of texts that is named right after one of some words: `which town`, `which old town`.
fn after<'t>(
    words: &Words,
    these: &[&str],
    table: &'t Table,
    lexicon: &Lexicon,
) -> Option<&'t Column> {
    let at = words.lower.iter().position(|word| these.contains(&word.as_str()))?;
    let nouns: Vec<String> =
        words.lower[at + 1..].iter().take(2).map(|word| lexicon.stem(word)).collect();
    let named = |column: &&Column| lexicon.content(&column.name.replace('_', " "));
    let mut text = table.columns.iter().filter(|column| column.kind == "text");
    text.find(|column| nouns.iter().any(|noun| named(column).contains(noun)))
}

/// The only column of dates, for `oldest` and the like.
fn dated<'t>(words: &Words, table: &'t Table) -> Option<&'t Column> {
    let timely = words.has(&["latest", "newest", "youngest", "earliest", "oldest", "first"]);
    let mut dates = table.columns.iter().filter(|column| column.kind == "date");
    dates.next().filter(|_| timely && dates.next().is_none())
}

/// How many words of a column's name the question says.
fn matches(words: &Words, column: &Column, lexicon: &Lexicon) -> usize {
    let named = lexicon.content(&column.name.replace('_', " "));
    named.iter().filter(|stem| words.stems.contains(*stem)).count()
}

/// The column that the question names best, of those that pass; `None` where two do so alike.
fn best<'t>(
    words: &Words,
    table: &'t Table,
    lexicon: &Lexicon,
    passes: impl Fn(&Column) -> bool,
) -> Option<&'t Column> {
    let named = table.columns.iter().filter(|column| passes(column));
    let mut named: Vec<(usize, &Column)> = named
        .map(|column| (matches(words, column, lexicon), column))
        .filter(|(n, _)| *n > 0)
        .collect();
    named.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match named.as_slice() {
        [(first, _), (second, _), ..] if first == second => None,
        [(_, column), ..] => Some(column),
        [] => None,
    }
}

fn number<'t>(
    words: &Words,
    table: &'t Table,
    used: &[String],
    lexicon: &Lexicon,
) -> Option<&'t Column> {
    best(words, table, lexicon, |column| column.is_number() && !used.contains(&column.name))
}

fn said<'t>(
    words: &Words,
    table: &'t Table,
    used: &[String],
    lexicon: &Lexicon,
) -> Option<&'t Column> {
    best(words, table, lexicon, |column| !column.is_number() && !used.contains(&column.name))
}

/// Whether the question speaks of what the rows are, by the table's name or caption.
fn names_rows(words: &Words, table: &Table, lexicon: &Lexicon) -> bool {
    let heads = [table.name.replace('_', " "), table.caption.clone()];
    let stems = heads.iter().flat_map(|head| lexicon.content(head));
    let counted = words.place("how many").and_then(|at| words.lower.get(at + 2));
    let mut stems = stems.filter(|stem| words.stems.contains(stem));
    match counted {
        Some(noun) => {
            let noun = lexicon.stem(noun);
            heads.iter().any(|head| lexicon.content(head).contains(&noun))
        }
        None => stems.next().is_some(),
    }
}
