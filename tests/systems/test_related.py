"""Systems of related items, each against its written definition (A4, A8)."""

import dataclasses
import math
from collections import Counter

import numpy as np
import pytest
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from frostline.registry import load
from frostline.seeds import sequence
from frostline.systems import Events, Known, Queries

CONTENT = ["tfidf", "bm25", "lsa", "nmf", "metadata", "reciprocal_rank_fusion", "mmr"]
OPTIONS = {"lsa": {"components": 4}, "nmf": {"components": 3, "iterations": 50}, "mmr": {"first": 6}}
N_ITEMS, SEED = 14, 5


def catalogue(seed=0):
    """Texts of which the last two are the same as the first two."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"word{n}" for n in rng.integers(12, size=rng.integers(3, 9))) for _ in range(N_ITEMS - 2)]
    tags = [[f"t{n}" for n in rng.integers(4, size=2)] for _ in range(N_ITEMS)]
    return {"text": [*texts, *texts[:2]], "tags": tags, "year": [1990.0] * N_ITEMS}


def known(content=None, links=((0, 1, 2), (1, 2, 0)), n_items=N_ITEMS):
    kinds = {"text": "text", "tags": "categories", "year": "number"}
    pairs = tuple(np.array(side) for side in links)
    nothing = Events(np.array([], int), np.array([], int))
    return Known(3, n_items, SEED, 20, nothing, pairs, None, content or catalogue(), kinds)


def asked(items=(0, 4, 7), texts=("word1 word3",)):
    """Items that ask for others, and a text."""
    names = [*(f"item {n}" for n in items), *texts]
    rows = np.arange(len(items))
    return Queries(names, Events(rows, np.array(items)), (rows, np.array(items)))


def scored(name, given=None, queries=None, **options):
    given, queries = given or known(), queries or asked()
    system = load("systems", name)(**OPTIONS.get(name, {}) | options)
    found = system.score(system.fit(given), given, queries)
    found.check()
    grid = np.tile(np.broadcast_to(np.asarray(found.fill, float), N_ITEMS), (len(queries), 1))
    for query in range(len(queries)):
        items, values = found.row(query)
        grid[query, items] = values
    return grid


def vectors():
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    items = vectorizer.fit_transform(catalogue()["text"]).toarray()
    return np.vstack([items[[0, 4, 7]], vectorizer.transform(["word1 word3"]).toarray()]), items


def test_tfidf_is_a_true_cosine():
    np.testing.assert_allclose(scored("tfidf"), cosine_similarity(*vectors()), atol=1e-6)


@pytest.mark.parametrize("k1, b", [(1.5, 0.75), (0.9, 0.0)])
def test_bm25_is_its_formula(k1, b):
    documents = [text.split() for text in catalogue()["text"]]
    queries = [documents[0], documents[4], documents[7], ["word1", "word3"]]
    mean = sum(map(len, documents)) / len(documents)
    expected = np.zeros((4, N_ITEMS))
    for row, query in enumerate(queries):
        for column, document in enumerate(documents):
            count = Counter(document)
            for term in query:
                n = sum(term in other for other in documents)
                idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
                length = k1 * (1 - b + b * len(document) / mean)
                expected[row, column] += idf * count[term] / (count[term] + length)
    np.testing.assert_allclose(scored("bm25", k1=k1, b=b), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lsa", "nmf"])
def test_latent_spaces_are_those_of_sklearn(name):
    queries, items = (part.astype(np.float32) for part in vectors())
    state = int(sequence(SEED, name).generate_state(1)[0])
    space = (
        TruncatedSVD(4, random_state=state)
        if name == "lsa"
        else NMF(3, init="nndsvda", max_iter=50, random_state=state)
    )
    space.fit(items)
    expected = cosine_similarity(space.transform(queries), space.transform(items))
    np.testing.assert_allclose(scored(name), expected, atol=2e-3)


def test_metadata_is_the_sum_of_its_fields():
    queries, items = vectors()
    tags = TfidfVectorizer(analyzer=lambda names: names).fit_transform(catalogue()["tags"]).toarray()
    by_tags = cosine_similarity(np.vstack([tags[[0, 4, 7]], np.zeros(tags.shape[1])]), tags)
    expected = cosine_similarity(queries, items) + 0.5 * by_tags
    np.testing.assert_allclose(scored("metadata", weights={"tags": 0.5}), expected, atol=1e-6)
    np.testing.assert_allclose(scored("metadata", weights={"tags": 0.0}), scored("tfidf"), atol=1e-6)


def test_reciprocal_rank_fusion_is_its_formula():
    """With the mean place of tied items, and without the item that asks."""
    own = np.array([0, 4, 7])
    expected = np.zeros((4, N_ITEMS))
    for name in ("tfidf", "bm25"):
        grid = scored(name)
        for query in range(4):
            others = [n for n in range(N_ITEMS) if query == 3 or n != own[query]]
            for item in others:
                if grid[query, item] != 0:
                    above = sum(grid[query, n] > grid[query, item] for n in others)
                    tied = sum(grid[query, n] == grid[query, item] for n in others)
                    expected[query, item] += 1 / (60 + above + (tied + 1) / 2)
    np.testing.assert_allclose(scored("reciprocal_rank_fusion"), expected, rtol=1e-6)


def test_mmr_takes_the_most_similar_first_and_then_what_is_unlike_it():
    """Worked by hand: the query's twin b comes first. With λ = .3 a later item of similarity s to both is worth −.4 s."""
    texts = ["red red blue green", "red red blue green", "red red blue", "green gold", "iron"]
    given = known({"text": texts, "tags": [[]] * 5, "year": [1.0] * 5}, n_items=5)
    queries = Queries(["a"], Events(np.array([0]), np.array([0])), (np.array([0]), np.array([0])))
    orders = {}
    for balance in (1.0, 0.3):
        system = load("systems", "mmr")(balance=balance)
        items, values = system.score(system.fit(given), given, queries).row(0)
        orders[balance] = items[np.argsort(-values)].tolist()
    assert orders == {1.0: [1, 2, 3], 0.3: [1, 3, 2]}


