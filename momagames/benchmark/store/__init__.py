"""Results directories: storage, status, cost estimates, merging, packing and export."""
