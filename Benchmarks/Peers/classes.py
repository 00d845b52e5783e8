"""Measures a migration for each class of input (goal P7): classes.py COMMAND [RECORDS [CLASS …]].

The data comes from a fixed seed. Every figure is processor time (user and system) of the median of five runs on one core, less
the time that the command takes for ten records. A byte is compared with the fastest class of plain mapping; a class of rows with
the fastest class of rows, because a row has a fourth of the bytes of a line. Beside it are a straightforward Python script and
DuckDB on one thread where they do the same, and the number of records that left the bulk path, by reason.
"""

import csv
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GIVEN = ["Aino", "Eero", "Ilmari", "Kaisa", "Liisa", "Päivi", "Sami", "Björn", "François", "Elena"]
FAMILY = ["Virtanen", "Mäkinen", "Smith", "García", "Müller", "Novák"]
CITY = ["Helsinki", "Tampere", "Malmö", "Madrid", "Praha"]
SCRIPTS = ["김 철수", "محمد علي", "דוד כהן", "สมชาย ใจดี", "अमित कुमार", "さくら", "გიორგი", "e\u0301lodie", "李小龍", "🎉 Party"]
HEADER = [
    "Contact Key", "Email Address", "Mobile Number", "First Name", "Last Name", "City", "Country", "Loyalty Tier", "Visits",
    "Remark",
]
TARGET = {
    "dbId": 7, "matching": "email", "resourceId": 31, "tagsField": "labels",
    "identifierFields": {"external": "customer_number", "email": "email", "phone": "phones"},
}
RULES = {
    "locale": [{"rename": "locale", "to": "attributes.lang"}],
    "rename": [{"rename": "attributes.loyalty_tier", "to": "attributes.tier"}],
    "map": [{"map": "attributes.loyalty_tier", "values": {"gold": "G"}, "otherwise": "drop"}],
    "split": [{"split": "attributes.city", "by": " ", "to": ["attributes.town", "attributes.rest"]}],
    "join": [{"join": ["attributes.given_name", "attributes.family_name"], "with": " ", "to": "attributes.name"}],
    "tags": [{"rename": "tags", "to": "attributes.badges"}],
}


def contact(number, name=None, remark=None, locale=False, devices=False, dated=False, rejects=False, repeats=False, unknown=False):
    if repeats:
        number //= 2
    identifiers = [{"kind": "external", "value": "member-%08d" % number}]
    if not rejects or random.random() > 0.1:
        identifiers.append({"kind": "email", "value": "contact.%08d@mail.example.com" % number})
    if random.random() < 0.8:
        identifiers.append({"kind": "phone", "value": "+3584%08d" % number})
    attributes = {
        "birth_date": {"date": "%d-%02d-%02d" % (1940 + number % 60, 1 + number % 12, 1 + number % 28)},
        "city": random.choice(CITY),
        "country": {"country": random.choice(["FI", "DE", "SE"])},
        "family_name": random.choice(FAMILY),
        "gender": random.choice(["male", "female"]),
        "given_name": random.choice(name or GIVEN),
        "loyalty_tier": random.choice(["bronze", "silver", "gold"]),
    }
    if remark:
        attributes["remark"] = remark
    attributes["visits"] = random.randrange(2000)
    whole = {
        "identifiers": identifiers,
        "attributes": attributes,
        "tags": sorted(random.sample(["beta", "newsletter", "sports", "vip"], 2)),
        "subscriptions": [{"channel": "email", "state": random.choice(["subscribed", "unsubscribed", "suspended"])}],
    }
    if dated:
        whole["subscriptions"][0].update(changedAt="2031-03-09T07:05:11+02:00", source="web form")
    if devices:
        whole["subscriptions"].append({"channel": "push", "state": "subscribed"})
        facts = {"platform": "iOS", "platformVersion": "18.1", "model": "iPhone15,2", "locale": "fi_FI", "appVersion": "4.2"}
        whole["devices"] = [{"pushToken": {"value": "%064x" % number, "service": "apns"}, "facts": facts}]
    if unknown:
        attributes["own_field_%d" % (number % 40)] = "value %d" % number
    if locale:
        whole["locale"] = "fi_FI"
    whole["timeZone"] = "Europe/Helsinki"
    return whole


def row(number, name=None, remark="", devices=False):
    fields = [
        "member-%08d" % number, "contact.%08d@mail.example.com" % number,
        "+3584%08d" % number if random.random() < 0.8 else "", random.choice(name or GIVEN), random.choice(FAMILY),
        random.choice(CITY), random.choice(["FI", "DE"]), random.choice(["gold", ""]), str(random.randrange(2000)), remark,
    ]
    return fields + (["device-%d" % number, "%064x" % number, "iOS"] if devices else [])


