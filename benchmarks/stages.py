"""Where a study's time went: Snakemake's benchmark files, summed by rule."""

from pathlib import Path

import pandas as pd

from poolbias.errors import DataError
from poolbias.formats.tsv import read_table

COLUMNS = ["rule", "jobs", "seconds", "cpu_seconds", "unknown"]


def stages(folder: Path) -> pd.DataFrame:
    """Return the jobs of each rule and their seconds, the costliest first.

    Args:
        folder: `results/benchmarks`, with `<rule>/….tsv`; each row is a job.

    Returns:
        Columns rule, jobs, seconds (wall, summed over jobs), cpu_seconds, and unknown (jobs that
        were too short for Snakemake to know their CPU time, counted as 0).

    Raises:
        DataError: if there is no such file.
    """
    paths = sorted(folder.glob("*/**/*.tsv"))
    if not paths:
        raise DataError(f"{folder}: holds no benchmark files; give results/benchmarks of a study.")
    rows = []
    for path in paths:
        frame = read_table(path, ["s", "cpu_time"])
        wall, cpu = (pd.to_numeric(frame[name], errors="coerce") for name in ("s", "cpu_time"))
        unknown = int(cpu.isna().sum())
        rule = path.relative_to(folder).parts[0]
        rows.append((rule, len(frame), float(wall.sum()), float(cpu.sum()), unknown))
    table = pd.DataFrame(rows, columns=COLUMNS).groupby("rule", as_index=False).sum()
    return table.sort_values(["cpu_seconds", "rule"], ascending=[False, True], ignore_index=True)


def page(table: pd.DataFrame) -> str:
    """Return the table of `stages` as Markdown, with its total."""
    total = float(table["cpu_seconds"].sum())
    lines = ["| stage | jobs | seconds | CPU seconds | share of CPU |", "|---|--:|--:|--:|--:|"]
    for row in table.to_dict("records"):
        share = row["cpu_seconds"] / total if total else 0.0
        wall, cpu = f"{row['seconds']:.0f}", f"{row['cpu_seconds']:.0f}"
        lines.append(f"| `{row['rule']}` | {row['jobs']} | {wall} | {cpu} | {share:.1%} |")
    jobs, seconds = int(table["jobs"].sum()), float(table["seconds"].sum())
    lines.append(f"| all | {jobs} | {seconds:.0f} | {total:.0f} | |")
    unknown = int(table["unknown"].sum())
    if unknown:
        lines += ["", f"{unknown} jobs were too short to be timed and count as 0."]
    return "\n".join(lines) + "\n"
