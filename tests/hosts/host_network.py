"""Several hosts on one machine: namespaces with a name, processes and memory, joined by a switch.

Processes of two hosts communicate by TCP alone, as on a cluster. Namespaces have no names, and all
links lie inside them. They therefore vanish with the processes that this one starts, also when this
process is killed. Hosts need root on Linux; why_not() names a missing requirement.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

HEAD = "head"  # the host of mpirun: it has a network, but the processes and memory of this machine
SUBNET = "10.77.0"
HEAD_NUMBER = 254
MAX_HOSTS = 200
JUMBO_BYTES = 9000
READY_SECONDS = 300

# The child of unshare is the first process of its namespace. It ends with unshare, and all other
# processes of the namespace end with it.
UNSHARE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--uts", "--mount", "--kill-child")
OWN_PROCESSES = ("--ipc", "--pid", "--fork", "--mount-proc")

# Settings of Open MPI. Hosts share cores here, so waiting ranks yield. Keepalive of the daemons'
# connections notices a silent host in 4 seconds instead of 300.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # For one-sided calls over TCP, MPI_Win_create of Open MPI 4.1 fails without these settings.
    "OMPI_MCA_osc": "ucx,sm",
    "OMPI_MCA_opal_common_ucx_tls": "any",
    "OMPI_MCA_opal_common_ucx_devices": "any",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_oob_tcp_keepalive_time": "2",
    "OMPI_MCA_oob_tcp_keepalive_intvl": "1",
    "OMPI_MCA_oob_tcp_keepalive_probes": "2",
}
PASSED_ON = ("LONGSHORE_", "UCX_", "SHMEM_", "OMPI_MCA_")


def why_not() -> str | None:
    """The requirement that this machine lacks, or None."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "hosts of network namespaces need root on Linux"
    for program in ("ip", "ss", "tc", "nsenter", "unshare", "setpriv", "mpirun"):
        if shutil.which(program) is None:
            return f"hosts of network namespaces need the program {program}"
    tried = subprocess.run(
        [
            *UNSHARE,
            *OWN_PROCESSES,
            "sh",
            "-c",
            "hostname x && ip link add name a type veth peer name b && mount -t tmpfs x /dev/shm",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode != 0:
        return f"this system does not permit hosts of namespaces: {tried.stderr.strip() or tried.returncode}"
    return None


@dataclass
class Host:
    name: str
    number: int  # the last part of its address
    holder: subprocess.Popen[str]
    pid: int  # on this machine; this process has the namespaces of the host

    @property
    def address(self) -> str:
        return f"{SUBNET}.{self.number}"


@dataclass
class HostNetwork:
    folder: Path
    switch: Host
    head: Host
    hosts: list[Host] = field(default_factory=list)
    delays: bool = False  # joined by a switch in user space instead of a bridge
    started: list[subprocess.Popen[str]] = field(default_factory=list)  # by mpirun()

    def command(self, host: Host, *command: str) -> list[str]:
        """The command line that runs `command` on a host."""
        own = ["--ipc", "--pid"] if host in self.hosts else []
        return ["nsenter", "-t", str(host.pid), "--net", "--uts", "--mount", *own, "--", *command]

    def run_on(self, host: Host, *command: str) -> str:
        return subprocess.run(self.command(host, *command), check=True, capture_output=True, text=True).stdout

    def mpirun(
        self, *command: str, ranks_per_host: int, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[str]:
        """Starts a program on all hosts, with consecutive ranks per host and the variables."""
        (self.folder / "hostfile").write_text(
            "".join(f"{host.name} slots={ranks_per_host}\n" for host in self.hosts), encoding="utf-8"
        )
        settings = OPEN_MPI | dict(environment or {}) | {"OMPI_MCA_plm_rsh_agent": str(self.folder / "agent")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PASSED_ON)}
        named = [
            word for name in settings if name.startswith(("LONGSHORE_", "UCX_", "SHMEM_")) for word in ("-x", name)
        ]
        ranks = ranks_per_host * len(self.hosts)
        running = subprocess.Popen(
            self.command(
                self.head, "mpirun", "--hostfile", str(self.folder / "hostfile"), "-n", str(ranks), *named, *command
            ),
            env=kept | settings | {"TMPDIR": str(self.folder)},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(running)
        return running

    def processes(self, host: Host) -> list[str]:
        """Names (first 15 letters) of the processes of a host, except the process that holds it."""
        return [name for _, name in self._running(host)]

    def connected(self, host: Host, name: str) -> set[str]:
        """Addresses of other hosts that are connected with a program's processes on this host."""
        lines = self.run_on(host, "ss", "-tnpH", "state", "established").splitlines()
        of_program = [line.split() for line in lines if f'"{name[:15]}"' in line]
        return {words[3].rsplit(":", 1)[0] for words in of_program} & {other.address for other in self.hosts} - {
            host.address
        }

    def signal(self, host: Host, name: str, number: signal.Signals) -> None:
        """Sends a signal to the processes of a program on a host."""
        for pid, found in self._running(host):
            if found == name[:15]:
                os.kill(pid, number)

    def _running(self, host: Host) -> list[tuple[int, str]]:
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if not entry.name.isdigit() or (entry / "ns/pid").readlink() != self._processes_of[host.name]:
                    continue
                name, rest = (entry / "stat").read_text(encoding="utf-8").split("(", 1)[1].rsplit(")", 1)
                if rest.split()[0] != "Z" and int(entry.name) != host.pid:
                    found.append((int(entry.name), name))
        return found

    def kill(self, host: Host) -> None:
        """Ends the host with its processes and its link."""
        os.kill(host.pid, signal.SIGKILL)
        host.holder.wait()

    def cut(self, host: Host) -> None:
        """Cuts the link of the host; its processes go on."""
        self.run_on(self.switch, "ip", "link", "set", f"port{host.number}", "down")

    def mend(self, host: Host) -> None:
        self.run_on(self.switch, "ip", "link", "set", f"port{host.number}", "up")

    def limit(self, rate: str) -> None:
        """Limits sending and receiving of each host to `rate`, in the notation of tc ("1gbit").

        With a delay, limits sending only.
        """
        shape = ("root", "tbf", "rate", rate, "burst", "128kb", "latency", "50ms")
        for host in self.hosts:
            self.run_on(host, "tc", "qdisc", "replace", "dev", "eth0", *shape)
            if not self.delays:
                self.run_on(self.switch, "tc", "qdisc", "replace", "dev", f"port{host.number}", *shape)

    def __post_init__(self) -> None:
        self._processes_of = {host.name: Path(f"/proc/{host.pid}/ns/pid").readlink() for host in self.hosts}


def wait_for(process: subprocess.Popen[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """The output of a started command. After `seconds` its process group is killed."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as late:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"not over after {seconds} s:\n{out[-2000:]}\n{err[-2000:]}") from late
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def first_line(output: IO[str]) -> str:
    """The first line of a started process, or "" if it prints nothing in time."""
    ready, _, _ = select.select([output], [], [], READY_SECONDS)
    return output.readline() if ready else ""


def _start(name: str, number: int, folder: Path) -> Host:
    own = OWN_PROCESSES if number not in (0, HEAD_NUMBER) else ()
    memory = "mount -t tmpfs memory /dev/shm && " if own else ""
    script = (
        f"hostname {name} && mount --bind {folder / 'names'} /etc/hosts && {memory}echo ready && exec sleep infinity"
    )
    holder = subprocess.Popen(
        [*UNSHARE, *own, "sh", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert holder.stdout is not None
    printed = first_line(holder.stdout)
    if printed != "ready\n":
        holder.kill()
        raise AssertionError(f"host {name} does not start: {printed}")
    pid = holder.pid
    if own:
        pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()[0])
    return Host(name, number, holder, pid)


def _write_names(folder: Path, names: Mapping[str, int]) -> None:
    lines = ["127.0.0.1 localhost", *(f"{SUBNET}.{number} {name}" for name, number in names.items())]
    (folder / "names").write_text("\n".join(lines) + "\n", encoding="utf-8")


# Replaces ssh: it starts the daemons of mpirun in the namespaces of the named host. Hosts need
# separate temporary folders: file names contain process numbers, which repeat between hosts.
AGENT = """#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in
{cases}
*) echo "no host $1" >&2; exit 1 ;;
esac
shift
TMPDIR=/dev/shm exec nsenter -t "$pid" --net --uts --mount --ipc --pid --wd=/ -- /bin/sh -c "$*"
"""


def _write_agent(folder: Path, hosts: list[Host]) -> None:
    cases = "\n".join(f"{host.name}) pid={host.pid} ;;" for host in hosts)
    agent = folder / "agent"
    agent.write_text(AGENT.format(cases=cases), encoding="utf-8")
    agent.chmod(0o755)


def _join_by_bridge(network: HostNetwork) -> None:
    on_switch = f"link add bridge0 mtu {JUMBO_BYTES} type bridge\nlink set bridge0 up\n"
    for host in (*network.hosts, network.head):
        on_switch += (
            f"link add port{host.number} mtu {JUMBO_BYTES} type veth"
            f" peer name eth0 mtu {JUMBO_BYTES} netns {host.pid}\n"
            f"link set port{host.number} master bridge0 up\n"
        )
    batch = network.folder / "links"
    batch.write_text(on_switch, encoding="utf-8")
    network.run_on(network.switch, "ip", "-batch", str(batch))


def _join_by_delay(network: HostNetwork, seconds: float) -> subprocess.Popen[str]:
    program = Path(__file__).with_name("delay_switch.py")
    hosts = (*network.hosts, network.head)
    switch = subprocess.Popen(
        [
            "setpriv",
            "--pdeathsig",
            "KILL",
            sys.executable,
            str(program),
            str(seconds),
            *(str(host.pid) for host in hosts),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert switch.stdout is not None
    printed = first_line(switch.stdout)
    if printed != "ready\n":
        switch.kill()
        raise AssertionError(f"the switch with a delay does not start: {printed}{switch.stdout.read()}")
    return switch


@contextlib.contextmanager
def hosts(count: int, folder: Path, *, rate: str | None = None, delay_seconds: float = 0) -> Iterator[HostNetwork]:
    """Makes hosts h0, h1, ... joined by a switch that limits the rate and delays each packet."""
    assert 1 <= count <= MAX_HOSTS
    names = {HEAD: HEAD_NUMBER} | {f"h{i}": i + 1 for i in range(count)}
    _write_names(folder, names)
    with contextlib.ExitStack() as stack:
        started: list[Host] = []
        for name, number in [("switch", 0), *names.items()]:
            started.append(_start(name, number, folder))
            stack.callback(_stop, started[-1].holder)
        network = HostNetwork(folder, started[0], started[1], started[2:], delay_seconds > 0)
        stack.callback(_stop_groups, network.started)
        _write_agent(folder, network.hosts)
        if delay_seconds > 0:
            stack.callback(_stop, _join_by_delay(network, delay_seconds))
        else:
            _join_by_bridge(network)
        for host in (*network.hosts, network.head):
            lines = f"link set lo up\naddress add {host.address}/24 dev eth0\nlink set eth0 up\n"
            batch = folder / f"addresses{host.number}"
            batch.write_text(lines, encoding="utf-8")
            network.run_on(host, "ip", "-batch", str(batch))
        if rate is not None:
            network.limit(rate)
        yield network


def _stop_groups(started: list[subprocess.Popen[str]]) -> None:
    """Kills the process groups of commands that still run."""
    for process in started:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def _stop(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def until(seconds: float, met: object) -> bool:
    """Whether `met()` becomes true in time."""
    assert callable(met)
    end = time.monotonic() + seconds
    while not met():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
