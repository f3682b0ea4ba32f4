//! A grid of settings: every strategy at every combination of the values that were asked for, each
//! point with a name of its own.
//!
//! ```text
//! n=1..10                  every whole number from 1 to 10, both included
//! n=2..10/4                2, 6, 10
//! mode=graph|hybrid        two words
//! kar3.k=2|4|8..10         for one strategy only; values and ranges mix
//! ```
use std::collections::BTreeMap;

/// More points than this are a slip of the pen.
const MAX_POINTS: usize = 1_000;

/// Settings and the values each of them takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid(Vec<Axis>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Axis {
    /// `n`, or with its strategy `kar3.n`.
    key: String,
    values: Vec<String>,
}

/// One combination of values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// `kar3@mode=graph,n=3`; the strategy's name alone where no axis concerns it.
    pub label: String,
    /// Setting → value as it was written, to be set as with `--set STRATEGY.SETTING=VALUE`.
    pub settings: BTreeMap<String, String>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    #[error("`{spec}`: {reason}; write for example n=1..10 or mode=graph|hybrid")]
    Axis { spec: String, reason: &'static str },
    #[error("the setting `{key}` is given twice; write all of its values in one --grid")]
    Twice { key: String },
    #[error(
        "no strategy of this evaluation has a setting `{key}`; `halma config show strategy` lists them"
    )]
    Unused { key: String },
    #[error(
        "the grid has {points} points for `{strategy}`, more than {MAX_POINTS}; take fewer values"
    )]
    TooMany { strategy: String, points: usize },
}

impl Grid {
    /// Parses one or several specifications, as given with `--grid`.
    pub fn parse<S: AsRef<str>>(specs: &[S]) -> Result<Self, GridError> {
        let mut axes: Vec<Axis> = vec![];
        for spec in specs {
            let new = Axis::parse(spec.as_ref())?;
            if axes.iter().any(|axis| axis.key == new.key) {
                return Err(GridError::Twice { key: new.key });
            }
            axes.push(new);
        }
        Ok(Self(axes))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The points of one strategy, the first axis turning slowest. Axes that name another
    /// strategy, or a setting that this one does not have, do not concern it. `settings` is what
    /// [`halma_core::Strategy::settings`] gives.
    pub fn points(
        &self,
        strategy: &str,
        settings: &serde_json::Value,
    ) -> Result<Vec<Point>, GridError> {
        let axes: Vec<(&str, &Axis)> = self
            .0
            .iter()
            .filter_map(|axis| Some((axis.setting(strategy, settings)?, axis)))
            .collect();
        let points = axes.iter().try_fold(1_usize, |all, (_, axis)| {
            all.checked_mul(axis.values.len()).filter(|all| *all <= MAX_POINTS)
        });
        if points.is_none() {
            let points =
                axes.iter().map(|(_, axis)| axis.values.len()).fold(1, usize::saturating_mul);
            return Err(GridError::TooMany { strategy: strategy.to_owned(), points });
        }
        let mut combinations: Vec<BTreeMap<String, String>> = vec![BTreeMap::new()];
        for (key, axis) in axes {
            let with = |one: &BTreeMap<String, String>, value: &String| {
                let mut one = one.clone();
                one.insert(key.to_owned(), value.clone());
                one
            };
            combinations = combinations
                .iter()
                .flat_map(|one| axis.values.iter().map(move |value| with(one, value)))
                .collect();
        }
        Ok(combinations.into_iter().map(|settings| Point::named(strategy, settings)).collect())
    }

    /// Refuses an axis that concerns none of these strategies: a slip would go unseen otherwise.
    pub fn check_used<'a>(
        &self,
        strategies: impl IntoIterator<Item = (&'a str, &'a serde_json::Value)>,
    ) -> Result<(), GridError> {
        let strategies: Vec<_> = strategies.into_iter().collect();
        let unused = self.0.iter().find(|axis| {
            !strategies.iter().any(|(name, settings)| axis.setting(name, settings).is_some())
        });
        match unused {
            Some(axis) => Err(GridError::Unused { key: axis.key.clone() }),
            None => Ok(()),
        }
    }
}

impl Point {
    pub(crate) fn named(strategy: &str, settings: BTreeMap<String, String>) -> Self {
        let named: Vec<String> =
            settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let label = match named.as_slice() {
            [] => strategy.to_owned(),
            _ => format!("{strategy}@{}", named.join(",")),
        };
        Self { label, settings }
    }
}

