// An answer without a fact that is shown twice: the short answer is the headline, and a sentence that
// only repeats it is left out; its sources move to the headline.
import type { Answer } from "../../api/types";
import { toUnits } from "../offsets";
import { withMarks } from "./way";

/** Words that say nothing by themselves, in English and German. */
const FILLERS = new Set(
  ("a an the of in is was are were be been it its he she they his her their by on at to from for with and or as that this which who what where when how many much there has have had do does did answer " +
  "der die das den dem des ein eine einer eines einem einen ist war sind waren wurde wurden wird es er sie sein seine ihr ihre von vom im in am an auf zu zum zur mit und oder als dass dies welche welcher welches wer was wo wann wie viele antwort lautet").split(" "),
);
const words = (text: string): string[] => text.replace(/\[[\d, ?]*\]/g, " ").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

export interface DisplayedAnswer {
  headline: string;
  /** The sources of the headline, by number. */
  sources: number[];
  /** The rest, with marks of sources and doubts. */
  text: string;
}

/** Whether a sentence has no word that is not in the question or the answer. */
function repeats(sentence: string, answer: string, question: string): boolean {
  const known = new Set([...words(answer), ...words(question)]);
  const said = words(sentence);
  return words(answer).every((word) => said.includes(word)) && said.every((word) => known.has(word) || FILLERS.has(word));
}

const numbers = (text: string): number[] =>
  [...new Set([...text.matchAll(/\[(\d[\d, ]*)\]/g)].flatMap((match) => (match[1] ?? "").split(",").map(Number)))];

const LEAD = /^(?:the answer is|die antwort (?:ist|lautet))\s+/i;

/** A text without “The answer is …:” before its first sentence. */
function withoutLead(text: string, short: string): string {
  const rest = text.replace(LEAD, "");
  if (rest === text || !rest.startsWith(short)) return text;
  const sentence = rest.slice(short.length).replace(/^\s*[:,–—]\s*/, "");
  return sentence === rest.slice(short.length) ? text : sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** The longest answer that is a headline. */
const MAX_HEADLINE = 160;

export function display(answer: Answer, question: string): DisplayedAnswer {
  const short = answer.text.trim();
  const { full } = answer;
  const all = answer.citations.map((_, at) => at + 1);
  const isLine = short.length <= MAX_HEADLINE && !short.includes("\n") && !/^[#|>*-]/.test(short);
  const plain = { headline: "", sources: [] };
  if (!full) return isLine ? { headline: short, sources: all.slice(0, 4), text: "" } : { ...plain, text: short };
  const doubts = answer.citations.length ? full.claims.filter((claim) => !claim.supported).map((claim) => toUnits(full.text, claim.end)) : [];
  const marked = withMarks(full.text, doubts, " [?]");
  if (!isLine) return { ...plain, text: marked };
  // A full text of one line is the headline itself.
  if (words(full.text).join() === words(short).join()) {
    return doubts.length ? { ...plain, text: marked } : { headline: short, sources: numbers(full.text), text: "" };
  }
  const claim = full.claims.find(({ start, end, supported }) =>
    supported && repeats(full.text.slice(toUnits(full.text, start), toUnits(full.text, end)), short, question));
  // What was computed begins with its result already.
  if (!claim) return answer.computation ? { ...plain, text: marked } : { ...plain, headline: short, text: withoutLead(marked, short) };
  const [from, to] = [toUnits(full.text, claim.start), toUnits(full.text, claim.end)];
  const rest = full.text.slice(0, from) + full.text.slice(to).trimStart();
  const removed = full.text.length - rest.length;
  const text = withMarks(rest, doubts.map((end) => (end > from ? end - removed : end)), " [?]").trim();
  return { headline: short, sources: claim.citations, text: withoutLead(text, short) };
}
