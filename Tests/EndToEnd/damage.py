#!/usr/bin/env python3
"""Damages outboxes that a kill -9 left behind, opens them with the real sender, and counts afterwards with an independent reader.

    damage.py ROUNDS [--seed N] [--keep]

Each round takes an outbox with pending operations and truncates, flips, zeroes or garbles the bytes of the file, of its
write-ahead log, or of both. In every case the sender must open the outbox and

- keep every row that an independent reader can still read in the damaged files and whose checksum is correct, unchanged;
- count every other row: captured operations are completed, pending or counted as lost;
- leave the damaged file beside the new one, and a new file that `outbox verify` and the independent reader find sound.

A log without its end loses commits, and the file does not show that. The independent reader, which reads the same bytes, must
miss the same operations then.

In some rounds the outbox is in use: one process captures while a page is damaged and another process recovers the file. The
new file must contain the operations that the first process has acknowledged since.
"""

import collections
import contextlib
import json
import pathlib
import shutil
import subprocess
import threading
import time

import processes
import scene
from outbox_file import OUTCOMES, SOURCES, OutboxFile, outcome_batch

PAGE = 4096
# The number of rounds before a new outbox is created.
FRESH = 20


def flip(data, chance):
    for _ in range(chance.randrange(1, 13)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data, chance):
    del data[chance.randrange(len(data)):]


def zero(data, chance):
    overwrite(data, chance, lambda size: bytes(size))


def garble(data, chance):
    overwrite(data, chance, chance.randbytes)


def overwrite(data, chance, content):
    for _ in range(chance.randrange(1, 4)):
        start = chance.randrange(0, len(data), PAGE)
        size = len(data[start:start + PAGE])
        data[start:start + size] = content(size)


def remove(data, _):
    data.clear()


# The damage to the file, and the damage to its log.
WAYS = {
    "bits of the file": (flip, None), "file cut": (cut, None), "pages zeroed": (zero, None), "pages garbled": (garble, None),
    "bits of the log": (None, flip), "log cut": (None, cut), "log gone": (None, remove), "bits of both": (flip, flip),
}
IN_USE = "a page, in use"
ORDER = [*list(WAYS)[:3], IN_USE, *list(WAYS)[3:]]


class Before:
    """The content and the bytes of an outbox before the damage."""

    def __init__(self, stage):
        self.bytes = {
            suffix: path.read_bytes()
            for suffix in ["", "-wal"] if (path := pathlib.Path(f"{stage.outbox}{suffix}")).exists()
        }
        self.promised = set(stage.promises())
        with OutboxFile(stage.outbox) as outbox:
            self.pending, self.ended = pairs(outbox)
            self.accounts = outbox.accounts()
            self.bodies = dict(outbox.rows("SELECT id, body FROM operation"))


def pairs(outbox):
    """Returns (provider, id) of the pending operations, and of those with an outcome other than by damage."""
    pending = {(provider, identifier) for provider, identifier, _ in outbox.pending()}
    ended = {(provider, identifier) for provider, identifier, term, _ in outbox.history() if term != "quarantined"}
    return pending, ended


def play(folder, rounds, seed):
    tally = scene.Tally()
    for start in range(0, rounds, FRESH):
        part = folder / f"part-{start}"
        part.mkdir()
        with scene.Scene(part, seed + start) as stage:
            crashed, closed = make(stage)
            for number in range(start, min(start + FRESH, rounds)):
                way = ORDER[number % len(ORDER)]
                if way == IN_USE:
                    InUse(stage, f"round {number}, {way}").run()
                    continue
                before = closed if WAYS[way][1] is None else crashed
                Round(stage, before, f"round {number}, {way}", way).run()
            stage.tally.promised += len(crashed.promised)
            tally.add(stage.tally)
    return tally


def make(stage):
    """Creates an outbox twice: with its log, as a kill -9 leaves it, and as a single file, as a normal end leaves it."""
    for _ in range(2):
        stage.say(stage.shop.round(least=40, most=120))
        stage.sandbox.set_faults({"probability": 0.6, "effect": "reset", "seed": stage.chance.randrange(1000)})
        stage.kill_at_work(stage.send())
    crashed = Before(stage)
    if not crashed.promised or not crashed.bytes.get("-wal"):
        stage.problem("the outbox to damage has no promise, or no log")
    stage.say([])
    stage.sandbox.set_faults({"effect": "reset"})
    stage.send("--until-idle", 0).wait(1200)
    return crashed, Before(stage)


