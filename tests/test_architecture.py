"""The house stands as designed: imports run downward, heavy packages stay where they belong, names collect nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import calibtest

ROOT = Path(calibtest.__file__).parent

# From the ground up; a module imports from lower floors only. Doors to the outside (io, data) stand beside the reports.
FLOORS = [
    {"errors"},
    {"parallel", "memory"},
    {"arrays"},
    {"stacks"},
    {"schemes"},
    {"kernels"},
    {"prepare"},
    {"forms"},
    {"metrics"},
    {"inference"},
    {"procedures"},
    {"report", "io", "data"},
    {"laws"},
    {"strategies"},
    {"cli"},
]
LEVEL = {name: level for level, floor in enumerate(FLOORS) for name in floor}

# a result knows how to show itself, and looks for the means only when it is asked
UPWARD_WHEN_CALLED = {("procedures", "report")}

ALLOWED = {
    "numba": {"kernels"},
    "matplotlib": {"report/draw.py"},
    "hypothesis": {"strategies.py"},
    "click": {"cli"},
    "rich": {"cli"},
    "torch": {"io"},
    "h5py": {"io"},
    "pyarrow": {"io"},
    "safetensors": set(),
}

# not loaded by importing the package or its command line
HEAVY = ("numba", "pandas", "scipy", "sklearn", "statsmodels", "matplotlib", "joblib", "hypothesis", "torch", "rich")


def modules() -> list[Path]:
    return sorted(ROOT.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[str, bool, int]]:
    """(imported module, whether on loading, line); imports for the type checker alone are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def visit(node: ast.AST, on_loading: bool) -> Iterator[tuple[str, bool, int]]:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            children: list[ast.AST] = list(node.orelse)
        else:
            children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, on_loading, node.lineno
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.module or "", on_loading, node.lineno
            if node.module == "calibtest":
                for alias in node.names:
                    yield f"calibtest.{alias.name}", on_loading, node.lineno
        inside = on_loading and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in children:
            yield from visit(child, inside)

    yield from visit(tree, True)


def floor_of(path: Path) -> str:
    relative = path.relative_to(ROOT)
    return relative.parts[0].removesuffix(".py")


def test_every_module_has_a_floor() -> None:
    assert {floor_of(path) for path in modules()} - {"__init__", "__main__"} == set(LEVEL)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_downward(path: Path) -> None:
    me = floor_of(path)
    if me in ("__init__", "__main__"):
        return
    for module, on_loading, line in imports(path):
        parts = module.split(".")
        if parts[0] != "calibtest" or len(parts) == 1 or parts[1] in (me, "__version__"):
            continue
        assert parts[1] in LEVEL, f"{path.name}:{line} imports {module}, which is on no floor"
        if (me, parts[1]) in UPWARD_WHEN_CALLED and not on_loading:
            continue
        assert LEVEL[parts[1]] < LEVEL[me], f"{path.relative_to(ROOT)}:{line} ({me}) imports {module} from above"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_packages_stay_where_they_belong(path: Path) -> None:
    relative = path.relative_to(ROOT)
    for module, _, line in imports(path):
        package = module.split(".")[0]
        if package in ALLOWED:
            places = ALLOWED[package]
            assert relative.parts[0] in places or relative.as_posix() in places, f"{relative}:{line} imports {package}"


def test_kernels_are_dumb() -> None:
    """No class with behaviour, no check, no randomness, no thread in compiled modules."""
    for path in (ROOT / "kernels").glob("*.py"):
        for module, _, line in imports(path):
            assert module.split(".")[0] not in ("random", "threading", "concurrent"), f"{path.name}:{line}"
        source = path.read_text(encoding="utf-8")
        for word in ("np.random", "fastmath", "prange", "parallel=True"):
            assert word not in source, f"{path.name} says {word}"


def test_names() -> None:
    for path in modules():
        assert path.name not in ("utils.py", "util.py", "core.py", "helpers.py", "misc.py", "common.py"), path
        assert not path.name.startswith("test_"), path
        assert not path.name.endswith("_test.py"), path


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_public_is_collected_by_pytest(path: Path) -> None:
    """A name that starts with test, imported into a user's test module, would run as a test."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in (*tree.body, *(member for found in classes for member in found.body)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assert not node.name.startswith(("test", "Test")), f"{path.name}:{node.lineno} defines {node.name}"


def test_public_names_exist_and_are_documented() -> None:
    for name in calibtest.__all__:
        assert not name.startswith(("test", "Test"))
        found = getattr(calibtest, name)
        if name != "__version__":
            assert found.__doc__, name
    assert set(calibtest.__all__) <= set(dir(calibtest))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_explain_themselves(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{path.name} has no docstring"


@pytest.mark.parametrize(
    "statement", ["import calibtest", "import calibtest.cli", "import calibtest.schemes, calibtest.stacks"]
)
def test_importing_loads_nothing_heavy(statement: str) -> None:
    program = f"{statement}; import sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_laws_do_without_hypothesis() -> None:
    program = "import calibtest.laws.metric_laws, calibtest.laws.pvalue_laws, sys; print('hypothesis' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
