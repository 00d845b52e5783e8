#!/usr/bin/env python3
"""Stores receipts in a separate process, so that killing the sender cannot affect them.

Reads receipts, {"id": "…", "durable": true}, one a line, from standard input. Appends each to the ledger and syncs the
file before it echoes the id on standard output. It skips other lines. Usage: ledger.py FILE
"""

import json
import os
import signal
import sys


def receipts(stream):
    """Yields the ids of durable receipts. An incomplete line does not count: the sender died while writing it."""
    for line in stream:
        if not line.endswith(b"\n"):
            continue
        try:
            receipt = json.loads(line)
        except ValueError:
            continue
        if isinstance(receipt, dict) and receipt.get("durable") is True:
            yield receipt["id"]


def main():
    # Ctrl-C is for the sender; its last receipts must still be stored.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for promised in receipts(sys.stdin.buffer):
        os.write(ledger, promised.encode() + b"\n")
        os.fsync(ledger)
        try:
            print(promised, flush=True)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
