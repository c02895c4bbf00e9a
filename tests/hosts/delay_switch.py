"""A switch in user space that forwards each packet after a delay.

It replaces netem, which not every kernel has.

Usage: delay_switch.py SECONDS PID...
Makes eth0 in the network of each process, prints `ready`, and runs until it is killed.
The switch itself adds some 50 microseconds. Port i has the address 02:00:00:00:00:i.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

TUNSETIFF = 0x400454CA
TAP_WITHOUT_HEADER = 0x0002 | 0x1000
CLONE_NEWNET = 0x40000000
LARGEST_PACKET_BYTES = 65536
PACKETS_AT_ONCE = 32


def open_port(number: int, pid: int) -> int:
    """Makes eth0 in the network of a process. The calling process stays in that network."""
    libc = ctypes.CDLL(None, use_errno=True)
    with Path(f"/proc/{pid}/ns/net").open("rb") as network:
        if libc.setns(network.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"the network of process {pid} cannot be entered")
    port = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH22x", b"eth0", TAP_WITHOUT_HEADER))
    link = [
        "ip",
        "link",
        "set",
        "eth0",
        "address",
        f"02:00:00:00:00:{number:02x}",
        "mtu",
        "9000",
        "txqueuelen",
        "10000",
    ]
    subprocess.run([*link, "up"], check=True)
    return port


def targets(packet: bytes, source: int, ports: list[int]) -> list[int]:
    """The ports that get a packet: the addressed port, or all other ports for a broadcast."""
    if packet[0] & 1:
        return [port for number, port in enumerate(ports) if number != source]
    return [ports[packet[5]]] if packet[0] == 2 and packet[5] < len(ports) else []


def main(delay_seconds: float, pids: list[int]) -> None:
    ports = [open_port(number, pid) for number, pid in enumerate(pids)]
    print("ready", flush=True)
    numbers = {port: number for number, port in enumerate(ports)}
    under_way: deque[tuple[float, int, bytes]] = deque()
    while True:
        wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
        readable, _, _ = select.select(ports, [], [], wait)
        due = time.monotonic() + delay_seconds
        for port in readable:
            for _ in range(PACKETS_AT_ONCE):
                try:
                    packet = os.read(port, LARGEST_PACKET_BYTES)
                except BlockingIOError:
                    break
                under_way.extend((due, target, packet) for target in targets(packet, numbers[port], ports))
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, target, packet = under_way.popleft()
            with contextlib.suppress(BlockingIOError):  # a full port drops packets, as a real one does
                os.write(target, packet)


if __name__ == "__main__":
    main(float(sys.argv[1]), [int(pid) for pid in sys.argv[2:]])
