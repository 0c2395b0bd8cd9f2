"""Components by name: built in, registered by an installed package, or `module:Class` in the config.

Built-in components are found without scanning the installed packages, because every job would pay for it.
"""

from __future__ import annotations

import re
import sys
from dataclasses import is_dataclass
from importlib import import_module

from frostline.errors import ConfigError, suggest

BUILT_IN: dict[str, dict[str, str]] = {
    "adapters": {
        "synthetic": "frostline.adapters.synthetic:Synthetic",
        "movielens-1m": "frostline.adapters.movielens:MovieLens1M",
        "movielens-100k": "frostline.adapters.movielens:MovieLens100K",
        "movielens-latest-small": "frostline.adapters.movielens:MovieLensLatestSmall",
        "movielens-10m": "frostline.adapters.movielens:MovieLens10M",
        "movielens-20m": "frostline.adapters.movielens:MovieLens20M",
        "movielens-25m": "frostline.adapters.movielens:MovieLens25M",
        "movielens-32m": "frostline.adapters.movielens:MovieLens32M",
        "movietweetings-100k": "frostline.adapters.movietweetings:MovieTweetings100K",
        "ifdb": "frostline.adapters.ifdb:IFDB",
        "kion": "frostline.adapters.kion:KION",
        "goodbooks-10k": "frostline.adapters.goodbooks:Goodbooks10K",
        "amazon-2014": "frostline.adapters.amazon2014:Amazon2014",
        "amazon-2023": "frostline.adapters.amazon2023:Amazon2023",
        "amazon-beauty-electronics": "frostline.adapters.amazon_pair:AmazonBeautyElectronics",
        "amazon-food-kitchen": "frostline.adapters.amazon_pair:AmazonFoodKitchen",
        "mind": "frostline.adapters.mind:MIND",
        "berkeley-catalog": "frostline.adapters.berkeley:BerkeleyCatalog",
        "linked-items": "frostline.adapters.linked_items:LinkedItems",
        "table": "frostline.adapters.table:Table",
        "sql": "frostline.adapters.sql:SQL",
    },
    "donors": {
        "als": "frostline.donors.als:ALS",
        "bpr": "frostline.donors.bpr:BPR",
        "ease": "frostline.donors.ease:EASE",
        "itemknn": "frostline.donors.itemknn:ItemKNN",
        "gbdt": "frostline.donors.gbdt:GBDT",
        "factors": "frostline.donors.factors:Factors",
        "scores": "frostline.donors.scores:Scores",
    },
    "methods": {
        "random": "frostline.methods.random:Random",
        "constant": "frostline.methods.constant:Constant",
        "grouped_popularity": "frostline.methods.grouped_popularity:GroupedPopularity",
        "grouped_popularity_personal": "frostline.methods.grouped_popularity_personal:GroupedPopularityPersonal",
        "content_profile": "frostline.methods.content_profile:ContentProfile",
        "predicted_popularity": "frostline.methods.predicted_popularity:PredictedPopularity",
        "content_ridge": "frostline.methods.content_ridge:ContentRidge",
        "content_kernel": "frostline.methods.content_kernel:ContentKernel",
        "knn": "frostline.methods.knn:KNN",
        "attention_knn": "frostline.methods.attention_knn:AttentionKNN",
        "debiased_knn": "frostline.methods.debiased_knn:DebiasedKNN",
        "scale_shift": "frostline.methods.scale_shift:ScaleShift",
        "embedding_average": "frostline.methods.embedding_average:EmbeddingAverage",
        "magnitude_scaling": "frostline.methods.magnitude_scaling:MagnitudeScaling",
        "attention_embedding": "frostline.methods.attention_embedding:AttentionEmbedding",
        "linmap": "frostline.methods.linmap:LinMap",
        "kernel_map": "frostline.methods.kernel_map:KernelMap",
        "mlp_map": "frostline.methods.mlp_map:MLPMap",
        "dropout_net": "frostline.methods.dropout_net:DropoutNet",
        "neighbour_max": "frostline.methods.neighbour_max:NeighbourMax",
        "logreg_calib": "frostline.methods.logreg_calib:LogregCalib",
        "stacking": "frostline.methods.stacking:Stacking",
        "stacking_plus": "frostline.methods.stacking_plus:StackingPlus",
        "stacking_full": "frostline.methods.stacking_full:StackingFull",
        "lambdarank": "frostline.methods.lambdarank:LambdaRank",
    },
    "protocols": {
        "cold-items": "frostline.protocols.cold_items:ColdItems",
        "next-item": "frostline.protocols.next_item:NextItem",
        "related-items": "frostline.protocols.related_items:RelatedItems",
    },
    "systems": {
        "random": "frostline.systems.random:Random",
        "constant": "frostline.systems.constant:Constant",
        "popularity": "frostline.systems.popularity:Popularity",
        "stack": "frostline.systems.stack:Stack",
        "recent_popularity": "frostline.systems.recent_popularity:RecentPopularity",
        "markov": "frostline.systems.markov:Markov",
        "sequential_rules": "frostline.systems.sequential_rules:SequentialRules",
        "item_knn": "frostline.systems.item_knn:ItemKNN",
        "ease": "frostline.systems.ease:EASE",
        "als": "frostline.systems.als:ALS",
        "user_session_knn": "frostline.systems.user_session_knn:UserSessionKNN",
        "tfidf": "frostline.systems.tfidf:TFIDF",
        "bm25": "frostline.systems.bm25:BM25",
        "lsa": "frostline.systems.lsa:LSA",
        "nmf": "frostline.systems.nmf:NMF",
        "metadata": "frostline.systems.metadata:Metadata",
        "reciprocal_rank_fusion": "frostline.systems.reciprocal_rank_fusion:ReciprocalRankFusion",
        "mmr": "frostline.systems.mmr:MMR",
        "personalised_pagerank": "frostline.systems.personalised_pagerank:PersonalisedPageRank",
    },
}
"""`group → name → module:Class`. The entry-point group of another package is `frostline.<group>`."""

_OWN = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


def locate(group: str, name: str) -> str:
    """Return `module:Class` of a component.

    Raises
    ------
    ConfigError
        When nothing of that name is built in or registered.
    """
    if name in BUILT_IN[group]:
        return BUILT_IN[group][name]
    if _OWN.fullmatch(name):
        return name
    from importlib.metadata import entry_points

    registered = {point.name: point.value for point in entry_points(group=f"frostline.{group}")}
    if name not in registered:
        raise ConfigError(
            f"unknown {group.removesuffix('s')} '{name}': {suggest(name, [*BUILT_IN[group], *registered])}, "
            "or the 'module:Class' of your own"
        )
    return registered[name]


def load(group: str, name: str) -> type:
    """Import a component's class.

    Raises
    ------
    ConfigError
        When there is no such component, its module or class cannot be imported, or it is no dataclass.
    """
    module, _, attribute = locate(group, name).partition(":")
    if name not in BUILT_IN[group] and "" not in sys.path:
        # A file of one's own may lie where one works; last, so that it hides no module of anybody else's.
        sys.path.append("")
    try:
        component = getattr(import_module(module), attribute)
    except Exception as error:  # whatever a module of the user's own does when it is imported
        raise ConfigError(
            f"{group.removesuffix('s')} '{name}' cannot be imported: {type(error).__name__}: {error}. "
            "A module of your own must be importable, for example through PYTHONPATH"
        ) from error
    if not isinstance(component, type) or not is_dataclass(component):
        raise ConfigError(
            f"{group.removesuffix('s')} '{name}' is not a dataclass: its fields are what the config can set"
        )
    return component
