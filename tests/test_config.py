"""A config is checked whole: what is wrong is named by its full key, with what is allowed and the nearest spelling."""

import copy
import dataclasses
import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from frostline import config, plan
from frostline.config import load
from frostline.errors import ConfigError
from frostline.split_options import Split

CONFIGS = sorted((Path(__file__).parents[1] / "config").glob("*.yaml"))
REMOVED = "<removed>"


def full():
    return {
        "keep_scores": False,
        "experiments": {
            "demo": {
                "protocol": "cold-items",
                "data": {"adapter": "synthetic", "users": 400},
                "content": ["categories", {"field": "year", "as": "number"}],
                "split": {"kind": "stratified", "test": 0.2, "val": 0.1, "strata": ["category", "popularity"]},
                "seeds": [42, 43],
                "donors": {"als": {"factors": 8}},
                "methods": {"grouped_popularity": {}, "knn": {"k": 20}, "linmap": {"alpha": 10}},
                "baseline": "grouped_popularity_personal",
                "metrics": {"k": [1, 5, 10], "primary": "ndcg@10", "ties": "expected"},
            }
        },
    }


def changed(path, value, raw=None):
    """A config with another value at `path`, or without it."""
    raw = full() if raw is None else raw
    keys = path.split("/")
    keys = ["experiments", "demo", *keys[1:]] if keys[0] == "" else keys
    place = raw
    for key in keys[:-1]:
        place = place[int(key) if isinstance(place, list) else key]
    if value is REMOVED:
        del place[keys[-1]]
    elif isinstance(place, list):
        place[int(keys[-1])] = value
    else:
        place[keys[-1]] = value
    return raw


def only(raw):
    return load(raw)["demo"]


def message(path, value):
    with pytest.raises(ConfigError) as caught:
        load(changed(path, value))
    return str(caught.value)


@pytest.mark.parametrize("file", CONFIGS, ids=lambda path: path.stem)
def test_every_config_of_the_repository_loads_and_is_named_after_its_experiment(file):
    experiments = load(yaml.safe_load(file.read_text(encoding="utf-8")))
    assert list(experiments) == ["demo" if file.stem == "config" else file.stem]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("t1: 0.6", 0.6),
        ("t1: 2001-06-30", "2001-06-30T00:00:00"),  # YAML makes it a date
        ("t1: '2001-06-30 12:00'", "2001-06-30T12:00:00"),
        ("t1: 2001-06-30T12:00:00+02:00", "2001-06-30T10:00:00"),
        ("t1: '2001-06-30T12:00:00.9Z'", "2001-06-30T12:00:00"),
    ],
)
def test_C9_cuts_are_times_or_quantiles(given, kept):
    options = yaml.safe_load(given) | {"kind": "temporal", "t2": "2030-01-01" if isinstance(kept, str) else 0.9}
    split = only(changed("/split", options)).protocol.rule
    assert split.t1 == kept and json.loads(json.dumps(dataclasses.asdict(split))) == {
        **dataclasses.asdict(split),
        "strata": ["category", "popularity"],
    }


def test_the_whole_of_a_config_arrives():
    demo = only(full())
    assert (demo.name, demo.protocol_name, demo.seeds, demo.baseline, demo.keep_scores) == (
        "demo",
        "cold-items",
        (42, 43),
        "grouped_popularity_personal",
        False,
    )
    assert demo.data.adapter == "synthetic" and demo.data.options == {"users": 400}
    assert demo.data.content == {"categories": {"as": "categories"}, "year": {"as": "number"}}
    assert demo.protocol.rule == Split(test=0.2, val=0.1) and demo.metrics.k == (1, 5, 10)
    assert demo.donors["als"].points[0]["factors"] == 8
    assert demo.systems["als+linmap"].method.points[0] == {"alpha": 10.0}
    assert only(changed("keep_scores", True)).keep_scores is True


@pytest.mark.parametrize("methods", [REMOVED, None, {}, {"knn": {}}])
def test_C15_C16_baselines_and_controls_are_always_there(methods):
    systems = only(changed("/methods", methods)).systems
    kinds = {name: system.kind for name, system in systems.items()}
    assert kinds.pop("als+knn", "system") == "system"
    assert kinds == {
        "random": "control",
        "constant": "control",
        "grouped_popularity": "baseline",
        "grouped_popularity_personal": "baseline",
        "oracle": "oracle",
    }


