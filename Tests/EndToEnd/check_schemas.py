#!/usr/bin/env python3
"""Validates schemas, examples and golden request bodies with an independent validator (PyPI jsonschema).

- every Schemas/**/*.schema.json is itself a valid schema (2020-12);
- every example is valid, and every example under invalid/ is refused;
- every JSON body of a golden request fits the schema that Schemas/wire/<vendor>/index.json names for it, and so does
  every line of a golden record file.

It counts the validated files, and fails if there are none.
"""

import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCHEMAS = ROOT / "Schemas"

# Findings of a configuration that depend on several places, on the environment or on an adapter's own table, so that no
# schema can have them. Only `patchbay check` refuses an invalid example that has no other findings.
BEYOND_SCHEMAS = re.compile(
    r"configuration\.(route\.(provider|twice|none)|provider\.side|variable|adapter|attribute\.name|credentials)|setting\."
)


class Check:
    def __init__(self):
        self.problems = []
        self.counts = {}
        self.schemas = {}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def problem(self, path, text):
        self.problems.append(f"{path.relative_to(ROOT)}: {text}")

    def load(self):
        """Reads every schema; references between files find each other by their ids."""
        registry = Registry()
        for path in sorted(SCHEMAS.rglob("*.schema.json")):
            schema = json.loads(path.read_text(encoding="utf-8"))
            self.count("schemas")
            try:
                Draft202012Validator.check_schema(schema)
            except Exception as error:  # The library has several kinds; each is a finding here.
                self.problem(path, f"is no valid schema: {error.message}")
                continue
            self.schemas[path] = schema
            registry = registry.with_resource(schema["$id"], Resource.from_contents(schema))
        self.registry = registry

    def validator(self, path):
        return Draft202012Validator(self.schemas[path], registry=self.registry, format_checker=FormatChecker())

    def errors(self, value, schema):
        """Returns the errors of a value: places and rules, never the value."""
        found = sorted(self.validator(schema).iter_errors(value), key=lambda error: list(map(str, error.path)))
        return [f"{error.json_path} breaks {error.validator} of {schema.name}" for error in found]

    # Examples

    def check_examples(self):
        for folder in sorted(SCHEMAS.rglob("examples")):
            for path in sorted(folder.rglob("*.json")):
                if not path.name.endswith(".findings.json"):
                    self.check_example(path, folder)

    def check_example(self, path, folder):
        schema = self.schema_of(path, folder)
        if schema is None:
            return self.problem(path, "no schema beside it has the first part of its name")
        is_bad = "invalid" in path.relative_to(folder).parts
        self.count("bad examples" if is_bad else "examples")
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return None if is_bad else self.problem(path, "is not JSON")
        errors = self.errors(value, schema)
        if is_bad and not errors and not self.is_beyond_schemas(path):
            self.problem(path, "should be refused, and the schema takes it")
        for error in [] if is_bad else errors:
            self.problem(path, error)

    def schema_of(self, path, folder):
        """`operation.track.json` belongs to `operation.schema.json`; where there is one schema, all belong to it."""
        beside = [schema for schema in self.schemas if schema.parent == folder.parent]
        named = [schema for schema in beside if path.name.startswith(schema.name.removesuffix("schema.json"))]
        return (named or (beside if len(beside) == 1 else [None]))[0]

    def is_beyond_schemas(self, path):
        findings = path.with_name(path.name.removesuffix(".json") + ".findings.json")
        if not findings.exists():
            return False
        errors = [each for each in json.loads(findings.read_text()) if each.get("severity", "error") == "error"]
        return bool(errors) and all(BEYOND_SCHEMAS.match(each["code"]) for each in errors)

    # Goldens

    def check_goldens(self):
        for goldens in sorted((ROOT / "Adapters").glob("*/Goldens")):
            vendor = goldens.parent.name
            index_path = SCHEMAS / "wire" / vendor.lower() / "index.json"
            if not index_path.exists():
                self.problem(goldens, f"there is no Schemas/wire/{vendor.lower()}/index.json that names schemas for its bodies")
                continue
            index = json.loads(index_path.read_text(encoding="utf-8"))
            for path in sorted(goldens.glob("Requests/**/*.txt")):
                for line, headers, body in requests(path.read_text(encoding="utf-8")):
                    self.check_body(path, vendor, index, line, headers, body)
            for path in sorted(goldens.glob("Records/*.ndjson")):
                self.check_records(path, index)
            for path in sorted(goldens.glob("Conversations/**/*.json")):
                self.check_conversation(path, vendor, index)

    def check_body(self, path, vendor, index, line, headers, body):
        if not body or "json" not in headers.get("content-type", "json"):
            return self.count(f"requests of {vendor} without a JSON body")
        rows = [row for row in index["requests"] if re.search(row["request"], line)]
        if len(rows) != 1:
            return self.problem(path, f"{len(rows)} rows of the index fit \"{line.split('?')[0]}\", one must")
        self.count(f"golden bodies of {vendor}")
        for error in self.errors(json.loads(body), self.wire(path, vendor, rows[0]["schema"])):
            self.problem(path, error)

    def wire(self, path, vendor, name):
        return SCHEMAS / "wire" / vendor.lower() / name

    def check_conversation(self, path, vendor, index):
        """Checks that the scenario fits its schema, and that every request in its lines fits the vendor's schema."""
        self.count(f"conversations of {vendor}")
        for error in self.errors(json.loads(path.read_text(encoding="utf-8")), SCHEMAS / "scenario" / "scenario.schema.json"):
            self.problem(path, error)
        lines = path.with_suffix(".ndjson")
        for line in map(json.loads, lines.read_text(encoding="utf-8").splitlines()):
            if "method" in line and isinstance(line.get("body"), (dict, list)):
                headers = {name.lower(): value for name, value in line["headers"].items()}
                self.check_body(lines, vendor, index, f"{line['method']} {line['url']}", headers, json.dumps(line["body"]))

    def check_records(self, path, index):
        vendor = path.parent.parent.parent.name
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            self.count(f"golden records of {vendor}")
            for error in self.errors(json.loads(line), self.wire(path, vendor, index["records"])):
                self.problem(path, f"line {number}: {error}")

    def report(self):
        for what, count in sorted(self.counts.items()):
            print(f"  {count:5} {what}")
        bodies = sum(count for what, count in self.counts.items() if what.startswith("golden bodies"))
        expected = {"schemas": 5, "examples": 5, "bad examples": 5}
        for what, least in expected.items():
            if self.counts.get(what, 0) < least:
                self.problems.append(f"only {self.counts.get(what, 0)} {what} were found; there should be {least} at least")
        if bodies < 20:
            self.problems.append(f"only {bodies} golden bodies were found; there should be 20 at least")
        for problem in self.problems:
            print(f"  {problem}")
        print(f"schemas: {len(self.problems)} problems" if self.problems else "schemas: all fit")
        return 1 if self.problems else 0


def requests(text):
    """The requests of a golden: request line, headers by lower-case name, body as it left."""
    for part in re.split(r"(?m)^###$", text):
        part = part.strip("\n")
        if not re.match(r"[A-Z]+ \S+$", part.split("\n", 1)[0]):
            continue
        head, _, body = part.partition("\n\n")
        line, *fields = head.split("\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        yield line, headers, body


def main():
    check = Check()
    check.load()
    check.check_examples()
    check.check_goldens()
    sys.exit(check.report())


if __name__ == "__main__":
    main()
