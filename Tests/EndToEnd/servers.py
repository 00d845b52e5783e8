#!/usr/bin/env python3
"""Runs migrations through the vendors' server APIs at the sandbox, kills them with -9, and compares the vendors' state with the
source.

    servers.py ROUNDS [--seed N] [--keep]

A round is one migration to one vendor, with a journal. The source has known and new people, opt-outs, rows that the mapping
refuses and rows that the vendor refuses. The migration is killed up to four times. At the end each row must have one verdict, the
rejects must contain the refused rows byte for byte, the vendor must hold the data of the other rows, `migrate verify` must find no
difference, and `migrate undo`, killed as well, must restore the previous state.
"""

import collections
import json
import pathlib
import random
import shutil
import signal
import subprocess
import time

import processes
import scene

KEYS = {"TOKEN": "c7f55f8f-token", "SECRET": "c7Xw9-secret", "REFRESH": "r3Fq1-refresh"}
MOST_KILLS = 4
FAULTS = [
    {"probability": 0.2, "effect": {"status": 503}}, {"probability": 0.1, "effect": {"status": 503, "processed": True}},
    {"probability": 0.2, "effect": "drop"}, {"probability": 0.2, "effect": {"status": 429, "headers": {"Retry-After": "30"}}},
]
Server = collections.namedtuple("Server", "name account settings read removes")
Person = collections.namedtuple("Person", "fields tags wishes")


def altcraft(state):
    people = {}
    for profile in state["profiles"]:
        fields = json.loads(profile["fields"])
        shown = [json.loads(each) for each in profile["subscriptions"]]
        names = {33: "email", 35: "sms"}
        people[fields.pop("crm_id")] = Person(
            {name: str(value[0] if isinstance(value, list) else value) for name, value in fields.items() if name != "labels"},
            set(fields.get("labels", [])), {names[each["resource_id"]]: each["status"] for each in shown},
        )
    return people


def columns(row):
    """Reads a row of columns, in which tags and wishes are flags and an empty text means no value."""
    row = {name.lower(): str(value) for name, value in row.items() if value not in ("", None)}
    flags = {name: row.pop(name).lower() in ("yes", "true") for name in ("isred", "isblue", "mail", "sms") if name in row}
    tags = {name[2:] for name in ("isred", "isblue") if flags.get(name)}
    wishes = {
        wish: "subscribed" if flags[name] else "unsubscribed" for wish, name in {"email": "mail", "sms": "sms"}.items() if name in flags
    }
    return Person(row, tags, wishes)


def salesforce(state):
    rows = state["rows"].get("People", {})
    return {key: columns({name: json.loads(value) for name, value in row.items()}) for key, row in rows.items()}


def acoustic(state):
    people = {key: columns(contact["columns"]) for key, contact in state["contacts"].items()}
    for key, contact in state["contacts"].items():
        people[key].fields.pop("customerno", None)
        if contact["isOut"]:
            people[key].wishes["email"] = "unsubscribed"
    return people


def adobe(state):
    people = {}
    for profile in state["profiles"]:
        fields = {name: json.loads(value) for name, value in profile["fields"].items()}
        flags = {"email": fields.pop("blackListEmail", False), "sms": fields.pop("blackListMobile", False)}
        tags = {tag for tag, field in {"red": "cusIsRed", "blue": "cusIsBlue"}.items() if fields.pop(field, False)}
        # The vendor shows a flag without a value as one that refuses nothing.
        wishes = {channel: "unsubscribed" if isOut else "subscribed" for channel, isOut in flags.items()}
        people[fields.pop("cusNumber")] = Person({name: str(value) for name, value in fields.items()}, tags, wishes)
    return people


