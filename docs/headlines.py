"""Headlines of pages of results: the first paragraph of each page, and who leads its settings (see result_pages.py)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from archives import Archive
from page_tables import EXACT
from sections import table

from momagames.analysis.statistics import Interval
from momagames.benchmark.choices import label_methods
from momagames.benchmark.suites import Indicators, PlansExperiment, Suite
from momagames.contract import Game
from momagames.contract.titles import join_words
from momagames.reports.data.generalization import RATIO, REGRET, InstanceScore
from momagames.reports.data.head_to_head import HeadToHeadScores
from momagames.reports.data.overview import CONTROL, compute_ratios, find_control, rank_methods
from momagames.reports.data.panels import Panel
from momagames.reports.data.report_data import ReportData
from momagames.reports.data.verdicts import (
    compare_methods,
    compare_runs,
    count_leads,
    find_leaders,
    find_panel_leaders,
    is_ahead,
)
from momagames.reports.text.labels import NO_SCORE, describe_interval
from momagames.reports.text.verdicts import describe_leads, describe_verdict
from momagames.wording import count

LEARNER, MORE_TRAINING = "moppo", "champion"  # the method of the standing; not an equal budget
CONTROL_LINK = "../policy-metrics.md#policies-that-are-conditioned-on-weights"
PEERS = {"grpo", "cross_entropy", "ntuple"}  # the other learners of the package with policies for weights

Leaders = Iterable[tuple[Game, Sequence[str]]]  # game of a setting and its leaders, of `find_leaders`


def count_leaders(leaders: Leaders) -> dict[str, dict[str, int]]:
    """Count the settings that each method leads, by the title of the game."""
    found: dict[str, list[Sequence[str]]] = {}
    for game, methods in leaders:
        found.setdefault(game.title, []).append(methods)
    return {title: count_leads(every) for title, every in found.items()}


def find_ratio_leaders(archive: Archive) -> Leaders:
    """Return who leads each setting by hypervolume ratio, of the methods that keep to its budget."""
    left_out = *EXACT, MORE_TRAINING
    return [(panel.game, find_panel_leaders(panel, archive.data.settings, left_out)) for panel in archive.panels]


# ------------------------------------------------------------------------------------------------------------ families


def family(archive: Archive) -> Iterator[str]:
    """Yield sentences: the best method of plans and of policies and its lead, and the leaders of single settings."""
    panels, settings = archive.panels, archive.data.settings
    groups = {panel.kind: [one for one in panels if one.kind == panel.kind] for panel in panels}
    verdicts = {kind: verdict for kind, group in groups.items() if (verdict := compare_methods(group, settings))}
    sentences = [
        f"{kind.capitalize()}: {describe_verdict(verdict)}" if len(groups) > 1 else describe_verdict(verdict)
        for kind, verdict in verdicts.items()
    ]
    leaders = count_leads(find_panel_leaders(panel, settings) for panel in panels)
    yield " ".join([*sentences, f"Ahead of all others: {describe_leads(leaders, len(panels))}."])


# ------------------------------------------------------------------------------------------------------------ policies


@dataclass(frozen=True)
class Standing:
    """The learner beside the strongest baseline of a setting.

    own, best    mean hypervolume ratios in the seeds that both have
    lead         difference, paired by these seeds
    is_met       whether another learner of policies for weights has the same budget there
    """

    panel: Panel
    own: float
    baseline: str
    best: float
    lead: Interval
    is_met: bool

    @property
    def result(self) -> str:
        if is_ahead(self.lead):
            return "win"
        return "loss" if self.lead.runs > 1 and self.lead.high < 0 else "level"


def compare_learner(data: ReportData) -> list[Standing]:
    """Compare the learner with the method of the highest mean in each setting, but for those with more training.

    Methods that have a single seed beside the learner's count only where no other has more.
    """
    found = []
    for panel in data.panels:
        ranked = rank_methods(panel)
        ranked.pop(MORE_TRAINING, None)
        if ranked.pop(LEARNER, None) is None or not ranked:
            continue
        ratios = {name: compute_ratios(panel, name) for name in (LEARNER, *ranked)}
        several = [name for name in ranked if len(ratios[name].keys() & ratios[LEARNER].keys()) > 1]
        baseline = next(iter(several or ranked))  # one seed has no interval
        lead = compare_runs(ratios[LEARNER], ratios[baseline], data.settings)
        if lead is not None:
            common = ratios[LEARNER].keys() & ratios[baseline].keys()
            own, best = (fmean(ratios[name][seed] for seed in common) for name in (LEARNER, baseline))
            found.append(Standing(panel, own, baseline, best, lead, not PEERS.isdisjoint(ranked)))
    return found


def policies(archive: Archive) -> Iterator[str]:
    """Yield sentences: the best two methods over all settings, the trained policies of the package, the learner, who steers."""
    data = archive.data
    yield "\n".join((*describe_order(data), *describe_champions(data), *describe_standing(data), *describe_steering(data)))


def describe_standing(data: ReportData) -> Iterator[str]:
    """Yield how the learner stands, also in the settings where another learner for weights has the same budget."""
    standings = compare_learner(data)
    if not standings:
        return

    def summarize(chosen: Sequence[Standing]) -> str:
        results = [one.result for one in chosen]
        return f"wins {results.count('win')}, is level in {results.count('level')} and loses {results.count('loss')}"

    met = [one for one in standings if one.is_met]
    yield f"Against the strongest method with no more training in each setting, `{LEARNER}` {summarize(standings)}."
    if met and len(met) < len(standings):
        yield f"In {len(met)} of these settings another learner of the package has policies for weights and the same budget;"
        yield f"there it {summarize(met)}. In the others it meets evolution, scripted players, and learners of other libraries"
        yield "with a tenth of its steps or less."


def describe_order(data: ReportData) -> Iterator[str]:
    """Yield lines on the best two methods over all settings."""
    every = data.aggregate
    if every is None or len(every.statistics) < 2:
        yield "No two methods have been run in all settings that have results yet."
        return
    tags = sorted({reference.tag for panel in data.panels for reference in panel.references.values()})
    means = {method: found["iqm"].value for method, found in every.statistics.items()}
    ranked = sorted(means, key=lambda method: -means[method])
    first, second = (means[method] for method in ranked[:2])
    roles = {method: f"the {method} (`{'`, `'.join(played)}`)" for method, played in every.roles.items()}
    names = [roles.get(method, f"`{method}`") for method in ranked]
    order = "before" if is_ahead(every.pairs[ranked[0], ranked[1]].difference.interval) else "level with"
    yield f"Of the {len(ranked)} methods that play all {count(len(every.games), 'setting')}, {names[0]} has the highest"
    yield f"interquartile mean of the hypervolume ratio ({first:.2f}), {order} {names[1]} ({second:.2f})."
    if rest := [f"the {method}" if method in roles else f"`{method}`" for method in ranked[2:]]:
        yield f"The others are {join_words(rest)}."
    yield f"Runs are those of the first {count(every.runs, 'seed')}, reference fronts: {', '.join(tags)}."


def describe_champions(data: ReportData) -> Iterator[str]:
    """Yield how often the trained policies of the package lead, if they play."""
    played = [find_panel_leaders(panel, data.settings) for panel in data.panels if MORE_TRAINING in panel.points]
    if played:
        yield f"The trained policies of the package, `{MORE_TRAINING}`, lead {played.count([MORE_TRAINING])} of the"
        yield f"{count(len(played), 'setting')} that they play; each is one training, longer than the budget of the others: its"
        yield "runs play the same policies."


def describe_steering(data: ReportData) -> Iterator[str]:
    """Yield how well the policies of the learner follow the weights, if it has some for weights."""
    controls = (find_control(panel) for panel in data.panels)
    if values := [control[LEARNER].value for control in controls if LEARNER in control]:
        yield f"The controllability of `{LEARNER}` is {fmean(values):.2f} in the mean over the settings and {min(values):.2f}"
        yield "in the lowest one: 0 where weights change nothing, and at most 1 with two objectives, 0.98 with three and 0.83"
        yield f"with five, since weights of a lattice repeat ([definition]({CONTROL_LINK}))."


def standings(archive: Archive) -> Iterator[str]:
    """Yield the learner beside the strongest baseline of every setting."""
    rows = []
    for one in compare_learner(archive.data):
        control = find_control(one.panel)
        steering = [f"{control[name].value:.3f}" if name in control else NO_SCORE for name in (LEARNER, one.baseline)]
        lead = describe_interval(one.lead, "+.3f")
        both = f"{one.own:.3f}", steering[0], one.baseline, f"{one.best:.3f}", steering[1]
        rows.append((one.panel.full_heading, *both, str(one.lead.runs), lead, one.result))
    baseline = "strongest baseline", "its ratio", f"its {CONTROL}"
    heads = ["setting", LEARNER, CONTROL, *baseline, "pairs", "difference", "result"]
    yield table(heads, rows)


# --------------------------------------------------------------------------------------------------------------- plans


def select_panels(archive: Archive, is_timed: bool) -> list[Panel]:
    """Return the settings with a budget of CPU time, or of environment steps."""
    timed = {one.name for one in archive.suite.experiments if isinstance(one, PlansExperiment) and one.cpu_seconds}
    return [panel for panel in archive.panels if (panel.experiment in timed) == is_timed]


def plans(archive: Archive) -> Iterator[str]:
    """Yield sentences: the best methods at equal steps, and at equal CPU time, in settings where the first ones plan."""
    sentences = []
    for kind, is_timed in (("environment steps", False), ("CPU time", True)):
        panels = select_panels(archive, is_timed)
        common = [panel for panel in panels if set(panels[0].points) & set(panel.points)]
        if verdict := compare_methods(common, archive.data.settings, EXACT):
            ratios = [rank_methods(panel).get(LEARNER) for panel in common]
            learner = "" if None in ratios else f" {LEARNER} reaches {fmean(ratios):.2f}."
            sentences.append(f"At equal {kind}, without known draws: {describe_verdict(verdict)}{learner}")
    yield " ".join(sentences or ["No seed of all methods is finished yet."]) + describe_trained(archive.suite)


def describe_trained(suite: Suite) -> str:
    """Return a sentence about methods with a trained policy of the package, if there are any."""
    planned = [one for one in suite.experiments if isinstance(one, PlansExperiment)]
    found = [(label_methods(one.methods)[method.key], method) for one in planned for method in one.methods]
    trained = sorted({label for label, method in found if method.uses_champion})
    listed = " and ".join(f"`{name}`" for name in trained)
    return f" Trained beforehand, on other boards, which no budget includes: {listed}." if trained else ""


# -------------------------------------------------------------------------------------------------------- head to head


def list_matches(archive: Archive) -> list[HeadToHeadScores]:
    return [one.head_to_head for one in archive.data.crossplay if one.head_to_head]


def find_rating_leaders(archive: Archive) -> Leaders:
    return [(one.game, one.leaders) for one in list_matches(archive)]


def matches(archive: Archive) -> Iterator[str]:
    """Yield two sentences: who leads in how many settings, and how well responses do against the leaders."""
    settings = list_matches(archive)
    if not settings:
        yield "No seed of all players is finished yet."
        return
    leads = describe_leads(count_leads(one.leaders for one in settings), len(settings))
    gains = [max(0.0, one.gain[one.leaders[0]].value) for one in settings]
    found = sum(gain > 0 for gain in gains)
    answer = (
        f"In {found} of them the best response that was searched or trained against the player with the highest rating alone "
        f"wins more games than that player wins against itself (by {max(gains):.2f} at most); a lower bound of its "
        "exploitability."
        if found
        else "In none of them does a response that was searched or trained against the player with the highest rating alone "
        "win more games than that player wins against itself, which does not show that there is none: responses had small "
        "budgets."
    )
    seeds = sorted({len(one.seeds) for one in settings})
    over = f"{seeds[0]} to {seeds[-1]} seeds" if len(seeds) > 1 else count(seeds[0], "seed")
    champions = (
        f" `{MORE_TRAINING}` is trained longer than the budget."
        if any(MORE_TRAINING in one.players for one in settings)
        else ""
    )
    yield f"Rating above those of all others, by the interval of the difference over {over}: {leads}.{champions} {answer}"


# ------------------------------------------------------------------------------------------------------ generalization


def select_trained(archive: Archive) -> dict[str, Mapping[str, InstanceScore]]:
    """Return the scores of the methods that are trained on the instances of the only setting."""
    panel, names = archive.panel, label_methods(archive.experiment.methods)
    trained = [names[one.key] for one in archive.experiment.methods if one.is_trained(panel.game)]
    return {name: panel.generalization[name] for name in trained if name in panel.generalization}


def rank_regrets(scores: Mapping[str, Mapping[str, InstanceScore]], settings: Indicators) -> list[str]:
    """Return the methods that lead on test instances by regret."""
    negated = {name: {seed: -value for seed, value in one[REGRET].tests.items()} for name, one in scores.items()}
    return find_leaders(negated, settings)


def find_regret_leaders(archive: Archive) -> Leaders:
    settings = archive.data.settings
    return [(panel.game, rank_regrets(select_trained(archive.select_setting(panel)), settings)) for panel in archive.panels]


def generalization(archive: Archive) -> Iterator[str]:
    """Yield two sentences on the first setting: the best trained methods on unseen instances, and the largest gap."""
    settings = [one for one in map(archive.select_setting, archive.panels) if select_trained(one)]
    if not settings:
        yield "No trained method has been run yet."
        return
    yield describe_generalization(settings[0], archive.data.settings)


def describe_generalization(first: Archive, settings: Indicators) -> str:
    """Return two sentences on the only setting."""
    scores = select_trained(first)
    experiment, every = first.experiment, first.panel.generalization
    best, *level = rank_regrets(scores, settings)
    worst, *alike = find_leaders({name: found[REGRET].gaps for name, found in scores.items()}, settings)
    best_ones, worst_ones = f"`{best}`{describe_level(level)}", f"`{worst}`{describe_level(alike)}"
    others = [found[REGRET].gap.value for name, found in scores.items() if name != worst]
    comparison = f", users of other trained methods at most {max(others):.3f}" if others else ""
    ratio, regret, gap = (
        describe_interval(at) for at in (scores[best][RATIO].test, scores[best][REGRET].test, scores[worst][REGRET].gap)
    )
    random = (
        f" (random play: {every['random'][RATIO].test.value:.3f} and {every['random'][REGRET].test.value:.3f})"
        if "random" in every
        else ""
    )
    return (
        f"Of the methods that are trained on {experiment.select_episodes} instances alone, {best_ones} has the "
        f"smallest regret on {experiment.report_episodes} unseen ones: it reaches {ratio} of the hypervolume of the proven "
        f"front of each, and the policies that users choose are {regret} of normalized utility below the best of the front"
        f"{random}. {worst_ones} has the largest gap: its users lose {gap} more on unseen instances than on those of its "
        f"training{comparison}."
    )


def describe_level(names: Sequence[str]) -> str:
    """Return the names of methods that are level with another one in brackets."""
    return f" (level with {join_words(f'`{name}`' for name in names)})" if names else ""


# ----------------------------------------------------------------------------------------------------- other libraries
