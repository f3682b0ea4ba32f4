use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::Grid;
use crate::report::tests::report;

/// Every strategy that a preset names.
fn strategies() -> BTreeSet<&'static str> {
    let rows = presets().iter().flat_map(|preset| &preset.rows);
    rows.filter_map(|row| row.strategy.as_deref()).collect()
}

/// A report with one run for each label and outcome.
fn with_runs(runs: &[(&str, &str)]) -> crate::Report {
    let mut all = report(runs[0].0, runs[0].1);
    for (label, outcomes) in &runs[1..] {
        all.runs.extend(report(label, outcomes).runs);
    }
    all
}

#[test]
fn a_preset_is_found_by_its_name() {
    assert_eq!(preset("kar3-table8").unwrap().rows.len(), 10);
    let names: BTreeSet<&str> = presets().iter().map(|preset| preset.name.as_str()).collect();
    assert_eq!(names.len(), presets().len());
    let error = preset("kar3").unwrap_err().to_string();
    let expected = "`kar3` is not the name of a table; `halma eval preset list`";
    assert!(error.starts_with(expected), "{error}");
    let error = preset("kar3table2").unwrap_err().to_string();
    assert!(error.contains("(similar: `kar3-table2`, "), "{error}");
}

#[test]
fn every_row_is_one_run_with_a_label_of_its_own() {
    for preset in presets() {
        let mut labels = BTreeSet::new();
        let mut runs = BTreeSet::new();
        for row in &preset.rows {
            assert!(labels.insert(&row.label), "{} {}", preset.name, row.label);
            let (Some(strategy), settings) = (&row.strategy, &row.settings) else {
                assert!(row.not_run.is_some(), "{} {}", preset.name, row.label);
                continue;
            };
            let point = row.point().unwrap();
            assert!(runs.insert(point.label), "{} {}", preset.name, row.label);
            // Its name has what is set of the configuration as well.
            if !row.config.is_empty() {
                continue;
            }
            // A setting is one value of a grid, which names its point as the row does.
            let axes: Vec<String> = settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let keys = settings.keys().map(|key| (key.clone(), 0.into()));
            let had = serde_json::Value::Object(keys.collect());
            let points = Grid::parse(&axes).unwrap().points(strategy, &had).unwrap();
            assert_eq!(points, [row.point().unwrap()]);
        }
    }
}

#[test]
fn every_column_has_its_figures() {
    for preset in presets() {
        let empty = preset.columns.is_empty() && preset.rows.is_empty();
        assert_eq!(empty, preset.not_run.is_some(), "{}", preset.name);
        for row in &preset.rows {
            assert_eq!(row.figures.len(), preset.columns.len(), "{} {}", preset.name, row.label);
            for (block, values) in preset.columns.iter().zip(&row.figures) {
                assert_eq!(values.len(), block.figures.len(), "{} {}", preset.name, row.label);
                for (figure, value) in block.figures.iter().zip(values) {
                    let limit = if figure.is_percent() { 100.0 } else { 1e7 };
                    let fits = value.is_nan() || (0.0..=limit).contains(value);
                    assert!(fits, "{} {}: {value}", preset.name, row.label);
                }
            }
        }
        // One data set has the same columns with every model.
        for block in &preset.columns {
            let same = preset.columns.iter().filter(|other| other.data_set == block.data_set);
            assert!(same.clone().all(|other| other.figures == block.figures), "{}", preset.name);
            assert_eq!(block.data_set.entry().name, block.data_set.name());
        }
    }
    let published = presets().iter().filter(|preset| preset.paper != "Halma");
    let unread = published.flat_map(|preset| &preset.rows).flat_map(|row| &row.figures);
    assert_eq!(unread.flat_map(|values| values.iter()).filter(|v| v.is_nan()).count(), 11);
}

