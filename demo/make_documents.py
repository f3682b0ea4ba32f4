#!/usr/bin/env python3
"""Makes the documents of the sample library that are not plain text.

    python3 demo/make_documents.py

It writes `library/biosimilars.xlsx` and `library/biosimilars.html` from `library/biosimilars.csv`,
and two notes of its own: `library/law/patent-dance.pdf` and `library/law/exclusivity.docx`. Only
the standard library is used, and the same input gives the same bytes.
"""

import csv
import datetime
import html
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

LIBRARY = Path(__file__).parent / "library"
MADE = "2023-12-31"

# --- archives -----------------------------------------------------------------------------------


def archive(path, files):
    """Writes a zip archive in which nothing depends on the clock or the machine."""
    with zipfile.ZipFile(path, "w") as out:
        for name, content in files.items():
            about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            about.external_attr = 0o644 << 16
            # The kind of an OpenDocument or EPUB file is read without unpacking.
            stored = name == "mimetype"
            about.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            data = content if isinstance(content, bytes) else content.encode()
            out.writestr(about, data)


XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"


def content_types(parts):
    """`parts`: path to media type."""
    rows = "".join(
        f'<Override PartName="/{path}" ContentType="{kind}"/>' for path, kind in parts.items()
    )
    return (
        f'{XML}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="png" ContentType="image/png"/>'
        f"{rows}</Types>"
    )


def relations(targets):
    """`targets`: id to (kind, target); addresses of the web are external."""
    rows = ""
    for name, (kind, target) in targets.items():
        mode = ' TargetMode="External"' if "://" in target else ""
        kind = kind if "://" in kind else f"{OFFICE}/relationships/{kind}"
        rows += f'<Relationship Id="{name}" Type="{kind}" Target="{escape(target)}"{mode}/>'
    return f'{XML}<Relationships xmlns="{PACKAGE}/relationships">{rows}</Relationships>'


CORE_RELATION = f"{PACKAGE}/relationships/metadata/core-properties"
CORE_TYPE = "application/vnd.openxmlformats-package.core-properties+xml"


def core(title, author="Halma"):
    """What is known about the document."""
    time = f'<dcterms:%s xsi:type="dcterms:W3CDTF">{MADE}T00:00:00Z</dcterms:%s>'
    return (
        f'{XML}<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator>"
        f"{time % ('created', 'created')}{time % ('modified', 'modified')}</cp:coreProperties>"
    )


# --- XLSX ---------------------------------------------------------------------------------------

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def column_name(index):
    name = ""
    while index >= 0:
        name = chr(ord("A") + index % 26) + name
        index = index // 26 - 1
    return name


def cell(row, column, value):
    """A number, a day (`datetime.date`) or words."""
    place = f"{column_name(column)}{row + 1}"
    if value is None or value == "":
        return ""
    if isinstance(value, datetime.date):
        days = (value - datetime.date(1899, 12, 30)).days
        return f'<c r="{place}" s="1"><v>{days}</v></c>'
    if isinstance(value, (int, float)):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    words = escape(value)
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{words}</t></is></c>'


