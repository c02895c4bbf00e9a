"""`python -m longshore_study` is `longshore`."""

import sys

from longshore_study.cli.command_line import main

sys.exit(main())
