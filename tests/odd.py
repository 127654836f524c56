"""Unusual texts, numbers, cursors, addresses, headers and bodies for requests."""

import base64
import gzip
import json

# As JSON text. A lone surrogate can only be written as an escape.
TEXTS = {
    "nothing": '""',
    "NUL": r'"a\u0000b"',
    "only NUL": r'"\u0000"',
    "half a character": r'"\ud800"',
    "the other half": r'"\udfffx"',
    "right to left": r'"\u202egpj.\u2066exe"',
    "byte order mark": r'"\ufeff"',
    "control characters": r'"\u001b[31m\r\n\u0007\u007f"',
    "not a character": r'"\uffff\ufdd0"',
    "a pair": r'"\ud83d\ude00"',
    "combining": '"Z' + "\u0301" * 500 + '"',
    "wildcards": r'"%_\\%25"',
    "quotes": r'"\u0027;--\" or 1=1"',
    "a path": '"../../../etc/passwd"',
    "digits of another script": '"١٢٣"',
    "long": json.dumps("x" * 100_000),
}
NUMBERS = {
    "2^63": str(2**63),
    "2^63 - 1": str(2**63 - 1),
    "-2^63 - 1": str(-(2**63) - 1),
    "2^31": str(2**31),
    "2^53 + 1": str(2**53 + 1),
    "1e400": "1e400",
    "-1e400": "-1e400",
    "1e308": "1e308",
    "5e-324": "5e-324",
    "NaN": "NaN",
    "Infinity": "Infinity",
    "-Infinity": "-Infinity",
    "NaN as text": '"NaN"',
    "Infinity as text": '"-Infinity"',
    "10^400": str(10**400),
    "too many digits": "9" * 5_000,
    "-0": "-0",
    "-0.0": "-0.0",
    "a half": "0.5",
    "minus one": "-1",
    "true": "true",
    "false": "false",
}
OTHERS = {
    "null": "null",
    "a list": "[]",
    "an object": "{}",
    "a list of lists": "[[[[[[]]]]]]",
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "lists as deep as some parsers go": "[" * 500 + "]" * 500,
    "the same key twice": '{"a": 1, "a": 2}',
    "odd keys": r'{"\u0000": 1, "\ud800": 2, "": 3, "__proto__": {}}',
}
JSON_VALUES = TEXTS | NUMBERS | OTHERS

_ID = 10**30


