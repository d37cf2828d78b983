"""Results on disk, and what is done with their folders: status, costs, merging, export."""
