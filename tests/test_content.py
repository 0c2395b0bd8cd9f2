"""Row C4: features are fitted on warm items only, so that a cold item's content changes that item's row alone."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from frostline import content
from frostline.api import Content
from frostline.encoding import BUMPS, encode_categories, encode_number, encode_text

OUTPUTS = ["warm.npz", "val.npz", "test.npz", "vocabulary.json"]
FIELDS = {"tags": {"as": "categories"}, "price": {"as": "number"}, "title": {"as": "text"}}
TYPES = {"tags": pa.list_(pa.string()), "price": pa.float64(), "title": pa.string()}
WORDS = ["red", "blue", "green", "old", "new", "small", "house", "boat", "sun"]

tags = st.none() | st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=3, unique=True).map(sorted)
prices = st.none() | st.floats(-1e6, 1e6) | st.just(float("nan"))
titles = st.none() | st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
item = st.fixed_dictionaries({"tags": tags, "price": prices, "title": titles})
never_seen = st.fixed_dictionaries({
    "tags": st.just(["a", "unseen"]),
    "price": st.sampled_from([1e300, -1e300, 5.0]),
    "title": st.just("unseen words red red unseen words"),
})  # fmt: skip


def run(files, items, fold, order=None, fields=FIELDS):
    """Run the stage; `order` is the catalogue's own order of its rows."""
    ids = [f"i{n:02}" for n in range(len(items))]
    catalogue = {"item_id": ids} | {name: pa.array([row[name] for row in items], TYPES[name]) for name in FIELDS}
    catalogue = pa.table(catalogue)
    files.put("catalogue.parquet", catalogue.take(order) if order is not None else catalogue)
    files.put("items.parquet", pa.table({"item_id": ids, "fold": fold}))
    files.run(content.run, ["catalogue.parquet", "items.parquet"], OUTPUTS, content=fields)
    return {name: Content.from_arrays(files.get(f"{name}.npz")) for name in ("warm", "val", "test")}


def row_bytes(features, row):
    span = slice(*features.matrix.indptr[row : row + 2])
    return features.matrix.indices[span].tobytes(), features.matrix.data[span].tobytes()


@settings(max_examples=25)
@given(st.lists(item, min_size=4, max_size=14), st.data())
def test_C4_a_cold_items_content_changes_its_own_row_and_nothing_else(folder, items, data):
    folds = st.lists(st.sampled_from(["warm", "val", "test"]), min_size=len(items) - 4, max_size=len(items) - 4)
    fold = ["warm", "val", "test", "warm", *data.draw(folds)]
    changed = data.draw(st.sampled_from([n for n, name in enumerate(fold) if name != "warm"]))
    files, other = folder(), folder()
    before = run(files, items, fold)
    after = run(other, [*items[:changed], data.draw(never_seen | item), *items[changed + 1 :]], fold)
    assert files.bytes("warm.npz", "vocabulary.json") == other.bytes("warm.npz", "vocabulary.json")
    for name in ("val", "test"):
        members = [n for n, of in enumerate(fold) if of == name]
        for row, n in enumerate(members):
            assert n == changed or row_bytes(before[name], row) == row_bytes(after[name], row)


def test_C4_what_changes_does_reach_the_changed_row(files):
    items = [{"tags": ["a"], "price": float(n), "title": "red boat"} for n in range(6)]
    fold = ["warm"] * 4 + ["val", "test"]
    before = run(files, items, fold)["test"].matrix.toarray()
    for name, value in (("tags", []), ("price", 0.0), ("title", "boat")):
        after = run(files, [*items[:5], items[5] | {name: value}], fold)["test"].matrix.toarray()
        assert (after != before).any()


