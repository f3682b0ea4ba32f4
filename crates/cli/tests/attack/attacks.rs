//! The attacks: what is sent, and what must come back.
use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::amplified::{self, Amplified, Outcome};
use crate::crowds::crowds;
use crate::requests::{half_open, unread};
use crate::server::Victim;

/// The status codes that came back, or what is wrong with them.
pub(crate) type Answers = Result<String, String>;

pub(crate) struct Attack {
    pub(crate) about: &'static str,
    pub(crate) run: Box<dyn Fn(&Victim) -> Answers + Send + Sync>,
}

/// Whether it takes no more than some seconds.
pub(crate) fn is_short(attack: &Attack) -> bool {
    attack.about.starts_with("settings")
        || attack.about.starts_with("SQL that is wrong")
        || attack.about.starts_with("filters")
        || attack.about.starts_with("conversations")
        || attack.about.starts_with("random")
}

const INSTR: &str = "SELECT instr(hex(zeroblob(1500000)), hex(zeroblob(700000))||'1')";

/// Each of them keeps a processor busy for minutes to hours, or asks for gigabytes.
const ENDLESS: &[&str] = &[
    INSTR,
    "SELECT hex(zeroblob(1000000)) LIKE '%'||hex(zeroblob(12000))||'1'",
    "SELECT hex(zeroblob(4000000)) LIKE '%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%0%1'",
    "SELECT length(replace(hex(zeroblob(2000000)), hex(zeroblob(1000000))||'1', 'x'))",
    "SELECT trim(hex(zeroblob(1000000)), hex(zeroblob(100000))||'12')",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
    "SELECT count(*) FROM towers a, towers b, towers c, towers d WHERE a.year + b.year > c.year + d.year + 900",
    "SELECT a.tower, group_concat(b.tower || c.tower) FROM towers a, towers b, towers c GROUP BY 1",
    "WITH RECURSIVE n(i, t) AS (SELECT 1, randomblob(1000000) UNION ALL SELECT i + 1, randomblob(1000000) FROM n) SELECT count(DISTINCT t) FROM n",
    "SELECT printf('%.*c', 2000000000, 'x')",
    "SELECT DISTINCT a.tower || b.tower || c.tower FROM towers a, towers b, towers c ORDER BY 1",
];

const WRONG: &[&str] = &[
    "DROP TABLE towers",
    "SELECT 1; SELECT 2",
    "ATTACH DATABASE 'x.db' AS x",
    "SELECT load_extension('x')",
    "SELECT * FROM pragma_table_info('towers')",
    "PRAGMA hard_heap_limit = 0",
    "WITH x AS (SELECT 1) DELETE FROM towers",
];

