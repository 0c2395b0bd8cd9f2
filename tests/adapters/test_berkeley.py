"""The course catalogue: exact counts on the real archive, and what its rows may hold (A1, A2, A3, P5)."""

import csv
import io
import zipfile

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from frostline.adapters.berkeley import BerkeleyCatalog
from frostline.errors import InputError
from frostline.links import Reference, leading_token, resolve, without_spaces

HEADER = [
    "Subject", "Course Number", "Department(s)", "Course Title", "Credits - Units - Minimum Units",
    "Credits - Units - Maximum Units", "Terms Offered", "Course Description", "Cross-Listed Course(s)", "Repeat Rules",
    "Repeat Rule: Special Circumstances", "Offering Information", "Additional Offering Information",
]  # fmt: skip


def course(subject, number, text="-", links="-", title="T", low="3", high="3"):
    return [subject, number, "D", title, low, high, "-", text, links, "-", "-", "-", "-"]


def archive(*files, header=HEADER):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        for position, rows in enumerate(files):
            text = io.StringIO()
            csv.writer(text, quoting=csv.QUOTE_ALL).writerows([header, *rows])
            zipped.writestr(f"folder/part{position}.csv", text.getvalue())
    return stream


def read(*files, **options):
    return BerkeleyCatalog().read({"archive": archive(*files, **options)}, {})


def links(dataset):
    return list(zip(*(dataset.interactions[name].to_pylist() for name in ("user", "item")), strict=True))


def test_A1_A2_A3_the_real_catalogue_has_its_counts(real):
    dataset = real(BerkeleyCatalog)
    report = dataset.links
    assert not dataset.notes and not report["collisions"]
    assert dataset.items.num_rows == 11_169 - 13 and len(report["repeated_keys"]) == 13
    assert (report["references"], report["resolved"]) == (1_517, 1_480)
    assert report["after_collapse"] == {"references": 1_512, "resolved": 1_478}
    assert report["directed"] == {"links": 1_476, "queries": 1_087}
    assert report["symmetric"] == {"links": 1_482, "queries": 1_088}
    assert report["dropped"] == {"outside_reference": 7, "title_fragment": 30, "repeated_link": 4}
    assert len(report["unresolved"]) == 37
    assert len(pc.unique(pc.list_flatten(dataset.items["subject"]))) == 240
    assert not {"links", "number"} & set(dataset.items.column_names)
    texts = dict(zip(dataset.items["item_id"].to_pylist(), dataset.items["title"].to_pylist(), strict=True))
    assert texts["GEOG C188"] == "Geographic Information Science", "the row with a description, not the older one"


def test_A2_every_course_of_every_subject_is_found_by_its_spelling(real):
    keys = real(BerkeleyCatalog).items["item_id"].to_pylist()
    references = [Reference("NOBODY 1", f"{key.replace(' ', '')} TITLE, CUT") for key in keys]
    assert [target for _, target in resolve(references, keys, without_spaces, leading_token).pairs] == sorted(keys)


def test_A1_duplicates_keep_the_longest_text_and_unite_their_links():
    dataset = read(
        [course("A", "1", "short", "B2 X"), course("B", "2"), course("A", "1", "a longer text", "C3 X")],
        [course("C", "3", links="A1 X")],
    )
    assert links(dataset) == [("A 1", "B 2"), ("A 1", "C 3"), ("C 3", "A 1")]
    assert (
        dict(zip(*(dataset.items[n].to_pylist() for n in ("item_id", "description")), strict=True))["A 1"]
        == "a longer text"
    )
    assert dataset.dropped_items == {"repeated_key": 1}
    assert dataset.links["repeated_keys"] == {
        "A 1": ["berkeley-catalog.zip:part0.csv, row 2", "berkeley-catalog.zip:part0.csv, row 4"]
    }


def test_A2_A3_truncated_titles_with_commas_are_told_from_references_outside():
    references = "MATSCIC135 MATS EXTRM ENVRMTS, GEOGC155 RACE, SPACE, INEQ,SOC, GERMANC25 NIETZSCHE, A1 ITSELF"
    dataset = read([course("A", "1", links=references), course("MATSCI", "C135"), course("GEOG", "C155")])
    assert links(dataset) == [("A 1", "GEOG C155"), ("A 1", "MATSCI C135")]
    assert dataset.dropped == {"title_fragment": 2, "outside_reference": 1, "self_reference": 1}
    assert [e["reference"] for e in dataset.links["unresolved"] if e["reason"] == "title_fragment"] == [
        "INEQ,SOC",
        "SPACE",
    ]


def test_P5_quoted_line_breaks_nulls_and_units():
    dataset = read(
        [course("A", "1", 'two\nlines, "quoted"', low="1", high="4"), course("B", "2", "-", low="-", high="-")]
    )
    first, second = dataset.items.sort_by("item_id").to_pylist()
    assert first["description"] == 'two\nlines, "quoted"' and first["units"] == ["1 to 4"]
    assert second["description"] == "" and second["units"] == [] and second["row"] == 4
    assert dataset.interactions.schema.field("user").type == pa.string()


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ([course("", "1")], HEADER, r"part0\.csv, row 2, field 'Subject': is empty"),
        ([course("A", "-")], HEADER, r"field 'Course Number': is empty"),
        (
            [course("A", "1")],
            [*HEADER[:-1], "Other"],
            r"field 'Additional Offering Information': there is no such column",
        ),
    ],
)
def test_P5_broken_rows_are_named(rows, header, message):
    with pytest.raises(InputError, match=message):
        read(rows, header=header)


def test_P5_an_archive_without_a_csv_file_is_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        zipped.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match=r"berkeley-catalog\.zip: holds no CSV file"):
        BerkeleyCatalog().read({"archive": stream}, {})
