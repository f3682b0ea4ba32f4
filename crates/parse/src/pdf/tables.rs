//! Tables of a PDF, which are words in a grid of ruled lines, or words that stand below each other.
use super::layout::{Segment, by};
use super::page::{Rule, Word};
use crate::writer::grid::{Cell, Grid};
use crate::writer::inline::Inline;

/// Rules this near to each other (in points) are one, or touch.
const TOUCH: f64 = 3.0;
/// A word this long is a sentence without spaces, not the content of a cell.
const MAX_CELL_WORDS: usize = 60;
/// Rules of one grid; more are a drawing.
const MAX_LINES: usize = 300;

/// A table with the part of the page that it covers.
pub(super) struct RuledTable {
    pub(super) grid: Grid,
    pub(super) width: (f64, f64),
    pub(super) top: f64,
}

/// Takes the words of ruled tables out of `words`.
pub(super) fn ruled(rules: &[Rule], words: &mut Vec<Word>) -> Vec<RuledTable> {
    let mut tables: Vec<RuledTable> = vec![];
    for rules in connected(rules) {
        let level = positions(&rules, true);
        let upright = positions(&rules, false);
        let is_grid = level.len() >= 2 && upright.len() >= 2 && level.len() + upright.len() >= 5;
        if !is_grid || level.len() > MAX_LINES || upright.len() > MAX_LINES {
            continue;
        }
        let frame = Frame { level, upright, rules };
        let (inside, outside): (Vec<Word>, Vec<Word>) =
            words.drain(..).partition(|word| word.turned == 0 && frame.place(word).is_some());
        *words = outside;
        match frame.grid(&inside) {
            Some(grid) => tables.push(RuledTable {
                grid,
                width: (frame.upright[0], frame.upright[frame.upright.len() - 1]),
                top: frame.level[0],
            }),
            None => words.extend(inside),
        }
    }
    tables
}

/// The rules in groups of those that touch each other.
fn connected(rules: &[Rule]) -> Vec<Vec<Rule>> {
    let mut groups: Vec<Vec<Rule>> = vec![];
    for &rule in rules.iter().take(3_000) {
        let touches = |other: &Rule| {
            let within = |at: f64, rule: &Rule| (rule.from - TOUCH..=rule.to + TOUCH).contains(&at);
            if rule.level == other.level {
                (rule.at - other.at).abs() <= TOUCH
                    && rule.from <= other.to + TOUCH
                    && other.from <= rule.to + TOUCH
            } else {
                within(rule.at, other) && within(other.at, &rule)
            }
        };
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(touches));
        let mut group: Vec<Rule> = joined.drain(..).flatten().collect();
        group.push(rule);
        groups = apart;
        groups.push(group);
    }
    groups
}

fn positions(rules: &[Rule], level: bool) -> Vec<f64> {
    let mut all: Vec<f64> =
        rules.iter().filter(|rule| rule.level == level).map(|rule| rule.at).collect();
    all.sort_by(|a, b| by(*a, *b));
    all.dedup_by(|at, last| *at - *last <= TOUCH);
    all
}

struct Frame {
    level: Vec<f64>,
    upright: Vec<f64>,
    rules: Vec<Rule>,
}

impl Frame {
    /// The row and column that a word stands in.
    fn place(&self, word: &Word) -> Option<(usize, usize)> {
        let (x, y) = (f64::midpoint(word.x0, word.x1), word.y - word.size * 0.3);
        let between = |lines: &[f64], at: f64| {
            lines.windows(2).position(|pair| (pair[0]..pair[1]).contains(&at))
        };
        Some((between(&self.level, y)?, between(&self.upright, x)?))
    }

    fn is_ruled(&self, level: bool, at: f64, crossing: f64) -> bool {
        self.rules.iter().any(|rule| {
            rule.level == level
                && (rule.at - at).abs() <= TOUCH
                && (rule.from - TOUCH..=rule.to + TOUCH).contains(&crossing)
        })
    }

