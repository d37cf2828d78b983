"""Settings of the leaderboard: a game of an experiment of a packaged suite, with its runs."""

from __future__ import annotations

from dataclasses import dataclass

from momagames.benchmark.choices import GameChoice
from momagames.benchmark.runs import Run
from momagames.benchmark.suite_files import list_suites, load_suite
from momagames.benchmark.suites import Experiment, Indicators, PlansExperiment, PoliciesExperiment
from momagames.contract import Game
from momagames.contract.titles import describe_game
from momagames.errors import invalid_value, nearest, one_of
from momagames.files.json_data import canonical_json
from momagames.leaderboard.errors import MislabeledSubmission
from momagames.leaderboard.metadata import SettingChoice


@dataclass(frozen=True)
class Setting:
    """A setting of a packaged suite.

    position      place of the experiment in the suite, and of the game in the experiment
    runs          a run for each seed of the experiment; their method stands for that of a submission
    indicators    settings of the suite's report
    """

    suite: str
    position: tuple[int, int]
    experiment: Experiment
    game: Game
    runs: tuple[Run, ...]
    indicators: Indicators

    @property
    def canonical(self) -> str:
        """The id of the game with every parameter."""
        return self.runs[0].canonical

    @property
    def key(self) -> tuple[str, tuple[int, int]]:
        """Identification of the setting, in the order of the leaderboard."""
        return self.suite, self.position

    @property
    def heading(self) -> str:
        """Game and experiment for people, as in reports."""
        return f"{describe_game(self.game)}, {self.experiment.name}"

    @property
    def title(self) -> str:
        """Suite, experiment and game as text, for messages."""
        return f"{self.suite}: {self.experiment.name}: {self.canonical}"


def find_setting(choice: SettingChoice, place: str) -> Setting:
    """Return a setting of a packaged suite. Raises MislabeledSubmission; `place` names the file and key of the choice."""
    suites = list_suites()
    if choice.suite not in suites:  # files of suites have no place on the leaderboard
        expected = f"a packaged suite, {one_of(suites)}"
        raise MislabeledSubmission(invalid_value(f"{place}.suite", choice.suite, expected, nearest(choice.suite, suites)))
    suite = load_suite(suites[choice.suite])
    names = [experiment.name for experiment in suite.experiments]
    if choice.experiment not in names:
        expected = f"an experiment of the suite {choice.suite!r}, {one_of(names)}"
        hint = nearest(choice.experiment, names)
        raise MislabeledSubmission(invalid_value(f"{place}.experiment", choice.experiment, expected, hint))
    experiment = suite.experiments[names.index(choice.experiment)]
    index = _find_game(experiment, choice.game, f"{place}.game")
    game = experiment.games[index].make_game()
    runs = tuple(_select_game(experiment, index).list_runs())
    return Setting(choice.suite, (names.index(choice.experiment), index), experiment, game, runs, suite.indicators)


def _find_game(experiment: Experiment, given: GameChoice, place: str) -> int:
    """Return the index of a game of an experiment. No game is made from the given parameters, which may name files."""
    for index, one in enumerate(experiment.games):
        defaults = {parameter.name: parameter.default for parameter in one.make_game().parameters}
        params = [canonical_json({**defaults, **choice.params}) for choice in (given, one)]
        if given.id == one.id and params[0] == params[1]:
            return index
    known = [canonical_json(one.model_dump()) for one in experiment.games]
    text = canonical_json(given.model_dump())
    expected = f"a game of the experiment {experiment.name!r}, {one_of(known)}"
    raise MislabeledSubmission(invalid_value(place, text, expected, nearest(text, known)))


def _select_game(experiment: Experiment, index: int) -> PlansExperiment | PoliciesExperiment:
    """Return the experiment with one game and one method."""
    return experiment.model_copy(update={"games": experiment.games[index : index + 1], "methods": experiment.methods[:1]})
