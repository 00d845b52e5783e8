#!/usr/bin/env python3
"""Runs every kind of fault test in turn, for a number of rounds, and prints a table of the results.

    soak.py ROUNDS [--seed N] [--kind KIND]

Exits with 0 if no acknowledged operation is lost and there is no difference.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import processes
import scene

# Each kind with its program and the number of its rounds in a turn.
KINDS = {
    "kill -9": ("kill9.py", 40), "disk full": ("disk_full.py", 10), "read only": ("read_only.py", 10), "damage": ("damage.py", 40),
    "migration": ("kill_resume.py", 40), "server API": ("servers.py", 24), "random runs": ("random_runs.py", 20),
}
COLUMNS = ["rounds", "met", "promised", "lost", "recovered", "accounted", "seconds"]


def table(tallies):
    """Returns a table with a row for each kind. `met` counts rounds that interrupted work; `recovered` and `accounted` concern damaged outboxes."""
    total = scene.Tally()
    for tally in tallies.values():
        total.add(tally)
    lines = [f"{'':10}" + "".join(f"{column:>11}" for column in COLUMNS) + f"{'differences':>13}"]
    for name, tally in [*tallies.items(), ("together", total)]:
        numbers = "".join(f"{round(getattr(tally, column)):>11}" for column in COLUMNS)
        lines.append(f"{name:10}{numbers}{len(tally.problems):>13}")
    return "\n".join(lines)


def play(program, rounds, seed):
    """Runs one turn in its own process, and returns its counts."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "tally.json")
        done = subprocess.run([
            sys.executable, str(processes.HERE / program), str(rounds), "--seed", str(seed), "--tally", str(file)
        ])
        if file.exists():
            return scene.Tally(**json.loads(file.read_text()))
        return scene.Tally(rounds=rounds, problems=[f"{program} ended with {done.returncode}"])


def main():
    parser = argparse.ArgumentParser(description="Run every kind of fault test in turn.")
    parser.add_argument("rounds", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", choices=KINDS, help="that one alone")
    arguments = parser.parse_args()
    kinds = {name: turn for name, turn in KINDS.items() if arguments.kind in (None, name)}
    tallies = {name: scene.Tally() for name in kinds}
    left, seed = arguments.rounds, arguments.seed
    while left > 0:
        for name, (program, most) in kinds.items():
            rounds = min(most, left)
            if rounds == 0:
                break
            print(f"{name}: {rounds} rounds, seed {seed}", flush=True)
            tallies[name].add(play(program, rounds, seed))
            left, seed = left - rounds, seed + 1
    print("\n" + table(tallies))
    failed = [name for name, tally in tallies.items() if tally.problems or tally.lost]
    if failed:
        sys.exit(f"soak: something is wrong after {', '.join(failed)}")


if __name__ == "__main__":
    main()
