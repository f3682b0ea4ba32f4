#!/usr/bin/env python3
"""Makes the documents of the everyday folder that are not plain text.

    python3 demo/everyday/make_documents.py

It writes `documents/policies/expenses.docx`, `documents/tables/vehicles.xlsx` and
`documents/manuals/alarm.pdf` by the functions of `demo/make_documents.py`. Only the standard
library is used, and the same input gives the same bytes.
"""

import datetime
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from make_documents import Pdf, docx, paragraph, xlsx  # noqa: E402

DOCUMENTS = Path(__file__).parent / "documents"


def expenses():
    docx(DOCUMENTS / "policies" / "expenses.docx", "Expenses policy", [
        paragraph("Expenses policy", "Heading1"),
        paragraph("Gifts", "Heading2"),
        paragraph("A gift to a customer may cost up to 35 euros. Gifts of money are forbidden."),
        paragraph("Purchases", "Heading2"),
        paragraph(
            "Purchases up to 500 euros are approved by the head of department. Above that Helena"
            " Brandt decides."
        ),
        paragraph("Company card", "Heading2"),
        paragraph("A lost company card is reported to Grace Adeyemi at once. The limit is 1,500 euros a month."),
    ])


def vehicles():
    day = datetime.date.fromisoformat
    xlsx(DOCUMENTS / "tables" / "vehicles.xlsx", {"Vehicles": ([
        ["plate", "model", "driver", "kilometres", "next inspection"],
        ["NW 21 KLM", "Veloria Cargo", "Piotr Zaleski", 84200, day("2024-11-04")],
        ["NW 23 RST", "Tarsis Van", "Owen Trask", 31750, day("2025-02-17")],
        ["BI 4471 C", "Tarsis City", "Luis Ferrer", 52900, day("2024-09-30")],
        ["LY 882 DF", "Ombra Electric", "Mathilde Rousselin", 12480, day("2025-06-12")],
    ], [])}, "Vehicles")


def alarm():
    pdf = Pdf()
    pdf.heading("Alarm system Sentra 9", 20)
    pdf.paragraph("The alarm system Sentra 9 guards the works in Norwich and the shop in Lyon.")
    pdf.heading("Arming")
    pdf.paragraph(
        "Close all doors, press the key with the lock and leave within 40 seconds. The system beeps"
        " as long as somebody may still leave."
    )
    pdf.heading("False alarm")
    pdf.paragraph(
        "Call the control room of Vantor Security within two minutes and say the password. Each"
        " false alarm after the third one in a year costs 75 euros."
    )
    pdf.heading("Batteries")
    pdf.paragraph("The batteries of the motion sensors last three years and are changed by Vantor Security.")
    pdf.write(DOCUMENTS / "manuals" / "alarm.pdf", "Alarm system Sentra 9")


if __name__ == "__main__":
    expenses()
    vehicles()
    alarm()
