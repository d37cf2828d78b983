"""Labels, captions and terminal tables of the report."""
