//! A table that is too wide for a terminal, in several below one another.

/// Characters of a line; a single figure may need more.
const WIDTH: usize = 120;

/// Splits rows of cells: each part has the first and the last column, and as many figures as fit
/// between them. In the first row a figure's name stands over the first of its columns.
pub(super) fn pages(rows: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let Some(over) = rows.first().filter(|row| row.len() > 2) else { return vec![rows.to_vec()] };
    let last = over.len() - 1;
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count() + 2).max().unwrap_or_default()
    };
    let frame = width(0) + width(last);
    let mut pages: Vec<Vec<usize>> = vec![];
    let mut used = 0;
    let mut start = 1;
    while start < last {
        let next = (start + 1..last).find(|column| !over[*column].is_empty()).unwrap_or(last);
        let wide: usize = (start..next).map(width).sum();
        match pages.last_mut() {
            Some(page) if used + wide <= WIDTH => page.extend(start..next),
            _ => {
                pages.push((start..next).collect());
                used = frame;
            }
        }
        used += wide;
        start = next;
    }
    let cells = |columns: &Vec<usize>| {
        let cell = |row: &Vec<String>, column: &usize| row[*column].clone();
        let columns: Vec<usize> =
            [0].into_iter().chain(columns.iter().copied()).chain([last]).collect();
        rows.iter().map(|row| columns.iter().map(|column| cell(row, column)).collect()).collect()
    };
    pages.iter().map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    #[test]
    fn figures_stay_whole_and_every_part_names_its_rows() {
        let wide = "x".repeat(50);
        let over = row(&["", "EM", "", &wide, "", "F1", ""]);
        let under = row(&["row", "paper", "ours", "paper", "ours", "ours", "n"]);
        let values = row(&["naive", "1", "2", "3", "4", &wide, "9"]);
        let pages = pages(&[over, under, values]);
        assert_eq!(pages.len(), 2);
        assert_eq!(pages[0][1], row(&["row", "paper", "ours", "paper", "ours", "n"]));
        assert_eq!(pages[1][2], row(&["naive", &wide, "9"]));
    }

    #[test]
    fn what_fits_is_one_table() {
        let rows = [row(&["", "EM", "", ""]), row(&["row", "paper", "ours", "n"])];
        assert_eq!(pages(&rows), [rows.to_vec()]);
    }
}
