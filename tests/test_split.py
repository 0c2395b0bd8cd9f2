"""Rows C1, C2, C3, C10 and C14: which items are cold, and where each interaction goes."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from frostline import split
from frostline.drawing import draw_items, largest_remainder, popularity_bucket, rarest_category
from frostline.errors import InputError
from frostline.split_options import Split

OUTPUTS = [f"{name}.parquet" for name in ("items", "queries", "train", "val", "test", "strata")] + ["summary.json"]
SMALL = {"val_folds": 2, "min_interactions": 1, "popularity_buckets": 2}


def options(**changes):
    return {**vars(Split()), **changes}


@pytest.mark.parametrize(
    "size, total, parts",
    [
        # Exact shares 1.94, 1.39, 1.11, 0.56: the whole parts give 3, the largest remainders .94 and .56 the other 2.
        ([7, 5, 4, 2], 5, [2, 1, 1, 1]),
        ([7, 5, 4, 2], 4, [2, 1, 1, 0]),
        ([1, 1, 1], 2, [1, 1, 0]),
        ([3, 3, 3], 9, [3, 3, 3]),
        ([10], 3, [3]),
        ([2, 9], 0, [0, 0]),
    ],
)
def test_C3_largest_remainder_by_hand(size, total, parts):
    assert largest_remainder(np.array(size), total).tolist() == parts


def test_C3_what_a_limit_cuts_goes_to_the_next_remainders():
    # Exact shares 1.2, 1.2, 0.6; the first may give nothing.
    assert largest_remainder(np.array([4, 4, 2]), 3, limit=np.array([0, 4, 2])).tolist() == [0, 2, 1]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.data())
def test_C3_parts_sum_to_the_total_and_are_within_one_of_their_shares(size, data):
    """Also of the second fold, which may only take what the first has left."""
    size = np.array(size)
    test = data.draw(st.integers(0, size.sum()))
    val = data.draw(st.integers(0, size.sum() - test))
    drawn = largest_remainder(size, test)
    for parts, total in ((drawn, test), (largest_remainder(size, val, limit=size - drawn), val)):
        assert parts.sum() == total and (parts >= 0).all()
        assert (abs(parts - size * total / size.sum()) <= 1).all()
    assert (abs(drawn - size * test / size.sum()) < 1).all()
    assert (drawn + largest_remainder(size, val, limit=size - drawn) <= size).all()


def test_C3_an_item_of_several_categories_counts_under_its_rarest_ties_by_name():
    categories = [
        ["drama", "noir"],
        ["drama"],
        ["war", "noir"],
        ["war", "drama"],
        [],
        None,
        ["zen", "art"],
        ["drama"] * 3,
    ]
    # drama 4, noir 2, war 2, zen 1, art 1
    assert rarest_category(categories).tolist() == ["noir", "drama", "noir", "war", "", "", "art", "drama"]
    assert rarest_category([["a", "a", "a"], ["a", "b"], ["b"], ["b"]])[1] == "a", (
        "an item counts once, however it is tagged"
    )


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 6), st.integers(0, 3))
def test_C3_buckets_rise_with_popularity_and_equal_counts_share_one(counts, n_buckets, at_least):
    counts = np.array(counts)
    eligible = counts >= at_least
    assume(eligible.any())
    bucket = popularity_bucket(counts, eligible, n_buckets)
    order = np.argsort(counts, kind="stable")
    assert (np.diff(bucket[order]) >= 0).all() and bucket.min() >= 0 and bucket.max() < n_buckets
    assert all(len(set(bucket[counts == count].tolist())) == 1 for count in set(counts.tolist()))


def test_C3_a_count_on_the_edge_belongs_to_the_lower_bucket():
    assert popularity_bucket(np.array([1, 2, 3]), np.full(3, True), 2).tolist() == [0, 0, 1]
    assert popularity_bucket(np.array([7, 7, 7]), np.full(3, True), 5).tolist() == [0, 0, 0]


def test_C3_buckets_of_different_counts_are_of_equal_size():
    assert np.bincount(popularity_bucket(np.arange(100), np.full(100, True), 5)).tolist() == [20] * 5


def drawn_by_category(sizes, ineligible=(), **changes):
    """Draw among items of which `sizes` gives the number in each category; popularity plays no part."""
    categories = [[name] for name, size in sizes.items() for _ in range(size)] + [[name] for name in ineligible]
    counts = np.array([9] * sum(sizes.values()) + [1] * len(ineligible))
    return draw_items(counts, categories, Split(strata=("category",), **changes), seed=0)


def test_C3_strata_that_are_still_rare_together_go_to_the_largest_and_that_is_reported():
    # A stratum needs 10 items to give one of them to val, a tenth. Comedy and drama are as large; the name decides.
    draw = drawn_by_category({"war": 12, "drama": 20, "art": 3, "comedy": 20, "zen": 2}, ineligible=["art"])
    assert draw.report["merges"] == [
        {"bucket": 0, "stratum": "art", "into": "(other)"},
        {"bucket": 0, "stratum": "zen", "into": "(other)"},
        {"bucket": 0, "stratum": "(other)", "into": "comedy"},
    ]
    # 58 items give 12 to test and 6 to val, from 57. Shares in test: 5.26, 4.21, 2.53; in val: 2.63, 2.11, 1.26.
    assert draw.report["strata"] == [
        {"stratum": "comedy / 0", "eligible": 25, "test": 5, "val": 3},
        {"stratum": "drama / 0", "eligible": 20, "test": 4, "val": 2},
        {"stratum": "war / 0", "eligible": 12, "test": 3, "val": 1},
    ]
    assert draw.category[-1] == "art" and draw.stratum[-1] == "comedy / 0" and draw.fold[-1] == "warm"
    assert (draw.report["items"], draw.report["ineligible_items"]) == (58, 1)


def test_C3_strata_that_are_not_rare_together_are_one_of_their_own():
    draw = drawn_by_category({"drama": 40, "art": 6, "": 5, "noir": 10})
    assert draw.report["merges"] == [
        {"bucket": 0, "stratum": "", "into": "(other)"},
        {"bucket": 0, "stratum": "art", "into": "(other)"},
    ]
    names = {row["stratum"]: row["eligible"] for row in draw.report["strata"]}
    assert names == {"(other) / 0": 11, "drama / 0": 40, "noir / 0": 10}


def test_C3_val_gets_what_test_has_left_where_every_eligible_item_is_drawn():
    # Shares are 4.5 of each stratum for both folds; the half that test rounds up in one, val must take in the other.
    draw = drawn_by_category({"art": 9, "zen": 9}, ineligible=["art"] * 54, test=0.125, val=0.125)
    assert [(row["test"], row["val"]) for row in draw.report["strata"]] == [(5, 4), (4, 5)]
    assert [(draw.fold == fold).sum() for fold in ("warm", "val", "test")] == [54, 9, 9]


def test_C3_items_without_a_category_are_a_stratum():
    draw = drawn_by_category({"drama": 40, "": 20})
    assert [row["stratum"] for row in draw.report["strata"]] == ["(none) / 0", "drama / 0"]
    assert draw.report["merges"] == []


def test_C3_merges_stay_within_their_popularity_bucket():
    rng = np.random.default_rng(0)
    counts = np.repeat([10, 100], 60)
    categories = [["common"]] * 55 + [["rare"]] * 5 + [["common"]] * 30 + [["rare"]] * 30
    order = rng.permutation(120)
    draw = draw_items(counts[order], [categories[i] for i in order], Split(popularity_buckets=2), seed=0)
    assert {row["stratum"]: row["eligible"] for row in draw.report["strata"]} == {
        "common / 0": 60,
        "common / 1": 30,
        "rare / 1": 30,
    }
    assert draw.report["merges"][-1] == {"bucket": 0, "stratum": "(other)", "into": "common"}


@st.composite
def catalogues(draw):
    n = draw(st.integers(30, 150))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    counts = np.floor(rng.pareto(draw(st.floats(0.5, 3)), n) * 8).astype(np.int64)
    n_categories = draw(st.integers(1, 8))
    shares = rng.dirichlet(np.full(n_categories, draw(st.sampled_from([0.3, 3.0]))))
    names = [f"c{i}" for i in range(n_categories)]
    categories = [rng.choice(names, rng.integers(0, 4), p=shares).tolist() for _ in range(n)]
    test, val = draw(st.floats(0.05, 0.4)), draw(st.floats(0.05, 0.3))
    strata = draw(st.sampled_from([("category", "popularity"), ("category",), ("popularity",), ()]))
    settings_ = Split(
        test=test,
        val=val,
        strata=strata,
        popularity_buckets=draw(st.integers(1, 5)),
        min_interactions=draw(st.integers(1, 8)),
        val_folds=2,
    )
    return counts, categories, settings_


def draw_or_skip(counts, categories, chosen, seed=1):
    try:
        return draw_items(counts, categories, chosen, seed)
    except InputError:
        assume(False)


@settings(max_examples=100)
@given(catalogues())
def test_C1_C2_C3_any_draw_keeps_its_promises(catalogue):
    counts, _, chosen = catalogue
    draw = draw_or_skip(*catalogue)
    cold = draw.fold != "warm"
    eligible = counts >= chosen.min_interactions
    assert set(draw.fold) == {"warm", "val", "test"} and not (cold & ~eligible).any()
    totals = {"test": round(chosen.test * len(counts)), "val": round(chosen.val * len(counts))}
    smallest = 1 / min(chosen.test, chosen.val)
    per_bucket = {}
    for row in draw.report["strata"]:
        inside = draw.stratum == row["stratum"]
        assert row["eligible"] == (inside & eligible).sum()
        for fold, total in totals.items():
            assert row[fold] == (inside & (draw.fold == fold)).sum()
            assert abs(row[fold] - total * row["eligible"] / eligible.sum()) <= 1
        per_bucket.setdefault(row["stratum"].rpartition(" / ")[2], []).append(row["eligible"])
    assert all(len(sizes) == 1 or min(sizes) >= smallest for sizes in per_bucket.values())
    assert {fold: (draw.fold == fold).sum() for fold in totals} == totals
    assert sum(row["eligible"] for row in draw.report["strata"]) == eligible.sum()


@settings(max_examples=30)
@given(catalogues())
def test_C10_the_draw_is_the_same_each_time_and_another_with_another_seed(catalogue):
    one, same = draw_or_skip(*catalogue), draw_or_skip(*catalogue)
    assert (one.fold == same.fold).all() and one.report == same.report
    others = [draw_or_skip(*catalogue, seed=seed).fold for seed in range(2, 7)]
    assert any((other != one.fold).any() for other in others)


def test_C3_movielens_like_skew_gives_every_stratum_its_share():
    rng = np.random.default_rng(5)
    counts = np.sort((1500 / np.arange(1, 3001) ** 0.9).astype(np.int64) + rng.integers(0, 6, 3000))
    genres = np.array([f"g{i:02}" for i in range(18)])
    weight = 0.7 ** np.arange(18)
    categories = [rng.choice(genres, rng.integers(1, 4), replace=False, p=weight / weight.sum()) for _ in counts]
    draw = draw_items(counts, [names.tolist() for names in categories], Split(), seed=42)
    eligible = (counts >= 5).sum()
    assert (draw.fold == "test").sum() == 600 and (draw.fold == "val").sum() == 300 and len(draw.report["strata"]) > 40
    for row in draw.report["strata"]:
        assert abs(row["test"] - 600 * row["eligible"] / eligible) <= 1
        assert abs(row["val"] - 300 * row["eligible"] / eligible) <= 1
    # So the folds are about equally popular, however skewed.
    means = [counts[draw.fold == fold].mean() for fold in ("test", "val")] + [counts[counts >= 5].mean()]
    assert max(means) / min(means) < 1.25


@pytest.mark.parametrize(
    "counts, changes, says",
    [
        (
            [9] * 20,
            {"min_interactions": 10},
            "20 items, of which 0 have at least 10 interactions, cannot give 4 test-cold",
        ),
        (
            [9] * 5 + [1] * 15,
            {},
            "20 items, of which 5 have at least 5 interactions, cannot give 4 test-cold and 2 val-cold",
        ),
        ([9] * 2, {}, "2 items, .* cannot give 0 test-cold and 0 val-cold items. Use more data"),
        ([9] * 20, {}, "2 val-cold items cannot be divided into 5 folds, .* or lower split.val_folds"),
        ([9] * 10, {"test": 0.5, "val": 0.46, "val_folds": 2}, "no warm item is left of 10"),
    ],
)
def test_too_little_data_is_a_clear_error(counts, changes, says):
    with pytest.raises(InputError, match=says):
        draw_items(np.array(counts), [["a"]] * len(counts), Split(**changes), 0)


def interactions(seed, n_users=40, n_items=30, per_user=6, names=("u{:03}", "i{:03}")):
    """Random pairs as ingest leaves them: unique, by user and item."""
    rng = np.random.default_rng(seed)
    chosen = rng.random((n_users, n_items)) < per_user / n_items * rng.pareto(2, n_items).clip(0.2, 4)
    user, item = np.nonzero(chosen)
    users, items = (
        np.array([name.format(i) for i in range(n)]) for name, n in zip(names, (n_users, n_items), strict=True)
    )
    table = {
        "user": users[user],
        "item": items[item],
        "time": pa.array(rng.integers(0, 10**9, len(user)), mask=rng.random(len(user)) < 0.1),
        "weight": rng.random(len(user)) + 0.1,
    }
    catalogue = {"item_id": items, "tags": [rng.choice(list("abc"), rng.integers(0, 3)).tolist() for _ in items]}
    return pa.table(table), pa.table(catalogue)


def run(files, table, catalogue, seed=1, category="tags", **changes):
    files.put("interactions.parquet", table)
    files.put("catalogue.parquet", catalogue)
    params = {"split": options(**(SMALL | changes)), "category": category, "seed": seed}
    files.run(split.run, ["interactions.parquet", "catalogue.parquet"], OUTPUTS, **params)
    return {name.partition(".")[0]: files.get(name) for name in OUTPUTS}


def rows(table, found=None):
    """Interactions as a set of tuples; those of a written file by the names of their users and items."""
    columns = table.to_pydict()
    if found:
        queries, items = found["queries"]["query"].to_pylist(), found["items"]["item_id"].to_pylist()
        columns["user"] = [queries[row] for row in columns.pop("query")]
        columns["item"] = [items[row] for row in columns.pop("item")]
    names = [name for name in ("user", "item", "time", "weight") if name in columns]
    return list(zip(*(columns[name] for name in names), strict=True))


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(3, 9), st.booleans())
def test_C1_C2_C14_every_interaction_is_in_the_one_file_that_may_hold_it(folder, seed, per_user, bare):
    table, catalogue = interactions(seed, per_user=per_user)
    if bare:
        table = table.select(["user", "item", "weight"])
    try:
        found = run(folder(), table, catalogue, seed)
    except InputError:
        assume(False)
    fold_of = dict(zip(found["items"]["item_id"].to_pylist(), found["items"]["fold"].to_pylist(), strict=True))
    everything = rows(table)
    with_history = {user for user, item, *_ in everything if fold_of[item] == "warm"}
    for file, fold in (("train", "warm"), ("val", "val"), ("test", "test")):
        expected = [row for row in everything if fold_of[row[1]] == fold and row[0] in with_history]
        assert rows(found[file], found) == expected, "nothing is lost, nothing is added, the order is kept"
        counted = found["summary"]["folds"][fold]
        in_fold = [row for row in everything if fold_of[row[1]] == fold]
        assert counted == {
            "items": sum(of == fold for of in fold_of.values()),
            "interactions": len(in_fold),
            "interactions_of_users_without_history": len(in_fold) - len(expected),
            "queries_with_relevant": len({row[0] for row in expected}),
        }
    assert sum(part["interactions"] for part in found["summary"]["folds"].values()) == len(everything)
    assert found["queries"]["query"].to_pylist() == sorted(with_history)
    assert (found["summary"]["users"], found["summary"]["queries"]) == (
        len({row[0] for row in everything}),
        len(with_history),
    )


def test_C2_the_items_file_says_nothing_of_a_cold_items_labels(files):
    found = run(files, *interactions(3))
    assert found["items"].column_names == ["item_id", "fold"] and found["queries"].column_names == ["query"]
    assert found["items"]["item_id"].to_pylist() == sorted(found["items"]["item_id"].to_pylist())
    assert found["strata"].column_names == ["item", "category", "bucket", "stratum"]
    assert found["strata"]["item"].to_pylist() == list(range(found["items"].num_rows))


def test_C14_users_without_history_are_counted_and_left_out(files):
    """Rulings 3: queries are the users with a training interaction, whatever they have in val and test."""
    names = [f"i{n:02}" for n in range(20)]
    one_stratum = {"popularity_buckets": 1, "category": None}
    alone = run(files, *tables([("all", item) for item in names]), **one_stratum)
    cold = [item for item, fold in zip(names, alone["items"]["fold"].to_pylist(), strict=True) if fold != "warm"]
    found = run(files, *tables([("all", item) for item in names] + [("cold", item) for item in cold]), **one_stratum)
    assert found["items"].equals(alone["items"])
    assert found["queries"]["query"].to_pylist() == ["all"] and found["summary"]["users"] == 2
    left_out = {fold: part["interactions_of_users_without_history"] for fold, part in found["summary"]["folds"].items()}
    assert left_out == {"warm": 0, "val": 2, "test": 4}
    assert found["test"]["query"].to_pylist() == [0] * 4 and found["val"]["query"].to_pylist() == [0] * 2


def tables(pairs):
    users, items = zip(*sorted(pairs), strict=True)
    catalogue = pa.table({"item_id": sorted(set(items)), "tags": [[] for _ in set(items)]})
    return pa.table({"user": users, "item": items, "weight": [1.0] * len(users)}), catalogue


def test_C14_no_user_with_both_history_and_labels_is_a_clear_error(files):
    pairs = [(f"u{n}", f"i{n}") for n in range(20)]
    with pytest.raises(InputError, match=r"seed 1: no user has both .* in val-cold items\. Use more"):
        run(files, *tables(pairs), category=None)


@pytest.mark.parametrize("seed", range(3))
def test_C10_shuffled_rows_give_the_same_split(seed, folder):
    table, catalogue = interactions(seed, n_users=80)
    rng = np.random.default_rng(seed)
    files, shuffled = folder(), folder()
    one = run(files, table, catalogue, seed)
    two = run(
        shuffled, table.take(rng.permutation(table.num_rows)), catalogue.take(rng.permutation(catalogue.num_rows)), seed
    )
    same = ["items.parquet", "queries.parquet", "strata.parquet", "summary.json"]
    assert files.bytes(*same) == shuffled.bytes(*same)
    for name in ("train", "val", "test"):
        assert sorted(map(repr, rows(one[name]))) == sorted(map(repr, rows(two[name])))


@pytest.mark.parametrize("seed", range(3))
def test_C10_names_play_no_part_but_for_their_order(seed, folder):
    files, renamed = folder(), folder()
    run(files, *interactions(seed, n_users=80), seed=seed)
    run(renamed, *interactions(seed, n_users=80, names=("person-{:05}", "thing {:04} é")), seed=seed)
    same = ["train.parquet", "val.parquet", "test.parquet", "strata.parquet", "summary.json"]
    assert files.bytes(*same) == renamed.bytes(*same)
    assert files.get("items.parquet")["fold"].equals(renamed.get("items.parquet")["fold"])


def test_C10_same_bytes_twice_and_other_seeds_other_draws(folder):
    table, catalogue = interactions(4, n_users=80)
    one, same = folder(), folder()
    run(one, table, catalogue)
    run(same, table, catalogue)
    assert one.bytes(*OUTPUTS) == same.bytes(*OUTPUTS)
    draws = {tuple(run(folder(), table, catalogue, seed)["items"]["fold"].to_pylist()) for seed in range(5)}
    assert len(draws) == 5


def test_items_that_nobody_has_touched_are_no_items_of_the_split(files):
    table, catalogue = interactions(5)
    more = pa.table({"item_id": ["a-first", "zz"], "tags": [["a"], []]})
    found = run(files, table, pa.concat_tables([catalogue, more.cast(catalogue.schema)]))
    assert set(found["items"]["item_id"].to_pylist()) == set(table["item"].to_pylist())


def test_C3_the_category_field_decides_the_strata(files):
    found = run(files, *interactions(6, n_items=120, n_users=80), strata=("category",))
    catalogue = interactions(6, n_items=120, n_users=80)[1].to_pydict()
    tags = dict(zip(catalogue["item_id"], catalogue["tags"], strict=True))
    items = found["items"]["item_id"].to_pylist()
    assert found["strata"]["category"].to_pylist() == rarest_category([tags[item] for item in items]).tolist()
    assert len(found["summary"]["strata"]) > 2


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_folds_make_every_eligible_item_test_cold_in_exactly_one_seed(seed, n_folds):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 30, 150)
    categories = [[name] for name in rng.choice(["a", "b", "c"], 150, p=[0.7, 0.2, 0.1])]
    options = Split(test=1 / n_folds, val=0.08, val_folds=2, replicates="folds", popularity_buckets=2)
    draws = [
        draw_items(counts, categories, options, seed + n, {"number": n, "of": n_folds, "seed": seed})
        for n in range(n_folds)
    ]
    tested = np.stack([draw.fold == "test" for draw in draws])
    np.testing.assert_array_equal(tested.sum(axis=0), counts >= 5)
    assert np.ptp(tested.sum(axis=1)) <= 1
    for draw in draws:
        assert (draw.fold == "val").sum() == round(0.08 * 150)
        for stratum in draw.report["strata"]:
            assert abs(stratum["test"] - stratum["eligible"] / n_folds) <= 1
            assert stratum["test"] == ((draw.fold == "test") & (draw.stratum == stratum["stratum"])).sum()


def test_the_folds_are_those_of_the_common_seed_and_val_is_the_seeds_own():
    counts, categories = np.full(100, 9), [["a"]] * 100
    options = Split(test=0.25, val=0.1, replicates="folds")
    folds = {"number": 1, "of": 4, "seed": 3}
    one, two = (draw_items(counts, categories, options, seed, folds).fold for seed in (3, 4))
    np.testing.assert_array_equal(one == "test", two == "test")
    assert ((one == "val") != (two == "val")).any()
    other = draw_items(counts, categories, options, 3, folds | {"seed": 4}).fold
    assert ((one == "test") != (other == "test")).any()