#[test]
fn figures_that_stand_in_two_tables_agree() {
    let of = |name: &str, label: &str| {
        preset(name).unwrap().rows.iter().find(|row| row.label == label).unwrap().figures.as_slice()
    };
    for (row, in_pike) in [("Zero-Shot CoT", "Zero-Shot CoT"), ("Naive RAG", "Naive RAG w/ R")] {
        for (place, table) in ["pike-table4", "pike-table5", "pike-table6"].iter().enumerate() {
            assert_eq!(of("kar3-table1", row)[place], &of(table, in_pike)[0][1..3], "{row}");
        }
    }
    for place in 0..3 {
        assert_eq!(of("kar3-table8", "N = 5")[place][1..], *of("kar3-table1", "KAR³")[place]);
        for row in ["DEC", "Self-Ask"] {
            assert_eq!(of("dec-table1", row)[place][1..3], *of("dec-table2", row)[place], "{row}");
        }
    }
    // F1 is the harmonic mean here, unlike the mean of F1s elsewhere.
    for row in &preset("dec-table4").unwrap().rows {
        let [_, p, r, f1, ..] = row.figures[0][..] else { panic!("{}", row.label) };
        assert!((2.0 * p * r / (p + r) - f1).abs() < 0.02, "{}", row.label);
    }
}

#[test]
fn rows_say_whether_they_can_be_run() {
    let rows = preset("kar3-table1").unwrap().listed(&["cot", "kar3"]);
    let can: Vec<&str> =
        rows.iter().filter(|row| row.missing.is_none()).map(|row| row.label.as_str()).collect();
    assert_eq!(can, ["Zero-Shot CoT", "KAR³"]);
    assert_eq!(rows[1].missing.as_deref(), Some("this Halma has no strategy `naive`"));
    assert_eq!(
        rows[1].run.as_deref(),
        Some("naive@abstain=false,chunks=16,demonstrations=false,mode=dense,own_knowledge=true")
    );
    let rows = preset("pike-table11").unwrap().listed(&["kar3"]);
    assert_eq!((rows[1].strategy.as_deref(), rows[1].missing.as_ref()), (Some("kar3"), None));
    let trained = "kar3@abstain=false,demonstrations=false,k=4,mode=dense,n=5,own_knowledge=true,proposer=trained";
    assert_eq!(rows[1].run.as_deref(), Some(trained));
    let rows = preset("kar3-table3").unwrap().listed(&["kar3"]);
    assert!(rows.iter().all(|row| row.missing.is_none()));
    let bases: Vec<&str> = rows.iter().map(|row| row.config["kb.atoms"].as_str()).collect();
    assert_eq!(bases, ["sentences", "questions", "questions", "questions", "questions"]);
    let label = "kar3@abstain=false,demonstrations=false,k=4,kb.atoms=sentences,mode=dense,n=5,own_knowledge=true";
    assert_eq!(rows[0].run.as_deref(), Some(label));
    assert!(strategies().len() >= 12);
}

#[test]
fn the_paper_stands_next_to_what_was_run() {
    let mut report = with_runs(&[
        ("kar3@abstain=false,demonstrations=false,k=4,mode=dense,n=5,own_knowledge=true", "RRRWF"),
        ("cot@abstain=false,demonstrations=false,own_knowledge=true", "RWAFU"),
        ("kar3", "RRRRR"),
        (
            "ircot@abstain=false,chunks=4,demonstrations=true,mode=dense,n=5,own_knowledge=true",
            "UUUUU",
        ),
    ]);
    report.runs[0].settings = serde_json::json!({"n": 3, "k": 4, "mode": "dense"});
    report.runs[0].judged = Some(crate::Judgement {
        accuracy: Some(1.0),
        right: 3,
        wrong: 0,
        unreadable: 1,
        failed: 0,
        usage: halma_core::UsageTotal::default(),
    });
    report.runs[0].values.set("judged", Some(1.0));
    for result in report.runs[0].results.iter_mut().take(3) {
        result.values.set("judged", Some(1.0));
    }
    let compared = side_by_side(preset("kar3-table1").unwrap(), Format::HOTPOTQA, &report);
    insta::assert_snapshot!(compared.text());
}

#[test]
fn two_models_stand_next_to_ours() {
    let report = report("dec@abstain=false,demonstrations=true,mode=dense", "RW");
    let compared = side_by_side(preset("dec-table1").unwrap(), Format::MUSIQUE, &report);
    insta::assert_snapshot!(compared.markdown());
}

