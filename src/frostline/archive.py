"""Zip archives as their publishers give them, opened so that a damaged one is named and a bomb does not go off."""

from __future__ import annotations

import re
import stat
import zipfile
import zlib
from typing import BinaryIO

from frostline.errors import InputError

INFLATED_LIMIT = 2**30
"""No member of a publisher's archive is larger; one that claims to be is refused before it fills the memory."""
REMEDY = "Get the archive again from the publisher and leave it as it is"


def opened(file: BinaryIO, name: str) -> zipfile.ZipFile:
    """The archive in an open file; InputError if it is none, or has members that no publisher packs."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        raise InputError(f"is not a readable zip file ({error})", REMEDY, file=name) from error
    for member in archive.infolist():
        path = member.filename.replace("\\", "/")
        if path.startswith("/") or re.match("[A-Za-z]:", path) or ".." in path.split("/"):
            raise InputError(f"has the member {member.filename!r}, which points out of the archive", REMEDY, file=name)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(f"has the member {member.filename!r}, which is a link", REMEDY, file=name)
    return archive


def member_of(archive: zipfile.ZipFile, base: str, name: str) -> bytes:
    """Inflate the one member of that base name, whatever its folder, into memory."""
    found = [member for member in archive.infolist() if member.filename.rpartition("/")[2] == base]
    if len(found) != 1:
        raise InputError(f"has {len(found) or 'no'} member '{base}'", REMEDY, file=name)
    # zipfile never inflates beyond the size that the archive claims.
    if found[0].file_size > INFLATED_LIMIT:
        raise InputError(f"'{base}' would inflate to {found[0].file_size:,} bytes", REMEDY, file=name)
    try:
        return archive.read(found[0])
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"'{base}' cannot be unpacked ({error})", REMEDY, file=name) from error
