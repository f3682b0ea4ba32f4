//! Charts: their titles, and the numbers behind them as tables with a column for each series.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::once;
use std::rc::Rc;

use calamine::{DataRef, ExcelDateTime, ExcelDateTimeType};

use super::drawing;
use super::package::Relations;
use super::table::TableBuilder;
use super::xml::{self, Node};
use crate::room::may_fill;
use crate::sheets::shown;
use crate::writer::Writer;
use crate::writer::inline::Inline;

/// Days between the two dates from which spreadsheets count.
const DAYS_TO_1904: f64 = 1_462.0;
/// The first day after the year 9999, which is the last that spreadsheets have.
const LAST_DAY: f64 = 2_958_466.0;

/// The points of a series by their place: one that is missing leaves a gap.
type Points = BTreeMap<usize, String>;

/// The values of a series, and what they stand for.
struct Column {
    /// From the inmost level to the outmost.
    categories: Rc<Vec<Points>>,
    title: String,
    values: Points,
}

impl Column {
    /// The category of a place; an outer one goes on until the next.
    fn category(&self, place: usize) -> String {
        let outer = self.categories.iter().skip(1).rev();
        let outer = outer.filter_map(|level| Some(level.range(..=place).next_back()?.1));
        let inner = self.categories.first().and_then(|level| level.get(&place));
        outer.chain(inner).map(String::as_str).collect::<Vec<_>>().join(" / ")
    }
}

/// The chart of the part with this root.
pub(super) fn write(root: Node<'_>, writer: &mut Writer) {
    for title in root.descendants().filter(|node| xml::name(*node) == "title") {
        let rich = xml::descendant(title, "rich");
        let words = rich.map(|rich| drawing::lines(rich, &Relations::default()));
        writer.paragraph(&words.unwrap_or_else(|| Inline::words(&cached(title))));
    }
    let columns = columns(root);
    if columns.iter().all(|column| column.values.is_empty()) {
        let what = "the numbers of a chart are not in the file; paste them as a table to have them";
        writer.warn(what.to_owned());
    }
    for group in columns.chunk_by(|one, next| one.categories == next.categories) {
        let mut table = TableBuilder::default();
        let titles = group.iter().map(|column| column.title.as_str());
        table.plain_row(true, once("").chain(titles).map(Inline::words));
        let categories = group.iter().filter_map(|column| column.categories.first());
        let points = group.iter().map(|column| &column.values).chain(categories);
        let places: BTreeSet<usize> = points.flat_map(|points| points.keys().copied()).collect();
        let values = group.iter().map(|column| column.values.len()).sum();
        if !may_fill(places.len(), group.len(), values) {
            writer.warn("a chart is too large: some of its series are left out; split it".into());
            continue;
        }
        for place in places {
            let category = group[0].category(place);
            let values = group.iter().map(|column| column.values.get(&place));
            let cells = once(Some(&category)).chain(values);
            table.plain_row(false, cells.map(|cell| Inline::words(cell.map_or("", |cell| cell))));
        }
        table.write(writer);
    }
}

/// A column for each row of values of each series.
fn columns(root: Node<'_>) -> Vec<Column> {
    let axes = root.descendants().filter(|node| matches!(xml::name(*node), "catAx" | "dateAx"));
    let mut formats = axes.filter_map(|axis| xml::child(axis, "numFmt"));
    let axis = formats.find_map(|format| xml::attribute(format, "formatCode"));
    let since_1904 = xml::is_on(root, "date1904");
    let (names, numbers) = (Format { axis, since_1904 }, Format { axis: None, since_1904 });
    // Newer kinds of charts keep the numbers apart from the series.
    let data = root.descendants().filter(|node| xml::name(*node) == "data");
    let data: HashMap<_, _> =
        data.filter_map(|data| Some((xml::attribute(data, "id")?, data))).collect();
    let mut columns: Vec<Column> = vec![];
    let is_series = |node: &Node<'_>| matches!(xml::name(*node), "ser" | "series");
    for series in root.descendants().filter(is_series) {
        let id = xml::child(series, "dataId").and_then(|id| xml::attribute(id, "val"));
        let source = id.and_then(|id| data.get(id).copied()).unwrap_or(series);
        let stated =
            ["cat", "xVal", "strDim"].into_iter().find_map(|name| xml::child(source, name));
        let categories = match (stated, columns.last()) {
            (None, Some(last)) => Rc::clone(&last.categories),
            _ => Rc::new(stated.map(|node| names.points(node)).unwrap_or_default()),
        };
        for values in ["val", "yVal", "bubbleSize", "numDim"] {
            let Some(values) = xml::child(source, values) else { continue };
            columns.push(Column {
                categories: Rc::clone(&categories),
                title: xml::child(series, "tx").map(cached).unwrap_or_default(),
                values: numbers.points(values).pop().unwrap_or_default(),
            });
        }
    }
    columns
}

