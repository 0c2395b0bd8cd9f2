"""Adapters of data sets of which no real file is at hand: small files in the documented layout, right and wrong ones."""

import gzip
import io
import json
import zipfile

import pytest

from frostline.adapters.amazon2014 import Amazon2014
from frostline.adapters.amazon2023 import Amazon2023
from frostline.adapters.goodbooks import Goodbooks10K
from frostline.adapters.kion import KION
from frostline.adapters.mind import MIND
from frostline.adapters.movielens import MovieLens10M, MovieLens25M
from frostline.errors import InputError
from frostline.ingest import clean


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(f"folder/{name.replace('__', '.')}", text if isinstance(text, bytes) else text.encode())
    return stream


def ingested(adapter, files, fields=None):
    """What ingest makes of an adapter's files: interactions and items as rows, and the quality report."""
    kinds = adapter.kinds()
    wanted = {name: {"as": kinds[name]} for name in (fields or kinds)}
    dataset = adapter.read(files, wanted)
    policy = {
        name: getattr(adapter, name) for name in ("repeats", "missing_content", "min_weight") if hasattr(adapter, name)
    }
    interactions, items, quality = clean(dataset, {name: kinds[name] for name in wanted}, **policy)
    return interactions.to_pylist(), {row["item_id"]: row for row in items.to_pylist()}, quality


def triples(interactions):
    return [(row["user"], row["item"], row.get("time"), row["weight"]) for row in interactions]


VIEWS = """user_id,item_id,last_watch_dt,total_dur,watched_pct
176549,9506,2021-05-11,4250,72.0
699317,1659,2021-05-29,8317,100.0
656683,7107,2021-05-09,10,0.0
864613,7638,2021-07-05,14483,
"""
FILM_COLUMNS = (
    "item_id,content_type,title,title_orig,release_year,genres,countries,for_kids,age_rating,studios,directors,actors,"
    "description,keywords"
)
FILMS = (
    FILM_COLUMNS
    + """
9506,film,Поговори с ней,Hable con ella,2002.0,"драмы, зарубежные",Испания,,16.0,,Педро Альмодовар,Ана,"Мелодрама, ""Оскар""
на двух строках","Поговори, ней"
1659,series,Голые перцы,Search Party,2014.0,"зарубежные, комедии",США,0.0,16.0,,Скот,Адам,Уморительная,
7107,film,Без лица,,,,,,,,,,,
7638,film,Ещё,,2020.0,драмы,Россия,,0.0,Ленфильм,,,,
"""
)


def test_P5_kion_in_the_documented_layout():
    files = {"archive": zipped(interactions__csv=VIEWS, items__csv=FILMS)}
    interactions, items, quality = ingested(KION(), files)
    assert triples(interactions) == [
        ("176549", "9506", 1620691200, 1),
        ("656683", "7107", 1620518400, 1),
        ("699317", "1659", 1622246400, 1),
        ("864613", "7638", 1625443200, 1),
    ]
    film = items["9506"]
    assert film["genres"] == ["драмы", "зарубежные"] and film["content_type"] == ["film"]
    assert film["directors"] == ["Педро Альмодовар"] and film["release_year"] == 2002
    assert film["description"] == 'Мелодрама, "Оскар"\nна двух строках' and film["for_kids"] is None
    assert items["7107"]["genres"] == [] and items["7107"]["title_orig"] == ""
    assert quality["interactions"]["dropped"] == {}


