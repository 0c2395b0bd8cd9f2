"""Write the table of docs/bad-input.md anew."""

import tempfile
from pathlib import Path

from frostline.errors import FrostlineError

from . import accepted, elsewhere, ingest, refused

PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"
START = "<!-- the table is written by `python -m tests.corpus` -->\n\n"


def message(kind: str, folder: Path) -> str:
    """What a user is told."""
    try:
        if kind in refused.TABLES:
            events, options, *_ = refused.TABLES[kind]
            ingest(events, **options)
        else:
            elsewhere.KINDS[kind](folder)
    except FrostlineError as error:
        return str(error).replace(f"{folder}/", "")
    raise AssertionError(f"{kind} was not refused")


def line(kind: str, outcome: str, text: str) -> str:
    text = text.replace("|", "\\|").replace("\n", "<br>").replace("<script>", "&lt;script>")
    return f"| {kind} | {outcome} | {text} |\n"


def main() -> None:
    rows = [line(kind, "read", rule) for kind, (_, _, rule, _) in accepted.TABLES.items()]
    for kind in (*refused.TABLES, *elsewhere.KINDS):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(line(kind, "refused", message(kind, Path(folder))))
    head = PAGE.read_text(encoding="utf-8").partition(START)[0]
    PAGE.write_text(
        f"{head}{START}| kind | outcome | what happens, or what a user is told |\n|---|---|---|\n{''.join(rows)}"
    )


if __name__ == "__main__":
    main()