/// The words that a chart keeps of a cell that it names.
fn cached(node: Node<'_>) -> String {
    let values = node.descendants().filter(|node| xml::name(*node) == "v");
    values.map(xml::text).collect::<Vec<_>>().join(" ")
}

/// How numbers are shown.
struct Format<'a> {
    /// The format of the axis.
    axis: Option<&'a str>,
    since_1904: bool,
}

impl Format<'_> {
    /// Points, level by level.
    fn points(&self, data: Node<'_>) -> Vec<Points> {
        let levels = data.descendants().filter(|node| xml::child(*node, "pt").is_some());
        let read = |level: Node<'_>| {
            let format = xml::child(level, "formatCode").and_then(|format| format.text());
            let is_text = xml::name(level).starts_with("str") || xml::name(level) == "lvl";
            let points = xml::children(level, "pt").filter_map(|point| {
                let text = xml::text(xml::child(point, "v").unwrap_or(point));
                let format = xml::attribute(point, "formatCode").or(format);
                let text = if is_text { text } else { self.number(text, format) };
                Some((xml::number(point, "idx")?, text))
            });
            points.collect()
        };
        levels.map(read).collect()
    }

    fn number(&self, text: String, format: Option<&str>) -> String {
        let Ok(number) = text.trim().parse::<f64>() else { return text };
        let kind = format.and_then(time_kind).or(self.axis.and_then(time_kind));
        let value = match kind.filter(|_| (0.0..LAST_DAY).contains(&number)) {
            Some(ExcelDateTimeType::DateTime) if self.since_1904 => {
                ExcelDateTime::new(number + DAYS_TO_1904, ExcelDateTimeType::DateTime, false)
            }
            Some(kind) => ExcelDateTime::new(number, kind, false),
            None => return shown(&DataRef::Float(number)).unwrap_or(text),
        };
        shown(&DataRef::DateTime(value)).unwrap_or(text)
    }
}

