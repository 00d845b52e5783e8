"""Starts and queries the real processes: the sandbox, the sender and the ledger."""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMMAND = pathlib.Path(os.environ.get("PATCHBAY", ROOT / ".build/debug/patchbay"))


def clock(speed, date="2031-03-09T06:00:00.000Z"):
    """The setting of a clock that starts now at `date` and runs `speed` times as fast, the same in every process."""
    counts_sleep = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    uptime = time.clock_gettime_ns(counts_sleep) // 1_000_000
    return json.dumps({"date": date, "uptime": uptime, "speed": speed})


def run(*arguments, environment=None, timeout=1200, **options):
    """Runs the command to its end, without checks."""
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], env={**os.environ, **(environment or {})}, timeout=timeout,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
    )


def write_configuration(path, providers, live, outbox="outbox.sqlite", **more):
    """Writes a configuration in which the providers named `live` have a route."""
    configuration = {
        "outbox": {"path": str(outbox)},
        "providers": providers,
        "routes": [{"provider": name, "mode": "live"} for name in live],
        **more,
    }
    pathlib.Path(path).write_text(json.dumps(configuration, indent=2, ensure_ascii=False))
    return path


class Sandbox:
    """`patchbay sandbox`, from its first answer until the end of a `with` block."""

    def __init__(self, folder, vendors, settings=None, environment=None):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "sandbox.ndjson"
        arguments = [str(COMMAND), "sandbox", "--log", str(self.log)]
        for vendor in vendors:
            arguments += ["--vendor", vendor]
        if settings:
            file = self.folder / "sandbox-settings.json"
            file.write_text(json.dumps(settings))
            arguments += ["--settings", str(file)]
        self._process = subprocess.Popen(
            arguments, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        )
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"The sandbox did not start; it ended with {self._process.wait()}.")
        said = json.loads(line)
        self.url, self.vendors, self.token = said["url"], said["vendors"], said["token"]

    def __enter__(self):
        return self

    @property
    def pid(self):
        return self._process.pid

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + "/sandbox" + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.read()

    def set_faults(self, *rules):
        self.call("PUT", "/faults", list(rules))

    def save_state(self, vendor):
        """Writes the vendor's state to a file, and returns the file."""
        file = self.folder / f"{vendor}-state.json"
        file.write_bytes(self.call("GET", f"/state/{vendor}"))
        return file


class Sender:
    """`patchbay send` with its receipts piped to the ledger's process."""

    def __init__(
        self, configuration, ledger, *arguments, environment=None, messages=None, stdin=subprocess.DEVNULL, **options
    ):
        self._messages = open(messages, "ab") if messages else None
        self.process = subprocess.Popen(
            [str(COMMAND), "send", "--config", str(configuration), *map(str, arguments)],
            stdin=stdin, stdout=subprocess.PIPE, stderr=self._messages or subprocess.DEVNULL,
            env={**os.environ, **(environment or {})}, **options,
        )
        self._ledger = subprocess.Popen(
            [sys.executable, str(HERE / "ledger.py"), str(ledger)],
            stdin=self.process.stdout, stdout=subprocess.DEVNULL,
        )
        self.process.stdout.close()

    def kill(self):
        """Ends the sender like a crash, without a warning."""
        self.process.kill()
        return self.wait(600)

    def wait(self, timeout):
        """Waits until the sender has ended and the ledger has read its last line; returns the exit code."""
        try:
            return self.process.wait(timeout)
        finally:
            if self.process.poll() is not None:
                self._ledger.wait(600)
                if self._messages:
                    self._messages.close()
