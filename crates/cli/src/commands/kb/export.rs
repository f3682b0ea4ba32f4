//! `halma kb export`: the whole graph as a file.
use std::fs::File;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;
use halma_engine::ExportFormat;

use super::opened;
use crate::args::{Common, ExportArg, KbExport};
use crate::view;

pub(super) fn run(args: &KbExport, common: &Common) -> anyhow::Result<()> {
    let engine = opened(&args.kb.kb, common)?;
    let format = match args.format {
        ExportArg::Jsonl => ExportFormat::Jsonl,
        ExportArg::Graphml => ExportFormat::Graphml,
    };
    let Some(path) = &args.file else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        engine.base().inspector().export(format, &mut out)?;
        return Ok(out.flush()?);
    };
    let cannot = || format!("cannot write `{}`; check the folder and its rights", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(cannot)?);
    engine.base().inspector().export(format, &mut out)?;
    out.flush().with_context(cannot)?;
    view::note(&format!("Written to {}.", path.display()));
    Ok(())
}
