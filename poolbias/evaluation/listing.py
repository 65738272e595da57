"""Lists of measured systems in little room, since a command line has an end.

A study has a file per row, seed and judgements. What they share is told once: a row for all its
seeds, and paths as templates with the row's experiment and seed left out.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_OWN = ("seed", "judgements", "path")


def pack(systems: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return systems as `{"templates": [...], "rows": [...]}`, for `unpack`.

    Args:
        systems: dictionaries with `experiment`, `seed`, `judgements` and `path`, and others.
    """
    templates: dict[str, int] = {}
    rows: dict[tuple[tuple[str, Any], ...], dict[str, list[list[int]]]] = {}
    for system in systems:
        key = tuple((name, value) for name, value in system.items() if name not in _OWN)
        path = system["path"].replace(f"/{system['experiment']}/", "/<experiment>/", 1)
        path = path.replace(f"/seed-{system['seed']}/", "/seed-<seed>/", 1)
        number = templates.setdefault(path, len(templates))
        files = rows.setdefault(key, {}).setdefault(system["judgements"], [])
        files.append([number, system["seed"]])
    return {
        "templates": list(templates),
        "rows": [dict(key) | {"files": files} for key, files in rows.items()],
    }


def unpack(packed: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the systems that `pack` got, row by row, judgements by judgements."""
    systems = []
    for row in packed["rows"]:
        shared = {name: value for name, value in row.items() if name != "files"}
        for judgements, files in row["files"].items():
            for number, seed in files:
                template = packed["templates"][number]
                path = template.replace("<experiment>", shared["experiment"])
                path = path.replace("<seed>", str(seed))
                own = {"seed": seed, "judgements": judgements, "path": path}
                systems.append(shared | own)
    return systems
