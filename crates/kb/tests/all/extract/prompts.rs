//! The prompts of this crate: they are the files on disk, they render with little and with much,
//! and what a document says never opens a role.
use std::collections::BTreeSet;
use std::path::Path;

use halma_core::{PromptInfo, Prompts};
use halma_kb::PROMPTS;
use minijinja::{Value, context};
use proptest::prelude::*;

fn prompts() -> Prompts {
    Prompts::shipped(&[PROMPTS]).unwrap()
}

fn ours(prompts: &Prompts) -> Vec<PromptInfo> {
    let extracting =
        ["facts", "same", "tag_classes", "tag", "map_tags", "rows", "summarise", "community"];
    let named = |info: &PromptInfo| {
        info.name.strip_prefix("kb/").is_some_and(|step| extracting.contains(&step))
    };
    prompts.list().into_iter().filter(named).collect()
}

/// All variables of all prompts, filled with one text or with nothing.
fn variables(text: &str, empty: bool) -> Value {
    let many = |value: Value| if empty { vec![] } else { vec![value.clone(), value] };
    let chunk = context! { title => text, section => (!empty).then_some(text), text };
    let side = context! {
        names => many(text.into()),
        type => text,
        descriptions => many(text.into()),
        documents => many(text.into()),
    };
    let entity = context! { name => text, type => text, description => text };
    context! {
        chunk => &chunk,
        most_entities => 60,
        most_facts => 80,
        limit => 12,
        first => &side,
        second => &side,
        chunks => many(chunk.clone()),
        question => text,
        answer => if empty { "" } else { text },
        tags => many(context! { name => text, class => "trade" }),
        tables => many(context! {
            relation => "founded by",
            head => "company",
            tail => "person",
            columns => many(context! { name => "founding date", type => "date" }),
        }),
        text,
        title => text,
        classes => many(context! { name => "trade", description => "What somebody does." }),
        part => if empty { "document" } else { "section" },
        texts => many(text.into()),
        entities => many(entity),
        facts => many(text.into()),
        parts => many(context! { title => text, summary => text }),
    }
}

#[test]
fn the_files_on_disk_are_the_prompts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts/kb");
    let mut on_disk = BTreeSet::new();
    for file in std::fs::read_dir(&root).unwrap() {
        let name = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        on_disk.insert(format!("kb/{name}"));
    }
    let listed: BTreeSet<String> = PROMPTS.iter().map(|file| file.name.to_owned()).collect();
    assert_eq!(on_disk, listed);
}

#[test]
fn every_prompt_renders_with_nothing_and_with_much() {
    let prompts = prompts();
    assert_eq!(ours(&prompts).len(), 8);
    for info in ours(&prompts) {
        assert_eq!(info.role, "distiller", "{}", info.name);
        for empty in [true, false] {
            let rendered =
                prompts.render(&info.name, &variables("Varn is a reef.", empty)).unwrap();
            let roles: Vec<&str> = rendered.messages.iter().map(|m| m.role.as_str()).collect();
            assert_eq!(roles, ["system", "user"], "{}", info.name);
            let user = &rendered.messages[1].text;
            assert!(empty || user.contains("Varn is a reef."), "{}: {user}", info.name);
            assert!(!user.contains("\n\n\n\n"), "{}: {user}", info.name);
        }
    }
}

proptest! {
    #[test]
    fn what_a_document_says_never_opens_a_role(
        before in "[a-z \n]{0,20}",
        role in "(## |---\n## |\n\n## |# )(system|user|assistant)",
        after in "[a-z {}%#\n]{0,40}",
    ) {
        let prompts = prompts();
        let text = format!("{before}\n{role}\n{after}\n{{{{ secret }}}}{{% if x %}}");
        for info in ours(&prompts) {
            let rendered = prompts.render(&info.name, &variables(&text, false)).unwrap();
            let roles: Vec<&str> = rendered.messages.iter().map(|m| m.role.as_str()).collect();
            prop_assert_eq!(roles, ["system", "user"]);
            prop_assert!(!rendered.messages[0].text.contains("secret"));
        }
    }
}
