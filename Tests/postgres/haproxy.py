"""HAProxy before several servers, as a process of a test's own."""

import socket
import subprocess
import time
from pathlib import Path

from servers import free_port

CONFIGURATION = """
global
    maxconn 1000
defaults
    mode http
    timeout connect 5s
    # A server that is slow to say that it is ready is no server that has ended: that one refuses at once.
    timeout check 30s
    timeout client 75s
    timeout server 75s
frontend proxy
    bind 127.0.0.1:{port}
    default_backend servers
backend servers
    balance roundrobin
    # A server that ends closes what it has kept open: so each request has a connection of its own, and what one server
    # does not take goes to another.
    option http-server-close
    option redispatch 1
    retries 5
    retry-on conn-failure
    option httpchk GET /readyz
    http-check expect status 200
    default-server check inter 200ms fall 1 rise 1
{servers}
"""


class HAProxy:
    def __init__(self, servers, folder):
        self.port = free_port()
        self.file, self.log = Path(folder) / "haproxy.cfg", Path(folder) / "haproxy.log"
        self.file.write_text(CONFIGURATION.format(port=self.port, servers="\n".join(
            f"    server s{number} 127.0.0.1:{server.port}" for number, server in enumerate(servers))))

    def __enter__(self):
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(["haproxy", "-db", "-f", str(self.file)], stdout=log, stderr=log)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self
            except ConnectionRefusedError:
                time.sleep(0.02)
        raise RuntimeError(f"HAProxy does not start: {self.log.read_text()}")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
