"""Pooling bias in the training of neural rankers: every formula and loop of the study.

Imports point downward only; `docs/architecture.md` lists the floors.
"""

import signal
import sys
from pathlib import Path

__version__ = "0.1.0"

# Importing torch takes seconds: a stage that is interrupted meanwhile ends without a traceback.
# A stage's own handler follows once it runs; other programs keep theirs.
_main = Path(getattr(sys.modules["__main__"], "__file__", None) or "").resolve()
if _main.parts[-3:-1] == ("workflow", "scripts"):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
