"""Evolution of linear policies: NSGA-II and CMA-ES over the numbers of a policy."""