@pytest.mark.parametrize(("threshold", "kept"), [(0, 4), (0.5, 2), (72, 2), (72.5, 1), (100, 1)])
def test_P5_kion_counts_a_view_from_a_share_on(threshold, kept):
    files = {"archive": zipped(interactions__csv=VIEWS, items__csv=FILMS)}
    interactions, _, quality = ingested(KION(min_watched_pct=threshold), files, ["genres"])
    assert len(interactions) == kept == quality["interactions"]["kept"]
    assert sum(quality["interactions"]["dropped"].values()) == 4 - kept and quality["interactions"]["read"] == 4


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"interactions__csv": VIEWS}, r"kion\.zip: has no member 'items\.csv'"),
        (
            {"interactions__csv": VIEWS.replace("watched_pct", "pct"), "items__csv": FILMS},
            "field 'watched_pct': there is no such",
        ),
        (
            {"interactions__csv": VIEWS.replace("2021-05-29", "soon"), "items__csv": FILMS},
            "row 3, field 'last_watch_dt': 'soon'",
        ),
        (
            {"interactions__csv": VIEWS.replace("100.0", "all"), "items__csv": FILMS},
            "row 3, field 'watched_pct': 'all'",
        ),
        (
            {"interactions__csv": VIEWS, "items__csv": FILMS.replace("2014.0", "new")},
            "row 4, field 'release_year': 'new'",
        ),
    ],
)
def test_P5_kion_that_is_wrong_is_refused_with_its_place(members, said):
    with pytest.raises(InputError, match=said):
        ingested(KION(min_watched_pct=1), {"archive": zipped(**members)})


RATINGS = "user_id,book_id,rating\n1,258,5\n2,4081,4\n2,258,3\n"
BOOKS = (
    "book_id,goodreads_book_id,books_count,isbn,authors,original_publication_year,original_title,title,language_code,"
    "average_rating\n"
    '258,1,272,439023483,"Suzanne Collins, Ann B.",2008.0,Hunger Games,"The Hunger Games (The Hunger Games, #1)",eng,4.34\n'
    "4081,3,491,439554934,J.K. Rowling,-750.0,,Harry Potter,,4.44\n"
)


def test_P5_goodbooks_in_the_documented_layout():
    interactions, items, quality = ingested(Goodbooks10K(), {"archive": zipped(ratings__csv=RATINGS, books__csv=BOOKS)})
    assert triples(interactions) == [("1", "258", None, 5), ("2", "258", None, 3), ("2", "4081", None, 4)]
    book = items["258"]
    assert book["authors"] == ["Ann B.", "Suzanne Collins"] and book["language_code"] == ["eng"]
    assert book["title"] == "The Hunger Games (The Hunger Games, #1)" and book["original_publication_year"] == 2008
    assert items["4081"]["original_publication_year"] == -750 and items["4081"]["language_code"] == []
    assert quality["time"] is None and not quality["notes"]
    assert not {"average_rating", "books_count"} & set(Goodbooks10K().kinds()), "no field knows later popularity"


def test_P5_movielens_10m_and_the_csv_editions_in_the_documented_layout():
    ten = zipped(
        ratings__dat="1::122::5::838985046\n1::185::4.5::838983525\n",
        movies__dat="122::Amélie (2001)::Comedy|Romance\n185::Net, The (1995)::Action\n",
    )
    interactions, items, _ = ingested(MovieLens10M(), {"archive": ten})
    assert triples(interactions) == [("1", "122", 838985046, 5), ("1", "185", 838983525, 4.5)]
    assert items["122"]["title"] == "Amélie" and items["122"]["genres"] == ["Comedy", "Romance"], "UTF-8"
    ratings = "userId,movieId,rating,timestamp\r\n1,296,5.0,1147880044\r\n1,306,3.5,1147868817\r\n"
    movies = 'movieId,title,genres\r\n296,"Misérables, Les (1995)",Drama|War\r\n306,No year\x85,(no genres listed)\r\n'
    interactions, items, quality = ingested(
        MovieLens25M(), {"archive": zipped(ratings__csv=ratings, movies__csv=movies)}
    )
    assert triples(interactions) == [("1", "296", 1147880044, 5), ("1", "306", 1147868817, 3.5)]
    assert items["296"]["title"] == "Misérables, Les" and items["296"]["year"] == 1995
    assert items["306"]["genres"] == [] and items["306"]["year"] is None
    assert any("2 ratings, the publisher's 25,000,095" in note for note in quality["notes"])


