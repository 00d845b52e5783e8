#!/usr/bin/env python3
"""Checks the peak memory of migrations with extreme input, not the time.

    memory.py [PART]

With a PART the sources have that part of their rows: `memory.py 4` reads a quarter, with the same limits. Each row of the table
has a source and the maximum memory of its plan and migration above that of a plain source of the same format. The system reports
the peak of each process (`ru_maxrss`).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from processes import COMMAND

MIB = 1 << 20
PART = int(sys.argv[1]) if len(sys.argv) > 1 else 1


def plain_rows(file, count=2_000):
    file.write("externalId;email;firstName\n")
    for number in range(count):
        file.write(f"c-{number};c{number}@mail.example;Aino\n")


def plain_lines(file, count=2_000):
    for number in range(count):
        file.write(f'{{"identifiers":[{{"kind":"external","value":"c-{number}"}}]}}\n')


def plain_profiles(file, count=2_000):
    for number in range(count):
        file.write(f'{{"email":"c{number}@mail.example","_fname":"Aino"}}\n')


def many_rows(file):
    plain_rows(file, 400_000 // PART)


def open_quote(file):
    """Writes rows after a quote that is never closed."""
    plain_rows(file, 100)
    file.write('c-x;x@mail.example;"never closed\n')
    for number in range(400_000 // PART):
        file.write(f"d-{number};d{number}@mail.example;Reader\n")


def long_row(file):
    plain_rows(file, 100)
    file.write("c-x;x@mail.example;" + "a" * (15 * MIB) + "\n")
    file.write("c-y;y@mail.example;Aino\n")


def long_line(file):
    plain_lines(file, 100)
    file.write('{"identifiers":[{"kind":"external","value":"' + "a" * (15 * MIB) + '"}]}\n')
    plain_lines(file, 100)


def long_profile(file):
    plain_profiles(file, 100)
    file.write('{"email":"x@mail.example","note":"' + "a" * (15 * MIB) + '"}\n')
    plain_profiles(file, 100)


def bad_rows(file):
    """Writes rows that cannot be read."""
    file.write("externalId;email;firstName\n")
    for number in range(300_000 // PART):
        file.write(f"c-{number};no address;Aino\n")


def bad_lines(file):
    for number in range(300_000 // PART):
        file.write(f'{{"identifiers":[{{"kind":"external"}}],"n":{number}}}\n')


def many_columns(file):
    """Writes a file with the maximum number of columns."""
    file.write("externalId;" + ";".join(f"c{number}" for number in range(16_383)) + "\n")
    for number in range(20 // PART):
        file.write(f"c-{number}" + ";x" * 16_383 + "\n")
    file.write("too;few\n")


def many_attributes(file):
    """Writes lines of nearly the maximum length, with small attributes only."""
    attributes = ",".join(f'"a{number}":"b"' for number in range(60_000))
    for number in range(20 // PART):
        file.write(f'{{"identifiers":[{{"kind":"external","value":"c-{number}"}}],"attributes":{{{attributes}}}}}\n')
    file.write('{"identifiers":1}\n')


# Name, format, plain source, source, limit of the additional memory in MiB, and the source's settings.
ROWS = [
    ("an open quote", "adobe.profiles", many_rows, open_quote, 32, {"quoted": True}),
    ("a row of 15 MiB", "adobe.profiles", plain_rows, long_row, 24, {}),
    ("a line of 15 MiB", "neutral.contacts", plain_lines, long_line, 24, {}),
    ("a profile of 15 MiB", "altcraft.profiles", plain_profiles, long_profile, 24, {}),
    ("rows that are all rejected", "adobe.profiles", plain_rows, bad_rows, 32, {}),
    ("16,384 columns", "adobe.profiles", plain_rows, many_columns, 64, {}),
    ("60,000 attributes a line", "neutral.contacts", plain_lines, many_attributes, 128, {}),
    ("lines that are all rejected", "neutral.contacts", plain_lines, bad_lines, 24, {}),
]


def peak(arguments):
    """Returns the peak memory of a run in bytes, and its output. The run has its own process, so that no other peak is counted."""
    code = (
        "import resource, subprocess, sys\n"
        "run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, run.returncode)\n"
        "sys.stdout.write(run.stderr.decode())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(COMMAND), *arguments], stdout=subprocess.PIPE, timeout=600, check=True
    )
    first, _, said = result.stdout.decode().partition("\n")
    size, status = map(int, first.split())
    return size * (1 if sys.platform == "darwin" else 1024), status, said


def main():
    problems = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chdir(folder)
        for title, source, plain, make, most, settings in ROWS:
            (folder / "settings.json").write_text(json.dumps({"from": settings}))
            for file, write in [("plain.txt", plain), ("source.txt", make)]:
                with open(folder / file, "w", encoding="utf-8") as text:
                    write(text)
            for command in ["plan", "apply"]:
                outputs = ["--out", "out.ndjson", "--rejects", "bad.ndjson", "--max-rejects", "100"]
                more = outputs if command == "apply" else []
                flags = ["migrate", command, "--from", source, "--to", "neutral.contacts", "--settings", "settings.json"]
                usual, _, _ = peak(flags + ["--in", "plain.txt"] + more)
                taken, status, said = peak(flags + ["--in", "source.txt"] + more)
                over = (taken - usual) / MIB
                # A run that gave up would use little memory.
                is_whole = status == 1
                verdict = "ok" if over <= most and is_whole else "FAILED"
                problems += verdict != "ok"
                sizes = f"{taken / MIB:.0f} MiB, {over:.0f} over {usual / MIB:.0f}, at most {most}"
                print(f"{verdict:6} {title}, {command}: {sizes}", flush=True)
                if not is_whole:
                    print(f"       status {status}: {said.strip()[-300:]}")
    if problems:
        sys.exit(f"memory: {problems} failed")
    print(f"memory: {2 * len(ROWS)} peaks are within their bounds")


if __name__ == "__main__":
    main()
