#!/usr/bin/env python3
"""Fills the disk during the real sender's work at random moments, and counts afterwards with an independent reader.

    disk_full.py ROUNDS [--seed N] [--keep]

Rounds alternate between two ways: a small volume (tmpfs) that another file has filled, and a limit on the size of files, which
ends writes in the same way and needs no rights. A volume needs a mount namespace. If none can be created, only the limit is
used, and the first line says so. Each round captures more than there is room for. Acknowledged operations must be in the outbox,
the sender must report the problem, and delivery must resume when there is room again.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys

import scene

# The log grows until the next checkpoint, every 10 s; clocks run fast here, and so does the log.
ROOM = 128 << 20


def enter_namespace():
    """Starts this program again in a mount namespace, whose volumes end with it; returns if that is not possible."""
    if os.environ.get("PATCHBAY_NAMESPACE"):
        return
    unshare = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/tmp"]
    if shutil.which("unshare") and subprocess.run([*unshare, *mount], capture_output=True).returncode == 0:
        os.environ["PATCHBAY_NAMESPACE"] = "1"
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


class Volume:
    """A small volume with one other file, which grows and is removed."""

    name = "tmpfs"
    words = "disk is full"

    def __init__(self, folder):
        self.folder = folder / "volume"
        self.folder.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(self.folder)], check=True)
        self.ballast = self.folder / "ballast"

    def squeeze(self, room, _):
        """Leaves a number of free bytes."""
        state = os.statvfs(self.folder)
        with open(self.ballast, "wb") as file:
            file.write(b"\0" * max(0, state.f_bavail * state.f_frsize - room))
        return {}

    def release(self):
        self.ballast.unlink(missing_ok=True)

    def close(self):
        subprocess.run(["umount", "-l", str(self.folder)], check=True)


class Limit:
    """A limit on the size of files."""

    name = "RLIMIT_FSIZE"
    # The system reports another error than for a full volume.
    words = "disk I/O error"

    def __init__(self, folder):
        self.folder = folder / "limited"
        self.folder.mkdir()

    def squeeze(self, room, outbox):
        largest = max((file.stat().st_size for file in outbox.parent.glob(outbox.name + "*")), default=0)

        def limit():
            # The signal would kill a process without a handler, which would not get the error.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, largest + room))

        return {"preexec_fn": limit, "restore_signals": False}

    def release(self):
        pass

    def close(self):
        pass


def play_on(disk, folder, rounds, seed):
    with scene.Scene(folder, seed, outbox=disk.folder / "outbox.sqlite") as stage:
        for number in range(rounds):
            # Some operations do not fit. The sender does not acknowledge them, so they do not count.
            stage.say(stage.shop.round(least=40, most=400))
            stage.break_vendors(number)
            length_before = stage.messages.stat().st_size
            # The first round has room enough for an outbox to begin with.
            room = stage.chance.randrange(0, 1_000_000) if number else ROOM // 2
            code = stage.send("--until-idle", 1, **disk.squeeze(room, stage.outbox)).wait(1200)
            disk.release()
            says = disk.words in stage.messages.read_text(errors="replace")[length_before:]
            stage.tally.met += says or number == 0
            if code not in (0, 1, 2) or code == 2 and not says:
                stage.problem(f"round {number}: the sender ended with {code}, and says that there is no room: {says}")
            stage.check_promises(f"round {number}")
        stage.tally.rounds += rounds
        stage.drain()
        return stage.tally


def play(folder, rounds, seed):
    can_mount = bool(os.environ.get("PATCHBAY_NAMESPACE"))
    kinds = [Volume, Limit] if can_mount else [Limit]
    if not can_mount:
        print("  no mount namespace can be made here: the size of files is limited, no volume is filled")
    tally = scene.Tally()
    for place, kind in enumerate(kinds):
        part = folder / kind.name
        part.mkdir()
        disk = kind(part)
        try:
            share = rounds // len(kinds) + (place < rounds % len(kinds))
            print(f"  {kind.name}: {share} rounds")
            tally.add(play_on(disk, part, share, seed + place))
        finally:
            disk.close()
    return tally


if __name__ == "__main__":
    enter_namespace()
    scene.main("disk full", "Fills the disk under the sender, and recounts.", play)
