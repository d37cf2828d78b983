"""The contract between games and the library: the classes that define a game.

A game is one `Game`: facts, compiled rules (`Kernels`) and optional groups of functions, such as `Codec`, `View`, `Human`,
`SearchSupport` and `LearningSupport`. APIs, wrappers, engine, baselines and reports access games only through it.
"""

from momagames.contract.actions import first_legal_action, has_choice, join_mask, read_integers, read_numbers, split_mask
from momagames.contract.game import (
    Chance,
    ColorObjectives,
    Dynamics,
    Game,
    Information,
    Kernels,
    MatchRules,
    OriginalGame,
    Solvers,
    Utility,
)
from momagames.contract.number_lists import read_number_list
from momagames.contract.objectives import Objective, check_objectives
from momagames.contract.observations import Field
from momagames.contract.parameters import Parameter, check_parameters
from momagames.contract.policies import Policy, end_policy_episode, report_return, reset_policy
from momagames.contract.positions import (
    Codec,
    State,
    check_position,
    load_rng,
    make_record_codec,
    parse_field,
    position_number,
    position_numbers,
    restore_record,
)
from momagames.contract.support import (
    BoardTables,
    EgocentricView,
    ExactSearch,
    LearningSupport,
    ObjectiveFeatures,
    RewardFactor,
    RewardFactors,
    SearchGuidance,
    SearchSupport,
    TrainingDefaults,
)
from momagames.contract.symmetries import Symmetry
from momagames.contract.views import Animation, Cell, Cells, Human, Keys, Line, Slide, View

__all__ = [
    "Animation",
    "BoardTables",
    "Cell",
    "Cells",
    "Chance",
    "Codec",
    "ColorObjectives",
    "Dynamics",
    "EgocentricView",
    "ExactSearch",
    "Field",
    "Game",
    "Human",
    "Information",
    "Kernels",
    "Keys",
    "LearningSupport",
    "Line",
    "MatchRules",
    "Objective",
    "ObjectiveFeatures",
    "OriginalGame",
    "Parameter",
    "Policy",
    "RewardFactor",
    "RewardFactors",
    "SearchGuidance",
    "SearchSupport",
    "Slide",
    "Solvers",
    "State",
    "Symmetry",
    "TrainingDefaults",
    "Utility",
    "View",
    "check_objectives",
    "check_parameters",
    "check_position",
    "end_policy_episode",
    "first_legal_action",
    "has_choice",
    "join_mask",
    "load_rng",
    "make_record_codec",
    "parse_field",
    "position_number",
    "position_numbers",
    "read_integers",
    "read_number_list",
    "read_numbers",
    "report_return",
    "reset_policy",
    "restore_record",
    "split_mask",
]
