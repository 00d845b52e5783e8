#!/usr/bin/env python3
"""Checks the built command against hostile servers, files, values and clocks.

Each check is a method whose first line of documentation states what must hold. Usage: hardening.py [PART OF A NAME]
"""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import resource
import socket
import sqlite3
import subprocess
import sys
import threading
import unicodedata

import servers
import end_to_end
import processes
import vendors
from end_to_end import CONTACT, a_morning, lines
from outbox_file import OutboxFile

LARGE = {
    "tags": lambda count: {"kind": "changeTags", "tags": {"add": [f"tag{n}" for n in range(count)]}},
    "removed tags": lambda count: {"kind": "changeTags", "tags": {"remove": [f"tag{n}" for n in range(count)]}},
    "attributes": lambda count: {"kind": "changeAttributes", "changes": {f"field{n}": {"set": n} for n in range(count)}},
    "event attributes": lambda count: {
        "kind": "track", "event": {"kind": "custom", "name": "Large", "attributes": {f"field{n}": n for n in range(count)}},
    },
    "identifiers": lambda count: {
        "kind": "identify",
        "identifiers": [{"kind": "external", "value": CONTACT}, *({"kind": f"kind{n}", "value": str(n)} for n in range(count))],
    },
    "list": lambda count: {"kind": "changeAttributes", "changes": {"list": {"append": list(range(count))}}},
}
SUBJECT, VALUES = "installation-of-sybil", ["poetry", "Order Placed", "Zo\u00eb"]
AFTER = {"kind": "track", "event": {"kind": "custom", "name": "After", "attributes": {}}}
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
TLS_SERVER = processes.ROOT / "Tests/PatchbayHTTPTests/tls_server.py"


class Recorder:
    """A listener that keeps the first bytes of each connection and hangs up."""

    def __init__(self):
        self.received = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            connection, _ = self._listener.accept()
            self.received.append(connection.recv(65_536))
            connection.close()


