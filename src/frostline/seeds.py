"""Random streams: one a stage and purpose, so that adding a method changes no other method's numbers."""

from __future__ import annotations

import zlib

import numpy as np


def sequence(seed: int, *purpose: str | int) -> np.random.SeedSequence:
    """Spawn the seed sequence of a purpose from the experiment's seed.

    Text is keyed by its CRC-32, which, unlike `hash`, is the same in every process.
    """
    key = [part if isinstance(part, int) else zlib.crc32(part.encode()) for part in purpose]
    return np.random.SeedSequence(seed, spawn_key=key)


def restarted(seed: int, restart: int) -> int:
    """The seed of another random start; 0 is the seed itself."""
    return int(sequence(seed, "restart", restart).generate_state(1)[0]) if restart else seed


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """A generator over the stream that `sequence` names."""
    return np.random.Generator(np.random.PCG64(sequence(seed, *purpose)))
