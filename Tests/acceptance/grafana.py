"""Every query of the dashboard and of the rules in config/grafana, asked of a real Prometheus that scrapes a server.

Prometheus takes the rules, every query is answered without an error, and those whose metrics move with a few requests
have samples. A second one, which keeps native histograms, has latencies as such.
"""

import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from server import Server, free_port

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../config/grafana")
CONTAINER = "iCloud.org.example.Notes"
SECONDS_MAX = 180
# What a server has that was asked a little; other queries may have no sample.
ANSWERED = {
    "Operations a second", "Error rate", "Latency", "Requests by container", "Bodies", "Disk",
    "Stored by container", "Queues", "Last backup", "Items that failed", "Process",
    "Credentials refused, sign-ins failed",
}


def ask(server, token, body):
    url = (f"http://{server.address[0]}:{server.address[1]}/database/1/{CONTAINER}/development/public/"
           f"records/lookup?ckAPIToken={token}")
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode())).read()
    except urllib.error.HTTPError as error:
        error.read()


def query(port, text):
    form = urllib.parse.urlencode({"query": text})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{form}") as answer:
        return json.load(answer)


def panels():
    with open(os.path.join(FOLDER, "lenticular.json"), encoding="utf-8") as file:
        return json.load(file)["panels"]


def prometheus(folder, scraped, port, *features):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "prometheus.yml"), "w", encoding="utf-8") as file:
        json.dump({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": ["lenticular.rules.yml"],
            "scrape_configs": [
                {"job_name": "lenticular", "static_configs": [{"targets": [scraped]}]}],
        }, file)
    shutil.copy(os.path.join(FOLDER, "lenticular.rules.yml"), folder)
    with open(os.path.join(folder, "prometheus.log"), "wb") as log:
        return subprocess.Popen(
            ["prometheus", f"--config.file={folder}/prometheus.yml",
             f"--storage.tsdb.path={folder}/prometheus", f"--web.listen-address=127.0.0.1:{port}", *features],
            stdout=log, stderr=log)


def check_native_histograms(server, scraped):
    """A Prometheus that keeps native histograms gets them, with counts that are those of the requests."""
    port = free_port()
    process = prometheus(
        os.path.join(server.folder, "native"), scraped, port, "--enable-feature=native-histograms")
    try:
        until = time.monotonic() + SECONDS_MAX
        latency = 'lenticular_request_duration_seconds{operation="records/lookup"}'
        found = []
        while not found:
            assert time.monotonic() < until, "no native histogram"
            time.sleep(1)
            try:
                found = query(port, f"histogram_count({latency})")["data"]["result"]
            except urllib.error.URLError:
                assert process.poll() is None, "Prometheus has ended"
        assert int(found[0]["value"][1]) >= 3, found
        # Its buckets are about what requests take.
        below = query(port, f"histogram_fraction(0.0000002, 1000, {latency})")["data"]["result"]
        assert float(below[0]["value"][1]) == 1, below
        # What is no histogram comes over too.
        up = query(port, "lenticular_build_info")["data"]["result"]
        assert up and up[0]["metric"]["version"], up
    finally:
        process.kill()
        process.wait()


def unanswered(port, token, server):
    """Asks every query once; the panels that should have samples and have none."""
    ask(server, token, {"records": [{"recordName": "none"}]})
    ask(server, token, {})
    ask(server, "wrong", {})
    left = set()
    for panel in panels():
        found = []
        for target in panel["targets"]:
            text = target["expr"].replace("$job", "lenticular").replace("$__rate_interval", "1m")
            answer = query(port, text)
            assert answer["status"] == "success", (text, answer)
            found += answer["data"]["result"]
        if panel["title"] in ANSWERED and not found:
            left.add(panel["title"])
    return left


def main():
    metrics, port = free_port(), free_port()
    os.environ["LENTICULAR_METRICS_LISTEN"] = f"127.0.0.1:{metrics}"
    with Server() as server:
        os.environ["LENTICULAR_BACKUPS_TO"] = os.path.join(server.folder, "backups")
        server.start()
        server.command("container", "create", CONTAINER)
        token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        process = prometheus(server.folder, f"127.0.0.1:{metrics}", port)
        try:
            until = time.monotonic() + SECONDS_MAX
            left = ANSWERED
            while left:
                assert time.monotonic() < until, f"no samples for {sorted(left)}"
                time.sleep(2)
                try:
                    left = unanswered(port, token, server)
                except urllib.error.URLError:
                    assert process.poll() is None, "Prometheus has ended"
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/rules") as answer:
                groups = json.load(answer)["data"]["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            assert len(rules) > 10 and all(rule["health"] == "ok" for rule in rules), rules
            check_native_histograms(server, f"127.0.0.1:{metrics}")
        finally:
            process.kill()
            process.wait()
        server.stop()
    print(f"{len(panels())} panels and {len(rules)} rules are answered")


main()