#[test]
fn a_listing_has_rows_protocol_and_notes() {
    insta::assert_snapshot!(preset("kar3-table3").unwrap().listing(&["kar3"]));
    let list = preset_list();
    assert!(presets().iter().all(|preset| list.contains(&preset.name)), "{list}");
}

#[test]
fn a_data_set_that_the_paper_lacks_is_shown_alone() {
    let compared = side_by_side(
        preset("pike-table4").unwrap(),
        Format::USER,
        &report("cot@abstain=false,demonstrations=false,own_knowledge=true", "RW"),
    );
    assert!(compared.models.is_empty() && compared.rows.iter().all(|row| row.pairs.len() == 7));
    assert_eq!(compared.rows[0].pairs[0].ours, Some(50.0));
    assert_eq!(
        compared.notes[0],
        "Table 4 has no figures for The user's own questions; it has HotpotQA"
    );
}

/// KAR³ states its tokens in Table 10, AtomR its calls in Table 5.
#[test]
fn costs_are_shown_in_every_table_with_what_the_paper_states_elsewhere() {
    let kar3 = "kar3@abstain=false,demonstrations=false,k=4,mode=dense,n=5,own_knowledge=true";
    let mut made = report(kar3, "RW");
    made.runs[0].values.set("tokens", Some(8_000.0));
    made.runs[0].values.set("calls", Some(10.5));
    let compared = side_by_side(preset("kar3-table1").unwrap(), Format::MUSIQUE, &made);
    let names: Vec<String> = compared.figures.iter().map(Figure::name).collect();
    assert_eq!(names, ["F1", "Acc", "calls/q", "tokens/q"]);
    let row = compared.rows.iter().find(|row| row.label == "KAR³").unwrap();
    assert_eq!((&row.pairs[3].paper, row.pairs[3].ours), (&vec![Some(8820.0)], Some(8_000.0)));
    assert_eq!((&row.pairs[2].paper, row.pairs[2].ours), (&vec![None], Some(10.5)));
    // On another data set the paper states none.
    let compared = side_by_side(preset("kar3-table1").unwrap(), Format::HOTPOTQA, &made);
    assert!(compared.rows.iter().all(|row| row.pairs[3].paper == [None]));
    let table = preset("atomr-table2").unwrap();
    let compared = side_by_side(&table.for_format(Format::HOTPOTQA), Format::HOTPOTQA, &made);
    let paper = |row: &str| {
        compared.rows.iter().find(|other| other.label == row).unwrap().pairs[3].paper.clone()
    };
    assert_eq!((paper("AtomR"), paper("CoT")), (vec![Some(7.26)], vec![None]));
}

#[test]
fn a_list_is_the_same_setting_however_it_is_written() {
    let mut made = report("atomr@x", "RW");
    let table = preset("atomr-table2").unwrap();
    made.runs[0].label = table.rows[6].point().unwrap().label;
    made.runs[0].settings = serde_json::json!({
        "abstain": false, "demonstrations": true, "mode": "dense", "own_knowledge": true,
        "select": "leaf", "sources": ["text"],
    });
    let notes = |report: &crate::Report| side_by_side(table, Format::HOTPOTQA, report).notes;
    assert!(!notes(&made).iter().any(|note| note.contains("instead of")));
    made.runs[0].settings["sources"] = serde_json::json!(["text", "web"]);
    let deviation = "AtomR: the run had sources=[\"text\",\"web\"] instead of [\"text\"]";
    assert!(notes(&made).iter().any(|note| note == deviation), "{:?}", notes(&made));
}

#[test]
fn kinds_are_shown_with_their_numbers() {
    let mut report = report("cot@abstain=false,demonstrations=true", "RWWW");
    for group in report.runs[0].by_kind.values_mut() {
        group.values.set("f1", Some(0.25));
    }
    let compared = side_by_side(preset("atomr-table2").unwrap(), Format::HOTPOTQA, &report);
    let json = serde_json::to_value(&compared).unwrap();
    assert_eq!(json["rows"][1]["pairs"][1]["n"], 2);
    assert_eq!(json["figures"][1], "F1 bridge");
    assert!(compared.text().contains("25.0 (n 2)"), "{}", compared.text());
    let all = serde_json::to_value(presets()).unwrap();
    assert!(all[2]["rows"][1]["figures"][0][0].is_null());
}

