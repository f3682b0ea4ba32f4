//! Pages and pictures without text, read by Debian's `tesseract` where it is installed. Pages are
//! drawn by `pdftoppm` where that is installed, else the picture on the page is taken.
mod files;

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

pub(crate) use files::{files, programs};

/// Dots per inch that tesseract reads well.
const RESOLUTION: &str = "200";

/// Pages that lie on their side or stand on their head are turned first.
const TURNED: &str = "1";

const TESSERACT: &str = "tesseract";
const PDFTOPPM: &str = "pdftoppm";

/// What is said of a program that was ended because the time was up.
const TOO_LONG: &str = "takes too long";

/// Why scans are not read when the time is up, with what to do.
const LATE: &str = "the time is up; raise `kb.reading.seconds`";

/// The programs that are started.
const PROGRAMS: [&str; 2] = [TESSERACT, PDFTOPPM];

/// How scans may be read, and until when.
#[derive(Debug, Clone)]
pub(crate) struct Ocr {
    /// Whether the user allows it at all.
    pub(crate) enabled: bool,
    /// Of tesseract, as in `eng+deu`.
    pub(crate) languages: String,
    pub(crate) until: Instant,
}

impl Ocr {
    /// The text of a page of a PDF (from 1), or why there is none, with what to do.
    pub(crate) fn page(
        &self,
        pdf: &[u8],
        page: u32,
        image: Option<&[u8]>,
    ) -> Result<String, String> {
        self.ready()?;
        let number = page.to_string();
        let draw = ["-r", RESOLUTION, "-f", &number, "-l", &number, "-png", "-"];
        let drawn = run(PDFTOPPM, &draw, pdf, self.until).ok().filter(|png| !png.is_empty());
        let Some(picture) = drawn.as_deref().or(image) else {
            return Err("it cannot be drawn; install poppler-utils".to_owned());
        };
        self.read(picture)
    }

    /// The text of a picture, or why there is none, with what to do.
    pub(crate) fn picture(&self, image: &[u8]) -> Result<String, String> {
        self.ready()?;
        self.read(image)
    }

    fn ready(&self) -> Result<(), String> {
        if !self.enabled {
            return Err("OCR is off; set `kb.reading.ocr`".to_owned());
        }
        if Instant::now() >= self.until {
            return Err(LATE.to_owned());
        }
        if run(TESSERACT, &["--version"], b"", self.until).is_err() {
            return Err("tesseract is missing; install tesseract-ocr".to_owned());
        }
        Ok(())
    }

    fn read(&self, picture: &[u8]) -> Result<String, String> {
        let arguments =
            ["stdin", "stdout", "-l", &self.languages, "--dpi", RESOLUTION, "--psm", TURNED];
        let text = run(TESSERACT, &arguments, picture, self.until);
        let text = text.map_err(|error| match error.as_str() {
            TOO_LONG => LATE.to_owned(),
            error => format!("tesseract {error}"),
        })?;
        let text = String::from_utf8_lossy(&text).replace('\u{c}', "\n");
        Ok(text.replace("\r\n", "\n").trim().to_owned())
    }
}

/// What the program writes when it is given `input`; it is ended when the time is up.
fn run(program: &str, arguments: &[&str], input: &[u8], until: Instant) -> Result<Vec<u8>, String> {
    let mut child = Command::new(program)
        .args(arguments)
        // One document takes one core.
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot be started: {error}"))?;
    let output = std::thread::scope(|scope| {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // A program that has seen enough closes its input: nothing is wrong with that.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let complaints = scope.spawn(move || collect(stderr));
        let (sender, receiver) = channel();
        scope.spawn(move || sender.send(collect(stdout)));
        let left = until.saturating_duration_since(Instant::now());
        let output = receiver.recv_timeout(left.max(Duration::from_millis(1)));
        if output.is_err() {
            end(&mut child);
        }
        let complaints = complaints.join().unwrap_or_default();
        output.map(|output| (output, complaints)).map_err(|_| TOO_LONG.to_owned())
    });
    let status = child.wait().map_err(|error| format!("got lost: {error}"))?;
    let (output, complaints) = output?;
    if status.success() {
        return Ok(output);
    }
    let complaints = String::from_utf8_lossy(&complaints);
    let last = complaints.lines().rev().find(|line| !line.trim().is_empty());
    Err(format!("says: {}", last.unwrap_or("nothing").trim()))
}

fn collect(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = vec![];
    // What was read before the stream broke is still an answer; the status tells the rest.
    let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
    bytes
}

fn end(child: &mut Child) {
    // It may have ended by itself in the meantime.
    let _ = child.kill();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_program_gets_its_input_and_gives_its_output() {
        let much = vec![b'x'; 1 << 20];
        assert_eq!(run("cat", &[], &much, soon()).unwrap(), much);
        assert!(run("cat", &["--no-such-option"], b"", soon()).unwrap_err().contains("says: "));
        assert!(
            run("no-such-program", &[], b"", soon()).unwrap_err().contains("cannot be started")
        );
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        let until = Instant::now() + Duration::from_millis(50);
        assert_eq!(run("cat", &["/dev/zero"], b"", until).unwrap_err(), TOO_LONG);
    }

    #[test]
    fn without_leave_nothing_is_read() {
        let ocr = Ocr { enabled: false, languages: "eng".into(), until: soon() };
        assert_eq!(ocr.page(b"", 3, None).unwrap_err(), "OCR is off; set `kb.reading.ocr`");
    }
}
