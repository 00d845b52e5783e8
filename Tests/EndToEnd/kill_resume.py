#!/usr/bin/env python3
"""Kills `patchbay migrate apply` with -9 at random moments, resumes it, and compares its files with an uninterrupted run.

    kill_resume.py ROUNDS [--seed N] [--keep]

A round is one migration, killed up to six times. At the end every output must have the bytes of an uninterrupted run, no
incomplete file may be left, and an undo must restore the previous files.
"""

import collections
import json
import pathlib
import random
import shutil
import signal
import subprocess
import time

import processes
import scene
import vendors

DATA = processes.ROOT / "Examples/Data/salesforce-contacts.csv"
BAD_LINES = ['{"oops', '{"identifiers":[],"tags":"none"}', '{"identifiers":[{"kind":"loyalty","value":"7"}]}']
Way = collections.namedtuple("Way", "name source target extension more mapping is_piped", defaults=[[], False])
TARGET = vendors.ALL["altcraft"].TARGET
ROWS = ("adobe.profiles", {"lostOptOuts": "warn"})
# A target that needs a sidecar file.
ROWS_WITH_MAP = ("acoustic.contacts", {"listId": "771100", "withoutOptIn": "warn", "lostOptOuts": "warn"})
# Rules that set, rename, join, map, convert and remove attributes.
MAPPING = [
    {"set": "attributes.origin", "value": "old shop"},
    {"rename": "attributes.notes", "to": "attributes.remarks"},
    {"join": ["attributes.given_name", "attributes.family_name"], "with": " ", "to": "attributes.full_name"},
    {"map": "attributes.loyalty_tier", "values": {"bronze": "base", "gold": "top"}, "otherwise": "keep"},
    {"type": "attributes.points", "as": "integer"},
    {"remove": "attributes.city"},
]
# The bulk path from rows and from lines, to lines and to rows, with a mapping, and migrations that read the source from
# its start again and skip the written records.
WAYS = [
    Way("rows", "salesforce.contacts", TARGET, "csv", []),
    Way("lines", "neutral.contacts", TARGET, "ndjson", []),
    Way("lines to rows", "neutral.contacts", ROWS, "ndjson", []),
    Way("rows to rows", "salesforce.contacts", ROWS_WITH_MAP, "csv", []),
    Way("lines by a mapping", "neutral.contacts", TARGET, "ndjson", [], MAPPING),
    Way("rows to rows by a mapping", "salesforce.contacts", ROWS, "csv", [], MAPPING),
    Way("slow", "salesforce.contacts", ("neutral.contacts", {}), "csv", []),
    Way("lines from a pipe", "neutral.contacts", TARGET, "ndjson", [], is_piped=True),
    Way("evidence", "neutral.contacts", TARGET, "ndjson", ["--evidence", "evidence.ndjson"]),
]
MOST_KILLS = 6
# The minimum duration of a run, in seconds, so that a kill can interrupt it. The input grows until the run takes that long.
LEAST_SECONDS = 0.25


