"""Writes the generated files of the package.

    python generate.py              halma/_sync, from halma/_async
    python generate.py URL          also halma/models.py, from the OpenAPI description of a server
    python generate.py [URL] --check  fails if they are not as they would be written

The models need ``datamodel-code-generator`` (the version is in tests/requirements.txt).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.request import urlopen

PACKAGE = Path(__file__).resolve().parent / "halma"

# In this order.
REPLACED = [
    (r'"""The client for programs that wait for several things at once\."""', '"""The client that returns when an answer is there."""'),
    (r'"""The client for programs .* is generated from it\."""', '"""The client that returns when an answer is there."""'),
    (r"# `halma/_sync/(\w+)\.py` is generated from this file: see `generate\.py`\.", r"# Generated from `halma/_async/\1.py` by `generate.py`; do not edit."),
    (r"import asyncio\nimport contextlib\nfrom collections\.abc import AsyncIterator, Iterable, Mapping, Sequence\n", "import contextlib\nimport time\nfrom collections.abc import Iterable, Iterator, Mapping, Sequence\n"),
    (r"asynccontextmanager", "contextmanager"),
    (r"read_events_async", "read_events"),
    (r"await asyncio\.sleep", "time.sleep"),
    (r"halma\._async", "halma._sync"),
    (r"\bAsync(Halma|Connection|Feedback|Evaluations|Administration)\b", r"\1"),
    (r"AsyncClient", "Client"),
    (r"AsyncBaseTransport", "BaseTransport"),
    (r"AsyncIterator", "Iterator"),
    (r"__aenter__", "__enter__"),
    (r"__aexit__", "__exit__"),
    (r"\baclose\b", "close"),
    (r"\baread\b", "read"),
    (r"\baiter_text\b", "iter_text"),
    (r"async (def|for|with)", r"\1"),
    (r"await ", ""),
]


def sync_client() -> dict[str, str]:
    """The files of `halma/_sync`."""
    files = {f"_sync/{path.name}": path.read_text() for path in sorted((PACKAGE / "_async").glob("*.py"))}
    for pattern, replacement in REPLACED:
        if not any(re.search(pattern, text) for text in files.values()):
            raise SystemExit(f"error: nothing in halma/_async matches {pattern}")
        files = {name: re.sub(pattern, replacement, text) for name, text in files.items()}
    return files


def models(url: str) -> str:
    with urlopen(f"{url.rstrip('/')}/api/v1/openapi.json") as response:
        document = json.load(response)
    # Steps of a run are open: later servers may send others.
    for name, schema in document["components"]["schemas"].items():
        if name in ("Event", "TraceEvent"):
            schema.clear()
            schema.update({"type": "object", "additionalProperties": True})
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "openapi.json"), Path(folder, "models.py")
        source.write_text(json.dumps(document))
        command = [
            sys.executable, "-m", "datamodel_code_generator",
            "--input", str(source), "--input-file-type", "openapi", "--output", str(target),
            "--output-model-type", "pydantic_v2.BaseModel", "--target-python-version", "3.10",
            "--use-standard-collections", "--use-union-operator", "--use-schema-description",
            "--use-field-description", "--disable-timestamp", "--enum-field-as-literal", "none",
            "--extra-fields", "allow", "--collapse-root-models", "--use-annotated", "--formatters", "builtin", "--allow-population-by-field-name", "--custom-file-header",
            "# Generated from the OpenAPI description of the server by `generate.py`; do not edit.",
        ]
        subprocess.run(command, check=True)
        return target.read_text()


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    files = sync_client()
    if arguments:
        files["models.py"] = models(arguments[0])
    for name, text in files.items():
        path = PACKAGE / name
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            raise SystemExit(f"error: halma/{name} is out of date; run `python generate.py URL`")


if __name__ == "__main__":
    main()
