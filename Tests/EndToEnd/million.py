#!/usr/bin/env python3
"""Migrates a million contacts through a vendor's server API at the sandbox, over HTTP, and counts what the sandbox received.

    million.py [--contacts N] [--beside N] [--api NAME]… [--folder FOLDER] [--keep]

For each API it runs a smaller migration, then the large one, both with rejects, a journal and evidence. Both are killed with -9
in the middle and resumed. It prints records per second, requests, and the peak memory of each process. No process, neither the
first nor the resumed one, may use much more memory than the first process of the small migration. At the end it compares the
sandbox's log of received requests with the verdicts, for each person and each value.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import processes

KEYS = {"TOKEN": "c7f55f8f-token", "SECRET": "c7Xw9-secret"}
# Faster than any vendor allows, to measure the command and not a vendor's limit.
RATE = {"requests": 1_000_000, "per": 1, "burst": 10_000}
# The limit of additional memory compared with the first process of the small migration.
ALLOWANCE = 64 << 20
POISON = "poison"
Side = collections.namedtuple("Side", "name account settings received")


# The people

def person(row):
    """Returns the person of a row. Some rows repeat the person of an earlier row."""
    return row - 400 if row % 1000 == 500 else row


def is_unmappable(row):
    return row % 5000 == 29


def is_poisonous(row):
    return row % 50_000 == 17


def says_no(number):
    """Returns whether the person opted out of e-mail. For a person with two rows, the first row states it."""
    return number % 10 == 0


def wants_texts(number):
    return number % 8 == 3


def contact(row):
    number = person(row)
    identifiers = [] if is_unmappable(row) else [
        {"kind": "external", "value": f"member-{number:07}"}, {"kind": "email", "value": f"member-{number:07}@mail.example"},
        {"kind": "phone", "value": f"+3584{number:08}"},
    ]
    wishes = [{"channel": "email", "state": "unsubscribed" if says_no(row) and row == number else "subscribed"}]
    if wants_texts(number):
        wishes.append({"channel": "sms", "state": "subscribed"})
    return {
        "identifiers": identifiers,
        "attributes": {"points": number, "nick": POISON if is_poisonous(row) else f"Zoë {number}", "city": f"Åbo {number % 97}"},
        "tags": ["red"] if number % 2 else [], "subscriptions": wishes,
    }


def write_contacts(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for row in range(1, count + 1):
            file.write(json.dumps(contact(row), ensure_ascii=False, separators=(",", ":")) + "\n")


# What the vendors received

def column_words(item):
    """Returns the values of a row of columns, with their person."""
    row = {name.lower(): str(value) for name, value in item.items()}
    key = row.pop("contactkey")
    words = {}
    for name, value in row.items():
        words[{"mail": "wish.email", "sms": "wish.sms", "isred": "tag.red"}.get(name, name)] = value.lower() if name in ("mail", "sms", "isred") else value
    return key, words


def salesforce(path, body):
    if path.endswith("/rows"):
        yield from (column_words(item) for item in json.loads(body)["items"])


def altcraft(path, body):
    if not path.endswith("import_batch"):
        return
    for row in json.loads(body)["data"]:
        key = row.pop("crm_id")
        words = {}
        for wish in row.pop("subscriptions", []):
            words[{33: "wish.email", 35: "wish.sms"}[int(wish["resource_id"])]] = str(wish["status"] == "subscribed").lower()
        labels = row.pop("labels", [])
        for tag in labels["value"] if isinstance(labels, dict) else labels:
            words[f"tag.{tag}"] = "true"
        for name, value in row.items():
            words[{"phones": "phone", "_city": "city"}.get(name, name)] = str(value[0] if isinstance(value, list) else value)
        yield key, words


def expected(number):
    """Returns the expected values of a person."""
    words = {
        "email": f"member-{number:07}@mail.example", "phone": f"+3584{number:08}", "points": str(number), "nick": f"Zoë {number}",
        "city": f"Åbo {number % 97}", "wish.email": "false" if says_no(number) else "true",
    }
    if wants_texts(number):
        words["wish.sms"] = "true"
    if number % 2:
        words["tag.red"] = "true"
    return words


NAMES = {"tagColumns": {"red": "IsRed"}, "identifierColumns": {"email": "Email", "phone": "Phone"}}
SERVERS = [
    Side(
        "salesforce-server", {"clientId": "shop", "clientSecret": KEYS["SECRET"], "poison": POISON, "jobTime": 100},
        lambda url: {
            "authUrl": url, "restUrl": url, "clientId": "shop", "clientSecret": "${SECRET}", "dataExtension": "People",
            "subscriptionColumns": {"email": "Mail", "sms": "Sms"}, "route": "asyncRows", "pollSeconds": 1, **NAMES,
        }, salesforce,
    ),
    Side(
        "altcraft-server", {"apiToken": KEYS["TOKEN"], "dbId": 12, "poison": POISON},
        lambda url: {
            "apiUrl": url, "apiToken": "${TOKEN}", "dbId": 12, "matchingField": "crm_id", "tagsField": "labels",
            "resources": {"email": "33", "sms": "35"},
        }, altcraft,
    ),
]


# The runs

class Play:
    """A sandbox with one vendor, and migrations to it."""

    def __init__(self, folder, api):
        self.folder, self.api = folder, api
        self.problems = []

    def __enter__(self):
        self.sandbox = processes.Sandbox(self.folder, [self.api.name], {self.api.name: self.api.account}, KEYS)
        settings = self.api.settings(self.sandbox.vendors[self.api.name])
        provider = {"vendor": {"adapter": self.api.name, "settings": settings, "rate": RATE}}
        self.configuration = processes.write_configuration(
            self.folder / "patchbay.json", provider, live=provider, outbox=self.folder / "outbox.sqlite", side="server"
        )
        return self

    def __exit__(self, *_):
        self.sandbox.__exit__()

    def problem(self, text):
        self.problems.append(text)
        print(f"  DIFFERENCE: {text}", flush=True)

    def run(self, *words, kill_behind=None, watched=None):
        """Runs the command; returns its exit code, duration, peak memory and output. Kills it when `watched` has about `kill_behind` lines."""
        output = self.folder / "output.txt"
        begun = time.monotonic()
        with open(output, "wb") as file:
            process = subprocess.Popen(
                [str(processes.COMMAND), *map(str, words)], env={**os.environ, **KEYS}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=file,
            )
        while kill_behind is not None and process.poll() is None:
            if about_lines(watched) >= kill_behind:
                process.send_signal(signal.SIGKILL)
                break
            time.sleep(0.05)
        if process.returncode is None:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            memory = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        else:
            memory = 0
        return process.returncode, time.monotonic() - begun, memory, output.read_text(errors="replace")

    def words(self, source, name):
        files = {"--out": "out.ndjson", "--rejects": "rejects.json", "--journal": "journal.ndjson", "--evidence": "evidence.ndjson"}
        return [
            "migrate", "apply", "--from", "neutral.contacts", "--to", self.api.name, "--config", self.configuration, "--in", source,
            *(word for flag, file in files.items() for word in (flag, self.folder / f"{name}-{file}")),
        ]

    def requests(self):
        return sum(1 for _ in open(self.sandbox.log, "rb"))

    def migrate(self, count, name):
        """Runs a migration into an empty account, killed and resumed; returns the peak memory of both processes."""
        source = self.folder / f"{name}.ndjson"
        write_contacts(source, count)
        self.sandbox.call("POST", "/reset")
        before = self.requests()
        words = self.words(source, name)
        out = self.folder / f"{name}-out.ndjson"
        partial = self.folder / f"{name}-out.ndjson.partial"
        code, seconds, begun, _ = self.run(*words, kill_behind=count // 2, watched=partial)
        if code != -signal.SIGKILL:
            self.problem(f"the run ended with {code} before it could be killed")
        code, took, resumed, output = self.run(*words)
        seconds += took
        if code not in (0, 1) or not out.exists():
            self.problem(f"{count} contacts: ended with {code}: {output[-600:]}")
            return None
        requests = self.requests() - before
        again = re.search(r"Resumed after (\d+)", output)
        print(
            f"  {count:,} contacts: {seconds:,.0f} s, {count / seconds:,.0f} records/s, {requests:,} requests, at most "
            + " and ".join(f"{memory / 1e6:,.0f} MB" for memory in (begun, resumed))
            + (f"; killed, resumed after record {int(again[1]):,}, {took:,.0f} s more" if again else ""),
            flush=True,
        )
        if not again:
            self.problem("the killed run was not resumed")
        self.recount(count, name, before)
        return begun, resumed

    def recount(self, count, name, skipped):
        """Compares the requests in the sandbox's log with the verdicts."""
        words_of = sorted(expected(3 * 8 + 3))  # a person with every value
        bits = {word: 1 << place for place, word in enumerate(words_of)}
        received, wrong, arrived = [0] * (count + 1), collections.Counter(), 0
        with open(self.sandbox.log, "rb") as log:
            for place, line in enumerate(log):
                if place < skipped:
                    continue
                entry = json.loads(line)
                if not entry["processed"] or not 200 <= entry["status"] < 300:
                    continue
                for key, words in self.api.received(entry["path"], entry["body"]):
                    number = int(key.removeprefix("member-"))
                    wanted = expected(number)
                    arrived += 1
                    for word, value in words.items():
                        if word == "nick" and value == POISON and is_poisonous(number):
                            continue
                        if wanted.get(word) == value:
                            received[number] |= bits[word]
                        else:
                            wrong[word] += 1
        promised = rejected = missing = 0
        refused = []
        with open(self.folder / f"{name}-out.ndjson", "rb") as verdicts:
            for row, line in enumerate(verdicts, 1):
                verdict = json.loads(line)
                if verdict["number"] != row:
                    self.problem(f"the verdict of row {row} is one of row {verdict['number']}")
                    break
                if verdict["verdict"] == "rejected":
                    rejected += 1
                    refused.append(row)
                    continue
                promised += 1
                number = person(row)
                wanted = sum(bits[word] for word in expected(number))
                if received[number] & wanted != wanted:
                    missing += 1
        lines = promised + rejected
        bad = [row for row in range(1, count + 1) if is_unmappable(row) or is_poisonous(row)]
        if lines != count:
            self.problem(f"{lines} verdicts of {count} rows")
        if refused != bad:
            self.problem(f"{len(refused)} rows are refused, and {len(bad)} are unfit")
        if missing or wrong:
            self.problem(f"of {missing} people something is missing that was promised; words that arrived otherwise: {dict(wrong)}")
        rejects = sum(1 for _ in open(self.folder / f"{name}-rejects.json", "rb"))
        if rejects != len(bad):
            self.problem(f"{rejects} rejects of {len(bad)} unfit rows")
        journal = sum(1 for line in open(self.folder / f"{name}-journal.ndjson", "rb") if line.startswith(b'{"row":'))
        evidence = sum(1 for _ in open(self.folder / f"{name}-evidence.ndjson", "rb"))
        print(
            f"    recounted: {promised:,} promised and all of them received, {rejected:,} rejected, {arrived:,} rows of people arrived; "
            f"{journal:,} lines of rows in the journal, {evidence:,} of evidence",
            flush=True,
        )


