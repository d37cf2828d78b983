"""Pareto fronts as files: proven ones with a witness for each point, and best-known ones from archived runs.

from momagames.benchmark import fronts

front = fronts.load_front("mo-samegame-v0-7x7x3-0")
fronts.verify(front)
print(front.statement, front.values)
"""

from momagames.fronts.front_file import FrontFile, read_front, write_front
from momagames.fronts.generation import Effort, clairvoyant_front, guaranteed_front, response_front, returns_front
from momagames.fronts.shipped import known, load_front, shipped
from momagames.fronts.union import union
from momagames.fronts.verify import prove, verify

__all__ = [
    "Effort",
    "FrontFile",
    "clairvoyant_front",
    "guaranteed_front",
    "known",
    "load_front",
    "prove",
    "read_front",
    "response_front",
    "returns_front",
    "shipped",
    "union",
    "verify",
    "write_front",
]
