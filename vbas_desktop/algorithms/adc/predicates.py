"""Exact signs of the two determinants of plane geometry: which side of a line, which side of a circle.

A floating-point filter decides almost always; what it cannot decide is computed without any rounding as a sum of
floating-point numbers that do not overlap (Shewchuk, Adaptive precision floating-point arithmetic, 1997). So regular
grids, collinear and duplicate places get the answers of real arithmetic, on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vbas_desktop.algorithms.compiled import compiled, inner

Floats = NDArray[np.float64]

_HALF_ULP = 2.0**-53
_SIDE_BOUND = (3.0 + 16.0 * _HALF_ULP) * _HALF_ULP
_CIRCLE_BOUND = (10.0 + 96.0 * _HALF_ULP) * _HALF_ULP
_SPLITTER = 2.0**27 + 1.0


@compiled
def side_of_line(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """1 if p lies left of the line from a to b, -1 if right of it, 0 if on it."""
    left = (bx - ax) * (py - ay)
    right = (by - ay) * (px - ax)
    determinant = left - right
    bound = _SIDE_BOUND * (abs(left) + abs(right))
    if determinant > bound:
        return 1
    if determinant < -bound:
        return -1
    if bound == 0.0:
        return 0
    return _exact_side(ax, ay, bx, by, px, py)


@compiled
def side_of_circle(vx: float, vy: float, ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """For v, a, b counter-clockwise: 1 if p lies inside their circle, -1 if outside, 0 if on it."""
    adx, ady, bdx, bdy, pdx, pdy = ax - vx, ay - vy, bx - vx, by - vy, px - vx, py - vy
    bp, pb = bdx * pdy, pdx * bdy
    pa, ap = pdx * ady, adx * pdy
    ab, ba = adx * bdy, bdx * ady
    lift_a, lift_b, lift_p = adx * adx + ady * ady, bdx * bdx + bdy * bdy, pdx * pdx + pdy * pdy
    determinant = lift_a * (bp - pb) + lift_b * (pa - ap) + lift_p * (ab - ba)
    size = lift_a * (abs(bp) + abs(pb)) + lift_b * (abs(pa) + abs(ap)) + lift_p * (abs(ab) + abs(ba))
    bound = _CIRCLE_BOUND * size
    # The determinant is that of v against the circle a, b, p; turning the four round once changes its sign.
    if determinant > bound:
        return -1
    if determinant < -bound:
        return 1
    if bound == 0.0:
        return 0
    return _exact_circle(vx, vy, ax, ay, bx, by, px, py)


@inner
def _two_sum(a: float, b: float) -> tuple[float, float]:
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@inner
def _two_product(a: float, b: float) -> tuple[float, float]:
    product = a * b
    wide = _SPLITTER * a
    a_high = wide - (wide - a)
    a_low = a - a_high
    wide = _SPLITTER * b
    b_high = wide - (wide - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@inner
def _difference(a: float, b: float) -> Floats:
    total, rest = _two_sum(a, -b)
    if rest != 0.0:
        return np.array([rest, total])
    return np.array([total])


@inner
def _kept(parts: Floats, filled: int, part: float) -> int:
    """Add a part to a sum of so many parts, unless it is zero; how many there are then."""
    parts[filled] = part
    return filled + 1 if part != 0.0 else filled


@inner
def _plus(e: Floats, f: Floats, sign: float) -> Floats:
    """e + sign·f: both ascending in size, and so is the result; zeros are left out."""
    result = np.empty(e.size + f.size)
    i, j, filled, carried = 0, 0, 0, 0.0
    while i < e.size or j < f.size:
        if j >= f.size or (i < e.size and abs(e[i]) <= abs(f[j])):
            term = e[i]
            i += 1
        else:
            term = sign * f[j]
            j += 1
        carried, rest = _two_sum(carried, term)
        filled = _kept(result, filled, rest)
    filled = _kept(result, filled, carried)
    return result[: max(filled, 1)]


@inner
def _scaled(e: Floats, factor: float) -> Floats:
    result = np.empty(2 * e.size)
    carried, rest = _two_product(e[0], factor)
    filled = _kept(result, 0, rest)
    for i in range(1, e.size):
        high, low = _two_product(e[i], factor)
        total, rest = _two_sum(carried, low)
        filled = _kept(result, filled, rest)
        carried, rest = _two_sum(high, total)
        filled = _kept(result, filled, rest)
    filled = _kept(result, filled, carried)
    return result[: max(filled, 1)]


@inner
def _times(e: Floats, f: Floats) -> Floats:
    product = _scaled(e, f[0])
    for j in range(1, f.size):
        product = _plus(product, _scaled(e, f[j]), 1.0)
    return product


@inner
def _cross(ax: Floats, ay: Floats, bx: Floats, by: Floats) -> Floats:
    return _plus(_times(ax, by), _times(ay, bx), -1.0)


@inner
def _lift(x: Floats, y: Floats) -> Floats:
    return _plus(_times(x, x), _times(y, y), 1.0)


@inner
def _sign(e: Floats) -> int:
    largest = e[e.size - 1]
    if largest > 0.0:
        return 1
    return -1 if largest < 0.0 else 0


@inner
def _exact_side(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    return _sign(_cross(_difference(bx, ax), _difference(by, ay), _difference(px, ax), _difference(py, ay)))


@inner
def _exact_circle(vx: float, vy: float, ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    adx, ady = _difference(ax, vx), _difference(ay, vy)
    bdx, bdy = _difference(bx, vx), _difference(by, vy)
    pdx, pdy = _difference(px, vx), _difference(py, vy)
    first = _times(_cross(bdx, bdy, pdx, pdy), _lift(adx, ady))
    second = _times(_cross(pdx, pdy, adx, ady), _lift(bdx, bdy))
    third = _times(_cross(adx, ady, bdx, bdy), _lift(pdx, pdy))
    return -_sign(_plus(_plus(first, second, 1.0), third, 1.0))
