#!/usr/bin/env python3
"""Kills the real sender with -9 at random moments, again and again, and counts afterwards as a stranger.

    kill9.py ROUNDS [--seed N] [--keep]

Each round captures new operations over real HTTP, under faults of the vendors, and dies somewhere on the way. At the
end the vendors behave, everything drains, and ledger, outbox and sandbox must agree.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import uuid

import processes
import vendors

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
    """Makes operations of a few installations, each said once in its life."""

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
        """What an app says at each start: what a crash took before it was promised is said again."""
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

    def round(self):
        """One run of the app: some people start it, and use it."""
        present = self.chance.sample(CONTACTS, self.chance.randrange(1, len(CONTACTS)))
        for contact in present:
            yield from self.start(contact)
        for _ in range(self.chance.randrange(4, 40)):
            yield self.operation(self.chance.choice(present), self.change())

    def last_round(self):
        """Everybody starts the app once more, and nothing goes wrong."""
        for contact in CONTACTS:
            yield from self.start(contact)


def play(folder, rounds, seed):
    """All rounds and the drain; gives the recount's exit code."""
    chance = random.Random(seed)
    shop = Shop(chance)
    # An hour of the engine passes in a second: what waits a minute is soon due.
    clock = processes.clock(speed=3600)
    environment = {"PATCHBAY_CLOCK": clock}
    ledger, said, talk = folder / "ledger.txt", folder / "operations.ndjson", folder / "talk.txt"
    batch = folder / "round.ndjson"

    def say(operations):
        lines = "".join(json.dumps(operation, ensure_ascii=False) + "\n" for operation in operations)
        batch.write_text(lines, encoding="utf-8")
        with open(said, "a", encoding="utf-8") as file:
            file.write(lines)

    with processes.Sandbox(folder, VENDORS, vendors.accounts(VENDORS), environment) as sandbox:
        providers = {
            name: vendors.ALL[name].provider(sandbox.vendors[name], CONTACTS, environment) for name in VENDORS
        }
        configuration = processes.write_configuration(folder / "patchbay.json", providers, live=VENDORS)
        died_at_work = 0
        for number in range(rounds):
            say(shop.round())
            rules = chance.sample(FAULTS, chance.randrange(0, 3))
            sandbox.set_faults(*({**rule, "seed": number} for rule in rules))
            sender = processes.Sender(configuration, ledger, batch, environment=environment, talk=talk)
            time.sleep(0.06 + chance.random() * 0.5)
            died_at_work += sender.kill() == -9
        sandbox.set_faults()
        say(shop.last_round())
        last = processes.Sender(configuration, ledger, "--until-idle", 60, batch, environment=environment, talk=talk)
        last.wait(120)
        states = {name: sandbox.save_state(name) for name in VENDORS}
    promised = len(ledger.read_text().split())
    print(f"  seed {seed}: {rounds} rounds, {died_at_work} killed at work, {shop.count} operations said, {promised} promised")
    verified = processes.run("outbox", "verify", folder / "outbox.sqlite")
    recounted = subprocess.run([
        sys.executable, str(processes.HERE / "recount.py"), str(folder / "outbox.sqlite"), "--ledger", str(ledger),
        "--operations", str(said), "--log", str(folder / "sandbox.ndjson"), "--expect-drained",
        *(f"--state={name}={file}" for name, file in states.items()),
    ])
    if died_at_work < rounds // 2:
        print("  DIFFERENCE: most rounds ended before they could be killed; they prove nothing")
        return 1
    if verified.returncode != 0:
        print(f"  DIFFERENCE: outbox verify ended with {verified.returncode}: {verified.stdout.decode()}{verified.stderr.decode()}")
    return verified.returncode or recounted.returncode


def main():
    parser = argparse.ArgumentParser(description="Kills the sender again and again, and recounts.")
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the files, also when all is well")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="patchbay kill9 "))
    result = play(folder, arguments.rounds, arguments.seed)
    if result != 0 or arguments.keep:
        print(f"  the files are in {folder}; repeat with: kill9.py {arguments.rounds} --seed {arguments.seed}")
    else:
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    sys.exit(1 if result else 0)


if __name__ == "__main__":
    main()
