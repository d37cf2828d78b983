"""Evolution of linear policies: NSGA-II and CMA-ES over the parameters of a policy."""
