"""The vendors for the independent reader: one module for each, without the project's code.

A module has

- `TITLE`: the vendor's name for people
- `REFUSES`: kinds of ordinary operations without an API of the vendor
- `SOURCE`, `TARGET`: the formats of contact files to read and to write, each with its settings; None if there is none
- `account()`: the settings of its account at the sandbox
- `provider(url, contacts, environment)`: a provider of a configuration; its secrets are added to the environment
- `check(view)`: the number of compared items, their description, and the differences
- `holds(state)`: a summary of its account in one line
"""

import dataclasses

from . import acoustic, adobe, altcraft, des, salesforce

ALL = {"acoustic": acoustic, "adobe": adobe, "altcraft": altcraft, "des": des, "salesforce": salesforce}


@dataclasses.dataclass
class View:
    """The captured operations, their outcomes at one provider, and the vendor's log and state."""

    # The captured operations, in order.
    operations: list
    # The outcome of each operation at this provider, by id.
    outcomes: dict
    # The ids of operations that were captured for other providers: this one received the resulting state by a switch.
    elsewhere: set
    # The ids that are still pending there.
    waiting: set
    # The sandbox's lines of this vendor, or None.
    log: list
    # The vendor's account as the sandbox shows it, or None.
    state: dict
    # Whether the account was left for another vendor, and the unregister is complete.
    has_left: bool
    # The last neutral state of every installation.
    snapshots: list


def accounts(names=ALL):
    """The sandbox's settings for these vendors."""
    return {name: ALL[name].account() for name in names}
