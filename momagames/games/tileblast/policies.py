"""Policies of MO-TileBlast."""

from momagames.engine.policies import LOOKAHEAD_MEMORY, CompiledPolicy
from momagames.games.tileblast.agents.tap_kernels import greedy_contact, one_step_lookahead

RULES = ("tileblast", "tileblast.strict")

GREEDY_CONTACT = CompiledPolicy("greedy_contact", greedy_contact, rules=RULES)
"""Taps the group that touches the most units of the level's goals.

A group counts the neighbors that it damages and that a goal collects, its own tiles if a goal collects their color, the
bubbles on them if a goal collects bubbles, and 4 if it has 5 tiles or more; a power piece counts 3.5. Ties are broken at
random.

Source: our own.
"""

ONE_STEP_LOOKAHEAD = CompiledPolicy("one_step_lookahead", one_step_lookahead, LOOKAHEAD_MEMORY, RULES)
"""Tries one tap on each group, and each power piece, on a copy of the game, and plays the best.

The value of a tap is 10 per unit of decrease of the goal distance, 6 for a created power piece, -5 for each used
one, 0.5 for each hit, and 1000 for a win; of equal taps the lowest is played. The distance of a goal is its remaining units,
and the hit points of its pieces beyond one each, doubled if only power effects hit them. The copy has the random state of
the game: the policy knows the new pieces, which a player cannot see.

Source: our own.
"""