@pytest.mark.parametrize(
    ("ratings", "movies", "said"),
    [
        (
            "user,movie,r,t\n1,2,3,4\n",
            "movieId,title,genres\n2,A,B\n",
            r"ratings\.csv, row 1: does not begin with the header",
        ),
        (
            "userId,movieId,rating,timestamp\n1,2,x,4\n",
            "movieId,title,genres\n2,A,B\n",
            "is not user, item, rating, time",
        ),
        (
            "userId,movieId,rating,timestamp\n1,2,3,4\n",
            "id,title,genres\n2,A,B\n",
            r"movies\.csv, row 1: does not begin",
        ),
        (
            "userId,movieId,rating,timestamp\n1,2,3,4\n",
            "movieId,title,genres\n2,A,B,C\n",
            r"movies\.csv, row 2: 4 fields",
        ),
        ("userId,movieId,rating,timestamp\n1,2,3,4\n", b"movieId,title,genres\n2,\xe9,B\n", "is not CSV in UTF-8"),
    ],
)
def test_P5_a_csv_edition_in_another_layout_is_refused(ratings, movies, said):
    with pytest.raises(InputError, match=said):
        MovieLens25M().read({"archive": zipped(ratings__csv=ratings, movies__csv=movies)}, {})


def lines(*records, pack=True):
    data = "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records).encode()
    return io.BytesIO(gzip.compress(data) if pack else data)


REVIEW_2014 = {
    "reviewerID": "A1",
    "asin": "B01",
    "helpful": [2, 3],
    "overall": 5.0,
    "unixReviewTime": 1252800000,
    "reviewText": "…",
}
PRODUCT_2014 = (
    "{'asin': 'B01', 'title': \"Bob's Brush\", 'related': {'also_bought': ['B02']}, 'salesRank': {'Beauty': 9}, "
    "'brand': 'Bob', 'categories': [['Beauty', 'Tools'], ['Beauty', 'Brushes']]}\n"
)


@pytest.mark.parametrize("pack", [True, False])
def test_P5_amazon_2014_in_the_documented_layout(pack):
    """Reviews are JSON; the metadata are Python literals."""
    other = {"asin": "B02", "categories": [["Beauty"]]}
    reviews = lines(REVIEW_2014, REVIEW_2014 | {"asin": "B02", "overall": 1.0}, pack=pack)
    files = {"reviews": reviews, "metadata": lines(PRODUCT_2014, other, pack=pack)}
    interactions, items, _ = ingested(Amazon2014(), files)
    assert triples(interactions) == [("A1", "B01", 1252800000, 5), ("A1", "B02", 1252800000, 1)]
    assert items["B01"] == {
        "item_id": "B01",
        "categories": ["Beauty", "Brushes", "Tools"],
        "brand": ["Bob"],
        "title": "Bob's Brush",
    }
    assert items["B02"]["brand"] == [] and items["B02"]["title"] == ""
    files = {name: file for name, file in files.items() if not file.seek(0)}
    assert len(ingested(Amazon2014(min_weight=3), files)[0]) == 1


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (
            lines(PRODUCT_2014, "{'asin': open('x')}\n"),
            r"meta_Beauty\.json\.gz, row 2: is neither JSON nor a Python literal",
        ),
        (lines("{'title': 'x'}\n"), "row 1: has no product with an 'asin'"),
        (lines("['asin']\n"), "row 1: has no product with an 'asin'"),
        (io.BytesIO(lines(PRODUCT_2014 * 50).getvalue()[:-30]), "is damaged or cut short"),
    ],
)
def test_P5_amazon_2014_metadata_that_are_wrong_are_refused_and_nothing_in_them_is_run(metadata, said):
    with pytest.raises(InputError, match=said):
        ingested(Amazon2014(), {"reviews": lines(REVIEW_2014), "metadata": metadata})


