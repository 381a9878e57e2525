"""Every metric that the rules of docs/guides/monitoring.md name is one that the server has, and of the kind meant."""

import re
import shutil
import subprocess
import time
import urllib.request


SECONDS_MAX = 120


def known():
    """The names in the answer, by then with those that a first backup brings."""
    text = urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=60).read().decode()
    return set(re.findall(r"^(?:# TYPE )?(lenticular_\w+)", text, re.MULTILINE))


def main():
    with open("lenticular.rules.yml", encoding="utf-8") as file:
        named = set(re.findall(r"lenticular_\w+", file.read()))
    assert len(named) > 8
    until = time.monotonic() + SECONDS_MAX
    while unknown := named - known():
        assert time.monotonic() < until, unknown
        time.sleep(0.2)
    if shutil.which("promtool"):
        subprocess.run(["promtool", "check", "rules", "lenticular.rules.yml"], check=True)
        subprocess.run(["promtool", "check", "config", "prometheus.yml"], check=True)


main()
