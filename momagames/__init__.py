"""momagames: a benchmark of multi-objective, multi-agent games for reinforcement-learning research."""

from momagames.adapters.hosts import register_environments
from momagames.environments import check_state, make, make_text_batch, make_vec
from momagames.errors import MomagamesError
from momagames.registry import canonical, ids, register, register_command, spec

__version__ = "0.1.0"
__all__ = [
    "MomagamesError",
    "__version__",
    "canonical",
    "check_state",
    "ids",
    "make",
    "make_text_batch",
    "make_vec",
    "register",
    "register_command",
    "spec",
]

register_environments()