def test_C15_a_relabelled_baseline_is_the_baseline_and_not_doubled():
    raw = changed("/methods", {"gmp": {"method": "grouped_popularity_personal"}})
    demo = only(changed("/baseline", "gmp", raw))
    assert demo.systems["gmp"].kind == "baseline" and "grouped_popularity_personal" not in demo.systems


@pytest.mark.parametrize("name", ["random", "constant", "grouped_popularity", "grouped_popularity_personal"])
def test_C15_C16_no_other_method_can_take_the_name_of_a_control_or_baseline(name):
    found = message("/methods", {name: {"method": "linmap"}})
    assert found.startswith(f"experiments.demo.methods.{name}: ") and "another label" in found


def test_data_without_a_known_truth_has_no_oracle():
    raw = changed("/data", {"adapter": "table", "interactions": "a.csv", "items": "b.csv"})
    raw = changed("/content", [{"field": "tags", "as": "categories"}], raw)
    assert "oracle" not in only(raw).systems


def test_one_method_can_have_several_rows_and_every_donor_is_transferred_by_each():
    raw = changed("/methods", {"linmap": {}, "linmap_a2": {"method": "linmap", "alpha": 2}, "knn": {"label": "near"}})
    raw = changed("/donors", {"als": {}, "small": {"donor": "als", "factors": 4}}, raw)
    demo = only(raw)
    pairs = {f"{donor}+{method}" for donor in ("als", "small") for method in ("linmap", "linmap_a2", "near")}
    assert {name for name, system in demo.systems.items() if system.kind == "system"} == pairs
    assert demo.systems["als+linmap"].method.points[0]["alpha"] == 10
    second = demo.systems["small+linmap_a2"]
    assert (second.method.name, second.method.label, second.method.points[0]) == ("linmap", "linmap_a2", {"alpha": 2.0})
    assert (second.donor.label, second.donor.name, second.donor.points[0]["factors"]) == ("small", "als", 4)


