import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "unit"))  # sample_study


def pytest_addoption(parser):
    parser.addoption(
        "--report",
        type=lambda text: Path(text).resolve(),
        help="report to look at (default: that of a made-up study)",
    )
    parser.addoption(
        "--screenshots",
        type=lambda text: Path(text).resolve(),
        help="folder that gets a picture of each view",
    )
