#!/usr/bin/env python3
"""Has schemathesis (PyPI) ask the live server what /openapi.json says may be asked, and more.

No answer may be a server's error, and each must have a status, a content type and a body such as the description says.
What is asked is the same in each run: nothing is left to chance, and nothing is kept from one run to the next.
"""

import json
import os
import subprocess
import sys
import urllib.request

# An answer that waits for news would only take time.
os.environ["LENTICULAR_LIMITS_FEED_WAIT_SECONDS_MAX"] = "1"

from server import Server  # noqa: E402: the settings come first

CONTAINER = "iCloud.org.example.Described"
EXAMPLES = os.environ.get("DESCRIBED_EXAMPLES", "12")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,response_headers_conformance"
)
CONSOLE = "/console/api"
CONFIGURATION = """
[parameters]
"path.container" = "{container}"
"path.environment" = "development"

[auth.openapi.apiToken]
api_key = "{api_token}"

[auth.openapi.webToken]
api_key = "{web_token}"
"""


def say(text):
    print(f"described.py: {text}", flush=True)


def fetch(server, path):
    host, port = server.address
    with urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=30) as answer:
        return json.load(answer)


def check_capabilities(server, document):
    able = fetch(server, "/capabilities")
    assert able["protocolVersions"] == [1] and able["limits"]["feedWaitSecondsMax"] == 1, able
    assert able["version"] == document["info"]["version"], able
    assert fetch(server, able["description"]) == document


def check_console(document):
    """The operators' interface is described, each path with the address that serves it."""
    paths = {path: item for path, item in document["paths"].items() if path.startswith(CONSOLE)}
    assert len(paths) > 50 and f"{CONSOLE}/container/create" in paths, list(paths)
    for path, item in paths.items():
        assert item["servers"][0]["variables"]["console"]["default"] == "127.0.0.1:9465", path
    names = [
        operation["operationId"] for item in document["paths"].values()
        for method, operation in item.items() if method in ("get", "post", "delete")]
    assert len(names) == len(set(names)), sorted(names)


def main():
    with Server() as server:
        server.start()
        server.make_person("ada", "an unusual password 17")
        server.command("container", "create", CONTAINER)
        api_token = server.command(
            "api-token", "create", CONTAINER, "development")["apiToken"]
        web_token = server.command(
            "web-token", "create", CONTAINER, "development", "ada@example.org"
        )["webAuthToken"]
        document = fetch(server, "/openapi.json")
        check_capabilities(server, document)
        check_console(document)
        settings = os.path.join(server.folder, "schemathesis.toml")
        with open(settings, "w") as file:
            file.write(
                CONFIGURATION.format(
                    container=CONTAINER, api_token=api_token, web_token=web_token))
        host, port = server.address
        program = os.path.join(os.path.dirname(sys.executable), "schemathesis")
        ended = subprocess.run(
            [
                program, "--config-file", settings, "run", f"http://{host}:{port}/openapi.json",
                "--url", f"http://{host}:{port}", "--checks", CHECKS,
                # They are at the operators' address, where nobody asks at random.
                "--exclude-path-regex", f"^{CONSOLE}",
                "--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES,
                "--generation-deterministic",
                "--suppress-health-check", "all", "--workers", "1", "--max-time", "90",
                "--request-timeout", "60", "--warnings", "off", "--no-color",
            ],
            capture_output=True, text=True, cwd=server.folder,
        )
        lines = ended.stdout.splitlines()
        if ended.returncode != 0:
            print(ended.stdout, ended.stderr, sep="\n")
            raise SystemExit(1)
        say(f"{len(document['paths'])} paths; {' '.join(lines[-3:])}")


main()
