"""The largest request that each endpoint takes from one account, for the rows of the part fairness.

`REQUESTS` has a row for every path of the server's route table; a test holds it to that.
"""

import base64
import hashlib
import http.client
import json
import subprocess
import time

from lenticular import CONTAINER

MOST = 200
ZONE = {"zoneName": "Abuser"}
SUBSCRIPTIONS = 500
TOPIC = "x" * 2_900
TOPIC_RANGE = range(SUBSCRIPTIONS)


def zones(more=None):
    return {"zones": [{"zoneID": {"zoneName": f"z{number}"}} | (more or {})
                      for number in range(MOST)]}


def people(key, name):
    return {key: [{name: f"p{number}@example.org"} for number in range(MOST)]}


def saves(made):
    return {"zoneID": ZONE, "operations": [
        {"operationType": "forceUpdate", "record": {
            "recordName": f"s{number}", "recordType": "Junk",
            "fields": {"text": {"value": "x" * 9_000}}}} for number in range(MOST)]}


def subscription(number):
    return {"subscriptionID": f"s{number}", "subscriptionType": "query",
            "firesOn": ["create"], "zoneID": ZONE, "query": {"recordType": "Junk", "filterBy": [{
                "fieldName": "text", "comparator": "EQUALS",
                "fieldValue": {"value": f"{TOPIC}{number}"}}]}}


def links(made, **more):
    return {"shortGUIDs": [{"value": made["link"]} | more] * MOST}


QUERY = {"zoneID": ZONE, "resultsLimit": MOST, "query": {"recordType": "Junk", "filterBy": [{
    "fieldName": "n", "comparator": "NOT_EQUALS", "fieldValue": {"value": -1, "type": "INT64"}}]}}

# By path: the module of the address, its database if it has one, and what is asked of what `prepare` has made.
REQUESTS = {
    "records/modify": ("database", "private", saves),
    "records/lookup": ("database", "private", lambda made: {
        "zoneID": ZONE, "records": [{"recordName": f"j{number}"} for number in range(MOST)]}),
    "records/query": ("database", "private", lambda made: QUERY),
    "records/changes": ("database", "private", lambda made: {
        "zoneID": ZONE, "resultsLimit": 100_000}),
    "records/resolve": ("database", "public", lambda made: links(
        made, shouldFetchRootRecord=True)),
    "records/accept": ("database", "public", links),
    "records/requestAccess": ("database", "public", links),
    "assets/upload": ("database", "private", lambda made: {
        "zoneID": ZONE, "tokens": [{"recordType": "Junk", "fieldName": "file"}] * MOST}),
    "assets/rereference": ("database", "private", lambda made: {
        "zoneID": ZONE, "assets": [{"recordName": "filed", "fieldName": "file"}] * MOST}),
    "zones/list": ("database", "private", lambda made: {}),
    "zones/lookup": ("database", "private", lambda made: {
        "zones": [zone["zoneID"] for zone in zones()["zones"]]}),
    "zones/modify": ("database", "private", lambda made: {"operations": [
        {"operationType": "create", "zone": zone} for zone in zones()["zones"]]}),
    "zones/changes": ("database", "private", lambda made: {}),
    "changes/database": ("database", "private", lambda made: {}),
    "changes/zone": ("database", "private", lambda made: zones({"resultsLimit": MOST})),
    "subscriptions/list": ("database", "private", lambda made: {}),
    "subscriptions/lookup": ("database", "private", lambda made: {
        "subscriptions": [{"subscriptionID": f"s{number}"} for number in range(MOST)]}),
    "subscriptions/modify": ("database", "private", lambda made: {"operations": [
        {"operationType": "update", "subscription": subscription(number)}
        for number in range(MOST)]}),
    "users/caller": ("database", "public", lambda made: {}),
    "users/current": ("database", "public", lambda made: {}),
    "users/discover": ("database", "public", lambda made: people("lookupInfos", "emailAddress")),
    "users/lookup/email": ("database", "public", lambda made: people("users", "emailAddress")),
    "users/lookup/id": ("database", "public", lambda made: {
        "users": [{"userRecordName": made["name"]}] * MOST}),
    "users/lookup/contacts": ("database", "public", lambda made: {}),
    "tokens/create": ("device", None, lambda made: {"apnsEnvironment": "development"}),
    "tokens/register": ("device", None, lambda made: {
        "apnsEnvironment": "development", "apnsToken": made["token"]}),
    "accounts/web-token": ("accounts", None, lambda made: {"externalID": "abuser"}),
}
# Beside the route table: a poll of the courier, hung up at once.
COURIER = "courier"
NAMES = [*REQUESTS, COURIER]