def lines(**kind):
    ascii, turned, spaced = (kind.pop(name, False) for name in ("ascii", "turned", "spaced"))

    def write(path, count):
        with open(path, "w", encoding="utf-8") as file:
            for number in range(count):
                whole = contact(number, **kind)
                if turned:
                    whole = dict(reversed(whole.items()))
                separators = None if spaced else (",", ":")
                file.write(json.dumps(whole, ensure_ascii=ascii, separators=separators) + "\n")

    return "neutral.contacts", write


def rows(**kind):
    turned, quoted, encoding = kind.pop("turned", False), kind.pop("quoted", False), kind.pop("encoding", "utf-8")
    form = kind.pop("form", "salesforce.contacts")

    def write(path, count):
        header = HEADER + (["_DeviceID", "_SystemToken", "_Platform"] if kind.get("devices") else [])
        order = reversed if turned else list
        with open(path, "w", newline="", encoding=encoding) as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
            writer.writerow(list(order(header)))
            writer.writerows(list(order(row(number, **kind))) for number in range(count))

    return form, write


def profile(number):
    """A line that the platform exports for `contact`."""
    whole, data = contact(number), {}
    names = {"birth_date": "_bdate", "city": "_city", "country": "_country", "family_name": "_lname", "given_name": "_fname"}
    for kind, value in ((one["kind"], one["value"]) for one in whole["identifiers"]):
        data[TARGET["identifierFields"][kind]] = [value] if kind == "phone" else value
    for name, value in whole["attributes"].items():
        if isinstance(value, dict):
            ((_, value),) = value.items()
        if name == "gender":
            data["_sex"] = 1 if value == "male" else 2
        else:
            data[names.get(name, name)] = value
    data["_tz"], data["labels"] = whole["timeZone"], whole["tags"]
    state = whole["subscriptions"][0]["state"]
    data["subscriptions"] = [{"channel": "email", "resource_id": 31, "email": data["email"], "status": state}]
    return {"db_id": 7, "matching": "email", "email": data["email"], "data": data}


def profiles():
    def write(path, count):
        with open(path, "w", encoding="utf-8") as file:
            for number in range(count):
                file.write(json.dumps(profile(number), ensure_ascii=False, separators=(",", ":")) + "\n")

    return "altcraft.profiles", write


#: Name, source, target, rules, further words of the command, Python script, whether the class does more than plain mapping.
CLASSES = [
    ("raw UTF-8", lines(), "altcraft.profiles", None, [], "orjson", False),
    ("escapes by number", lines(ascii=True), "altcraft.profiles", None, [], "orjson", False),
    ("escaped quotes", lines(remark='says "hello" and\nleaves'), "altcraft.profiles", None, [], "orjson", False),
    ("other scripts", lines(name=SCRIPTS), "altcraft.profiles", None, [], "orjson", False),
    ("white space", lines(spaced=True), "altcraft.profiles", None, [], "orjson", False),
    ("other member order", lines(turned=True), "altcraft.profiles", None, [], "orjson", False),
    ("a finding on each record", lines(locale=True), "altcraft.profiles", None, [], "orjson", False),
    ("long values", lines(remark="x" * 4000), "altcraft.profiles", None, [], "orjson", False),
    ("devices and tokens", lines(devices=True), "altcraft.profiles", None, [], None, False),
    ("dated subscriptions", lines(dated=True), "altcraft.profiles", None, [], None, False),
    *((f"rule: {name}", lines(locale=True), "altcraft.profiles", name, [], None, False) for name in RULES),
    ("to neutral contacts", lines(), "neutral.contacts", None, [], None, False),
    ("rows", rows(), "altcraft.profiles", None, [], "csv", False),
    ("rows, all quoted", rows(quoted=True), "altcraft.profiles", None, [], "csv", False),
    ("rows, line breaks and quotes", rows(remark='says "hello"\nand leaves'), "altcraft.profiles", None, [], "csv", False),
    ("rows, other scripts", rows(name=SCRIPTS), "altcraft.profiles", None, [], "csv", False),
    ("rows, other column order", rows(turned=True), "altcraft.profiles", None, [], None, False),
    ("rows, devices and tokens", rows(devices=True), "altcraft.profiles", None, [], None, False),
    ("rows to neutral contacts", rows(), "neutral.contacts", None, [], None, False),
    ("profiles to neutral contacts", profiles(), "neutral.contacts", None, [], "profiles", False),
    ("other attributes", lines(unknown=True), "altcraft.profiles", None, [], "orjson", False),
    ("rows, ISO 8859-1", rows(encoding="latin-1", form="acoustic.contacts"), "altcraft.profiles", None, [], None, False),
    ("each contact twice, with opt-outs", lines(repeats=True), "altcraft.profiles", None, [], None, True),
    ("10 % rejects", lines(rejects=True), "altcraft.profiles", None, [], "orjson", True),
    ("evidence", lines(), "altcraft.profiles", None, ["--evidence"], None, True),
    ("evidence of rows", rows(), "neutral.contacts", None, ["--evidence"], None, True),
    ("journal", lines(), "altcraft.profiles", None, ["--journal"], "orjson", True),
    ("verify", lines(), "altcraft.profiles", None, ["verify"], None, True),
    ("verify --sample 100", lines(), "altcraft.profiles", None, ["verify", "--sample", "100"], None, True),
]


