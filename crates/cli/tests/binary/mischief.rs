//! `halma ask` with a model that answers as weak, careless and reasoning models do.
use halma_testkit::double::{Behaviour, ChatCall, Double};
use halma_testkit::{Mischief, Remedy, leak};

use crate::program::{Program, write_library};

fn reply(call: &ChatCall) -> String {
    match call.prompt.as_str() {
        "kb/atomize" => "Who designed the light?\nWhere was she born?",
        "kar3/propose" if call.last().contains("born in Velby") => r#"{"sub_questions": []}"#,
        "kar3/propose" => r#"{"sub_questions": ["Where was she born?"]}"#,
        "kar3/select" => r#"{"candidate": 1}"#,
        "answer/full" => r#"{"answer": "Maud Tarrant was born in Velby [1]."}"#,
        _ => r#"{"rationale": "Maud Tarrant was born there.", "answer": "Velby"}"#,
    }
    .to_owned()
}

#[test]
fn bad_replies_of_every_kind_end_well_on_the_command_line() {
    let double = Double::start(Behaviour::replying(reply));
    let program = Program::with_model(&double.url());
    write_library(&program);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    let mut faults = vec![];
    for (i, kind) in Mischief::ALL.iter().enumerate() {
        double.set(Behaviour::replying(reply).mischievous(*kind, 7));
        // Its own question for each, since replies are cached.
        let question = format!("Where was the designer of Orrin Light born? ({i})");
        let ran = program.run(&["ask", &question]);
        if ran.code != 0 || ran.out.trim().is_empty() {
            faults.push(format!("{kind:?}: exit code {}: {}", ran.code, ran.err));
        }
        if let Some(leak) = leak(&ran.out) {
            faults.push(format!("{kind:?}: {leak}"));
        }
        if kind.remedy() != Remedy::FallBack && !ran.out.contains("Velby") {
            faults.push(format!("{kind:?}: no answer in {}", ran.out));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