def test_mmr_puts_the_same_texts_in_an_order_that_is_not_that_of_their_ids():
    texts = {"text": ["red blue"] * 3 + ["iron"], "tags": [[]] * 4, "year": [1.0] * 4}
    queries = Queries(["a"], Events(np.array([0]), np.array([0])), (np.array([0]), np.array([0])))
    firsts = set()
    for seed in range(20):
        given = dataclasses.replace(known(texts, n_items=4), seed=seed)
        system = load("systems", "mmr")()
        items, values = system.score(system.fit(given), given, queries).row(0)
        firsts.add(items[np.argmax(values)].item())
    assert firsts == {1, 2}


def test_personalised_pagerank_solves_its_equation():
    """(1 − d) (I − d Pᵀ)⁻¹ e, on a ring with a chord; what is not connected is worth nothing."""
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    source, target = (np.array([a for pair in pairs for a in side(pair)]) for side in (tuple, lambda p: p[::-1]))
    walk = np.zeros((N_ITEMS, N_ITEMS))
    walk[source, target] = 1
    walk[:4] /= walk[:4].sum(axis=1, keepdims=True)
    start = np.eye(N_ITEMS)[[0, 1]]
    expected = 0.4 * np.linalg.solve((np.eye(N_ITEMS) - 0.6 * walk).T, start.T).T
    queries = Queries(["a", "b"], Events(np.arange(2), np.arange(2)), (np.arange(2), np.arange(2)))
    found = scored("personalised_pagerank", known(links=(source, target)), queries, damping=0.6, steps=60)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found[0, 1] == found[0, 3] and not found[:, 4:].any()


@pytest.mark.parametrize("name", CONTENT)
def test_A4_permuted_links_change_no_score_of_a_content_system(name):
    other = known(links=((5, 6, 7), (6, 7, 5)))
    np.testing.assert_array_equal(scored(name), scored(name, other))


@pytest.mark.parametrize("name", [name for name in CONTENT if name != "mmr"])
def test_A8_items_of_the_same_text_tie(name):
    content = catalogue()
    content["tags"][-2:] = content["tags"][:2]
    grid = scored(name, known(content), asked(items=(4, 7)))
    np.testing.assert_array_equal(grid[:, -2:], grid[:, :2])


@pytest.mark.parametrize("name", [name for name in CONTENT if name not in ("nmf", "mmr")])
def test_renumbered_items_get_the_same_scores(name):
    order = np.random.default_rng(3).permutation(N_ITEMS)
    moved = {field: [values[n] for n in order] for field, values in catalogue().items()}
    place = np.argsort(order)
    found = scored(name, known(moved), asked(items=place[[0, 4, 7]]))
    np.testing.assert_allclose(found, scored(name)[:, order], atol=1e-4)
