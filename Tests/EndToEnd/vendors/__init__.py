"""The vendors as an independent reader knows them: one module each, without any of the project's code.

A module says

- `TITLE`: the vendor's name for people
- `REFUSES`: kinds of ordinary operations that it has no API for
- `SOURCE`, `TARGET`: the form of file that its contacts are read from, and the one they are written to, each with its
  settings; None where it has none yet
- `account()`: what its account at the sandbox is like
- `provider(url, contacts, environment)`: a provider of a configuration; its secrets go into the environment
- `check(view)`: how many things were compared, what they are in words, and what differs
- `holds(state)`: what its account holds, in a line
"""

import dataclasses

from . import acoustic, adobe, altcraft, des, salesforce

ALL = {"acoustic": acoustic, "adobe": adobe, "altcraft": altcraft, "des": des, "salesforce": salesforce}


@dataclasses.dataclass
class View:
    """What was said, what became of it at one provider, and what its vendor saw."""

    # What was said, in its order.
    operations: list
    # How each operation ended at this provider, by id.
    endings: dict
    # The ids of what was captured, but never for this provider: a switch told it the state that they left.
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
