"""Sources of data: one file each, found by name through `frostline.registry`."""
