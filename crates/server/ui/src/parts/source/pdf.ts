// PDF.js, loaded only when a PDF is opened. Scripts in documents never run: PDF.js draws the page, and
// the text is placed over it.
import { getDocument, GlobalWorkerOptions, TextLayer, type PDFDocumentProxy } from "pdfjs-dist";
import PdfWorker from "pdfjs-dist/build/pdf.worker.min.mjs?worker";
import { t } from "../../lib/texts/t.svelte";
import { findQuote, type Range } from "./quote";

export async function openPdf(data: ArrayBuffer): Promise<PDFDocumentProxy> {
  GlobalWorkerOptions.workerPort ??= new PdfWorker();
  // The content security policy forbids WebAssembly; PDF.js has JavaScript replacements.
  return getDocument({ data, useWasm: false, enableXfa: false, isEvalSupported: false }).promise;
}

export type { PDFDocumentProxy };

/** Draws a page into `place`, if it is `still` needed; returns whether the quote was found on it. */
export async function drawPage(
  pdf: PDFDocumentProxy,
  number: number,
  place: HTMLElement,
  quote: string,
  still: () => boolean,
): Promise<boolean> {
  const page = await pdf.getPage(number);
  const natural = page.getViewport({ scale: 1 });
  const scale = Math.max(0.2, place.clientWidth / natural.width);
  const viewport = page.getViewport({ scale });
  const canvas = document.createElement("canvas");
  const sharp = Math.min(2.5, devicePixelRatio || 1);
  canvas.width = Math.floor(viewport.width * sharp);
  canvas.height = Math.floor(viewport.height * sharp);
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", t("pdf.number", { page: number }));
  const text = document.createElement("div");
  text.className = "pdf-text";
  text.style.setProperty("--total-scale-factor", String(scale));
  text.style.setProperty("--scale-round-x", "1px");
  text.style.setProperty("--scale-round-y", "1px");
  await page.render({ canvas, viewport, transform: [sharp, 0, 0, sharp, 0, 0] }).promise;
  const layer = new TextLayer({ textContentSource: await page.getTextContent(), container: text, viewport });
  await layer.render();
  // PDF.js measures letters with it.
  document.querySelector(".hiddenCanvasElement")?.setAttribute("aria-hidden", "true");
  if (!still()) return false;
  place.style.setProperty("aspect-ratio", `${viewport.width} / ${viewport.height}`);
  place.replaceChildren(canvas, text);
  const found = findQuote(layer.textContentItemsStr, quote);
  mark(layer.textDivs, found);
  text.querySelector("mark")?.scrollIntoView({ block: "center" });
  return found.length > 0;
}

function mark(divs: HTMLElement[], found: Range[]): void {
  for (const item of new Set(found.map((range) => range.item))) {
    const div = divs[item];
    if (!div) continue;
    const text = div.textContent ?? "";
    const nodes: Node[] = [];
    let from = 0;
    for (const range of found.filter((one) => one.item === item)) {
      const marked = document.createElement("mark");
      marked.textContent = text.slice(range.start, range.end);
      nodes.push(document.createTextNode(text.slice(from, range.start)), marked);
      from = range.end;
    }
    div.replaceChildren(...nodes, document.createTextNode(text.slice(from)));
  }
}
