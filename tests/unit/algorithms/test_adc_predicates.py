"""The side of a line and of a circle, exactly, however close to the border."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vbas_desktop.algorithms.kernels.spatial_index import side_of_circle, side_of_line

NEARLY_ALIKE = st.builds(
    lambda whole, scale, ulps: whole * scale * (1 + ulps * 2.0**-52),
    st.integers(-6, 6),
    st.sampled_from([1.0, 0.1, 1 / 3, 1e6]),
    st.integers(-2, 2),
)
PLACE = st.tuples(NEARLY_ALIKE, NEARLY_ALIKE)


def sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def difference(a, b) -> tuple[Fraction, Fraction]:
    return Fraction(a[0]) - Fraction(b[0]), Fraction(a[1]) - Fraction(b[1])


def cross(a, b) -> Fraction:
    return a[0] * b[1] - a[1] * b[0]


@settings(max_examples=500, deadline=None)
@given(PLACE, PLACE, PLACE)
def test_the_side_of_a_line_is_that_of_exact_arithmetic(a, b, p):
    assert side_of_line(*a, *b, *p) == sign(cross(difference(b, a), difference(p, a)))


@settings(max_examples=500, deadline=None)
@given(PLACE, PLACE, PLACE, PLACE)
def test_the_side_of_a_circle_is_that_of_exact_arithmetic(v, a, b, p):
    u, w, q = difference(a, v), difference(b, v), difference(p, v)
    turn = sign(cross(u, w))
    assume(turn != 0)
    # With the centre c = (x, y) relative to v, p is inside if |q|² < 2 q·c.
    lift_u, lift_w = u[0] ** 2 + u[1] ** 2, w[0] ** 2 + w[1] ** 2
    x = (w[1] * lift_u - u[1] * lift_w) / (2 * cross(u, w))
    y = (u[0] * lift_w - w[0] * lift_u) / (2 * cross(u, w))
    inside = sign(2 * (q[0] * x + q[1] * y) - q[0] ** 2 - q[1] ** 2)
    assert side_of_circle(v, a, b, p) == turn * inside


def test_places_on_the_circle_and_on_the_line_are_neither_inside_nor_outside():
    assert side_of_circle((5.0, 0.0), (3.0, 4.0), (-4.0, 3.0), (0.0, -5.0)) == 0
    assert side_of_circle((5.0, 0.0), (3.0, 4.0), (-4.0, 3.0), (0.0, -4.999999999999999)) == 1
    assert side_of_circle((5.0, 0.0), (3.0, 4.0), (-4.0, 3.0), (0.0, -5.000000000000001)) == -1
    assert side_of_line(0.0, 0.0, 1e16, 1.0, 2e16, 2.0) == 0
    assert side_of_line(0.0, 0.0, 1e16, 1.0, 2e16, 2.0000000000000004) == 1
