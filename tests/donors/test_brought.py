"""Donors of the user's own (C8): read whole, or refused with everything that is wrong with them."""

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

from frostline import fit_donor
from frostline.errors import FrostlineError

USERS, WARM, COLD = ["007", "7", "b"], ["i1", "i3", "i4"], ["i2"]


@pytest.fixture
def split(files):
    items = sorted(WARM + COLD)
    folds = ["test" if item in COLD else "warm" for item in items]
    files.put("items.parquet", pa.table({"item_id": items, "fold": folds}))
    files.put("queries.parquet", pa.table({"query": USERS}))
    train = {
        "query": pa.array([0, 1, 2], pa.int32()),
        "item": pa.array([0, 2, 3], pa.int32()),
        "weight": [1.0, 1.0, 1.0],
    }
    files.put("train.parquet", pa.table(train))
    return files


def pairs():
    return [[user, item, float(u * 10 + i)] for u, user in enumerate(USERS) for i, item in enumerate(WARM)]


def write(files, name, rows, columns):
    table = pa.table({column: pa.array([row[n] for row in rows]) for n, column in enumerate(columns)})
    (pq.write_table if name.endswith("parquet") else arrow_csv.write_csv)(table, files.path(name))


def fit(files, donor, paths, **options):
    known = {name: f"{name}.parquet" for name in ("train", "items", "queries")}
    inputs = known | {f"brought_{name}": path for name, path in paths.items()}
    files.run(fit_donor.run, inputs, {"donor": "donor.npz"}, donor=donor, options=options, seed=1)
    found = files.get("donor.npz")
    return found["left"] @ found["right"].T


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_C8_scores_in_any_order_become_the_donor(name, split):
    rows = pairs()
    np.random.default_rng(0).shuffle(rows)
    write(split, name, rows, ["who", "what", "score"])
    found = fit(split, "scores", {"scores": name}, path=name, columns={"user": "who", "item": "what"})
    np.testing.assert_array_equal(found, [[0, 1, 2], [10, 11, 12], [20, 21, 22]])


def broken(change):
    rows = pairs()
    change(rows)
    return rows


def cold(rows):
    rows += [["007", "i2", 0.5], ["b", "i2", 0.5]]


def unknown_user(rows):
    rows.append(["nobody", "i1", 0.5])


def unknown_item(rows):
    rows.append(["b", "i9", 0.5])


def repeated(rows):
    rows.append(["7", "i3", 0.5])


def missing(rows):
    del rows[3:8]


def not_a_number(rows):
    rows[4][2] = None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (cold, r"2 rows of cold items \(for example 'i2'; 'i2'\)"),
        (unknown_user, r"1 rows of unknown users \(for example 'nobody'\)"),
        (unknown_item, r"1 rows of unknown items \(for example 'i9'\)"),
        (repeated, r"1 repeated pairs \(for example row 11: user '7', item 'i3'\)"),
        (
            missing,
            r"5 pairs of a user and a warm item that are missing \(for example user '7', item 'i1'; .*; .*'i4'\)",
        ),
        (not_a_number, r"1 rows without a score \(for example row 6: user '7', item 'i3'\)"),
    ],
)
def test_C8_what_a_brought_donor_must_not_know_or_lacks_is_counted_and_shown(change, said, split):
    write(split, "scores.csv", broken(change), ["user", "item", "score"])
    with pytest.raises(FrostlineError, match=rf"scores\.csv: cannot be used as a donor: .*{said}.*\{{seed\}}"):
        fit(split, "scores", {"scores": "scores.csv"}, path="scores.csv")
    assert not (split.folder / "donor.npz").exists()


def test_C8_everything_is_said_at_once(split):
    def all_of_it(rows):
        for change in (cold, unknown_user, repeated):
            change(rows)

    write(split, "scores.csv", broken(all_of_it), ["user", "item", "score"])
    with pytest.raises(FrostlineError, match=r"unknown users.*cold items.*repeated pairs"):
        fit(split, "scores", {"scores": "scores.csv"}, path="scores.csv")


FACTORS = {"users": "users.csv", "items": "items.csv"}


def test_factors_are_multiplied_in_the_order_of_the_split(split):
    write(split, "users.csv", [["b", 5.0, 6.0], ["007", 1.0, 2.0], ["7", 3.0, 4.0]], ["user", "f1", "f2"])
    write(split, "items.csv", [[1.0, "i4", 0.0], [0.0, "i1", 1.0], [2.0, "i3", 2.0]], ["x", "item", "y"])
    found = fit(split, "factors", FACTORS, **FACTORS)
    np.testing.assert_array_equal(found, [[2, 6, 1], [4, 14, 3], [6, 22, 5]])


@pytest.mark.parametrize(
    ("users", "items", "said"),
    [
        ([], [["i2", 1.0]], r"items\.csv: .* 1 rows of cold items \(for example 'i2'\)"),
        ([], [["i3", 1.0]], r"items\.csv: .* 1 repeated items \(for example row 5: 'i3'\)"),
        ([["x", 1.0]], [], r"users\.csv: .* 1 rows of unknown users \(for example 'x'\)"),
    ],
)
def test_C8_factors_of_what_must_not_be_known_are_refused(users, items, said, split):
    write(split, "users.csv", [[user, 1.0] for user in USERS] + users, ["user", "f"])
    write(split, "items.csv", [[item, 1.0] for item in WARM] + items, ["item", "f"])
    with pytest.raises(FrostlineError, match=said):
        fit(split, "factors", FACTORS, **FACTORS)


def test_C8_factors_that_lack_a_warm_item_or_a_number_are_refused(split):
    write(split, "users.csv", [[user, 1.0] for user in USERS], ["user", "f"])
    write(split, "items.csv", [["i1", 1.0], ["i3", None]], ["item", "f"])
    said = r"1 rows with a missing factor \(for example row 3: 'i3'\), and 1 warm items that are missing .* 'i4'"
    with pytest.raises(FrostlineError, match=said):
        fit(split, "factors", FACTORS, **FACTORS)


def test_factors_of_different_number_are_refused(split):
    write(split, "users.csv", [[user, 1.0, 2.0] for user in USERS], ["user", "f", "g"])
    write(split, "items.csv", [[item, 1.0] for item in WARM], ["item", "f"])
    with pytest.raises(FrostlineError, match=r"users\.csv has 2 factors and .*items\.csv has 1"):
        fit(split, "factors", FACTORS, **FACTORS)
