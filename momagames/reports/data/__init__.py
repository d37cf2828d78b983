"""Numbers of a report, computed from stored rows."""