WRONG = [
    # unknown keys, at each level
    ("experimnts", {}, "config", "unknown key 'experimnts'", "'experiments'? Allowed: experiments, keep_scores"),
    (
        "/sedes",
        [1],
        ".",
        "unknown key 'sedes'",
        "'seeds'? Allowed: baseline, calibration, content, data, donors, methods, metrics",
    ),
    ("/data/user", 5, ".data", "unknown key 'user'", "'users'? Allowed: interactions, items, seed, users"),
    (
        "/split/tset",
        0.1,
        ".split",
        "unknown key 'tset'",
        "'test'? Allowed: kind, meta_users, min_interactions, popularity_buckets",
    ),
    ("/metrics/tie", "x", ".metrics", "unknown key 'tie'", "'ties'? Allowed: k, primary, ties"),
    ("/donors/als/factor", 8, ".donors.als", "unknown key 'factor'", "'factors'? Allowed: alpha, factors, iterations"),
    ("/methods/linmap/alhpa", 1, ".methods.linmap", "unknown key 'alhpa'", "'alpha'? Allowed: alpha"),
    ("/methods/grouped_popularity/k", 1, ".methods.grouped_popularity", "unknown key 'k'", "Allowed: nothing"),
    ("/content/1/feld", "x", ".content[1]", "unknown key 'feld'", "'field'? Allowed: as, field, separator"),
    ("/content/1", {"field": "year", 1: 2, "b": 3}, ".content[1]", "unknown key '1'", "Allowed: as, field, separator"),
    # unknown components and choices
    ("/protocol", "cold-item", ".protocol", "unknown protocol 'cold-item'", "'cold-items'? Allowed: cold-items"),
    (
        "/data/adapter",
        "movielens",
        ".data.adapter",
        "unknown adapter 'movielens'",
        "'movielens-1m'? Allowed: ",
    ),
    ("/methods/knnn", {}, ".methods.knnn", "unknown method 'knnn'", "'knn'? Allowed: "),
    ("/methods/x", {"method": "linmapp"}, ".methods.x", "unknown method 'linmapp'", "'linmap'? Allowed: "),
    ("/methods/x", {"method": ["knn"]}, ".methods.x", "unknown method '['knn']'", "'knn'? Allowed: "),
    ("/methods/x", {"method": ":"}, ".methods.x", "unknown method ':'", "or the 'module:Class' of your own"),
    ("/methods/x", {"method": ".a:B"}, ".methods.x", "unknown method '.a:B'", "or the 'module:Class' of your own"),
    ("/methods/x", {"method": "nowhere:A"}, ".methods.x", "method 'nowhere:A' cannot be imported", "PYTHONPATH"),
    ("/methods/x", {"method": "json:A"}, ".methods.x", "method 'json:A' cannot be imported", "PYTHONPATH"),
    ("/methods/x", {"method": "json:JSONDecoder"}, ".methods.x", "method 'json:JSONDecoder' is not a dataclass", ""),
    ("/methods/x", {"method": "os:path"}, ".methods.x", "method 'os:path' is not a dataclass", ""),
    ("/donors/alz", {}, ".donors.alz", "unknown donor 'alz'", "'als'? Allowed: als, "),
    (
        "/split/kind",
        "temporl",
        ".split.kind",
        "unknown value 'temporl'",
        "did you mean 'temporal'? Allowed: stratified",
    ),
    (
        "/split",
        {"kind": "temporal", "test": 0.2},
        ".split.test",
        "plays no part in kind temporal",
        "t1: 0.7 and t2: 0.8",
    ),
    ("/split", {"kind": "temporal", "t1": 0.8, "t2": 0.7}, ".split", "t1 (0.8) must be before t2 (0.7)", ""),
    (
        "/split",
        {"kind": "temporal", "t1": 1.5},
        ".split",
        "t1 must be a time such as 2001-06-30 or a quantile",
        "not 1.5",
    ),
    ("/split", {"kind": "temporal", "t2": "soon"}, ".split", "t2 must be a time such as 2001-06-30", "not 'soon'"),
    ("/split", {"kind": "temporal", "t2": True}, ".split", "t2 must be a time such as 2001-06-30", "not True"),
    ("/split", {"kind": "temporal", "val_folds": 1}, ".split", "val_folds must be at least 2", ""),
    (
        "/split",
        {"kind": "temporal", "popularity_buckets": 0},
        ".split",
        "popularity_buckets and min_interactions must be at least 1",
        "",
    ),
    (
        "/split/strata",
        ["popular"],
        ".split.strata[0]",
        "unknown value 'popular'",
        "'popularity'? Allowed: category, pop",
    ),
    ("/metrics/ties", "expect", ".metrics.ties", "unknown value 'expect'", "'expected'? Allowed: expected, item_id"),
    ("/metrics/primary", "ndgc@10", ".metrics", "primary 'ndgc@10' is not", "'ndcg@10'? Allowed: auc, hit_rate@1,"),
    ("/metrics/primary", "ndcg@7", ".metrics", "primary 'ndcg@7' is not measured at k [1, 5, 10]", "Allowed: auc"),
    ("/metrics/primary", "ndcg@010", ".metrics", "primary 'ndcg@010' is not measured", "'ndcg@10'? Allowed: auc"),
    ("/metrics/k", [1, 5], ".metrics", "primary 'ndcg@10' is not measured at k [1, 5]", "Allowed: auc"),
    (
        "/baseline",
        "grouped_popularty",
        ".baseline",
        "no system 'grouped_popularty'",
        "'grouped_popularity'? Allowed: als+",
    ),
    (
        "/baseline",
        "random",
        ".baseline",
        "no system 'random'",
        "Allowed: als+knn, als+linmap, grouped_popularity, grouped",
    ),
    (
        "/baseline",
        "oracle",
        ".baseline",
        "no system 'oracle'",
        "Allowed: als+knn, als+linmap, grouped_popularity, grouped",
    ),
    # content
    (
        "/content/0",
        "categoris",
        ".content[0]",
        "synthetic has no field 'categoris'",
        "'categories'? Allowed: categories",
    ),
    (
        "/content/1/as",
        "numbr",
        ".content[1]",
        "field 'year': unknown kind 'numbr'",
        "'number'? Allowed: categories, number",
    ),
    ("/content/1/as", ["number"], ".content[1]", "field 'year': unknown kind", "Allowed: categories, number, text"),
    ("/content/1/separator", 5, ".content[1].separator", "expected text, not 5", ""),
    ("/content/1", 5, ".content[1]", "give a field's name, or {field: name, as: kind}, not 5", ""),
    ("/content/1", {"as": "number"}, ".content[1]", "give a field's name, or {field: name, as: kind}", ""),
    ("/content/1", "categories", ".content[1]", "field 'categories' is listed twice. Remove one", ""),
    ("/content", [], ".content", "is empty. Name at least one field", ""),
    ("/content", ["year"], ".split.strata", "'category' needs a content field of kind 'categories'", "Add one"),
    # types
    ("experiments", REMOVED, "config", "'experiments' is missing or empty", "Give at least one"),
    ("experiments", {}, "config", "'experiments' is missing or empty", "Give at least one"),
    ("experiments", [], "config.experiments", "expected a mapping, not []", ""),
    ("experiments/demo", 3, "config.experiments.demo", "expected a mapping, not 3", ""),
    ("keep_scores", 1, "config.keep_scores", "expected true or false, not 1", ""),
    ("keep_scores", "yes", "config.keep_scores", "expected true or false, not 'yes'", ""),
    ("/protocol", REMOVED, ".", "'protocol' is missing (a name, or a mapping). Add it", ""),
    ("/data", REMOVED, ".", "'data' is missing (a mapping). Add it", ""),
    ("/content", REMOVED, ".content", "is empty. Name at least one field", ""),
    ("/data", None, ".data", "expected a mapping, not None", ""),
    ("/data/adapter", REMOVED, ".data", "'adapter' is missing. Allowed: synthetic, movielens-1m", ""),
    ("/data/users", "many", ".data.users", "expected a whole number, not 'many'", ""),
    ("/content", "categories", ".content", "expected a list, not 'categories'", ""),
    ("/split", "stratified", ".split", "expected a mapping, not 'stratified'", ""),
    ("/split/test", "0.2", ".split.test", "expected a number, not '0.2' (write it without quotes)", ""),
    ("/split/test", "a fifth", ".split.test", "expected a number, not 'a fifth'", ""),
    ("/split/test", True, ".split.test", "expected a number, not True", ""),
    ("/split/min_interactions", True, ".split.min_interactions", "expected a whole number, not True", ""),
    ("/split/min_interactions", 5.0, ".split.min_interactions", "expected a whole number, not 5.0", ""),
    ("/split/strata", "category", ".split.strata", "expected a list", "not 'category'"),
    ("/metrics/k", 10, ".metrics.k", "expected a list", "not 10"),
    ("/metrics/k", ["10"], ".metrics.k[0]", "expected a whole number, not '10'", ""),
    ("/metrics/primary", 10, ".metrics.primary", "expected text, not 10", ""),
    ("/methods", ["knn"], ".methods", "expected a mapping, not ['knn']", ""),
    ("/methods/knn", 20, ".methods.knn", "give its parameters as a mapping, {} for the defaults, not 20", ""),
    ("/methods/knn/k", True, ".methods.knn.k", "expected a whole number, not True", ""),
    ("/methods/linmap/alpha", [1, "x"], ".methods.linmap.alpha", "expected a number, not 'x'", ""),
    ("/methods/linmap/alpha", [], ".methods.linmap.alpha", "a grid lists different values, at least one", ""),
    ("/methods/linmap/alpha", [2, 2], ".methods.linmap.alpha", "a grid lists different values, at least one", ""),
    ("/methods/linmap/alpha", float("nan"), ".methods.linmap.alpha", "expected a number, not nan", ""),
    ("/methods/linmap/alpha", float("-inf"), ".methods.linmap.alpha", "expected a number, not -inf", ""),
    ("/methods/linmap/alpha", 10**400, ".methods.linmap.alpha", "expected a number, not 1000", ""),
    ("/donors/als/factors", "64", ".donors.als.factors", "expected a whole number, not '64'", ""),
    # values
    ("/seeds", [1, 2, 1], ".seeds", "give different whole numbers from 0 up, not [1, 2, 1]", ""),
    ("/seeds", [3, -1], ".seeds", "give different whole numbers from 0 up, not [3, -1]", ""),
    ("/seeds", [], ".seeds", "give different whole numbers from 0 up, not []", ""),
    ("/seeds", 42, ".seeds", "expected a list", "not 42"),
    ("/seeds", [1.5], ".seeds[0]", "expected a whole number, not 1.5", ""),
    ("/seeds", [1, True], ".seeds[1]", "expected a whole number, not True", ""),
    ("/split/test", 0, ".split", "test (0.0) and val (0.1) must be positive", ""),
    ("/split/test", 0.9, ".split", "test (0.9) and val (0.1) must be positive and leave a share for warm items", ""),
    ("/split/popularity_buckets", 0, ".split", "popularity_buckets and min_interactions must be at least 1", ""),
    ("/split/min_interactions", 0, ".split", "popularity_buckets and min_interactions must be at least 1", ""),
    ("/split/val_folds", 1, ".split", "val_folds must be at least 2", ""),
    ("/metrics/k", [], ".metrics", "k must list different positive whole numbers, not []", ""),
    ("/metrics/k", [0, 10], ".metrics", "k must list different positive whole numbers, not [0, 10]", ""),
    ("/metrics/k", [10, 10], ".metrics", "k must list different positive whole numbers, not [10, 10]", ""),
    ("/methods/knn/k", 0, ".methods.knn", "k must be at least 1", ""),
    ("/methods/linmap/alpha", 0, ".methods.linmap", "alpha must be above 0", ""),
    ("/donors/als/iterations", 0, ".donors.als", "factors and iterations must be at least 1", ""),
    ("/split/replicates", "fold", ".split.replicates", "unknown value 'fold'", "'folds'"),
    # folds: two seeds are given, and test is a fifth
    (
        "/split/replicates",
        "folds",
        ".split.test",
        "with replicates 'folds' each of the 2 seeds tests one fold of 2",
        "",
    ),
    # labels
    (
        "/methods/b",
        {"method": "knn", "label": "knn"},
        ".methods.b",
        "the label 'knn' is used twice. Give each method",
        "",
    ),
    ("/donors/b", {"donor": "als", "label": "als"}, ".donors.b", "the label 'als' is used twice. Give each donor", ""),
]


