"""Reads an outbox without any of the project's code: SQLite, zlib's CRC-32, and the documented form of a row."""

import json
import pathlib
import shutil
import sqlite3
import tempfile
import zlib

TABLES = [
    "operation", "route", "account", "block", "memory", "journal", "snapshot", "meta", "provider", "history", "reject",
    "quarantine", "lease", "consent", "usage", "stagedCapture", "ending", "outcomeBatch", "hearing",
]
SOURCES = ["captured", "created"]
ENDINGS = ["accepted", "unchanged", "superseded", "rejected", "dropped", "erased", "quarantined", "moved", "shadowed"]


def row_image(table, values):
    """The bytes that a row's checksum is made of: the table's name, then each column, each with tag and length."""
    def field(value):
        if value is None:
            return b"n"
        if isinstance(value, int):
            return b"i%d;" % value
        tag, data = (b"b", value) if isinstance(value, bytes) else (b"t", value.encode("utf-8", "surrogateescape"))
        return tag + b"%d:" % len(data) + data

    return b"".join(field(value) for value in [table, *values])


def varint(packed):
    """A number of seven bits a byte, the lowest first, and what follows it."""
    number, shift = 0, 0
    for place, byte in enumerate(packed):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, packed[place + 1:]
    raise ValueError("a number that does not end")


def changed(body, delta):
    """A body by its delta to another: bytes of the same place, then bytes of its own, again and again; then the other's end."""
    _, delta = varint(delta)
    end, delta = varint(delta)
    made = b""
    while delta:
        kept, delta = varint(delta)
        count, delta = varint(delta)
        made += body[len(made):len(made) + kept] + delta[:count]
        delta = delta[count:]
    return made + body[len(body) - end:]


def bodies(packed):
    """The bodies in a row of staged captures: before each stands the time since which it waits, `i`, digits, `;`; or a delta, `d`."""
    body = b""
    while packed:
        if packed.startswith(b"i"):
            _, _, packed = packed.partition(b";")
        length, _, packed = packed.partition(b":")
        count = int(length[1:])
        field, packed = packed[:count], packed[count:]
        body = changed(body, field) if length.startswith(b"d") else field
        yield body


def outcome_batch(packed):
    """The ids in an outcome batch of the history: each stands before the time at which it ended, `i`, digits, `;`."""
    while packed:
        length, _, packed = packed.partition(b":")
        count = int(length.removeprefix(b"t"))
        yield packed[:count].decode("utf-8")
        _, _, packed = packed[count:].partition(b";")


class OutboxFile:
    """A copy of an outbox, opened for reading; the original is not touched."""

    class Unreadable(Exception):
        """The file is no database any more."""

    def __init__(self, path):
        self._folder = tempfile.TemporaryDirectory()
        copy = pathlib.Path(self._folder.name, "outbox.sqlite")
        for ending in ["", "-wal"]:
            source = pathlib.Path(str(path) + ending)
            if source.exists():
                shutil.copyfile(source, str(copy) + ending)
        self._database = sqlite3.connect(copy)
        # A damaged text is read as it stands; its row's checksum tells.
        self._database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")

    def close(self):
        self._database.close()
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def rows(self, query, *values):
        return self._database.execute(query, values).fetchall()

    def sound_rows(self, table):
        """The rows of a damaged table that can still be read, from either end, and whose checksum holds."""
        try:
            described = self.rows(f"PRAGMA table_info({table})")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # Where the schema is damaged, what SQLite says quotes it, and Python decodes that as if it were sound.
            raise OutboxFile.Unreadable from error
        columns = [name for (_, name, *_) in described]
        keys = [name for (_, name, *_, key) in described if key]
        found = {}
        for order in ["", " DESC"]:
            by = ", ".join(key + order for key in keys)
            try:
                for values in self._database.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY {by}"):
                    row = dict(zip(columns, values))
                    if zlib.crc32(row_image(table, [row[name] for name in columns if name != "checksum"])) == row["checksum"]:
                        found[tuple(row[key] for key in keys)] = row
            except (sqlite3.DatabaseError, UnicodeDecodeError, TypeError):
                # A bad page ends a walk; what was read before it counts.
                continue
        return list(found.values())

    def faults(self):
        """What is wrong with the file itself, and how many rows were looked at."""
        found = [line for (line,) in self.rows("PRAGMA integrity_check") if line != "ok"]
        count = 0
        for table in TABLES:
            columns = [name for (_, name, *_) in self.rows(f"PRAGMA table_info({table})") if name != "checksum"]
            for *values, checksum in self.rows(f"SELECT {', '.join(columns)}, checksum FROM {table}"):
                count += 1
                if zlib.crc32(row_image(table, values)) != checksum:
                    found.append(f"{table}: a row's checksum does not hold")
        return found, count

    def providers(self):
        """Adapter and state of each provider, by name."""
        return {name: (adapter, state) for name, adapter, state in self.rows("SELECT name, adapter, state FROM provider")}

    def noted(self):
        """Endings that are noted and not carried out, oldest first: (provider, id, term, code)."""
        return self.rows(
            "SELECT provider, id, term, code FROM ending CROSS JOIN route USING (provider, sequence) ORDER BY number"
        )

    def accounts(self):
        """The numbers, with what is noted: {provider: {term: {code: count}}}."""
        books = {}
        for provider, term, code, count in self.rows("SELECT provider, term, code, count FROM account"):
            books.setdefault(provider, {}).setdefault(term, {})[code] = count
        for provider, _, term, code in self.noted():
            codes = books.setdefault(provider, {}).setdefault(term, {})
            codes[code] = codes.get(code, 0) + 1
        return books

    def history(self):
        """How operations ended, oldest first: (provider, id, term, code). A damaged outcome batch says nothing."""
        numbered = [(number, rest) for number, *rest in self.rows("SELECT number, provider, id, term, code FROM history")]
        for row in self.sound_rows("outcomeBatch"):
            said = [[row["provider"], identifier, row["term"], row["code"]] for identifier in outcome_batch(row["endings"])]
            numbered += enumerate(said, row["first"])
        return [tuple(ending) for _, ending in sorted(numbered, key=lambda each: each[0])] + self.noted()

    def staged_captures(self):
        """The ids of what was captured and has no place on a route yet."""
        return [json.loads(body)["id"] for (packed,) in self.rows("SELECT captures FROM stagedCapture") for body in bodies(packed)]

    def forgot_history(self):
        """Whether the oldest endings were trimmed away, so that counting them proves nothing."""
        oldest = "SELECT min(number) AS oldest FROM (SELECT number FROM history UNION ALL SELECT first FROM outcomeBatch)"
        return bool(self.rows(f"SELECT 1 FROM ({oldest}) WHERE oldest > 1"))

    def pending(self):
        """What is on its way: (provider, id, hold)."""
        return self.rows(
            """SELECT route.provider, operation.id, route.hold FROM route JOIN operation USING (sequence)
            WHERE (provider, sequence) NOT IN (SELECT provider, sequence FROM ending) ORDER BY sequence"""
        )

    def snapshots(self):
        """The last neutral state of every installation."""
        return [json.loads(body) for (body,) in self.rows("SELECT body FROM snapshot")]

    def rejects(self):
        """What was refused and kept: (provider, id, code)."""
        return self.rows("SELECT provider, id, code FROM reject ORDER BY number")