@pytest.mark.parametrize("seed", range(2))
def test_C10_rows_follow_the_split_whatever_the_order_of_the_catalogue(seed, folder):
    rng = np.random.default_rng(seed)
    items = [{"tags": [str(n % 3)], "price": float(n), "title": " ".join(rng.choice(WORDS, 3))} for n in range(12)]
    fold = rng.permutation(["warm"] * 8 + ["val"] * 2 + ["test"] * 2).tolist()
    files, shuffled = folder(), folder()
    run(files, items, fold)
    run(shuffled, items, fold, order=rng.permutation(12))
    assert files.bytes(*OUTPUTS) == shuffled.bytes(*OUTPUTS)


def test_fields_own_their_columns_and_kinds_find_them(files):
    items = [{"tags": ["a", "b"][: n % 3], "price": float(n), "title": "red boat"} for n in range(6)]
    found = run(files, items, ["warm"] * 4 + ["val", "test"])
    assert found["warm"].fields == ("tags", "price", "title") and found["warm"].kinds == (
        "categories",
        "number",
        "text",
    )
    assert found["warm"].starts.tolist() == [0, 2, 2 + sum(BUMPS), 2 + sum(BUMPS) + 3]
    assert files.get("vocabulary.json")["tags"] == ["a", "b"]
    assert files.get("vocabulary.json")["title"] == ["boat", "red", "red boat"]
    for features, rows in ((found["warm"], range(4)), (found["val"], [4]), (found["test"], [5])):
        matrix = features.matrix.toarray()
        assert matrix.dtype == np.float32 and matrix.shape == (len(rows), 5 + sum(BUMPS))
        assert (features.of_kind("categories").toarray() == matrix[:, :2]).all()
        assert (features.of_kind("text").toarray() == matrix[:, 2 + sum(BUMPS) :]).all()
        assert matrix[:, 0].tolist() == [float(n % 3 > 0) for n in rows]
    assert (
        found["warm"].take(np.array([3, 1])).matrix.toarray().tolist()
        == found["warm"].matrix.toarray()[[3, 1]].tolist()
    )


def test_of_kind_joins_all_fields_of_a_kind_and_may_be_empty():
    matrix = csr_array(np.arange(8.0).reshape(2, 4))
    features = Content(matrix, ("a", "n", "b"), ("text", "number", "text"), np.array([0, 1, 2, 4]))
    assert features.of_kind("text").toarray().tolist() == [[0, 2, 3], [4, 6, 7]]
    assert features.of_kind("categories").shape == (2, 0)


WARM = np.array([True, True, True, False, False])


def test_C4_a_category_that_only_cold_items_have_has_no_column():
    values = pa.array([["b", "a"], None, ["b"], ["c", "a"], ["c"]], TYPES["tags"])
    matrix, names = encode_categories(values, WARM)
    assert names == ["a", "b"]
    assert matrix.toarray().tolist() == [[1, 1], [0, 0], [0, 1], [1, 0], [0, 0]]


@given(st.lists(st.tuples(tags, st.booleans()), min_size=1, max_size=12))
def test_C4_categories_are_those_of_warm_items(rows):
    values, warm = zip(*rows, strict=True)
    matrix, names = encode_categories(pa.array(values, TYPES["tags"]), np.array(warm))
    assert names == sorted({name for value, of_warm in rows if of_warm for name in value or []})
    expected = [[float(name in (value or [])) for name in names] for value in values]
    assert matrix.toarray().tolist() == expected and matrix.dtype == np.float32


def bumps(position):
    return [np.exp(-0.5 * ((position - j / (n - 1)) * (n - 1)) ** 2) for n in BUMPS for j in range(n)]


