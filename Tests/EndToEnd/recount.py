#!/usr/bin/env python3
"""Counts all operations again with an independent reader: ledger, outbox and the sandbox's log and state must agree.

    recount.py OUTBOX --ledger FILE --operations FILE… [--log FILE] [--state VENDOR=FILE]… [--expect-drained]

Exits with 0 if they agree, and with 1 and a list of differences if not.
"""

import argparse
import collections
import json
import pathlib
import sys

import vendors
from outbox_file import OUTCOMES, SOURCES, OutboxFile


def ndjson(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


class Recount:
    def __init__(self, outbox, ledger, operations, log, states, expects_drained):
        self.outbox, self.ledger, self.operations = outbox, ledger, operations
        self.log, self.states, self.expects_drained = log, states, expects_drained
        self.problems = []
        self.table = []
        self.facts = []

    def run(self):
        faults, rows = self.outbox.faults()
        self.problems += faults
        self.facts.append(f"{rows} rows of the outbox with correct checksums")
        self.ends = collections.defaultdict(dict)
        self.waiting = collections.defaultdict(set)
        self.arrived = set(self.outbox.staged_captures())
        for provider, identifier, term, _ in self.outbox.history():
            if identifier in self.ends[provider]:
                self.problems.append(f"{provider}: operation {identifier} ended twice")
            self.ends[provider][identifier] = term
        for provider, identifier, _ in self.outbox.pending():
            if identifier in self.ends[provider]:
                self.problems.append(f"{provider}: operation {identifier} ended, and is pending")
            self.waiting[provider].add(identifier)
        self.check_balance()
        self.check_ledger()
        for provider, (adapter, state) in sorted(self.outbox.providers().items()):
            if adapter in vendors.ALL:
                self.check_vendor(provider, adapter, has_left=state != "live")
        return self

    def check_balance(self):
        """Checks that incoming operations are completed or pending, and that the accounts agree with the list of outcomes."""
        books = self.outbox.accounts()
        for provider in sorted(set(books) | set(self.outbox.providers())):
            lines = books.get(provider, {})
            total = {term: sum(lines.get(term, {}).values()) for term in SOURCES + OUTCOMES}
            total["pending"] = len(self.waiting[provider])
            self.table.append((provider, total))
            left = sum(total[term] for term in SOURCES)
            right = sum(total[term] for term in OUTCOMES) + total["pending"]
            if self.expects_drained and total["pending"]:
                self.problems.append(f"{provider}: {total['pending']} are pending, and nothing should be")
            if left != right:
                self.problems.append(f"{provider}: {left} came in, {right} are accounted for")
            if self.outbox.forgot_history():
                continue
            listed = collections.Counter(self.ends[provider].values())
            for term in OUTCOMES:
                if term != "quarantined" and listed[term] != total[term]:
                    self.problems.append(f"{provider}: {total[term]} booked as {term}, {listed[term]} in the history")

    def known(self):
        """Returns every id in the outbox."""
        return self.arrived.union(*self.ends.values(), *self.waiting.values())

    def check_ledger(self):
        """Checks that every acknowledged operation is pending or has an outcome."""
        known = self.known()
        lost = [identifier for identifier in self.ledger if identifier not in known]
        self.lost = len(lost)
        self.problems += [f"operation {identifier}: promised, and lost" for identifier in lost]
        self.facts.append(f"{len(self.ledger)} receipts, {len(lost)} lost")
        if len(set(self.ledger)) != len(self.ledger):
            self.problems.append("an operation was promised twice")

    def check_vendor(self, provider, adapter, has_left):
        count, words, problems = vendors.ALL[adapter].check(vendors.View(
            operations=self.operations,
            outcomes=self.ends[provider],
            elsewhere=set() if has_left else self.known() - set(self.ends[provider]) - self.waiting[provider],
            waiting=self.waiting[provider],
            log=None if self.log is None else [entry for entry in self.log if entry["vendor"] == adapter],
            state=self.states.get(adapter),
            has_left=has_left and not self.waiting[provider],
            snapshots=self.outbox.snapshots(),
        ))
        self.problems += [f"{provider}: {problem}" for problem in problems]
        self.facts.append(f"{provider}: {count} {words}")

    def report(self):
        terms = SOURCES + OUTCOMES + ["pending"]
        shown = [term for term in terms if any(total[term] for _, total in self.table)]
        width = max([len(name) for name, _ in self.table], default=0)
        print("  " + " " * width + "".join(f"{term:>12}" for term in shown))
        for name, total in self.table:
            print(f"  {name:{width}}" + "".join(f"{total[term]:12}" for term in shown))
        for fact in self.facts:
            print(f"  {fact}")
        for problem in self.problems[:50]:
            print(f"  DIFFERENCE: {problem}")
        if len(self.problems) > 50:
            print(f"  … and {len(self.problems) - 50} more differences")


def main():
    parser = argparse.ArgumentParser(description="Counts an outbox, its ledger and the sandbox again.")
    parser.add_argument("outbox")
    parser.add_argument("--ledger", required=True)
    parser.add_argument("--operations", nargs="*", default=[])
    parser.add_argument("--log")
    parser.add_argument("--expect-drained", action="store_true", help="what is still pending is a difference")
    parser.add_argument("--state", action="append", default=[], metavar="VENDOR=FILE")
    arguments = parser.parse_args()
    states = dict(each.split("=", 1) for each in arguments.state)
    with OutboxFile(arguments.outbox) as outbox:
        recount = Recount(
            outbox,
            ledger=pathlib.Path(arguments.ledger).read_text().split(),
            operations=[operation for path in arguments.operations for operation in ndjson(path)],
            log=ndjson(arguments.log) if arguments.log else None,
            states={vendor: json.loads(pathlib.Path(path).read_text()) for vendor, path in states.items()},
            expects_drained=arguments.expect_drained,
        ).run()
    recount.report()
    sys.exit(1 if recount.problems else 0)


if __name__ == "__main__":
    main()
