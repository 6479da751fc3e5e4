"""`python -m eval` is `python eval/run.py`."""

from __future__ import annotations

from eval.run import main

main()
