"""The protocols, one file each; the interface is `frostline.protocol`."""
