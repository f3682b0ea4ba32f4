//! PDF, Office documents and mail, through xberg. All that is known of xberg is in this file and in
//! `nodes.rs`.
use xberg::cancellation::CancellationToken;
use xberg::{
    EmailMetadata, ExtractInput, ExtractedDocument, ExtractionConfig, FormatMetadata,
    ImageExtractionConfig, OutputFormat, PageConfig, PdfConfig,
};

use crate::about::iso_date;
use crate::container::{locked, refusal};
use crate::detect::Format;
use crate::nodes;
use crate::parsed::{Parsed, Refusal};
use crate::scan::Scans;
use crate::worker::STACK;
use crate::writer::Writer;

pub(crate) fn read(
    format: Format,
    bytes: &[u8],
    scans: &Scans,
    stop: &CancellationToken,
) -> Result<Parsed, Refusal> {
    let document = extract(format, bytes, stop)?;
    let mut writer = Writer::new(format.name());
    nodes::write(format, bytes, &document, scans, &mut writer);
    for name in mail(&document).into_iter().flat_map(|mail| &mail.attachments) {
        writer.warn(format!("the attached file `{name}` is not read; give it by itself"));
    }
    if writer.is_empty() {
        return Err(nothing(format, bytes));
    }
    let mut parsed = writer.finish();
    about(&mut parsed, &document);
    Ok(parsed)
}

fn extract(
    format: Format,
    bytes: &[u8],
    stop: &CancellationToken,
) -> Result<ExtractedDocument, Refusal> {
    // Its threads need room for nested input as well.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .thread_stack_size(STACK)
        .build()
        .map_err(|error| refusal(&format!("no thread could be started: {error}"), "try again"))?;
    let input = ExtractInput::from_bytes(bytes.to_vec(), media(format), None);
    let result = runtime.block_on(xberg::extract(input, &config(stop)));
    // What still runs after a cancelled extraction is not waited for.
    runtime.shutdown_background();
    let result = result.map_err(|error| unreadable(&error.to_string(), bytes))?;
    let errors: Vec<String> = result.errors.iter().map(|error| error.message.clone()).collect();
    let mut documents = result.results.into_iter();
    documents.next().ok_or_else(|| unreadable(&errors.join("; "), bytes))
}

fn config(stop: &CancellationToken) -> ExtractionConfig {
    ExtractionConfig {
        use_cache: false,
        enable_quality_processing: false,
        disable_ocr: true,
        include_document_structure: true,
        // In plain output, slides have no headings.
        output_format: OutputFormat::Markdown,
        escape_markdown: false,
        extraction_timeout_secs: None,
        cancel_token: Some(stop.clone()),
        max_archive_depth: 0,
        // How many pages there are, empty ones included.
        pages: Some(PageConfig::default()),
        images: Some(ImageExtractionConfig {
            run_ocr_on_images: false,
            auto_adjust_dpi: false,
            max_images_per_page: Some(50),
            ..ImageExtractionConfig::default()
        }),
        pdf_options: Some(PdfConfig { extract_images: true, ..PdfConfig::default() }),
        ..ExtractionConfig::default()
    }
}

fn media(format: Format) -> &'static str {
    match format {
        Format::Pdf => "application/pdf",
        Format::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        Format::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        Format::Odt => "application/vnd.oasis.opendocument.text",
        Format::Odp => "application/vnd.oasis.opendocument.presentation",
        Format::Doc => "application/msword",
        Format::Ppt => "application/vnd.ms-powerpoint",
        Format::Rtf => "application/rtf",
        Format::Msg => "application/vnd.ms-outlook",
        Format::Eml => "message/rfc822",
        // The others have readers of their own.
        _ => "text/plain",
    }
}

/// xberg's message as a refusal that says what to do.
fn unreadable(error: &str, bytes: &[u8]) -> Refusal {
    let lower = error.to_lowercase();
    if lower.contains("password") || lower.contains("encrypted") || lower.contains("decrypt") {
        return locked();
    }
    if crate::detect::contains(bytes, b"/Encrypt") && bytes.starts_with(b"%PDF") {
        return locked();
    }
    if lower.contains("no page boundaries") {
        return refusal("it has no pages", "check that it opens in a viewer");
    }
    // Of a chain of causes the last one is the one to look at.
    let first = error.lines().next().unwrap_or_default();
    let cause = first.rsplit(": ").find(|cause| !cause.trim().is_empty());
    let hint = "it may be damaged or cut off: open it and save it anew";
    refusal(&format!("it cannot be read: {}", cause.unwrap_or("no reason was given").trim()), hint)
}

fn nothing(format: Format, bytes: &[u8]) -> Refusal {
    if format != Format::Pdf {
        return refusal("it has no text", "remove it or fill it");
    }
    if crate::detect::contains(bytes, b"/Encrypt") {
        return locked();
    }
    refusal("it has no page with a text or a picture", "check that it opens in a viewer")
}

fn about(parsed: &mut Parsed, document: &ExtractedDocument) {
    let about = &document.metadata;
    let some = |text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default().replace('\0', "");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(text).filter(|text| !text.is_empty())
    };
    parsed.title = some(&about.title).filter(|title| !is_file_name(title));
    let authors = about.authors.as_deref().unwrap_or_default().join(", ");
    parsed.author = some(&Some(authors)).or_else(|| some(&about.created_by));
    let date = |text: &Option<String>| text.as_deref().and_then(iso_date);
    if let Some(mail) = mail(document) {
        parsed.title = some(&about.subject).or(parsed.title.take());
        parsed.author = some(&mail.from_name).or_else(|| some(&mail.from_email));
    }
    let (made, changed) = (date(&about.created_at), date(&about.modified_at));
    // Office documents are born from templates, whose day of birth they keep.
    parsed.date = if parsed.format == "pdf" { made.or(changed) } else { changed.or(made) };
    parsed.language = some(&about.language);
}

fn mail(document: &ExtractedDocument) -> Option<&EmailMetadata> {
    match document.metadata.format.as_ref()? {
        FormatMetadata::Email(mail) => Some(mail),
        _ => None,
    }
}

/// Programs put the name of the file, or nothing of worth, where the title belongs.
fn is_file_name(title: &str) -> bool {
    const EMPTY: &[&str] =
        &["untitled", "document", "title", "presentation", "powerpoint presentation"];
    let lower = title.to_lowercase();
    EMPTY.contains(&lower.as_str())
        || lower.starts_with("microsoft word - ")
        || lower.starts_with("microsoft powerpoint - ")
        || [
            ".doc", ".docx", ".odt", ".pdf", ".ppt", ".pptx", ".png", ".jpg", ".tex", ".dvi",
            ".indd",
        ]
        .iter()
        .any(|extension| lower.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_to_do() {
        assert_eq!(unreadable("PDF is password protected", b"%PDF").reason, "it is encrypted");
        assert!(unreadable("", b"%PDF-1.7").reason.contains("no reason"));
        assert!(is_file_name("Microsoft Word - Contract") && is_file_name("report.docx"));
        assert!(!is_file_name("A report"));
    }
}
