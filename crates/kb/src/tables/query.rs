//! A query as written, and with the names that SQLite knows.
use super::catalog::{LIST, TableCatalog};
use super::tokens::{Token, TokenKind, tokens};
use crate::error::SqlError;

/// Longer queries are not read.
const LONGEST: usize = 20_000;

/// What can be read of a row of a table in addition to its columns, and the function that answers.
const HIDDEN: [(&str, &str); 3] =
    [("_row", "halma_row"), ("_document", "halma_document"), ("_page", "halma_page")];

/// Words that end a list of tables.
const AFTER_FROM: &[&str] = &[
    "where",
    "group",
    "having",
    "window",
    "order",
    "limit",
    "union",
    "intersect",
    "except",
    "select",
    "values",
];

/// Words that may follow a table and are not an alias of it.
const AFTER_TABLE: &[&str] = &[
    "on", "using", "join", "inner", "left", "right", "full", "cross", "natural", "outer", "not",
    "indexed",
];

#[derive(Debug, Clone)]
pub(super) struct Query<'a> {
    pub(super) sql: &'a str,
    pub(super) tokens: Vec<Token>,
}

impl<'a> Query<'a> {
    /// A query that is one statement and begins as one that reads.
    pub(super) fn new(sql: &'a str) -> Result<Self, SqlError> {
        if sql.len() > LONGEST {
            return Err(SqlError::TooLong { bytes: sql.len(), limit: LONGEST });
        }
        if sql.contains('\0') {
            return Err(SqlError::Nul);
        }
        let mut tokens = tokens(sql);
        while tokens.last().is_some_and(|token| token.kind == TokenKind::Mark(';')) {
            tokens.pop();
        }
        let Some(first) = tokens.first() else { return Err(SqlError::Empty) };
        if !first.is_any(sql, &["select", "with", "values"]) {
            let what = sql[first.range.clone()].to_uppercase();
            return Err(SqlError::NotAllowed { what });
        }
        if tokens.iter().any(|token| token.kind == TokenKind::Mark(';')) {
            return Err(SqlError::NotAllowed { what: "a second statement".into() });
        }
        let end = tokens.last().map_or(0, |last| last.range.end);
        Ok(Self { sql: &sql[..end], tokens })
    }

    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(self.sql, word))
    }

    pub(super) fn is_any(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_any(self.sql, words))
    }

    pub(super) fn is_mark(&self, at: usize, mark: char) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    pub(super) fn name(&self, at: usize) -> Option<String> {
        self.tokens.get(at)?.name(self.sql)
    }

    /// Names that the query itself gives: to inner queries by `WITH`, and by `AS`.
    fn given(&self) -> (Vec<String>, Vec<String>) {
        let (mut queries, mut others) = (vec![], vec![]);
        for at in 1..self.tokens.len() {
            if !self.is(at, "as") {
                continue;
            }
            let inner = (at + 1..at + 4).find(|at| !self.is_any(*at, &["not", "materialized"]));
            if !inner.is_some_and(|inner| self.is_mark(inner, '(')) {
                others.extend(self.name(at + 1));
                continue;
            }
            // `name AS (…)`, or `name(columns) AS (…)`.
            let named = if self.is_mark(at - 1, ')') {
                let depth = self.tokens[at].depth;
                let open = |at: &usize| self.is_mark(*at, '(') && self.tokens[*at].depth == depth;
                (0..at).rev().find(open).and_then(|open| open.checked_sub(1))
            } else {
                Some(at - 1)
            };
            queries.extend(named.and_then(|named| self.name(named)));
        }
        (queries, others)
    }

    /// Where names of tables stand.
    pub(super) fn table_places(&self) -> Vec<usize> {
        let (queries, _) = self.given();
        let mut places = vec![];
        // For each open bracket, and outside of all: whether a list of tables is being read.
        let mut lists = vec![false];
        for (at, token) in self.tokens.iter().enumerate() {
            lists.resize(token.depth + 1, false);
            let after = at > 0
                && (self.is_any(at - 1, &["from", "join"])
                    || (self.is_mark(at - 1, ',') && lists[token.depth])
                    || (self.is_mark(at - 1, '(') && self.begins_tables(at - 1)));
            if after && matches!(token.kind, TokenKind::Word | TokenKind::Quoted) {
                let begins = ["select", "with", "values"];
                let names_subquery = self.name(at).is_some_and(|name| queries.contains(&name));
                if !token.is_any(self.sql, &begins) && !names_subquery {
                    places.push(at);
                }
            }
            // `IS DISTINCT FROM` compares.
            if token.is(self.sql, "from") && !(at > 0 && self.is(at - 1, "distinct")) {
                lists[token.depth] = true;
            } else if token.is_any(self.sql, AFTER_FROM) {
                lists[token.depth] = false;
            }
        }
        places
    }

    /// Whether a bracket opens where a table may stand: `FROM (a JOIN b)`.
    fn begins_tables(&self, bracket: usize) -> bool {
        bracket > 0 && self.is_any(bracket - 1, &["from", "join"])
    }

    /// The tables it names, each once.
    pub(super) fn tables(&self, catalog: &TableCatalog) -> Vec<usize> {
        let table_at = |at: usize| catalog.find(&self.name(at)?);
        let mut tables: Vec<usize> = self.table_places().into_iter().filter_map(table_at).collect();
        tables.sort_unstable();
        tables.dedup();
        tables
    }

    /// Whether it reads the list of tables.
    pub(super) fn lists(&self) -> bool {
        self.table_places().into_iter().any(|at| self.name(at).as_deref() == Some(LIST))
    }

    /// The query in the names that SQLite knows: tables by their own names, columns as written
    /// by theirs, and what is read in addition to the columns by functions of the row.
    pub(super) fn in_own_names(&self, catalog: &TableCatalog) -> String {
        let places = self.table_places();
        let (_, given) = self.given();
        let fields = self.tables(catalog);
        let fields = fields.iter().flat_map(|table| &catalog.tables[*table].fields);
        let fields: Vec<_> = fields.collect();
        let mut written = String::new();
        let mut copied = 0;
        for at in 0..self.tokens.len() {
            let Some(name) = self.name(at) else { continue };
            let mut from = self.tokens[at].range.start;
            let renamed = at > 0 && self.is(at - 1, "as");
            let hidden = HIDDEN.iter().find(|(hidden, _)| *hidden == name);
            let new = if places.contains(&at) {
                self.table(at, &name, catalog)
            } else if let (Some((hidden, function)), false) = (hidden, renamed) {
                let qualifier = (at > 1 && self.is_mark(at - 1, '.')).then(|| at - 2);
                if let Some(qualifier) = qualifier {
                    from = self.tokens[qualifier].range.start;
                }
                Some(self.hidden(qualifier.unwrap_or(at), at, hidden, function))
            } else if self.tokens[at].kind == TokenKind::Quoted
                && !renamed
                && !given.contains(&name)
            {
                let is_name = fields.iter().any(|field| field.name == name);
                let field = fields.iter().find(|field| field.written.to_lowercase() == name);
                field.filter(|_| !is_name).map(|field| format!("\"{}\"", field.name))
            } else {
                None
            };
            if let Some(new) = new.filter(|_| from >= copied) {
                written.push_str(&self.sql[copied..from]);
                written.push_str(&new);
                copied = self.tokens[at].range.end;
            }
        }
        written + &self.sql[copied..]
    }

    /// A table by its own name, still called what it was called.
    fn table(&self, at: usize, name: &str, catalog: &TableCatalog) -> Option<String> {
        let table = &catalog.tables[catalog.find(name)?];
        if table.name == name {
            return None;
        }
        let next = self.tokens.get(at + 1);
        let called = next.is_some_and(|next| {
            let name = matches!(next.kind, TokenKind::Word | TokenKind::Quoted);
            name && !next.is_any(self.sql, AFTER_FROM) && !next.is_any(self.sql, AFTER_TABLE)
        });
        let call = if called { String::new() } else { format!(" AS {}", quoted(name)) };
        Some(format!("{}{call}", quoted(&table.name)))
    }

    /// What is read in addition to the columns, in the place of the tokens from `first` to `last`;
    /// under its own name where it is an item of a list of its own.
    fn hidden(&self, first: usize, last: usize, hidden: &str, function: &str) -> String {
        let qualifier = if first == last {
            String::new()
        } else {
            format!("{}.", &self.sql[self.tokens[first].range.clone()])
        };
        let call = format!("{function}({qualifier}_rowid_)");
        let begins = first > 0
            && (self.is_any(first - 1, &["select", "distinct", "all"])
                || self.is_mark(first - 1, ','));
        let ends = self.is_mark(last + 1, ',') || self.is(last + 1, "from");
        let depth = self.tokens[last].depth;
        // The word before, at the same depth, that says which list this is.
        let words = ["select", "from", "where", "group", "order", "having", "partition", "using"];
        let before = self.tokens[..first].iter().rev().filter(|token| token.depth <= depth);
        let mut same = before.take_while(|token| token.depth == depth);
        let opened_by = same.find(|token| token.is_any(self.sql, &words));
        let selected = opened_by.is_some_and(|token| token.is(self.sql, "select"));
        if begins && ends && selected { format!("{call} AS {hidden}") } else { call }
    }
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
