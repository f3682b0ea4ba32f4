//! The report's page in a browser: its plots are drawn and its script fills the questions in,
//! under the page's own policy that lets nothing else run.
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::evaluation::questions;
use crate::program::{Program, write_library};

/// `.ci/run` installs a browser and sets this, so that no run there leaves the test out unseen.
const REQUIRED: &str = "HALMA_BROWSER_REQUIRED";
/// As Chromium calls itself on various systems.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// The colours of the first two runs in the plots, in light mode (`tokens.css` of the web UI).
const COLOURS: [[u8; 3]; 2] = [[0x0b, 0x5f, 0x5f], [0xb1, 0x49, 0x2f]];

fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

/// What the browser prints for a page, with these options.
fn shown(browser: &Path, page: &Path, profile: &Path, options: &[&str]) -> String {
    let run = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--hide-scrollbars", "--no-first-run", "--window-size=1280,3000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{err}");
    assert!(!err.contains("Content Security Policy"), "{err}");
    String::from_utf8(run.stdout).unwrap()
}

/// How many pixels of a picture have each of the colours.
fn painted(picture: &Path) -> [usize; 2] {
    let file = std::io::BufReader::new(std::fs::File::open(picture).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let step = info.color_type.samples();
    COLOURS.map(|colour| pixels.chunks_exact(step).filter(|pixel| pixel[..3] == colour).count())
}

#[test]
fn the_plots_are_drawn_and_the_questions_are_there() {
    let Some(browser) = browser() else {
        assert!(std::env::var_os(REQUIRED).is_none(), "there is no Chromium to open the page in");
        return;
    };
    let program = Program::new();
    write_library(&program);
    questions(&program);
    assert_eq!(program.run(&["index", "library"]).code, 0);
    let ran = program.run(&["eval", "questions.jsonl", "--strategy", "naive,kar3", "--out", "out"]);
    assert_eq!(ran.code, 0, "{}", ran.err);

    let (page, profile) = (program.path("out/report.html"), program.path("profile"));
    let dom = shown(&browser, &page, &profile, &["--dump-dom"]);
    // What is drawn, without the script that drew it.
    let (dom, _) = dom.split_once("<script").unwrap();
    for part in ["Right answers over cost", "Where answers were lost", "Latency"] {
        assert!(dom.contains(part), "`{part}` is not on the page");
    }
    assert!(dom.matches("<svg").count() >= 3, "plots are missing");
    assert!(!dom.contains("NaN") && !dom.contains("Infinity"), "a plot has no place for a figure");
    assert!(dom.contains("id=\"questions\""), "the questions are not on the page");

    let picture = program.path("page.png");
    let screenshot = format!("--screenshot={}", picture.display());
    shown(&browser, &page, &profile, &[&screenshot]);
    let painted = painted(&picture);
    assert!(painted.iter().all(|pixels| *pixels > 200), "runs without colour: {painted:?}");
}