def _cursor(*parts: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


CURSORS = [
    "garbage",
    base64.urlsafe_b64encode(b"\x00\xff garbage").decode(),
    base64.urlsafe_b64encode(b"[" * 10_000).decode(),
    base64.urlsafe_b64encode(b"[1e999, NaN, -Infinity]").decode(),
    "A" * 2_001,
    str(_ID),
    _cursor("-created_at", {"time": "0001-01-01T00:00:00+23:59"}, 1),
    _cursor("-created_at", {"time": "9999-12-31T23:59:59-23:59"}, 1),
    _cursor("-created_at", {"time": "1000000000-01-01T00:00:00+00:00"}, 1),
    _cursor("-created_at", {"time": "0001-01-01"}, 1),
    _cursor("-created_at", {"time": 1}, 1),
    _cursor("-created_at", {"number": "1e999"}, 1),
    _cursor("-created_at", None, _ID),
    _cursor("-created_at", None, True),
    _cursor("-created_at", None, -1),
    _cursor("-created_at", "\ud800", 1),
    _cursor("id", _ID, 1),
    _cursor("name", "a\0b", 1),
    _cursor("last_return", {"number": "NaN"}, 1),
    _cursor("last_return", {"number": [1]}, 1),
    _cursor("config:seed", _ID, 1),
    _cursor({}, {}, {}),
    "0" * 16 + "-1",
    "1" * 9 + "-1.1",
    f"1-{10**17}.{10**17}",
    f"{'a' * 16}-{'9' * 5}",
    "1-1",
]

# As part of a URL, after the equals sign or between two slashes.
IN_ADDRESS = [
    "",
    "%00",
    "a%00b",
    "%FF",
    "%C0%AF",
    "%ED%A0%80",
    "%F5%80%80%80",
    "%",
    "%zz",
    "%E2%80%AE",
    "%EF%BB%BF",
    "%0D%0AX-Odd:%201",
    "%2e%2e%2f%2e%2e",
    "%252e",
    "%D9%A1",
    "+1",
    "1_0",
    "0x1",
    "1e3",
    "1.0",
    "0.5",
    " 1".replace(" ", "%20"),
    "-0",
    "0",
    "-1",
    "1e400",
    "-1e400",
    "1e308",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "true",
    "null",
    "None",
    "[]",
    "{}",
    "1,1",
    ",",
    str(2**31),
    str(2**53),
    str(2**53 + 1),
    str(2**63 - 1),
    str(2**63),
    str(-(2**63) - 1),
    str(10**400),
    "9" * 5_000,
    "x" * 10_000,
    "%27%3B--",
    "*",
    ",".join(str(number) for number in range(1, 10_001)),
    *CURSORS,
]

# Whole query strings, in addition to the known parameters.
QUERIES = [
    "&" * 1_000,
    "=",
    "=1&=2",
    "%FF=%FF",
    "%00=1",
    ";".join(f"a{number}=1" for number in range(1_000)),
    "&".join(f"a{number}=1" for number in range(3_000)),
    "a" * 30_000,
    "?" * 100,
    "#",
]

HEADERS: list[tuple[str, str | bytes]] = [
    *(
        ("Range", value)
        for value in (
            "bytes=0-0",
            "bytes=5-1",
            "bytes=-0",
            "bytes=-1",
            "bytes=-999999999999999999",
            "bytes=999999-",
            "bytes=0-",
            "bytes=" + "9" * 400 + "-",
            "bytes=0-0,1-1",
            "bytes=" + "0-," * 2_000,
            "lines=1-2",
            "bytes",
            "bytes=--1",
            "bytes=a-b",
            b"bytes=\xff-",
            "bytes=\u0661-",
            "",
        )
    ),
    *(("If-Range", value) for value in ('"x"', "Wed, 21 Oct 2015 07:28:00 GMT", "W/", b"\xff")),
    *(("If-None-Match", value) for value in ("*", '"', 'W/"x"', "x" * 5_000, b"\xff\xfe", '"a", ' * 500)),
    *(("If-Modified-Since", value) for value in ("never", "Thu, 01 Jan 0000 00:00:00 GMT", b"\xff")),
    *(
        ("Origin", value)
        for value in ("http://[", "http://]", "null", "", "http://[::1", "//", "http://127.0.0.1:99999999", b"\xff")
    ),
    *(("Sec-Fetch-Site", value) for value in ("cross-site", "", b"\xff")),
    *(
        ("Host", value)
        for value in (
            "",
            "[",
            "]",
            "[::1",
            "[::1]:x",
            "localhost:99999999",
            "evil.example",
            "127.0.0.1.",
            "a" * 5_000,
            "localhost/x",
            "user@localhost",
            "1.1",
            "[fe80::1%25eth0]",
            b"\xff",
        )
    ),
    *(("Accept-Encoding", value) for value in ("gzip;q=nan", "gzip;q=", "*", "x" * 5_000, "gzip, " * 1_000, b"\xff")),
    *(("Accept", value) for value in ("", "text/html;q=nan", b"\xff")),
    *(
        ("Content-Type", value)
        for value in (
            "",
            "text/plain",
            "application/json; charset=utf-16",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "multipart/form-data; boundary=" + "x" * 300,
            "application/xml",
            "a/b/c",
            ";" * 500,
            "application/json;" * 200,
            b"application/json; charset=\xff",
        )
    ),
    *(("Content-Encoding", value) for value in ("gzip", "br", "x")),
    *(("Last-Event-ID", value) for value in ("", "0", "x" * 5_000, "\u202e", b"\xff", "9" * 400)),
    *(
        ("Authorization", value)
        for value in ("", "Bearer", "Bearer ", "Bearer \u00e4\u6f22", b"Bearer \xff\xfe", "Basic Og==", "Bearer " * 500)
    ),
    *(("Cookie", value) for value in ("arcadia_session", "arcadia_session=\u00e4", b"arcadia_session=\xff", "=" * 900)),
    *(("X-Forwarded-For", value) for value in ("x", "::", "1.2.3.4, " * 200)),
    *(("Expect", value) for value in ("100-continue", "x")),
    *(("Accept-Language", value) for value in (b"\xff", "x" * 5_000)),
]

# Bodies that are invalid for every call.
BODIES: dict[str, bytes] = {
    "nothing": b"",
    "half an object": b'{"config": {"algorithm": "pa',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "deep and closed": b'{"a":' * 900 + b"1" + b"}" * 900,
    "too many digits": b"9" * 100_000,
    "no UTF-8": b'{"name": "\xff\xfe"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "UTF-32": '{"name": "x"}'.encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "half a character": b'{"\xed\xa0\x80": 1}',
    "NUL": b"\0" * 1_000,
    "NaN": b"NaN",
    "a text": b'"x"',
    "keys of odd kinds": rb'{"\u0000": 1, "\ud800": 2}',
    "the same key twice": b'{"action": "stop", "action": "purge", "ids": [1], "ids": []}',
    "a bomb": gzip.compress(b"[" + b"0," * 5_000_000 + b"0]"),
}
# One of each is enough, because each has the maximum size.
LARGE_BODIES: dict[str, bytes] = {
    "a long text": b'{"name": "' + b"x" * 3_999_000 + b'"}',
    "many keys": json.dumps({f"key{number}": number for number in range(200_000)}).encode(),
    "a long list": b"[" + b"1," * 1_900_000 + b"1]",
    "too large": b" " * 4_000_001,
}
