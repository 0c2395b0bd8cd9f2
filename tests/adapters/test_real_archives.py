"""MovieTweetings and IFDB: exact counts and fields on the real archives, and files that are not what they should be."""

import io
import zipfile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from frostline.adapters.ifdb import IFDB
from frostline.adapters.movietweetings import MovieTweetings100K
from frostline.errors import InputError


def test_P5_movietweetings_has_the_publishers_counts(real):
    dataset = real(MovieTweetings100K)
    assert not dataset.notes
    assert dataset.interactions.num_rows == 100_000 and dataset.items.num_rows == 10_506
    assert len(pc.unique(dataset.interactions["user"])) == 16_554
    assert pc.sum(pc.equal(pc.list_value_length(dataset.items["genres"]), 0)).as_py() == 66
    first = dataset.items.slice(0, 1).to_pylist()[0]
    assert first["title"] == "Fantômas - À l'ombre de la guillotine" and first["year"] == 1913
    assert first["genres"] == ["Crime", "Drama"] and first["item_id"] == "0002844"
    time = dataset.interactions["time"]
    assert pc.min(time).as_py() > 1361923200 and pc.max(time).as_py() < 1378166400  # 2013-02-27 to 2013-09-03


def test_P5_ifdb_has_its_counts_and_placeholders_are_no_times(real):
    dataset = real(IFDB)
    assert not dataset.notes
    assert dataset.interactions.num_rows == 71_033 and dataset.items.num_rows == 6_103
    assert len(pc.unique(dataset.interactions["user"])) == 3_179
    assert len(pc.unique(dataset.interactions["item"])) == 9_547
    assert dataset.interactions["time"].null_count == 1_648
    played = set(pc.unique(dataset.interactions["item"]).to_pylist())
    assert len(played & set(dataset.items["item_id"].to_pylist())) == 5_942
    game = next(row for row in dataset.items.to_pylist() if row["title"] == "1893: A World's Fair Mystery")
    assert game["genre"] == ["Historical", "Mystery", "Travel"] and game["system"] == ["tads"]
    assert game["author"] == ["Peter Nepstad"] and game["year"] == 2002
    assert set(dataset.items.column_names) == {*IFDB().kinds(), "item_id", "row"}, "no field knows later popularity"


def archive(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, data in members.items():
            file.writestr(name.replace("__", "."), data)
    return stream


def test_P5_movietweetings_in_another_encoding_is_refused():
    broken = archive(
        ratings__dat="1::0000001::7::1\n", movies__dat="0000001::Fantômas (1913)::Crime\n".encode("latin-1")
    )
    with pytest.raises(InputError, match=r"movies\.dat: is not UTF-8"):
        MovieTweetings100K().read({"archive": broken}, {})


def parquet(table):
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({}, r"ifdb\.zip: has no member 'playedgames\.parquet'"),
        ({"playedgames__parquet": b"PAR1 not"}, r"playedgames\.parquet: is not a readable Parquet file"),
        (
            {"playedgames__parquet": parquet(pa.table({"userid": ["u"], "date_added": [0]}))},
            r"playedgames\.parquet: lacks the column 'gameid'",
        ),
    ],
)
def test_P5_ifdb_that_is_not_what_it_should_be_is_refused(members, said):
    with pytest.raises(InputError, match=said):
        IFDB().read({"archive": archive(**members)}, {})


def test_P5_ifdb_no_zip_is_refused():
    with pytest.raises(InputError, match=r"ifdb\.zip: is not a readable zip file"):
        IFDB().read({"archive": io.BytesIO(b"no zip")}, {})
