"""Statistics of returns: pure functions of arrays. All objectives are maximized.

arrays             checked arrays, non-dominated points, normalized returns
indicators         quality of one front: hypervolume, distances, cardinality
utilities          families of utility functions, expected utility of a front, delivered utility of conditioned policies
controllability    how far the weights of the objectives steer policies: rank correlation, ordering score
fairness           how the utility of an outcome is divided among agents: Gini, Nash and alpha-fair welfare, Lorenz dominance
utility_loss       maximum utility loss, exact
attainment         attainment surfaces of repeated runs, Vorob'ev expectation, difference of two methods
episode_returns    returns of single episodes: standard errors, ESR and SER, stochastic dominance
statistics         scores over runs and games: interquartile mean and others, with bootstrap intervals
comparisons        two methods: probability of improvement, difference, Holm's correction
profiles           performance profiles
anytime            anytime performance: an indicator over environment steps
ratings            Bradley-Terry ratings and cycles

Every function raises InvalidParameter for non-finite values and for arrays of the wrong shape. No result depends on the order
of the points. Random numbers come from generators with fixed seeds.
"""
