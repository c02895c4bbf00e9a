"""`python -m longshore_study` runs `longshore`."""

import sys

from longshore_study.cli.command_line import main

sys.exit(main())