def prepare(server, name, query, folder):
    """Makes what the requests speak of; the account has a zone "Abuser" with records."""
    def post(operation, body, module="database", database="private"):
        return server.post_to(target(operation, module, database, query), body)

    def batches(operation, key, items):
        for start in range(0, len(items), MOST):
            post(operation, {key: items[start:start + MOST]})

    batches("zones/modify", "operations", [
        {"operationType": "create", "zone": zone} for zone in zones()["zones"]])
    batches("subscriptions/modify", "operations", [
        {"operationType": "create", "subscription": subscription(number)}
        for number in TOPIC_RANGE])
    courier = post("tokens/create", {"apnsEnvironment": "development"}, "device", None)
    return {
        "name": name, "token": courier["apnsToken"],
        "courier": "/courier/" + courier["webcourierURL"].partition("/courier/")[2],
        "link": share(post), "key": key(server, folder), "query": query,
        "filed": upload(server, post)}


def share(post):
    """The link to a record that everybody with the link may read."""
    made = post("records/modify", {"zoneID": ZONE, "operations": [
        {"operationType": "create", "record": {"recordName": "shown", "recordType": "Junk"}},
        {"operationType": "create", "record": {
            "recordType": "cloudkit.share", "recordName": "share", "fields": {},
            "forRecord": {"recordName": "shown"}, "publicPermission": "READ_ONLY"}}]})
    return made["records"][0]["shortGUID"]


def upload(server, post):
    """Saves a record with an asset."""
    token = post("assets/upload", {
        "zoneID": ZONE, "tokens": [{"recordType": "Junk", "fieldName": "file"}]})["tokens"][0]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/assets/" + token["url"].partition("/assets/")[2], b"filed")
    receipt = json.loads(connection.getresponse().read())["singleFile"]
    connection.close()
    return post("records/modify", {"zoneID": ZONE, "operations": [
        {"operationType": "create", "record": {
            "recordName": "filed", "recordType": "Junk",
            "fields": {"file": {"value": receipt, "type": "ASSETID"}}}}]})["records"][0][
                "recordName"]


def key(server, folder):
    """A server key that may make tokens for people: its number, and the file it is in."""
    private, public = folder / "key.pem", folder / "public.pem"
    for command in (
            ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(private)],
            ["ec", "-in", str(private), "-pubout", "-out", str(public)]):
        subprocess.run(["openssl", *command], check=True, capture_output=True)
    made = server.command("server-key", "add", CONTAINER, "development",
                          "--public-key", str(public), "--scope", "container")
    return {"id": made["keyID"], "file": str(private)}


def signature(made, path, content):
    """The headers of a request that a server key signs; good for ten minutes."""
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
    signed = subprocess.run(
        ["openssl", "dgst", "-sha256", "-sign", made["key"]["file"]],
        input=f"{date}:{digest}:{path}".encode(), check=True, capture_output=True).stdout
    return [f"X-Apple-CloudKit-Request-KeyID: {made['key']['id']}",
            f"X-Apple-CloudKit-Request-ISO8601Date: {date}",
            f"X-Apple-CloudKit-Request-SignatureV1: {base64.b64encode(signed).decode()}"]


def target(operation, module, database, query):
    path = operation.removeprefix(module + "/")
    parts = ["", module, "1", CONTAINER, "development", *([database] if database else []), path]
    return "/".join(parts) + query


def largest(name, made):
    """Target, body and headers of the largest request to an endpoint; all its connections send it."""
    if name == COURIER:
        return made["courier"], "", []
    module, database, body = REQUESTS[name]
    content = json.dumps(body(made))
    path = target(name, module, database, "" if module == "accounts" else made["query"])
    if module != "accounts":
        return path, content, []
    return path, content, signature(made, path, content.encode())
