// A conversation as Markdown, with the sources of each answer.
import type { Answer, AskResponse, Citation } from "../../api/types";
import { place } from "../answer/citation";
import { answers } from "../answer/outcome";
import { t } from "../texts/t.svelte";

interface ExportedQuestion {
  text: string;
  answers: AskResponse[];
}

/** A line that no text can end, so that it stays one item of a list. */
const flat = (text: string): string => text.replace(/\s+/g, " ").trim();

function sourceLine(citation: Citation, at: number): string {
  const where = [citation.document, place(citation)].filter(Boolean).join(", ");
  return `${at + 1}. ${flat(citation.title || citation.document)} (${flat(where)}): “${flat(citation.quote)}”`;
}

function answerText(answer: Answer): string {
  if (!answers(answer)) return t("answer.none");
  const { full, text } = answer;
  if (!full || full.text.includes(text)) return full?.text ?? text;
  return `**${flat(text)}**\n\n${full.text}`;
}

export function toMarkdown(questions: ExportedQuestion[]): string {
  const parts = questions.flatMap((question) => [
    `## ${flat(question.text)}`,
    ...question.answers.flatMap(({ answer }) => [
      answerText(answer),
      ...(answer.citations.length ? [`${t("sources.title")}:\n\n${answer.citations.map(sourceLine).join("\n")}`] : []),
    ]),
  ]);
  return [`# ${flat(questions[0]?.text ?? "")}`, ...parts].join("\n\n") + "\n";
}

/** The title as the name of a file. */
export const fileName = (title: string): string =>
  `${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "halma"}.md`;
