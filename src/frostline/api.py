"""What a donor or a method is, what it is given and what it returns.

A donor is trained on warm interactions. A method scores cold items; most are linear mixes of a donor's warm scores: for
a mixing matrix M [cold × warm], `S_cold = S_warm Mᵀ`, and with a bilinear donor, `S_warm = U Vᵀ`, that is `U (M V)ᵀ`:
the item side is mixed once and the users × warm matrix is never built.

Donors and methods are frozen dataclasses whose fields are their parameters. They get arrays, never paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from frostline.errors import FrostlineError

BLOCK = 4096
"""Queries scored at a time. Fixed for all runs, because the last bits of a matrix product depend on its shape."""


@dataclass(frozen=True)
class Content:
    """Features of items, every one fitted on warm items only.

    Attributes
    ----------
    matrix : csr_array of float32, shape (n_items, n_features)
    fields, kinds : tuple of str
        Names of the content fields and their kinds (`categories`, `number`, `text`).
    starts : ndarray of int, shape (n_fields + 1,)
        Field f owns the columns `starts[f]` to `starts[f + 1]`.
    """

    matrix: csr_array
    fields: tuple[str, ...]
    kinds: tuple[str, ...]
    starts: np.ndarray

    def of_kind(self, kind: str) -> csr_array:
        """Columns of all fields of one kind."""
        spans = [
            np.arange(self.starts[f], self.starts[f + 1]) for f in range(len(self.fields)) if self.kinds[f] == kind
        ]
        return self.matrix[:, np.concatenate([*spans, np.empty(0, np.int64)])]

    def take(self, rows: np.ndarray) -> Content:
        """The same features of some of the items."""
        return Content(self.matrix[rows], self.fields, self.kinds, self.starts)

    def to_arrays(self) -> dict[str, Any]:
        """Arrays by name, for `Job.write_arrays`; `from_arrays` is the way back."""
        return {
            "matrix": self.matrix,
            "fields": np.array(self.fields),
            "kinds": np.array(self.kinds),
            "starts": self.starts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any]) -> Content:
        return cls(
            arrays["matrix"], tuple(arrays["fields"].tolist()), tuple(arrays["kinds"].tolist()), arrays["starts"]
        )


def binary(train: csr_array) -> csr_array:
    """Ones where the matrix has an entry, float32."""
    return csr_array((np.ones(len(train.data), np.float32), train.indices, train.indptr), shape=train.shape)


class Scores(Protocol):
    """Anything that can produce the scores of a block of queries."""

    def block(self, start: int, stop: int) -> np.ndarray:
        """Scores of the queries `start:stop`, float32, shape (stop − start, n_candidates)."""


@dataclass(frozen=True)
class Bilinear:
    """Scores `left @ right.T`.

    Attributes
    ----------
    left : ndarray or csr_array of float32, shape (n_queries, d)
    right : ndarray of float32, shape (n_items, d)
    """

    left: np.ndarray | csr_array
    right: np.ndarray

    def block(self, start: int, stop: int) -> np.ndarray:
        return np.asarray(self.left[start:stop] @ self.right.T, dtype=np.float32)

    def plus_items(self, offset: np.ndarray) -> Bilinear:
        """The same scores plus a number for each item, `offset` of shape (n_items,)."""
        ones = np.ones((self.left.shape[0], 1), np.float32)
        left = hstack([self.left, ones], format="csr") if issparse(self.left) else np.hstack([self.left, ones])
        return Bilinear(left, np.column_stack([self.right, offset]).astype(np.float32))


@dataclass(frozen=True)
class Warm:
    """What a method may learn from. A field that the method does not name in `needs` is None.

    Attributes
    ----------
    n_queries : int
    seed : int
        Of the experiment; spawn streams from it with `frostline.seeds.generator(seed, name)`.
    train : csr_array of float32, shape (n_queries, n_warm)
        Weights of the training interactions.
    content : Content
        Of the warm items.
    donor : Bilinear
        Left the queries, right the warm items.
    """

    n_queries: int
    seed: int
    train: csr_array | None = None
    content: Content | None = None
    donor: Bilinear | None = None


class Donor:
    """Base of donors: a recommender trained on warm interactions.

    Class attributes
    ----------------
    needs_content : bool
        Whether `fit` gets the content of the warm items as well, by the keyword `content`.
    has_factors : bool
        Whether the item side of the model are vectors that say what an item is like, and not just a form of its scores.
    """

    needs_content: ClassVar[bool] = False
    has_factors: ClassVar[bool] = True

    def fit(self, train: csr_array, seed: int) -> Bilinear:
        """Train on the weights of the warm interactions, float32, shape (n_queries, n_warm)."""
        raise NotImplementedError

    def refuse_many_items(self, n_items: int, most: int) -> None:
        """FrostlineError where a dense item–item matrix would be larger than the user allows."""
        if n_items > most:
            raise FrostlineError(
                f"donor {type(self).__name__} needs a dense matrix over {n_items} warm items, more than max_items: {most}. "
                "Raise max_items if the memory is there, or use a donor with factors such as als"
            )


def of_scores(scores: np.ndarray) -> Bilinear:
    """A donor known by its scores alone, float32, shape (n_queries, n_warm): each item stands for itself.

    What mixes or regresses the item side then mixes or regresses the scores.
    """
    return Bilinear(scores, np.eye(scores.shape[1], dtype=np.float32))


class Method:
    """Base of methods: how cold items are scored.

    Class attributes
    ----------------
    needs : tuple of {'train', 'content', 'donor'}
        What the method learns from. They become inputs of its jobs, and nothing else does.
    content_kind : str or None
        A kind of content field that the method cannot do without.
    needs_factors : bool
        Whether the donor's item side must be vectors of their own (`Donor.has_factors`).
    by_content : bool
        Whether items of equal content get equal scores. They are then scored once, because two equal columns of a
        matrix product may still differ in the last bit, and that would break a tie.
    """

    needs: ClassVar[tuple[str, ...]] = ("content",)
    content_kind: ClassVar[str | None] = None
    needs_factors: ClassVar[bool] = False
    by_content: ClassVar[bool] = True

    def fit(self, warm: Warm) -> Mapping[str, Any]:
        """Learn a model (arrays and CSR matrices by name). A method without its own `fit` has no model and no fit job."""
        return {}

    def score(self, model: Mapping[str, Any], warm: Warm, cold: Content) -> Scores:
        """Score every cold item of `cold` for every query."""
        raise NotImplementedError

    @classmethod
    def is_fitted(cls) -> bool:
        return cls.fit is not Method.fit
