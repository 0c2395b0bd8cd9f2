"""A Slurm of one node on this machine, beside any other: own ports, own folder, stopped by the ids of its processes."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "sinfo")

CONF = """\
ClusterName=frostline
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MinJobAge=3600
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,batch_sched_delay=1
ReturnToService=2
KillWait=2
SlurmdTimeout={node_timeout}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mb}
PartitionName=main Nodes={host} Default=YES
"""


def why_not() -> str | None:
    """What this machine lacks to run a Slurm; nothing where it can."""
    path = f"{os.environ['PATH']}{os.pathsep}/usr/sbin"
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if absent:
        return f"{', '.join(absent)} not installed (apt-get install --no-install-recommends slurm-wlm munge)"
    return "slurmctld and slurmd need root" if os.geteuid() else None


class Slurm:
    """Use as a context; `environment` is what Slurm's commands need to find it."""

    def __init__(self, node_timeout: int = 300) -> None:
        """`node_timeout`: seconds after which a node that does not answer is down."""
        # Not below pytest's folder, which only its owner may enter; a socket's path must be short as well.
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.folder.chmod(0o755)
        conf = self.folder / "slurm.conf"
        # Snakemake takes all variables of Slurm from a job, and so what its `srun` would find this Slurm by.
        srun = self.folder / "bin/srun"
        srun.parent.mkdir()
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)
        programs = (srun.parent, Path(sys.executable).parent, os.environ["PATH"])
        self.environment = {"SLURM_CONF": str(conf), "PATH": os.pathsep.join(map(str, programs))}
        self._node_timeout = node_timeout
        self._running: dict[str, subprocess.Popen] = {}

    def __enter__(self) -> Slurm:
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        settings = {
            "host": socket.gethostname().partition(".")[0],
            "ports": _free_ports(2),
            "folder": self.folder,
            "node_timeout": self._node_timeout,
            "cpus": os.cpu_count(),
            "memory_mb": memory * 8 // 10,
        }
        (self.folder / "slurm.conf").write_text(CONF.format(**settings))
        files = {name: str(self.folder / f"munge.{name}") for name in ("socket", "pid", "log", "seed")}
        self._start(
            "munged",
            *("--foreground", "--force", f"--key-file={key}", f"--socket={files['socket']}"),
            *(f"--pid-file={files['pid']}", f"--log-file={files['log']}", f"--seed-file={files['seed']}"),
        )
        self._wait(lambda: Path(files["socket"]).exists(), "munged to open its socket")
        self._start("slurmctld", "-D")
        self.start_node()
        return self

    def __exit__(self, *error: object) -> None:
        for process in reversed(self._running.values()):
            process.terminate()
        for process in self._running.values():
            process.wait(timeout=30)
        shutil.rmtree(self.folder)

    def start_node(self) -> None:
        self._start("slurmd", "-D")
        self._wait(lambda: self.node_state() == "idle", "the node to be idle")

    def stop_node(self) -> None:
        """As if the machine were switched off: the node's daemon and all that runs under it."""
        process = self._running.pop("slurmd")
        process.kill()
        process.wait()

    def node_state(self) -> str:
        return self.call("sinfo", "--noheader", "--format=%T")

    def call(self, *command: str) -> str:
        done = subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True)
        return done.stdout.strip()

    def _start(self, program: str, *arguments: str) -> None:
        with open(self.folder / f"{program}.out", "ab") as out:
            path = shutil.which(program, path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")
            self._running[program] = subprocess.Popen(
                [path, *arguments], env=os.environ | self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )

    def _wait(self, reached, what: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not reached():
            ended = [name for name, process in self._running.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                logs = "\n".join(file.read_text() for file in sorted(self.folder.glob("*.out")))
                raise RuntimeError(f"waited for {what}; ended: {', '.join(ended) or 'none'}\n{logs}")
            time.sleep(0.1)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [bound.getsockname()[1] for bound in sockets]
    for bound in sockets:
        bound.close()
    return ports
