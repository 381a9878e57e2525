"""One user who looks up, queries and saves 20 times a second each, and how long each took.

Requests begin when they are due, not when the last one has ended; what is late counts from when it was due.
"""

import http.client
import json
import sys
import threading
import time

PER_SECOND = 20
TIMEOUT_SECONDS = 30


def body(kind, number):
    if kind == "lookup":
        return {"records": [{"recordName": f"v{number % 100}"}], "zoneID": {"zoneName": "Victim"}}
    if kind == "query":
        return {"query": {"recordType": "Thing", "filterBy": [{
            "fieldName": "n", "comparator": "EQUALS",
            "fieldValue": {"value": number % 100, "type": "INT64"}}]},
            "zoneID": {"zoneName": "Victim"}}
    return {"operations": [{"operationType": "forceUpdate", "record": {
        "recordName": f"v{number % 100}", "recordType": "Thing",
        "fields": {"n": {"value": number % 100}, "text": {"value": f"saved {number}"}}}}],
        "zoneID": {"zoneName": "Victim"}}


PATHS = {"lookup": "records/lookup", "query": "records/query", "save": "records/modify"}


def ask(asked, kind, ends, took, failed):
    connection = http.client.HTTPConnection("127.0.0.1", asked["port"], timeout=TIMEOUT_SECONDS)
    target = asked["target"] % PATHS[kind]
    due, number = time.monotonic(), 0
    while due < ends:
        time.sleep(max(0, due - time.monotonic()))
        try:
            connection.request("POST", target, json.dumps(body(kind, number)))
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failed.append(answer.status)
        except OSError as error:
            failed.append(repr(error))
            connection.close()
        took.append(time.monotonic() - due)
        number += 1
        due += 1 / PER_SECOND
        # One that hangs is one late answer, and not all that would have come meanwhile.
        if time.monotonic() > due + 1:
            due = time.monotonic()


def main():
    asked = json.loads(sys.argv[1])
    ends = time.monotonic() + asked["seconds"]
    took, failed, threads = {}, {}, []
    for kind in PATHS:
        took[kind], failed[kind] = [], []
        threads.append(threading.Thread(
            target=ask, args=(asked, kind, ends, took[kind], failed[kind])))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({kind: {"took": took[kind], "failed": failed[kind][:5],
                             "failures": len(failed[kind])} for kind in PATHS}))


if __name__ == "__main__":
    main()
