//! The web in addition to the base, played by a server on loopback.
use halma_testkit::web::{EngineFailure, Given, WebDouble};

use crate::program::Program;

const QUERY: &str = "Who opened the harbour bridge?";

fn double() -> WebDouble {
    let double = WebDouble::start();
    let url = "https://news.example.org/bridge";
    double.give(&Given {
        answer: Some(("Anna Reed opened the harbour bridge.".into(), url.into())),
        ..Given::results(&[("The bridge", url, "The harbour bridge was opened in May.")])
    });
    double
}

fn program(double: &WebDouble, kind: &str) -> Program {
    let program = Program::configured(&format!(
        "[embedder]\nkind = \"none\"\n[kb]\natoms = \"sentences\"\n\
         [sources.web]\nkind = \"{kind}\"\nurl = \"{}\"\nretries = 0\n",
        double.url()
    ));
    program.write("library/light.md", "# Orrin Light\n\nOrrin Light was built by Ilse Thorn.\n");
    assert_eq!(program.run(&["index", "library"]).code, 0);
    program
}

#[test]
fn the_web_is_searched_once_a_day_and_forgotten_with_a_document() {
    let double = double();
    for kind in ["serpapi", "brave", "tavily", "searxng"] {
        let program = program(&double, kind);
        let before = double.requests().len();
        let search = ["search", QUERY, "--source", "web", "--json"];
        let reply = program.run(&search).json();
        let hit = |at: usize, key: &str| reply["hits"][at][key].as_str().unwrap().to_owned();
        // What others ask and what a model writes comes after the pages.
        let (page, answer, first) = match kind {
            "brave" => (0, "Related question:", "The bridge"),
            "tavily" => (0, "Summary by the search engine", "The bridge"),
            _ => (1, "Answer box", "Anna Reed"),
        };
        assert_eq!(
            (hit(1 - page, "title"), hit(page, "title")),
            (answer.into(), "The bridge".into())
        );
        assert_eq!(hit(page, "document"), "https://news.example.org/bridge");
        assert!(hit(page, "section").starts_with("web, seen 2"), "{reply}");
        let shown = program.run(&["search", QUERY, "--source", "web", "--top", "1"]);
        assert!(shown.out.contains(first));
        assert_eq!(double.requests().len() - before, 1);

        let kept = program.run(&["search", "--kept"]).json();
        assert_eq!((kept["query"].as_str(), kept["engine"].as_str()), (Some(QUERY), Some(kind)));
        assert_eq!(kept["results"][page]["rank"], "page");
        assert_eq!(program.run(&["kb", "delete", "light.md"]).code, 0);
        let none = program.run(&["search", "--kept"]);
        assert_eq!((none.code, none.out.as_str()), (0, ""));
        let findings = program.run(&["doctor", "--json"]).json();
        let mut findings = findings.as_array().unwrap().iter();
        assert!(findings.any(|finding| finding["component"] == "source web"));
    }
}

#[test]
fn what_is_wrong_with_the_web_is_told_with_what_to_do() {
    let double = double();
    let program = program(&double, "brave");
    let search = |program: &Program| program.run(&["search", QUERY, "--source", "web"]);
    double.trouble([EngineFailure::Html]);
    search(&program).fails(1, &["web", "brave", "a web page", "[sources.web]"]);
    program.run(&["search", QUERY, "--source", "net"]).fails(2, &["--source", "net", "hint:"]);
    program.run(&["search"]).fails(2, &["QUERY"]);
    program.run(&["search", QUERY, "--source", "web", "--tag", "a"]).fails(2, &["--tag"]);
    for (table, words) in [
        ("kind = \"bing\"", &["bing", "serpapi"][..]),
        ("url = \"http://localhost\"", &["kind"]),
        ("kind = \"searxng\"", &["sources.web.url", "hint:"]),
        ("kind = \"brave\"\nlimit = 50", &["sources.web.limit", "hint:"]),
        ("kind = \"brave\"\nkey_env = \"NO_SUCH_KEY\"", &["sources.web.key_env", "NO_SUCH_KEY"]),
        ("kind = \"brave\"\nkee = 1", &["kee", "there is no such key"]),
    ] {
        program
            .write("halma.toml", format!("[embedder]\nkind = \"none\"\n[sources.web]\n{table}\n"));
        search(&program).fails(2, words);
    }
    program.write("halma.toml", "[embedder]\nkind = \"none\"\n");
    search(&program).fails(2, &["no such source", "[sources.web]"]);
}
