//! Documents: uploaded, listed, read, deleted.
use std::io::{Read as _, Write as _};

use halma_engine::BaseState;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Setup, World, config, form, good, until};

fn names(listed: &Value) -> Vec<&str> {
    listed["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_queued_built_read_and_deleted_with_its_traces() {
    let world = World::start().await;
    let text = b"# Skell Light\n\nSkell Light was first lit in 1902.\n";
    let uploaded = world.upload(&[("lights/skell.md", text)]).await;
    assert_eq!(uploaded["accepted"][0]["bytes"], text.len());
    let upload = uploaded["accepted"][0]["upload"].as_str().unwrap();
    let queued = world.get_json("/api/v1/documents?state=queued").await;
    assert_eq!(names(&queued), ["lights/skell.md"]);
    let waiting = world.get("/api/v1/documents/lights%2Fskell.md/file").await;
    assert_eq!(waiting.bytes().await.unwrap().as_ref(), text);
    let which = json!({"uploads": [upload]});
    let estimate = world.post_json("/api/v1/builds/estimate", &which).await;
    assert_eq!((&estimate["documents"], &estimate["usd"]), (&json!(1), &json!(0.0)));
    let build = world.post_json("/api/v1/builds", &which).await;
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!((&done["state"], &done["report"]["documents_new"]), (&json!("done"), &json!(1)));
    let events =
        world.get(&format!("/api/v1/builds/{}/events", done["id"].as_str().unwrap())).await;
    assert!(events.text().await.unwrap().starts_with("event: done\n"));

    let listed = world.get_json("/api/v1/documents?query=skell").await;
    let line = &listed["items"][0];
    assert_eq!((&line["state"], &line["format"]), (&json!("indexed"), &json!("markdown")));
    assert!(line["chunks"].as_u64().unwrap() > 0);
    let id = line["id"].as_str().unwrap();
    let whole = world.get_json(&format!("/api/v1/documents/{id}")).await;
    assert_eq!((&whole["title"], &whole["original"]), (&json!("Skell Light"), &json!(true)));
    let nodes = world.get_json(&format!("/api/v1/documents/{id}/nodes?layer=chunk")).await;
    assert!(nodes["items"][0]["text"].as_str().unwrap().contains("1902"));
    let file = world.get(&format!("/api/v1/documents/{id}/file")).await;
    let disposition = file.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert_eq!(disposition, "attachment; filename*=UTF-8''skell.md");
    assert_eq!(file.bytes().await.unwrap().as_ref(), text);

    let ask = json!({"question": "In which year was Skell Light first lit?"});
    let answered = world.post_json("/api/v1/ask", &ask).await;
    assert_eq!(answered["answer"]["text"], "1902", "{answered}");
    let trace = format!("/api/v1/traces/{}", answered["id"].as_str().unwrap());
    let stored = BaseState::of_folder(world.dir.path()).entries("trace");
    let id_of_trace = answered["id"].as_str().unwrap();
    until("the trace", || stored.get(id_of_trace).unwrap().is_some()).await;
    let path = format!("/api/v1/documents/{id}");
    let removed = good(world.request(Method::DELETE, &path).send().await.unwrap()).await;
    assert!(removed["removed"]["chunk"].as_u64().unwrap() > 0);
    assert_eq!(world.get(&path).await.status(), 404);
    assert_eq!(world.get(&trace).await.status(), 404);
    for file in ["state.db", "state.db-wal"] {
        let bytes = std::fs::read(world.dir.path().join(file)).unwrap();
        assert!(!bytes.windows(11).any(|window| window == b"Skell Light"), "{file}");
    }
    assert!(!world.dir.path().join("files/lights").exists());
    assert_eq!(names(&world.get_json("/api/v1/documents?query=skell").await).len(), 0);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_names_and_contents_are_refused_one_by_one() {
    let world = World::start().await;
    let long = "x".repeat(400);
    let outside = world.dir.path().join("escaped.md");
    let files: &[(&str, &[u8])] = &[
        ("../escaped.md", b"text"),
        ("..\\escaped.md", b"text"),
        ("/etc/escaped.md", b"text"),
        ("a/../../escaped.md", b"text"),
        (".hidden.md", b"text"),
        ("C:\\escaped.md", b"text"),
        (&long, b"text"),
        ("", b"text"),
        ("empty.md", b""),
        ("program.md", b"\x7fELF\x02\x01\x01"),
        ("noise.txt", b"\x00\x01\x02\xff\xfe\x00\x00\x00"),
        ("good.md", b"# Good\n\nIt is good.\n"),
    ];
    let uploaded = world.upload(files).await;
    let accepted = uploaded["accepted"].as_array().unwrap();
    assert_eq!(accepted.len(), 1, "{uploaded}");
    assert_eq!(accepted[0]["name"], "good.md");
    for refused in uploaded["refused"].as_array().unwrap() {
        assert!(!refused["reason"].as_str().unwrap().is_empty(), "{refused}");
    }
    assert!(!outside.exists());
    let folder = std::fs::read_dir(world.dir.path().join("files")).unwrap();
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["good.md", "orrin.md", "people", "towers.csv"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_too_large_is_refused_and_the_next_one_is_accepted() {
    let mut config = config();
    config.serve.max_upload_bytes = 1_000;
    let world = World::with(Setup { config, library: false }).await;
    let large = vec![b'x'; 1_500];
    let uploaded = world.upload(&[("large.md", &large), ("small.md", b"# Small\n\nYes.\n")]).await;
    assert_eq!(uploaded["refused"][0]["name"], "large.md");
    assert_eq!(uploaded["accepted"][0]["name"], "small.md");
    let (kind, body) = form(&[("huge.md", &vec![b'x'; 100_000])]);
    let request = world.request(Method::POST, "/api/v1/documents").header("content-type", kind);
    // The server may close the connection before all of it is sent.
    if let Ok(response) = request.body(body).send().await {
        assert_eq!(response.status(), 413);
    }
    // They are removed on another thread.
    let uploads = world.dir.path().join("uploads");
    let is_empty = || std::fs::read_dir(&uploads).unwrap().next().is_none();
    until("the removal of the files that are too large", is_empty).await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_upload_leaves_nothing() {
    let world = World::start().await;
    let address = world.url.trim_start_matches("http://").to_owned();
    let (_, body) = form(&[("cut.md", &vec![b'x'; 10_000])]);
    let dir = world.dir.path().to_owned();
    let cut = tokio::task::spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let head = format!(
            "POST /api/v1/documents HTTP/1.1\r\nhost: {address}\r\ncontent-type: \
             multipart/form-data; boundary=edge\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body[..5_000]).unwrap();
        for _ in 0..200 {
            if std::fs::read_dir(dir.join("uploads")).is_ok_and(|mut files| files.next().is_some())
            {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        drop(stream);
    });
    cut.await.unwrap();
    let uploads = world.dir.path().join("uploads");
    until("the removal of the incomplete file", || {
        std::fs::read_dir(&uploads).unwrap().next().is_none()
    })
    .await;
    assert_eq!(names(&world.get_json("/api/v1/documents?state=queued").await).len(), 0);
    // What a crash leaves is removed at the next start.
    let dir = world.stop().await;
    std::fs::create_dir_all(dir.path().join("uploads")).unwrap();
    std::fs::write(dir.path().join("uploads/half"), "x").unwrap();
    let again = World::over(dir, Setup { config: config(), library: false }).await;
    assert!(!again.dir.path().join("uploads/half").exists());
    assert_eq!(names(&again.get_json("/api/v1/documents").await).len(), 3);
    again.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn paging_returns_every_document_once() {
    let world = World::start().await;
    world.upload(&[("a.md", b"# A\n\nOne.\n"), ("z.md", b"# Z\n\nTwo.\n")]).await;
    let mut listed = vec![];
    let mut after = String::new();
    for _ in 0..9 {
        let page = world.get_json(&format!("/api/v1/documents?limit=2{after}")).await;
        listed.extend(names(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(listed, ["a.md", "z.md", "orrin.md", "people/tarrant.md", "towers.csv"]);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn html_in_names_and_texts_is_returned_as_json_strings() {
    let world = World::start().await;
    let script = "<script>alert(1)</script>";
    let text = format!("# {script}\n\n[a](javascript:alert(1)) <img src=x onerror=alert(1)>\n");
    let name = "<img src=x onerror=alert(1)>.md";
    world.upload(&[(name, text.as_bytes())]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    for path in ["/api/v1/documents?query=onerror", "/api/v1/documents"] {
        let response = world.get(path).await;
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
        assert!(names(&response.json::<Value>().await.unwrap()).contains(&name));
    }
    let id = world.get_json("/api/v1/documents?query=onerror").await["items"][0]["id"].clone();
    let file = world.get(&format!("/api/v1/documents/{}/file", id.as_str().unwrap())).await;
    assert_eq!(file.headers()["content-type"], "text/plain; charset=utf-8");
    assert!(file.headers()["content-security-policy"].to_str().unwrap().contains("sandbox"));
    world.stop().await;
}

/// Whether the server has closed the connection.
pub(crate) fn is_closed(stream: &mut std::net::TcpStream) -> bool {
    let mut rest = vec![];
    stream.read_to_end(&mut rest).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_that_was_cut_off_is_completed_by_repeating_it() {
    let world = World::start().await;
    world.upload(&[("skell.md", b"# Skell Light\n\nSkell Light was first lit in 1902.\n")]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    let delete = || world.request(Method::DELETE, "/api/v1/documents/skell.md").send();
    // The base cannot be written to when everything else is deleted.
    let lock = world.dir.path().join("index.lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    assert_eq!(delete().await.unwrap().status(), 500);
    assert!(!world.dir.path().join("files/skell.md").exists(), "a build would add it again");
    std::fs::remove_dir(&lock).unwrap();
    assert_eq!(delete().await.unwrap().status(), 200);
    assert_eq!(delete().await.unwrap().status(), 404);
    let listed = world.get_json("/api/v1/documents?query=skell").await;
    assert_eq!(names(&listed).len(), 0);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn records_go_with_their_file_and_not_by_themselves() {
    let world = World::start().await;
    let lines = b"{\"text\": \"Skell Light was first lit in 1902.\"}\n\
                  {\"id\": \"varn\", \"text\": \"Varn Light was first lit in 1911.\"}\n";
    let uploaded = world.upload(&[("lights.jsonl", lines)]).await;
    let which = json!({"uploads": [uploaded["accepted"][0]["upload"]]});
    let build = world.post_json("/api/v1/builds", &which).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    let delete = async |path: &str| {
        world.request(Method::DELETE, &format!("/api/v1/documents/{path}")).send().await.unwrap()
    };
    let listed = world.get_json("/api/v1/documents?query=lights").await;
    assert_eq!(names(&listed), ["lights.jsonl#1"], "the file does not wait for a build");
    for record in ["lights.jsonl%231", "varn"] {
        let refused = delete(record).await;
        assert_eq!(refused.status(), 409, "{record}");
        let problem = refused.text().await.unwrap();
        assert!(problem.contains("`lights.jsonl`"), "{problem}");
    }
    let removed = good(delete("lights.jsonl").await).await;
    assert_eq!(removed["removed"]["document"], 2, "{removed}");
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
    assert_eq!(done["report"]["documents_new"], 0, "{done}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_deleted_by_its_name_and_the_others_stay() {
    let world = World::start().await;
    let text = b"# Skell\n\nSkell Light was first lit in 1902.\n";
    world.upload(&[("a.md", text), ("b.md", text)]).await;
    let build = world.post_json("/api/v1/builds", &json!({})).await;
    world.wait_for_build(build["id"].as_str().unwrap()).await;
    let delete = world.request(Method::DELETE, "/api/v1/documents/a.md");
    good(delete.send().await.unwrap()).await;
    let files = world.dir.path().join("files");
    assert!(!files.join("a.md").exists() && files.join("b.md").exists());
    let listed = world.get_json("/api/v1/documents?query=b.md").await;
    assert_eq!(names(&listed), ["b.md"]);
    assert_eq!(names(&world.get_json("/api/v1/documents?query=a.md").await).len(), 0);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_after_the_last_file_are_refused_and_not_dropped() {
    let world = World::start().await;
    let part = |name: &str, text: &str| {
        format!("--edge\r\ncontent-disposition: form-data; {name}\r\n\r\n{text}\r\n")
    };
    let (file, fields) = ("name=\"file\"; filename=\"pier.md\"", "name=\"metadata\"");
    let send = async |parts: [String; 2]| {
        let request = world.request(Method::POST, "/api/v1/documents?replace=true");
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        request.body(parts.concat() + "--edge--\r\n").send().await.unwrap()
    };
    let (file, fields) = (part(file, "The pier."), part(fields, r#"{"team": "x"}"#));
    let refused = send([file.clone(), fields.clone()]).await;
    assert_eq!(refused.status(), 422);
    assert!(refused.text().await.unwrap().contains("`metadata` comes after the last file"));
    assert_eq!(send([fields, file]).await.status(), 200);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_any_characters_and_spellings_are_stored_as_they_are_meant() {
    let world = World::start().await;
    let send = async |disposition: &str, text: &str| {
        let part = format!("content-disposition: form-data; name=\"file\"; {disposition}");
        let body = format!("--edge\r\n{part}\r\n\r\n{text}\r\n--edge--\r\n");
        let request = world.request(Method::POST, "/api/v1/documents");
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        good(request.body(body).send().await.unwrap()).await
    };
    for (disposition, name) in [
        ("filename*=UTF-8''Pr%C3%BCfung%201.md", "Prüfung 1.md"),
        ("filename=\"_.md\"; filename*=UTF-8''%D0%90.md", "А.md"),
        ("filename=\"u\u{308}ber.md\"", "über.md"),
        ("filename=\"law\\rent.md\"", "law/rent.md"),
        ("filename=\"say %22hi%22.md\"", "say \"hi\".md"),
        ("filename=\"a; filename*=b.md\"", "a; filename*=b.md"),
    ] {
        let uploaded = send(disposition, "A text.").await;
        assert_eq!(uploaded["accepted"][0]["name"], name, "{disposition}: {uploaded}");
    }
    for outside in ["filename*=UTF-8''..%2F..%2Fx.md", "filename*=UTF-8''%2Fetc%2Fx.md"] {
        assert_eq!(send(outside, "A text.").await["accepted"], json!([]), "{outside}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_of_a_copy_is_listed_as_one_and_renames_nothing() {
    let world = World::start().await;
    let text = std::fs::read(world.dir.path().join("files/orrin.md")).unwrap();
    for copy in ["a copy.md", "law/copy.md", "zz.md"] {
        let uploaded = world.upload(&[(copy, &text)]).await;
        let which = json!({"uploads": [uploaded["accepted"][0]["upload"]]});
        let build = world.post_json("/api/v1/builds", &which).await;
        let done = world.wait_for_build(build["id"].as_str().unwrap()).await;
        assert_eq!(done["report"]["duplicate_names"], json!([copy]), "{done}");
        assert_eq!(done["report"]["documents_unchanged"], 0, "{done}");
    }
    let listed = world.get_json("/api/v1/documents").await;
    let originals = ["orrin.md", "people/tarrant.md", "towers.csv"];
    assert_eq!(names(&listed), [&["a copy.md", "law/copy.md", "zz.md"][..], &originals].concat());
    assert_eq!(listed["items"][0]["error"], "same text as `orrin.md`", "{listed}");
    let answered = world.post_json("/api/v1/ask", &crate::world::question()).await;
    assert_eq!(answered["answer"]["citations"][0]["document"], "orrin.md", "{answered}");
    // A copy is deleted as itself.
    let copy = format!("/api/v1/documents/{}", listed["items"][0]["id"].as_str().unwrap());
    good(world.request(Method::DELETE, &copy).send().await.unwrap()).await;
    let listed = world.get_json("/api/v1/documents?limit=2").await;
    assert_eq!(names(&listed), ["law/copy.md", "zz.md"]);
    world.stop().await;
}
