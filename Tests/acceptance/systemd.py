"""The server under the system call filter of its systemd unit: it starts, saves, fetches and stops.

The filter is made from the unit's own lines, with the groups as `systemd-analyze syscall-filter` lists them,
and put on by libseccomp in the process that becomes the server, as systemd does it. Then the drop-ins: systemd
knows their words, the server has port 443 by the one capability, and only the proxy's group reaches its socket.
"""

import ctypes
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import tempfile

import server
from server import Server

CONFIGURATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config")
# A package has a unit and settings of its own.
UNIT = os.environ.get("UNIT", os.path.join(CONFIGURATION, "lenticular.service"))
SETTINGS = os.environ.get("UNIT_SETTINGS", os.path.join(CONFIGURATION, "system.json5"))
DROP_INS = UNIT + ".d"
CONTAINER = "iCloud.org.example.Notes"
# As the unit's own user, the server is nobody that may change owners.
USER = 10001

# seccomp.h
ACTION_KILL_PROCESS = 0x80000000
ACTION_ALLOW = 0x7FFF0000
UNKNOWN_CALL = -1


def allowed_calls(unit):
    """The names that the unit's lines leave, in the order and by the rules of systemd.exec(5)."""
    lines = re.findall(r"^SystemCallFilter=(.*)$", unit, re.MULTILINE)
    assert lines and not lines[0].startswith("~"), "the first line is to say what is allowed"
    assert not re.search(r"^SystemCallErrorNumber=", unit, re.MULTILINE), "what is refused kills"
    allowed = set(group("@default"))
    for line in lines:
        names = set(expanded(line.removeprefix("~").split()))
        allowed = allowed - names if line.startswith("~") else allowed | names
    return allowed


def expanded(words):
    for word in words:
        yield from group(word) if word.startswith("@") else [word]


def group(name):
    output = subprocess.run(
        ["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True
    ).stdout
    lines = [line.strip() for line in output.splitlines()[1:]]
    return list(expanded(line for line in lines if line and not line.startswith("#")))


class Filter:
    """What kills the process at the first call that is not allowed."""

    def __init__(self, names):
        self.calls = ctypes.CDLL("libseccomp.so.2", use_errno=True)
        self.calls.seccomp_init.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.calls.seccomp_init(ACTION_KILL_PROCESS))
        for name in sorted(names):
            number = self.calls.seccomp_syscall_resolve_name(name.encode())
            if number == UNKNOWN_CALL:
                continue
            # A negative number stands for a call that this machine does not have.
            failure = self.calls.seccomp_rule_add_array(
                self.context, ACTION_ALLOW, number, 0, None
            )
            assert failure == 0 or number < 0, f"{name}: {os.strerror(-failure)}"

    def put_on(self):
        """From now on, for this process and what it becomes."""
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(USER)
            os.setuid(USER)
        failure = self.calls.seccomp_load(self.context)
        if failure != 0:
            os._exit(100)


class FilteredServer(Server):
    def __init__(self, seccomp):
        super().__init__()
        self.seccomp = seccomp
        if os.geteuid() == 0:
            os.chown(self.folder, USER, USER)

    def started(self, arguments, **outputs):
        return subprocess.Popen(arguments, preexec_fn=self.seccomp.put_on, **outputs)


def post(running, database, endpoint, query, body):
    connection = http.client.HTTPConnection(*running.address, timeout=30)
    path = f"/database/1/{CONTAINER}/development/{database}/{endpoint}{query}"
    connection.request("POST", path, body=json.dumps(body).encode())
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == 200 and "serverErrorCode" not in text, f"{answer.status}: {text}"
    return json.loads(text)


