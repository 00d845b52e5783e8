#!/usr/bin/env python3
"""Checks the built command over real HTTP and real files, with valid and invalid input.

Each check is a method whose first line of documentation states what must hold. Usage: end_to_end.py [PART OF A NAME]
"""

import base64
import hashlib
import http.server
import itertools
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import servers
import processes
import scene
import vendors
from outbox_file import OutboxFile
from recount import Recount, ndjson

DATA = processes.ROOT / "Examples/Data"
CONTACT = "member-480013"


def operation(number, action, contact=CONTACT):
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}", "subject": "5e0f4b52-7f0e-4b1d-9a3c-2d1f6a7b8c90", "contact": contact,
        "capturedAt": "2031-03-09T07:05:11.042Z", "appState": "active", "action": action,
    }


def a_morning():
    """The first operations of a known person."""
    facts = {"platform": "iOS", "platformVersion": "19.3", "model": "iPhone17,3", "locale": "fi_FI", "appVersion": "5.2.0"}
    actions = [
        {"kind": "registerDevice", "device": {"pushToken": {"value": "7c1f3ad09be24c55" * 4}, "facts": facts}},
        {"kind": "switchContact", "switch": {"direction": "logIn", "identifiers": [{"kind": "external", "value": CONTACT}]}},
        {"kind": "changeSubscription", "subscription": {"channel": "push", "state": "subscribed"}},
        {"kind": "changeAttributes", "changes": {"given_name": {"set": "Zoë"}, "points": {"set": 7}}},
        {"kind": "changeTags", "tags": {"add": ["poetry"]}},
        {"kind": "track", "event": {"kind": "custom", "name": "Order Placed", "attributes": {"total": 49.5}}},
    ]
    return [operation(number, action) for number, action in enumerate(actions, 1)]


def lines(operations):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in operations)


class Failure(Exception):
    pass


