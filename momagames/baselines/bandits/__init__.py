"""Multi-objective bandits: learners for games of one step, whose agents know nothing but the rewards of their actions.

setting.py       games that fit, and their arms
signals.py       what an agent learns from: its own reward, the mean of all agents, or a difference reward
independent.py   learners of one weight vector, one for each agent, that play side by side: `bandit_ucb`, `bandit_gradient`
ucb.py           choice by upper confidence bounds
gradient.py      choice by a softmax of preferences
joint.py         one learner of joint actions for all weights: `bandit_joint`
elimination.py   the best joint action in a coordination graph
pareto.py        choice among joint actions with Pareto-optimal bounds
trainer.py, policies.py, method.py    training, trained policies and options

With several learning agents what an agent gets for an action depends on how the others play, and that on the weights: each
weight vector of a lattice therefore has agents of its own ("scalarized" bandits). The mean rewards of joint actions do not
depend on the weights, so that `bandit_joint` shares its estimates among all of them.

Sources: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine Learning 47, 2002
(UCB1 and UCB1-Tuned); Williams, "Simple statistical gradient-following algorithms for connectionist reinforcement learning",
Machine Learning 8, 1992; Sutton and Barto, "Reinforcement learning", 2nd edition 2018, chapter 2 (gradient bandits); Drugan and
Nowé, "Designing multi-objective multi-armed bandits algorithms: a study", IJCNN 2013 (scalarized and Pareto UCB1); Wolpert and
Tumer, "Optimal payoff functions for members of collectives", Advances in Complex Systems 4, 2001, and "Collective intelligence,
data routing and Braess' paradox", JAIR 16, 2002; Mannion, Devlin, Duggan and Howley, "Reward shaping for knowledge-based
multi-objective multi-agent reinforcement learning", Knowledge Engineering Review 33, 2018 (difference rewards of several
objectives); Bargiacchi, Verstraeten, Roijers, Nowé and van Hasselt, "Learning to coordinate with coordination graphs in
repeated single-stage multi-agent decision problems", ICML 2018 (multi-agent upper confidence exploration, and elimination of
variables with confidence bounds).
"""