def save_and_fetch(running):
    running.command("container", "create", CONTAINER)
    token = running.command("api-token", "create", CONTAINER, "development")["apiToken"]
    running.command("user", "create", "ada@example.org")
    user = running.command("web-token", "create", CONTAINER, "development", "ada@example.org")
    query = f"?ckAPIToken={token}&ckWebAuthToken={user['webAuthToken']}"

    def ask(endpoint, body):
        return post(running, "private", endpoint, query, body)

    zone = {"zoneName": "Notes"}
    ask("zones/modify", {"operations": [{"operationType": "create", "zone": {"zoneID": zone}}]})
    record = {"recordName": "one", "recordType": "Note", "fields": {"text": {"value": "Tea"}}}
    operation = {"operationType": "create", "record": record}
    ask("records/modify", {"zoneID": zone, "operations": [operation]})
    fetched = ask("changes/zone", {"zones": [{"zoneID": zone}]})["zones"][0]["records"]
    assert [each["recordName"] for each in fetched] == ["one"], fetched
    query_body = {"zoneID": zone, "query": {"recordType": "Note"}}
    assert len(ask("records/query", query_body)["records"]) == 1


def check_way_of_the_loops(running):
    """The threads of the network stand behind the writer, so the call that puts them there worked."""
    tasks = f"/proc/{running.process.pid}/task"
    nices = set()
    for task in os.listdir(tasks):
        try:
            with open(f"{tasks}/{task}/stat") as file:
                nices.add(int(file.read().rpartition(")")[2].split()[16]))
        except (FileNotFoundError, ProcessLookupError):
            pass  # It has ended since.
    assert len(nices) > 1, f"all threads have the same niceness: {nices}"


def back_up(running):
    """Root's folder gets the copy, though the server's user may not even look into it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        running.command("backup", copy)
        checked = subprocess.run(
            [server.BINARY, "check", "--data", copy, "--json"], capture_output=True, text=True
        )
        report = json.loads(checked.stdout)
        assert report["ok"] and report["problems"] == [], checked
        assert os.stat(os.path.join(copy, "catalog.sqlite")).st_uid == os.geteuid()


def check_paths(unit):
    """The unit and its configuration speak of one data folder."""
    with open(SETTINGS) as file:
        data = re.search(r'^ *data: "(.*)",$', file.read(), re.MULTILINE).group(1)
    assert data == "/var/lib/" + re.search(r"^StateDirectory=(.*)$", unit, re.MULTILINE).group(1)
    assert "--data" not in unit and "LENTICULAR_DATA" not in unit


def refused(words, user=None):
    """A command's one line of complaint."""
    become = (lambda: os.setuid(user)) if user else None
    outcome = subprocess.run(
        [server.BINARY, *words], capture_output=True, text=True, preexec_fn=become
    )
    assert outcome.returncode == 1 and outcome.stderr.count("\n") == 1, outcome
    return outcome.stderr


def check_owners(running):
    """Whoever may not use the folder reads what to run; what root has made there is the owner's."""
    if os.geteuid() != 0:
        return
    os.chmod(running.folder, 0o755)
    told = refused(["user", "list", "--data", running.data], user=USER + 1)
    assert f"belongs to {USER}, and this runs as {USER + 1}" in told, told
    assert f"sudo chown -R {USER + 1} {running.data}" in told, told
    lock = os.path.join(running.data, "lock")
    os.chown(lock, 0, 0)
    told = refused(["serve", "--data", running.data], user=USER)
    assert f"run: sudo chown -R {USER} {running.data}" in told, told
    running.command("user", "list")
    assert os.stat(lock).st_uid == USER
    os.chmod(lock, 0)
    told = refused(["serve", "--data", running.data], user=USER)
    assert f"run: chmod 600 {lock}" in told, told
    os.chmod(lock, 0o600)
    running.command("schema", "export", CONTAINER, "production")
    for folder, _, names in os.walk(running.data):
        for name in [".", *names]:
            assert os.lstat(os.path.join(folder, name)).st_uid == USER, (folder, name)


def settings_of(name, replaced):
    """A configuration as the head of a drop-in says it, with this script's places in it."""
    with open(os.path.join(DROP_INS, name)) as file:
        text = "\n".join(re.findall(r"^#     (.*)$", file.read(), re.MULTILINE))
    for old, new in replaced.items():
        assert old in text, f"the head of {name} does not say {old}"
        text = text.replace(old, new)
    return text