@pytest.mark.parametrize("path, value, key, problem, remedy", WRONG, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_named_by_its_full_key_with_the_nearest_spelling(path, value, key, problem, remedy):
    key = f"experiments.demo{key.rstrip('.')}" if key[0] == "." else key
    found = message(path, value)
    assert found.startswith(f"{key}: {problem}") and remedy in found
    assert remedy.startswith("'") <= ("did you mean '" in found)


@pytest.mark.parametrize(
    "label", ["../x", "a/b", "oracle", "", ".hidden", "..", "a+b", "a,b", "a b", "ü", 7, None, "a\n"]
)
@pytest.mark.parametrize("where", ["methods", "donors", "experiments", "label"])
def test_a_label_that_cannot_name_a_folder_is_refused(where, label):
    raw = full()
    demo = raw["experiments"]["demo"]
    if where == "experiments":
        raw["experiments"] = {label: demo}
    elif where == "label":
        demo["methods"]["knn"] = {"label": label}
    else:
        demo[where] = {label: {where.removesuffix("s"): "als" if where == "donors" else "knn"}}
    with pytest.raises(ConfigError, match=r"^experiments\.") as caught:
        load(raw)
    assert f"{label!r} cannot name a folder" in str(caught.value)


@pytest.mark.parametrize(
    "path, default",
    [
        ("/split", Split()),
        ("/split/test", 0.2),
        ("/split/strata", ("category", "popularity")),
        ("/seeds", (42, 43, 44, 45, 46)),
        ("/metrics", config.Metrics()),
        ("/metrics/k", (1, 5, 10)),
        ("/metrics/ties", "expected"),
        ("/baseline", "grouped_popularity_personal"),
        ("/donors/als/factors", 64),
        ("/methods/knn", {"k": 20}),
        ("/content/1/as", {"as": "number"}),
        ("keep_scores", False),
    ],
)
def test_a_null_takes_the_default(path, default):
    demo = only(changed(path, None))
    found = {
        "/split": demo.protocol.rule,
        "/split/test": demo.protocol.rule.test,
        "/split/strata": demo.protocol.rule.strata,
        "/seeds": demo.seeds,
        "/metrics": demo.metrics,
        "/metrics/k": demo.metrics.k,
        "/metrics/ties": demo.metrics.ties,
        "/baseline": demo.baseline,
        "/donors/als/factors": demo.donors["als"].points[0]["factors"],
        "/methods/knn": demo.systems["als+knn"].method.points[0],
        "/content/1/as": demo.data.content["year"],
        "keep_scores": demo.keep_scores,
    }
    assert found[path] == default


def test_whole_numbers_are_numbers():
    demo = only(changed("/methods/linmap/alpha", 3))
    assert demo.systems["als+linmap"].method.points[0]["alpha"] == 3 and isinstance(
        demo.systems["als+linmap"].method.points[0]["alpha"], float
    )


def test_a_field_of_the_users_own_needs_a_kind():
    raw = changed("/data", {"adapter": "table", "interactions": "a.csv", "items": "b.csv"})
    with pytest.raises(ConfigError) as caught:
        load(changed("/content", ["tags"], raw))
    assert str(caught.value).startswith(
        "experiments.demo.content[0]: field 'tags': its kind is not known, give 'as'. Allowed: categories, number, text"
    )
    field = {"field": "tags", "as": "categories", "separator": ";"}
    demo = only(changed("/content", [field], raw))
    assert demo.data.content == {"tags": {"as": "categories", "separator": ";"}}


def test_a_config_is_not_changed_by_being_read():
    raw = full()
    load(raw)
    assert raw == full()


SCALARS = st.none() | st.booleans() | st.integers(-3, 70) | st.floats() | st.text(max_size=4) | st.just("module:Class")
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(SCALARS.filter(lambda key: key == key), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value, here=()):
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*here, key)
            yield from places(value[key], (*here, key))


