"""Redis as a process: with an append-only file, and an fsync before each answer."""

import shutil
import socket
import subprocess
import time

import machine

READY_SECONDS_MAX = 30

# What a batch of creates is: all names are free, each record gets the next position, and the feed has the
# names in the order of their positions.
FUNCTIONS = b"""#!lua name=records
redis.register_function('save', function(names, bodies)
  for _, name in ipairs(names) do
    if redis.call('EXISTS', name) == 1 then return redis.error_reply('CONFLICT ' .. name) end
  end
  local last = redis.call('INCRBY', 'position', #names)
  for index, name in ipairs(names) do
    redis.call('SET', name, bodies[index])
    redis.call('ZADD', 'feed', last - #names + index, name)
  end
  return last
end)
"""


def program():
    return shutil.which("redis-server")


class Redis:
    def __init__(self, folder):
        self.folder = folder
        self.port = machine.free_port()

    def __enter__(self):
        self.folder.mkdir(parents=True)
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [program(), "--port", str(self.port), "--bind", "127.0.0.1",
                 "--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always",
                 # It keeps its data in the append-only file alone.
                 "--save", ""],
                stdout=log, stderr=log)
        for _ in range(READY_SECONDS_MAX * 100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    probe.sendall(b"*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n$%d\r\n%s\r\n" % (
                        len(FUNCTIONS), FUNCTIONS))
                    if probe.recv(64).startswith(b"$7\r\nrecords"):
                        return self
            time.sleep(0.01)
        raise RuntimeError("Redis does not get ready")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    @property
    def pid(self):
        return self.process.pid

    def file_bytes(self):
        return sum(path.stat().st_size for path in self.folder.rglob("*.aof"))