def check_words():
    """systemd knows every line of the unit and of its drop-ins."""
    with tempfile.TemporaryDirectory() as folder:
        with open(UNIT) as file:
            text = re.sub(r"/usr/(local/)?bin/lenticular", server.BINARY, file.read())
        path = os.path.join(folder, "lenticular.service")
        with open(path, "w") as file:
            file.write(text)
        shutil.copytree(DROP_INS, path + ".d")
        said = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", path], capture_output=True, text=True,
            env={**os.environ, "SYSTEMD_UNIT_PATH": f"{folder}:/lib/systemd/system"})
        assert said.returncode == 0 and not said.stderr, said
    with open(os.path.join(DROP_INS, "tls.conf")) as file:
        assert "\nPrivateUsers=no\n" in file.read(), "no capability reaches out of its own namespace"


class ServerAs(Server):
    """The server as the unit's user, with what a drop-in gives to it, and the settings of its head."""

    def __init__(self, privileges, binary):
        super().__init__()
        self.privileges = privileges
        self.binary = binary
        os.chown(self.folder, USER, USER)
        os.chmod(self.folder, 0o755)

    def started(self, arguments, **outputs):
        become = ["setpriv", f"--reuid={USER}", "--clear-groups", *self.privileges]
        file = os.path.join(self.folder, "settings.json5")
        return subprocess.Popen(
            [*become, self.binary, "serve", "--data", self.data, "--config", file], **outputs)

    def write(self, name, text, mode=0o400):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        os.chown(path, USER, USER)
        os.chmod(path, mode)


def check_port_443(binary):
    """The one capability is enough for the port, also where the user may read nothing of root's."""
    only = "-all,+net_bind_service"
    privileges = [f"--regid={USER}", f"--inh-caps={only}", f"--ambient-caps={only}",
                  f"--bounding-set={only}"]
    with ServerAs(privileges, binary) as running:
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", "/dev/stdout"],
            check=True, capture_output=True, text=True).stdout
        for name in ("certificate", "key"):
            running.write(name, made)
        running.write("settings.json5", "{" + settings_of("tls.conf", {
            '"0.0.0.0:443", "[::]:443"': '"127.0.43.1:443"',
            "/run/credentials/lenticular.service": running.folder}) + "}")
        running.start()
        context = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.43.1", timeout=30, context=context)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        connection.close()
        running.stop()


def check_socket(binary):
    """Whoever is of the proxy's group reaches the socket, and nobody else does."""
    group = USER + 7
    with ServerAs([f"--regid={group}"], binary) as running:
        socket_folder = os.path.join(running.folder, "run")
        os.mkdir(socket_folder)
        os.chown(socket_folder, USER, group)
        os.chmod(socket_folder, 0o750)
        running.socket = os.path.join(socket_folder, "http.sock")
        running.write("settings.json5", "{" + settings_of("proxy.conf", {
            "/run/lenticular/http.sock": running.socket}) + "}")
        running.start()
        for as_group, status in ((group, 0), (group + 1, 7)):
            asked = subprocess.run(
                ["setpriv", f"--reuid={USER + 1}", f"--regid={as_group}", "--clear-groups", "curl",
                 "--silent", "--unix-socket", running.socket, "http://localhost/healthz"],
                capture_output=True)
            assert asked.returncode == status, (as_group, asked)
        running.stop()


def main():
    with open(UNIT) as file:
        unit = file.read()
    check_paths(unit)
    check_words()
    names = allowed_calls(unit)
    assert not {"mount", "chown", "setuid", "reboot"} & names, "the filter holds back nothing"
    # Read by the server's user, who may not look into the folder that it was built in.
    with FilteredServer(Filter(names)) as running:
        binary = os.path.join(running.folder, "lenticular")
        subprocess.run(["cp", server.BINARY, binary], check=True)
        server.BINARY = binary
        running.start()
        save_and_fetch(running)
        check_way_of_the_loops(running)
        back_up(running)
        running.stop()
        check_owners(running)
        running.start()
        running.stop()
        if os.geteuid() == 0:
            os.chmod(running.folder, 0o755)
            check_port_443(binary)
            check_socket(binary)


main()
