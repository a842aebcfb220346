# SPDX-License-Identifier: GPL-2.0-only
"""scripts/check."""

import os
import sys
from pathlib import Path

from .main import main

# It is for this program only.
os.environ.pop("PYTHONPATH", None)
sys.exit(main(Path(__file__).resolve().parents[2], sys.argv[1:]))