impl Axis {
    fn parse(spec: &str) -> Result<Self, GridError> {
        let fail = |reason| GridError::Axis { spec: spec.to_owned(), reason };
        let (key, values) = spec.split_once('=').ok_or_else(|| fail("it has no `=`"))?;
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(fail("it names no setting"));
        }
        let mut all: Vec<String> = vec![];
        for part in values.split('|').map(str::trim) {
            if part.is_empty() {
                return Err(fail("a value is empty"));
            }
            for value in expanded(part).map_err(fail)? {
                if all.contains(&value) {
                    return Err(fail("a value is given twice"));
                }
                all.push(value);
            }
        }
        Ok(Self { key, values: all })
    }

    /// The setting's name if the axis concerns this strategy.
    fn setting(&self, strategy: &str, settings: &serde_json::Value) -> Option<&str> {
        let of_strategy = self.key.strip_prefix(strategy).and_then(|rest| rest.strip_prefix('.'));
        let key = of_strategy.unwrap_or(&self.key);
        settings.get(key).is_some().then_some(key)
    }
}

/// `1..10` and `2..10/4` as their numbers, anything else as itself.
fn expanded(part: &str) -> Result<Vec<String>, &'static str> {
    let Some((from, rest)) = part.split_once("..") else { return Ok(vec![part.to_owned()]) };
    let (to, step) = rest.split_once('/').unwrap_or((rest, "1"));
    let whole = |text: &str| text.trim().trim_start_matches('=').parse::<i64>();
    let (Ok(from), Ok(to), Ok(step)) = (whole(from), whole(to), whole(step)) else {
        return Err("a range is made of whole numbers");
    };
    let step = usize::try_from(step).ok().filter(|step| *step > 0);
    let step = step.ok_or("the step of a range is at least 1")?;
    if from > to {
        return Err("a range goes upwards");
    }
    if to.abs_diff(from) / step as u64 >= MAX_POINTS as u64 {
        return Err("the range has too many values");
    }
    Ok((from..=to).step_by(step).map(|value| value.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(specs: &[&str], strategy: &str) -> Vec<String> {
        let settings = match strategy {
            "kar3" => serde_json::json!({"n": 5, "k": 4, "mode": "dense"}),
            _ => serde_json::json!({"chunks": 16, "mode": "dense"}),
        };
        let points = Grid::parse(specs).unwrap().points(strategy, &settings).unwrap();
        points.into_iter().map(|point| point.label).collect()
    }

    fn refused(specs: &[&str]) -> String {
        Grid::parse(specs).unwrap_err().to_string()
    }

    #[test]
    fn the_cross_product_is_named_point_by_point() {
        assert_eq!(labels(&["n=1..3"], "kar3"), ["kar3@n=1", "kar3@n=2", "kar3@n=3"]);
        assert_eq!(
            labels(&["n=2..10/8", "mode=graph|hybrid"], "kar3"),
            [
                "kar3@mode=graph,n=2",
                "kar3@mode=hybrid,n=2",
                "kar3@mode=graph,n=10",
                "kar3@mode=hybrid,n=10"
            ]
        );
        assert_eq!(labels(&["n=1|4..5"], "kar3").len(), 3);
        assert_eq!(labels(&[], "kar3"), ["kar3"]);
    }

    #[test]
    fn an_axis_concerns_the_strategies_that_have_it() {
        assert_eq!(labels(&["n=1..3"], "naive"), ["naive"]);
        assert_eq!(labels(&["kar3.mode=graph|bm25"], "naive"), ["naive"]);
        assert_eq!(labels(&["kar3.mode=graph|bm25"], "kar3").len(), 2);
        let settings = serde_json::json!({"chunks": 16});
        let grid = Grid::parse(&["n=1..3"]).unwrap();
        let error = grid.check_used([("naive", &settings)]).unwrap_err();
        assert_eq!(error, GridError::Unused { key: "n".into() });
        assert!(Grid::parse(&["chunks=1|2"]).unwrap().check_used([("naive", &settings)]).is_ok());
    }

    #[test]
    fn what_is_no_grid_is_told() {
        assert!(refused(&["n"]).contains("no `=`"));
        assert!(refused(&["=3"]).contains("names no setting"));
        assert!(refused(&["n=1|"]).contains("a value is empty"));
        assert!(refused(&["n=3..1"]).contains("upwards"));
        assert!(refused(&["n=a..b"]).contains("whole numbers"));
        assert!(refused(&["n=1..9/0"]).contains("at least 1"));
        assert!(refused(&["n=1..99999999"]).contains("too many"));
        assert!(refused(&["n=1|1"]).contains("twice"));
        assert!(refused(&["n=1", "n=2"]).contains("given twice"));
        let settings = serde_json::json!({"a": 0, "b": 0});
        let error = Grid::parse(&["a=1..99", "b=1..99"]).unwrap().points("x", &settings);
        assert!(error.unwrap_err().to_string().contains("9801 points"));
    }
}
