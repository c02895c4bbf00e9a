"""`python -m longshore_study` is `longshore`."""

import sys

from longshore_study.cli import main

sys.exit(main())
