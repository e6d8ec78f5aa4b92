"""Puts the tables of finished reproductions into a page, each between its two marks.

``python -m benchmarks.paper_page docs/paper.md novels=RESULTS demo=RESULTS`` replaces what stands
between ``<!-- novels table-1 -->`` and ``<!-- end -->`` by that table of the folder called novels.
"""

import re
import sys
from pathlib import Path

MARKED = re.compile(r"(<!-- (\w+) ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(page: str, folders: dict[str, Path]) -> str:
    """The page with every table renewed whose folder is named."""

    def table(found: re.Match[str]) -> str:
        begin, name, which, end = found.groups()
        if name not in folders:
            return found[0]
        text = (folders[name] / "tables" / f"{which}.md").read_text(encoding="utf-8")
        return f"{begin}\n{text}\n{end}"

    return MARKED.sub(table, page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    named = dict(argument.split("=", 1) for argument in sys.argv[2:])
    filled = fill(path.read_text(encoding="utf-8"), {name: Path(folder) for name, folder in named.items()})
    path.write_text(filled, encoding="utf-8")
