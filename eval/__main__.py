"""`python -m eval` is `python eval/run.py`."""

from __future__ import annotations

import sys
from pathlib import Path

from eval.run import main

main(Path(sys.argv[1]) if sys.argv[1:] else Path("docs"))
