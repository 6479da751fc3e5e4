"""pgdocs: fast, ranked, cited look-ups in the PostgreSQL and PostGIS manuals."""