    /// The cells with their words; `None` when this is a frame around something else.
    fn grid(&self, words: &[Word]) -> Option<Grid> {
        let (height, width) = (self.level.len() - 1, self.upright.len() - 1);
        let middle = |lines: &[f64], at: usize| f64::midpoint(lines[at], lines[at + 1]);
        let mut taken = vec![vec![false; width]; height];
        let mut contents: Vec<Vec<Vec<Word>>> = vec![vec![vec![]; width]; height];
        for word in words {
            let (row, column) = self.place(word)?;
            contents[row][column].push(word.clone());
        }
        let mut grid = Grid::default();
        let mut filled = 0;
        for row in 0..height {
            let mut cells = vec![];
            for column in 0..width {
                if taken[row][column] {
                    continue;
                }
                let y = middle(&self.level, row);
                let mut right = column + 1;
                while right < width
                    && !taken[row][right]
                    && !self.is_ruled(false, self.upright[right], y)
                {
                    right += 1;
                }
                let mut below = row + 1;
                let open = |below: usize| {
                    (column..right).all(|at| {
                        !self.is_ruled(true, self.level[below], middle(&self.upright, at))
                    })
                };
                while below < height && open(below) {
                    below += 1;
                }
                let mut inside: Vec<Word> = vec![];
                for (taken, contents) in taken[row..below].iter_mut().zip(&mut contents[row..below])
                {
                    taken[column..right].fill(true);
                    contents[column..right].iter_mut().for_each(|words| inside.append(words));
                }
                filled += usize::from(!inside.is_empty());
                let (rows, columns) = (below - row, right - column);
                cells.push(Cell { content: cell_words(inside), rows, columns, header: false });
            }
            grid.rows.push(cells);
        }
        let longest =
            grid.rows.iter().flatten().map(|cell| cell.content.text.split(' ').count()).max();
        let is_table = width >= 2
            && filled >= 3
            && grid.rows.iter().any(|row| row.len() >= 2)
            && longest.is_some_and(|longest| longest <= MAX_CELL_WORDS * 4);
        grid.rows.retain(|row| !row.is_empty());
        is_table.then_some(grid)
    }
}

/// The words of a cell, line by line.
fn cell_words(mut words: Vec<Word>) -> Inline {
    words.sort_by(|a, b| by(a.y, b.y));
    let is_line = |a: &Word, b: &Word| (a.y - b.y).abs() < 0.4 * a.size.max(b.size);
    for line in words.chunk_by_mut(is_line) {
        line.sort_by(|a, b| by(a.x0, b.x0));
        super::bidi::order(line);
    }
    let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    Inline::words(&words.join(" "))
}

/// How many of the first lines are a table without rules, and the table. Each line is the segments
/// that share a base line.
pub(super) fn aligned(lines: &[Vec<Segment>]) -> Option<(usize, Grid)> {
    let mut end = 0;
    let mut last: Option<&Vec<Segment>> = None;
    for line in lines {
        let Some(first) = line.first().filter(|first| first.block.is_none()) else { break };
        let far =
            last.is_some_and(|above| first.y - above[0].y > 3.2 * first.size.max(above[0].size));
        // Between rows of several cells, a single one continues the cell above or names a section.
        let alone = line.len() == 1 && (end == 0 || line[0].letters() > 60);
        if far || alone {
            break;
        }
        end += 1;
        last = Some(line);
    }
    while end > 0 && lines[end - 1].len() == 1 {
        end -= 1;
    }
    // A longer table may fail where a shorter one is one.
    (2..=end).rev().take(6).find_map(|end| Some((end, table(&lines[..end])?)))
}