#[expect(clippy::too_many_lines, reason = "it is a list")]
pub(crate) fn all() -> Vec<Attack> {
    let mut all = vec![
        attack("two queries of `instr` over megabytes, and three questions", |victim| {
            together(5, |n| match n {
                0 | 1 => victim.post("/api/v1/sql", &json!({"sql": INSTR})).status,
                _ => {
                    victim
                        .post(
                            "/api/v1/ask",
                            &json!({"question": format!("When was Light {n} lit?")}),
                        )
                        .status
                }
            })
            .within(&[200, 422])
        }),
        attack("40 such queries at once", |victim| {
            together(40, |_| victim.post("/api/v1/sql", &json!({"sql": INSTR})).status)
                .within(&[422, 503])
        }),
        attack(
            "SQL that does not end or asks for gigabytes, of eleven kinds, two at a time",
            |victim| {
                let mut answers = Statuses::default();
                for pair in ENDLESS.chunks(2) {
                    answers.add(together(pair.len(), |n| {
                        victim.post("/api/v1/sql", &json!({"sql": pair[n]})).status
                    }));
                }
                answers.within(&[200, 422])
            },
        ),
        attack("SQL with a result of gigabytes", |victim| {
            let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, hex(zeroblob(4000000)) FROM n";
            together(4, |_| {
                let answer = victim.post("/api/v1/sql", &json!({"sql": sql}));
                if answer.text.len() > 40_000_000 { 0 } else { answer.status }
            })
            .within(&[200, 422])
        }),
        attack("SQL that is wrong, changes something, or nests 5,000 deep", |victim| {
            let deep = format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000));
            let long = format!("SELECT {}1", "1 + ".repeat(100_000));
            let all: Vec<&str> = WRONG.iter().copied().chain([deep.as_str(), &long]).collect();
            together(all.len(), |n| victim.post("/api/v1/sql", &json!({"sql": all[n]})).status)
                .within(&[422])
        }),
        attack("settings with numbers of ten digits and more", |victim| {
            let settings = [
                json!({"mode": "dense", "chunks": 10_000_000_000_u64}),
                json!({"chunks": u64::MAX}),
                json!({"chunks": "0xffffffffff"}),
                json!({"atoms": i64::MAX, "hierarchical": true}),
            ];
            together(settings.len(), |n| {
                let ask = json!({"question": "x", "strategy": "naive", "settings": settings[n]});
                victim.post("/api/v1/ask", &ask).status
            })
            .within(&[422])
        }),
        attack("filters of 190,000 patterns", |victim| {
            let filter = json!({"documents": vec!["*a*"; 190_000 / 2]});
            together(8, |_| {
                victim.post("/api/v1/search", &json!({"text": "a", "filter": filter})).status
            })
            .within(&[413, 422])
        }),
        attack("conversations of 900,000 and of 190,000 brackets, in chats", |victim| {
            together(8, |n| {
                let brackets = "[".repeat(if n % 2 == 0 { 900_000 } else { 190_000 });
                let messages = json!([
                    {"role": "user", "content": "When was Light 7 first lit?"},
                    {"role": "assistant", "content": brackets},
                    {"role": "user", "content": "And Light 8?"},
                ]);
                let chat = json!({"model": "halma", "messages": messages, "stream": n % 4 == 1});
                victim.post("/v1/chat/completions", &chat).status
            })
            .within(&[200, 422])
        }),
        attack("60 questions at once, each with a filter of its own", |victim| {
            together(60, |n| {
                let filter = json!({"documents": ["*.md", format!("{n}.csv")]});
                let question = format!("When was Light {n} first lit?");
                let ask = json!({"question": question, "filter": filter});
                victim.post("/api/v1/ask", &ask).status
            })
            .within(&[200, 503])
        }),
        attack("500 searches at once", |victim| {
            together(500, |n| {
                victim
                    .post(
                        "/api/v1/search",
                        &json!({"text": format!("Light {n} Velby lit first"), "limit": 500}),
                    )
                    .status
            })
            .within(&[200, 503])
        }),
        attack("300 searches at once whose answers are compressed", |victim| {
            together(300, |n| {
                let query = json!({"text": format!("Light {n} Velby lit first"), "limit": 500});
                victim.post_compressed("/api/v1/search", &query).status
            })
            .within(&[200, 503])
        }),
        attack("200 questions at once", |victim| {
            together(200, |n| {
                victim
                    .post(
                        "/api/v1/ask",
                        &json!({"question": format!("When was Light {n} first lit?")}),
                    )
                    .status
            })
            .within(&[200, 503])
        }),
        attack("300 listings of failed documents at once", |victim| {
            together(300, |_| victim.get("/api/v1/documents?state=failed&limit=1").status)
                .within(&[200, 503])
        }),
        attack("100 estimates at once", |victim| {
            victim.upload("", "default", "new.md", b"# New\n\nIt is new.\n");
            together(100, |_| victim.post("/api/v1/builds/estimate", &json!({})).status)
                .within(&[200, 503])
        }),
        attack("400 requests that are never finished", |victim| {
            let open: Vec<_> = (0..400).filter_map(|_| half_open(&victim.address)).collect();
            std::thread::sleep(Duration::from_secs(3));
            let answers = together(20, |_| victim.get("/api/v1/documents?limit=1").status);
            drop(open);
            answers.within(&[200])
        }),
        attack("100 streams that are never read, of a build", |victim| {
            let build = victim.post("/api/v1/builds", &json!({})).json();
            let path = format!("/api/v1/builds/{}/events", build["id"].as_str().unwrap_or("none"));
            let open: Vec<_> = (0..100).filter_map(|_| unread(&victim.address, &path)).collect();
            let answers = together(20, |_| victim.get("/api/v1/builds").status);
            std::thread::sleep(Duration::from_secs(2));
            drop(open);
            answers.within(&[200])
        }),
        attack("random requests", random_requests),
    ];
    all.extend(crowds());
    for file in amplified::files() {
        all.push(Attack { about: file.about, run: Box::new(move |victim| build(victim, &file)) });
    }
    all
}

pub(crate) fn attack(
    about: &'static str,
    run: impl Fn(&Victim) -> Answers + Send + Sync + 'static,
) -> Attack {
    Attack { about, run: Box::new(run) }
}

