"""All of the doctor's findings about a study on this machine."""

import os
import tempfile
from pathlib import Path
from typing import Any

from poolbias.config.load import load
from poolbias.doctor import data, places, slurm, software
from poolbias.doctor.finding import BAD, Finding
from poolbias.errors import PoolbiasError


def examine(
    root: Path, configfile: Path, results: Path, overrides: dict[str, Any] | None = None
) -> list[Finding]:
    """Return what was found about a study on this machine, a finding per subject.

    Args:
        root: the repository's folder.
        configfile: the study file.
        results: the folder of results.
        overrides: keys that win over those of the study file.
    """
    findings = [
        software.python(),
        software.packages(root / "requirements"),
        places.text(),
        places.writable([results, results.parent / ".snakemake", Path(tempfile.gettempdir())]),
        places.locks(results),
    ]
    said = slurm.ask()
    findings.append(slurm.tools(said, root / "slurm" / "config.yaml"))
    try:
        study = load(configfile, overrides)
    except PoolbiasError as error:
        fix = "correct it; what else the study needs is then told"
        return [*findings, Finding("study file", str(error), "one without mistakes", BAD, fix)]
    models = data.models(study)
    if models.state != BAD:
        needed = data.bytes_needed(study, results, os.cpu_count() or 1)
        findings.append(places.disk(results, needed))
    return [
        *findings,
        software.find_java(data.has_bm25(study)),
        data.jar(study),
        software.torch(study.device),
        software.gpu(study.device, slurm.gpus_of_nodes(said)),
        models,
        data.sources(study),
    ]
