"""`frostline audit results/<experiment>`: every check with its evidence, and an exit code that a script can use."""

import pytest

from frostline.cli import main

CHECKS = [
    {"name": "cold items are not in train", "result": "passed", "detail": "holds in every seed"},
    {"name": "each item is in one fold", "result": "failed", "detail": "seed 1: items repeat"},
    {"name": "every donor was trained here", "result": "warning", "detail": "'mine' is an unverified donor"},
]


@pytest.fixture
def folder(files):
    def put(checks):
        verdict = {
            "checks": {check["name"]: check["result"] != "failed" for check in checks},
            "warnings": {check["name"]: check["detail"] for check in checks if check["result"] == "warning"},
            "evidence": [{"subject": "The split", "checks": checks}],
            "trusted": ["The stage split."],
        }
        files.put("demo/audit/verdict.json", verdict)
        return files.path("demo")

    return put


def test_a_failed_check_is_shown_with_its_evidence_and_the_exit_code_is_1(folder, capsys):
    place = folder(CHECKS)
    assert main(["audit", place]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{place}: 1 of 3 checks passed, 1 warning, 1 FAILED: do not rely on the figures",
        "",
        "The split",
        "  passed    cold items are not in train",
        "            holds in every seed",
        "  failed    each item is in one fold",
        "            seed 1: items repeat",
        "  warning   every donor was trained here",
        "            'mine' is an unverified donor",
        "",
        "What is left to be trusted",
        "  The stage split.",
    ]


def test_without_a_failure_the_exit_code_is_0(folder, capsys):
    place = folder([CHECKS[0], CHECKS[2]])
    assert main(["audit", f"{place}/"]) == 0
    assert capsys.readouterr().out.startswith(f"{place}: 1 of 2 checks passed, 1 warning\n")


def test_colours_are_for_people(folder, capsys, monkeypatch):
    place = folder(CHECKS)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    main(["audit", place])
    assert "\033[32mpassed  \033[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["audit", place])
    assert "\033" not in capsys.readouterr().out


def test_a_folder_without_an_audit_is_a_clear_error_of_two_lines(tmp_path, capsys):
    assert main(["audit", str(tmp_path)]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0] == f"frostline: error: {tmp_path}/audit/verdict.json: there is no such file"
    assert lines[1].startswith("Give the folder of an experiment, such as results/demo")


def test_a_verdict_that_was_changed_by_hand_is_refused(folder, files, capsys):
    place = folder(CHECKS)
    path = files.folder / "demo/audit/verdict.json"
    path.write_text(path.read_text().replace("false", "true"))
    assert main(["audit", place]) == 1
    assert "was changed after Frostline wrote it" in capsys.readouterr().err