NAMES = {"tagColumns": {"red": "IsRed", "blue": "IsBlue"}, "identifierColumns": {"email": "Email", "phone": "Phone"}}
SERVERS = [
    Server(
        "altcraft-server", {"apiToken": KEYS["TOKEN"], "dbId": 12, "poison": "poison"},
        lambda url: {
            "apiUrl": url, "apiToken": "${TOKEN}", "dbId": 12, "matchingField": "crm_id", "tagsField": "labels",
            "resources": {"email": "33", "sms": "35"}, "profilesPerRequest": 7,
        }, altcraft, True,
    ),
    Server(
        "salesforce-server", {"clientId": "shop", "clientSecret": KEYS["SECRET"], "poison": "poison", "tokenLife": 86400},
        lambda url: {
            "authUrl": url, "restUrl": url, "clientId": "shop", "clientSecret": "${SECRET}", "dataExtension": "People",
            "subscriptionColumns": {"email": "Mail", "sms": "Sms"}, "rowsPerRequest": 7, "rowsPerJob": 20, **NAMES,
        }, salesforce, False,
    ),
    Server(
        "acoustic-server",
        {
            "clientId": "shop", "clientSecret": KEYS["SECRET"], "refreshToken": KEYS["REFRESH"], "databaseId": "771100",
            "poison": "poison", "tokenLife": 86400,
        },
        lambda url: {
            "baseUrl": url, "clientId": "shop", "clientSecret": "${SECRET}", "refreshToken": "${REFRESH}", "databaseId": "771100",
            "keyColumn": "CustomerNo", "subscriptionColumns": {"sms": "Sms"}, **NAMES,
        }, acoustic, True,
    ),
    Server(
        "adobe-server",
        {
            "clientId": "shop", "clientSecret": KEYS["SECRET"], "poison": "poison", "keyField": "cusNumber", "filter": "byCusNumber",
            "filterParameter": "number",
        },
        lambda url: {
            "apiUrl": url, "tokenUrl": url, "organization": "shop", "clientId": "shop", "clientSecret": "${SECRET}", "scope": "openid",
            "resource": "profileAndServicesExt", "matching": "filter", "filter": "byCusNumber", "filterParameter": "number",
            "keyField": "cusNumber", "tagFields": {"red": "cusIsRed", "blue": "cusIsBlue"},
            "fieldNames": {"points": "cusPoints", "nick": "cusNick", "born": "cusBorn"},
        }, adobe, True,
    ),
]


class Shop:
    """A sandbox, a configuration with a provider for each server API, and the people who exist from the beginning."""

    def __init__(self, folder, chance, servers=SERVERS):
        self.folder, self.chance, self.servers = folder, chance, servers
        # An hour of the engine passes in a second.
        self.environment = {"PATCHBAY_CLOCK": processes.clock(speed=3600), **KEYS}

    def __enter__(self):
        names = [server.name for server in self.servers]
        accounts = {server.name: server.account for server in self.servers}
        self.sandbox = processes.Sandbox(self.folder, names, accounts, self.environment)
        providers = {
            server.name.split("-")[0]: {"adapter": server.name, "settings": server.settings(self.sandbox.vendors[server.name])}
            for server in self.servers
        }
        self.configuration = processes.write_configuration(
            self.folder / "patchbay.json", providers, live=providers, outbox=self.folder / "outbox.sqlite", side="server"
        )
        return self

    def __exit__(self, *_):
        self.sandbox.__exit__()

    def state(self, server):
        return server.read(json.loads(self.sandbox.call("GET", f"/state/{server.name}")))

    def rows(self, people, count):
        """Returns contacts of some of these people, as lines."""
        lines = []
        for number in range(count):
            key = self.chance.choice(people)
            name = f"{self.chance.choice(['Aino', 'Ülo', 'Zoë'])} {number}"
            contact = {
                "identifiers": [
                    {"kind": "external", "value": key}, {"kind": "email", "value": f"{key}@mail.example"},
                    {"kind": "phone", "value": "+3584012" + key[-3:]},
                ],
                "attributes": {"points": number, "nick": name, "born": {"date": f"19{number % 90 + 10}-04-01"}},
                "tags": self.chance.sample(["red", "blue"], self.chance.randrange(1, 3)),
                "subscriptions": [
                    {"channel": "email", "state": self.chance.choice(["unsubscribed", "suspended", "unknown"])},
                    {"channel": "sms", "state": self.chance.choice(["subscribed", "unsubscribed", "unknown"])},
                ],
            }
            fate = self.chance.random()
            if fate < 0.08:
                contact["attributes"]["nick"] = "poison"
            lines.append('{"oops' if fate > 0.97 else json.dumps({**contact, "identifiers": []} if fate > 0.94 else contact, ensure_ascii=False))
        return lines

    def words(self, server, folder, *more):
        return [
            "migrate", *more[:1], "--from", "neutral.contacts", "--to", server.name, "--config", str(self.configuration),
            "--in", str(folder / "contacts.ndjson"), *more[1:],
        ]

    def run(self, *words):
        return processes.run(*words, environment=self.environment)

    def run_killed(self, words, folder, seconds, tally, most, is_done):
        """Runs a command to its end, with kills and repeats; returns its exit code, its output, and the number of kills."""
        kills = 0
        while True:
            process = subprocess.Popen(
                [str(processes.COMMAND), *words], cwd=folder, env={**processes.os.environ, **self.environment},
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            )
            if kills < most:
                try:
                    process.wait(0.05 + self.chance.random() * seconds)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
            try:
                output = process.communicate(timeout=1200)[1].decode(errors="replace")
            except subprocess.TimeoutExpired:
                process.kill()
                return None, "it hangs: " + process.communicate()[1].decode(errors="replace"), kills
            if process.returncode != -signal.SIGKILL:
                break
            kills += 1
            if is_done():
                # Killed after its last output.
                process.returncode = 1
                break
        tally.promised += kills
        return process.returncode, output, kills


