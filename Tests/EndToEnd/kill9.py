#!/usr/bin/env python3
"""Kills the real sender with -9 at random moments, again and again, and counts afterwards with an independent reader.

    kill9.py ROUNDS [--seed N] [--keep]

Each round captures new operations over real HTTP, with faults of the vendors, and is killed at a random moment. At the end the
vendors have no faults, all operations are delivered, and ledger, outbox and sandbox must agree.
"""

import time

import scene


def play(folder, rounds, seed):
    """Runs all rounds and the drain."""
    with scene.Scene(folder, seed) as stage:
        for number in range(rounds):
            stage.say(stage.shop.round())
            stage.break_vendors(number)
            sender = stage.send()
            if number % 3:
                # On a busy machine a fixed time would always be over before the first receipt.
                stage.tally.met += stage.kill_at_work(sender, within=0.5)
            else:
                time.sleep(0.06 + stage.chance.random() * 0.5)
                stage.tally.met += sender.kill() == -9
        stage.tally.rounds += rounds
        stage.drain()
        return stage.tally


if __name__ == "__main__":
    scene.main("kill9", "Kills the sender again and again, and recounts.", play)
