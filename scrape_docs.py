"""Copy the PostgreSQL and PostGIS manuals into a folder of markdown: python scrape_docs.py --help

Behind this door: pgdocs/scrape/. `scrape` is what the command runs, for whoever would call it from Python.
"""

from __future__ import annotations

import sys

from pgdocs.scrape.cli import main
from pgdocs.scrape.crawl import Options, SourceReport, scrape
from pgdocs.scrape.sources import SOURCES, Source

__all__ = ["SOURCES", "Options", "Source", "SourceReport", "main", "scrape"]

if __name__ == "__main__":
    sys.exit(main())