@settings(max_examples=150)
@given(st.sampled_from(list(places(full()))), st.none() | SCALARS, ANYTHING)
def test_anything_anywhere_either_loads_or_is_a_message(place, key, value):
    """No value that YAML can hold, put in any place or under any new key beside it, ends in a traceback."""
    raw = copy.deepcopy(full())
    target = raw
    for step in place[:-1]:
        target = target[step]
    target[key if key is not None and key == key and isinstance(target, dict) else place[-1]] = value
    try:
        load(raw)
    except ConfigError as error:
        assert str(error).startswith(("config", "experiments."))


def test_lists_make_a_grid_of_method_and_donor():
    """Every point of the donor with every point of the method, in the order of the config."""
    entry = {"protocol": "cold-items", "data": {"adapter": "synthetic"}, "content": ["categories"]}
    entry["donors"] = {"als": {"factors": [4, 8]}}
    entry["methods"] = {"linmap": {"alpha": [1, 10]}, "content_profile": {}}
    demo = load({"experiments": {"demo": entry}})["demo"]
    points = demo.systems["als+linmap"].points
    assert [(point["donor"], point["options"]["alpha"]) for point in points] == [(0, 1), (0, 10), (1, 1), (1, 10)]
    assert [point["factors"] for point in demo.donors["als"].points] == [4, 8]
    assert demo.systems["als+linmap"].learning == "tuned" and demo.systems["content_profile"].learning == "free"


