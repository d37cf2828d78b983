"""Tables of cell patterns (n-tuple networks) for turn-based board games, learned by TD(lambda) in self-play.

patterns   which cells of a board form patterns, and which patterns share a table
heads      which returns the tables predict
kernels    values of positions from codes of cells, and of positions after a move from the cells that it changed
self_play  the compiled training loop
tree_search  tree search in self-play
leaf_values  values of positions for tree search
trainer    self-play of several weight vectors side by side
search     look-ahead at play time
tables     policies of trained tables
method     options and stored policies
"""
