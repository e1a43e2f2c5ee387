# SPDX-License-Identifier: BSD-2-Clause
"""Damage to bytes: of any file, of text, and inside of archives and compressed files."""

import gzip
import io
import re
import warnings
import zipfile
from random import Random

__all__ = ["NUMBERS", "damage_bytes_of", "damaged_bytes", "damaged_text"]

#: Spellings that a reader of numbers has to think about.
NUMBERS = ("-1", "0", "-0", "1.0", "01", "+1", "1_0", "1e2", "1e308", "1e999", "nan", "inf", "-inf",
           "NaN", "Infinity", "2147483648", "4294967296", "9223372036854775807",
           "9223372036854775808", "-9223372036854775809", "9" * 5000, "", " 1", "1 ", "0x10",
           "\u0661", "\uff11", "1,", "true", "null", "[]", '"1"', "[" * 3000)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-32", "utf-7", "latin-1")


def _span(random: Random, length: int) -> tuple[int, int]:
    begin = random.randrange(length + 1)
    return begin, min(length, begin + random.choice((1, 1, 2, 4, 8, 60)))


def _flip(random: Random, content: bytes) -> tuple[bytes, str]:
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        bit = random.randrange(8 * len(changed))
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed), "flipped bits"


def _truncate(random: Random, content: bytes) -> tuple[bytes, str]:
    length = random.choice((random.randrange(len(content)), len(content) - 1, 0))
    return content[:length], f"cut after {length} bytes"


def _delete(random: Random, content: bytes) -> tuple[bytes, str]:
    begin, end = _span(random, len(content))
    return content[:begin] + content[end:], f"deleted bytes {begin} to {end}"


def _repeat(random: Random, content: bytes) -> tuple[bytes, str]:
    begin, end = _span(random, len(content))
    return content[:end] + content[begin:], f"repeated bytes {begin} to {end}"


def _swap(random: Random, content: bytes) -> tuple[bytes, str]:
    begin, middle = sorted((random.randrange(len(content)), random.randrange(len(content))))
    end = min(len(content), 2 * middle - begin)
    swapped = content[:begin] + content[middle:end] + content[begin:middle] + content[end:]
    return swapped, f"swapped bytes {begin} to {middle} with those to {end}"


def _overwrite(random: Random, content: bytes) -> tuple[bytes, str]:
    """Overwrite some bytes, sometimes by the numbers that headers give lengths in."""
    begin, _ = _span(random, len(content))
    if random.random() < 0.3:
        begin = random.choice((0, 4, 8, 16))
    width = random.choice((1, 2, 4, 8))
    value = random.choice((0, 1, -1, 1 << (8 * width - 1), random.getrandbits(8 * width)))
    written = (value % (1 << 8 * width)).to_bytes(width, "little")
    return content[:begin] + written + content[begin + width:], f"wrote {value} at byte {begin}"


def _insert(random: Random, content: bytes) -> tuple[bytes, str]:
    begin, _ = _span(random, len(content))
    more = random.choice((b"\0", b"\n", b"\r", b"\xff", b"\x1a", random.randbytes(9), b" "))
    return content[:begin] + more + content[begin:], f"inserted {more!r} at byte {begin}"


def damaged_bytes(random: Random, content: bytes) -> tuple[bytes, str]:
    """Bytes after some damage, and a text about the damage."""
    content = bytes(content) or b"\0"
    change = random.choice((_flip, _flip, _truncate, _delete, _repeat, _swap, _overwrite, _insert))
    return change(random, content)


def _number(random: Random, text: str) -> tuple[str, str]:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text + random.choice(NUMBERS), "added a number"
    place, value = random.choice(found), random.choice(NUMBERS)
    return (text[:place.start()] + value + text[place.end():],
            f"{place[0]} at character {place.start()} became {value[:40]!r}")


def _lines(random: Random, text: str) -> tuple[str, str]:
    lines = text.splitlines(keepends=True) or [""]
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.choice(("delete", "repeat", "swap", "comment", "empty", "join"))
    match kind:
        case "delete":
            del lines[place]
        case "repeat":
            lines.insert(other, lines[place])
        case "swap":
            lines[place], lines[other] = lines[other], lines[place]
        case "comment":
            lines.insert(place, random.choice(("# 1\n", "// 1\n", "; 1\n")))
        case "empty":
            lines.insert(place, random.choice(("\n", " \n", "\r\n", "\t\n")))
        case "join":
            lines[place] = lines[place].rstrip("\n")
    return "".join(lines), f"{kind} line {place + 1}"


def _word(random: Random, text: str) -> tuple[str, str]:
    words = list(re.finditer(r"[A-Za-z_]\w*", text))
    if not words:
        return text + "x", "added a word"
    place, value = random.choice(words), random.choice(("", "x", "epochs", "ä", "__class__", "\0"))
    return (text[:place.start()] + value + text[place.end():],
            f"{place[0][:40]} at character {place.start()} became {value!r}")


def damaged_text(random: Random, content: bytes) -> tuple[bytes, str]:
    """Text, as bytes, after some damage or in another encoding, and a text about the damage."""
    text = content.decode("utf-8", "replace")
    change = random.choice((_number, _number, _number, _lines, _lines, _word, None))
    if change is None:
        encoding = random.choice(_ENCODINGS)
        return text.encode(encoding, "replace"), f"saved as {encoding}"
    changed, text = change(random, text)
    return changed.encode("utf-8"), text


def damage_bytes_of(random: Random, name: str, content: bytes) -> tuple[bytes, str]:
    """The contents of a file after some damage, and a text about the damage.

    In a compressed file or an archive, it is mostly the inside that is damaged, and packed again
    with the right checksum.
    """
    if name.endswith(".gz") and random.random() < 0.8:
        inside, text = damage_bytes_of(random, name.removesuffix(".gz"), gzip.decompress(content))
        return gzip.compress(inside), f"inside, {text}"
    if name.endswith(".npz") and random.random() < 0.8:
        return _repack(random, content)
    if name.endswith((".csv", ".json", ".jsonl", ".toml", ".yaml", ".index")) and \
            random.random() < 0.8:
        return damaged_text(random, content)
    return damaged_bytes(random, content)


def _repack(random: Random, content: bytes) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = random.randrange(len(members))
    name, inside = members[place]
    kind = random.choice(("damage", "damage", "damage", "rename", "delete", "repeat", "swap"))
    match kind:
        case "damage":
            inside, text = damaged_bytes(random, inside)
            members[place] = name, inside
            kind = text
        case "rename":
            members[place] = random.choice(("x.npy", name.upper(), name[:-4], f"../{name}")), inside
        case "delete":
            del members[place]
        case "repeat":
            members.append(members[place])
        case "swap":
            other = random.randrange(len(members))
            members[place], members[other] = ((name, members[other][1]),
                                              (members[other][0], inside))
    packed = io.BytesIO()
    method = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w", method) as archive:
        for member, inside in members:
            archive.writestr(zipfile.ZipInfo(member), inside)
    return packed.getvalue(), f"{name}: {kind}"
