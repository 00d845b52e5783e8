"""Reads an outbox without the project's code, with SQLite, zlib's CRC-32 and the documented form of a row."""

import json
import pathlib
import shutil
import sqlite3
import tempfile
import zlib

TABLES = [
    "operation", "route", "account", "block", "memory", "journal", "snapshot", "meta", "provider", "history", "reject",
    "quarantine", "lease", "consent", "usage", "stagedCapture", "notedOutcome", "outcomeBatch", "deliveryMark",
]
SOURCES = ["captured", "created"]
OUTCOMES = ["accepted", "unchanged", "superseded", "rejected", "dropped", "erased", "quarantined", "moved", "shadowed"]


def row_image(table, values):
    """Returns the bytes under a row's checksum: the table's name, then each column, each with tag and length."""
    def field(value):
        if value is None:
            return b"n"
        if isinstance(value, int):
            return b"i%d;" % value
        tag, data = (b"b", value) if isinstance(value, bytes) else (b"t", value.encode("utf-8", "surrogateescape"))
        return tag + b"%d:" % len(data) + data

    return b"".join(field(value) for value in [table, *values])


def varint(packed):
    """Reads a number of seven bits per byte, the lowest first; returns it and the remaining bytes."""
    number, shift = 0, 0
    for place, byte in enumerate(packed):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, packed[place + 1:]
    raise ValueError("a number that does not end")


def changed(body, delta):
    """Applies a delta to another body: bytes of the same position, then own bytes, repeatedly; then the other's end."""
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
    """Yields the bodies in a row of staged captures. Each follows the start of its wait (`i`, digits, `;`), or is a delta (`d`)."""
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
    """Yields the ids in an outcome batch of the history. Each precedes the time of its outcome (`i`, digits, `;`)."""
    while packed:
        length, _, packed = packed.partition(b":")
        count = int(length.removeprefix(b"t"))
        yield packed[:count].decode("utf-8")
        _, _, packed = packed[count:].partition(b";")


class OutboxFile:
    """A copy of an outbox, opened for reading; the original is not touched."""

    class Unreadable(Exception):
        """The file is no longer a database."""

    def __init__(self, path):
        self._folder = tempfile.TemporaryDirectory()
        copy = pathlib.Path(self._folder.name, "outbox.sqlite")
        for suffix in ["", "-wal"]:
            source = pathlib.Path(str(path) + suffix)
            if source.exists():
                shutil.copyfile(source, str(copy) + suffix)
        self._database = sqlite3.connect(copy)
        # A damaged text is read as it is; the checksum of its row shows the damage.
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
        """Returns the rows of a damaged table that can still be read, from either end, and have a correct checksum."""
        try:
            described = self.rows(f"PRAGMA table_info({table})")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            # If the schema is damaged, SQLite's message quotes it, and Python cannot decode the message.
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
                # A damaged page ends the iteration; the rows before it count.
                continue
        return list(found.values())

    def faults(self):
        """Returns the errors of the file, and the number of rows that were checked."""
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
        """Returns the outcomes that are noted and not applied, oldest first: (provider, id, term, code)."""
        return self.rows(
            "SELECT provider, id, term, code FROM notedOutcome CROSS JOIN route USING (provider, sequence) ORDER BY number"
        )

    def accounts(self):
        """Returns the counts, with the noted outcomes: {provider: {term: {code: count}}}."""
        books = {}
        for provider, term, code, count in self.rows("SELECT provider, term, code, count FROM account"):
            books.setdefault(provider, {}).setdefault(term, {})[code] = count
        for provider, _, term, code in self.noted():
            codes = books.setdefault(provider, {}).setdefault(term, {})
            codes[code] = codes.get(code, 0) + 1
        return books

    def history(self):
        """Returns the outcomes of operations, oldest first: (provider, id, term, code). Damaged outcome batches are skipped."""
        numbered = [(number, rest) for number, *rest in self.rows("SELECT number, provider, id, term, code FROM history")]
        for row in self.sound_rows("outcomeBatch"):
            said = [[row["provider"], identifier, row["term"], row["code"]] for identifier in outcome_batch(row["outcomes"])]
            numbered += enumerate(said, row["first"])
        return [tuple(outcome) for _, outcome in sorted(numbered, key=lambda each: each[0])] + self.noted()

    def staged_captures(self):
        """Returns the ids of the staged captures."""
        return [json.loads(body)["id"] for (packed,) in self.rows("SELECT captures FROM stagedCapture") for body in bodies(packed)]

    def forgot_history(self):
        """Returns whether the oldest outcomes were deleted, so that counting them proves nothing."""
        oldest = "SELECT min(number) AS oldest FROM (SELECT number FROM history UNION ALL SELECT first FROM outcomeBatch)"
        return bool(self.rows(f"SELECT 1 FROM ({oldest}) WHERE oldest > 1"))

    def pending(self):
        """Returns the pending operations: (provider, id, hold)."""
        return self.rows(
            """SELECT route.provider, operation.id, route.hold FROM route JOIN operation USING (sequence)
            WHERE (provider, sequence) NOT IN (SELECT provider, sequence FROM notedOutcome) ORDER BY sequence"""
        )

    def snapshots(self):
        """The last neutral state of every installation."""
        return [json.loads(body) for (body,) in self.rows("SELECT body FROM snapshot")]

    def rejects(self):
        """Returns the rejects: (provider, id, code)."""
        return self.rows("SELECT provider, id, code FROM reject ORDER BY number")
