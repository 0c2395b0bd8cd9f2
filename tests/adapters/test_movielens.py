"""MovieLens in the publisher's layout: exact counts on the real archives, and archives that are not what they should be."""

import io
import zipfile

import pyarrow.compute as pc
import pytest

import frostline.archive
from frostline.adapters.movielens import MovieLens1M, MovieLens100K, MovieLensLatestSmall
from frostline.dataset import KINDS
from frostline.errors import InputError


@pytest.mark.parametrize("adapter_class", [MovieLens1M, MovieLens100K, MovieLensLatestSmall])
def test_p5_real_archive_has_the_publishers_counts(adapter_class, real):
    dataset = real(adapter_class)
    expected = {
        MovieLens1M: {"users": 6_040, "rated items": 3_706, "items": 3_883, "ratings": 1_000_209},
        MovieLens100K: {"users": 943, "rated items": 1_682, "items": 1_682, "ratings": 100_000},
        MovieLensLatestSmall: {"users": 610, "rated items": 9_724, "items": 9_742, "ratings": 100_836},
    }[adapter_class]
    assert expected == adapter_class.EXPECTED
    assert not dataset.notes
    assert dataset.interactions.num_rows == expected["ratings"] and dataset.items.num_rows == expected["items"]
    assert len(pc.unique(dataset.interactions["user"])) == expected["users"]
    assert len(pc.unique(dataset.interactions["item"])) == expected["rated items"]
    steps = 2 if adapter_class is MovieLensLatestSmall else 1  # halves of stars
    assert set(pc.unique(dataset.interactions["weight"]).to_pylist()) == {n / steps for n in range(1, 5 * steps + 1)}
    for name, kind in adapter_class().kinds().items():
        assert dataset.items.schema.field(name).type == KINDS[kind]


def test_real_1m_fields(real):
    dataset = real(MovieLens1M)
    movies = {row["item_id"]: row for row in dataset.items.to_pylist()}
    assert movies["1"] == {
        "item_id": "1",
        "genres": ["Animation", "Children's", "Comedy"],
        "year": 1995,
        "title": "Toy Story",
        "row": 1,
    }
    assert movies["73"]["title"] == "Misérables, Les", "latin-1"
    assert movies["66"]["title"] == "Lawnmower Man 2: Beyond Cyberspace", "a colon in a title"
    first = dataset.interactions.slice(0, 1).to_pylist()[0]
    assert first == {"user": "1", "item": "1193", "weight": 5, "time": 978300760, "row": 1}


def test_real_latest_small_fields(real):
    dataset = real(MovieLensLatestSmall)
    movies = {row["item_id"]: row for row in dataset.items.to_pylist()}
    assert movies["1"]["genres"] == ["Adventure", "Animation", "Children", "Comedy", "Fantasy"]
    assert movies["1"]["year"] == 1995 and movies["1"]["title"] == "Toy Story"
    assert movies["11"]["title"] == "American President, The", "a comma in quotes"
    assert sum(not movie["genres"] for movie in movies.values()) == 34, "(no genres listed) is none"
    first = dataset.interactions.slice(0, 1).to_pylist()[0]
    assert first == {"user": "1", "item": "1", "weight": 4, "time": 964982703, "row": 2}


def test_real_100k_fields(real):
    movies = {row["item_id"]: row for row in real(MovieLens100K).items.to_pylist()}
    assert movies["2"]["genres"] == ["Action", "Adventure", "Thriller"]
    assert movies["267"]["year"] is None and movies["267"]["genres"] == ["unknown"]
    assert movies["1412"]["year"] == 1995 and movies["1412"]["title"].endswith("Great Giving (V)")
    assert movies["1128"]["title"] == "Heidi Fleiss: Hollywood Madam", "a space after the year"


RATINGS = b"7::1::5::978300760\n7::2::3::978302109\n"
MOVIES = "1::Amélie\x85 (2001)::Comedy|Romance\n2::No year::Drama\n".encode("latin-1")