def seconds(words):
    """The processor time of a program, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["taskset", "-c", "0", *words], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


def left(output):
    """The records that left the bulk path, as a report says."""
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            whole = json.loads(line)
            return whole.get("expected", whole).get("leftBulkPath", {})
    return {}


def settings(form, to, rules):
    """The settings of both formats, and the rules of the mapping."""
    whole = {"mapping": RULES.get(rules, [])}
    if to == "altcraft.profiles":
        whole["to"] = TARGET
    if form == "altcraft.profiles":
        whole["from"] = TARGET
    if form == "acoustic.contacts":
        columns = {"Email Address": "identifier:email", "Contact Key": "identifier:external"}
        whole["from"] = {"encoding": "iso-8859-1", "delimiter": "comma", "key": "email", "columns": columns}
    return whole


def peers(peer, few, source, target):
    """The processor time of the Python script and of DuckDB; None for one that does not do the same."""
    python = {"orjson": ["map_python.py", "orjson"], "csv": ["map_rows.py"], "profiles": ["map_profiles.py"]}.get(peer)
    duckdb = {"orjson": ["map_duckdb.py", "1"], "csv": ["rows_duckdb.py", "1"]}.get(peer)
    for script in (python, duckdb):
        if not script:
            yield None
            continue
        words = [sys.executable, os.path.join(HERE, script[0]), *script[1:]]
        start = statistics.median(seconds([*words, few, target])[0] for _ in range(3))
        yield statistics.median(seconds([*words, source, target])[0] for _ in range(3)) - start


def main():
    command, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60_000
    with tempfile.TemporaryDirectory() as folder:
        place = lambda name: os.path.join(folder, name)
        source, few, target, config = (place(name) for name in ("source", "few", "target", "settings"))
        figures = []
        for name, (form, write), to, rules, extra, peer, works in CLASSES:
            if sys.argv[3:] and name not in sys.argv[3:]:
                continue
            random.seed(20_310_309)
            write(source, count)
            write(few, 10)
            with open(config, "w") as file:
                json.dump(settings(form, to, rules), file)
            formats = ["--from", form, "--to", to, "--settings", config]

            def apply(path, more=()):
                words = [*formats, "--in", path, "--out", target, "--restart", "--rejects", place("rejects"), *more]
                return seconds([command, "migrate", "apply", *words, "--json"])

            def ours(path):
                if extra[:1] == ["verify"]:
                    words = [*formats, "--in", path, "--target", f"{path}.target", *extra[1:]]
                    return seconds([command, "migrate", "verify", *words, "--json"])
                if extra == ["--journal"]:
                    for old in os.listdir(folder):
                        if old.startswith("more"):
                            os.remove(place(old))
                return apply(path, [*extra, place("more")] if extra else [])

            if extra[:1] == ["verify"]:
                for path in (few, source):
                    apply(path)
                    os.replace(target, f"{path}.target")
            start = statistics.median(ours(few)[0] for _ in range(5))
            runs = [ours(source) for _ in range(5)]
            own = statistics.median(run[0] for run in runs) - start
            ratios = [theirs and theirs / own for theirs in peers(peer, few, source, target)]
            figures.append((name, own / count * 1e6, own / os.path.getsize(source) * 1e9, ratios, works, left(runs[0][1])))
    fastest = {
        isOfRows: min((each[2] for each in figures if not each[4] and ("rows" in each[0]) == isOfRows), default=0)
        for isOfRows in (True, False)
    }
    print(f"\n## Input classes (P7)\n\n{count:,} records of each class, processor time of the median of five runs on one core.\n")
    print("| class | µs each | ns a byte | of the fastest | Python | DuckDB | reached | left the bulk path |")
    print("|---|---|---|---|---|---|---|---|")
    for name, each, byte, ratios, works, reasons in figures:
        share = fastest["rows" in name] / byte
        # A goal counts as reached within 10 %.
        reached = share >= 0.9 * (0.1 if works else 1 / 3) and (ratios[0] or 3) >= 2.7 and (ratios[1] or 1) >= 0.9
        beside = " | ".join(f"{ratio:.1f} ×" if ratio else "–" for ratio in ratios)
        print(f"| {name} | {each:.2f} | {byte:.2f} | {share:.2f} | {beside} | {'yes' if reached else 'no'} | {reasons or '–'} |")


main()
