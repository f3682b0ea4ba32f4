//! Pages that are read, and whatever they turn out to be.
use super::*;

#[tokio::test]
async fn pages_are_read_where_their_site_lets_us() {
    let world = World::new();
    let page = "<title>no</title><nav>The harbour bridge menu</nav><main><p>It rained.</p>\
                <p>The harbour bridge was opened by Anna Reed.</p></main>\
                <a href='/further'>further</a><script>fetch('/further')</script>";
    world.double.page("/bridge", "text/html; charset=utf-8", page);
    world.double.page("/mayor", "text/html", "<p>Anna Reed opened the harbour bridge in May.");
    world.double.page("/robots.txt", "text/plain", "User-agent: *\nDisallow: /mayor");
    let settings = WebSettings { fetch_pages: 3, ..world.settings(WebKind::Brave) };
    let web = world.open(&settings, None);
    assert!(web.about().contains("passages"));
    let search = web.results(QUERY).await.unwrap();
    let pages: Vec<&WebResult> =
        search.results.iter().filter(|result| result.rank == WebRank::Page).collect();
    assert_eq!(pages[0].passages, "The harbour bridge was opened by Anna Reed.");
    assert!(pages[1].passages.is_empty() && pages[1].unread.contains("robots.txt"));
    assert!(pages[2].unread.contains("loopback"), "{}", pages[2].unread);
    let hits = web.search(QUERY, 9).await.unwrap();
    assert_eq!(hits[0].text, format!("The harbour bridge was opened.\n{}", pages[0].passages));
    // Once for the rules, once for the page: neither what is forbidden nor a link, nor again.
    let mut paths = world.paths();
    paths.sort();
    assert_eq!(paths, ["/bridge", "/robots.txt"]);
}

#[tokio::test]
async fn a_page_can_be_anything_and_costs_its_passages_only() {
    let at = |host: &str, path: &str| format!("http://{host}.test:PORT{path}");
    let redirect = |to: String| EngineFailure::Redirect(302, to);
    for (trouble, words) in [
        (EngineFailure::Endless, "more than"),
        (EngineFailure::Bomb, "more than"),
        (EngineFailure::Drip, "within 0.5 s"),
        (EngineFailure::Cut, "broke the connection"),
        (EngineFailure::Brotli, "packed as br"),
        (EngineFailure::Status(200, "{}".into()), "`application/json`"),
        (EngineFailure::Status(500, String::new()), "answers 500"),
        (redirect("http://127.0.0.1:PORT/secret".into()), "loopback"),
        (redirect("http://0x7f.1:PORT/secret".into()), "loopback"),
        (redirect("http://[::1]:PORT/secret".into()), "loopback"),
        (redirect("http://10.0.0.1/".into()), "private"),
        (redirect("http://169.254.169.254/latest/meta-data".into()), "link-local"),
        (redirect(at("metadata", "/")), "link-local"),
        (redirect(at("inner", "/secret")), "loopback"),
        (redirect("file:///etc/passwd".into()), "http and https"),
        (redirect(at("other", "/private/x")), "robots.txt"),
    ] {
        let world = World::new();
        let robots = "User-agent: *\nDisallow: /private";
        world.double.page("/robots.txt", "text/plain", robots);
        world.double.page("/secret", "text/html", "secret");
        let settings = WebSettings {
            fetch_pages: 1,
            timeout_seconds: 0.5,
            ..world.settings(WebKind::SearXng)
        };
        let web = world.open(&settings, None);
        let port = world.double.port().to_string();
        let trouble = match trouble {
            EngineFailure::Redirect(status, to) => {
                EngineFailure::Redirect(status, to.replace("PORT", &port))
            }
            trouble => trouble,
        };
        // The search, the rules, then the page.
        let fine = EngineFailure::Late(Duration::ZERO);
        world.double.trouble([fine.clone(), fine, trouble.clone()]);
        let search = web.results(QUERY).await.unwrap();
        let first = search.results.iter().find(|result| result.rank == WebRank::Page).unwrap();
        assert!(first.unread.contains(words), "{trouble:?}: {}", first.unread);
        assert_eq!(first.passages, "");
        assert!(!world.paths().iter().any(|path| path.contains("secret")), "{trouble:?}");
    }
}
