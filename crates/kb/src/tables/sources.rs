//! Which rows a result comes from: the query is run once more with the numbers of the rows that it
//! read in addition to its columns, where that is sure not to change what it means.
use super::query::{Query, quoted};
use super::tokens::{Token, TokenKind};

/// Functions that make one value of many rows.
const AGGREGATES: &[&str] = &[
    "avg",
    "count",
    "group_concat",
    "json_group_array",
    "json_group_object",
    "jsonb_group_array",
    "jsonb_group_object",
    "max",
    "median",
    "min",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "string_agg",
    "sum",
    "total",
];

/// A query that gives the rows of each result with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Traced {
    pub(super) sql: String,
    /// Whether its rows come in the order of the query's own.
    pub(super) in_order: bool,
}

/// The query with the rows of its tables in further columns; `None` where only its tables can be
/// named. `width` is the number of its columns.
pub(super) fn traced(
    query: &Query<'_>,
    width: usize,
    is_table: impl Fn(&str) -> bool,
) -> Option<Traced> {
    let clauses = Clauses::of(query)?;
    let tables = clauses.tables(query, is_table)?;
    let sql = query.sql;
    let text = |from: usize, to: usize| {
        let end = query.tokens.get(to).map_or(sql.len(), |token| token.range.start);
        sql.get(query.tokens.get(from).map_or(sql.len(), |token| token.range.start)..end)
            .unwrap_or_default()
    };
    let (before, list, from) =
        (text(0, clauses.list), text(clauses.list, clauses.from), clauses.from);
    let aggregates = clauses.aggregates(query);
    let rows = |each: &dyn Fn(&str) -> String| {
        let items = tables.iter().map(|table| format!(", {}", each(&quoted(table))));
        items.collect::<Vec<String>>().concat()
    };
    let alone = |table: &str| format!("{table}._rowid_");
    let all = |table: &str| format!("group_concat({table}._rowid_)");
    // Next to a single `min` or `max` SQLite gives the row that holds it.
    let extreme = matches!(&aggregates[..], [one] if query.is_any(*one, &["min", "max"]));
    let grouped = clauses.group.is_some() || !aggregates.is_empty();
    if clauses.distinct && grouped {
        return None;
    }
    if clauses.distinct {
        let before = text(0, clauses.list - 1);
        let numbers: Vec<String> = (1..=width).map(|number| number.to_string()).collect();
        let (kept, rest) = (text(from, clauses.order), text(clauses.order, query.tokens.len()));
        let (rows, numbers) = (rows(&all), numbers.join(", "));
        let sql = format!("{before} {list}{rows} {kept} GROUP BY {numbers} {rest}");
        return Some(Traced { sql, in_order: false });
    }
    let rows = if grouped && !extreme { rows(&all) } else { rows(&alone) };
    let sql = format!("{before}{list}{rows} {}", text(from, query.tokens.len()));
    Some(Traced { sql, in_order: true })
}

/// Where the parts of a single `SELECT` begin, by token.
struct Clauses {
    list: usize,
    from: usize,
    /// The end of the list of tables.
    after: usize,
    group: Option<usize>,
    /// `ORDER BY`, `LIMIT`, or the end.
    order: usize,
    distinct: bool,
}

impl Clauses {
    fn of(query: &Query<'_>) -> Option<Self> {
        let outside = |word: &str, from: usize| {
            let mut tokens = query.tokens.iter().enumerate().skip(from);
            tokens
                .find(|(_, token)| token.depth == 0 && token.is(query.sql, word))
                .map(|(at, _)| at)
        };
        if ["union", "intersect", "except", "values"].iter().any(|word| outside(word, 0).is_some())
        {
            return None;
        }
        let select = outside("select", 0)?;
        let distinct = query.is(select + 1, "distinct");
        let list = select + 1 + usize::from(distinct || query.is(select + 1, "all"));
        let mut from = outside("from", list)?;
        while query.is(from - 1, "distinct") {
            from = outside("from", from + 1)?;
        }
        let end = query.tokens.len();
        let ends = ["where", "group", "having", "window", "order", "limit"];
        let after = ends.iter().filter_map(|word| outside(word, from)).min().unwrap_or(end);
        let group = outside("group", from).or_else(|| outside("having", from));
        let order = ["order", "limit"].iter().filter_map(|word| outside(word, from)).min();
        // A named window stands where a grouping would have to.
        if distinct && outside("window", from).is_some() {
            return None;
        }
        Some(Self { list, from, after, group, order: order.unwrap_or(end), distinct })
    }

    /// What each table is called in the query; `None` if one of them is not simply a table.
    fn tables(&self, query: &Query<'_>, is_table: impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let places = query.table_places();
        let mut tables = vec![];
        let mut expected = true;
        for at in self.from + 1..self.after {
            let token = &query.tokens[at];
            if token.depth > 0 {
                continue;
            }
            if expected {
                let name = query.name(at).filter(|_| places.contains(&at))?;
                // A table-valued function, or a table of another schema.
                if !is_table(&name) || query.is_mark(at + 1, '(') || query.is_mark(at + 1, '.') {
                    return None;
                }
                let alias = at + 1 + usize::from(query.is(at + 1, "as"));
                let alias = Some(alias).filter(|alias| *alias < self.after);
                let alias = alias.filter(|alias| is_alias(query, &query.tokens[*alias]));
                tables.push(alias.and_then(|alias| query.name(alias)).unwrap_or(name));
            }
            expected = token.kind == TokenKind::Mark(',') || token.is(query.sql, "join");
        }
        (!tables.is_empty()).then_some(tables)
    }