class Round:
    """One outbox with one damage."""

    def __init__(self, stage, before, name, way):
        self.stage, self.before, self.name, self.way = stage, before, name, way

    def run(self):
        home = self.stage.folder / "damaged"
        home.mkdir()
        self.outbox = home / "outbox.sqlite"
        self.damage()
        readable, bodies = self.foreign_reader()
        configuration = json.loads(self.stage.configuration.read_text())
        configuration["outbox"]["path"] = str(self.outbox)
        self.configuration = home / "patchbay.json"
        self.configuration.write_text(json.dumps(configuration))
        self.send(0)
        moved = list(home.glob("outbox.sqlite.damaged-*"))
        if not moved:
            # The sender sets a damaged row aside when it reads it, and it reads all rows.
            self.stage.sandbox.set_faults()
            self.send(20)
            self.stage.sandbox.set_faults({"effect": "reset"})
        self.stage.tally.rounds += 1
        self.stage.tally.met += 1
        self.check(readable, bodies, bool(moved))
        shutil.rmtree(home)

    def problem(self, text):
        self.stage.problem(f"{self.name}: {text}")

    def send(self, timeout):
        done = processes.run(
            "send", "--config", self.configuration, "--until-idle", timeout, "-", environment=self.stage.environment, input=b""
        )
        if done.returncode not in (0, 1):
            self.problem(f"the sender ended with {done.returncode}: {done.stderr.decode(errors='replace')[-300:]}")

    def damage(self):
        chance = self.stage.chance
        for suffix, change in zip(["", "-wal"], WAYS[self.way]):
            data = bytearray(self.before.bytes.get(suffix, b""))
            if change and data:
                change(data, chance)
            if data or not suffix:
                pathlib.Path(f"{self.outbox}{suffix}").write_bytes(data)

    def foreign_reader(self):
        """Returns what an independent reader can still read of the damaged files: pairs of provider and id, and bodies by id."""
        try:
            with OutboxFile(self.outbox) as outbox:
                operations = outbox.sound_rows("operation")
                ids = {row["sequence"]: row["id"] for row in operations}
                routes = [row for row in outbox.sound_rows("route") if row["sequence"] in ids]
                ended = {(row["provider"], row["id"]) for row in outbox.sound_rows("history") if row["term"] != "quarantined"}
                ended |= {(row["provider"], each) for row in outbox.sound_rows("outcomeBatch") for each in outcome_batch(row["outcomes"])}
                return {(row["provider"], ids[row["sequence"]]) for row in routes} | ended, {row["id"]: row["body"] for row in operations}
        except OutboxFile.Unreadable:
            return set(), {}

    def check(self, readable, bodies, was_recovered):
        tally, before = self.stage.tally, self.before
        with OutboxFile(self.outbox) as outbox:
            faults, _ = outbox.faults()
            pending, ended = pairs(outbox)
            accounts = outbox.accounts()
            now = dict(outbox.rows("SELECT id, body FROM operation"))
        verified = processes.run("outbox", "verify", self.outbox)
        if was_recovered and (verified.returncode != 0 or faults):
            self.problem(f"after the recovery it is not sound: {verified.stdout.decode()[-300:]} {faults[:3]}")
        if not was_recovered and any("checksum" not in fault for fault in faults):
            self.problem(f"nothing was recovered, and it is not sound: {faults[:3]}")
        missing = readable - pending - ended
        if missing:
            self.problem(f"{len(missing)} rows can be read in the damaged file and are gone: {sorted(missing)[:2]}")
        wrong = [name for name, body in now.items() if name in before.bodies and body != before.bodies[name]]
        if wrong:
            self.problem(f"{len(wrong)} operations have another body than before")
        gone = (before.pending | before.ended) - pending - ended
        self.check_books(accounts, pending, gone, readable)
        promised = {pair for pair in before.pending | before.ended if pair[1] in before.promised}
        tally.recovered += len(promised & (pending | ended)) if was_recovered else 0
        tally.accounted += len(promised & gone)

    def check_books(self, accounts, pending, gone, readable):
        """Checks that captured operations are accounted for, and lost ones are counted, if the accounts themselves are undamaged."""
        waiting = collections.Counter(provider for provider, _ in pending)
        for provider in self.before.accounts:
            old, new = self.before.accounts[provider], accounts.get(provider, {})
            came = sum(sum(new.get(term, {}).values()) for term in SOURCES)
            went = sum(sum(new.get(term, {}).values()) for term in OUTCOMES) + waiting[provider]
            if came != went:
                self.problem(f"{provider}: {came} came in, {went} are accounted for")
            is_whole = all(
                new.get(term, {}).get(code, 0) >= count for term, codes in old.items() for code, count in codes.items()
            )
            if not is_whole:
                continue
            booked = sum(new.get("quarantined", {}).values())
            lost = sum(1 for pair in gone & self.before.pending if pair[0] == provider)
            # A log that ends early loses captures together with their counts. The independent reader misses the same.
            if booked != lost and WAYS[self.way][1] is None:
                self.problem(f"{provider}: {lost} pending rows are gone, {booked} are booked")


