#!/usr/bin/env python3
"""Makes the files in `tests/files`, each small and each with what its format can do.

    python3 crates/parse/tests/make_files.py

Only the standard library is used; the writers are those of `demo/make_documents.py`.
"""

import datetime
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "demo"))
import make_documents as make  # noqa: E402

FILES = HERE / "files"


def png(width=64, height=64):
    """A grey square."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    rows = b"".join(b"\0" + b"\x80" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def docx():
    link = (
        f'{make.run("See ")}<w:hyperlink r:id="site">{make.run("the web site")}</w:hyperlink>'
        f'{make.run(" for more.")}'
    )
    inner = make.word_table([["in", "side"], ["1", "2"]])
    picture = (
        '<w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing"><wp:extent cx="609600" cy="609600"/><wp:docPr id="1" name="Picture 1"'
        ' descr="A grey square"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/'
        'main"><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic'
        ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:nvPicPr><pic:cNvPr'
        ' id="1" name="square.png"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="square"/>'
        '</pic:blipFill><pic:spPr/></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    )
    make.docx(
        FILES / "report.docx",
        "A report",
        [
            make.paragraph("A report", "Heading1"),
            make.paragraph(link),
            make.paragraph("Points", "Heading2"),
            make.paragraph("first", numbered=True),
            make.paragraph("second", numbered=True),
            make.paragraph(picture),
            make.word_table([
                ["Name", make.word_cell("Cost", columns=2)],
                [make.word_cell("Jaws", down="restart"), "low", "7"],
                [make.word_cell("", down="continue"), "high", "9"],
            ]),
            make.paragraph("Between."),
            make.word_table([[make.word_cell(inner + make.paragraph(""))]], header=0),
        ],
        links={"site": "https://site.example/a?b=1&c=2"},
        more={"images": {"square": "media/square.png"}, "files": {"word/media/square.png": png()}},
    )


def pptx():
    draw = "http://schemas.openxmlformats.org/drawingml/2006/main"
    show = "http://schemas.openxmlformats.org/presentationml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.presentationml"
    spaces = f'xmlns:a="{draw}" xmlns:p="{show}" xmlns:r="{make.OFFICE}/relationships"'

    def words(text):
        return f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"

    def shape(number, place, text):
        return (
            f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="s{number}"/><p:cNvSpPr/><p:nvPr>'
            f'<p:ph type="{place}"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/>{words(text)}'
            "</p:txBody></p:sp>"
        )

    def cell(text, about=""):
        return f"<a:tc{about}><a:txBody><a:bodyPr/>{words(text) if text else '<a:p/>'}</a:txBody><a:tcPr/></a:tc>"

    rows = [
        cell("Name") + cell("Year"),
        cell("Jaws", ' gridSpan="2"') + cell("", ' hMerge="1"'),
        cell("Duel") + cell("1971"),
    ]
    body = "".join(f'<a:tr h="1">{row}</a:tr>' for row in rows)
    table = (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="9" name="t"/><p:cNvGraphicFramePr/><p:nvPr/>'
        '</p:nvGraphicFramePr><p:xfrm/><a:graphic><a:graphicData'
        ' uri="http://schemas.openxmlformats.org/drawingml/2006/table"><a:tbl><a:tblGrid><a:gridCol w="1"/>'
        f'<a:gridCol w="1"/></a:tblGrid>{body}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>'
    )

    def slide(inside):
        tree = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>'
        return f"{make.XML}<p:sld {spaces}><p:cSld><p:spTree>{tree}{inside}</p:spTree></p:cSld></p:sld>"

    slides = [
        slide(shape(2, "title", "First slide") + shape(3, "body", "Words on it.")),
        slide(shape(2, "title", "Second slide") + table),
    ]
    names = [f"ppt/slides/slide{number}.xml" for number in (1, 2)]
    ids = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(2))
    book = f"<p:presentation {spaces}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    make.archive(FILES / "slides.pptx", {
        "[Content_Types].xml": make.content_types({
            "ppt/presentation.xml": f"{kind}.presentation.main+xml",
            **{name: f"{kind}.slide+xml" for name in names},
        }),
        "_rels/.rels": make.relations({"show": ("officeDocument", "ppt/presentation.xml")}),
        "ppt/presentation.xml": f"{make.XML}{book}",
        "ppt/_rels/presentation.xml.rels": make.relations(
            {f"s{n}": ("slide", f"slides/slide{n + 1}.xml") for n in range(2)}
        ),
        **dict(zip(names, slides)),
    })


OPEN = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.2"'
)


def open_document(name, kind, body):
    media = f"application/vnd.oasis.opendocument.{kind}"
    manifest = (
        f'{make.XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{media}"/></manifest:manifest>'
    )
    make.archive(FILES / name, {
        "mimetype": media,
        "META-INF/manifest.xml": manifest,
        "content.xml": f"{make.XML}<office:document-content {OPEN}><office:body>{body}</office:body>"
        "</office:document-content>",
    })


def odt():
    cell = lambda words, about="": (
        f"<table:table-cell{about}><text:p>{words}</text:p></table:table-cell>"
    )
    rows = [
        cell("Name") + cell("Year"),
        cell("Jaws", ' table:number-rows-spanned="2"') + cell("1975"),
        "<table:covered-table-cell/>" + cell("1976"),
    ]
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    open_document("letter.odt", "text", (
        '<office:text><text:h text:outline-level="1">A letter</text:h>'
        "<text:p>Dear reader, this letter says very little.</text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item>"
        f'<text:p>two</text:p></text:list-item></text:list><table:table table:name="T">{table}'
        "</table:table></office:text>"
    ))


def ods():
    cell = lambda words, about="": (
        f'<table:table-cell office:value-type="string"{about}><text:p>{words}</text:p></table:table-cell>'
    )
    filler = '<table:table-cell table:number-columns-repeated="16382"/>'
    rows = [
        cell("Name") + cell("Share") + filler,
        cell("Jaws") + '<table:table-cell office:value-type="percentage" office:value="0.25">'
        "<text:p>25%</text:p></table:table-cell>",
        cell("Duel") + '<table:table-cell office:value-type="date" office:date-value="2023-01-31">'
        "<text:p>2023-01-31</text:p></table:table-cell>",
    ]
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    empty = '<table:table-row table:number-rows-repeated="1048573"><table:table-cell/></table:table-row>'
    open_document("sheet.ods", "spreadsheet", (
        f'<office:spreadsheet><table:table table:name="Films">{body}{empty}</table:table></office:spreadsheet>'
    ))


def xlsx():
    day = datetime.date(2023, 1, 31)
    make.xlsx(FILES / "sheet.xlsx", {
        "Films": (
            [
                ["All films"],
                ["Name", "Cost", "", "Day"],
                ["", "low", "high", ""],
                ["Jaws", 0.1 + 0.2, 9, day],
                ["", 8, 10.5, day],
            ],
            ["A2:A3", "B2:C2", "D2:D3", "A4:A5"],
        ),
        "Empty": ([], []),
        "More": ([["Key", "Value"], ["a|b", "1"]], []),
    })


def epub():
    page = lambda title, body: (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head>'
        f"<title>{title}</title><link/></head><body>{body}</body></html>"
    )
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book &amp; more</dc:title>'
        "<dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator><dc:date>2020-02-03</dc:date>"
        '<dc:language>de-AT</dc:language></metadata><manifest>'
        '<item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="one" href="text/one.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="square" href="img/a%20square.png" media-type="image/png"/></manifest>'
        '<spine><itemref idref="one"/><itemref idref="two"/></spine></package>'
    )
    container = (
        '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    )
    make.archive(FILES / "book.epub", {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": container,
        "OPS/book.opf": package,
        "OPS/text/one.xhtml": page("One", '<h1>One</h1><p>Go to <a href="two.xhtml#x">two</a>.</p>'),
        "OPS/text/two.xhtml": page(
            "Two", '<h1 id="x">Two</h1><p>End.</p><img src="../img/a%20square.png" alt="A square"/>'
        ),
        "OPS/img/a square.png": png(),
    })


def pdfs():
    pdf = make.Pdf()
    pdf.heading("A paper", 20)
    pdf.paragraph("The first page says that sharks are fish. " * 6)
    pdf.table([["Name", "Year"], ["Jaws", "1975"], ["Duel", "1971"]], [make.LEFT, 300])
    pdf.new_page()
    pdf.heading("The end")
    pdf.paragraph("The second page says that whales are not. " * 6)
    pdf.write(FILES / "paper.pdf", "A paper")
    owner = "".join("%02x" % byte for byte in range(32))
    secret = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{owner}> /U <{owner}> >> /ID [<00> <00>] "
    )
    pdf.write(FILES / "locked.pdf", "A secret", secret.encode())
    empty = make.Pdf()
    empty.pages = []
    empty.write(FILES / "no-pages.pdf", "Nothing")
    blank = make.Pdf()
    blank.write(FILES / "blank.pdf", "Nothing")


def mail():
    text = (
        "From: Ann <ann@a.example>\nTo: Bob <bob@b.example>\nSubject: The sharks\n"
        "Date: Tue, 31 Jan 2023 12:00:00 +0000\nMessage-ID: <1@a.example>\nMIME-Version: 1.0\n"
        'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/plain; charset=utf-8\n\n'
        "Dear Bob,\n\nsharks are fish.\n\nAnn\n--x\nContent-Type: text/plain\n"
        'Content-Disposition: attachment; filename="list.txt"\n\nblue shark\n--x--\n'
    )
    (FILES / "mail.eml").write_text(text, newline="\n")
    rich = (
        r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title Rich words}}\f0\fs24 "
        r"Caf\'e9 au lait.\par Second {\b paragraph}.\par}"
    )
    (FILES / "words.rtf").write_text(rich + "\n", newline="\n")


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    (FILES / "square.png").write_bytes(png())
    for write in (docx, pptx, odt, ods, xlsx, epub, pdfs, mail):
        write()
