"""What the kernel says of processes and processors."""

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
