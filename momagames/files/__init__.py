"""Files: atomic writes, and one loader for each format, whose limits keep a small file from taking all memory or time."""
