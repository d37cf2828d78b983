"""MO-Breakthrough on small boards, solved: what a player can guarantee."""

from momagames.baselines.breakthrough.solve import Guaranteed, can_guarantee, guaranteed, just_beyond, witness

__all__ = ["Guaranteed", "can_guarantee", "guaranteed", "just_beyond", "witness"]
