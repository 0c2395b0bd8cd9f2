"""Let the kernel refuse what Python cannot see: files opened by native code and by child processes.

Landlock (Linux 5.13 and later, no privileges needed) binds a process and all that it starts; see the kernel's
Documentation/userspace-api/landlock.rst. Where it is missing, the audit hook of `artifacts.guard` stands alone.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH, _NO_NEW_PRIVS = 1, 38
# Not the whole of /dev: through /dev/shm a stage could pass data on to the next.
_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc",
    "/proc",
    "/sys",
    "/dev/null",
    "/dev/urandom",
    "/dev/random",
)


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def confine_reading(files: Iterable[str]) -> bool:
    """From now on, let this process and its children read `files`, the system and installed code, and nothing else.

    Returns
    -------
    bool
        False where the kernel has no Landlock, and nothing is confined.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rules = _Ruleset(_READ_FILE | _READ_DIR)
    ruleset = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.sizeof(rules), 0)
    if ruleset < 0:
        return False
    for path in {*files, *_SYSTEM, *_code()}:
        try:
            place = os.open(path, os.O_PATH)
        except OSError:
            continue
        rule = _PathBeneath(_READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE, place)
        libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
        os.close(place)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    confined = libc.syscall(_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return confined


def _code() -> set[str]:
    """Folders of installed code; of the folder that one works in, which holds the results too, only its modules."""
    here = os.path.realpath(os.getcwd())
    found = {sys.prefix, sys.base_prefix}
    for folder in map(os.path.realpath, sys.path):
        if os.path.isdir(folder) and os.path.commonpath([folder, here]) == folder:
            with os.scandir(folder) as entries:
                found |= {e.path for e in entries if e.name.endswith(".py") or os.path.exists(f"{e.path}/__init__.py")}
        else:
            found.add(folder)
    return found