    /// The aggregates of this `SELECT`, not those of queries inside it.
    fn aggregates(&self, query: &Query<'_>) -> Vec<usize> {
        let mut places = vec![];
        let mut at = self.list;
        while at < query.tokens.len() {
            // What stands between `FROM` and `GROUP BY` cannot aggregate.
            if at == self.from {
                at = self.group.unwrap_or(self.order);
                continue;
            }
            let inner =
                query.is_mark(at, '(') && query.is_any(at + 1, &["select", "with", "values"]);
            if inner {
                at = closing(query, at);
                continue;
            }
            if query.is_any(at, AGGREGATES) && query.is_mark(at + 1, '(') {
                let close = closing(query, at + 1);
                let filter = query.is(close + 1, "filter") && query.is_mark(close + 2, '(');
                let end = if filter { closing(query, close + 2) } else { close };
                let several = (at + 2..close).any(|inside| {
                    query.is_mark(inside, ',')
                        && query.tokens[inside].depth == query.tokens[at].depth + 1
                });
                let scalar = query.is_any(at, &["min", "max"]) && several;
                if !scalar && !query.is(end + 1, "over") {
                    places.push(at);
                }
            }
            at += 1;
        }
        places
    }
}

fn is_alias(query: &Query<'_>, token: &Token) -> bool {
    const JOINS: &[&str] = &[
        "on", "using", "join", "inner", "left", "right", "full", "cross", "natural", "outer",
        "not", "indexed",
    ];
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted) && !token.is_any(query.sql, JOINS)
}

/// The bracket that closes this one.
fn closing(query: &Query<'_>, open: usize) -> usize {
    let depth = query.tokens[open].depth;
    let closes = |at: &usize| query.is_mark(*at, ')') && query.tokens[*at].depth == depth;
    (open + 1..query.tokens.len()).find(closes).unwrap_or(query.tokens.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(sql: &str) -> Option<String> {
        let query = Query::new(sql).unwrap();
        let is_table = |name: &str| ["t", "u"].contains(&name);
        traced(&query, 1, is_table).map(|traced| traced.sql)
    }

    #[test]
    fn rows_come_with_what_they_give() {
        for (sql, traced) in [
            ("SELECT a FROM t", "SELECT a , \"t\"._rowid_ FROM t"),
            (
                "SELECT x.a, b FROM t AS x JOIN u ON x.a = u.b WHERE b > 1 ORDER BY 1 LIMIT 2",
                "SELECT x.a, b , \"x\"._rowid_, \"u\"._rowid_ FROM t AS x JOIN u ON x.a = u.b \
                 WHERE b > 1 ORDER BY 1 LIMIT 2",
            ),
            (
                "SELECT count(*) FROM t, u y",
                "SELECT count(*) , group_concat(\"t\"._rowid_), group_concat(\"y\"._rowid_) FROM t, u y",
            ),
            (
                "SELECT a FROM t GROUP BY a",
                "SELECT a , group_concat(\"t\"._rowid_) FROM t GROUP BY a",
            ),
            ("SELECT max(a) FROM t", "SELECT max(a) , \"t\"._rowid_ FROM t"),
            ("SELECT max(a, b) FROM t", "SELECT max(a, b) , \"t\"._rowid_ FROM t"),
            (
                "SELECT max(a), min(a) FROM t",
                "SELECT max(a), min(a) , group_concat(\"t\"._rowid_) FROM t",
            ),
            (
                "SELECT sum(a) FILTER (WHERE a > 1) OVER () FROM t",
                "SELECT sum(a) FILTER (WHERE a > 1) OVER () , \"t\"._rowid_ FROM t",
            ),
            (
                "SELECT (SELECT count(*) FROM u) FROM t",
                "SELECT (SELECT count(*) FROM u) , \"t\"._rowid_ FROM t",
            ),
            (
                "SELECT DISTINCT a FROM t WHERE b ORDER BY a",
                "SELECT  a , group_concat(\"t\"._rowid_) FROM t WHERE b  GROUP BY 1 ORDER BY a",
            ),
            (
                "SELECT a IS DISTINCT FROM b FROM t",
                "SELECT a IS DISTINCT FROM b , \"t\"._rowid_ FROM t",
            ),
        ] {
            assert_eq!(trace(sql).as_deref(), Some(traced), "{sql}");
        }
    }

    #[test]
    fn where_it_is_not_sure_only_the_tables_are_named() {
        for sql in [
            "SELECT 1",
            "SELECT a FROM t UNION SELECT b FROM u",
            "SELECT a FROM (SELECT a FROM t)",
            "WITH x AS (SELECT a FROM t) SELECT a FROM x",
            "SELECT DISTINCT count(*) FROM t GROUP BY a",
            "SELECT value FROM json_each('[1]')",
            "SELECT a FROM t, json_each(t.b)",
            "VALUES (1)",
        ] {
            assert_eq!(trace(sql), None, "{sql}");
        }
    }
}
