"""The probability of each category in each region, given the attributes drawn before; and drawing by it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.model.findings import input_error

from .spec import Attribute, Spec


def random_words(key: np.uint64, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return these 64-bit words of the stream ``key`` (SplitMix64): any part can be drawn without the rest."""
    words = key + (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def count_limits_up_to(
    limits: NDArray[np.uint32], context: NDArray[np.int64], values: NDArray[np.uint32]
) -> NDArray[np.int32]:
    """Count, for each value, the limits of its row ``limits[context[i]]`` that are not above it.

    The limits of a row ascend, so that all values are searched for by bisection at once.
    """
    n_limits = limits.shape[1]
    flat = limits.ravel()
    start = context * n_limits
    counted = np.zeros(values.size, np.int64)
    for step in (1 << bit for bit in reversed(range(n_limits.bit_length()))):
        probe = np.minimum(counted + step, n_limits)
        counted = np.where(flat[start + probe - 1] <= values, probe, counted)
    return counted.astype(np.int32)


TABLE_LIMIT = 60_000_000
"""Regions × conditions × categories of one attribute that are still tabulated (240 MB)."""
WAVES = 48
"""Waves that add up to the smooth variation over the map."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """The tabulated distribution of one attribute. Row = region · conditions + Σ code · stride over ``parents``."""

    limits: NDArray[np.uint32]
    by_region: bool
    conditions: int
    parents: tuple[tuple[int, int], ...]
    key: np.uint64

    def draw(
        self, start: int, region: NDArray[np.int32], codes: list[NDArray[np.int32]]
    ) -> NDArray[np.int32]:
        """Draw the categories of consecutive records, given their regions and their earlier attributes."""
        context = (
            region.astype(np.int64) * self.conditions
            if self.by_region
            else np.zeros(region.size, np.int64)
        )
        for attribute, stride in self.parents:
            context += codes[attribute] * np.int64(stride)
        words = random_words(self.key, np.arange(start, start + region.size, dtype=np.uint64))
        return count_limits_up_to(self.limits, context, (words >> np.uint64(33)).astype(np.uint32))


def build_distributions(
    spec: Spec,
    points: NDArray[np.float64],
    region_columns: Mapping[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> list[Distribution]:
    """Build one distribution per attribute, in the order of the spec."""
    return [
        _build_distribution(spec, attribute, points, region_columns, own)
        for attribute, own in zip(spec.attributes, rng.spawn(len(spec.attributes)), strict=True)
    ]


def _build_distribution(
    spec: Spec,
    attribute: Attribute,
    points: NDArray[np.float64],
    region_columns: Mapping[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> Distribution:
    key = np.uint64(rng.integers(0, 2**64, dtype=np.uint64))
    names = [earlier.name for earlier in spec.attributes]
    parents_of_rules = sorted({names.index(name) for rule in attribute.rules for name in rule.when})
    sizes = [len(spec.attributes[parent].labels) for parent in parents_of_rules]
    strides = [prod(sizes[position + 1 :]) for position in range(len(sizes))]
    weights = _conditional_weights(spec, attribute, parents_of_rules)
    by_region = attribute.variation > 0 or bool(attribute.tilts)
    cells = weights.size * (len(points) if by_region else 1)
    if cells > TABLE_LIMIT:
        raise input_error(
            "too-detailed",
            f"This attribute differs in {cells:,} ways over regions and conditions.",
            "Use fewer attributes in its rules, or no variation and tilts.",
            column=attribute.name,
        )
    if by_region:
        factors = _region_factors(attribute, points, region_columns, rng)
        weights = (factors[:, None, :] * weights[None, :, :]).reshape(-1, weights.shape[1])
    parents = tuple(zip(parents_of_rules, strides, strict=True))
    return Distribution(cumulate_weights(weights), by_region, prod(sizes), parents, key)


def _conditional_weights(
    spec: Spec, attribute: Attribute, parents_of_rules: list[int]
) -> NDArray[np.float64]:
    """Compute a row of weights for each combination of the attributes that the rules ask for, row-major."""
    labels = [spec.attributes[parent].labels for parent in parents_of_rules]
    names = [spec.attributes[parent].name for parent in parents_of_rules]
    rows = []
    for values in itertools.product(*labels):
        weights = np.array(attribute.weights)
        here = dict(zip(names, values, strict=True))
        for rule in attribute.rules:
            if all(here[name] in allowed for name, allowed in rule.when.items()):
                weights = np.array(rule.weights) if rule.weights else weights
                weights = weights * [rule.multiply.get(label, 1.0) for label in attribute.labels]
        if weights.sum() <= 0:
            raise input_error(
                "wrong-value",
                "The rules leave no category possible.",
                "Relax one.",
                column=attribute.name,
            )
        rows.append(weights)
    return np.array(rows)


def _region_factors(
    attribute: Attribute,
    points: NDArray[np.float64],
    region_columns: Mapping[str, NDArray[np.float64]],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Compute by which factor each category is more or less likely in each region (regions × categories)."""
    size = len(attribute.labels)
    exponent = np.zeros((len(points), size))
    if attribute.variation:
        own = rng.standard_normal((len(points), size))
        exponent += attribute.variation * (0.8 * _draw_smooth_values(points, size, rng) + 0.6 * own)
    for tilt in attribute.tilts:
        values = region_columns[tilt.column]
        spread = values.std()
        score = (values - values.mean()) / spread if spread else np.zeros_like(values)
        exponent += tilt.strength * np.clip(score, -3, 3)[:, None] * np.array(tilt.scores)[None, :]
    return np.exp(exponent)


def _draw_smooth_values(
    points: NDArray[np.float64], size: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw values of unit variance that change slowly over the map (regions × categories)."""
    extent = max(float(np.ptp(points, axis=0).max()), 1e-9)
    waves = rng.standard_normal((2, WAVES)) * (2 * np.pi / (0.6 * extent))
    phase = rng.uniform(0, 2 * np.pi, WAVES)
    share = rng.standard_normal((WAVES, size)) * np.sqrt(2 / WAVES)
    return np.asarray(np.cos((points - points.mean(axis=0)) @ waves + phase) @ share)


def cumulate_weights(weights: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Cumulate the probabilities of all categories but the last, in units of 2⁻³¹, so that certainty fits."""
    cumulated = np.cumsum(weights, axis=1)
    share = cumulated[:, :-1] / cumulated[:, -1:]
    return np.round(share * 2.0**31).astype(np.uint32)
