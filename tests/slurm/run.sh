#!/usr/bin/env bash
# The tests of tests/slurm on clusters of their own, with accounting and without. Root only.
#   tests/slurm/run.sh [words for pytest]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cluster() { bash tests/slurm/cluster.sh "$@"; }

# All tests of a file run at the same time: most of it is waiting.
tests() { .venv/bin/python -m pytest "$1" -n "$2" --durations=0 "${@:3}"; }

trap 'cluster stop' EXIT
cluster start accounting
tests tests/slurm/test_slurm_accounting.py 2 "$@"
cluster start
tests tests/slurm/test_slurm_faults.py 6 "$@"