class EndToEnd:
    def __init__(self, folder, sandbox, environment):
        self.folder, self.sandbox, self.environment = folder, sandbox, environment
        self.outbox = folder / "outbox.sqlite"

    # Help for checks

    def configuration(self, *names, **more):
        providers = {name: self.provider(name) for name in names}
        return processes.write_configuration(self.folder / "patchbay.json", providers, list(names), **more)

    def provider(self, vendor, url=None):
        return vendors.ALL[vendor].provider(url or self.sandbox.vendors[vendor], [CONTACT], self.environment)

    def run(self, *arguments, **options):
        return processes.run(*arguments, environment=self.environment, **options)

    def expect(self, condition, text):
        if not condition:
            raise Failure(text)

    def expect_end(self, done, code, *words):
        """Checks the exit status, and that standard error contains some texts."""
        messages = done.stderr.decode(errors="replace")
        self.expect(done.returncode == code, f"ended with {done.returncode}, not {code}: {messages[-600:]}")
        for word in words:
            self.expect(word.lower() in messages.lower(), f"\"{word}\" is not in: {messages[-600:]}")
        return done

    def promised(self, output):
        receipts = [json.loads(line) for line in output.decode().splitlines()]
        return [each["id"] for each in receipts if each.get("durable")]

    def expect_kept(self, promised):
        """Checks that every acknowledged operation is in the outbox, and that the outbox is sound."""
        ledger = self.folder / "ledger.txt"
        ledger.write_text("\n".join(promised))
        with OutboxFile(self.outbox) as outbox:
            problems = Recount(outbox, ledger.read_text().split(), [], None, {}, False).run().problems
        self.expect(not problems, "; ".join(problems))

    def expect_no_secret(self, *done):
        """Checks that no secret of the environment is in an output, in an outbox, or in the sandbox's log."""
        output = {f"what run {number} said": each.stdout + each.stderr for number, each in enumerate(done)}
        files = {file.name: file.read_bytes() for file in [*self.folder.glob("*.sqlite*"), self.sandbox.log]}
        self.expect(any(name.endswith(".sqlite") for name in files), "there is no outbox to look into")
        # An app key is no secret: every URL contains it.
        for secret in (value for name, value in self.environment.items() if not name.endswith("APP_KEY")):
            for form in (secret.encode(), base64.b64encode(secret.encode()).rstrip(b"=")):
                shown = [name for name, data in {**output, **files}.items() if form in data]
                self.expect(not shown, f"a secret is in {', '.join(shown)}")

    # Valid input

    def deliver_a_morning(self, vendor):
        """Operations without an API of the vendor are refused with a reason; all others arrive."""
        configuration = self.configuration(vendor)
        # Vendors have a pacing, so the number of requests depends on the machine's speed: use a fast clock.
        done = processes.run(
            "send", "--config", configuration, "-", environment=self.hurried(), input=lines(a_morning()).encode()
        )
        refused = [each["id"] for each in a_morning() if each["action"]["kind"] in vendors.ALL[vendor].REFUSES]
        self.expect_end(done, 1 if refused else 0)
        promised = self.promised(done.stdout)
        self.expect(len(promised) == 6, f"{len(promised)} receipts for 6 operations")
        self.expect_no_secret(done)
        self.recount(promised, {vendor: self.sandbox.save_state(vendor)})
        with OutboxFile(self.outbox) as outbox:
            rejected = {identifier: code for _, identifier, code in outbox.rejects()}
        self.expect(sorted(rejected) == refused and all(rejected.values()), f"rejected are {rejected}, not {refused}")

    def switch_in_a_morning(self, old, new):
        """The old vendor receives half of the operations, then its network fails; the new one receives the rest and the pending ones."""
        operations = a_morning()
        providers = {name: self.provider(name) for name in (old, new)}
        promised = []
        for name, part in [(old, operations[:3]), (new, operations[3:])]:
            configuration = processes.write_configuration(
                self.folder / f"{name}.json", providers, [name], outbox=self.outbox, onSwitch="retarget", onLoss="reject"
            )
            if name == old:
                self.sandbox.set_faults({"vendor": old, "effect": "reset"})
            done = processes.run(
                "send", "--config", configuration, "--until-idle", 1 if name == old else 30, "-",
                environment=self.hurried(), input=lines(part).encode(),
            )
            self.expect(done.returncode in (0, 1), f"{name} ended with {done.returncode}: {done.stderr.decode()[-400:]}")
            promised += self.promised(done.stdout)
            self.sandbox.set_faults()
        self.expect(len(promised) == 6, f"{len(promised)} receipts for 6 operations")
        self.recount(promised, {name: self.sandbox.save_state(name) for name in (old, new)})

    def hurried(self):
        """Returns the environment with a clock in which ten minutes pass in a second."""
        return {**self.environment, "PATCHBAY_CLOCK": processes.clock(600, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))}

    def recount(self, promised, states):
        with OutboxFile(self.outbox) as outbox:
            states = {vendor: json.loads(file.read_text()) for vendor, file in states.items()}
            recount = Recount(outbox, promised, a_morning(), ndjson(self.sandbox.log), states, True).run()
        self.expect(not recount.problems, "; ".join(recount.problems))

    def check_outbox_commands(self):
        """outbox stats, list and verify report pending operations correctly"""
        configuration = self.configuration("salesforce")
        self.sandbox.set_faults({"effect": "reset"})
        done = self.run("send", "--config", configuration, "--until-idle", 1, "-", input=lines(a_morning()).encode())
        self.expect_end(done, 1, "6        6")
        stats = json.loads(self.expect_end(self.run("outbox", "stats", self.outbox, "--json"), 0).stdout)
        self.expect((stats["captured"], stats["pending"], stats["balances"]) == (6, 6, True), f"stats say {stats}")
        listed = self.expect_end(self.run("outbox", "list", self.outbox), 0).stdout.decode()
        self.expect(len(listed.splitlines()) == 6, f"{len(listed.splitlines())} lines for 6 operations")
        self.expect("Zoë" not in listed and CONTACT not in listed, "the list shows a person without --values")
        shown = self.expect_end(self.run("outbox", "list", self.outbox, "--values"), 0).stdout.decode()
        self.expect("Zoë" in shown, "--values shows no values")
        self.expect_end(self.run("outbox", "verify", self.outbox), 0)

    def check_damage(self):
        """outbox verify finds a byte that another program changed"""
        configuration = self.configuration("salesforce")
        self.run("send", "--config", configuration, "-", input=lines(a_morning()).encode())
        with OutboxFile(self.outbox) as outbox:
            outbox._database.execute("UPDATE outcomeBatch SET code = 'x' WHERE number = (SELECT min(number) FROM outcomeBatch)")
            outbox._database.commit()
            outbox._database.execute("VACUUM INTO ?", (str(self.folder / "damaged.sqlite"),))
            self.expect(outbox.faults()[0], "our own reader does not see the damage")
        done = self.expect_end(self.run("outbox", "verify", self.folder / "damaged.sqlite"), 1)
        self.expect(b"outcomeBatch" in done.stdout, f"does not name the table: {done.stdout.decode()}")

    def check_repeat(self):
        """sending the same file again changes nothing: known operations are skipped"""
        configuration = self.configuration("salesforce")
        (self.folder / "day.ndjson").write_text(lines(a_morning()))
        self.run("send", "--config", configuration, self.folder / "day.ndjson")
        again = self.expect_end(self.run("send", "--config", configuration, self.folder / "day.ndjson"), 0, "knows already")
        self.expect(self.promised(again.stdout) == [], "known operations were promised again")
        with OutboxFile(self.outbox) as outbox:
            self.expect(outbox.accounts()["salesforce"]["captured"][""] == 6, "known operations were captured again")

    def check_switch_announcement(self):
        """send says which providers a configuration adds and removes, and counts its own run beside the totals"""
        providers = {name: self.provider(name) for name in ("salesforce", "altcraft")}

        def send(live, operations):
            configuration = processes.write_configuration(
                self.folder / "patchbay.json", providers, [live], outbox=self.outbox, onSwitch="retarget", onLoss="reject"
            )
            return processes.run(
                "send", "--config", configuration, "-", environment=self.hurried(), input=lines(operations).encode()
            ).stderr.decode()

        operations = a_morning()
        first, same, other = send("salesforce", operations[:3]), send("salesforce", operations[3:4]), send("altcraft", operations[4:])
        self.expect("switches" not in first + same, f"a switch is announced without one: {first}{same}")
        self.expect("This run, on a new outbox:" in first and "This run:" in same, f"the counts of a run are missing: {same}")
        for text in (same, other):
            heads, *rows = text.split("This run:\n")[1].split("Totals of")[0].splitlines()
            for row in rows:
                numbers = dict(zip(re.split(r"  +", heads)[1:], map(int, row.split()[1:])))
                begun = numbers.pop("pending before") + numbers.pop("operations")
                self.expect(begun == sum(numbers.values()), f"the counts of the run do not add up: {text}")
        self.expect(other.startswith("The configuration switches providers: removed: salesforce (0 pending); added: altcraft."), f"it says {other}")
        self.expect(other.rstrip().splitlines()[-1].startswith("salesforce"), f"the totals are not at the end: {other}")

    def check_map(self):
        """map shows each vendor's requests without a network, and no secret in them"""
        configuration = self.configuration("salesforce", "altcraft")
        for vendor in ["salesforce", "altcraft"]:
            done = self.run("map", "--config", configuration, "--provider", vendor, "-", input=lines(a_morning()).encode())
            mapped = [json.loads(line) for line in done.stdout.splitlines()]
            self.expect(len(mapped) == 6, f"{len(mapped)} lines for 6 operations")
            self.expect(any(each["requests"] for each in mapped), "no request is shown")
            for secret in self.environment.values():
                self.expect(secret.encode() not in done.stdout, "a secret is shown")

    def check_server_api(self):
        """a back end's configuration sends rows, jobs, events and deletions over HTTP; an app's configuration cannot name a server API"""
        secret = self.environment["SALESFORCE_CLIENT_SECRET"] = "s3cret-of-an-installed-package"
        account = {"salesforce-server": {"clientSecret": secret, "dataExtensions": ["People"], "jobTime": 10}}
        folder = self.folder / "back end"
        folder.mkdir()
        with processes.Sandbox(folder, ["salesforce-server"], account) as sandbox:
            url = sandbox.vendors["salesforce-server"]
            settings = {
                "authUrl": url, "restUrl": url, "clientId": "client-1", "clientSecret": "${SALESFORCE_CLIENT_SECRET}",
                "dataExtension": "People", "tagColumns": {"poetry": "ReadsPoetry"},
                "identifierColumns": {"email": "Email"},
                "contactAttributes": {"identifier.email": "Email Addresses/Email Address"},
                "contactDefaults": {"Email Addresses/HTML Enabled": "true"},
            }
            providers = {"rows": {"adapter": "salesforce-server", "settings": settings}}
            file = folder / "patchbay.json"
            operations, number = [], 0
            for contact in ("c-1", "c-2", "c-3"):
                for route, action in [
                    (None, {"kind": "changeAttributes", "changes": {"points": {"set": 7}, "city": {"set": "Turku"}}}),
                    (None, {"kind": "changeTags", "tags": {"add": ["poetry"]}}),
                    ("asyncRows", {"kind": "changeAttributes", "changes": {"given_name": {"set": "Zoë"}}}),
                    ("contacts", {"kind": "identify", "identifiers": [{"kind": "email", "value": f"{contact}@example.com"}]}),
                    (None, {"kind": "track", "event": {"kind": "custom", "name": "Order Placed", "attributes": {"total": 49.5}}}),
                ] + ([(None, {"kind": "erase"})] if contact == "c-3" else []):
                    number += 1
                    each = {**operation(number, action, contact), "subject": contact}
                    if route:
                        each["options"] = {"salesforce-server": {"route": route}}
                    operations.append(each)
            processes.write_configuration(file, providers, ["rows"])
            refused = self.expect_end(self.run("check", file), 78)
            self.expect(b"configuration.provider.side" in refused.stdout + refused.stderr, "the configuration of an app accepts a server API")
            processes.write_configuration(file, providers, ["rows"], side="server")
            source = lines(operations).encode()
            mapped = self.expect_end(self.run("map", "--config", file, "--provider", "rows", "-", input=source), 0)
            self.expect(secret.encode() not in mapped.stdout, "map shows the secret")
            done = processes.run("send", "--config", file, "-", environment=self.hurried(), input=source)
            self.expect_end(done, 0)
            self.expect(len(self.promised(done.stdout)) == number, "not everything was promised")
            state = json.loads(sandbox.save_state("salesforce-server").read_text())
            person = {"points": 7, "city": "Turku", "readspoetry": True, "given_name": "Zoë"}
            held = {key: {name: json.loads(text) for name, text in row.items()} for key, row in state["rows"]["People"].items()}
            self.expect(held == {"c-1": person, "c-2": person}, f"the data extension holds {held}")
            self.expect(sorted(state["contacts"]) == ["c-1", "c-2"], "the contacts are others")
            self.expect(state["deletions"] == ["c-3"] and len(state["events"]) == 2, "events or deletions are missing")
            self.expect(len(state["tokens"]) == 1, f"{len(state['tokens'])} tokens were asked for")
            shown = [name.name for name in folder.iterdir() if name.is_file() and secret.encode() in name.read_bytes()]
            self.expect(shown == ["sandbox-settings.json"], f"the secret is in {shown}")

    def check_erasure(self):
        """an erasure reports the outcome of the vendor's deletion: a refused one requires a manual step and ends with 1"""
        self.environment["SALESFORCE_CLIENT_SECRET"] = "s3cret-of-an-installed-package"
        status = {}

        class Vendor(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"] or 0))
                token = {"access_token": "t-1", "token_type": "Bearer", "expires_in": 1080}
                code, body = (200, token) if self.path.startswith("/v2/token") else (status["delete"], status["body"])
                body = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        settings = {
            "authUrl": url, "restUrl": url, "clientId": "client-1", "clientSecret": "${SALESFORCE_CLIENT_SECRET}",
            "dataExtension": "People",
        }
        file = processes.write_configuration(
            self.folder / "patchbay.json", {"crm": {"adapter": "salesforce-server", "settings": settings}}, ["crm"], self.outbox,
            side="server",
        )
        refusal = {"message": "Not today", "errorcode": 10000}
        for code, body, term in [(400, refusal, "rejected"), (200, {"operationInitiated": True, "operationID": 7}, "accepted")]:
            status.update(delete=code, body=body)
            for form in ([], ["--json"]):
                done = self.run("erase", "--config", file, "--contact", "customer-77", *form)
                self.expect_end(done, 1 if term == "rejected" else 0)
                said = done.stdout.decode()
                self.expect("customer-77" not in said, "the person is named")
                if form:
                    [provider] = json.loads(said)["providers"]
                    [answer] = provider["answers"]
                    self.expect(answer["operation"] == provider["requested"][0] and answer["term"] == term, f"answered: {answer}")
                    if term == "rejected":
                        vendor = answer["finding"]["vendor"]
                        self.expect(vendor["status"] == 400 and vendor["code"] == "10000", f"the vendor said {vendor}")
                else:
                    self.expect(f": {term}\n" in said and ("to do: " in said) == (term == "rejected"), said)
        server.shutdown()

    def erase_after_a_morning(self, vendor):
        """An erasure at a device API deletes all data of the person here, and reports the manual step at the vendor."""
        configuration = self.configuration(vendor)
        done = processes.run("send", "--config", configuration, "-", environment=self.hurried(), input=lines(a_morning()).encode())
        self.expect(done.returncode in (0, 1), f"ended with {done.returncode}: {done.stderr.decode()[-400:]}")
        done = processes.run("erase", "--config", configuration, "--contact", CONTACT, "--json", environment=self.hurried())
        self.expect_end(done, 1)
        report = json.loads(done.stdout)
        [provider] = report["providers"]
        self.expect(report["subjects"] == 1 and provider["requested"], f"no provider was asked to erase: {report}")
        self.expect([each["term"] for each in provider["answers"]] == ["accepted"], f"answered: {provider['answers']}")
        self.expect(len(provider.get("manualStep", "")) > 20, f"the manual step at {vendor} is missing: {provider}")
        self.expect(CONTACT not in done.stdout.decode(), "the person is named")

    def check_server_apis(self):
        """a back end's configuration writes and erases people at Acoustic, Adobe and Altcraft over HTTP, each by its own exchange"""
        secrets = {name: f"s3cret-{name.lower().replace('_', '-')}" for name in ("ACOUSTIC_SECRET", "REFRESH", "ADOBE_SECRET", "TOKEN")}
        self.environment.update(secrets)
        accounts = {
            "acoustic-server": {"clientSecret": secrets["ACOUSTIC_SECRET"], "refreshToken": secrets["REFRESH"], "keyColumn": "MemberNo"},
            "adobe-server": {"clientSecret": secrets["ADOBE_SECRET"], "keyField": "cusNumber", "services": ["weeklyOffers"]},
            "altcraft-server": {"apiToken": secrets["TOKEN"], "dbId": 12},
        }
        folder = self.folder / "back end"
        folder.mkdir()
        with processes.Sandbox(folder, list(accounts), accounts) as sandbox:
            url = sandbox.vendors
            settings = {
                "acoustic-server": {
                    "baseUrl": url["acoustic-server"], "clientId": "client-1", "clientSecret": "${ACOUSTIC_SECRET}",
                    "refreshToken": "${REFRESH}", "databaseId": "771100", "keyColumn": "MemberNo", "erasure": "remove",
                    "tagColumns": {"poetry": "ReadsPoetry"},
                },
                "adobe-server": {
                    "apiUrl": url["adobe-server"], "tokenUrl": url["adobe-server"], "organization": "acmecorp",
                    "clientId": "client-1", "clientSecret": "${ADOBE_SECRET}", "scope": "openid", "matching": "key",
                    "resource": "profileAndServicesExt", "keyField": "cusNumber", "fieldNames": {"points": "cusPoints"},
                    "tagFields": {"poetry": "cusReadsPoetry"}, "services": {"email.offers": "weeklyOffers"},
                },
                "altcraft-server": {
                    "apiUrl": url["altcraft-server"], "apiToken": "${TOKEN}", "dbId": 12, "matchingField": "crm_id",
                    "tagsField": "labels",
                },
            }
            said = {"kind": "changeAttributes", "changes": {"points": {"set": 7}}}
            topic = {"channel": "email", "topic": "offers", "state": "subscribed"}
            shared = [("c-1", said), ("c-1", {"kind": "changeTags", "tags": {"add": ["poetry"]}}), ("c-2", said)]
            own = {"adobe-server": [("c-1", {"kind": "changeSubscription", "subscription": topic})]}
            for api, each in settings.items():
                file = folder / f"{api}.json"
                outbox = folder / f"{api}.sqlite"
                processes.write_configuration(file, {"crm": {"adapter": api, "settings": each}}, ["crm"], outbox, side="server")
                operations = [
                    {**operation(number, action, contact), "subject": contact}
                    for number, (contact, action) in enumerate(shared + own.get(api, []))
                ]
                done = processes.run("send", "--config", file, "-", environment=self.hurried(), input=lines(operations).encode())
                self.expect_end(done, 0)
                # The vendor deletes the person through its API: no manual step is left.
                done = processes.run("erase", "--config", file, "--contact", "c-2", "--json", environment=self.hurried())
                self.expect_end(done, 0)
                [provider] = json.loads(done.stdout)["providers"]
                self.expect([each["term"] for each in provider["answers"]] == ["accepted"], f"{api} answered {provider['answers']}")
                self.expect("manualStep" not in provider, f"{api} leaves something to do: {provider}")
            states = {api: json.loads(sandbox.save_state(api).read_text()) for api in accounts}
            acoustic = {key: contact["columns"] for key, contact in states["acoustic-server"]["contacts"].items()}
            self.expect(acoustic == {"c-1": {"points": "7", "ReadsPoetry": "Yes"}}, f"Acoustic holds {acoustic}")
            adobe = [{name: json.loads(text) for name, text in each["fields"].items()} for each in states["adobe-server"]["profiles"]]
            self.expect(adobe == [{"cusNumber": "c-1", "cusPoints": 7, "cusReadsPoetry": True}], f"Adobe holds {adobe}")
            services = [each["service"] for each in states["adobe-server"]["subscriptions"]]
            self.expect(services == ["weeklyOffers"] and states["adobe-server"]["deleted"] == ["c-2"], "Adobe's records are others")
            altcraft = [json.loads(each["fields"]) for each in states["altcraft-server"]["profiles"]]
            self.expect(altcraft == [{"crm_id": "c-1", "points": 7, "labels": ["poetry"]}], f"Altcraft holds {altcraft}")
            self.expect(len(states["altcraft-server"]["deletions"]) == 1, "Altcraft erased no person")
            for secret in secrets.values():
                shown = [name.name for name in folder.iterdir() if name.is_file() and secret.encode() in name.read_bytes()]
                self.expect(shown == ["sandbox-settings.json"], f"a secret is in {shown}")

    def check_refused_switch(self):
        """a switch that would lose pending work is refused with the list; the old configuration stays in force"""
        providers = {name: self.provider(name) for name in ("salesforce", "des")}
        old, new = [
            processes.write_configuration(
                self.folder / f"{name}.json", providers, [name], outbox=self.outbox, onSwitch="retarget"
            ) for name in providers
        ]
        self.sandbox.set_faults({"effect": "reset"})
        lost = operation(9, {"kind": "changeTags", "tags": {"add": ["poetry in motion"]}})
        promised = self.promised(self.run("send", "--config", old, "--until-idle", 1, "-", input=lines([lost]).encode()).stdout)
        self.expect(promised == [lost["id"]], "the operation is not even pending with the old provider")
        done = self.run("send", "--config", new, "-", input=b"")
        self.expect_end(done, 78, lost["id"], "onLoss", "pending at salesforce")
        with OutboxFile(self.outbox) as outbox:
            self.expect(list(outbox.providers()) == ["salesforce"], f"the outbox knows {list(outbox.providers())}")
        self.expect(b"poetry" not in done.stderr, "the message repeats what the operation said")
        self.sandbox.set_faults()
        self.expect_end(self.run("send", "--config", old, "--until-idle", 1, "-", input=b""), 1, "salesforce           1        1")

    def check_shadow(self):
        """a shadow examines the operations of the live vendor, sends nothing, and reports what it would refuse, field by field"""
        providers = {name: self.provider(name) for name in ("altcraft", "des")}
        configuration = self.folder / "patchbay.json"
        configuration.write_text(json.dumps({
            "outbox": {"path": "outbox.sqlite"}, "providers": providers,
            "routes": [{"provider": "altcraft", "mode": "live"}, {"provider": "des", "mode": "shadow"}],
        }))
        done = processes.run(
            "send", "--config", configuration, "-", environment=self.hurried(), input=lines(a_morning()).encode()
        )
        self.expect(done.returncode in (0, 1), f"ended with {done.returncode}")
        self.expect({entry["vendor"] for entry in ndjson(self.sandbox.log)} == {"altcraft"}, "the shadow was sent something")
        printed = self.run("outbox", "shadow", self.outbox, "--json")
        report = json.loads(printed.stdout)
        self.expect(report["provider"] == "des", f"the report is of {report['provider']}")
        counted = sum(each["count"] for each in report["shadowRun"] if each["word"] in ("taken", "refused"))
        self.expect(counted == 6, f"{counted} of 6 operations were shadowed")
        refused = {each["place"] for each in report["shadowRun"] if each["word"] == "refused"}
        self.expect(refused == set(vendors.ALL["des"].REFUSES), f"refused are {refused}")
        shown = self.run("shadow", "--config", configuration, "-", input=lines(a_morning()).encode())
        mapped = [json.loads(line) for line in shown.stdout.splitlines()]
        self.expect(len(mapped) == 6, f"{len(mapped)} lines for 6 operations")
        self.expect(all(set(each["shadow"]) == {"des"} for each in mapped), "a line lacks the shadow")
        self.expect(any(each["shadow"]["des"]["requests"] for each in mapped), "no request of the shadow is shown")
        onlyHere = {each["id"] for each in mapped if any(difference["who"] == "onlyHere" for difference in each["differences"])}
        refusing = {each["id"] for each in a_morning() if each["action"]["kind"] in vendors.ALL["des"].REFUSES}
        self.expect(refusing <= onlyHere, f"differences are reported of {onlyHere}, not of {refusing}")

    def check_percentage(self):
        """a percentage route receives exactly the contacts of its share, which is computed here again"""
        providers = {name: self.provider(name) for name in ("salesforce", "altcraft")}
        configuration = self.folder / "patchbay.json"
        configuration.write_text(json.dumps({
            "outbox": {"path": "outbox.sqlite"}, "providers": providers,
            "routes": [
                {"provider": "altcraft", "mode": "percentage", "percent": 30.5},
                {"provider": "salesforce", "mode": "percentage", "percent": 69.5},
            ],
        }))
        said = {}
        for number in range(1, 61):
            contact = f"member-{number}"
            event = {"kind": "track", "event": {"kind": "custom", "name": "Order Placed"}}
            said[operation(number, event)["id"]] = {**operation(number, event, contact), "subject": f"phone-{number}"}
        self.run("send", "--config", configuration, "--until-idle", 0, "-", input=lines(said.values()).encode())
        received = {name: set() for name in providers}
        with OutboxFile(self.outbox) as outbox:
            for provider, identifier, *_ in outbox.history():
                received[provider].add(identifier)
            for provider, identifier, *_ in outbox.pending():
                received[provider].add(identifier)
        few = {
            identifier for identifier, each in said.items()
            if int.from_bytes(hashlib.sha256(each["contact"].encode()).digest()[:8], "big") % 10_000 < 3_050
        }
        self.expect(0 < len(few) < len(said), "all contacts are on one side")
        self.expect(received["altcraft"] & set(said) == few, f"altcraft receives {len(received['altcraft'])}, not {len(few)}")
        self.expect(received["salesforce"] & set(said) == set(said) - few, "salesforce receives others than the rest")

    def check_retarget(self):
        """outbox retarget moves pending operations of one vendor to another, which receives them"""
        providers = {name: self.provider(name) for name in ("salesforce", "altcraft")}
        configuration = processes.write_configuration(
            self.folder / "patchbay.json", providers, list(providers), outbox=self.outbox, onLoss="reject",
            onUnacknowledged="move",
        )
        processes.run(
            "send", "--config", configuration, "-", environment=self.hurried(), input=lines(a_morning()[:3]).encode()
        )
        alone = processes.write_configuration(self.folder / "alone.json", providers, ["salesforce"], outbox=self.outbox)
        self.sandbox.set_faults({"vendor": "salesforce", "effect": "reset"})
        self.run("send", "--config", alone, "--until-idle", 1, "-", input=lines(a_morning()[5:]).encode())
        done = self.expect_end(
            self.run("outbox", "retarget", self.outbox, "--config", configuration, "--provider", "salesforce", "--json"), 0
        )
        self.expect(json.loads(done.stdout)["moved"] >= 1, f"moved: {done.stdout.decode()}")
        self.sandbox.set_faults()
        processes.run("send", "--config", configuration, "-", environment=self.hurried(), input=b"")
        with OutboxFile(self.outbox) as outbox:
            accounts = outbox.accounts()
        self.expect(accounts["altcraft"]["created"].get("retargeted", 0) >= 1, f"altcraft's books say {accounts['altcraft']}")
        self.expect_end(self.run("outbox", "verify", self.outbox), 0)
        self.expect_end(
            self.run("outbox", "retarget", self.outbox, "--config", configuration, "--provider", "unknown"), 64, "salesforce"
        )

    def check_two_people(self):
        """two people on one installation, kills and changed settings: no profile holds a value of the other person"""
        people = ["anna", "bert"]
        provider = vendors.ALL["altcraft"].provider(self.sandbox.vendors["altcraft"], people, self.environment)
        promised, number, random_source = [], itertools.count(1), random.Random(7)
        self.sandbox.set_faults({"vendor": "altcraft", "effect": {"status": 503}, "probability": 0.4, "seed": 7})
        for round_number in range(12):
            person = people[round_number % 2]
            log_in = {"direction": "logIn", "identifiers": [{"kind": "external", "value": person}]}
            actions = [
                {"kind": "registerDevice", "device": {"pushToken": {"value": "7c1f3ad09be24c55" * 4}}},
                {"kind": "switchContact", "switch": log_in},
                {"kind": "changeAttributes", "changes": {"nickname": {"set": f"{person}-{round_number}"}}},
                {"kind": "changeTags", "tags": {"add": [f"{person}-tag-{round_number}"]}},
                {"kind": "switchContact", "switch": {"direction": "logOut"}},
            ]
            contacts = [None, person, person, person, None]
            operations = [
                {name: value for name, value in operation(next(number), action, contact).items() if value is not None}
                for action, contact in zip(actions, contacts)
            ]
            # Every round has other settings than the one before, so that pending operations are examined again.
            provider["settings"]["clientId"] = str(round_number)
            configuration = processes.write_configuration(
                self.folder / "patchbay.json", {"crm": provider}, ["crm"], outbox=self.outbox
            )
            sender = subprocess.Popen(
                [str(processes.COMMAND), "send", "--config", str(configuration), "-"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **self.hurried()},
            )
            sender.stdin.write(lines(operations).encode())
            sender.stdin.close()
            # The receipts come first; the process dies during the delivery.
            received = b"".join(sender.stdout.readline() for _ in operations)
            time.sleep(random_source.random() * 0.2)
            sender.kill()
            sender.wait(30)
            sender.stdout.close()
            promised += self.promised(received)
        self.sandbox.set_faults()
        done = processes.run("send", "--config", configuration, "-", environment=self.hurried(), input=b"")
        # A log-in that a later change of person has overtaken ends with a finding.
        self.expect(done.returncode in (0, 1), f"ended with {done.returncode}: {done.stderr.decode()[-400:]}")
        with OutboxFile(self.outbox) as outbox:
            codes = {code for _, _, code in outbox.rejects()}
        self.expect(all(code.startswith("altcraft.switch.") for code in codes), f"rejected with {sorted(codes)}")
        self.expect(len(promised) == 60, f"{len(promised)} receipts for 60 operations")
        with OutboxFile(self.outbox) as outbox:
            recount = Recount(outbox, promised, [], None, {}, True).run()
        self.expect(not recount.problems, "; ".join(recount.problems))
        state = json.loads(self.sandbox.save_state("altcraft").read_text())
        texts = {text for profile in state["profiles"] for text in [json.dumps(profile)]}
        self.expect(not any(all(f"{person}-" in text for person in people) for text in texts), "a profile mixes two people")
        for person, last in zip(people, (10, 11)):
            held = [text for text in texts if f"{person}-{last}" in text]
            self.expect(len(held) == 1, f"{len(held)} profiles hold the last value of {person}")
            self.expect(f"{person}-tag-{last}" in held[0], f"the last tag of {person} is missing")

    def check_migration(self):
        """migrate apply: every row of the export is written or rejected, and corrected rejects can be migrated again"""
        settings = self.folder / "settings.json"
        settings.write_text(json.dumps({"from": {"onInvalid": "reject", "types": {"points": "integer", "birth_date": "date", "country": "country"}}}))
        files = [self.folder / name for name in ("contacts.ndjson", "rejects.ndjson")]
        apply = ["migrate", "apply", "--from", "salesforce.contacts", "--to", "neutral.contacts", "--settings", settings, "--json"]
        source = DATA / "salesforce-contacts.csv"
        done = self.expect_end(self.run(*apply, "--in", source, "--out", files[0], "--rejects", files[1]), 1)
        report, rejects = json.loads(done.stdout), ndjson(files[1])
        self.expect((report["read"], report["written"], report["rejected"]) == (2400, 2363, 37), f"the report says {report}")
        self.expect((len(ndjson(files[0])), len(rejects)) == (2363, 37), "the files hold other numbers than the report")
        self.expect(all(each["code"] and each["remedy"] and each["line"] for each in rejects), "a reject has no reason, place or remedy")
        again = self.run(*apply, "--in", files[1].with_suffix(".csv"), "--dry-run")
        self.expect(json.loads(again.stdout)["read"] == 37, f"the replay file is read as {again.stdout.decode()}")
        first = files[0].read_bytes()
        self.run(*apply, "--in", source, "--out", files[0], "--rejects", files[1])
        self.expect(files[0].read_bytes() == first, "the same migration gives other bytes the second time")

    def migration(self, command, *more, rows=400):
        settings, source = self.folder / "migration.json", self.folder / "contacts.csv"
        settings.write_text(json.dumps({"to": vendors.ALL["altcraft"].TARGET[1]}))
        # A line with this prefix begins a row; other lines continue one.
        begun = (DATA / "salesforce-contacts.csv").read_bytes().split(b"\nmember-")
        source.write_bytes(b"\nmember-".join(begun[:rows]) + b"\n")
        return self.run(
            "migrate", command, "--from", "salesforce.contacts", "--to", "altcraft.profiles", "--settings", settings,
            "--in", source, *more,
        )

    def check_migration_to_servers(self):
        """the vendor holds the data of a killed and resumed migration through each server API, and undo restores the previous state"""
        tally = scene.Tally(rounds=len(servers.SERVERS))
        with servers.Shop(self.folder, random.Random(11)) as shop:
            for number, api in enumerate(servers.SERVERS):
                servers.play_round(shop, api, number, tally, count=24, kills=2)
        self.expect(not tally.problems, "; ".join(tally.problems)[:2000])
        self.expect(tally.promised, "no run was killed")

    def check_migration_through_a_server_api_that_waits(self):
        """a migration waits for a vendor that replies 429 for an hour, logs its progress and reason, ends cleanly with Ctrl-C, and loses nothing"""
        with servers.Shop(self.folder, random.Random(12), servers.SERVERS[:1]) as shop:
            lines = [line for line in shop.rows([f"member-{number:06}" for number in range(40)], 60) if servers.is_fit(line)]
            (self.folder / "contacts.ndjson").write_text("\n".join(lines) + "\n")
            words = shop.words(servers.SERVERS[0], self.folder, "apply", "--out", str(self.folder / "out.ndjson"), "--checkpoint", "0")
            shop.sandbox.set_faults({"effect": {"status": 429, "headers": {"Retry-After": "3600"}}})
            # This check uses the real clock, in which the hour does not pass.
            patient = {name: value for name, value in shop.environment.items() if name != "PATCHBAY_CLOCK"}
            patient["PATCHBAY_PROGRESS"] = "1"
            process = subprocess.Popen(
                [str(processes.COMMAND), *words], env={**os.environ, **patient}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            while not shop.sandbox.log.exists() or b"429" not in shop.sandbox.log.read_bytes():
                time.sleep(0.02)
            other = subprocess.run([str(processes.COMMAND), *words], env={**os.environ, **patient}, capture_output=True)
            self.expect(other.returncode == 2 and b"Another run" in other.stderr, f"a second run: {other.returncode} {other.stderr}")
            output = ""
            while "in progress" not in output or "waiting: " not in output:
                line = process.stderr.readline().decode()
                self.expect(line, f"the log ended without progress: {output}")
                output += line
            process.send_signal(signal.SIGINT)
            output += process.communicate(timeout=1200)[1].decode()
            self.expect(process.returncode == 130 and "to resume; --restart starts over" in output, f"ended with {process.returncode}: {output}")
            settings = self.folder / "settings.json"
            settings.write_text('{"to": {"lostOptOuts": "warn"}}')
            self.expect_end(shop.run(*words, "--settings", str(settings)), 2, "other: settings")
            shop.sandbox.set_faults({"count": 3, "effect": {"status": 429, "headers": {"Retry-After": "3600"}}})
            done = shop.run(*words)
            self.expect(done.returncode in (0, 1), f"ended with {done.returncode}: {done.stderr.decode()}")
            verdicts = (self.folder / "out.ndjson").read_text().splitlines()
            self.expect([json.loads(verdict)["verdict"] for verdict in verdicts] == ["written"] * len(lines), f"{verdicts}")
            # The verdicts name the opt-outs that were kept in spite of a later row's opt-in.
            verify = shop.words(servers.SERVERS[0], self.folder, "verify", "--target", str(self.folder / "out.ndjson"))
            self.expect_end(shop.run(*verify), 0)

    def check_wrong_api(self):
        """a server API that takes no migration, or not with this configuration, is refused with the reason"""
        with servers.Shop(self.folder, random.Random(13), servers.SERVERS[:1]) as shop:
            (self.folder / "contacts.ndjson").write_text("")
            words = ["migrate", "apply", "--from", "neutral.contacts", "--in", str(self.folder / "contacts.ndjson"), "--out", "x"]
            config = ["--config", str(shop.configuration)]
            self.expect_end(shop.run(*words, "--to", "altcraft-server"), 64, "with a provider for it: --config FILE")
            self.expect_end(shop.run(*words, "--to", "salesforce-server", *config), 64, "Providers: altcraft (altcraft-server)")
            self.expect_end(shop.run(*words, "--to", "altcraft-server", *config, "--provider", "x"), 64, "no provider")
            self.expect_end(shop.run(*words, "--to", "altcraft", *config), 78, "accepts no contacts")
            self.expect_end(shop.run(*words, "--to", "altcraft-servr", *config), 64, "Did you mean altcraft-server?")
            self.expect_end(processes.run(*words, "--to", "altcraft-server", *config), 78, "TOKEN")
            unknown = {**shop.environment, "TOKEN": "another"}
            (self.folder / "contacts.ndjson").write_text('{"identifiers":[{"kind":"external","value":"c-1"}],"tags":["a"]}\n')
            refused = processes.run(*words[:-1], str(self.folder / "y"), "--to", "altcraft-server", *config, environment=unknown)
            self.expect_end(refused, 2, "provider suspended")

    def check_migration_plan(self):
        """migrate plan reports beforehand what migrate apply then does; its page loads nothing"""
        page, written = self.folder / "plan.html", self.folder / "profiles.ndjson"
        plan = json.loads(self.expect_end(self.migration("plan", "--html", page, "--json"), 1).stdout)
        report = json.loads(self.migration("apply", "--out", written, "--json").stdout)
        self.expect(plan["report"] == report, f"the plan says {plan['report']}, and {report} came")
        keys = {json.loads(line)["field_value"] for line in written.read_text().splitlines()}
        self.expect(plan["billing"] == {"key": "external", "contacts": len(keys)}, f"billed are {plan['billing']}, not {len(keys)}")
        # An attribute with a finding may arrive without any value.
        names = {row["name"]: row["field"] for row in plan["attributes"] if not row["findings"]}
        fields = {name for line in written.read_text().splitlines() for name in json.loads(line)["data"]}
        self.expect({field for field in names.values() if field} <= fields, f"no such fields: {set(names.values()) - fields}")
        text = page.read_text(encoding="utf-8")
        self.expect("://" not in text and "<script" not in text, "the page refers to something outside")
        self.expect("@mail.example" not in text + json.dumps(plan), "the plan names a person")

    def check_compare(self):
        """compare reports the capabilities that one vendor lacks and another has, in both directions"""
        there = json.loads(self.expect_end(self.run("compare", "altcraft", "des", "--json"), 1).stdout)
        back = json.loads(self.run("compare", "des", "altcraft", "--json").stdout)
        lost, gained = [{row["capability"] for row in each["rows"] if row["verdict"] == verdict} for each, verdict in [(there, "lost"), (back, "gained")]]
        self.expect(lost and lost == gained, f"lost one way and gained the other differ by {lost ^ gained}")
        self.expect_end(self.run("compare", "altcraft", "dess"), 64, "did you mean des")

    def check_migration_evidence(self):
        """evidence, verify and undo: every consent decision is accounted for, changes are found, and the previous state is restored"""
        out, evidence, journal = [self.folder / name for name in ("out.ndjson", "evidence.ndjson", "journal.json")]
        out.write_text("before\n")
        self.expect_end(self.migration("apply", "--out", out, "--evidence", evidence, "--journal", journal), 1)
        head, *words = ndjson(evidence)
        ranks = {"subscribed": 2, "granted": 2, "unknown": 1, "absent": 1}
        raised = [word for word in words if ranks.get(word["after"], 0) == 2 and ranks.get(word["before"], 0) != 2]
        self.expect(len(words) > 200 and not raised, f"{len(words)} words, {len(raised)} of them raised")
        first = json.loads(out.read_text().splitlines()[1])["field_value"]
        digest = hashlib.sha256(f"{head['salt']}:external:{first}".encode()).hexdigest()
        self.expect(any(word["contact"] == digest for word in words), "who is known is not found")
        self.expect(b"member-" not in evidence.read_bytes(), "the evidence names a person")
        self.expect_end(self.migration("verify", "--target", out), 0, "0 differences")
        out_of = out.read_text().splitlines(keepends=True)
        changed = [out_of[0].replace('"_city":"', '"_city":"X')] + out_of[2:]
        other = self.folder / "other.ndjson"
        other.write_text("".join(changed))
        found = [json.loads(line) for line in self.expect_end(self.migration("verify", "--target", other, "--json"), 1).stdout.splitlines()]
        self.expect([(each["difference"], each["field"]) for each in found[:-1]].count(("changed", "attributes.city")) == 1, f"found {found[:-1]}")
        self.expect(found[-1]["differences"] == 2, f"found {found[-1]}")
        self.expect_end(self.run("migrate", "undo", journal), 0)
        self.expect(out.read_text() == "before\n" and not evidence.exists() and not journal.exists(), "undo left something")

    def check_migration_stops(self):
        """a comparison of two files reports its progress and ends with Ctrl-C; a source at standard input cannot be the output"""
        source = self.folder / "contacts.ndjson"
        line = '{"identifiers":[{"kind":"external","value":"member-%d"}],"attributes":{"city":"Oulu"}}\n'
        with source.open("w") as output:
            output.writelines(line % number for number in range(600_000))
        words = ["--from", "neutral.contacts", "--to", "neutral.contacts"]
        process = subprocess.Popen(
            [str(processes.COMMAND), "migrate", "verify", *words, "--in", str(source), "--target", str(source)],
            env={**os.environ, **self.environment, "PATCHBAY_PROGRESS": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        # A fast machine would end before the first line, so the process runs a tenth of the time until then.
        while not select.select([process.stderr], [], [], 0.002)[0]:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.02)
            process.send_signal(signal.SIGCONT)
        progress = process.stderr.readline().decode()
        self.expect(" records, " in progress and " left" in progress, f"the comparison says {progress!r}")
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=1200)[1].decode()
        self.expect(process.returncode == 130 and "comparison is incomplete" in rest, f"ended with {process.returncode}: {rest}")
        with source.open("rb") as given:
            done = subprocess.run([str(processes.COMMAND), "migrate", "apply", *words, "--out", str(source)], stdin=given, capture_output=True)
        self.expect_end(done, 64, "standard input and --out name the same file")
        with source.open("rb") as kept:
            self.expect(sum(1 for _ in kept) == 600_000, "the source is gone")

    # Invalid input

    def check_migration_on_a_full_disk(self):
        """a migration reports a full disk, and resumes when there is room again"""
        small, whole = self.folder / "small", self.folder / "whole.ndjson"
        small.mkdir()
        self.migration("apply", "--out", whole, rows=1500)
        mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(small)], capture_output=True
        ).returncode == 0
        words = [
            str(processes.COMMAND), "migrate", "apply", "--from", "salesforce.contacts", "--to", "altcraft.profiles", "--settings",
            str(self.folder / "migration.json"), "--in", str(self.folder / "contacts.csv"), "--out", str(small / "out.ndjson"),
            "--checkpoint", "0",
        ]
        # Without the right to mount, a limit on the size of files ends every write in the same way.
        limit = "" if mounted else "trap '' XFSZ; ulimit -f 580;"
        try:
            done = subprocess.run(["bash", "-c", f'{limit} exec "$0" "$@"', *words], capture_output=True, timeout=1200)
            self.expect_end(done, 2, "cannot write")
            self.expect(not (small / "out.ndjson").exists(), "a half file has the name of a whole one")
            if mounted:
                subprocess.run(["mount", "-o", "remount,size=8m", str(small)], check=True)
            self.expect_end(subprocess.run(words, capture_output=True, timeout=1200), 1)
            self.expect((small / "out.ndjson").read_bytes() == whole.read_bytes(), "the file differs from one that had room")
            self.expect([each.name for each in small.iterdir()] == ["out.ndjson"], f"left are {list(small.iterdir())}")
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(small)], check=True)

    def check_malformed_configuration(self):
        """a configuration that is no JSON is named with its place"""
        file = self.folder / "patchbay.json"
        file.write_text('{\n  "providers": {,\n}')
        self.expect_end(self.run("send", "--config", file, "-", input=b""), 78, "patchbay.json", ":2")

    def check_wrong_configuration(self):
        """all errors of a configuration are reported at once, with remedies"""
        file = self.folder / "patchbay.json"
        file.write_text(json.dumps({
            "outbox": {"path": 7}, "providers": {"crm": {"adapter": "salesfroce"}}, "routes": [{"provider": "crn", "mode": "live"}],
        }))
        self.expect_end(self.run("send", "--config", file, "-", input=b""), 78, "outbox.path", "adapter.unknown", "routes[0]")
        self.expect(not self.outbox.exists(), "an outbox was made all the same")

    def check_unknown_provider(self):
        """an unknown provider is named beside the known ones"""
        configuration = self.configuration("salesforce")
        done = self.run("map", "--config", configuration, "--provider", "salesfroce", "-", input=b"")
        self.expect_end(done, 64, "salesforce")

    def check_missing_secret(self):
        """a secret that the environment lacks is named by its variable"""
        configuration = self.configuration("salesforce")
        environment = {name: value for name, value in os.environ.items() if name != "SALESFORCE_TOKEN"}
        done = subprocess.run(
            [str(processes.COMMAND), "send", "--config", str(configuration), "-"], env=environment, input=b"", capture_output=True
        )
        self.expect_end(done, 78, "SALESFORCE_TOKEN")

    def check_secrets_in_errors(self):
        """no command shows a secret of an invalid configuration"""
        canary = "canary-4d1f77c0-08a2b6ee"
        good = {"outbox": {"path": str(self.outbox)}, "routes": [{"provider": "crm", "mode": "live"}]}
        provider = self.provider("salesforce")
        self.environment.update(SALESFORCE_TOKEN=canary, WRAPPED=f"{canary}\r\nEvil: {canary}")

        def settings(**changes):
            return json.dumps({**good, "providers": {"crm": {**provider, "settings": {**provider["settings"], **changes}}}})

        def credentials(value):
            return json.dumps({**good, "providers": {"crm": {**provider, "credentials": value}}})

        whole = settings(accessToken=canary)
        mistakes = {
            "in clear": whole, "of a wrong type": settings(accessToken=[canary]), "in an object": settings(accessToken={"a": canary}),
            "as an address": settings(endpoint="${SALESFORCE_TOKEN}"), "as a name": settings(applicationId="${SALESFORCE_TOKEN}"),
            "as a choice": settings(**{"accessTokn": canary}), "with line breaks": settings(accessToken="${WRAPPED}"),
            "in an address": settings(endpoint=f"https://user:{canary}@vendor.example"), "cut off": whole[:whole.index(canary) + len(canary)],
            "before a fault": whole.replace(f'"{canary}"', f'"{canary}" x'), "twice": whole.replace('"accessToken"', f'"accessToken": "{canary}", "accessToken"'),
            "as credentials": credentials(canary), "as default": credentials({"default": [canary]}),
            "of a contact": credentials({"contacts": {"member-1": {"x": canary}, "member-2": canary}}),
        }
        file, operations = self.folder / "patchbay.json", lines(a_morning()).encode()
        for name, text in mistakes.items():
            file.write_text(text)
            for arguments in [["check", file], ["map", "--config", file, "--provider", "crm", "-"], ["send", "--config", file, "--until-idle", 0, "-"]]:
                done = self.run(*arguments, input=operations)
                self.expect(done.returncode in (0, 1, 2, 78), f"{arguments[0]}, {name}: ended with {done.returncode}")
                self.expect(canary.encode() not in done.stdout + done.stderr, f"{arguments[0]} shows a secret that is {name}")
        stored = b"".join(path.read_bytes() for path in self.folder.glob("outbox.sqlite*"))
        self.expect(stored and canary.encode() not in stored, "a secret is in the outbox")

    def check_plain_text(self):
        """a vendor's address without encryption is refused before any file is created, unless it is a loopback address"""
        configuration = processes.write_configuration(
            self.folder / "patchbay.json", {"crm": self.provider("salesforce", "http://vendor.example/x")}, ["crm"]
        )
        done = self.run("send", "--config", configuration, "-", input=lines(a_morning()).encode())
        self.expect_end(done, 78, "providers.crm.settings.endpoint", "https://", "localhost")
        self.expect(not self.outbox.exists(), "an outbox was made all the same")

    def check_bad_operations(self):
        """invalid lines are reported by number and reason, and the valid ones around them are delivered"""
        configuration = self.configuration("salesforce")
        good = a_morning()
        bad = [
            b"{nonsense}\n", b'{"id": "x", "subject": "y", "capturedAt": "2031-03-09T07:05:11Z", "action": {"kind": "dance"}}\n',
            b'{"id": "x", "name": "\xff\xfe"}\n', b"[1, 2, 3]\n", b'{"id": 7}\n', b"[" * 100_000 + b"\n",
            b'{"id": "' + b"x" * 5_000_000 + b'"}\n',
        ]
        text = lines(good[:3]).encode() + b"".join(bad) + lines(good[3:]).encode() + b'{"id": "cut'
        done = processes.run("send", "--config", configuration, "-", environment=self.hurried(), input=text)
        self.expect_end(done, 1, *[f":{line}" for line in range(4, 11)])
        self.expect("dance" not in done.stderr.decode(), "a message repeats what the line said")
        self.expect(len(self.promised(done.stdout)) == 6, f"{len(self.promised(done.stdout))} of 6 good lines were taken")
        self.expect_kept(self.promised(done.stdout))

    def check_endless_files(self):
        """a line of 100 MB uses no memory, and an endless configuration is refused at its limit"""
        configuration = self.configuration("salesforce")
        sender = subprocess.Popen(
            [str(processes.COMMAND), "send", "--config", str(configuration), "--until-idle", "0", "-"],
            env={**os.environ, **self.environment}, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        for _ in range(100):
            sender.stdin.write(b'{"id": "' + b"x" * 1_000_000)
        sender.stdin.close()
        output = sender.stderr.read().decode()
        sender.stderr.close()
        _, status, used = os.wait4(sender.pid, 0)
        sender.returncode = os.waitstatus_to_exitcode(status)
        self.expect(sender.returncode == 1 and ":1:" in output and "limit" in output, f"ended with {sender.returncode}: {output[-300:]}")
        peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self.expect(peak < 90_000_000, f"it took {peak} bytes of memory")
        checked = self.run("check", "/dev/zero")
        self.expect(checked.returncode == 2 and b"/dev/zero" in checked.stderr, f"check ended with {checked.returncode}")

    def check_missing_file(self):
        """a missing file is named, and no file is created in its place"""
        configuration = self.configuration("salesforce")
        self.expect_end(self.run("send", "--config", configuration, self.folder / "nowhere.ndjson"), 2, "nowhere.ndjson")
        self.expect_end(self.run("outbox", "stats", self.folder / "nowhere.sqlite"), 2, "nowhere.sqlite")
        self.expect(not (self.folder / "nowhere.sqlite").exists(), "stats made the file that it should have read")

    def check_strange_outbox(self):
        """readers and send refuse a file that is no outbox, and leave it unchanged"""
        configuration = self.configuration("salesforce")
        strange = b"this is a shopping list\n" * 400
        self.outbox.write_bytes(strange)
        self.expect_end(self.run("outbox", "stats", self.outbox), 2, "outbox.sqlite")
        done = self.run("send", "--config", configuration, "-", input=lines(a_morning()).encode())
        self.expect_end(done, 2, "outbox.sqlite")
        self.expect(self.promised(done.stdout) == [], "something was promised")
        self.expect(self.outbox.read_bytes() == strange, "the strange file was changed")
        self.expect(list(self.folder.glob("outbox.sqlite*")) == [self.outbox], "a file was created beside the unrecognized file")

    def check_read_only_folder(self):
        """an outbox that cannot be created is an error before any operation is acknowledged"""
        target = self.folder / "locked"
        target.mkdir()
        configuration = self.configuration("salesforce", outbox=target / "outbox.sqlite")
        if os.geteuid() == 0:
            # Root may write everywhere: a file where the folder should be refuses root, too.
            target.rmdir()
            target.write_text("")
        else:
            target.chmod(0o500)
        done = self.run("send", "--config", configuration, "-", input=lines(a_morning()).encode())
        self.expect_end(done, 2, "locked")
        self.expect(self.promised(done.stdout) == [], "something was promised")

    def check_full_disk(self):
        """a full disk is an error; operations that were acknowledged before are kept"""
        small = self.folder / "small"
        small.mkdir()
        mounted = os.geteuid() == 0 and shutil.which("mount") and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)], capture_output=True
        ).returncode == 0
        # Without the right to mount, a limit on the size of files ends every write in the same way.
        limit = "" if mounted else "trap '' XFSZ; ulimit -f 300;"
        try:
            self.outbox = small / "outbox.sqlite"
            configuration = self.configuration("salesforce", outbox=self.outbox)
            self.sandbox.set_faults({"effect": "reset"})
            many = lines(
                operation(number, {"kind": "track", "event": {"kind": "custom", "name": "Page", "attributes": {"text": "x" * 500}}})
                for number in range(1, 3000)
            )
            done = subprocess.run(
                ["bash", "-c", f'{limit} exec "$0" "$@"', str(processes.COMMAND), "send", "--config", str(configuration), "--until-idle", "0", "-"],
                env={**os.environ, **self.environment}, input=many.encode(), capture_output=True, timeout=1200,
            )
            self.expect_end(done, 2, "outbox")
            promised = self.promised(done.stdout)
            self.expect(len(promised) < 2999, "everything was promised; the disk was not full")
            if self.outbox.exists():
                self.expect_kept(promised)
            else:
                self.expect(not promised, "promised, and there is no outbox")
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(small)], check=True)

    # Faulty vendors and interruptions

    def check_lying_vendor(self):
        """invalid replies with status 200 do no harm"""
        configuration = self.configuration("altcraft")
        self.sandbox.set_faults({"effect": {"status": 200, "headers": {"Content-Type": "text/html"}, "body": "<h1>It works!</h1>"}})
        done = self.run("send", "--config", configuration, "--until-idle", 3, "-", input=lines(a_morning()).encode())
        self.expect(done.returncode in (0, 1), f"ended with {done.returncode}: {done.stderr.decode()[-400:]}")
        self.expect_kept(self.promised(done.stdout))

    def check_silent_vendor(self):
        """a request without a reply ends at its timeout, and all operations stay pending"""
        listener = socket.create_server(("127.0.0.1", 0))
        held = []
        threading.Thread(target=lambda: [held.append(listener.accept()) for _ in range(50)], daemon=True).start()
        provider = self.provider("salesforce", f"http://127.0.0.1:{listener.getsockname()[1]}")
        configuration = processes.write_configuration(self.folder / "patchbay.json", {"crm": provider}, ["crm"])
        done = self.run("send", "--config", configuration, "--until-idle", 2, "-", input=lines(a_morning()).encode(), timeout=1200)
        self.expect_end(done, 1, "6        6")
        self.expect_kept(self.promised(done.stdout))

    def check_endless_vendor(self):
        """a reply of 10 GB is cut off at the limit, in little memory, and all operations stay pending"""
        listener = socket.create_server(("127.0.0.1", 0))
        sent = []

        def pour():
            while True:
                connection, _ = listener.accept()
                sent.append(0)
                try:
                    connection.recv(1 << 16)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
                    while sent[-1] < 10_000_000_000:
                        connection.sendall(b" " * (1 << 16))
                        sent[-1] += 1 << 16
                        time.sleep(0.0005)
                except OSError:
                    connection.close()

        threading.Thread(target=pour, daemon=True).start()
        provider = self.provider("salesforce", f"http://127.0.0.1:{listener.getsockname()[1]}")
        configuration = processes.write_configuration(self.folder / "patchbay.json", {"crm": provider}, ["crm"])
        operations = self.folder / "morning.ndjson"
        operations.write_text(lines(a_morning()), encoding="utf-8")
        said = open(self.folder / "said.ndjson", "wb")
        sender = subprocess.Popen(
            [str(processes.COMMAND), "send", "--config", str(configuration), "--until-idle", "2", str(operations)],
            env={**os.environ, **self.environment}, stdout=said, stderr=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(sender.pid, 0)
        sender.returncode = os.waitstatus_to_exitcode(status)
        said.close()
        self.expect(sender.returncode == 1, f"ended with {sender.returncode}")
        self.expect(sent and max(sent) < 100_000_000, f"{sent} bytes were taken")
        peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        self.expect(peak < 250_000_000, f"it took {peak} bytes of memory")
        self.expect_kept(self.promised((self.folder / "said.ndjson").read_bytes()))

    def check_interruption(self):
        """Ctrl-C in the middle ends with 130, and the next run delivers the rest"""
        configuration = self.configuration("salesforce")
        self.sandbox.set_faults({"effect": "reset"})
        sender = subprocess.Popen(
            [str(processes.COMMAND), "send", "--config", str(configuration), "--until-idle", "60", "-"],
            env={**os.environ, **self.environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        sender.stdin.write(lines(a_morning()).encode())
        sender.stdin.close()
        promised = [json.loads(sender.stdout.readline())["id"] for _ in range(6)]
        sender.send_signal(signal.SIGINT)
        sender.wait(1200)
        sender.stdout.close()
        sender.stderr.close()
        self.expect(sender.returncode == 130, f"ended with {sender.returncode}")
        self.expect_kept(promised)
        self.sandbox.set_faults()
        done = processes.run("send", "--config", configuration, "--until-idle", 30, "-", environment=self.hurried(), input=b"")
        self.expect_end(done, 0)
        self.expect_kept(promised)

    def check_reader_that_leaves(self):
        """`patchbay … | head` ends quietly"""
        configuration = self.configuration("salesforce")
        for arguments in [["send", "--config", str(configuration), str(DATA / "day.ndjson"), "--until-idle", "0"], ["adapters", "--rules"]]:
            command = subprocess.Popen(
                [str(processes.COMMAND), *arguments], env={**os.environ, **self.environment},
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            command.stdout.readline()
            command.stdout.close()
            output = command.stderr.read().decode()
            command.stderr.close()
            code = command.wait(30)
            self.expect(code in (0, 1, 141), f"{arguments[0]} ended with {code}: {output[-400:]}")
            self.expect("crash" not in output.lower() and "fatal" not in output.lower(), f"{arguments[0]} says {output[-400:]}")

    def check_wrong_usage(self):
        """a wrong command line ends with 64 and the correct usage"""
        for arguments, word in [
            (["snd"], "send"), (["send"], "--config"), (["send", "--confg", "x"], "--config"),
            (["send", "--config", "x", "--until-idle", "soon"], "--until-idle"), (["migrate", "apply", "--from", "x", "--to", "y"], "salesforce.contacts"),
        ]:
            self.expect_end(self.run(*arguments, input=b""), 64, word)


def for_each_vendor():
    """A check for each vendor and for each ordered pair of them."""
    def add(name, words, play):
        play.__doc__ = words
        setattr(EndToEnd, name, play)

    for vendor, module in vendors.ALL.items():
        add(
            f"check_morning_{vendor}", f"send delivers a morning to {module.TITLE}, and the account holds it",
            lambda self, vendor=vendor: self.deliver_a_morning(vendor),
        )
        add(
            f"check_erase_{vendor}", f"an erasure through {module.TITLE}'s device API reports the manual step at the vendor",
            lambda self, vendor=vendor: self.erase_after_a_morning(vendor),
        )
    for old, new in itertools.permutations(vendors.ALL, 2):
        add(
            f"check_switch_{old}_{new}", f"a switch from {vendors.ALL[old].TITLE} to {vendors.ALL[new].TITLE} with work pending loses nothing",
            lambda self, old=old, new=new: self.switch_in_a_morning(old, new),
        )


def main(suite=EndToEnd):
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    # A measurement has no prefix, and runs only by its full name.
    checks = [name for name in vars(suite) if name == wanted or name.startswith("check_") and wanted in name]
    root = pathlib.Path(tempfile.mkdtemp(prefix="patchbay end to end "))
    failed = []
    for name in checks:
        folder = root / name
        folder.mkdir()
        title = getattr(suite, name).__doc__
        begun = time.monotonic()
        try:
            environment = {}
            with processes.Sandbox(folder, list(vendors.ALL), vendors.accounts(), environment) as sandbox:
                getattr(suite(folder, sandbox, environment), name)()
        except Exception as error:
            failed.append(name)
            reason = str(error) if isinstance(error, Failure) else traceback.format_exc()
            print(f"  FAILED  {title}\n          {reason}", flush=True)
        else:
            print(f"  ok      {title} ({time.monotonic() - begun:.1f} s)", flush=True)
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    if failed or not checks:
        print(f"The files are in {root}")
        sys.exit(1)
    shutil.rmtree(root)


if __name__ == "__main__":
    for_each_vendor()
    main()