class InUse:
    """One process captures while a page is damaged, and another process opens the file."""

    def __init__(self, stage, name):
        self.stage, self.name = stage, name

    def run(self):
        self.home = self.stage.folder / "in-use"
        self.home.mkdir()
        self.outbox, self.ledger = self.home / "outbox.sqlite", self.home / "ledger.txt"
        self.ledger.touch()
        configuration = json.loads(self.stage.configuration.read_text())
        configuration["outbox"]["path"] = str(self.outbox)
        self.configuration = self.home / "patchbay.json"
        self.configuration.write_text(json.dumps(configuration))
        self.stage.sandbox.set_faults({"effect": "reset"})
        self.fill()
        before, moved = self.meet()
        self.stage.tally.rounds += 1
        self.stage.tally.met += 1 if moved else 0
        self.check(set(before))
        shutil.rmtree(self.home)

    def promises(self):
        return self.ledger.read_text().split()

    def operations(self, count):
        """Returns lines of large operations, so that their recovery takes some time."""
        for _ in range(count):
            action = {"kind": "track", "event": {"kind": "custom", "name": "Order Placed", "attributes": {"note": "y" * 300}}}
            yield json.dumps(self.stage.shop.operation(self.stage.chance.choice(scene.CONTACTS), action)).encode() + b"\n"

    def fill(self):
        """A file of a mebibyte or two, without a log."""
        processes.run(
            "send", "--config", self.configuration, "--until-idle", 0, "-", environment=self.stage.environment,
            input=b"".join(self.operations(1200)),
        )

    def meet(self):
        """Returns the acknowledged operations at the time of the damage, and whether the file was recovered."""
        sender = processes.Sender(
            self.configuration, self.ledger, "--until-idle", 60, "-", environment=self.stage.environment,
            messages=self.home / "messages.txt", stdin=subprocess.PIPE,
        )
        is_over = threading.Event()

        def capture():
            for line in self.operations(100_000):
                try:
                    sender.process.stdin.write(line)
                    sender.process.stdin.flush()
                except BrokenPipeError:
                    return
                if is_over.wait(0.002):
                    return

        captures = threading.Thread(target=capture)
        captures.start()
        timeout = time.monotonic() + 600
        while not self.promises() and time.monotonic() < timeout:
            time.sleep(0.005)
        self.damage()
        before = self.promises()
        other = processes.run(
            "send", "--config", self.configuration, "--until-idle", 0, "-", environment=self.stage.environment, input=b""
        )
        if other.returncode not in (0, 1):
            self.problem(f"the second sender ended with {other.returncode}: {other.stderr.decode(errors='replace')[-300:]}")
        time.sleep(0.2)
        is_over.set()
        captures.join()
        sender.process.terminate()
        with contextlib.suppress(BrokenPipeError):
            sender.process.stdin.close()
        sender.wait(1200)
        return before, list(self.home.glob("outbox.sqlite.damaged-*"))

    def damage(self):
        """Garbles the header of one page after the list of tables."""
        with open(self.outbox, "r+b") as file:
            size = file.seek(0, 2)
            file.seek(self.stage.chance.randrange(40, size // PAGE) * PAGE)
            file.write(self.stage.chance.randbytes(64))

    def check(self, before):
        promised = set(self.promises())
        self.stage.tally.promised += len(promised)
        # The next process that opens the file sets aside rows with a wrong checksum.
        processes.run(
            "send", "--config", self.configuration, "--until-idle", 0, "-", environment=self.stage.environment, input=b""
        )
        with OutboxFile(self.outbox) as outbox:
            known = set(outbox.staged_captures()) | {identifier for _, identifier, *_ in outbox.history() + outbox.pending()}
            set_aside = b"".join(image for (image,) in outbox.rows("SELECT image FROM quarantine"))
        lost = [name for name in promised - before if name not in known and name.encode() not in set_aside]
        if lost:
            self.stage.tally.lost += len(lost)
            self.problem(f"{len(lost)} promises of {len(promised - before)} since the damage are lost, the first is {lost[0]}")
        verified = processes.run("outbox", "verify", self.outbox)
        if verified.returncode != 0:
            self.problem(f"it is not sound: {verified.stdout.decode()[-300:]}")

    def problem(self, text):
        self.stage.problem(f"{self.name}: {text}")


if __name__ == "__main__":
    scene.main("damage", "Damages outboxes, opens them, and recounts.", play)