#[test]
fn a_data_set_has_its_own_settings_and_conditions() {
    let table = preset("unirag-table3").unwrap();
    let searches = |format: &str| {
        let rows = table.for_format(format.parse().unwrap()).listed(&["unirag"]);
        rows[0].settings.get("retrieve").cloned()
    };
    assert_eq!((searches("folio").as_deref(), searches("fever")), (Some("false"), None));
    let crag = preset("atomr-table4").unwrap().for_format("crag".parse().unwrap());
    assert_eq!(crag.conditions()[0].to_string(), "static_or_dynamic=static");
    assert_eq!((crag.columns.len(), &crag.rows[0].figures[..]), (1, &[vec![70.23]][..]));
    let blendqa = preset("atomr-table4").unwrap().for_format("blendqa".parse().unwrap());
    assert!(blendqa.conditions().is_empty());
}

#[test]
fn a_table_that_is_not_run_says_why() {
    let list = preset_list();
    assert!(list.contains("not run: it compares two judges"), "{list}");
    assert!(list.contains("runs on HotpotQA (hotpotqa), "), "{list}");
}

proptest! {
    #[test]
    fn nothing_makes_printing_panic(outcomes in "[RWAFU]{0,4}", which in any::<usize>(), pick in any::<usize>(), runs in 0_usize..3) {
        let runnable: Vec<&Preset> = presets().iter().filter(|preset| preset.not_run.is_none()).collect();
        let preset = runnable[which % runnable.len()];
        let formats: Vec<Format> = Format::all().collect();
        let mut made = report("kar3", &outcomes);
        let labels: Vec<String> = preset.rows.iter().filter_map(|row| Some(row.point()?.label)).collect();
        made.runs[0].label = labels[pick % labels.len()].clone();
        made.runs.truncate(runs);
        let compared = side_by_side(preset, formats[pick % formats.len()], &made);
        for text in [compared.text(), compared.markdown(), preset.listing(&[])] {
            prop_assert!(!text.contains("NaN"));
        }
        prop_assert!(compared.text().contains(WARNING) && compared.markdown().contains(WARNING));
        prop_assert_eq!(compared.rows.len(), preset.rows.len());
        prop_assert!(serde_json::to_string(&compared).is_ok());
    }
}

/// A row's setting, as the defaults of its paper and the row itself give it.
fn set(row: &PresetRow, key: &str) -> Option<bool> {
    row.settings.get(key).map(|value| value == "true")
}

#[test]
fn a_table_gives_examples_to_all_of_its_methods_or_as_its_paper_says() {
    for preset in presets().iter().filter(|preset| preset.not_run.is_none()) {
        for row in &preset.rows {
            let strategy = row.strategy.as_deref().unwrap_or_default();
            let of_paper = match preset.paper.as_str() {
                // Table 5 of KAR³ lists which methods had examples; its Table 14 is about them.
                "KAR³" if preset.name == "kar3-table14" => continue,
                "KAR³" | "PIKE-RAG" => {
                    ["self_ask", "ircot", "search_chain", "prob_tree"].contains(&strategy)
                }
                "DEC" => strategy != "direct",
                "AtomR" | "UniRAG" => true,
                _ => continue,
            };
            let shown = set(row, "demonstrations").unwrap_or(true);
            assert_eq!(shown, of_paper, "{}: {}", preset.name, row.label);
        }
    }
}

#[test]
fn readers_use_their_own_knowledge_where_those_of_the_paper_may() {
    for preset in presets().iter().filter(|preset| preset.not_run.is_none()) {
        for row in &preset.rows {
            let strategy = row.strategy.as_deref().unwrap_or_default();
            let of_paper = match preset.paper.as_str() {
                "KAR³" | "PIKE-RAG" | "UniRAG" => true,
                "AtomR" => strategy == "atomr",
                "DEC" => strategy == "naive",
                _ => false,
            };
            let may = set(row, "own_knowledge").unwrap_or(false);
            assert_eq!(may, of_paper, "{}: {}", preset.name, row.label);
        }
    }
}
