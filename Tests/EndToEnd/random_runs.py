#!/usr/bin/env python3
"""Runs randomized fault simulations, and counts the results of `patchbay faults`.

    random_runs.py ROUNDS [--seed N]

A round has fifty runs. The seeds begin at a million, apart from those of other targets. A round without a crash does not count
as an interruption.
"""

import re
import subprocess

import processes
import scene

DAYS = 50
TOTAL = re.compile(r"^total +(\d+) runs, (\d+) failed: (\d+) crashes, (\d+) requests, (\d+) outcomes, \d+ misleading replies$", re.MULTILINE)


def play(_, rounds, seed):
    tally = scene.Tally()
    for number in range(rounds):
        first = 1_000_000 + (seed * 1_000 + number) * DAYS
        days = f"{first}-{first + DAYS - 1}"
        done = subprocess.run([str(processes.COMMAND), "faults", days], capture_output=True, text=True)
        found = TOTAL.search(done.stdout)
        tally.rounds += 1
        if found is None or done.returncode != 0 or found[2] != "0" or int(found[1]) != DAYS:
            tally.problems.append(f"faults {days} ended with {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
            continue
        tally.met += int(found[3]) > 0
        tally.promised += int(found[5])
    for problem in tally.problems:
        print(f"  DIFFERENCE: {problem}")
    return tally


if __name__ == "__main__":
    scene.main("random runs", "Plays random days, and counts.", play)
