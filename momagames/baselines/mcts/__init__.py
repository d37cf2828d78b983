"""Monte-Carlo tree search.

tree.py       statistics by sequences of actions, and the choice among arms
playout.py    one playout: down the tree, on by lot, and what it brought back up
player.py     policies: a search before every move
plans.py      plans: searches along a line of play, until it ends
methods.py    `uct` and `pareto_uct`

A node is a sequence of joint actions since the root, so that a game that draws during play is searched in open loop: what is
learnt at a node is a mean over what may have happened on the way. At a node every agent that is to act, and every part of an
action that has several, is a bandit of its own with statistics of its own. In games of turns this is a tree search in which
everybody maximizes what he himself gets (max^n); where all move at once it is decoupled UCT.

An arm knows the returns of the agent that it belongs to in `G` aims: weighted sums of the objectives. `uct` has one, the sum
with the user's weights, `pareto_uct` one for each objective. Aims are brought to 0..1 by the least and the greatest return
of the agent in this search. An agent takes an arm that was never tried, else one of those whose upper confidence bounds are
not dominated, by lot; with one aim that is UCB1.

Every playout begins with a copy of the state, whose generator is set anew from the player's: the search does not know what
will be drawn. It does see the whole state: in games of partial information more than its agent may.

Sources: Kocsis and Szepesvari, "Bandit based Monte-Carlo planning", ECML 2006; Drugan and Nowé, "Designing multi-objective
multi-armed bandits algorithms: a study", IJCNN 2013; Wang and Sebag, "Multi-objective Monte-Carlo tree search", ACML 2012;
Chen and Liu, "Pareto Monte Carlo tree search for multi-objective informative planning", RSS 2019; Tak, Lanctot and Winands,
"Monte Carlo tree search variants for simultaneous move games", CIG 2014; Sturtevant, "An analysis of UCT in multi-player
games", CG 2008 (max^n); Pérez Liébana et al., "Open loop search for general video game playing", GECCO 2015.
"""