def test_yaml_takes_1e_3_for_text_and_it_is_a_number_all_the_same():
    assert yaml.safe_load("1e-3") == "1e-3"
    config = full()
    config["experiments"]["demo"]["methods"]["linmap"]["alpha"] = ["1e-3", "2E1"]
    points = load(config)["demo"].systems["als+linmap"].points
    assert [point["options"]["alpha"] for point in points] == [0.001, 20.0]


@pytest.mark.parametrize("name", ["row", "item_id"])
def test_a_content_field_cannot_have_the_name_of_a_column_that_is_added(name):
    config = full()
    entry = config["experiments"]["demo"]
    entry["data"] = {"adapter": "table", "interactions": "a.csv", "items": "b.csv"}
    entry["content"] = [{"field": "tags", "as": "categories"}, {"field": name, "as": "number"}]
    with pytest.raises(ConfigError, match=rf"content\[1\]: '{name}' is the name of a column that Frostline adds"):
        load(config)


def test_a_method_whose_inputs_are_missing_is_left_out_with_its_reason():
    entry = {
        "protocol": "cold-items",
        "data": {"adapter": "synthetic"},
        "content": ["year"],
        "baseline": "content_ridge",
    }
    entry |= {"split": {"strata": ["popularity"]}, "methods": {"content_ridge": {}, "knn": {}, "stacking_plus": {}}}
    demo = load({"experiments": {"demo": entry}})["demo"]
    no_field = "needs a content field of kind 'categories', and there is none"
    assert demo.left_out == {
        "grouped_popularity": no_field,
        "grouped_popularity_personal": no_field,
        "knn": "transfers a donor's scores, and there is no donor",
        "linmap": "transfers a donor's scores, and there is no donor",
        "stacking_plus": "combines a donor's scores, and there is no donor",
    }
    assert set(demo.systems) == {"random", "constant", "content_ridge", "oracle"}


