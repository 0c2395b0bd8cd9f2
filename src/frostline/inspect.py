"""`frostline inspect FILE`: where a result came from, read from its sidecar."""

from __future__ import annotations

import json

from frostline.artifacts import digest_file, read_provenance


def describe(path: str) -> str:
    """Lineage of an artifact as text: what made it, and every file that it descends from.

    Raises
    ------
    ArtifactError
        When the file has no provenance or it is in another format.
    """
    provenance = read_provenance(path)
    packages = ", ".join(f"{name} {version}" for name, version in provenance["packages"].items())
    try:
        changed = "" if digest_file(path) == provenance["digest"] else "  (THE FILE HAS CHANGED SINCE IT WAS WRITTEN)"
    except FileNotFoundError:
        changed = "  (the file itself is gone: a temporary result)"
    lines = [
        path + changed,
        f"  stage     {provenance['stage']} (code {provenance['code'] or 'not recorded'}, threads {provenance['threads']})",
        f"  digest    {provenance['digest']}",
        f"  packages  {packages or 'none'}",
        f"  params    {json.dumps(provenance['params'], ensure_ascii=False)}",
        "descends from",
    ]
    ancestors = provenance["ancestors"]
    seen: set[str] = set()

    def walk(file: str, depth: int) -> None:
        entry = ancestors[file]
        again = " (see above)" if file in seen and entry["inputs"] else ""
        lines.append(f"{'  ' * depth}{file}  [{entry['stage']}, {entry['digest'][7:19]}]{again}")
        if file not in seen:
            seen.add(file)
            for parent in entry["inputs"]:
                walk(parent, depth + 1)

    for entry in provenance["inputs"].values():
        walk(entry["file"], 1)
    return "\n".join(lines)
