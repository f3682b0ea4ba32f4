// Where a passage stands in its document.
import type { Citation } from "../../api/types";
import { t } from "../texts/t.svelte";

type Place = Pick<Citation, "section" | "page">;

/** Its section and page, as far as they are known. */
export const place = ({ section, page }: Place): string =>
  [section, page ? t("source.page", { page: String(page) }) : null].filter(Boolean).join(" · ");
