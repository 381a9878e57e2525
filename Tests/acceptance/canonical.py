"""One form for what is sent and what comes back, so that two sets of fields compare as bytes."""

import json
import struct


def canonical(fields):
    """The fields as bytes: by name, each with its type and its value to the last bit."""
    return json.dumps(
        {name: [field["type"], plain(field["type"], field["value"])] for name, field in fields.items()},
        sort_keys=True,
        ensure_ascii=True,
        separators=(",", ":"),
        allow_nan=False,
    ).encode()


def plain(kind, value):
    if kind.endswith("_LIST"):
        return [plain(kind.removesuffix("_LIST"), item) for item in value]
    if kind == "DOUBLE":
        return bits(value)
    if kind == "LOCATION":
        return {key: bits(number) for key, number in value.items()}
    if kind in ("INT64", "TIMESTAMP"):
        assert type(value) is int, value
        return value
    assert type(value) is str, value
    return value


def bits(number):
    """3 and 3.0 are the same double; 0.1 and its neighbour are not."""
    return struct.pack(">d", number).hex()
