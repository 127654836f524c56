"""Damaged and hostile files, made from valid ones with a seed: bytes, JSON, zip files, pickles, arrays and logs."""

import io
import json
import pickle
import random
import struct
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

Members = dict[str, bytes]

# No file of this name may exist after a test.
MARK = "arcadia-test-escaped"
OUTSIDE = f"{tempfile.gettempdir()}/{MARK}"
NAMES = (
    *(f"../{MARK}", f"../../../../../../../..{OUTSIDE}", OUTSIDE, f"runs/1/files/../../../{MARK}", f"..\\{MARK}"),
    *(f"C:\\{MARK}", f"a/\0{MARK}", " ", ".", "a/", "x" * 60_000, "runs/1/rows/\u202e.jsonl"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**53 + 1, 2**63, 10**30, 0.5, -0.0, 1e308, "", "x", "\0", "\ud7ff", "NaN"),
    *(f"../../{MARK}", OUTSIDE, "0" * 64, "x" * 70_000, [], {}, [[]], {"": {}}, [1, "2", None], "[" * 5_000),
)
_INTEGERS = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
_BRACKETS = (b"(", b"[", b"{", b'{"a":', b"'", b'"', b"\x85", b"]", b")")


def damaged(made: random.Random, content: bytes) -> bytes:
    """Return content with a few changes: bits, lengths, repetitions, gaps and deep nesting."""
    changed = bytearray(content)
    for _ in range(made.choice((1, 1, 1, 2, 5, 20))):
        at = made.randrange(len(changed) + 1)
        match made.randrange(8):
            case 0:
                del changed[at:]
            case 1 | 2 if at < len(changed):
                changed[at] ^= 1 << made.randrange(8)
            case 3 if at < len(changed):
                changed[at] = made.randrange(256)
            case 4:
                size = made.choice((1, 2, 4, 8))
                number = made.choice(_INTEGERS) & (2 ** (8 * size) - 1)
                changed[at : at + size] = number.to_bytes(size, made.choice(("little", "big")))
            case 5:
                other = made.randrange(len(changed) + 1)
                changed[other:other] = changed[at : at + made.randrange(200)]
            case 6:
                del changed[at : at + made.randrange(1, 50)]
            case 7:
                changed[at:at] = made.choice(_BRACKETS) * made.choice((1, 10, 300, 5_000))
    return bytes(changed)


def odd_json(made: random.Random, value: Any) -> Any:
    """Return a JSON value with a few parts replaced, removed or repeated."""
    for _ in range(made.choice((1, 1, 2, 4))):
        value = _with_odd_part(made, value)
    return value