class Shop:
    """The inputs, and the output of each way in an uninterrupted run."""

    def __init__(self, folder, chance):
        self.folder, self.chance, self.feeders = folder, chance, []
        header, *rows = DATA.read_bytes().splitlines(keepends=True)
        self.parts = {"csv": (header, b"".join(rows)), "ndjson": (b"", self.lines())}
        self.inputs = {way.name: folder / f"{way.name}.{way.extension}" for way in WAYS}
        self.expected = {way.name: self.undisturbed(way) for way in WAYS}

    def lines(self):
        settings, out = self.folder / "settings.json", self.folder / "contacts.ndjson"
        settings.write_text(json.dumps({"from": {}, "to": {}}))
        done = processes.run(
            "migrate", "apply", "--from", "salesforce.contacts", "--to", "neutral.contacts", "--settings", settings,
            "--in", DATA, "--out", out,
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.decode())
        lines = out.read_text(encoding="utf-8").splitlines()
        for place in range(0, len(lines), 97):
            lines[place] = self.chance.choice(BAD_LINES)
        return ("\n".join(lines) + "\n").encode()

    def words(self, way, folder):
        """Returns the command line. A run resumes from a file with the pipe's content if an earlier run has kept one."""
        settings = folder / "settings.json"
        settings.write_text(json.dumps({"from": {}, "to": way.target[1], "mapping": way.mapping}))
        kept = "out.ndjson.input" if (folder / "out.ndjson.input").exists() else None
        is_file = kept or not way.is_piped
        return [
            str(processes.COMMAND), "migrate", "apply", "--from", way.source, "--to", way.target[0], "--settings", str(settings),
            "--in", (kept or str(self.inputs[way.name])) if is_file else "-", "--out", "out.ndjson", "--rejects", "rejected.json",
            *(["--checkpoint", "0"] if is_file else []), *way.more,
        ]

    def start(self, way, words, folder, stdout=subprocess.DEVNULL):
        """Starts a run, which reads its input from a pipe if its way says so."""
        if not way.is_piped:
            return subprocess.Popen(words, cwd=folder, stdout=stdout, stderr=subprocess.PIPE)
        feeder = subprocess.Popen(["/bin/cat", self.inputs[way.name]], stdout=subprocess.PIPE)
        self.feeders = [one for one in self.feeders if one.poll() is None] + [feeder]
        process = subprocess.Popen(words, cwd=folder, stdin=feeder.stdout, stdout=stdout, stderr=subprocess.PIPE)
        # Only the reader keeps the other end open, so that the feeder ends when the reader is killed.
        feeder.stdout.close()
        return process

    def undisturbed(self, way):
        """Returns the files and the duration of an uninterrupted run with an input that takes long enough."""
        (header, body), times = self.parts[way.extension], 1
        while True:
            self.inputs[way.name].write_bytes(header + body * times)
            folder = self.folder / f"expected-{way.name}"
            folder.mkdir()
            words, begun = self.words(way, folder), time.monotonic()
            done = self.start(way, words, folder, stdout=subprocess.PIPE)
            output = done.communicate()[1]
            seconds, found = time.monotonic() - begun, files(folder)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"{way.name}: {output.decode()}")
            if seconds >= LEAST_SECONDS:
                return found, seconds
            shutil.rmtree(folder)
            times *= 2


def files(folder):
    """Returns the content of every file except the settings, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "settings.json"}


def play_round(shop, way, number, tally):
    folder = shop.folder / f"round-{number}"
    folder.mkdir()
    expected, seconds = shop.expected[way.name]
    (folder / "out.ndjson").write_text("what stood there before\n")
    kills = resumed = 0
    while True:
        words = shop.words(way, folder) + ["--journal", "journal.json"]
        process = shop.start(way, words, folder)
        if kills < MOST_KILLS:
            try:
                process.wait(shop.chance.random() * seconds * 0.8)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        output = process.communicate()[1].decode(errors="replace")
        resumed += "Resumed after" in output
        if process.returncode != -signal.SIGKILL:
            break
        kills += 1
        stands = (folder / "out.ndjson").read_bytes()
        if stands not in (b"what stood there before\n", expected["out.ndjson"]):
            tally.problems.append(f"{way.name}: a half file has the name of a whole one")
        if stands == expected["out.ndjson"] and not (folder / "out.ndjson.checkpoint").exists():
            # Killed after its last output: another run would be another migration with its own journal.
            process.returncode = 1
            break
    tally.met += kills > 0
    tally.promised += kills
    tally.recovered += resumed
    (folder / "out.ndjson.input").unlink(missing_ok=True)
    if process.returncode not in (0, 1):
        return tally.problems.append(f"{way.name}: ended with {process.returncode}: {output[-300:]}")
    found = files(folder)
    for name in expected:
        if found.get(name) != expected[name]:
            tally.lost += 1
            tally.problems.append(f"{way.name}: {name} differs after {kills} kills, {resumed} of them resumed")
    unknowns = set(found) - set(expected) - {"journal.json", "journal.json.1.before"}
    if unknowns:
        tally.problems.append(f"{way.name}: {sorted(unknowns)} are left behind")
    undone = subprocess.run([str(processes.COMMAND), "migrate", "undo", "journal.json"], cwd=folder, capture_output=True)
    if undone.returncode != 0 or files(folder) != {"out.ndjson": b"what stood there before\n"}:
        tally.problems.append(f"{way.name}: undo left {sorted(files(folder))}: {undone.stderr.decode()[-300:]}")
    shutil.rmtree(folder)


def play(folder, rounds, seed):
    """Runs all rounds, with the ways in turn."""
    tally, chance = scene.Tally(rounds=rounds), random.Random(seed)
    shop = Shop(pathlib.Path(folder), chance)
    for number in range(rounds):
        play_round(shop, WAYS[number % len(WAYS)], number, tally)
    # Few rounds may all be killed before their first checkpoint.
    if rounds >= 40 and not tally.recovered:
        tally.problems.append("no run ever resumed a killed one")
    for problem in tally.problems:
        print(f"  DIFFERENCE: {problem}")
    return tally


if __name__ == "__main__":
    scene.main("kill_resume", "Kills and resumes migrations.", play)