def test_a_number_is_a_set_of_bumps_around_its_quantile():
    warm = np.array([True] * 4 + [False] * 6)
    values = pa.array([10.0, 20, 20, 40, 15, 20, 40, 1e9, -5, None])
    matrix, names = encode_number(values, warm)
    # Mid-rank quantiles of the warm 10, 20, 20, 40: one eighth, a half, seven eighths; between them a straight line.
    positions = [1 / 8, 1 / 2, 1 / 2, 7 / 8, 5 / 16, 1 / 2, 7 / 8, 7 / 8, 1 / 8]
    expected = [bumps(position) for position in positions]
    np.testing.assert_allclose(matrix.toarray()[:9], expected, rtol=1e-5, atol=1e-12)
    assert matrix[[9]].nnz == 0 and (names[0], names[-1], len(names)) == ("10", "40", sum(BUMPS))


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=20),
    st.lists(st.floats(allow_nan=True, allow_infinity=True) | st.none(), max_size=20),
)
def test_C4_number_positions_rise_and_are_clipped_to_the_warm_range(known, cold):
    values = pa.array([*known, *cold], pa.float64())
    warm = np.arange(len(values)) < len(known)
    matrix, _ = encode_number(values, warm)
    dense = matrix.toarray().astype(np.float64)
    alone, _ = encode_number(pa.array(known), np.full(len(known), True))
    assert (dense[: len(known)] == alone.toarray()).all()
    numbers = np.array([np.nan if value is None else value for value in values.to_pylist()])
    missing = ~np.isfinite(numbers)
    assert (dense[missing] == 0).all() and (dense[~missing].max(axis=1) > 0.8).all()
    # Bumps j and j + 1 tell the position: their ratio rises with it, exponentially.
    middle = BUMPS[0] // 2
    shift = np.log(dense[~missing, middle]) - np.log(dense[~missing, middle - 1])
    order = np.argsort(numbers[~missing], kind="stable")
    assert (np.diff(shift[order]) >= -1e-4).all()
    for outside, end in ((numbers > max(known), np.argmax(known)), (numbers < min(known), np.argmin(known))):
        assert (dense[outside & ~missing] == dense[end]).all()


def test_an_outlier_does_not_stretch_the_scale():
    warm = np.full(5, True)
    near, far = (encode_number(pa.array([1.0, 2, 3, 4, last]), warm)[0].toarray() for last in (5.0, 1e12))
    assert (near == far).all()


def test_a_number_that_no_warm_item_has_says_nothing():
    matrix, names = encode_number(pa.array([None, None, None, 3.0, 4.0]), WARM)
    assert matrix.shape == (5, sum(BUMPS)) and matrix.nnz == 0 and len(names) == sum(BUMPS)


def test_C4_text_is_sklearns_tfidf_fitted_on_warm_texts():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([*WORDS, "Été", "x1"], rng.integers(0, 12))) for _ in range(60)]
    warm = rng.random(60) < 0.6
    matrix, names = encode_text(pa.array([text or None for text in texts]), warm)
    theirs = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    theirs.fit([text for text, of_warm in zip(texts, warm, strict=True) if of_warm])
    assert names == theirs.get_feature_names_out().tolist() and "red" in names and len(names) > 50
    assert (matrix.toarray() == theirs.transform(texts).toarray()).all()
    norms = np.sqrt((matrix.toarray().astype(np.float64) ** 2).sum(axis=1))
    assert np.all(np.isclose(norms, 1, atol=1e-5) | (norms == 0)) and 0 < (norms == 0).sum() < 10


def test_C4_words_of_cold_items_count_for_nothing():
    texts = pa.array(["red boat", "red house", "old boat", "house house", "house old"])
    matrix, names = encode_text(texts, WARM)
    assert names == ["boat", "red"] and matrix[[3, 4]].nnz == 0


@pytest.mark.parametrize("texts", [["a", "b", "c", "the the", "x"], [None] * 5, ["one", "two", "three", "one", "two"]])
def test_text_without_a_word_in_common_has_no_column(texts):
    matrix, names = encode_text(pa.array(texts, pa.string()), WARM)
    assert matrix.shape == (5, 0) and names == []


def test_content_without_any_column_can_be_written_and_read(files):
    items = [{"tags": [], "price": None, "title": None}] * 4
    fields = {"tags": {"as": "categories"}, "title": {"as": "text"}}
    found = run(files, items, ["warm", "warm", "val", "test"], fields=fields)
    assert found["warm"].matrix.shape == (2, 0) and found["val"].of_kind("categories").shape == (1, 0)