def is_fit(line):
    """Returns whether neither the mapping nor the vendor refuses a line."""
    return not line.startswith('{"oops') and '"identifiers": []' not in line and "poison" not in line


def fold(people, lines, server):
    """Returns the expected state of the people in the accepted rows, computed from the rows alone."""
    wanted = {}
    for line in lines:
        if line.startswith('{"oops') or '"identifiers": []' in line:
            continue
        contact = json.loads(line)
        key = contact["identifiers"][0]["value"]
        tags, wishes = wanted.get(key, (set(), {}))
        wanted[key] = tags | set(contact["tags"]), {
            **wishes, **{each["channel"]: each["state"] for each in contact["subscriptions"] if each["state"] != "unknown"}
        }
    return wanted


def play_round(shop, server, number, tally, count=40, kills=MOST_KILLS):
    folder = shop.folder / f"round-{number}"
    folder.mkdir()

    def problem(text):
        tally.problems.append(f"{server.name}, round {number}: {text}")

    people = [f"member-{number:03}{place:03}" for place in range(count * 2)]
    # Half of the people exist already. Their rows have no faults and are accepted.
    shop.sandbox.set_faults()
    source = folder / "contacts.ndjson"
    source.write_text("\n".join(line for line in shop.rows(people[:count], count // 2) if is_fit(line)) + "\n")
    begun = time.monotonic()
    done = shop.run(*shop.words(server, folder, "apply", "--out", str(folder / "first.ndjson")))
    seconds = time.monotonic() - begun
    if done.returncode not in (0, 1):
        return problem(f"the first one ended with {done.returncode}: {done.stderr.decode()[-400:]}")
    before = shop.state(server)

    lines = shop.rows(people, count)
    source.write_text("\n".join(lines) + "\n")
    shop.sandbox.set_faults(*({**rule, "seed": number} for rule in shop.chance.sample(FAULTS, shop.chance.randrange(0, 3) if kills else 0)))
    files = ["--out", "out.ndjson", "--rejects", "rejected.json", "--journal", "journal.ndjson", "--checkpoint", "0"]
    out, checkpoint = folder / "out.ndjson", folder / "out.ndjson.checkpoint"
    code, output, killed = shop.run_killed(
        shop.words(server, folder, "apply", *files), folder, seconds, tally, kills, lambda: out.exists() and not checkpoint.exists()
    )
    tally.met += killed > 0 or not kills
    tally.recovered += "Resumed after" in output
    shop.sandbox.set_faults()
    if code not in (0, 1):
        return problem(f"apply ended with {code}: {output[-400:]}")
    check_verdicts(folder, lines, problem)
    after = shop.state(server)
    for key, (tags, wishes) in fold(people, lines, server).items():
        person = after.get(key)
        if person is None:
            if any(is_fit(line) and key in line for line in lines):
                problem(f"{key} is not there")
            continue
        # An opt-out reaches the vendor even if other parts are refused. No vendor receives an opt-in that the source
        # does not have.
        for channel, state in person.wishes.items():
            if state == "subscribed" and wishes.get(channel, before.get(key, person).wishes.get(channel)) != "subscribed":
                problem(f"{channel} of {key} is a yes, and the source said none")
        if wishes.get("email") and person.wishes.get("email") == "subscribed":
            problem(f"the opt-out of {key} did not reach the vendor")
        if not tags <= person.tags:
            problem(f"{key} lacks tags")
    verified = shop.run(*shop.words(server, folder, "verify", "--target", str(folder / "out.ndjson")))
    if verified.returncode != 0:
        problem(f"verify ended with {verified.returncode}: {verified.stdout.decode()[:400]}{verified.stderr.decode()[-400:]}")
    words = ["migrate", "undo", "journal.ndjson", "--config", str(shop.configuration), "--checkpoint", "0"]
    journal = folder / "journal.ndjson"
    code, output, _ = shop.run_killed(words, folder, seconds, tally, kills, lambda: not journal.exists())
    if code not in (0, 1) or journal.exists():
        problem(f"undo ended with {code}: {output[-400:]}")
    check_way_back(before, shop.state(server), server, problem)
    left = {path.name for path in folder.iterdir()} - {
        "contacts.ndjson", "first.ndjson", "out.ndjson", "rejected.json", "rejected.ndjson", "journal.ndjson.undone",
    }
    if left:
        problem(f"{sorted(left)} are left behind")
    shutil.rmtree(folder)


def check_verdicts(folder, lines, problem):
    """Checks that each row has one verdict, in order, and that refused rows can be corrected and migrated again."""
    verdicts = [json.loads(line) for line in (folder / "out.ndjson").read_text().splitlines()]
    if [verdict["number"] for verdict in verdicts] != list(range(1, len(lines) + 1)):
        problem(f"{len(verdicts)} verdicts of {len(lines)} rows, or not in order")
    refused = [number for number, line in enumerate(lines, 1) if not is_fit(line)]
    rejected = [verdict["number"] for verdict in verdicts if verdict["verdict"] == "rejected"]
    if rejected != refused:
        problem(f"refused are {refused}, and the verdicts say {rejected}")
    rejects = [json.loads(line) for line in (folder / "rejected.json").read_text().splitlines()]
    if [reject["original"] for reject in rejects] != [lines[number - 1] for number in refused]:
        problem("the rejects are not the refused rows, byte for byte")
    if (folder / "rejected.ndjson").read_text().splitlines() != [lines[number - 1] for number in refused]:
        problem("the rows to correct are not the refused rows")
    for reject in rejects:
        if "poison" in reject["original"] and ("vendor" not in reject or "poison" in json.dumps({**reject, "original": ""})):
            problem(f"a reject of the vendor's: {json.dumps({**reject, 'original': ''})}")


def check_way_back(before, after, server, problem):
    for key in set(before) | set(after):
        old, new = before.get(key), after.get(key)
        if old is None:
            if server.removes or new.fields or new.tags or "subscribed" in new.wishes.values():
                problem(f"{key} was not there, and {new} is")
            continue
        if new is None or (old.fields, old.tags) != (new.fields, new.tags):
            problem(f"{key} was {old}, and is {new}")
            continue
        for channel, state in new.wishes.items():
            # A value that did not exist before cannot be deleted: an opt-out may stay, an opt-in may not.
            if state != old.wishes.get(channel) and (channel in old.wishes or state == "subscribed"):
                problem(f"{channel} of {key} was {old.wishes.get(channel)}, and is {state}")


def play(folder, rounds, seed):
    """Runs all rounds, with the server APIs in turn."""
    tally, chance = scene.Tally(rounds=rounds), random.Random(seed)
    with Shop(pathlib.Path(folder), chance) as shop:
        for number in range(rounds):
            play_round(shop, SERVERS[number % len(SERVERS)], number, tally)
    for problem in tally.problems:
        print(f"  DIFFERENCE: {problem}")
    return tally


if __name__ == "__main__":
    scene.main("servers", "Runs migrations through server APIs, kills and resumes them.", play)
