"""All of the doctor's findings about a study on this machine."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
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
    with (
        ThreadPoolExecutor() as pool
    ):  # most of the time other programs and the disk are waited for
        said = pool.submit(slurm.ask)
        findings = [
            software.python(),
            software.packages(root / "requirements"),
            places.text(),
            places.writable([results, results.parent / ".snakemake", Path(tempfile.gettempdir())]),
            places.locks(results),
        ]
        profile = root / "slurm" / "config.yaml"
        try:
            study = load(configfile, overrides)
        except PoolbiasError as error:
            fix = "correct it; what else the study needs is then told"
            fault = Finding("study file", str(error), "one without mistakes", BAD, fix)
            return [*findings, slurm.tools(said.result(), profile), fault]
        found_java = pool.submit(software.find_java, data.has_bm25(study))
        jar = pool.submit(data.jar, study)
        sources = pool.submit(data.sources, study)
        models = data.models(study)
        findings.append(slurm.tools(said.result(), profile))
        if models.state != BAD:
            needed = data.bytes_needed(study, results, os.cpu_count() or 1)
            findings.append(places.disk(results, needed))
        return [
            *findings,
            found_java.result(),
            jar.result(),
            software.torch(study.device),
            software.gpu(study.device, slurm.gpus_of_nodes(said.result())),
            models,
            sources.result(),
        ]
