"""Policies of MO-TileBlast."""

from momagames.engine.policies import CompiledPolicy
from momagames.games.tileblast.agents.tap_kernels import greedy_contact, one_step_lookahead

RULES = ("tileblast", "tileblast.strict")

GREEDY_CONTACT = CompiledPolicy("greedy_contact", greedy_contact, rules=RULES)
"""Taps the group that touches most of what the goals of the level ask for.

A group counts its neighbors that it hurts and that a goal asks for, its own tiles where a goal asks for their color, the
bubbles on them where a goal asks for those, and 4 if it has 5 tiles or more; a power piece counts 3.5. Ties are broken at
random.

Source: our own.
"""

ONE_STEP_LOOKAHEAD = CompiledPolicy("one_step_lookahead", one_step_lookahead, rules=RULES)
"""Plays one tap on each group, and each power piece, on a copy of the game, and taps the best.

The value of a tap is 10 for every point by which the goals come nearer, 6 for a power piece that it makes, -5 for each that
it uses, 0.5 for each hit, and 1000 for a win; of equal taps it takes the lowest. The distance of a goal is its remaining count,
and the hit points of its pieces beyond one each, doubled where only power effects hit them. The copy has the random state of
the game, so that the new pieces that fall in are known: this is more than a player can see.

Source: our own.
"""
