#!/usr/bin/env python3
"""Serves from a PostgreSQL whose tables of stores Citus distributes by the store; says so where there is no Citus.

    Tests/postgres/citus.py [--binary FILE]

A server makes the tables and ends; each but the list of stores is distributed by the store; then a server saves, finds,
lists and deletes there, and its check finds nothing wrong. The packages of Debian have no Citus: where this was written
it could only say so.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from postgresql import PostgreSQL, url
from servers import Server, provision

REPOSITORY = Path(__file__).resolve().parents[2]
ZONE = {"zoneID": {"zoneName": "Shelf"}}
TABLES = """
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
    WHERE c.relkind = 'r' AND c.relnamespace = 'stores'::regnamespace AND a.attname = 'store' AND c.relname <> 'stores'"""


def has_citus():
    with PostgreSQL() as database:
        return database.ask("SELECT count(*) FROM pg_available_extensions WHERE name = 'citus'") != "0"


def prove(binary):
    with PostgreSQL(shared_preload_libraries="citus") as database, tempfile.TemporaryDirectory() as folder:
        database.ask("CREATE EXTENSION citus")
        server = Server(binary, Path(folder), url(database))
        server.start()
        try:
            server.stop()
            tables = database.ask(TABLES).split()
            for table in tables:
                database.ask(f"SELECT create_distributed_table('stores.{table}', 'store')")
            server.start()
            caller = provision([server])
            once(caller, "zones/modify", {"operations": [{"operationType": "create", "zone": ZONE}]})
            for number in range(100):
                record = {"recordName": f"r{number}", "recordType": "Note", "fields": {"text": {"value": "a"}}}
                once(caller, "records/modify", ZONE | {"operations": [{"operationType": "create", "record": record}]})
            page = once(caller, "changes/zone", {"zones": [ZONE]})["zones"][0]
            assert len(page["records"]) == 100, page
            found = once(caller, "records/query", ZONE | {"query": {"recordType": "Note", "filterBy": [
                {"fieldName": "text", "comparator": "EQUALS", "fieldValue": {"value": "a"}}]}})
            assert len(found["records"]) == 100, found
            once(caller, "zones/modify", {"operations": [{"operationType": "delete", "zone": ZONE}]})
            server.stop()
            problems = server.command("check")["problems"]
            assert problems == [], problems
            print(f"Citus: {len(tables)} tables distributed by the store, and served from", flush=True)
        finally:
            server.kill()


def once(caller, operation, body):
    answer = caller.post(operation, body)
    assert answer, f"{operation} is to be tried again"
    return answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(REPOSITORY / ".build/release/lenticular"))
    asked = parser.parse_args()
    if not has_citus():
        print("left out: Citus, which is not among the extensions that this PostgreSQL has")
        return
    prove(asked.binary)


if __name__ == "__main__":
    sys.exit(main())