def xlsx(path, sheets, title="Workbook"):
    """`sheets`: name to (rows, merged ranges such as `A1:B2`)."""
    files = {}
    types = {"xl/workbook.xml": f"{SHEET}.sheet.main+xml", "xl/styles.xml": f"{SHEET}.styles+xml"}
    names, links = "", {}
    for number, (name, (rows, merged)) in enumerate(sheets.items(), 1):
        body = ""
        for row, values in enumerate(rows):
            cells = "".join(cell(row, column, value) for column, value in enumerate(values))
            body += f'<row r="{row + 1}">{cells}</row>' if cells else ""
        spans = "".join(f'<mergeCell ref="{span}"/>' for span in merged)
        spans = f'<mergeCells count="{len(merged)}">{spans}</mergeCells>' if merged else ""
        part = f"xl/worksheets/sheet{number}.xml"
        files[part] = f'{XML}<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData>{spans}</worksheet>'
        types[part] = f"{SHEET}.worksheet+xml"
        names += f'<sheet name="{escape(name)}" sheetId="{number}" r:id="sheet{number}"/>'
        links[f"sheet{number}"] = ("worksheet", f"worksheets/sheet{number}.xml")
    links["styles"] = ("styles", "styles.xml")
    styles = (
        f'{XML}<styleSheet xmlns="{MAIN}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font>'
        '</fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
        '<cellXfs count="2"><xf/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )
    types["docProps/core.xml"] = CORE_TYPE
    book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}/relationships"><sheets>{names}</sheets></workbook>'
    archive(path, {
        "[Content_Types].xml": content_types(types),
        "_rels/.rels": relations({
            "book": ("officeDocument", "xl/workbook.xml"),
            "core": (CORE_RELATION, "docProps/core.xml"),
        }),
        "docProps/core.xml": core(title),
        "xl/workbook.xml": f"{XML}{book}",
        "xl/_rels/workbook.xml.rels": relations(links),
        "xl/styles.xml": styles,
        **files,
    })


# --- DOCX ---------------------------------------------------------------------------------------

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"


def run(words):
    return f'<w:r><w:t xml:space="preserve">{escape(words)}</w:t></w:r>'


def paragraph(words, style=None, numbered=False):
    about = f'<w:pStyle w:val="{style}"/>' if style else ""
    if numbered:
        about += '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'
    inside = words if words.startswith("<w:") else run(words)
    return f"<w:p><w:pPr>{about}</w:pPr>{inside}</w:p>"


def word_cell(words, columns=1, down=None):
    """`down`: `restart` where a cell begins that goes on below, `continue` where it does."""
    about = f'<w:gridSpan w:val="{columns}"/>' if columns > 1 else ""
    about += f'<w:vMerge w:val="{down}"/>' if down else ""
    inside = words if words.startswith("<w:") else paragraph(words)
    return f"<w:tc><w:tcPr>{about}</w:tcPr>{inside}</w:tc>"


def word_table(rows, header=1):
    """`rows`: lists of words or of finished cells."""
    body = ""
    for number, row in enumerate(rows):
        about = "<w:trPr><w:tblHeader/></w:trPr>" if number < header else ""
        cells = "".join(c if c.startswith("<w:tc>") else word_cell(c) for c in row)
        body += f"<w:tr>{about}{cells}</w:tr>"
    width = len(rows[-1])
    grid = "<w:gridCol w:w=\"2400\"/>" * width
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>"


