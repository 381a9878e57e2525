"""Runs the commands of the guides in docs/guides/ as they are printed, in order, each guide on a machine of its own.

Of a guide's blocks, those of the kind `sh` are run by one shell. A block of `text` or `json` after one is what it
prints: … stands for what differs from run to run, and white space does not count. A block whose first line is a
comment with a file's name is that file. Blocks of the kind `console` are for reading: they need another machine, or
hands. Where Tests/acceptance/guides/NAME.py is, it looks at what NAME.md has left, on the same machine.

Names of guides as arguments: only those.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from server import BINARY

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "../.."))
PAGES = os.path.join(ROOT, "docs/guides")
SECONDS_MAX = 1800
# What the guide's first line of commands takes for granted.
DEVELOPMENT, NOTHING = "a development server at 127.0.0.1:8080", "nothing"
GUIDES = {
    "first-server": NOTHING, "first-web-app": DEVELOPMENT, "swift-app": DEVELOPMENT,
    "scripts": DEVELOPMENT, "coming-from-cloudkit": DEVELOPMENT, "proxies": NOTHING,
    "sizing": NOTHING, "backup-and-disaster": NOTHING, "monitoring": NOTHING,
    "phone-in-development": NOTHING,
}
# Who commits, and what lies at the address that a guide clones from.
GIT = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": f"url.file://{ROOT}.insteadOf",
    "GIT_CONFIG_VALUE_0": "https://git.example.org/lenticular"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^(?://|#|<!--|--) ([\w./-]+\.\w+|Caddyfile)(?: -->)?$")
SHOWN = {"text", "json"}


def blocks(guide):
    with open(os.path.join(PAGES, f"{guide}.md"), encoding="utf-8") as page:
        return BLOCK.findall(page.read())


def file_name(text):
    """The file that a block is, where its first line names one."""
    match = FILE.match(text.split("\n", 1)[0])
    return match and match.group(1)


def script(found, folder):
    """One script that does what the blocks say; what the n-th prints is in the file n of the folder."""
    lines = ["set -euo pipefail", f"exec 2>{folder}/errors"]
    for number, (kind, text) in enumerate(found):
        lines.append(f"echo {number} >{folder}/reached")
        if kind == "sh":
            lines += [f"exec >{folder}/{number}", text]
        elif kind != "console" and file_name(text):
            path = file_name(text)
            with open(os.path.join(folder, f"file.{number}"), "w", encoding="utf-8") as file:
                file.write(text)
            lines.append(f"mkdir -p \"$(dirname {path})\"; cp {folder}/file.{number} {path}")
    lines.append(f"exec >{folder}/rest")
    return "\n".join(lines)


def matches(shown, printed):
    parts = [re.escape("".join(part.split())) for part in shown.split("…")]
    return re.fullmatch(".*?".join(parts), "".join(printed.split()), re.DOTALL)


def compare(guide, found, folder):
    ran, last = 0, None
    for number, (kind, text) in enumerate(found):
        if kind == "sh":
            last, ran = number, ran + 1
        elif kind in SHOWN and not file_name(text) and last is not None:
            with open(os.path.join(folder, str(last)), encoding="utf-8") as file:
                printed = file.read()
            assert matches(text, printed), f"{guide}.md shows\n{text}\nand this was printed:\n{printed}"
            last = None
    return ran


def development(folder):
    """What `serve --dev` prints, as variables; the guides say to put them there."""
    return f"""
lenticular serve --dev --data "$HOME/try" >{folder}/development 2>&1 &
for _ in $(seq 1200); do
    ! grep --quiet '"message":"serving"' {folder}/development || break; sleep 0.1
done
value() {{ sed -n "s/^ *$1  *//p" {folder}/development | sed -n "${{2:-1}}p"; }}
export API_TOKEN=$(value 'API token') WEB_TOKEN=$(value 'web token') OTHER_WEB_TOKEN=$(value 'web token' 2)
export PASSWORD=$(value password) KEY_ID=$(value 'server key')
unset -f value
"""


def run(guide):
    began = time.monotonic()
    found = blocks(guide)
    folder = tempfile.mkdtemp()
    machine = os.path.join(folder, "machine")
    os.mkdir(machine)
    after = os.path.join(HERE, "guides", f"{guide}.py")
    text = development(folder) if GUIDES[guide] == DEVELOPMENT else ""
    text += script(found, folder)
    if os.path.exists(after):
        text += f"\n'{sys.executable}' '{after}'\n"
    path = os.path.join(folder, "script")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    environment = {
        **os.environ, "SERVER_BINARY": os.path.abspath(BINARY), "REPOSITORY": ROOT,
        "PYTHONPATH": HERE, "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"], **GIT}
    outcome = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
         os.path.join(HERE, "guides/sandbox.bash"), machine, "bash", path],
        timeout=SECONDS_MAX, env=environment, stdin=subprocess.DEVNULL)
    if outcome.returncode != 0:
        report(guide, found, folder)
    ran = compare(guide, found, folder)
    shutil.rmtree(folder, ignore_errors=True)
    print(f"  {guide}: {ran} blocks of commands, {time.monotonic() - began:.0f} s", flush=True)


def report(guide, found, folder):
    def tail(name):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                return file.read()[-3000:]
        except OSError:
            return ""

    number = int(tail("reached") or 0)
    raise AssertionError(
        f"{guide}.md failed in or after this block:\n{found[number][1] if found else ''}\n"
        f"printed: {tail(str(number))}\n{tail('rest')}\nerrors: {tail('errors')}\n"
        f"server: {tail('machine/lenticular.log')}\nkept in {folder}")


def main(names):
    written = {name.removesuffix(".md") for name in os.listdir(PAGES)} - {"README", WEB} - CONTRIBUTORS
    assert names or written == set(GUIDES), written ^ set(GUIDES)
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        print("LEFT OUT guides.py: root, unshare and ip are needed (Debian: iproute2)", file=sys.stderr)
        assert os.environ.get("CI_REQUIRE_ALL") != "1"
        return
    for guide in names or GUIDES:
        run(guide)


# How to change the server: Tests/RepositoryTests holds them to the code.
CONTRIBUTORS = {"add-an-endpoint", "add-a-setting", "write-an-engine"}
# The page that it explains is driven by Tests/javascript.
WEB = "web"

main(sys.argv[1:])
