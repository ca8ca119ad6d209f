"""Run all cases that can be built, and write what the model gives beside what was measured.

``python tests/silicon/page.py PAGE`` writes the page, and ``simulated.json``, to which tests hold the model.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(path: Path) -> None:
    """Measure the model, and write both files."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from support.silicon.silicon_report import page
    from support.silicon.silicon_rig import RECORD, cases

    numbers = {case.id: (case.simulated(), *case.band()) for case in cases() if case.built}
    rows = (f" {json.dumps(name)}: {json.dumps(three)}" for name, three in numbers.items())
    RECORD.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
