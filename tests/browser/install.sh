#!/usr/bin/env bash
# What the browser test needs beside `make environment`: Chromium and a font from Debian (as root),
# and axe-core into .venv. A package that cannot be had is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v chromium > /dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
fi
.venv/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps \
  -r requirements/browser.lock
