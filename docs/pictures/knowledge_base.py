#!/usr/bin/env python3
"""Draws what a base holds around one document, in its three layers, as SVG.

    halma kb export base.jsonl --kb .halma/demo/base
    python3 docs/pictures/knowledge_base.py base.jsonl DOCUMENT > docs/concepts/knowledge-base.svg
"""
import html
import json
import sys

BANDS = [
    ("information resources", ["document"]),
    ("corpus", ["section", "chunk", "table", "figure"]),
    ("distilled knowledge", ["atom", "row", "entity", "fact", "summary", "tag", "community"]),
]
COLOURS = {
    "document": "#2563eb", "section": "#0891b2", "chunk": "#0d9488", "table": "#65a30d",
    "figure": "#ca8a04", "atom": "#d97706", "row": "#a16207", "entity": "#dc2626",
    "fact": "#be185d", "summary": "#7c3aed", "tag": "#9333ea", "community": "#4f46e5",
}
WIDTH, BAND, BOX = 1060, 190, 148
MOST = {"document": 5, "section": 2, "chunk": 3, "table": 1, "atom": 4, "entity": 5}


def read(path):
    nodes, edges = {}, []
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if "node" in record:
            nodes[record["node"]] = record
        else:
            edges.append((record["from"], record["edge"], record["to"]))
    return nodes, edges


def around(nodes, edges, name):
    """The document, its neighbours, its parts and what was distilled from them."""
    start = next(n for n, r in nodes.items() if r["layer"] == "document" and r["document"] == name)
    chosen, frontier = {start}, {start}
    for _ in range(4):
        reached = set()
        for source, edge, target in edges:
            if source in frontier or target in frontier:
                other = target if source in frontier else source
                if edge in ("contains", "derived_from", "mentions", "links_to", "refers_to",
                            "relates", "tagged", "member_of", "next"):
                    reached.add(other)
        # Not over an entity into other documents' chunks.
        own = {n for n in reached - chosen
               if nodes[n]["document"] in ("", name) or nodes[n]["layer"] == "document"}
        frontier = {n for n in own if nodes[n]["layer"] not in ("entity", "tag", "document")}
        chosen |= own
    kept = []
    for layer in (layer for _, layers in BANDS for layer in layers):
        of = sorted((n for n in chosen if nodes[n]["layer"] == layer),
                    key=lambda n: (n != start, nodes[n]["span"], nodes[n]["title"]))
        kept += of[:MOST.get(layer, 2)]
    return kept


def label(record):
    text = record["text"] if record["layer"] in ("atom", "fact", "row", "tag", "chunk") else ""
    if record["layer"] == "section":
        text = record["section"] or record["title"]
    text = " ".join((text or record["title"] or record["text"]).split())
    return text if len(text) <= 40 else text[:39].rstrip() + "…"


def draw(nodes, edges, kept):
    places, out = {}, []
    for i, (_, layers) in enumerate(BANDS):
        row = [n for n in kept if nodes[n]["layer"] in layers]
        for j, node in enumerate(row):
            half = j % 2 if len(row) > 6 else 0
            columns = max(1, (len(row) + 1) // 2 if len(row) > 6 else len(row))
            column = j // 2 if len(row) > 6 else j
            x = 130 + (WIDTH - 140) * (column + 0.5 + 0.25 * half) / (columns + (0.25 if len(row) > 6 else 0))
            places[node] = (x, BAND * i + 70 + 70 * half)
    height = BAND * len(BANDS)
    out.append(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
               'font-family="system-ui, sans-serif" font-size="11" role="img" '
               'aria-label="The layers of a knowledge base around one document">')
    out.append(f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>')
    for i, (name, _) in enumerate(BANDS):
        fill = "#f1f5f9" if i % 2 == 0 else "#f8fafc"
        out.append(f'<rect y="{BAND * i}" width="{WIDTH}" height="{BAND}" fill="{fill}"/>')
        out.append(f'<text x="12" y="{BAND * i + 22}" font-weight="600" fill="#334155">{name}</text>')
    for source, edge, target in edges:
        if source in places and target in places:
            (x1, y1), (x2, y2) = places[source], places[target]
            out.append(f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" '
                       f'stroke="#94a3b8" stroke-width="1"><title>{edge}</title></line>')
            out.append(f'<text x="{(x1 + x2) / 2:.0f}" y="{(y1 + y2) / 2:.0f}" fill="#64748b" '
                       f'font-size="8" text-anchor="middle">{edge.replace("_", " ")}</text>')
    for node, (x, y) in places.items():
        record = nodes[node]
        words, lines = label(record).split(), [""]
        for word in words:
            if len(lines[-1]) + len(word) > 22 and lines[-1]:
                lines.append("")
            lines[-1] = (lines[-1] + " " + word).strip()
        lines = lines[:2]
        out.append(f'<g><rect x="{x - BOX / 2:.0f}" y="{y - 24:.0f}" width="{BOX}" height="48" rx="6" '
                   f'fill="#ffffff" stroke="{COLOURS[record["layer"]]}" stroke-width="1.5"/>')
        out.append(f'<text x="{x:.0f}" y="{y - 10:.0f}" text-anchor="middle" font-size="9" '
                   f'fill="{COLOURS[record["layer"]]}">{record["layer"]}</text>')
        for k, line in enumerate(lines):
            out.append(f'<text x="{x:.0f}" y="{y + 4 + 13 * k:.0f}" text-anchor="middle" '
                       f'fill="#0f172a">{html.escape(line)}</text>')
        out.append("</g>")
    out.append("</svg>")
    return "\n".join(out)


if __name__ == "__main__":
    nodes, edges = read(sys.argv[1])
    print(draw(nodes, edges, around(nodes, edges, sys.argv[2])))