REVIEW_2023 = {
    "rating": 5.0,
    "title": "Nice",
    "text": "…",
    "images": [{"small": "x"}],
    "asin": "B00X",
    "parent_asin": "B00Y",
    "user_id": "AGKH",
    "timestamp": 1588687728923,
    "helpful_vote": 0,
    "verified_purchase": True,
}
PRODUCT_2023 = {
    "main_category": "All Beauty",
    "title": "Howard | Spray",
    "average_rating": 4.8,
    "rating_number": 10,
    "features": [],
    "price": None,
    "store": "Howard, Products",
    "categories": ["Beauty", "Hair"],
    "details": {"Brand": "x"},
    "parent_asin": "B00Y",
    "bought_together": None,
}


def test_P5_amazon_2023_in_the_documented_layout():
    later = REVIEW_2023 | {"timestamp": 1588687729000, "rating": 2.0, "asin": "B00Z"}
    files = {"reviews": lines(REVIEW_2023, later), "metadata": lines(PRODUCT_2023)}
    interactions, items, quality = ingested(Amazon2023(), files)
    assert triples(interactions) == [("AGKH", "B00Y", 1588687729, 2)], "the last review of a product counts"
    assert quality["interactions"]["dropped"] == {"repeated_pair": 1}
    assert items["B00Y"] == {
        "item_id": "B00Y",
        "main_category": ["All Beauty"],
        "categories": ["Beauty", "Hair"],
        "store": ["Howard, Products"],
        "title": "Howard | Spray",
    }


def test_P5_the_amazon_files_are_named_after_the_category():
    files = Amazon2023(category="Video_Games").files()
    assert files["metadata"].url.endswith("/raw/meta_categories/meta_Video_Games.jsonl.gz")
    assert Amazon2014(category="Books").files()["reviews"].name == "reviews_Books_5.json.gz"


NEWS = 'N1\tsports\tgolf\tPGA "Tour"\tWinners\thttps://x\t[]\t[]\nN2\tnews\tworld\tA title\t\thttps://y\t[]\t[]\n'
BEHAVIOURS = "1\tU1\t11/11/2019 9:05:58 AM\tN3 N2\tN1-1 N2-0\n2\tU2\t11/12/2019 6:11:30 PM\t\tN2-1 N1-1\n"


BEHAVIOURS_DEV = BEHAVIOURS.replace("U", "V")


def mind(train=BEHAVIOURS, dev=BEHAVIOURS_DEV, news=NEWS):
    more = news + "N3\tfood\tnews\tBread\tBaked\thttps://z\t[]\t[]\n"
    return {"train": zipped(behaviors__tsv=train, news__tsv=news), "dev": zipped(behaviors__tsv=dev, news__tsv=more)}


def test_P5_mind_in_the_documented_layout():
    interactions, items, quality = ingested(MIND(), mind())
    assert triples(interactions) == [
        (user, item, time, 1)
        for person in "UV"
        for user, item, time in (
            (f"{person}1", "N1", 1573463158),
            (f"{person}2", "N1", 1573582290),
            (f"{person}2", "N2", 1573582290),
        )
    ]
    assert items["N1"]["title"] == 'PGA "Tour"' and items["N1"]["category"] == ["sports"]
    assert set(items) == {"N1", "N2", "N3"} and quality["items"]["dropped"] == {"repeated_item": 2}
    with_history = ingested(MIND(history=True), mind())[0]
    assert [row for row in triples(with_history) if row[2] is None] == [
        (user, item, None, 1) for user in ("U1", "V1") for item in ("N2", "N3")
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (
            lambda: mind(train=BEHAVIOURS.replace("N2-0", "N2")),
            r"MINDsmall_train\.zip:behaviors\.tsv, row 1, field 'impressions'",
        ),
        (
            lambda: mind(dev=BEHAVIOURS.replace("11/12/2019", "2019-11-12")),
            r"MINDsmall_dev\.zip:behaviors\.tsv.*another form",
        ),
        (lambda: mind(news=NEWS.replace("\t[]\t[]", "")), r"news\.tsv: is not 8 fields separated by tabs"),
    ],
)
def test_P5_mind_in_another_layout_is_refused(files, said):
    with pytest.raises(InputError, match=said):
        ingested(MIND(), files())