def docx(path, title, body, links=None, more=None):
    """`body`: finished paragraphs and tables; `links`: id to address."""
    heading = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        f'<w:pPr><w:outlineLvl w:val="{level - 1}"/></w:pPr></w:style>'
        for level in (1, 2, 3)
    )
    numbering = (
        f'{XML}<w:numbering xmlns:w="{WORD}"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0">'
        '<w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    targets = {"styles": ("styles", "styles.xml"), "numbering": ("numbering", "numbering.xml")}
    targets.update({name: ("hyperlink", target) for name, target in (links or {}).items()})
    targets.update({name: ("image", name_of) for name, name_of in (more or {}).get("images", {}).items()})
    archive(path, {
        "[Content_Types].xml": content_types({
            "word/document.xml": f"{WORD_TYPE}.document.main+xml",
            "word/styles.xml": f"{WORD_TYPE}.styles+xml",
            "word/numbering.xml": f"{WORD_TYPE}.numbering+xml",
            "docProps/core.xml": CORE_TYPE,
        }),
        "_rels/.rels": relations({
            "document": ("officeDocument", "word/document.xml"),
            "core": (CORE_RELATION, "docProps/core.xml"),
        }),
        "docProps/core.xml": core(title),
        "word/document.xml": f'{XML}<w:document xmlns:w="{WORD}" xmlns:r="{OFFICE}/relationships">'
        f"<w:body>{''.join(body)}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(targets),
        "word/styles.xml": f'{XML}<w:styles xmlns:w="{WORD}">{heading}</w:styles>',
        "word/numbering.xml": numbering,
        **(more or {}).get("files", {}),
    })


# --- PDF ----------------------------------------------------------------------------------------

# Widths of the letters of Helvetica in thousandths of its size, from the blank on.
HELVETICA = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
LEFT, RIGHT, TOP, BOTTOM = 72, 523, 770, 72


def width(words, size):
    return sum(HELVETICA[ord(c) - 32] if 32 <= ord(c) < 127 else 556 for c in words) * size / 1000


def lines_of(words, size, room):
    line = ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if line and width(longer, size) > room:
            yield line
            line = word
        else:
            line = longer
    yield line


class Pdf:
    """Pages of headings, paragraphs and ruled tables in Helvetica on A4."""

    def __init__(self):
        self.pages, self.at = [[]], TOP

    def need(self, height):
        if self.at - height < BOTTOM:
            self.new_page()

    def new_page(self):
        self.pages.append([])
        self.at = TOP

    def line(self, words, size, font="F1", x=LEFT):
        words = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self.pages[-1].append(f"BT /{font} {size} Tf {x} {self.at:.1f} Td ({words}) Tj ET")

    def heading(self, words, size=16):
        self.need(size * 4)
        self.at -= size * 1.5
        self.line(words, size, "F2")
        self.at -= size * 0.8

    def paragraph(self, words, size=11):
        for line in lines_of(words, size, RIGHT - LEFT):
            self.need(size * 1.4)
            self.at -= size * 1.4
            self.line(line, size)
        self.at -= size * 0.6

    def table(self, rows, columns, size=10):
        """`columns`: the left edges; the right edge is the margin."""
        height = size * 1.8
        self.need(height * len(rows))
        top = self.at
        for number, row in enumerate(rows):
            self.at -= height
            for x, words in zip(columns, row):
                self.at += size * 0.6
                self.line(words, size, "F2" if number == 0 else "F1", x + 4)
                self.at -= size * 0.6
        edges = [*columns, RIGHT]
        for number in range(len(rows)):
            low = top - height * (number + 1)
            for left, right in zip(edges, edges[1:]):
                box = f"{left:.1f} {low:.1f} {right - left:.1f} {height:.1f} re S"
                self.pages[-1].append(box)
        self.at -= size

    def write(self, path, title, extra=b""):
        """`extra` goes into the trailer."""
        objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
        kids = " ".join(f"{6 + 2 * n} 0 R" for n in range(len(self.pages)))
        objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(self.pages)} >>".encode())
        for font in ("Helvetica", "Helvetica-Bold"):
            objects.append(
                f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode()
            )
        day = MADE.replace("-", "")
        about = f"<< /Title ({title}) /Author (Halma) /CreationDate (D:{day}000000Z) >>"
        objects.append(about.encode())
        for number, page in enumerate(self.pages):
            objects.append(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {7 + 2 * number} 0 R"
                " /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>".encode()
            )
            stream = "\n".join(page).encode("cp1252")
            objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        out, places = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", []
        for number, content in enumerate(objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
        out += b"".join(b"%010d 00000 n \n" % place for place in places)
        out += b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R %s>>\n" % (len(objects) + 1, extra)
        out += b"startxref\n%d\n%%%%EOF\n" % start
        Path(path).write_bytes(out)


# --- the library --------------------------------------------------------------------------------


def table():
    with open(LIBRARY / "biosimilars.csv", newline="") as file:
        return list(csv.reader(file))


def sheet_value(column, value):
    if column == "approval date":
        return datetime.date.fromisoformat(value)
    return int(value) if column == "interchangeable since" and value else value


def biosimilars_xlsx():
    header, *rows = table()
    typed = [[sheet_value(name, value) for name, value in zip(header, row)] for row in rows]
    xlsx(LIBRARY / "biosimilars.xlsx", {"Biosimilars": ([header, *typed], [])}, "Biosimilars")


def biosimilars_html():
    header, *rows = table()
    line = lambda tag, row: "".join(f"<{tag}>{html.escape(value)}</{tag}>" for value in row)
    body = "\n".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="date" content="{MADE}">
<title>Biosimilars approved in the United States</title>
</head>
<body>
<h1>Biosimilars approved in the United States</h1>
<p>A sample of {len(rows)} products, as of the end of 2023. The law behind them is in the note on the
<a href="law/bpcia.md">BPCIA</a>.</p>
<table>
<caption>Biosimilars with their reference products</caption>
<thead>
<tr>{line("th", header)}</tr>
</thead>
<tbody>
{body}
</tbody>
</table>
</body>
</html>
"""
    (LIBRARY / "biosimilars.html").write_text(page, newline="\n")


def patent_dance_pdf():
    pdf = Pdf()
    pdf.heading("Patent dance", 20)
    pdf.paragraph(
        "The patent dance is the exchange of information on patents that American law provides for"
        " the maker of a biosimilar and the maker of the reference product. Each step has its time,"
        " and each step waits for the one before."
    )
    pdf.heading("The steps")
    pdf.paragraph(
        "The dance begins when the FDA accepts an application for review. The days are counted from"
        " the step before."
    )
    pdf.table(
        [
            ["Step", "Who", "Days"],
            ["Hand over the application", "Applicant", "20"],
            ["List the patents", "Maker of the reference product", "60"],
            ["Answer patent by patent", "Applicant", "60"],
            ["Reply to the answer", "Maker of the reference product", "60"],
            ["Agree on the patents to sue on", "Both", "15"],
            ["Bring the suit", "Maker of the reference product", "30"],
        ],
        [LEFT, 265, 460],
    )
    pdf.paragraph(
        "If the two do not agree on the patents, they exchange short lists, and the suit is brought"
        " on the patents of both lists. Patents that stay outside can be fought over later, before"
        " the biosimilar comes to the market."
    )
    pdf.new_page()
    pdf.heading("Notice before the sale")
    pdf.paragraph(
        "An applicant gives notice at least 180 days before it begins to sell. For some years it was"
        " open whether this notice could be given before the licence. The Supreme Court decided in"
        " June 2017 that it can, so that the 180 days no longer delay a biosimilar that is approved."
    )
    pdf.heading("Who need not dance")
    pdf.paragraph(
        "The same judgment says that no federal court can force an applicant to hand over its"
        " application. An applicant that stays away pays for it in another way: the maker of the"
        " reference product may go to court at once, and the applicant loses the say in when and"
        " over what the suit is brought."
    )
    pdf.write(LIBRARY / "law" / "patent-dance.pdf", "Patent dance")


def exclusivity_docx():
    rows = [
        ["What is protected", "Counted from", "Time"],
        [word_cell("Reference product", down="restart"), "first licence, no application before", "4 years"],
        [word_cell("", down="continue"), "first licence, no approval before", "12 years"],
        ["Medicine for a rare disease", "approval for that disease", "7 years"],
        ["First interchangeable biosimilar", "first sale", "1 year"],
    ]
    docx(LIBRARY / "law" / "exclusivity.docx", "Exclusivity of biological products", [
        paragraph("Exclusivity of biological products", "Heading1"),
        paragraph(
            "Exclusivity is a time in which the law keeps others from the market, whatever the"
            " patents say. It is granted by the FDA and needs no court."
        ),
        paragraph("Times", "Heading2"),
        word_table(rows),
        paragraph("What lengthens and what shortens it", "Heading2"),
        paragraph("Studies in children, done at the request of the FDA, add six months.", numbered=True),
        paragraph(
            "A new dose, a new form or a new use of the same product starts no new time.", numbered=True
        ),
        paragraph(
            "The year of the first interchangeable biosimilar can end sooner: after a suit over"
            " patents, it may be counted from the end of the suit or from the approval.",
            numbered=True,
        ),
        paragraph("Sharing", "Heading2"),
        paragraph(
            "Several interchangeable biosimilars that are approved on the same day share the time of"
            " the first one. A product that is a biosimilar only may be approved all the while: the"
            " time keeps others from being called interchangeable, not from being sold."
        ),
    ])


if __name__ == "__main__":
    biosimilars_xlsx()
    biosimilars_html()
    patent_dance_pdf()
    exclusivity_docx()
