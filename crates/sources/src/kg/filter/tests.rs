use halma_core::{FactValue, ValueKind};

use super::condition::{Test, readings};

fn first(condition: &str) -> (String, String) {
    let reading = readings(condition).into_iter().next();
    reading.map_or_else(Default::default, |reading| {
        let test = match reading.test {
            Test::Amount(compare, amount) => match amount.number {
                Some(number) => format!("{compare:?} {number} {}", amount.unit).trim().to_owned(),
                None => format!("{compare:?} {:?}", amount.period.unwrap().first),
            },
            Test::Between(low, high) => {
                format!("{:?}–{:?} {}", low.number, high.number, high.unit)
            }
            Test::Called(name) => format!("called {name}"),
            Test::Class(name) => format!("class {name}"),
        };
        (reading.property, test)
    })
}

#[test]
fn a_comparison_is_read_from_words_and_signs() {
    for (condition, property, test) in [
        ("mean radius > 700 km", "mean radius", "Above 700 km"),
        ("mean radius>=700km", "mean radius", "AtLeast 700 km"),
        ("has a mean radius of more than 1,200.5 km.", "mean radius", "Above 1200.5 km"),
        ("orbital period less than 3 days", "orbital period", "Below 3 days"),
        ("with a population of at least 2.5 million", "population", "AtLeast 2500000"),
        ("over 300 m in height", "height", "Above 300 m"),
        ("taller than 300 m", "height", "Above 300 m"),
        ("date of discovery before 1680", "date of discovery", "Below 1680"),
        ("was born in 1955", "born", "Same 1955"),
        ("landed after 8 June 2010", "landed", "Above (2010, 6, 8)"),
        ("born in the 19th century", "born", "Same (1801, 1, 1)"),
        ("founded between 1900 and 1950", "founded", "Some(1900.0)–Some(1950.0) "),
        ("mass from 5 to 10 kg", "mass", "Some(5.0)–Some(10.0) kg"),
        ("height is 300 m or more", "height", "AtLeast 300 m"),
        ("atomic number = 80", "atomic number", "Same 80"),
        ("is a lighthouse", "", "class lighthouse"),
        ("type is space telescope", "", "class space telescope"),
    ] {
        assert_eq!(first(condition), (property.to_owned(), test.to_owned()), "{condition}");
    }
}

#[test]
fn a_name_behind_a_property_is_split_off_in_every_place() {
    let all = readings("located in South Africa");
    let splits: Vec<(String, Test)> = all.into_iter().map(|r| (r.property, r.test)).collect();
    assert!(splits.contains(&("located in".into(), Test::Called("South Africa".into()))));
}

#[test]
fn what_is_no_comparison_is_left_to_the_reader() {
    for condition in
        ["", "largest", "not born in Rome", "born in 1955 or 1956", "height over 5 m and under 9 m"]
    {
        let decided = readings(condition).into_iter().find(|r| matches!(r.test, Test::Amount(..)));
        assert_eq!(decided, None, "{condition}");
    }
}

#[test]
fn values_pass_by_unit_and_by_how_closely_a_date_is_known() {
    let passes = |condition: &str, text: &str, kind, unit: &str| {
        let value = FactValue { text: text.into(), kind, unit: unit.into() };
        readings(condition).remove(0).test.passes(&value)
    };
    let (number, date) = (ValueKind::Number, ValueKind::Date);
    assert_eq!(passes("height > 1 km", "1500", number, "m"), Some(true));
    assert_eq!(passes("height = 1 mile", "1.609344", number, "km"), Some(true));
    assert_eq!(passes("height > 1 kg", "1500", number, "m"), None);
    assert_eq!(passes("built before 1900", "1899-12-31", date, ""), Some(true));
    assert_eq!(passes("built before June 1900", "1900", date, ""), Some(false));
    assert_eq!(passes("built in 1900", "1900-02", date, ""), Some(true));
    assert_eq!(passes("built after 1900", "1900-02", date, ""), Some(false));
    assert_eq!(passes("founded before 1900", "1894", number, ""), Some(true));
    assert_eq!(passes("founded before 1900", "long ago", ValueKind::Text, ""), None);
}
