"""Expressions in N with + − × /, such as N/100+5: parsed, never evaluated as Python."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

LONGEST = 100
_SIGNS = str.maketrans({"×": "*", "·": "*", "−": "-", "–": "-", "÷": "/", ":": "/"})
_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True)
class Expression:
    """A parsed expression; ``value`` inserts a number for N."""

    text: str
    tree: ast.expr

    def value(self, n: int) -> int:
        """Compute the value for N = n exactly and round it down. Raises ValueError for a division by zero."""
        try:
            return math.floor(_evaluate(self.tree, n))
        except ZeroDivisionError:
            raise ValueError(f"{self.text} divides by zero for N = {n:,}") from None


def parse_expression(text: str) -> Expression:
    """Parse an expression in N. Raises ValueError with what is allowed."""
    wrong = ValueError("write an expression in N with + − × / and brackets, such as N/100+5")
    if not text.strip() or len(text) > LONGEST:
        raise wrong
    try:
        tree = ast.parse(text.strip().translate(_SIGNS), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise wrong from None
    if not _is_allowed(tree):
        raise wrong
    return Expression(text.strip(), tree)


def _is_allowed(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return type(node.op) in _OPERATORS and _is_allowed(node.left) and _is_allowed(node.right)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub | ast.UAdd) and _is_allowed(node.operand)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool) and node.value < 1e12
    return isinstance(node, ast.Name) and node.id in ("N", "n")


def _evaluate(node: ast.AST, n: int) -> Fraction:
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_evaluate(node.left, n), _evaluate(node.right, n))
    if isinstance(node, ast.UnaryOp):
        value = _evaluate(node.operand, n)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Constant):
        # A decimal fraction is meant as it is written: 0.1 is a tenth.
        return Fraction(str(node.value))
    return Fraction(n)
