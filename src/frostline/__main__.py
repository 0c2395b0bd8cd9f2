import sys

from frostline.cli import main

sys.exit(main())
