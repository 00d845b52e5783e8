"""The shared parts of fault tests: a sandbox, an outbox, captured operations and their receipts."""

import argparse
import dataclasses
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time
import uuid

import processes
import vendors
from outbox_file import OutboxFile
from recount import Recount, ndjson

VENDORS = list(vendors.ALL)
CONTACTS = [f"member-{number}" for number in range(480101, 480107)]
FAULTS = [
    {"probability": 0.3, "effect": {"status": 503}},
    {"probability": 0.2, "effect": {"status": 503, "processed": True}},
    {"probability": 0.3, "effect": "drop"},
    {"probability": 0.3, "effect": "reset"},
    {"probability": 0.4, "effect": {"delayMilliseconds": 40}},
    {"probability": 0.2, "effect": {"status": 429, "headers": {"Retry-After": "30"}}},
]


class Shop:
    """Generates operations of a few installations, each captured once."""

    def __init__(self, chance):
        self.chance = chance
        self.subjects = {contact: self.new_id() for contact in CONTACTS}
        self.count = 0

    def new_id(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def operation(self, contact, action):
        self.count += 1
        return {
            "id": self.new_id(), "subject": self.subjects[contact], "contact": contact,
            "capturedAt": "2031-03-09T06:00:00.000Z", "appState": "active", "action": action,
        }

    def start(self, contact):
        """Returns the operations of an app's start. They include operations that a crash lost before they were acknowledged."""
        facts = {"platform": "iOS", "platformVersion": "19.3", "model": "iPhone17,3", "locale": "fi_FI", "appVersion": "5.2.0"}
        token = {"value": uuid.uuid5(uuid.NAMESPACE_OID, contact).hex * 2}
        identifiers = [{"kind": "external", "value": contact}]
        for action in [
            {"kind": "registerDevice", "device": {"pushToken": token, "facts": facts, "allowsPush": True}},
            {"kind": "switchContact", "switch": {"direction": "logIn", "identifiers": identifiers}},
            {"kind": "changeSubscription", "subscription": {"channel": "push", "state": "subscribed"}},
        ]:
            yield self.operation(contact, action)

    def change(self):
        number = self.chance.randrange(1000)
        return self.chance.choice([
            {"kind": "changeAttributes", "changes": {"points": {"set": number}, "city": {"set": "Åbo"}}},
            {"kind": "changeAttributes", "changes": {"loyalty_tier": {"set": self.chance.choice(["silver", "gold"])}}},
            {"kind": "changeTags", "tags": {"add": [f"shelf {number % 7}"], "remove": [f"shelf {number % 5}"]}},
            {"kind": "track", "event": {"kind": "custom", "name": "Order Placed", "attributes": {"items": number}}},
            {"kind": "track", "event": {"kind": "custom", "name": "Screen Viewed", "attributes": {"screen": "home"}}},
        ])

    def round(self, least=4, most=40):
        """Returns the operations of one run of the app: some people start and use it."""
        present = self.chance.sample(CONTACTS, self.chance.randrange(1, len(CONTACTS)))
        for contact in present:
            yield from self.start(contact)
        for _ in range(self.chance.randrange(least, most)):
            yield self.operation(self.chance.choice(present), self.change())

    def last_round(self):
        """Returns the operations of a last run without faults, in which all people start the app."""
        for contact in CONTACTS:
            yield from self.start(contact)


@dataclasses.dataclass
class Tally:
    """The counts of one kind of fault, over all rounds."""

    rounds: int = 0
    # Rounds in which the fault interrupted the sender: the others prove nothing.
    met: int = 0
    promised: int = 0
    lost: int = 0
    # Operations that were recovered from a damaged outbox, and those that it reports as lost.
    recovered: int = 0
    accounted: int = 0
    seconds: float = 0
    problems: list = dataclasses.field(default_factory=list)

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


class Scene:
    """The files and processes of a test, until the end of a `with` block.
    
    An hour of the engine passes in a second, so that an operation that waits a minute is soon due.
    """

    def __init__(self, folder, seed, outbox=None, names=VENDORS, user=None):
        self.folder = pathlib.Path(folder)
        # Options that start the command as another user.
        self.names, self.user = names, user or {}
        self.outbox = pathlib.Path(outbox or self.folder / "outbox.sqlite")
        self.chance = random.Random(seed)
        self.shop = Shop(self.chance)
        self.environment = {"PATCHBAY_CLOCK": processes.clock(speed=3600)}
        self.ledger, self.said = self.folder / "ledger.txt", self.folder / "operations.ndjson"
        self.messages, self.batch = self.folder / "messages.txt", self.folder / "round.ndjson"
        for file in (self.ledger, self.said, self.messages):
            file.touch()
        self.tally = Tally()

    def __enter__(self):
        self.sandbox = processes.Sandbox(self.folder, self.names, vendors.accounts(self.names), self.environment)
        providers = {
            name: vendors.ALL[name].provider(self.sandbox.vendors[name], CONTACTS, self.environment) for name in self.names
        }
        self.configuration = processes.write_configuration(
            self.folder / "patchbay.json", providers, live=self.names, outbox=self.outbox
        )
        return self

    def __exit__(self, *_):
        self.sandbox.__exit__()

    # What happens

    def say(self, operations):
        """Writes operations to a file for the next sender."""
        lines = "".join(json.dumps(operation, ensure_ascii=False) + "\n" for operation in operations)
        self.batch.write_text(lines, encoding="utf-8")
        with open(self.said, "a", encoding="utf-8") as file:
            file.write(lines)

    def break_vendors(self, seed, most=3):
        """Sets random faults of the vendors."""
        rules = self.chance.sample(FAULTS, self.chance.randrange(0, most))
        self.sandbox.set_faults(*({**rule, "seed": seed} for rule in rules))

    def send(self, *arguments, **options):
        return processes.Sender(
            self.configuration, self.ledger, *arguments, self.batch, environment=self.environment,
            messages=self.messages, **self.user, **options,
        )

    def run(self, *arguments, **options):
        return processes.run(*arguments, environment=self.environment, **self.user, **options)

    def kill_at_work(self, sender, within=0.3):
        """Kills a sender some time after its first receipt; returns whether it was still running."""
        before, timeout = self.ledger.stat().st_size, time.monotonic() + 600
        while self.ledger.stat().st_size == before and sender.process.poll() is None and time.monotonic() < timeout:
            time.sleep(0.005)
        time.sleep(self.chance.random() * within)
        return sender.kill() == -9

    # What must hold

    def promises(self):
        return self.ledger.read_text().split()

    def problem(self, text):
        self.tally.problems.append(text)
        print(f"  DIFFERENCE: {text}", flush=True)

    def known(self):
        """Returns every id in the outbox, as read by an independent reader."""
        if not self.outbox.exists():
            return set()
        with OutboxFile(self.outbox) as outbox:
            for fault in outbox.faults()[0]:
                self.problem(fault)
            return set(outbox.staged_captures()) | {identifier for _, identifier, *_ in outbox.history() + outbox.pending()}

    def check_promises(self, when):
        """Checks that the outbox has every operation in the ledger."""
        known = self.known()
        lost = [identifier for identifier in self.promises() if identifier not in known]
        if lost:
            self.tally.lost += len(lost)
            self.problem(f"{when}: {len(lost)} promises are lost, the first is {lost[0]}")

    def drain(self):
        """Removes the vendors' faults, runs the app a last time, and checks that all counts agree."""
        if not self.promises():
            self.problem("nothing was promised before the end; the rounds prove nothing")
        self.sandbox.set_faults()
        self.say(self.shop.last_round())
        self.send("--until-idle", 600).wait(1200)
        states = {name: json.loads(self.sandbox.save_state(name).read_text()) for name in self.names}
        verified = self.run("outbox", "verify", self.outbox)
        if verified.returncode != 0:
            self.problem(f"outbox verify ended with {verified.returncode}: {verified.stdout.decode()}{verified.stderr.decode()}")
        promised = self.promises()
        with OutboxFile(self.outbox) as outbox:
            recount = Recount(
                outbox, ledger=promised, operations=ndjson(self.said), log=ndjson(self.sandbox.log), states=states,
                expects_drained=True,
            ).run()
        recount.report()
        self.tally.promised += len(promised)
        self.tally.lost += recount.lost
        self.tally.problems += recount.problems


def run(title, play, rounds, seed, keep=False):
    """Runs a test in its own folder, which is kept if there are problems."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"patchbay {title} "))
    begun = time.monotonic()
    tally = play(folder, rounds, seed)
    tally.seconds += time.monotonic() - begun
    if tally.met * 2 < tally.rounds:
        tally.problems.append("most rounds did not interrupt the sender; they prove nothing")
        print(f"  DIFFERENCE: {tally.problems[-1]}")
    if tally.problems or keep:
        print(f"  the files of {title} are in {folder}; seed {seed}, {rounds} rounds")
    else:
        shutil.rmtree(folder)
    return tally


def main(title, description, play):
    """Runs the command line of one kind of fault."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the files, also when all is well")
    parser.add_argument("--tally", metavar="FILE", help="also write the counts, as JSON")
    arguments = parser.parse_args()
    tally = run(title, play, arguments.rounds, arguments.seed, arguments.keep)
    print(
        f"  seed {arguments.seed}: {tally.rounds} rounds, {tally.met} interrupted work, {tally.promised} promised, {tally.lost} lost"
        + (f", {tally.recovered} recovered, {tally.accounted} accounted for as lost" if tally.recovered else "")
    )
    if arguments.tally:
        pathlib.Path(arguments.tally).write_text(json.dumps(dataclasses.asdict(tally)))
    sys.exit(1 if tally.problems else 0)