fn table(lines: &[Vec<Segment>]) -> Option<Grid> {
    let full = lines.iter().filter(|line| line.len() >= 2).count();
    if full < 2 || full * 2 < lines.len() {
        return None;
    }
    let columns = bands(lines)?;
    let column = |segment: &Segment| {
        columns.iter().position(|band| segment.x0 < band.1 && segment.x1 > band.0)
    };
    let mut grid = Grid::default();
    let mut places: Vec<Vec<usize>> = vec![];
    for (index, line) in lines.iter().enumerate() {
        let near = index > 0 && line[0].y - lines[index - 1][0].y < 1.5 * line[0].size;
        let mut at = vec![];
        for segment in line {
            at.push(column(segment)?);
        }
        // A row that leaves the first column empty, right below another: its cells go on.
        let continues = near
            && at
                .iter()
                .all(|column| *column > 0 && places.last().is_some_and(|p| p.contains(column)))
            && line.iter().all(|segment| !crate::writer::grid::is_number(&segment.text()));
        if let (true, Some(row), Some(above)) = (continues, grid.rows.last_mut(), places.last()) {
            for (segment, column) in line.iter().zip(&at) {
                if let Some(cell) =
                    above.iter().position(|c| c == column).and_then(|c| row.get_mut(c))
                {
                    cell.content.push(" ");
                    cell.content.push(&segment.text());
                }
            }
            continue;
        }
        let (mut row, mut starts) = (vec![], vec![]);
        let mut next = 0;
        for (segment, first) in line.iter().zip(at) {
            if first < next {
                // Two segments of one column: the gap between them was one of words.
                let cell: &mut Cell = row.last_mut()?;
                cell.content.push(" ");
                cell.content.push(&segment.text());
                continue;
            }
            for column in next..first {
                row.push(Cell { content: Inline::default(), rows: 1, columns: 1, header: false });
                starts.push(column);
            }
            let last =
                columns.iter().rposition(|band| segment.x1 > band.0).unwrap_or(first).max(first);
            row.push(Cell {
                content: Inline::words(&segment.text()),
                rows: 1,
                columns: last + 1 - first,
                header: false,
            });
            starts.push(first);
            next = last + 1;
        }
        grid.rows.push(row);
        places.push(starts);
    }
    looks_like_cells(&grid).then_some(grid)
}

/// The columns: runs of the width that the cells of full rows cover, with nothing between them.
fn bands(lines: &[Vec<Segment>]) -> Option<Vec<(f64, f64)>> {
    let widest = lines.iter().map(Vec::len).max()?;
    // Rows with few cells may have ones that span columns.
    let full = lines.iter().filter(|line| line.len() * 2 > widest);
    let mut spans: Vec<(f64, f64)> = full.flatten().map(|s| (s.x0, s.x1)).collect();
    spans.sort_by(|a, b| by(a.0, b.0));
    let mut bands: Vec<(f64, f64)> = vec![];
    for (x0, x1) in spans {
        match bands.last_mut() {
            Some(band) if x0 < band.1 => band.1 = band.1.max(x1),
            _ => bands.push((x0, x1)),
        }
    }
    (bands.len() >= 2 && bands.len() * 3 >= widest * 2).then_some(bands)
}

/// Cells are short, do not begin in the middle of a sentence, and are no marks of list items.
fn looks_like_cells(grid: &Grid) -> bool {
    let cells: Vec<&str> = grid
        .rows
        .iter()
        .flatten()
        .map(|cell| cell.content.text.as_str())
        .filter(|t| !t.is_empty())
        .collect();
    if cells.len() < 4 || grid.rows.len() < 2 {
        return false;
    }
    let share =
        |is: &dyn Fn(&str) -> bool| cells.iter().filter(|c| is(c)).count() * 100 / cells.len();
    // A few rows may be running text by chance.
    let few = grid.rows.len() < 4;
    let long = share(&|cell| cell.split(' ').count() > if few { 7 } else { 12 });
    let lower = share(&|cell| cell.starts_with(char::is_lowercase));
    let leaders = cells.iter().any(|cell| cell.contains("....") || cell.contains(". . . ."));
    let first = grid.rows.iter().filter_map(|row| row.first());
    let marks = first.filter(|cell| super::blocks::is_marker(&cell.content.text)).count();
    long <= if few { 0 } else { 15 } && lower <= 50 && !leaders && marks * 2 < grid.rows.len()
}
