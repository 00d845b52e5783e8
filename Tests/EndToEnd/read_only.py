#!/usr/bin/env python3
"""Removes the real sender's write permission in several ways, and counts afterwards with an independent reader.

    read_only.py ROUNDS [--seed N] [--keep]

Each round leaves an outbox with pending operations by kill -9, and makes its folder, its file or the files beside it
read-only. The sender must end with an error that names the cause, acknowledge nothing and change no byte; readers may read.
When writing is allowed again, delivery must resume, and no operation may be missing at the end.

Permissions do not restrict root: started as root, the sender runs as the user 65534 instead.
"""

import json
import os
import pathlib
import subprocess
import sys

import processes
import scene

UNPRIVILEGED = 65534


def unprivileged_user():
    """Returns the options that start a process as a user whom permissions restrict."""
    if os.geteuid() != 0:
        return {}
    options = {"user": UNPRIVILEGED, "group": UNPRIVILEGED, "extra_groups": []}
    if subprocess.run([str(processes.COMMAND), "help"], capture_output=True, **options).returncode != 0:
        sys.exit(f"The user {UNPRIVILEGED} can't run {processes.COMMAND}, and permissions do not restrict root: run this as an ordinary user.")
    return options


class Lock:
    """Makes files read-only until the end of a `with` block."""

    def __init__(self, *paths):
        self.paths = [path for path in paths if path.exists()]

    def __enter__(self):
        self.modes = [path.stat().st_mode & 0o7777 for path in self.paths]
        for path, mode in zip(self.paths, self.modes):
            path.chmod(mode & 0o555)

    def __exit__(self, *_):
        for path, mode in zip(self.paths, self.modes):
            path.chmod(mode)


def files(outbox):
    """Returns the bytes of an outbox and of the files beside it."""
    return {file: file.read_bytes() for file in sorted(outbox.parent.iterdir())}


# The read-only paths, by the outbox's path.
WAYS = {
    "folder": lambda outbox: [outbox.parent],
    "file": lambda outbox: [outbox],
    "folder and files": lambda outbox: [*outbox.parent.iterdir(), outbox.parent],
    "write-ahead log": lambda outbox: [pathlib.Path(f"{outbox}-wal")],
}


def play(folder, rounds, seed):
    home = folder / "home"
    home.mkdir()
    user = unprivileged_user()
    if user:
        folder.chmod(0o711)
        os.chown(home, UNPRIVILEGED, UNPRIVILEGED)
    with scene.Scene(folder, seed, outbox=home / "outbox.sqlite", user=user) as stage:
        for number in range(rounds):
            if number % 5 == 4:
                refuse_a_new_outbox(stage, number)
            else:
                lock_an_old_one(stage, number, list(WAYS)[number % 5])
        stage.tally.rounds += rounds
        stage.drain()
        return stage.tally


def lock_an_old_one(stage, number, way):
    """Makes an outbox with pending operations read-only for some time."""
    stage.say(stage.shop.round())
    stage.break_vendors(number)
    stage.kill_at_work(stage.send())
    before, promised = files(stage.outbox), stage.promises()
    stage.say(stage.shop.round())
    with Lock(*WAYS[way](stage.outbox)):
        code = stage.send("--until-idle", 0).wait(1200)
        listed = stage.run("outbox", "stats", stage.outbox)
        after = files(stage.outbox)
    stage.tally.met += 1
    where = f"round {number}, {way} read-only"
    is_harmless = way in ("folder", "write-ahead log") and code in (0, 1)
    if code != 2 and not is_harmless:
        stage.problem(f"{where}: the sender ended with {code}")
    if code == 2 and stage.promises() != promised:
        stage.problem(f"{where}: the sender failed, and promised something all the same")
    if code == 2 and changed(before, after):
        stage.problem(f"{where}: the sender failed, and changed {changed(before, after)}")
    if any(".damaged" in file.name for file in after):
        stage.problem(f"{where}: a sound outbox was taken for a damaged one")
    if listed.returncode not in (0, 2) or listed.returncode == 2 and not listed.stderr:
        stage.problem(f"{where}: outbox stats ended with {listed.returncode}: {listed.stderr.decode()}")
    stage.check_promises(where)


def changed(before, after):
    """Returns the files whose content has changed. SQLite may recreate the index of the log at any time.
    
    An empty log in place of none does not count either: the sender had ended before the kill.
    """
    def content(files, file):
        return files.get(file, b"" if file.name.endswith("-wal") else None)

    names = {file for file in [*before, *after] if not file.name.endswith("-shm")}
    return sorted(file.name for file in names if content(before, file) != content(after, file))


def refuse_a_new_outbox(stage, number):
    """Checks a folder in which no file may be created."""
    place = stage.folder / f"locked-{number}"
    place.mkdir()
    if stage.user:
        os.chown(place, UNPRIVILEGED, UNPRIVILEGED)
    other = json.loads(stage.configuration.read_text())
    other["outbox"]["path"] = str(place / "outbox.sqlite")
    configuration = stage.folder / "locked.json"
    configuration.write_text(json.dumps(other))
    with Lock(place):
        done = stage.run("send", "--config", configuration, "--until-idle", 0, stage.batch)
    stage.tally.met += 1
    where = f"round {number}, no outbox yet"
    if done.returncode != 2 or b"outbox" not in done.stderr.lower():
        stage.problem(f"{where}: the sender ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    if b"durable" in done.stdout or list(place.iterdir()):
        stage.problem(f"{where}: something was promised or made")


if __name__ == "__main__":
    scene.main("read only", "Takes the right to write away, and recounts.", play)
