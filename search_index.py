"""Door: search any folder of markdown.

>>> from search_index import DocumentSearchIndex
>>> index = DocumentSearchIndex("docs")
>>> index.build_index()
>>> for result in index.search("upsert", max_results=3):
...     print(result.score, result.title, result.url)
"""

from __future__ import annotations

from pgdocs.errors import BadQuery, BuildError, NoPages, PageNotFound, PgdocsError, UnknownSource
from pgdocs.search.index import DocumentSearchIndex, PageInfo, SearchResult, SourceInfo

__all__ = [
    "BadQuery",
    "BuildError",
    "DocumentSearchIndex",
    "NoPages",
    "PageInfo",
    "PageNotFound",
    "PgdocsError",
    "SearchResult",
    "SourceInfo",
    "UnknownSource",
]
