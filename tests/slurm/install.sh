#!/usr/bin/env bash
# Installs what tests/slurm needs beside the environment: Slurm, munge, and a database for accounting.
set -euo pipefail

for program in slurmctld slurmd squeue munged slurmdbd mariadbd; do
  if ! command -v "$program" >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      slurmctld slurmd slurm-client munge slurmdbd mariadb-server
    break
  fi
done