def archive(**members: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in members.items():
            target.writestr(name, data)
    return file


def read(**members: bytes):
    return MovieLens1M("my.zip").read({"archive": archive(**members)}, {})


def test_p5_other_counts_are_a_loud_note_and_no_error():
    dataset = read(**{"ml-1m/ratings.dat": RATINGS, "ml-1m/movies.dat": MOVIES})
    assert dataset.interactions.num_rows == 2
    assert "UNEXPECTED COUNT: my.zip has 2 ratings, the publisher's 1,000,209" in dataset.notes
    assert dataset.items["title"].to_pylist() == ["Amélie\x85", "No year"], "a latin-1 control character breaks no line"


@pytest.mark.parametrize("folder", ["a/b/", ""])
def test_p5_members_may_be_in_a_folder_and_nothing_is_extracted(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read(**{f"{folder}ratings.dat": RATINGS, f"{folder}movies.dat": MOVIES})
    assert not list(tmp_path.rglob("*"))


def test_p5_a_member_that_inflates_without_bound_is_refused(monkeypatch):
    monkeypatch.setattr(frostline.archive, "INFLATED_LIMIT", 10**6)
    with pytest.raises(
        InputError, match=r"my\.zip: 'ratings.dat' would inflate to 2,000,000 bytes\. Get the archive again"
    ):
        read(**{"ratings.dat": b"0" * 2 * 10**6, "movies.dat": MOVIES})


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"ratings.dat": RATINGS}, r"my\.zip: has no member 'movies\.dat'"),
        ({"ratings.dat": RATINGS, "movies.dat": MOVIES, "old/movies.dat": MOVIES}, "has 2 member 'movies"),
        (
            {"ratings.dat": RATINGS.replace(b"::", b":"), "movies.dat": MOVIES},
            r"my\.zip:ratings\.dat: is not user, item",
        ),
        ({"ratings.dat": RATINGS.replace(b"::2::", b":x:2::"), "movies.dat": MOVIES}, "separated by '::'"),
        ({"ratings.dat": RATINGS.replace(b"::3::", b"::good::"), "movies.dat": MOVIES}, "'good'"),
        ({"ratings.dat": b"", "movies.dat": MOVIES}, r"ratings\.dat: is not"),
        ({"ratings.dat": RATINGS, "movies.dat": b""}, r"movies\.dat: is empty"),
        (
            {"ratings.dat": RATINGS, "movies.dat": MOVIES + b"3::x\n"},
            r"my\.zip:movies\.dat, row 3: 2 fields separated by '::' instead of 3",
        ),
    ],
)
def test_p5_another_layout_is_refused(members, message):
    with pytest.raises(InputError, match=message):
        read(**members)


@pytest.mark.parametrize(
    "damage", [lambda data: b"user,item\n1,2\n", lambda data: data[: len(data) // 2], lambda data: b""]
)
def test_p5_a_broken_zip_is_refused(damage):
    whole = archive(**{"ratings.dat": RATINGS * 100, "movies.dat": MOVIES}).getvalue()
    with pytest.raises(InputError, match=r"my\.zip: is not a readable zip file .* Get the archive again"):
        MovieLens1M("my.zip").read({"archive": io.BytesIO(damage(whole))}, {})


def test_p5_a_member_with_flipped_bytes_is_refused():
    whole = bytearray(archive(**{"ratings.dat": RATINGS * 100, "movies.dat": MOVIES}).getvalue())
    whole[60:70] = bytes(10)
    with pytest.raises(InputError, match=r"'ratings\.dat' cannot be unpacked"):
        MovieLens1M("my.zip").read({"archive": io.BytesIO(bytes(whole))}, {})


def test_names_the_file_to_look_for():
    assert MovieLens1M().files()["archive"].name == "ml-1m.zip" and MovieLens1M().files()["archive"].path is None
    assert MovieLens100K("x/y.zip").files()["archive"].path == "x/y.zip"
