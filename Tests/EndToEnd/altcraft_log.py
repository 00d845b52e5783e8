"""Holds the endings of an Altcraft provider against the requests that the sandbox saw."""

import collections

# What needs no request: the adapter remembers the device, the credential names the person, the engine keeps consent.
SILENT_KINDS = {"registerDevice", "identify", "setConsent", "erase"}


def request_id(entry):
    """The id that a request carried: the same on every repeat of an operation."""
    headers = {name.lower(): value for name, value in entry["headers"].items()}
    return headers.get("request-id", "").lower()


def was_taken(entry):
    return entry["processed"] and entry["status"] is not None and 200 <= entry["status"] < 300


def check(operations, endings, waiting, log, replayed):
    """Checks both ways: what counts as accepted was taken, and what was taken counts.

    - operations: what was said
    - endings: how each operation ended at this provider, by id
    - waiting: ids that are still pending there
    - log: the sandbox's lines of this vendor
    - replayed: how many operations that need no request the engine itself may have made at a switch

    Returns the number of accepted operations found in the log, and what differs.
    """
    kinds = {operation["id"]: operation["action"]["kind"] for operation in operations}
    requests = collections.defaultdict(list)
    for entry in log:
        requests[request_id(entry)].append(entry)
    found, problems, unexplained = 0, [], 0
    for identifier, term in endings.items():
        taken = any(was_taken(entry) for entry in requests.get(identifier.lower(), []))
        if term == "accepted" and taken:
            found += 1
        elif term == "accepted" and identifier not in kinds:
            unexplained += 1
        elif term == "accepted" and kinds[identifier] not in SILENT_KINDS:
            problems.append(f"operation {identifier}: accepted, but the vendor never took it")
        elif term in ("dropped", "moved", "superseded") and taken:
            problems.append(f"operation {identifier}: {term}, but the vendor took it")
    if unexplained > replayed:
        problems.append(f"{unexplained} operations of a switch are accepted without a request, {replayed} may be")
    known = {identifier.lower() for identifier in [*endings, *waiting]}
    strangers = [identifier for identifier in requests if identifier and identifier not in known]
    problems += [f"request {identifier}: no operation of the outbox made it" for identifier in strangers]
    return found, problems
