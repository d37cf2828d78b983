"""Monte-Carlo tree search.

tree.py         statistics of action sequences, and the selection of arms
simulation.py   one playout: selection, expansion, simulation, backpropagation
policies.py     policies that search before every move
planner.py      plans: searches along a line of play until it ends
methods.py      `uct` and `pareto_uct`

A node is a sequence of joint actions from the root, so a game with chance during play is searched in open loop: the
statistics of a node are means over the chance outcomes on the way. At a node every agent to act, and every component of an
action, is a bandit with its own statistics. In sequential games every agent maximizes its own return (max^n). In
simultaneous games this is decoupled UCT.

An arm stores the returns of its agent for `G` criteria, which are weighted sums of the objectives. `uct` has one criterion,
the sum with the user's weights; `pareto_uct` has one for each objective. Criteria are normalized to 0..1 by the agent's
smallest and largest return in this search. An agent selects an untried arm, else a random one of the arms with non-dominated
upper confidence bounds. With one criterion this is UCB1. Trained tables can value the moves of a new node, and the softmax of
these values can be the prior of the moves; the bounds are then those of PUCT.

Every playout starts from a copy of the state with a new random seed from the policy's generator, so the search does not
foresee chance outcomes. It uses the whole state, which exceeds the agent's observation in games of partial information.

Sources: Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006; Drugan and Nowé, "Designing multi-objective
multi-armed bandits algorithms: a study", IJCNN 2013; Wang and Sebag, "Multi-objective Monte-Carlo tree search", ACML 2012;
Chen and Liu, "Pareto Monte Carlo tree search for multi-objective informative planning", RSS 2019; Tak, Lanctot and Winands,
"Monte Carlo tree search variants for simultaneous move games", CIG 2014; Sturtevant, "An analysis of UCT in multi-player
games", CG 2008 (max^n); Pérez Liébana et al., "Open loop search for general video game playing", GECCO 2015; Silver et al.,
"A general reinforcement learning algorithm that masters chess, shogi, and Go through self-play", Science 362, 2018 (PUCT).
"""
