"""nginx serving two static files, with a configuration of its own, and other servers where asked."""

import os
import shutil
import socket
import subprocess
import time

import machine

CONFIGURATION = """
daemon off;
{user}
worker_processes {workers};
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    sendfile on;
    tcp_nodelay on;
    default_type text/plain;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
{servers}}}
"""


def program():
    return shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")


class Nginx:
    def __init__(self, folder, workers=os.cpu_count(), servers=""):
        self.workers, self.servers = workers, servers
        self.folder = folder / "nginx"
        self.port = machine.free_port()

    def __enter__(self):
        (self.folder / "files").mkdir(parents=True)
        (self.folder / "files/500").write_bytes(b"x" * 500)
        (self.folder / "files/100k").write_bytes(b"x" * 102_400)
        # As root its workers would run as a user who may not enter the folder.
        user = "user root;" if os.geteuid() == 0 else ""
        configuration = self.folder / "nginx.conf"
        configuration.write_text(CONFIGURATION.format(
            folder=self.folder, port=self.port, workers=self.workers, user=user,
            servers=self.servers))
        self.process = subprocess.Popen(
            [program(), "-p", str(self.folder), "-c", str(configuration)],
            stderr=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.01)
        raise RuntimeError("nginx does not listen")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
