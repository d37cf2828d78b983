"""Data of a report: panels, aggregates, head-to-head results and provenance, computed from stored rows."""
