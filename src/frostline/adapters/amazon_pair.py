"""Two domains of Amazon reviews as merged sequences: lines `user item|time item|time …` and a map of the items' domains."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

import numpy as np
import pyarrow as pa

from frostline.archive import REMEDY, member_of, opened
from frostline.card import Card, unexpected
from frostline.dataset import Adapter, DataFile, Dataset
from frostline.errors import InputError


@dataclass(frozen=True)
class AmazonPair(Adapter):
    """Field `domain`. Times are whole days; events of one day stand in the order of the file.

    Parameters
    ----------
    path : str, optional
        The zip file.
    """

    path: str | None = None

    ARCHIVE: ClassVar[str]
    FOLDER: ClassVar[str]
    DOMAINS: ClassVar[tuple[str, str]]

    def kinds(self) -> Mapping[str, str]:
        return {"domain": "categories"}

    def files(self) -> Mapping[str, DataFile]:
        return {"archive": DataFile(self.path, self.ARCHIVE, self.CARD.source, licence=self.CARD.licence)}

    def read(self, files: Mapping[str, BinaryIO], content: Mapping[str, Mapping[str, str]]) -> Dataset:
        """Read both files.

        Raises
        ------
        InputError
            When the file is no zip, a member is missing, or a line or an entry of the map is not as it should be.
        """
        name = self.path or self.ARCHIVE
        with opened(files["archive"], name) as archive:
            lines, items = (
                member_of(archive, f"{self.FOLDER}_50_preprocessed.txt", name),
                member_of(archive, "map_item_50.txt", name),
            )
        domain_of = self._domains(items, f"{name}:map_item_50.txt")
        where = f"{name}:{self.FOLDER}_50_preprocessed.txt"
        users, of_user, item, time, row = [], [], [], [], []
        for number, line in enumerate(lines.decode("utf-8", "replace").splitlines(), 1):
            user, *events = line.split()
            try:
                pairs = [(code, int(at)) for code, at in (event.split("|") for event in events)]
            except ValueError as error:
                raise InputError(f"is not 'user item|time …': {line[:60]!r}", REMEDY, file=where, row=number) from error
            unknown = next((code for code, _ in pairs if code not in domain_of), None)
            if unknown is not None:
                raise InputError(f"item {unknown!r} is not in the map of items", REMEDY, file=where, row=number)
            users.append(user)
            of_user += [len(users) - 1] * len(pairs)
            item += [code for code, _ in pairs]
            time += [at for _, at in pairs]
            row += [number] * len(pairs)
        interactions = pa.table({
            "user": pa.array(users).take(pa.array(of_user, pa.int64())),
            "item": pa.array(item),
            "time": pa.array(time, pa.int64()),
            "row": pa.array(row, pa.int64()),
        })  # fmt: skip
        seen = set(item)
        per_domain = np.bincount([domain_of[code] for code in seen], minlength=2)
        found = {"users": len(users), "events": len(item)}
        found |= {f"{title} items": int(n) for title, n in zip(self.DOMAINS, per_domain, strict=True)}
        ids = sorted(domain_of)
        return Dataset(
            interactions=interactions,
            items=pa.table(
                {
                    "item_id": pa.array(ids),
                    "domain": pa.array([[self.DOMAINS[domain_of[code]]] for code in ids], pa.list_(pa.string())),
                    "row": pa.array(np.ones(len(ids), np.int64)),
                }
            ),
            sources={"interactions": where, "items": f"{name}:map_item_50.txt"},
            notes=unexpected(name, found, self.CARD.expected),
        )

    def _domains(self, data: bytes, where: str) -> dict[str, int]:
        """The domain, 0 or 1, of each item by its number."""
        try:
            return {str(int(number)): (0, 1).index(domain) for number, domain in json.loads(data).values()}
        except (ValueError, TypeError, AttributeError) as error:
            raise InputError('is not JSON of {"id": [number, domain]}, domain 0 or 1', REMEDY, file=where) from error


def _card(domains: str, expected: Mapping[str, int]) -> Card:
    return Card(
        title=f"Amazon reviews of {domains}, merged sequences of users of both",
        source="the data of cross-domain sequential recommendation, made of https://jmcauley.ucsd.edu/data/amazon "
        "(J. McAuley and others, 2014 and 2018)",
        licence="research use",
        interaction="a review; its time is a whole day",
        checked="counts against the real file. Filtered by its authors over the whole period",
        expected=expected,
    )


class AmazonBeautyElectronics(AmazonPair):
    """Beauty and Electronics."""

    ARCHIVE, FOLDER, DOMAINS = "amazon-beauty-electronics.zip", "abe", ("beauty", "electronics")
    CARD = _card(
        "Beauty and Electronics",
        {"users": 4_474, "events": 114_129, "beauty items": 10_379, "electronics items": 14_188},
    )


class AmazonFoodKitchen(AmazonPair):
    """Food and Kitchen."""

    ARCHIVE, FOLDER, DOMAINS = "amazon-food-kitchen.zip", "afk", ("food", "kitchen")
    CARD = _card("Food and Kitchen", {"users": 7_144, "events": 173_548, "food items": 11_837, "kitchen items": 16_258})
