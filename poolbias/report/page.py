"""The report as one page of HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
import yaml
from markupsafe import Markup

from poolbias.claims.render import counts
from poolbias.claims.verdict import VERDICTS
from poolbias.files import read_json
from poolbias.formats.tsv import read_table
from poolbias.report import markdown, shown, verdicts
from poolbias.report.cells import Cell, Table, wide
from poolbias.report.witnesses import Link, Witnesses, relative

TEMPLATES = Path(__file__).parent / "templates"
_SUMMARY = ["experiment", "collection", "pool", "retriever", "method", "ranker", "judgements"]


@dataclass(frozen=True)
class Contents:
    """What the report is made from.

    Attributes:
        study: name of the study.
        settings: the study file's values.
        systems: what was measured, as `poolbias.evaluation.listing.unpack` returns it.
        marks: what names of files of measures, and of counts, end in before `.tsv`.
        claims: `claims.tsv`.
        summary: `metrics.tsv`, what `summarise_metrics` wrote.
        drawings: SVG files of the figures.
        figures: the tables behind the figures, in the same order.
        tables: files of tables' numbers.
        manifests: of what the page shows.
        differences: `docs/differences.md`.
    """

    study: str
    settings: Mapping[str, Any]
    systems: Sequence[Mapping[str, Any]]
    marks: tuple[str, str]
    claims: Path
    summary: Path
    drawings: Sequence[Path]
    figures: Sequence[Path]
    tables: Sequence[Path]
    manifests: Sequence[Path]
    differences: Path


def build(contents: Contents, page: Path) -> str:
    """Return the report as HTML: no file but itself, links relative to `page`.

    Raises:
        DataError: if a file cannot be read.
    """
    witnesses = Witnesses(contents.systems, page, contents.marks)
    claims = verdicts.read_types(read_table(contents.claims, ["claim", "verdict", "sources"]))
    summary = read_table(contents.summary, [*_SUMMARY, "measure", "mean", "low", "high"])
    name = contents.study
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            study=name,
            total=counts(claims).sum().to_dict(),
            verdicts=VERDICTS,
            style=verdicts.style,
            seeds=contents.settings["seeds"],
            overview=verdicts.overview(claims),
            claims=verdicts.claims(claims, witnesses),
            claims_links=_links(witnesses, contents.claims, name),
            figures=[
                shown.figure(svg, data, witnesses, name)
                for svg, data in zip(contents.drawings, contents.figures, strict=True)
            ],
            tables=[shown.table(path, witnesses, name) for path in contents.tables],
            forms=_forms(summary, witnesses),
            differences=_differences(contents.differences),
            settings=_settings(contents.settings),
            measures=wide("measures", "All systems by all measures", summary, witnesses),
            systems=list(witnesses.systems.values()),
            made=_made(contents.manifests, page),
            versions=_versions(contents.manifests),
        )
    )


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for part in ("style.css", "sort.js"):
        text = (TEMPLATES / part).read_text(encoding="utf-8")
        environment.globals[part.replace(".", "_")] = Markup(text)
    return environment


def _forms(summary: pd.DataFrame, witnesses: Witnesses) -> Table | None:
    """Return the systems of CET in both forms, or None if the study has none."""
    coupled = summary[summary["method"].str.match(r"cet-(paper|released)")]
    if coupled.empty:
        return None
    return wide(
        "forms", "CET in the paper's form and in that of the released code", coupled, witnesses
    )


def _differences(path: Path) -> Markup:
    return markdown.to_html(path.read_text(encoding="utf-8"), "differences", level=3)


def _settings(settings: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(dict(settings), sort_keys=False, allow_unicode=True, width=90))


def _links(witnesses: Witnesses, path: Path, study: str) -> list[Link]:
    found = [
        link
        for ending in ("tsv", "md", "manifest.json")
        for link in witnesses.link(ending, path.with_name(f"{path.stem}.{ending}"))
    ]
    return [*found, *witnesses.link("log", f"results/logs/{path.stem}/{study}.log")]


def _made(manifests: Sequence[Path], page: Path) -> Table:
    headings = ["result", "stage", "commit", "parameters", "hardware", "seconds"]
    table = Table("made", "What made the results of this page", headings)
    for path in manifests:
        told = read_json(path)
        name = path.name.removesuffix(".manifest.json")
        texts = [told["stage"], told["commit"][:12], told["parameters_hash"], told["hardware"]]
        cells = [Cell(str(text), key=str(text).lower()) for text in texts]
        seconds = Cell(str(told["wall_seconds"]), key=str(told["wall_seconds"]), kind="number")
        table.rows.append([Cell(name, relative(path, page), name), *cells, seconds])
    return table


def _versions(manifests: Sequence[Path]) -> str:
    found: dict[str, str] = {}
    for path in manifests:
        found |= read_json(path)["versions"]
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
