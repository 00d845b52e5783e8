#!/usr/bin/env python3
"""A bookshop's app changes its vendor in the middle of a day, and nothing is lost. Run it with `make demo`, or with
any two vendors: `make demo FROM=altcraft TO=salesforce`.

Everything is real but the vendors and the speed of the clock: the built command, HTTP, files, a crash. The vendors are
played by `patchbay sandbox` on this machine; twelve minutes of the day pass in a second. It takes about two minutes
after the build and leaves its files in .build/demo. It ends with 1 if any two of ledger, outbox and vendors disagree.
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
# The form of a file that is nobody's, and its settings.
NEUTRAL = ("neutral.contacts", {})


class Clock:
    """The day's clock, the same in every process."""

    def __init__(self):
        self.setting = processes.clock(SPEED, DAWN.strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.begun = time.monotonic()

    def now(self):
        return DAWN + datetime.timedelta(seconds=(time.monotonic() - self.begun) * SPEED)

    def wait_until(self, hour, minute):
        pause = (DAWN.replace(hour=hour, minute=minute) - self.now()).total_seconds() / SPEED
        time.sleep(max(0, pause))


def heading(text):
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def build():
    heading("Building")
    begun = time.monotonic()
    print("  swift build: some minutes from bare, seconds the next time", flush=True)
    for program in ["patchbay", "patchbay-network"]:
        subprocess.run(["swift", "build", "--package-path", str(ROOT), "--product", program, "--quiet"], check=True)
    print(f"  built in {time.monotonic() - begun:.0f} s")


class Demo:
    def __init__(self, old, new):
        self.old, self.new = old, new
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        self.clock = Clock()
        self.environment = {"PATCHBAY_CLOCK": self.clock.setting}
        self.ledger = FOLDER / "ledger.txt"
        self.outbox = FOLDER / "outbox.sqlite"
        self.day = DATA / "day.ndjson"
        self.operations = ndjson(self.day)
        self.agrees = True

    def say(self, text):
        print(f"  {self.clock.now():%H:%M}  {text}", flush=True)

    def doubt(self, text):
        self.agrees = False
        print(f"  DIFFERENCE: {text}")

    def send(self, configuration, *more):
        """The app: it says each operation of the day when its time has come."""
        return processes.Sender(
            configuration, self.ledger, "--replay", *more, self.day,
            environment=self.environment, talk=FOLDER / "talk.txt",
        )

    def status(self):
        with OutboxFile(self.outbox) as outbox:
            ended = collections.Counter(provider for provider, *_ in outbox.history())
            waiting = collections.Counter(provider for provider, *_ in outbox.pending())
        names = sorted(set(ended) | set(waiting))
        return "; ".join(f"{name}: {ended[name]} done, {waiting[name]} waiting" for name in names)

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
        self.say(f"the shop opens: {len(self.operations)} operations of 25 installations are to come")
        app = self.send(before)
        self.offline(sandbox, (9, 30), (10, 40), "the network is gone, the app goes on")
        self.clock.wait_until(13, 0)
        sandbox.set_faults({"vendor": self.old, "effect": {"delayMilliseconds": 300}})
        self.clock.wait_until(13, 10)
        app.kill()
        self.say("kill -9, in the middle of work; " + self.status())
        sandbox.set_faults()
        self.clock.wait_until(13, 30)
        app = self.send(before)
        self.say("started again on the same outbox")
        self.clock.wait_until(16, 0)
        sandbox.set_faults({"vendor": self.old, "effect": "reset"})
        self.say("the network is gone again; work piles up")

        heading(f"The switch to {new}")
        self.clock.wait_until(17, 30)
        app.process.send_signal(signal.SIGTERM)
        app.wait(30)
        self.say("stopped, with work pending; " + self.status())
        print("         before.json and after.json differ in one word: the provider of the route")
        sandbox.set_faults()
        app = self.send(after, "--until-idle", 90)
        self.say(f"started with after.json: {new} hears the state of every installation, then what was pending")
        self.clock.wait_until(19, 0)
        self.say(self.status())
        app.wait(300)
        self.say("the day is over; " + self.status())

    def offline(self, sandbox, begin, end, words):
        self.clock.wait_until(*begin)
        sandbox.set_faults({"effect": "reset"})
        self.say(words)
        self.clock.wait_until(*end)
        self.say("the network is back; " + self.status())
        sandbox.set_faults()

    # The migration

    def migrate(self):
        # The shop's export is in one vendor's form; the neutral one stands for those that have none.
        export, file = vendors.ALL["salesforce"].SOURCE, DATA / "salesforce-contacts.csv"
        source, target = vendors.ALL[self.old].SOURCE or NEUTRAL, vendors.ALL[self.new].TARGET or NEUTRAL
        heading(f"The contacts move: {source[0]} to {target[0]}")
        if source != export:
            written = FOLDER / "contacts.ndjson"
            self.apply(export, source, file, written)
            file = written
        self.tell_migration(file, FOLDER / f"{self.new}-contacts.ndjson", source, target)

    def apply(self, source, target, file, written):
        """Moves contacts between two files: the command, and where the rejects are."""
        settings, rejects = FOLDER / "migration.json", written.with_name(written.stem + "-rejected.ndjson")
        settings.write_text(json.dumps({"from": source[1], "to": target[1]}, indent=2))
        return rejects, processes.run(
            "migrate", "apply", "--from", source[0], "--to", target[0], "--settings", settings,
            "--in", file, "--out", written, "--rejects", rejects, "--json",
        )

    def plan(self, source, target, file):
        """What the migration would do, before it does anything: the numbers, and a page for people."""
        settings, page = FOLDER / "migration.json", FOLDER / "plan.html"
        settings.write_text(json.dumps({"from": source[1], "to": target[1]}, indent=2))
        done = processes.run(
            "migrate", "plan", "--from", source[0], "--to", target[0], "--settings", settings,
            "--in", file, "--html", page, "--json",
        )
        if done.returncode not in (0, 1):
            return self.doubt(f"migrate plan ended with {done.returncode}: {done.stderr.decode().strip()}")
        plan = json.loads(done.stdout)
        lost = [each["name"] for each in plan["attributes"] if each["fate"] == "lost"]
        print(f"  The plan: {plan['report']['written']} of {plan['report']['read']} would arrive, as "
              f"{plan['billing']['contacts']} different people by their {plan['billing']['key']} key;")
        print(f"  {len(plan['attributes']) - len(lost)} of {len(plan['attributes'])} attributes have a place"
              f"{' (none: ' + ', '.join(lost) + ')' if lost else ''}. Open {self.shown(page)} in a browser.")
        return plan

    def tell_migration(self, source, target, source_form, target_form):
        plan = self.plan(source_form, target_form, source)
        rejects, done = self.apply(source_form, target_form, source, target)
        if done.returncode not in (0, 1):
            return self.doubt(f"migrate ended with {done.returncode}: {done.stderr.decode().strip()}")
        report = json.loads(done.stdout)
        with open(source, encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = sum(1 for _ in csv.reader(file)) - 1 if source.suffix == ".csv" else sum(1 for _ in file)
        refused = ndjson(rejects)
        written = sum(1 for line in open(target, "rb") if line.strip())
        print(f"  {rows} rows in the export, {written} contacts written, {len(refused)} rejected:")
        for (code, path), count in sorted(collections.Counter((row["code"], row["path"]) for row in refused).items()):
            print(f"    {count:4}  {code} at {path or 'the row'}")
        told = {code: tally["count"] for code, tally in report["findings"].items() if tally["severity"] == "warning"}
        if told:
            print("  What the written contacts could not take along, or what is worth a look:")
        for code, count in sorted(told.items()):
            print(f"    {count:4}  {code}")
        print(f"  contacts:  {self.shown(target)}")
        print(f"  rejects:   {self.shown(rejects)} says what is wrong with each, and how to mend it;")
        if rejects.with_suffix(source.suffix).exists():
            print(f"             {self.shown(rejects.with_suffix(source.suffix))} holds the rows, to mend and feed in again")
        if plan and plan["report"]["written"] != written:
            self.doubt(f"the plan says that {plan['report']['written']} arrive, and {written} did")
        if written + len(refused) != rows or (report["read"], report["rejected"]) != (rows, len(refused)):
            self.doubt(f"{rows} rows are not {written} written and {len(refused)} rejected; the report says {report}")

    # The summary

    def recount(self, states):
        heading("Counted again, by a stranger (Python's SQLite and CRC-32, none of our code)")
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
            self.doubt(f"{len(missing)} of {len(self.operations)} operations were said, and the outbox has not heard of them")
        return recount, refused

    def summary(self, recount, refused, states):
        total = collections.Counter()
        for _, row in recount.table:
            total.update(row)
        heading("Summary")
        print(f"  captured   {len(self.operations):5}   each promised only when it was on the disk")
        print(f"  created    {total['created']:5}   by the switch: every installation's state for the new vendor, a farewell to the old one,")
        print("                  and what was pending when it came")
        print(f"  accepted   {total['accepted']:5}")
        print(f"  unchanged  {total['unchanged']:5}   the vendor held it already")
        print(f"  superseded {total['superseded']:5}   a later word replaced it before it left")
        print(f"  moved      {total['moved']:5}   from the old vendor to the new one, where it counts again")
        print(f"  rejected   {total['rejected']:5}   kept in {self.shown(self.outbox)}, with the reasons:")
        for provider, codes in sorted(refused.items()):
            for code, count in sorted(codes.items()):
                print(f"             {count:5}   {provider}: {code}")
        print(f"  dropped    {total['dropped']:5}")
        print(f"  lost       {recount.lost:5}")
        print("\n  The vendors hold now:")
        for name, file in states.items():
            print(f"    {vendors.ALL[name].TITLE:20}{vendors.ALL[name].holds(json.loads(file.read_text()))}")
        print(f"\n  All files are in {self.shown(FOLDER)}; `.build/debug/patchbay outbox stats {self.shown(self.outbox)}` looks inside.")
        print("\n" + ("Ledger, outbox and vendors agree." if self.agrees else "Ledger, outbox and vendors DISAGREE; see DIFFERENCE above."))

    @staticmethod
    def shown(path):
        return path.relative_to(ROOT)


def chosen():
    """The two vendors that the person at the terminal asks for."""
    parser = argparse.ArgumentParser(description="A day in which an app changes its vendor.")
    for flag, usual in [("--from", "salesforce"), ("--to", "altcraft")]:
        parser.add_argument(flag, default=usual, choices=list(vendors.ALL), dest=flag.strip("-") + "_vendor")
    arguments = parser.parse_args()
    if arguments.from_vendor == arguments.to_vendor:
        parser.error("a switch needs two different vendors")
    return arguments.from_vendor, arguments.to_vendor


def main():
    pair = chosen()
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
        print("\nStopped. The next `make demo` begins anew.", file=sys.stderr)
        sys.exit(130)
    except subprocess.CalledProcessError as error:
        sys.exit(f"The build failed with {error.returncode}; its words stand above.")
