#!/usr/bin/env python3
"""A bookshop's app switches vendors in the middle of a day, and no operation is lost. Run it with `make demo`, or with
any two vendors: `make demo FROM=altcraft TO=salesforce`.

The command, HTTP, the files and the crash are real. `patchbay sandbox` simulates the vendors on this machine, and the clock
runs 720 times as fast. The demo takes about two minutes after the build and leaves its files in .build/demo. Its exit status
is 1 if receipts, outbox and vendors disagree.
"""

import argparse
import collections
import csv
import datetime
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

import processes  # noqa: E402
import vendors  # noqa: E402
from outbox_file import OutboxFile  # noqa: E402
from recount import Recount, ndjson  # noqa: E402

SPEED = 720
DAWN = datetime.datetime(2031, 3, 9, 6, 0, tzinfo=datetime.timezone.utc)
DATA = ROOT / "Examples/Data"
FOLDER = ROOT / ".build/demo"
# The vendor-neutral file format, and its settings.
NEUTRAL = ("neutral.contacts", {})


class Clock:
    """The clock of the simulated day, shared by all processes."""

    def __init__(self):
        self.setting = processes.clock(SPEED, DAWN.strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.begun = time.monotonic()

    def now(self):
        return DAWN + datetime.timedelta(seconds=(time.monotonic() - self.begun) * SPEED)

    def wait_until(self, hour, minute):
        pause = (DAWN.replace(hour=hour, minute=minute) - self.now()).total_seconds() / SPEED
        time.sleep(max(0, pause))


def show(text=""):
    """Prints a line and adds it to the transcript in the README."""
    print(text, flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "transcript.txt", "a", encoding="utf-8") as transcript:
        transcript.write(text + "\n")


def heading(text):
    show(f"\n{text}\n{'-' * len(text)}")


def build():
    heading("Building")
    begun = time.monotonic()
    show("The first build takes some minutes.")
    subprocess.run(["swift", "build", "--package-path", str(ROOT), "--product", "patchbay", "--quiet"], check=True)
    show(f"Built in {time.monotonic() - begun:.0f} s.")


class Demo:
    def __init__(self, old, new):
        self.old, self.new = old, new
        self.clock = Clock()
        self.environment = {"PATCHBAY_CLOCK": self.clock.setting}
        self.ledger = FOLDER / "ledger.txt"
        self.outbox = FOLDER / "outbox.sqlite"
        self.day = DATA / "day.ndjson"
        self.operations = ndjson(self.day)
        self.agrees = True

    def say(self, text):
        show(f"{self.clock.now():%H:%M}  {text}")

    def report_difference(self, text):
        self.agrees = False
        show(f"DIFFERENCE: {text}")

    def send(self, configuration, *more):
        """Starts the app, which captures each operation of the day at its time."""
        return processes.Sender(
            configuration, self.ledger, "--replay", *more, self.day,
            environment=self.environment, messages=FOLDER / "messages.txt",
        )

    def status(self):
        with OutboxFile(self.outbox) as outbox:
            ended = collections.Counter(provider for provider, *_ in outbox.history())
            waiting = collections.Counter(provider for provider, *_ in outbox.pending())
        names = sorted(set(ended) | set(waiting))
        return ", ".join(f"{name} {ended[name]:3} done {waiting[name]:3} pending" for name in names)

    # The day

    def play(self, sandbox):
        contacts = sorted({operation["contact"] for operation in self.operations if "contact" in operation})
        providers = {
            name: vendors.ALL[name].provider(sandbox.vendors[name], contacts, self.environment)
            for name in (self.old, self.new)
        }
        before, after = [
            processes.write_configuration(FOLDER / file, providers, [live], onSwitch="retarget", onLoss="reject", attributes={
                "points": {"type": "integer"}, "birth_date": {"type": "date"}, "country": {"type": "country"},
            })
            for file, live in [("before.json", self.old), ("after.json", self.new)]
        ]

        old, new = vendors.ALL[self.old].TITLE, vendors.ALL[self.new].TITLE
        heading(f"A day with {old}")
        self.say(f"The app starts with {old}: {len(self.operations)} operations from 25 installations today")
        app = self.send(before)
        self.offline(sandbox, (9, 30), (10, 40), "The network is down; the app keeps capturing")
        self.clock.wait_until(13, 0)
        sandbox.set_faults({"vendor": self.old, "effect": {"delayMilliseconds": 300}})
        self.clock.wait_until(13, 10)
        app.kill()
        self.say(f"{'Killed with kill -9 during delivery:':38}" + self.status())
        sandbox.set_faults()
        self.clock.wait_until(13, 30)
        app = self.send(before)
        self.say("Restarted on the same outbox")
        self.clock.wait_until(16, 0)
        sandbox.set_faults({"vendor": self.old, "effect": "reset"})
        self.say("The network is down again")

        heading(f"The switch to {new}")
        self.clock.wait_until(17, 30)
        app.process.send_signal(signal.SIGTERM)
        app.wait(30)
        self.say(f"{'Stopped with pending operations:':38}" + self.status())
        sandbox.set_faults()
        app = self.send(after, "--until-idle", 90)
        self.say(f"Restarted with a configuration that routes to {new}")
        self.clock.wait_until(19, 0)
        self.say(f"{'Delivering:':38}" + self.status())
        app.wait(300)
        self.say(f"{'Done:':38}" + self.status())

    def offline(self, sandbox, begin, end, words):
        self.clock.wait_until(*begin)
        sandbox.set_faults({"effect": "reset"})
        self.say(words)
        self.clock.wait_until(*end)
        self.say(f"{'The network is up:':38}" + self.status())
        sandbox.set_faults()

    # The migration

    def migrate(self):
        # The export has the format of one vendor; a vendor without a contact file gets the neutral format.
        export, file = vendors.ALL["salesforce"].SOURCE, DATA / "salesforce-contacts.csv"
        source, target = vendors.ALL[self.old].SOURCE or NEUTRAL, vendors.ALL[self.new].TARGET or NEUTRAL
        heading(f"The contacts are migrated: {source[0]} to {target[0]}")
        if source != export:
            written = FOLDER / "contacts.ndjson"
            self.apply(export, source, file, written)
            file = written
        self.run_migration(file, FOLDER / f"{self.new}-contacts.ndjson", source, target)

    def apply(self, source, target, file, written):
        """Migrates contacts from one file to another. Returns the file of rejects and the finished command."""
        settings, rejects = FOLDER / "migration.json", written.with_name(written.stem + "-rejected.ndjson")
        settings.write_text(json.dumps({"from": source[1], "to": target[1]}, indent=2))
        return rejects, processes.run(
            "migrate", "apply", "--from", source[0], "--to", target[0], "--settings", settings,
            "--in", file, "--out", written, "--rejects", rejects, "--json",
        )

    def plan(self, source, target, file):
        """Plans the migration and writes the report as a page."""
        settings, page = FOLDER / "migration.json", FOLDER / "plan.html"
        settings.write_text(json.dumps({"from": source[1], "to": target[1]}, indent=2))
        done = processes.run(
            "migrate", "plan", "--from", source[0], "--to", target[0], "--settings", settings,
            "--in", file, "--html", page, "--json",
        )
        if done.returncode not in (0, 1):
            return self.report_difference(f"migrate plan failed with {done.returncode}: {done.stderr.decode().strip()}")
        plan = json.loads(done.stdout)
        lost = [each["name"] for each in plan["attributes"] if each["fate"] == "lost"]
        show(f"Plan:      {plan['report']['written']} of {plan['report']['read']} records can be migrated, "
             f"{plan['billing']['contacts']} people by {plan['billing']['key']} key")
        show(f"           {len(plan['attributes']) - len(lost)} of {len(plan['attributes'])} attributes can be migrated"
             f"{'; lost: ' + ', '.join(lost) if lost else ''}")
        show(f"           Open {self.shown(page)} in a browser.")
        return plan

    def run_migration(self, source, target, source_form, target_form):
        plan = self.plan(source_form, target_form, source)
        rejects, done = self.apply(source_form, target_form, source, target)
        if done.returncode not in (0, 1):
            return self.report_difference(f"migrate apply failed with {done.returncode}: {done.stderr.decode().strip()}")
        report = json.loads(done.stdout)
        with open(source, encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = sum(1 for _ in csv.reader(file)) - 1 if source.suffix == ".csv" else sum(1 for _ in file)
        refused = ndjson(rejects)
        written = sum(1 for line in open(target, "rb") if line.strip())
        show(f"Migrated:  {written} of {rows} records, {len(refused)} rejected:")
        for (code, path), count in sorted(collections.Counter((row["code"], row["path"]) for row in refused).items()):
            show(f"    {count:4}  {code} at {path or 'the row'}")
        warnings = {code: tally["count"] for code, tally in report["findings"].items() if tally["severity"] == "warning"}
        if warnings:
            show("Warnings about migrated contacts:")
        for code, count in sorted(warnings.items()):
            show(f"    {count:4}  {code}")
        show(f"Contacts:  {self.shown(target)}")
        show(f"Rejects:   {self.shown(rejects)} has the reason and remedy of each")
        if rejects.with_suffix(source.suffix).exists():
            show(f"           {self.shown(rejects.with_suffix(source.suffix))} has their rows, to correct and migrate again")
        if plan and plan["report"]["written"] != written:
            self.report_difference(f"the plan says {plan['report']['written']} contacts, and {written} were migrated")
        if written + len(refused) != rows or (report["read"], report["rejected"]) != (rows, len(refused)):
            self.report_difference(f"{rows} rows are not {written} migrated and {len(refused)} rejected; the report says {report}")

    # The summary

    def recount(self, states):
        heading("Counted again by an independent reader (Python's SQLite and CRC-32)")
        with OutboxFile(self.outbox) as outbox:
            recount = Recount(
                outbox, self.ledger.read_text().split(), self.operations, ndjson(FOLDER / "sandbox.ndjson"),
                {vendor: json.loads(file.read_text()) for vendor, file in states.items()}, expects_drained=True,
            ).run()
            refused = {provider: terms.get("rejected", {}) for provider, terms in outbox.accounts().items()}
        recount.report()
        self.agrees = self.agrees and not recount.problems
        missing = {operation["id"] for operation in self.operations} - recount.known()
        if missing:
            self.report_difference(f"{len(missing)} of {len(self.operations)} operations are not in the outbox")
        return recount, refused

    def summary(self, recount, refused, states):
        total = collections.Counter()
        for _, row in recount.table:
            total.update(row)
        heading("Summary")
        show(f"  captured   {len(self.operations):5}   each acknowledged only when stored on disk")
        show(f"  created    {total['created']:5}   by the switch: state of each installation, and unregisters")
        show(f"  accepted   {total['accepted']:5}")
        show(f"  unchanged  {total['unchanged']:5}   the vendor had the value already")
        show(f"  superseded {total['superseded']:5}   replaced by a later operation before it was sent")
        show(f"  moved      {total['moved']:5}   from the old vendor to the new one, where they count again")
        show(f"  rejected   {total['rejected']:5}   kept in {self.shown(self.outbox)}:")
        for provider, codes in sorted(refused.items()):
            for code, count in sorted(codes.items()):
                show(f"             {count:5}   {provider}: {code}")
        show(f"  dropped    {total['dropped']:5}")
        show(f"  lost       {recount.lost:5}")
        show("\nAt the vendors:")
        for name, file in states.items():
            show(f"  {vendors.ALL[name].TITLE:12}{vendors.ALL[name].holds(json.loads(file.read_text()))}")
        show(f"\nThe files are in {self.shown(FOLDER)}. Look inside with `.build/debug/patchbay outbox stats {self.shown(self.outbox)}`.")
        verdict = "agree" if self.agrees else "DISAGREE; see DIFFERENCE above"
        show(f"\n{len(self.operations)} operations captured, {recount.lost} lost: receipts, outbox and vendors {verdict}.")

    @staticmethod
    def shown(path):
        return path.relative_to(ROOT)


def chosen():
    """The two vendors on the command line."""
    parser = argparse.ArgumentParser(description="Runs a day in which an app switches vendors.")
    for flag, usual in [("--from", "salesforce"), ("--to", "altcraft")]:
        parser.add_argument(flag, default=usual, choices=list(vendors.ALL), dest=flag.strip("-") + "_vendor")
    arguments = parser.parse_args()
    if arguments.from_vendor == arguments.to_vendor:
        parser.error("a switch needs two different vendors")
    return arguments.from_vendor, arguments.to_vendor


def main():
    pair = chosen()
    shutil.rmtree(FOLDER, ignore_errors=True)
    build()
    demo = Demo(*pair)
    with processes.Sandbox(FOLDER, pair, vendors.accounts(pair), demo.environment) as sandbox:
        demo.play(sandbox)
        states = {vendor: sandbox.save_state(vendor) for vendor in pair}
    demo.migrate()
    recount, refused = demo.recount(states)
    demo.summary(recount, refused, states)
    sys.exit(0 if demo.agrees else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("\nInterrupted. `make demo` starts over.", file=sys.stderr)
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit(f"The build failed with status {error.returncode}; see its messages above.")
