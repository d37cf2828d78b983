"""What is computed from returns: pure functions of arrays, all objectives maximized.

arrays          checked arrays, fronts, normalized coordinates
indicators      quality of one front: volumes, distances, numbers of points
utilities       what a front is worth to users: families of utility functions, expected utility
loss            maximum utility loss, exact
attainment      what repeated runs attain: surfaces, Vorob'ev expectation, differences of two methods
episodes        returns of single episodes: standard errors, ESR beside SER, stochastic dominance
statistics      scores over runs and games: interquartile mean and others, with bootstrap intervals
comparisons     two methods: probability of improvement, difference, Holm's correction
profiles        performance profiles

Every function raises InvalidParameter for values that are not finite or sizes that do not fit. None depends on the order of
points, and random numbers come from generators of their own with fixed seeds.
"""