def about_lines(path, sample=1 << 16):
    """Estimates the number of lines of a growing file from its first lines."""
    try:
        with open(path, "rb") as file:
            lines = file.read(sample).count(b"\n")
            return lines * os.fstat(file.fileno()).st_size // sample if file.tell() == sample else lines
    except FileNotFoundError:
        return 0


def memory_of(pid):
    try:
        return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) << 10
    except (OSError, TypeError):
        return 0


def play(folder, api, contacts, beside):
    folder.mkdir()
    print(f"{api.name}:", flush=True)
    with Play(folder, api) as scene:
        small = scene.migrate(beside, "small")
        large = scene.migrate(contacts, "large") if small else None
        for size, memories in (("small", small or ()), ("large", large or ())):
            for step, most in zip(("begins", "resumes"), memories):
                if most > small[0] + ALLOWANCE:
                    scene.problem(f"the process that {step} the {size} migration used {most / 1e6:,.0f} MB, the first process {small[0] / 1e6:,.0f} MB")
        sandbox = memory_of(scene.sandbox.pid)
        if sandbox:
            print(f"    the sandbox, which holds all contacts, used {sandbox / 1e6:,.0f} MB", flush=True)
        return scene.problems


def main():
    parser = argparse.ArgumentParser(description="Migrate a million contacts through a server API.")
    parser.add_argument("--contacts", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=100_000, help="the smaller migration, whose memory is compared")
    parser.add_argument("--api", action="append", choices=[api.name for api in SERVERS], help="the APIs to use; all of them by default")
    parser.add_argument("--folder", type=pathlib.Path, help="the folder of the files during the run; a few GB")
    parser.add_argument("--keep", action="store_true", help="keep the files even if there are no problems")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="patchbay million ", dir=arguments.folder))
    problems = []
    for api in SERVERS:
        if not arguments.api or api.name in arguments.api:
            problems += play(folder / api.name, api, arguments.contacts, arguments.beside)
    if problems or arguments.keep:
        print(f"  the files are in {folder}")
    else:
        shutil.rmtree(folder)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
