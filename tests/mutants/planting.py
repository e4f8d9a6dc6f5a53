"""Find the places where a small fault can be planted in a module, and plant it.

Faults: comparisons (also at the boundary), ``and`` and ``or``, ``any`` and ``all``, smallest and largest, a missing
``not``, arithmetic, numbers one off, ``True`` and ``False``, and left-out statements (refusals first of all).

Nothing is planted in texts, annotations, decorators, progress reports, ``strict=True`` (which guards against faults
elsewhere), sizes of buffers (``1 << 20``) and compiled functions. The compiled ones are compared value by value with
plain counterparts in their tests; the cached machine code of their callers would hide a mutant.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from dataclasses import dataclass

from targets import ROOT

_COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}
_OPPOSITES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
}
_COMPILED = {"kernel", "subkernel", "allocating_subkernel"}
_SKIPPED_NAMES = {"progress", "TYPE_CHECKING"}


@dataclass(frozen=True)
class Mutant:
    """One planted fault: the text between two positions of a module becomes another one."""

    path: str
    line: int
    last_line: int
    start: int
    end: int
    text: str
    statement: str
    """The first line of the statement as it is."""
    mutated: str
    """The same line with the fault."""
    function: str
    """The function that it is in, with its class; empty for what runs at import."""
    number: int
    """The how manieth of those that are alike in everything above."""

    @property
    def key(self) -> str:
        """Name the mutant independently of what stands before it in the module."""
        return f"{self.path} | {self.function} | {self.statement} | {self.mutated} | {self.number}"

    @property
    def line_of_code(self) -> tuple[str, str, str]:
        """The file, the line and what it becomes: how harmless mutants are listed."""
        return self.path, self.statement, self.mutated

    def plant(self) -> str:
        """Return the source of the module with the fault."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
        return source[: self.start] + self.text + source[self.end :]


def find_mutants(path: str) -> list[Mutant]:
    """List all mutants of a module."""
    source = (ROOT / path).read_text(encoding="utf-8")
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return finder.mutants


def sample(paths: list[str], number: int, seed: int) -> list[Mutant]:
    """Draw mutants of all modules so that a change of one module leaves those of the others as they are."""
    mutants = [mutant for path in paths for mutant in find_mutants(path)]
    drawn = sorted(mutants, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.key}".encode()).digest())
    return drawn[:number]


class _Finder(ast.NodeVisitor):
    """Walks through a module and gathers its mutants."""

    def __init__(self, path: str, source: str) -> None:
        self.mutants: list[Mutant] = []
        self._path = path
        self._source = source
        self._lines = source.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._functions: list[str] = []
        self._classes: list[str] = []
        self._statement: ast.stmt | None = None
        self._alike: Counter[tuple[str, str, str]] = Counter()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        names = {
            ast.unparse(decorator).split("(")[0].split(".")[-1] for decorator in node.decorator_list
        }
        if names & _COMPILED:
            return
        self._functions.append(node.name)
        for default in (*node.args.defaults, *(default for default in node.args.kw_defaults if default)):
            self._statement = node
            self.visit(default)
        self._visit_body(node.body)
        self._functions.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self._visit_body(node.body)
        self._classes.pop()

    def visit_Module(self, node: ast.Module) -> None:
        self._visit_body(node.body)

    def _visit_body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt):
            self._statement = node
            if self._is_skipped(node):
                return
            self._leave_out(node)
        super().visit(node)

    def _is_skipped(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Import | ast.ImportFrom):
            return True
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.unparse(node):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return True
        first = (
            node.value if isinstance(node, ast.Expr) else node.test if isinstance(node, ast.If) else None
        )
        names = (
            {name.id for name in ast.walk(first) if isinstance(name, ast.Name)}
            if first is not None
            else set()
        )
        texts = ast.unparse(first) if first is not None else ""
        return bool(names & _SKIPPED_NAMES) and ("progress." in texts or "TYPE_CHECKING" in texts)

    def _leave_out(self, node: ast.stmt) -> None:
        """Plant a left-out statement: a refusal, a call, an addition, or a jump of a loop."""
        is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
        if is_call or isinstance(
            node, ast.Raise | ast.AugAssign | ast.Continue | ast.Break | ast.Delete
        ):
            self._add_node(node, "pass")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        return

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        return

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self._replace_between(left, right, *_COMPARISONS[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._replace_between(left, right, old, new)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.LShift) and isinstance(node.left, ast.Constant):
            return
        texts = (ast.Constant, ast.JoinedStr)
        joins_texts = any(
            isinstance(side, texts) and not isinstance(getattr(side, "value", ""), int | float)
            for side in (node.left, node.right)
        )
        if type(node.op) in _ARITHMETIC and not joins_texts:
            self._replace_between(node.left, node.right, *_ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert):
            start, end = self._span(node)
            operand, _ = self._span(node.operand)
            # Brackets around the operand stay.
            kept = self._source[start:operand].lstrip("~").removeprefix("not").lstrip()
            self._add(node, start, end, kept + self._source[operand:end])
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id == "Span":
            # The share of the progress that a step of the work has.
            return
        if isinstance(function, ast.Name) and function.id in _OPPOSITES:
            self._add_node(function, _OPPOSITES[function.id])
        elif isinstance(function, ast.Attribute) and function.attr in _OPPOSITES:
            _, end = self._span(function)
            self._add(function, end - len(function.attr), end, _OPPOSITES[function.attr])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add_node(node, str(not node.value))
        elif isinstance(node.value, int):
            self._add_node(node, str(node.value + 1))
        elif isinstance(node.value, float):
            self._add_node(node, repr(node.value * 2 or 1.0))

    def _replace_between(self, left: ast.expr, right: ast.expr, old: str, new: str) -> None:
        """Replace the operator between two operands, around which brackets may stand."""
        _, start = self._span(left)
        end, _ = self._span(right)
        between = self._source[start:end]
        bare = "\n".join(line.split("#")[0] for line in between.split("\n"))
        at = between.find(old)
        if at >= 0 and old in bare:
            self._add(left, start + at, start + at + len(old), new)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in characters; syntax trees count bytes."""
        return (
            self._position(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._position(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _position(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        return self._starts[line - 1] + len(text.encode()[:column].decode())

    def _add_node(self, node: ast.AST, text: str) -> None:
        self._add(node, *self._span(node), text)

    def _add(self, node: ast.AST, start: int, end: int, text: str) -> None:
        line = node.lineno  # type: ignore[attr-defined]
        begin = self._starts[line - 1]
        statement = self._lines[line - 1].strip()
        changed = self._source[begin:start] + text + self._source[end:]
        mutated = (
            changed.split("\n", 1)[0].strip() if self._source[begin:start].count("\n") == 0 else text
        )
        if mutated == statement:
            mutated = f"… {text}"
        function = ".".join((*self._classes, *self._functions)) if self._functions else ""
        alike = (function, statement, mutated)
        self._alike[alike] += 1
        last = self._statement.end_lineno if self._statement is not None else line
        self.mutants.append(
            Mutant(
                self._path,
                line,
                min(last or line, node.end_lineno or line),  # type: ignore[attr-defined]
                start,
                end,
                text,
                statement,
                mutated,
                function,
                self._alike[alike],
            )
        )
