//! `halma kb export`: writes all nodes and edges to a file.
use std::fs::File;
use std::io::{BufWriter, Write as _};

use anyhow::Context as _;

use crate::args::{Common, KbExport};
use crate::commands::setup::{open_base, refuse_existing};
use crate::view;

pub(super) fn run(args: &KbExport, common: &Common) -> anyhow::Result<()> {
    let engine = open_base(&args.kb, common)?;
    let Some(path) = &args.file else {
        let mut out = BufWriter::new(std::io::stdout().lock());
        engine.base().inspector().export(&mut out)?;
        return Ok(out.flush()?);
    };
    refuse_existing(path, args.force)?;
    let cannot =
        || format!("cannot write `{}`; check the folder and its permissions", path.display());
    let mut out = BufWriter::new(File::create(path).with_context(cannot)?);
    engine.base().inspector().export(&mut out)?;
    out.flush().with_context(cannot)?;
    view::note(&format!("Wrote {}.", path.display()));
    Ok(())
}