/// What a number format shows of time: it has one of the letters of days and hours outside what is
/// quoted; those of a duration stand in brackets.
fn time_kind(format: &str) -> Option<ExcelDateTimeType> {
    let is_time = |c: char| "dmyhs".contains(c.to_ascii_lowercase());
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' | '_' | '*' => drop(characters.next()),
            '"' => drop(characters.find(|c| *c == '"')),
            '[' => {
                let inside: Vec<char> = characters.by_ref().take_while(|c| *c != ']').collect();
                if !inside.is_empty() && inside.into_iter().all(is_time) {
                    return Some(ExcelDateTimeType::TimeDelta);
                }
            }
            ';' => return None,
            c if is_time(c) => return Some(ExcelDateTimeType::DateTime),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed::Parsed;

    fn chart(inside: &str) -> Parsed {
        let xml = format!("<c:chartSpace xmlns:c='c' xmlns:a='a'>{inside}</c:chartSpace>");
        let document = roxmltree::Document::parse(&xml).unwrap();
        let mut writer = Writer::new("pptx");
        write(document.root_element(), &mut writer);
        let parsed = writer.finish();
        crate::check::check(&parsed);
        parsed
    }

    fn rows(parsed: &Parsed) -> Vec<String> {
        let rows = parsed.tables.iter().flat_map(|table| &table.rows);
        rows.map(|row| row.cells.join("|")).collect()
    }

    fn points(points: &[(usize, &str)]) -> String {
        let point =
            |(at, text): &(usize, &str)| format!("<c:pt idx='{at}'><c:v>{text}</c:v></c:pt>");
        points.iter().map(point).collect()
    }

    fn names(of: &[(usize, &str)]) -> String {
        format!("<c:cat><c:strRef><c:strCache>{}</c:strCache></c:strRef></c:cat>", points(of))
    }

    fn values(of: &[(usize, &str)]) -> String {
        format!("<c:val><c:numRef><c:numCache>{}</c:numCache></c:numRef></c:val>", points(of))
    }

    fn dates(format: &str, of: &[(usize, &str)]) -> String {
        let code = format!("<c:formatCode>{format}</c:formatCode>");
        format!("<c:cat><c:numLit>{code}{}</c:numLit></c:cat>", points(of))
    }

    #[test]
    fn a_value_stays_with_its_year_where_others_are_missing() {
        let years = names(&[(0, "2018"), (1, "2019"), (2, "2020")]);
        let late = values(&[(2, "7.5")]);
        let parsed = chart(&format!("<c:ser>{years}{late}</c:ser>"));
        assert_eq!(rows(&parsed), ["2018|", "2019|", "2020|7.5"]);
        // One series has gaps, the other states no years of its own.
        let more = values(&[(0, "1"), (2, "3")]);
        let parsed = chart(&format!("<c:ser>{years}{late}</c:ser><c:ser>{more}</c:ser>"));
        assert_eq!(rows(&parsed), ["2018||1", "2019||", "2020|7.5|3"]);
        // The name is missing, not the value.
        let names = names(&[(0, "North"), (2, "South")]);
        let all = values(&[(0, "1"), (1, "2"), (2, "3")]);
        let parsed = chart(&format!("<c:ser>{names}{all}</c:ser>"));
        assert_eq!(rows(&parsed), ["North|1", "|2", "South|3"]);
    }

    #[test]
    fn a_chart_over_time_shows_dates() {
        let two = values(&[(0, "5"), (1, "7")]);
        let read = |before: &str, categories: &str| {
            let parsed = chart(&format!("{before}<c:ser>{categories}{two}</c:ser>"));
            rows(&parsed).join(" ")
        };
        let days = [(0, "45306"), (1, "45337.5")];
        assert_eq!(read("", &dates("d. mmm yy", &days)), "2024-01-15|5 2024-02-15 12:00|7");
        assert_eq!(
            read(
                "<c:date1904 val='1'/>",
                &dates("[$-407]dd/mm/yyyy;@", &[(0, "43844"), (1, "43845")])
            ),
            "2024-01-15|5 2024-01-16|7"
        );
        let axis = "<c:dateAx><c:numFmt formatCode='yyyy\\-mm' sourceLinked='0'/></c:dateAx>";
        assert_eq!(read(axis, &dates("General", &days)), "2024-01-15|5 2024-02-15 12:00|7");
        assert_eq!(read("", &dates("[h]:mm", &[(0, "1.5"), (1, "2")])), "36:00:00|5 48:00:00|7");
    }

    #[test]
    fn years_and_amounts_are_no_dates() {
        let of = |format: &str| {
            rows(&chart(&format!(
                "<c:ser>{}{}</c:ser>",
                dates(format, &[(0, "2018")]),
                values(&[(0, "1")])
            )))
        };
        for format in ["General", "0", "0.0\" days\"", "#,##0\\ \\d", "[Red]0", "0;dd"] {
            assert_eq!(of(format), ["2018|1"], "{format}");
        }
    }

    #[test]
    fn series_over_other_points_are_tables_of_their_own() {
        let series = |title: &str, x: &str, y: &str| {
            let x = format!("<c:xVal><c:numLit>{}</c:numLit></c:xVal>", points(&[(0, x)]));
            let y = format!("<c:yVal><c:numLit>{}</c:numLit></c:yVal>", points(&[(0, y)]));
            format!("<c:ser><c:tx><c:v>{title}</c:v></c:tx>{x}{y}</c:ser>")
        };
        let parsed = chart(&format!("{}{}", series("one", "1.5", "4"), series("two", "2.5", "9")));
        assert_eq!(rows(&parsed), ["1.5|4", "2.5|9"]);
        assert_eq!(parsed.tables[1].columns, ["", "two"]);
    }

    #[test]
    fn groups_of_categories_are_named_with_each_of_theirs() {
        let inner = points(&[(0, "Q1"), (1, "Q2"), (2, "Q1")]);
        let outer = points(&[(0, "2020"), (2, "2021")]);
        let cache = format!("<c:lvl>{inner}</c:lvl><c:lvl>{outer}</c:lvl>");
        let names = format!("<c:cat><c:multiLvlStrCache>{cache}</c:multiLvlStrCache></c:cat>");
        let parsed = chart(&format!("<c:ser>{names}{}</c:ser>", values(&[(0, "1"), (2, "3")])));
        assert_eq!(rows(&parsed), ["2020 / Q1|1", "2020 / Q2|", "2021 / Q1|3"]);
    }

    #[test]
    fn a_title_that_is_a_cell_and_a_chart_without_numbers_are_not_passed_over() {
        let title = format!("<c:title><c:tx>{}</c:tx></c:title>", points(&[(0, "Rain")]));
        let parsed = chart(&format!("{title}<c:ser><c:val><c:numRef/></c:val></c:ser>"));
        assert_eq!(parsed.text, "Rain\n");
        assert!(parsed.warnings[0].contains("numbers of a chart"), "{:?}", parsed.warnings);
    }

    #[test]
    fn a_small_chart_does_not_claim_a_large_table() {
        let many: Vec<(usize, &str)> = (0..3_000).map(|at| (at * 1_000_000, "1")).collect();
        let series = format!("<c:ser>{}</c:ser>", values(&[(0, "1")])).repeat(3_000);
        let parsed = chart(&format!("<c:ser>{}</c:ser>{series}", values(&many)));
        assert!(parsed.tables.is_empty() && parsed.warnings[0].contains("too large"));
    }
}
