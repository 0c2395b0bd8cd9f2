"""Row A5: one TF-IDF space for all systems, fitted on the training catalogue."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from frostline import reference
from frostline.reference import item_terms, rarest, tf_idf

TEXTS = ["The old man, the sea", "a sea of ice", "", "ICE and fire: ice!", "über the hill", "sea ice ice zebra", "x y"]
WARM = np.array([True, True, True, True, False, False, True])


def test_A5_it_equals_scikit_learn_fitted_on_warm_items():
    fields, specs = {"title": pa.array([text or None for text in TEXTS])}, {"title": {"as": "text"}}
    found = tf_idf(item_terms(fields, specs, len(TEXTS)), WARM)
    vectorizer = TfidfVectorizer().fit(np.array(TEXTS, dtype=object)[WARM])
    np.testing.assert_allclose(found.toarray(), vectorizer.transform(TEXTS).toarray(), rtol=1e-12)
    assert "zebra" not in vectorizer.vocabulary_ and found.shape[1] == len(vectorizer.vocabulary_)


def test_A5_categories_are_terms_as_they_are_and_fields_do_not_mix():
    fields = {
        "tags": pa.array([["Sea", "Sci-Fi"], ["Sea"], None]),
        "title": pa.array(["sea", "Sci-Fi", "sea"]),
        "year": pa.array([1.0, 2.0, 3.0]),
    }
    specs = {"tags": {"as": "categories"}, "title": {"as": "text"}, "year": {"as": "number"}}
    assert item_terms(fields, specs, 3) == [
        ["tags=Sea", "tags=Sci-Fi", "title=sea"],
        ["tags=Sea", "title=sci", "title=fi"],
        ["title=sea"],
    ]


@pytest.mark.parametrize("content", [{"year": {"as": "number"}}, {}])
def test_without_categories_and_texts_the_space_is_empty(content, files):
    files.put("items.parquet", pa.table({"item_id": ["a", "b"], "fold": ["warm", "test"]}))
    files.put("catalogue.parquet", pa.table({"item_id": ["a", "b"], "year": [1.0, 2.0]}))
    files.run(reference.run, ["items.parquet", "catalogue.parquet"], ["reference.npz"], content=content)
    found = files.get("reference.npz")
    assert found["matrix"].shape == (2, 0) and found["group"].tolist() == [-1, -1]


def test_a_group_is_the_rarest_category_among_warm_items():
    categories = [["a", "b"], ["a"], ["b", "a", "c"], None, [], ["new"]]
    warm = np.array([True, True, True, True, True, False])
    # a three times, b twice, c once; "new" is no warm item's, and still a group.
    assert rarest(categories, warm).tolist() == [1, 0, 2, -1, -1, 3]


def test_C4_a_cold_items_text_changes_no_other_row(files):
    def run(text):
        table = {"item_id": ["c", "a", "b"], "title": [text, "old sea", "old ice"], "tags": [["x"], ["y"], ["x"]]}
        files.put("items.parquet", pa.table({"item_id": ["a", "b", "c"], "fold": ["warm", "warm", "test"]}))
        files.put("catalogue.parquet", pa.table(table))
        content = {"title": {"as": "text"}, "tags": {"as": "categories"}}
        files.run(reference.run, ["items.parquet", "catalogue.parquet"], ["reference.npz"], content=content)
        return files.get("reference.npz")["matrix"].toarray()

    one, two = run("ice age"), run("sea sea of zebras")
    assert (one[:2] == two[:2]).all() and (one[2] != two[2]).any()
    np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1)
