"""Small changes to Python source that a test should notice."""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

SWAPPED: dict[type[ast.AST], type[Any]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
LOGS = ("log", "logger", "logging", "warnings")


@dataclass(frozen=True)
class Mutation:
    """A replacement of the bytes from `start` to `end` of a file."""

    file: str
    line: int
    start: int
    end: int
    replacement: str

    def apply(self, source: bytes) -> bytes:
        """Return the mutated source."""
        return source[: self.start] + self.replacement.encode() + source[self.end :]

    def changed_lines(self, source: bytes) -> tuple[str, str]:
        """Return the changed lines before and after, without the indentation of the first."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end) % (len(source) + 1)
        after = source[first : self.start] + self.replacement.encode() + source[self.end : last]
        return source[first:last].decode().strip(), after.decode().strip()


def mutations_of(file: str, source: bytes) -> list[Mutation]:
    """Return all mutations of a file in order."""
    offsets = [0]
    for line in source.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    return [
        Mutation(
            file,
            node.lineno,
            offsets[node.lineno - 1] + node.col_offset,
            offsets[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0),
            replacement,
        )
        for node in mutable_nodes(ast.parse(source))
        for replacement in replacements(node)
    ]


def mutable_nodes(parent: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield statements and expressions in order, without those whose change no test can or should notice."""
    for name, value in ast.iter_fields(parent):
        # Annotations are checked by mypy. Python 3.11 does not know the positions of parts of f-strings.
        if name in ("annotation", "returns", "type_params"):
            continue
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.Assert | ast.JoinedStr) or is_log(node):
                continue
            if isinstance(parent, ast.Module) and (is_table(node) or is_special_block(node)):
                continue
            if isinstance(node, ast.expr | ast.stmt):
                yield node
            yield from mutable_nodes(node)


def is_log(node: ast.AST) -> bool:
    """Return True for a call that only writes to a log."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    function = node.value.func
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id in LOGS


def is_table(node: ast.AST) -> bool:
    """Return True for a constant of a module. A test could only repeat its value."""
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    return ast.unparse(target).isupper()


def is_special_block(node: ast.AST) -> bool:
    """Return True for `if TYPE_CHECKING` and `if __name__ == "__main__"`."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'")


def replacements(node: ast.AST) -> Iterator[str]:
    """Yield what a node is replaced with."""
    match node:
        case ast.Compare(left, operators, right):
            for place, operator in enumerate(operators):
                swapped = [*operators[:place], SWAPPED[type(operator)](), *operators[place + 1 :]]
                yield ast.unparse(ast.Compare(left, swapped, right))
        case ast.BoolOp() | ast.BinOp() | ast.AugAssign() if type(node.op) in SWAPPED:
            changed = copy(node)
            changed.op = SWAPPED[type(node.op)]()
            yield ast.unparse(changed)
        case ast.UnaryOp(ast.Not(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(bool() as value):
            yield str(not value)
        case ast.Constant(int() | float() as value):
            yield str(value + 1)
        # A constant has its own mutation, and functions for a truth may return either False or None.
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return None"
        case ast.Expr(ast.Call() | ast.Await(ast.Call())):
            yield "pass"
