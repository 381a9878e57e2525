"""What the kernel says of processes and processors."""

import ctypes
import mmap
import os
import platform
import resource
import socket
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} is gone")


def resident_bytes_most(pid):
    """Since the process began, or since its `clear_refs` was last written 5 to."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} is gone")


def processor_seconds(pid):
    """User and system time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def busy_seconds():
    """The time that all processors were busy since the machine started, and that was stolen."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    user, nice, system, _, _, irq, softirq, steal = fields[:8]
    return (user + nice + system + irq + softirq) / TICKS, steal / TICKS


def own_seconds():
    """What this process and its ended children used."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def read_through(path):
    """Reads a file once, so that the system has it in memory as far as it keeps what is read."""
    with open(path, "rb", buffering=0) as file:
        while file.read(4 * 1024 * 1024):
            pass


def share_in_memory(path):
    """The part of a file that the system has in memory, from 0 to 1."""
    size = os.path.getsize(path)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    with open(path, "rb") as file:
        place = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    if place == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    try:
        pages = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
        if libc.mincore(ctypes.c_void_p(place), ctypes.c_size_t(size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(page & 1 for page in pages) / len(pages)
    finally:
        libc.munmap(ctypes.c_void_p(place), ctypes.c_size_t(size))


def raise_open_files():
    """As many descriptors as are allowed, for this process and those that it starts."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def described():
    model = [
        line.split(":", 1)[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    memory = int(Path("/proc/meminfo").read_text().split()[1]) // 1024
    return {
        "processors": os.cpu_count(), "model": model[0] if model else platform.machine(),
        "memoryMB": memory, "kernel": platform.release(),
    }