def test_methods_on_factors_are_left_out_for_a_donor_without_any():
    entry = {"protocol": "cold-items", "data": {"adapter": "synthetic"}, "content": ["categories"]}
    entry |= {"donors": {"als": {}, "mine": {"donor": "scores", "path": "x.csv"}}, "methods": {"magnitude_scaling": {}}}
    demo = load({"experiments": {"demo": entry}})["demo"]
    assert "als+magnitude_scaling" in demo.systems
    assert demo.left_out == {"mine+magnitude_scaling": "needs latent factors, and 'mine' has scores alone"}


def test_a_brought_donor_cannot_be_refitted_for_pseudo_cold_folds():
    entry = {"protocol": "cold-items", "data": {"adapter": "synthetic"}, "content": ["categories"]}
    entry |= {"donors": {"mine": {"donor": "scores", "path": "x.csv"}}}
    entry |= {"methods": {"stacking": {}, "stacking_plus": {"folds": [0, 3]}}}
    demo = load({"experiments": {"demo": entry}})["demo"]
    assert "mine+stacking" in demo.systems
    assert demo.left_out == {
        "mine+stacking_plus": "refits its donors for pseudo-cold folds, and 'mine' was trained elsewhere"
    }


def test_one_pseudo_cold_fold_would_leave_no_warm_item():
    text = message("/methods/stacking", {"folds": 1})
    assert "methods.stacking: folds must be 0 (learn from val alone) or at least 2" in text


def test_a_baseline_that_is_left_out_is_an_error():
    entry = {"protocol": "cold-items", "data": {"adapter": "synthetic"}, "content": ["year"]}
    entry |= {"split": {"strata": ["popularity"]}}
    with pytest.raises(
        ConfigError, match=r"demo\.baseline: 'grouped_popularity_personal' cannot be computed: needs a content"
    ):
        load({"experiments": {"demo": entry}})


def test_C15_a_meta_method_brings_what_it_combines():
    entry = {"protocol": "cold-items", "data": {"adapter": "synthetic"}, "content": ["categories"]}
    entry |= {"donors": {"als": {}, "ease": {}}, "methods": {"weak": {"method": "linmap", "alpha": [1, 2]}}}
    entry["methods"] |= {"stacking_plus": {}, "logreg_calib": {}, "stacking_full": {}}
    systems = load({"experiments": {"demo": entry}})["demo"].systems
    popularity = ("grouped_popularity_personal", "grouped_popularity")
    assert systems["ease+stacking_plus"].signals == ("ease+weak", *popularity)
    assert systems["als+logreg_calib"].signals == ("als+knn", "als+embedding_average", "als+neighbour_max")
    free = {name for name, s in systems.items() if s.learning != "meta" and s.kind in ("system", "baseline")}
    assert set(systems["stacking_full"].signals) == free and len(free) == 2 + 4 * 2
    assert systems["stacking_full"].learning == "meta" and systems["ease+weak"].learning == "tuned"


