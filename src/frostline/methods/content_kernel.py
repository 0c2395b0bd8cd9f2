"""Kernel ridge regression from content straight to the users' interactions, without a donor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from frostline.api import Bilinear, Warm, binary
from frostline.methods.kernel_map import KernelMap


@dataclass(frozen=True)
class ContentKernel(KernelMap):
    """`kernel_map` of what users took: an item that a user took scores 1 for him, any other 0."""

    alpha: float = 16.0

    needs = ("train", "content")

    def learned(self, warm: Warm) -> Bilinear:
        return Bilinear(binary(warm.train), np.eye(warm.train.shape[1], dtype=np.float32))