class Challenge(http.server.BaseHTTPRequestHandler):
    """Answers every request with 401 and a challenge."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="vendor"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

    def log_message(self, *_):
        pass


class Hardening(end_to_end.EndToEnd):
    def send(self, operations, url=None, seconds=4, environment=None, **members):
        """Sends operations to Altcraft: its sandbox, or a server of another address."""
        providers = {"altcraft": self.provider("altcraft", url)}
        configuration = processes.write_configuration(self.folder / "patchbay.json", providers, ["altcraft"], **members)
        return processes.run(
            "send", "--config", configuration, "--until-idle", seconds, "-", input=lines(operations).encode(),
            environment={**self.environment, **(environment or {})},
        )

    # The network

    def check_proxy_variables(self):
        """the proxy variables of the environment have no effect, and transport.proxy names the proxy"""
        recorder = Recorder()
        environment = dict.fromkeys(PROXY_VARIABLES, recorder.url)
        self.expect_end(self.send(a_morning(), seconds=30, environment=environment), 0)
        self.outbox.unlink()
        self.expect_end(self.send(a_morning(), "https://vendor.invalid", environment=environment), 1, "vendor.invalid")
        self.expect(not recorder.received, f"the environment's proxy received {recorder.received}")
        self.outbox.unlink()
        self.send(a_morning(), "https://vendor.invalid", transport={"proxy": recorder.url})
        self.expect(recorder.received, "the proxy of the configuration received nothing")
        for each in recorder.received:
            self.expect(each.startswith(b"CONNECT vendor.invalid:443 "), f"the proxy received {each}")
            self.expect(CONTACT.encode() not in each and b"uthorization" not in each, f"the proxy received {each}")

    def check_tls(self):
        """a server that cannot prove its identity receives nothing, and the report names the cause"""
        causes = {
            "self-signed": "not trusted (self-signed)", "good": "is not trusted", "plain": "secure connection (TLS)",
            "closed": "secure connection (TLS)",
        }
        for kind, cause in causes.items():
            folder = self.folder / kind
            folder.mkdir()
            command = [sys.executable, str(TLS_SERVER), kind, str(folder)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
                port = int(server.stdout.readline())
                done = self.send(a_morning(), f"https://127.0.0.1:{port}")
                server.stdin.close()
            self.expect_end(done, 1, cause)
            self.outbox.unlink()

    def check_challenge(self):
        """a 401 with a challenge is a reply: the report names the credentials, and no request waits for its deadline"""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Challenge)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = self.send(a_morning(), f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        self.expect_end(done, 1, "401")

    # Size

    # A measurement, which takes minutes: `make large`.
    def large_operations(self):
        """an operation of twice the size takes at most 2.5 times the processor time, at every device API"""
        for vendor in vendors.ALL:
            for shape in LARGE:
                # Other processes of the machine only increase a time: the smallest of three counts.
                small, large = [min(self.processor_time(vendor, shape, count) for _ in range(3)) for count in (15_000, 30_000)]
                print(f"          {vendor}, {shape}: {small:.2f} s, then {large:.2f} s", flush=True)
                # An empty run takes some time, too.
                self.expect(large < 2.5 * small + 0.1, f"{vendor}, {shape}: {small:.2f} s, then {large:.2f} s")

    def processor_time(self, vendor, shape, count):
        configuration = self.configuration(vendor)
        operations = [*a_morning(), end_to_end.operation(90, LARGE[shape](count)), end_to_end.operation(91, AFTER)]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = processes.run(
            "send", "--config", configuration, "--until-idle", 120, "-", environment=self.hurried(), input=lines(operations).encode()
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.expect(done.returncode in (0, 1), f"{vendor}, {shape}: {done.stderr.decode()[-400:]}")
        self.expect(len(self.promised(done.stdout)) == len(operations), f"{vendor}, {shape}: not everything was captured")
        with OutboxFile(self.outbox) as outbox:
            self.expect(not list(outbox.pending()), f"{vendor}, {shape}: operations are still pending")
        for file in self.folder.glob("outbox.sqlite*"):
            file.unlink()
        return used

    # Texts

    def check_forged_output(self):
        """no name makes a line of its own, and no control character reaches the terminal, in any output"""
        forged = "x\nFORGED\x1b[2J\x7f\u009b31m\r"
        actions = [
            {"kind": "track", "event": {"kind": "custom", "name": forged, "attributes": {forged: {"choices": [forged]}}}},
            {"kind": "changeAttributes", "changes": {forged: {"set": [[forged]]}}},
            {"kind": "changeTags", "tags": {"add": [forged]}},
            {"kind": "changeSubscription", "subscription": {"channel": forged, "topic": forged, "state": "subscribed"}},
            {"kind": "setConsent", "consent": {"purpose": forged, "channel": forged, "state": "granted"}},
            {"kind": "identify", "identifiers": [{"kind": forged, "value": forged}]},
        ]
        operations = [
            {**end_to_end.operation(number, action, forged), "subject": forged} for number, action in enumerate(actions, 1)
        ]
        for vendor in vendors.ALL:
            configuration = self.configuration(vendor)
            runs = [processes.run("send", "--config", configuration, "--until-idle", "2", "-", environment=self.hurried(), input=lines(operations).encode())]
            for words in (["list"], ["rejects", "list"], ["stats"], ["verify"], ["consent"], ["shadow"]):
                for options in ([], ["--json"]):
                    runs.append(self.run("outbox", *words, *options, self.outbox))
            for done in runs:
                shown = (done.stdout + done.stderr).decode()
                bad = [c for c in shown if c != "\n" and unicodedata.category(c) == "Cc"]
                self.expect(not bad, f"{vendor}: {done.args[1:3]} prints {bad[:3]} in {shown[:300]!r}")
                self.expect("\nFORGED" not in shown, f"{vendor}: {done.args[1:3]} prints a forged line: {shown[:600]!r}")
            for file in self.folder.glob("outbox.sqlite*"):
                file.unlink()

    def check_forged_migration(self):
        """no name of a file, a column or an attribute makes a line of its own in the output of a migration"""
        forged = "x\nFORGED\x1b[2J\x7f\u009b31m"
        source, settings = self.folder / f"in {forged}.csv", self.folder / f"settings {forged}.json"
        source.write_text(f'"Contact Key","{forged}","Zip {forged}"\nk-1,"{forged}",1\n,"{forged}",1\n', newline="")
        settings.write_text(json.dumps({"from": {"columns": {forged: f"attribute:{forged}"}}}))
        ways = ["--from", "salesforce.contacts", "--to", "neutral.contacts", "--in", source, "--settings", settings]
        runs = []
        for options in ([], ["--json"]):
            output = ["--out", self.folder / f"out {forged}", "--rejects", self.folder / f"rejects {forged}"]
            runs += [
                self.run("migrate", "plan", *ways, *options), self.run("migrate", "apply", *ways, *output, *options, "--restart"),
                self.run("migrate", "verify", *ways, "--target", output[1], *options),
                self.run("migrate", "plan", *ways[:4], "--in", self.folder / f"absent {forged}", *options),
                self.run("check", "--config", settings, *options), self.run("outbox", "stats", self.folder / f"no {forged}", *options),
            ]
        for done in runs:
            shown = (done.stdout + done.stderr).decode()
            bad = [c for c in shown if c != "\n" and unicodedata.category(c) == "Cc"]
            self.expect(shown and not bad, f"{done.args[1:3]} prints {bad[:3]} in {shown[:300]!r}")
            self.expect("\nFORGED" not in shown, f"{done.args[1:3]} prints a forged line: {shown[:600]!r}")

    def check_clocks(self):
        """a clock out of range is an error"""
        clocks = [
            {"date": date, "speed": speed, **({} if uptime is None else {"uptime": uptime})}
            for date in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2031-03-09T06:00:00Z", "99999-01-01T00:00:00Z")
            for speed in (0, -1, 1, 9_223_372_036_854_775_807)
            for uptime in (None, 0, -9_223_372_036_854_775_808, 9_223_372_036_854_775_807)
        ]
        for clock in clocks:
            done = processes.run(
                "send", "--config", self.configuration("altcraft"), "--until-idle", "1", "-", input=b"",
                environment={**self.environment, "PATCHBAY_CLOCK": json.dumps(clock)},
            )
            self.expect(done.returncode in (0, 78), f"{clock} ends with {done.returncode}: {done.stderr.decode()[-300:]}")

    # Erasure

    def check_erasure(self):
        """after an erasure no byte of the subject, the contact or a value is in any file of the outbox, at every device API"""
        operations = [{**each, "subject": SUBJECT} for each in a_morning()]
        for vendor in vendors.ALL:
            for url in (self.sandbox.vendors[vendor], "http://127.0.0.1:1"):
                self.send_and_erase(vendor, url, operations)
                self.expect_erased(vendor, [SUBJECT, CONTACT, *VALUES])

    def check_erasure_of_a_former_contact(self):
        """after an erasure nothing is left of a contact whose installation another person uses, at every device API"""
        log_in = {"kind": "switchContact", "switch": {"direction": "logIn", "identifiers": [{"kind": "external", "value": "member-2"}]}}
        operations = [{**each, "subject": SUBJECT} for each in [*a_morning(), end_to_end.operation(7, log_in, "member-2")]]
        for vendor in vendors.ALL:
            self.send_and_erase(vendor, self.sandbox.vendors[vendor], operations)
            self.expect_erased(vendor, [CONTACT, *VALUES])

    def check_erasure_at_servers(self):
        """after an erasure no byte of the subject, the contact or a value is in any file of the outbox, at every server API"""
        operations = [{**each, "subject": SUBJECT} for each in a_morning()[1:]]
        for server in servers.SERVERS:
            folder = self.folder / server.name
            folder.mkdir()
            with servers.Shop(folder, None, [server]) as shop:
                self.erase_after(shop.configuration, operations, {**self.environment, **shop.environment})
            self.expect_erased(server.name, [SUBJECT, CONTACT, *VALUES], folder)

    def check_erasure_of_damaged_files(self):
        """an erasure deletes the files that a recovery has set aside"""
        self.send(a_morning(), "http://127.0.0.1:1")
        with open(self.outbox, "r+b") as file:
            file.seek(0)
            file.write(b"\0" * 4096)
        self.send([])
        self.expect(list(self.folder.glob("outbox.sqlite.damaged-*")), "the damaged file was not set aside")
        self.erase_after(self.configuration("altcraft"), [], self.hurried())
        self.expect_erased("altcraft", [CONTACT, *VALUES])

    def send_and_erase(self, vendor, url, operations):
        """Sends operations to an address, then erases the contact at the sandbox."""
        configuration, contacts = self.folder / "patchbay.json", sorted({each["contact"] for each in operations})
        for address, each in ((url, operations), (self.sandbox.vendors[vendor], [])):
            provider = vendors.ALL[vendor].provider(address, contacts, self.environment)
            processes.write_configuration(configuration, {vendor: provider}, [vendor])
            if each:
                processes.run(
                    "send", "--config", configuration, "--until-idle", "2", "-", environment=self.hurried(), input=lines(each).encode()
                )
        self.erase_after(configuration, [], self.hurried())

    def erase_after(self, configuration, operations, environment):
        if operations:
            processes.run("send", "--config", configuration, "-", environment=environment, input=lines(operations).encode())
        done = processes.run("erase", "--config", configuration, "--contact", "-", environment=environment, input=f"{CONTACT}\n".encode())
        self.expect(done.returncode in (0, 1), f"erase ended with {done.returncode}: {done.stderr.decode()[-300:]}")
        self.expect(CONTACT.encode() not in done.stdout + done.stderr, "the report names the contact")

    def expect_erased(self, vendor, words, folder=None):
        """Checks that no file of an outbox contains one of the words, and removes the files."""
        files = list((folder or self.folder).glob("outbox.sqlite*"))
        self.expect(files, f"{vendor}: there is no outbox")
        for file in files:
            data = file.read_bytes()
            found = [word for word in words if word.encode() in data]
            self.expect(not found, f"{vendor}: {file.name} holds {found}")
            file.unlink()

    # Files

    def check_outbox_files(self):
        """a deleted write-ahead log ends capture with an error, and views and triggers are refused"""
        configuration = self.configuration("altcraft", onSwitch="drain")
        processes.write_configuration(configuration, {"altcraft": self.provider("altcraft", "http://127.0.0.1:1")}, ["altcraft"])
        command = [str(processes.COMMAND), "send", "--config", str(configuration), "--until-idle", "1", "-"]
        first, *rest = [lines([each]).encode() for each in a_morning()]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **self.environment}
        ) as sender:
            sender.stdin.write(first)
            sender.stdin.flush()
            self.expect(b"durable" in sender.stdout.readline(), "there is no receipt")
            pathlib.Path(f"{self.outbox}-wal").unlink()
            output, messages = sender.communicate(b"".join(rest), timeout=1200)
        self.expect(b"durable" not in output, f"receipts after the log was deleted: {output}")
        self.expect(sender.returncode != 0 and b"write-ahead log" in messages, f"{sender.returncode}: {messages.decode()[-300:]}")
        for statement in ("CREATE VIEW v AS SELECT 1", "CREATE TRIGGER t AFTER INSERT ON route BEGIN DELETE FROM route; END"):
            for file in self.folder.glob("outbox.sqlite*"):
                file.unlink()
            self.send(a_morning())
            with contextlib.closing(sqlite3.connect(self.outbox)) as crafted:
                # Without the functions of the outbox, the schema is changed as an attacker would.
                crafted.execute(statement)
                crafted.commit()
            self.expect(self.send(a_morning()).returncode not in (0, 1), f"an outbox is used after {statement}")

    def check_output_files(self):
        """a draft that is a link, or another owner's, is refused, and the mode is the owner's alone"""
        victim, output = self.folder / "victim", self.folder / "out.ndjson"
        words = [
            "migrate", "apply", "--from", "neutral.contacts", "--to", "neutral.contacts", "--in", self.folder / "in.ndjson",
            "--rejects", self.folder / "rejects.ndjson",
        ]
        (self.folder / "in.ndjson").write_text('{"identifiers":[{"kind":"external","value":"c-1"}]}\n')
        for name in ("out.ndjson.partial", "rejects.ndjson.partial"):
            victim.write_text("kept")
            (self.folder / name).symlink_to(victim)
            done = self.run(*words, "--out", output)
            self.expect(victim.read_text() == "kept", f"{name}: the file behind the link was changed")
            self.expect(done.returncode not in (0, 1), f"{name}: a link is accepted")
            (self.folder / name).unlink(missing_ok=True)
        mask = os.umask(0)
        try:
            self.expect_end(self.run(*words, "--out", output), 0)
        finally:
            os.umask(mask)
        self.expect(output.stat().st_mode & 0o777 == 0o600, "others may read the output")

    # Sandbox

    def check_sandbox(self):
        """the sandbox refuses other hosts, other sites, and a browser's control request without the token"""
        port = int(self.sandbox.url.rsplit(":", 1)[1])

        def status(path, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1200)
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            return connection.getresponse().status

        own, path = f"http://127.0.0.1:{port}", "/sandbox/health"
        self.expect(status(path) == 200, "a plain request is refused")
        self.expect(status(path, Host="vendor.example") == 403, "another host is accepted")
        self.expect(status(path, Origin="https://vendor.example") == 403, "another site is accepted")
        self.expect(status("/altcraft/x", Origin="null") == 403, "a site without a name is accepted")
        self.expect(status(path, Origin=own) == 403, "a browser needs no token")
        self.expect(status(path, Sec_Fetch_Site="none") == 403, "a browser needs no token")
        token = self.sandbox.token
        self.expect(status(path, Origin=own, X_Sandbox_Token=token) == 200, "the token is refused")


if __name__ == "__main__":
    end_to_end.main(Hardening)
