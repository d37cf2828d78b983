"""Indicators by name, as suites list them: how each is computed, printed and explained.

An `Indicator` of your own is a name in a module, which a suite calls "module:name".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from momagames.analysis import indicators
from momagames.analysis.arrays import Array, normalize
from momagames.analysis.controllability import compute_controllability, ordering_score
from momagames.analysis.indicators import Volume
from momagames.analysis.reference import Reference
from momagames.analysis.utilities import delivered_utility, expected_utility, sampled_weights, utility_weights
from momagames.analysis.utility_loss import maximum_utility_loss
from momagames.errors import InvalidParameter, invalid_value, nearest, one_of
from momagames.plugins import USER, Origin, is_python_path, resolve_name


@dataclass(frozen=True)
class WeightedPolicies:
    """Policies that are conditioned on weights, float64[n, K] each, in one order.

    weights     of the objectives; their sum is 1
    delivered   normalized mean returns of the policy for each of these weights
    best        those of the policy of the set that is best for these weights in the selection episodes
    """

    weights: Array
    delivered: Array
    best: Array


@dataclass(frozen=True)
class MeasuredRun:
    """What indicators are computed from.

    values       points of the run, float64[n, K]: returns of plans, or mean returns of policies
    reference    what they are measured against
    policies     those for weights; None: the method has none
    """

    values: Array
    reference: Reference
    policies: WeightedPolicies | None = None

    @cached_property
    def own(self) -> Array:
        """The points, normalized."""
        return self.reference.normalize(self.values)

    @cached_property
    def known(self) -> Array:
        """The reference front, normalized."""
        return self.reference.normalize(self.reference.values)


@dataclass(frozen=True)
class Indicator:
    """A number for a run.

    label            in tables
    more_is_better   None: it has no direction
    meaning          what a reader of a table needs to know, in a line
    compute          of a run; a `Volume` says whether it is an estimate. None where it is not defined
    depends_on       "points" alone; also on the "range" of returns, which normalization needs; or also on the reference
                     "front", which changes when better points are found
    needs_weights    whether it is about policies for weights: it is computed for runs that have some (`MeasuredRun.policies`)
    is_main          whether a terminal of 80 columns has room for it
    form             format of its mean
    """

    label: str
    more_is_better: bool | None
    meaning: str
    compute: Callable[[MeasuredRun], float | Volume | None]
    depends_on: Literal["points", "range", "front"] = "front"
    needs_weights: bool = False
    is_main: bool = True
    form: str = ".3f"

    @property
    def heading(self) -> str:
        """The label with an arrow in the better direction."""
        return self.label if self.more_is_better is None else f"{self.label} {'↑' if self.more_is_better else '↓'}"

    def measure(self, run: MeasuredRun) -> Volume | None:
        """Compute the indicator of a run; None where it is not defined."""
        if self.needs_weights and run.policies is None:
            return None
        found = self.compute(run)
        return found if found is None or isinstance(found, Volume) else Volume(float(found), False)


def find_indicator(name: str, origin: Origin = USER) -> Indicator:
    """Return the indicator of a name.

    Raises InvalidParameter for an unknown one; see also `plugins.resolve_name`
    """
    if name in INDICATORS:
        return INDICATORS[name]
    if not is_python_path(name):
        expected = f"{one_of(INDICATORS)}, or module:name"
        raise InvalidParameter(invalid_value("indicator", name, expected, nearest(name, INDICATORS)))
    found = resolve_name("indicator", name, {}, origin)
    if not isinstance(found, Indicator):
        raise InvalidParameter(invalid_value("indicator", name, "a name of a momagames.analysis.named_indicators.Indicator"))
    return found


def measure_share(values: Array, reference: Reference) -> Volume:
    """Return the hypervolume of points as a share of that of the reference front."""
    if not reference.volume.value:
        return Volume(0.0, False)  # no point of any method is above the reference point
    return reference.measure(values).share_of(reference.volume)


def measure_clipped(values: Array, reference: Reference) -> Volume:
    """Return the hypervolume of normalized points, clipped at the ideal point."""
    return _measure_clipped(reference.normalize(values))


def measure_declared(run: MeasuredRun) -> Volume | None:
    """Return the clipped hypervolume by the bounds that the game declares; None where the reference has no others."""
    bounds = run.reference.declared
    return None if bounds is None else _measure_clipped(normalize(run.values, *bounds))


def _measure_clipped(own: Array) -> Volume:
    return indicators.hypervolume(np.minimum(own, 1.0), np.zeros(own.shape[1]))


def _about_weights(compute: Callable[[WeightedPolicies], float | None]) -> Callable[[MeasuredRun], float | None]:
    return lambda run: None if run.policies is None else compute(run.policies)


def _order(policies: WeightedPolicies) -> float | None:
    return ordering_score(policies.weights, policies.delivered)


def _control(policies: WeightedPolicies) -> float | None:
    """Return the controllability; like the order, it is not defined for policies for equal weights."""
    if _order(policies) is None:
        return None
    return float(compute_controllability(policies.weights, policies.delivered).mean())


def _deliver(policies: WeightedPolicies) -> float:
    return delivered_utility(policies.delivered, policies.weights)


def _cover(policies: WeightedPolicies) -> float:
    return delivered_utility(policies.best, policies.weights)


INDICATORS: dict[str, Indicator] = {
    "hypervolume": Indicator(
        label="hypervolume",
        more_is_better=True,
        meaning="volume that the points dominate above the reference point, in raw units",
        compute=lambda run: run.reference.measure(run.values),
        depends_on="range",
        is_main=False,
        form=".4g",
    ),
    "normalized_hypervolume": Indicator(
        label="norm. HV",
        more_is_better=True,
        meaning="hypervolume of normalized returns, clipped at the ideal point; between 0 and 1",
        compute=lambda run: measure_clipped(run.values, run.reference),
        depends_on="range",
    ),
    "hypervolume_ratio": Indicator(
        label="HV ratio",
        more_is_better=True,
        meaning="hypervolume divided by that of the reference front; noise of the episodes can raise it above 1",
        compute=lambda run: measure_share(run.values, run.reference),
    ),
    "declared_hypervolume": Indicator(
        label="declared HV",
        more_is_better=True,
        meaning="normalized hypervolume by the bounds that the game declares; the HV ratio is by those of the reference front",
        compute=measure_declared,
        depends_on="points",
        is_main=False,
    ),
    "igd_plus": Indicator(
        label="IGD+",
        more_is_better=False,
        meaning="modified inverted generational distance: mean shortfall of the nearest point from the reference front",
        compute=lambda run: indicators.igd_plus(run.own, run.known),
    ),
    "epsilon": Indicator(
        label="epsilon+",
        more_is_better=False,
        meaning="additive epsilon: smallest shift of all objectives after which the points dominate the reference front",
        compute=lambda run: indicators.epsilon(run.own, run.known),
        is_main=False,
    ),
    "expected_utility": Indicator(
        label="expected utility",
        more_is_better=True,
        meaning="mean over a lattice of weights of the best weighted sum: the utility of a user with unknown weights",
        compute=lambda run: expected_utility(run.own, utility_weights(run.own.shape[1])),
        depends_on="range",
    ),
    "sampled_utility": Indicator(
        label="sampled utility",
        more_is_better=True,
        meaning="expected utility for 1,024 weights sampled uniformly from the simplex; for six objectives or more",
        compute=lambda run: expected_utility(run.own, sampled_weights(run.own.shape[1])),
        depends_on="range",
        is_main=False,
    ),
    "maximum_utility_loss": Indicator(
        label="utility loss",
        more_is_better=False,
        meaning="largest loss of a weighted sum against the reference front, over all weights",
        compute=lambda run: maximum_utility_loss(run.own, run.known).value,
    ),
    "cardinality": Indicator(
        label="points",
        more_is_better=None,
        meaning="number of non-dominated points",
        compute=lambda run: indicators.cardinality(run.values),
        depends_on="points",
        form=".1f",
    ),
    "rounded_cardinality": Indicator(
        label="points at 0.01",
        more_is_better=None,
        meaning="number of non-dominated points after rounding normalized returns to 0.01",
        compute=lambda run: indicators.rounded_cardinality(run.own),
        depends_on="range",
        is_main=False,
        form=".1f",
    ),
    "sparsity": Indicator(
        label="sparsity",
        more_is_better=None,
        meaning="mean squared gap between neighboring values; for comparison with older work, not for ranking",
        compute=lambda run: indicators.sparsity(run.own),
        depends_on="range",
        is_main=False,
    ),
    "controllability": Indicator(
        label="controllability",
        more_is_better=True,
        meaning="rank correlation of the weight of an objective and the return in it, over the weight-conditioned policies, in "
        "the mean over the objectives; 0 if weights do not steer them",
        compute=_about_weights(_control),
        depends_on="range",
        needs_weights=True,
    ),
    "ordering_score": Indicator(
        label="ordering score",
        more_is_better=True,
        meaning="share of order: whether returns rise with the weight of their objective where the other weights stay in "
        "proportion; 0.5 for a random order, 1 also for policies that are all alike",
        compute=_about_weights(_order),
        depends_on="range",
        needs_weights=True,
    ),
    "delivered_utility": Indicator(
        label="delivered utility",
        more_is_better=True,
        meaning="mean weighted sum of normalized returns of weight-conditioned policies under their own weights",
        compute=_about_weights(_deliver),
        depends_on="range",
        needs_weights=True,
    ),
    "coverage_utility": Indicator(
        label="coverage utility",
        more_is_better=True,
        meaning="the same with the policy of the set that is best for each weight in the selection episodes",
        compute=_about_weights(_cover),
        depends_on="range",
        needs_weights=True,
    ),
    "utility_regret": Indicator(
        label="utility regret",
        more_is_better=False,
        meaning="coverage utility minus delivered utility: the loss from a wrong choice of policy",
        compute=_about_weights(lambda policies: _cover(policies) - _deliver(policies)),
        depends_on="range",
        needs_weights=True,
    ),
}
LEADING = "hypervolume_ratio", "controllability"  # first columns of tables: how much is covered, and whether weights steer
LAST = "declared_hypervolume"
WEIGHT_INDICATORS = {name: one for name, one in INDICATORS.items() if one.needs_weights}


def list_columns(names: Iterable[str]) -> list[str]:
    """Return the indicators that tables of scores have as columns, in this order: LEADING, those of a suite, and LAST."""
    return [*LEADING, *(name for name in names if name not in (*LEADING, LAST)), LAST]