def _with_odd_part(made: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value and made.random() < 0.9:
        name = made.choice(list(value))
        if made.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        return {**value, name: _with_odd_part(made, value[name])}
    if isinstance(value, list) and value and made.random() < 0.9:
        at = made.randrange(len(value))
        if made.random() < 0.1:
            return [*value, value[at]]
        return [*value[:at], _with_odd_part(made, value[at]), *value[at + 1 :]]
    if made.random() < 0.05:
        deep: Any = value
        for _ in range(made.choice((20, 150, 250))):
            deep = made.choice(([deep], {"a": deep}))
        return deep
    return made.choice(VALUES)


def odd_lines(made: random.Random, content: bytes) -> bytes:
    """Return lines of JSON, of which one is odd, damaged, missing or twice."""
    lines = content.splitlines(keepends=True) or [b"{}\n"]
    at = made.randrange(len(lines))
    match made.randrange(6):
        case 0:
            lines[at] = damaged(made, lines[at])
        case 1:
            lines.insert(at, lines[made.randrange(len(lines))])
        case 2:
            del lines[at]
        case _:
            lines[at] = json.dumps(odd_json(made, json.loads(lines[at]))).encode() + b"\n"
    return b"".join(lines)


def packed(members: Mapping[str, bytes]) -> bytes:
    """Return a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def hostile_zip(made: random.Random, members: Members) -> bytes:
    """Return a zip file with members that lead outside, are links, twice, encrypted, huge, missing or damaged."""
    members, name, trick = dict(members), made.choice(list(members)), made.randrange(8)
    if trick == 0:
        return damaged(made, packed(members))
    if trick == 1:
        return _with_odd_member(made, packed(members), name)
    if trick == 2:
        content = bytearray(packed(members))
        # The version, a flag, the method, a size, a length or the place in the directory.
        at = content.rindex(b"PK\1\2") + made.choice((6, 8, 10, 20, 24, 28, 42))
        struct.pack_into("<H", content, at, made.choice(_INTEGERS) & 0xFFFF)
        return bytes(content)
    if trick == 3:
        members[made.choice(NAMES)] = members.pop(name)
    elif trick == 4:
        del members[name]
    elif trick == 5:
        members[name] = damaged(made, members[name])
    elif trick == 6:
        members[name] = bytes(made.choice((0, 1_000, 5_000_000)))
    else:
        members[name] = packed({made.choice(NAMES): members[name]})
    return packed(members)


def _with_odd_member(made: random.Random, content: bytes, name: str) -> bytes:
    """Return a zip file with a link, a device, a second member of the same name, or another compression."""
    file = io.BytesIO(content)
    info = zipfile.ZipInfo(made.choice((name, *NAMES[:6])))
    info.external_attr = made.choice((0o120777, 0o060666, 0o010666, 0o040755, 0)) << 16
    info.compress_type = made.choice((zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    with warnings.catch_warnings(), zipfile.ZipFile(file, "a") as archive:
        warnings.simplefilter("ignore")
        archive.writestr(info, b"/etc/passwd")
    return file.getvalue()


_GLOBALS = tuple(
    f"c{name}\n".encode()
    for name in (
        *("os\nsystem", "posix\nsystem", "builtins\neval", "builtins\nexec", "subprocess\nPopen", "builtins\ngetattr"),
        *("collections\nOrderedDict", "torch._utils\n_rebuild_tensor_v2", "torch\nFloatStorage", "torch\nload"),
        *("copyreg\n_reconstructor", "numpy.core.multiarray\n_reconstruct", "importlib\nimport_module"),
    )
)
_COMMAND = f"S'touch {OUTSIDE}'\n".encode()
# Opcodes: structures, numbers, texts, the memo, calls, and lengths that are larger than the file.
_OPCODES = (
    *(each.encode() for each in "} ] ) ( t d l 0 1 2 N R b o i s u a e Q . I1\n L7L\n V0\n P0\n F1e400\n".split(" ")),
    *(b"\x85", b"\x86", b"\x87", b"\x81", b"\x92", b"\x8f", b"\x90", b"\x93", b"\x94", b"\x88", b"\x89", b"\x98"),
    *(b"K\x05", b"J\xff\xff\xff\xff", b"X\x01\x00\x00\x00a", b"q\x00", b"h\x00", b"r\x00\x00\x00\x7f", _COMMAND),
    *(b"\x82\x01", b"\x84\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 8, b"\x95" + b"\xff" * 8),
    b"\x96" + (10**9).to_bytes(8, "little"),
)


class _Command:
    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"open('{OUTSIDE}', 'w')",)


def hostile_pickle(made: random.Random, valid: bytes) -> bytes:
    """Return a pickle that is damaged, calls forbidden functions, nests deeply, or is made of random parts."""
    match made.randrange(5):
        case 0 | 1:
            return damaged(made, valid)
        case 2:
            called, at = made.choice(_GLOBALS) + b"(" + _COMMAND + b"tR", made.randrange(len(valid))
            return made.choice((called + b".", valid[:at] + called + valid[at:], pickle.dumps({"a": _Command()})))
        case 3:
            wrap = made.choice((b"\x85", b"\x85\x85", b"\x94\x85", b"\x89\x86"))
            nested = b"K\x01" + wrap * made.choice((100, 2_000, 50_000, 200_000))
            return made.choice((b"\x80\x04}(%sK\x01u.", b"\x80\x04]%sa.", b"}%sb.", b"\x80\x04\x8f(%s\x90.")) % nested
    return b"\x80\x04" + b"".join(made.choices((*_OPCODES, *_GLOBALS), k=made.choice((3, 10, 40, 200)))) + b"."


_TYPES = (b"'<i8'", b"'|O'", b"'<f4'", b"'<U9'", b"'V8'", b"[('step', '<i8'), ('x', '|O')]", b"'<i8', 'x': 1")
_SHAPES = (b"(3,)", b"()", b"(0,)", b"(-1,)", b"(1, 2, 3)", b"(9999999999,)", b"(99999999, 99999999)", b"(3", b"[3]")
_NESTED = (b"(", b"[", b"{", b"-", b"not ", b"lambda:", b"1+", b"'a''")


def hostile_array(made: random.Random, valid: bytes) -> bytes:
    """Return a NumPy file that is damaged, or whose header is nested, evaluated or wrong."""
    if made.random() < 0.4:
        return damaged(made, valid)
    described = b"{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (
        made.choice(_TYPES),
        made.choice((b"False", b"True", b"1")),
        made.choice(_SHAPES),
    )
    nested = made.choice(_NESTED) * made.choice((10, 200, 3_000, 9_000))
    command = f"__import__('os').system('touch {OUTSIDE}')".encode()
    header = made.choice((described, described, nested, nested + described, command))[:60_000]
    version, size = made.choice(((1, 2), (2, 4), (3, 4), (9, 2)))
    start = b"\x93NUMPY" + bytes((version, 0)) + len(header).to_bytes(size, "little")
    return start + header + bytes(made.choice((0, 24, 999)))


def hostile_columns(made: random.Random, members: Members) -> bytes:
    """Return an .npz file with hostile arrays or another head."""
    name = made.choice(list(members))
    match made.randrange(4):
        case 0:
            return hostile_zip(made, members)
        case 1:
            return packed({**members, name: members[made.choice(list(members))]})
        case 2:
            return packed({**members, "head.npy": damaged(made, members["head.npy"])})
    return packed({**members, name: hostile_array(made, members[name])})


def hostile_tensors(made: random.Random, valid: bytes) -> bytes:
    """Return a safetensors file that is damaged, or with another header."""
    if made.random() < 0.4:
        return damaged(made, valid)
    size = int.from_bytes(valid[:8], "little")
    header = json.loads(valid[8 : 8 + size])
    metadata = header.get("__metadata__")
    if metadata and made.random() < 0.4:
        name = made.choice(list(metadata))
        is_json = metadata[name].startswith("{")
        metadata[name] = json.dumps(odd_json(made, json.loads(metadata[name]) if is_json else metadata[name]))
    else:
        header = odd_json(made, header)
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + valid[8 + size :]


def hostile_settings(made: random.Random, texts: Mapping[str, str]) -> str:
    """Return a text of settings in YAML, TOML or JSON that is damaged, nested or long."""
    text = made.choice(list(texts.values()))
    match made.randrange(4):
        case 0:
            text = _odd_settings(made) + text
        case 1:
            text = text + _odd_settings(made)
        case _:
            text = damaged(made, text.encode()).decode("utf-8", "replace")
    return text[:100_000]


def _odd_settings(made: random.Random) -> str:
    """Return settings that a parser may recurse, expand or compute on."""
    count = made.choice((10, 900, 5_000))
    return made.choice(
        (
            *("[" * count, "{" * count, "- " * count, "? " * count, "&a [" * count, "!!python/object:os.system x\n"),
            *("[a" + ".a" * count + "]\n", "a" + ".a" * count + " = 1\n", '{"a":' * count, "env: !!set {a: , b}\n"),
            *("\n".join(" " * each + "a:" for each in range(min(count, 300))), "x: " + "9" * count + "\n"),
            *(f"seed: !!binary {'A' * count}\n", "seed: 0o7_7\n", "seed = 1979-05-27T07:32:00Z\n", 'a = """\n'),
            "%YAML 9.9\n---\n",
        )
    )


def hostile_journal(made: random.Random, members: Members) -> Members:
    """Return the files of a journal with a few odd lines, damaged or missing files."""
    changed = dict(members)
    for name in made.sample([*changed], made.choice((1, 1, 2))):
        match made.randrange(4):
            case 0:
                del changed[name]
            case 1:
                changed[name] = damaged(made, changed[name])
            case _ if name.startswith("w1."):
                changed[name] = odd_lines(made, changed[name])
    return changed or dict(members)


def hostile_log(made: random.Random, valid: bytes, path: bytes, frame: Callable[[bytes], bytes]) -> bytes:
    """Return a log of records that is damaged, has odd records, or names a file elsewhere in place of `path`."""
    match made.randrange(4):
        case 0:
            other = made.choice((f"../../{MARK}", OUTSIDE, f"x/../../../{MARK}", "link", "."))
            return valid.replace(path, other.encode()[: len(path)].ljust(len(path), b"/"))
        case 1:
            return valid + frame(made.randbytes(made.choice((1, 10, 100))))
        case 2:
            return valid + frame(damaged(made, valid[-200:]))
    return damaged(made, valid)
