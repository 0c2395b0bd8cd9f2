"""The publishers' real archives."""

import os
from pathlib import Path

import pytest

from frostline.dataset import KINDS

DATA = Path(os.environ.get("FROSTLINE_DATA") or Path(__file__).parents[3] / "shared" / "data")


@pytest.fixture
def real():
    """Reads the real archive of an adapter; its fields are of the kinds that the adapter says."""

    def read(adapter_class):
        path = DATA / adapter_class.ARCHIVE
        if not path.exists():
            message = f"{path} is not there; set FROSTLINE_DATA to the folder that holds it"
            pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)
        with open(path, "rb") as file:
            dataset = adapter_class().read({"archive": file}, {})
        for name, kind in adapter_class().kinds().items():
            assert dataset.items.schema.field(name).type == KINDS[kind]
        return dataset

    return read
