// The methods by the names of their papers, each with a sentence in the words of those who ask.
import "../texts/en-options";
import type { StrategyLine } from "../../api/types";
import { t, template, type Key } from "../texts/t.svelte";

const NAMES: Record<string, string> = {
  auto: "Auto", kar3: "KAR³", pike_l1: "PIKE-RAG, level 1", pike_l2: "PIKE-RAG, level 2", pike_l3: "PIKE-RAG, level 3", pike_l4: "PIKE-RAG, level 4",
  dec: "DEC", unirag: "UniRAG", atomr: "AtomR", explore: "Explore", ircot: "IRCoT", iter_retgen: "Iter-RetGen", self_ask: "Self-Ask", search_chain: "Search-in-the-Chain",
  gen_ground: "GenGround", react: "ReAct", blend_filter: "BlendFilter", prob_tree: "ProbTree", chain_of_knowledge: "Chain-of-Knowledge",
  graph_local: "GraphRAG, local", graph_global: "GraphRAG, global", naive: "RAG", cot: "Chain of thought", direct: "No search",
};

/** A method that this page does not know has the server's words. */
export function methodText({ name, summary }: Pick<StrategyLine, "name" | "summary">): { name: string; what: string } {
  const key = `method.${name}`;
  const isKnown = template(key as Key) !== key;
  return { name: NAMES[name] ?? name, what: isKnown ? t(key as "methods.all") : summary };
}