/// Uploads a file and builds it: it is refused by name or read, and the build ends well.
fn build(victim: &Victim, file: &Amplified) -> Answers {
    let uploaded = victim.upload("", "default", file.name, &file.bytes);
    if uploaded.status != 200 {
        return Err(format!("the upload is answered by {}", uploaded.status));
    }
    let build = victim.build("default");
    let refused = build["report"]["refused"].as_array().cloned().unwrap_or_default();
    let reason = refused.iter().find(|refused| refused["name"] == file.name);
    let reason = reason.map(|refused| refused["reason"].to_string());
    let state = build["state"].as_str().unwrap_or("not there").to_owned();
    let document = victim.get(&format!("/api/v1/documents/{}", file.name));
    let length = document.json()["length"].as_u64().unwrap_or(u64::MAX);
    if state != "done" {
        return Err(format!("the build is {state}: {}", build["error"]));
    }
    match (&file.outcome, reason) {
        (Outcome::Refused(words), Some(reason)) if reason.contains(words) => {
            Ok("refused, with the reason".into())
        }
        (Outcome::Read(limit), None) if length <= *limit as u64 => {
            Ok("read, as far as it goes".into())
        }
        // Cutting and storing what was read is bounded by the limits of a document as well.
        (Outcome::Read(_), Some(reason))
            if reason.contains("takes longer") || reason.contains("memory") =>
        {
            Ok("refused, with the reason".into())
        }
        (_, reason) => Err(format!("{}: {reason:?}, {length} characters", file.name)),
    }
}

/// Requests of random paths and bodies, the same in every run: `HALMA_REQUESTS` of them, or 2,000.
fn random_requests(victim: &Victim) -> Answers {
    let paths = [
        "/api/v1/ask",
        "/api/v1/search",
        "/api/v1/sql",
        "/api/v1/builds",
        "/api/v1/builds/estimate",
        "/v1/chat/completions",
        "/v1/embeddings",
        "/mcp",
        "/api/v1/workspaces",
        "/api/v1/nothing",
    ];
    let count = std::env::var("HALMA_REQUESTS").map_or(2_000, |count| count.parse().unwrap());
    let answers = together(8, |seed| {
        let mut random = Random(seed as u64 + 1);
        let mut worst = 200;
        for _ in 0..count / 8 {
            let path = paths[random.below(paths.len())];
            let body = random.value(3);
            let status = victim.post(path, &body).status;
            if status == 0 || status == 500 {
                worst = status;
            }
        }
        worst
    });
    answers.within(&[200])
}

/// A small generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn value(&mut self, depth: usize) -> Value {
        let keys = [
            "question", "text", "sql", "limit", "filter", "settings", "strategy", "input",
            "messages", "model", "role", "content", "uploads", "jsonrpc", "method", "params",
            "layer", "chunks",
        ];
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => json!(self.0.cast_signed()),
            2 => json!(f64::from_bits(self.0)),
            3 => json!("select".repeat(self.below(40))),
            4 => json!(["\u{0}", "🦀", "*", "halma", "kar3", "chunk", "'", "NaN"][self.below(8)]),
            5 => json!(self.below(2) == 0),
            6 => (0..self.below(5)).map(|_| self.value(depth - 1)).collect(),
            _ => {
                let entries = (0..self.below(6))
                    .map(|_| (keys[self.below(keys.len())].to_owned(), self.value(depth - 1)));
                Value::Object(entries.collect())
            }
        }
    }
}

/// How often each status came back.
#[derive(Default)]
pub(crate) struct Statuses(BTreeMap<u16, usize>);

impl Statuses {
    pub(crate) fn add(&mut self, other: Self) {
        for (status, count) in other.0 {
            *self.0.entry(status).or_default() += count;
        }
    }

    pub(crate) fn count(&self, status: u16) -> usize {
        self.0.get(&status).copied().unwrap_or(0)
    }

    pub(crate) fn within(self, expected: &[u16]) -> Answers {
        let listed: Vec<String> =
            self.0.iter().map(|(status, count)| format!("{count} × {status}")).collect();
        let listed = listed.join(", ");
        if self.0.keys().all(|status| expected.contains(status)) { Ok(listed) } else { Err(listed) }
    }
}

/// Sends requests at the same time.
pub(crate) fn together(count: usize, send: impl Fn(usize) -> u16 + Sync) -> Statuses {
    let mut statuses = Statuses::default();
    let send = &send;
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..count).map(|n| scope.spawn(move || send(n))).collect();
        for status in all {
            *statuses.0.entry(status.join().unwrap()).or_default() += 1;
        }
    });
    statuses
}
