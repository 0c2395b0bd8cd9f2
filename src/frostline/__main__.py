from frostline.cli import entry

entry()