def test_a_meta_method_combines_the_systems_that_it_names():
    entry = {
        "protocol": "cold-items",
        "data": {"adapter": "synthetic"},
        "content": ["categories"],
        "donors": {"als": {}},
    }
    entry["methods"] = {"knn": {}, "few": {"method": "stacking_full", "signals": ["als+knn", "grouped_popularity"]}}
    systems = load({"experiments": {"demo": entry}})["demo"].systems
    assert systems["few"].signals == ("als+knn", "grouped_popularity") and len(systems["few"].points) == 1
    entry["methods"]["few"]["signals"] = ["als+knm"]
    said = r"methods\.few\.signals\[0\]: 'als\+knm' is no system of this experiment.* did you mean 'als\+knn'"
    with pytest.raises(ConfigError, match=said):
        load({"experiments": {"demo": entry}})


def with_folds(seeds, **split):
    raw = changed("/seeds", seeds)
    raw["experiments"]["demo"]["split"] = {"replicates": "folds", **split}
    return raw


def test_folds_share_out_the_items_among_the_seeds():
    demo = only(with_folds([7, 3, 5]))
    assert demo.protocol.rule.test == pytest.approx(1 / 3)
    assert only(with_folds([7, 3, 5], test=0.33)).protocol.rule.test == pytest.approx(1 / 3)
    given = [json.loads(plan.spec("split", demo, seed=str(seed)))["folds"] for seed in demo.seeds]
    assert given == [{"number": number, "of": 3, "seed": 3} for number in range(3)]
    assert "folds" not in json.loads(plan.spec("split", only(full()), seed="42"))
    replicates = [json.loads(plan.spec("significance", one))["replicates"] for one in (demo, only(full()))]
    assert replicates == ["folds", "draws"]


@pytest.mark.parametrize(
    "seeds, split, says",
    [
        ([1], {}, "seeds: with split.replicates 'folds' each seed is a fold. Give at least two seeds"),
        ([1, 2, 3, 4], {"test": 0.2}, "split.test: .* each of the 4 seeds .* so it is 0.25, not 0.2. Leave it out"),
        ([1, 2], {"val": 0.5}, "split.val: 2 folds and val .0.5. leave no share for warm items"),
    ],
)
def test_folds_that_cannot_be_are_named(seeds, split, says):
    with pytest.raises(ConfigError, match=says):
        load(with_folds(seeds, **split))


def test_a_donor_may_be_started_again():
    """The same donor under two labels: its systems are told apart by the random start alone."""
    again = {"als": {"factors": 8}, "als_again": {"donor": "als", "factors": 8, "restart": 1}, "wide": {"donor": "als"}}
    demo = only(changed("/donors", again))
    given = {name: json.loads(plan.spec("fit_donor", demo, donor=name, point="0", seed="42")) for name in again}
    assert given["als_again"] == given["als"] | {"restart": 1} and "restart" not in given["als"]
    restarts = json.loads(plan.spec("significance", demo))["restarts"]
    assert sorted(restarts) == [["als+knn", "als_again+knn"], ["als+linmap", "als_again+linmap"]]
    assert json.loads(plan.spec("significance", only(full())))["restarts"] == []


@pytest.mark.parametrize("value", [-1, 1.5, True, "1", [0, 1]])
def test_a_restart_is_a_number(value):
    found = message("/donors/als/restart", value)
    assert (
        found == f"experiments.demo.donors.als.restart: numbers a random start, a whole number from 0 up, not {value!r}"
    )


def test_a_donor_that_was_trained_elsewhere_has_no_other_start():
    found = message("/donors/als", {"donor": "scores", "path": "x.parquet", "restart": 1})
    assert found.startswith("experiments.demo.donors.als.restart: 'scores' is trained elsewhere")
