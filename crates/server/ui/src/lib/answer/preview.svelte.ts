// The quote of a citation while the pointer or the focus is on its mark. The first touch shows it, the
// second opens the source.
import type { Attachment } from "svelte/attachments";
import type { Citation } from "../../api/types";

interface Preview {
  citation: Citation;
  anchor: HTMLElement;
}

/** The element that is described by the preview has this id as its description. */
export const PREVIEW_ID = "quote-preview";
const LEAVE_MS = 180;

let shown = $state.raw<Preview | null>(null);
let timer: ReturnType<typeof setTimeout> | undefined;

function show(next: Preview): void {
  clearTimeout(timer);
  shown?.anchor.removeAttribute("aria-describedby");
  shown = next;
  next.anchor.setAttribute("aria-describedby", PREVIEW_ID);
}

export const preview = {
  get shown() {
    return shown;
  },
  /** The pointer may move onto the preview. */
  stay: (): void => clearTimeout(timer),
  leave(): void {
    clearTimeout(timer);
    timer = setTimeout(() => preview.hide(), LEAVE_MS);
  },
  hide(): void {
    clearTimeout(timer);
    shown?.anchor.removeAttribute("aria-describedby");
    shown = null;
  },
};

/** For the button of a citation: shows its quote, and `open`s its source. */
export const citing = (citation: Citation | undefined, open: () => void): Attachment<HTMLElement> => (anchor) => {
  let byTouch = false;
  const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void) => anchor.addEventListener(name, act);
  const enter = () => citation && show({ citation, anchor });
  on("pointerdown", (event) => (byTouch = event.pointerType === "touch" && shown?.anchor !== anchor));
  on("pointerenter", (event) => event.pointerType === "mouse" && enter());
  on("pointerleave", (event) => event.pointerType === "mouse" && preview.leave());
  on("focus", () => anchor.matches(":focus-visible") && enter());
  on("blur", () => preview.leave());
  on("click", () => {
    if (byTouch && citation) return enter();
    preview.hide();
    open();
  });
  return () => shown?.anchor === anchor && preview.hide();
};
