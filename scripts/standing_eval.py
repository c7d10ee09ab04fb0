#!/usr/bin/env python3
"""Measures whether standing memories reach a context (python3, standard library only).

  standing_eval.py --bin DIR --data FOLDER/beam-dev [--budget 2000]

What people said (speaker `user`) goes through the write gate in order, as a program's plain calls; then `memory/context` is asked the
set's instruction_following and preference_following questions. Prints how often a gold message is in the context, how often by
standing alone, and what share of the budget the standing entries took. Fails below --floor or above a third of the budget. The
data stay where they are: nothing is copied.
"""
import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

ASKED = ("instruction_following", "preference_following")
BATCH = 200


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        self.file = self.socket.makefile("r", encoding="utf-8")
        self.number = 0

    def call(self, method, params):
        self.number += 1
        line = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.socket.sendall((json.dumps(line, ensure_ascii=False) + "\n").encode())
        while True:
            answer = json.loads(self.file.readline())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method} failed: {answer['error']}")
                return answer["result"]


def connect(path, process):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            client = Client(path)
            client.call("initialize", {"protocol": {"min": 1, "max": 1}, "client": {"name": "standing_eval", "version": "1"}, "capabilities": {}})
            return client
        except (FileNotFoundError, ConnectionRefusedError):
            if process.poll() is not None:
                raise SystemExit(f"tirod ended with {process.returncode}")
            time.sleep(0.05)
    raise SystemExit("tirod does not answer")


def lines(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tell(client, docs):
    """Sends the messages through the gate; ids by reference, and how many were refused."""
    ids, refused = {}, {}
    for start in range(0, len(docs), BATCH):
        batch = docs[start : start + BATCH]
        items = [{"text": d["text"], "space": d["space"], "source": d["source"]} for d in batch]
        for doc, result in zip(batch, client.call("memory/rememberMany", {"items": items})["results"]):
            if "id" in result:
                ids[doc["ref"]] = result["id"]
            else:
                reason = result.get("reason", result["outcome"])
                refused[reason] = refused.get(reason, 0) + 1
    return ids, refused


def standing_tokens(text, standing):
    """A quarter of the characters of the standing entries: the rough measure of a token."""
    shown, taken = {i[:8] for i in standing}, 0
    counting = False
    for line in text.splitlines():
        if line.startswith("["):
            counting = ", standing" in line and line.rsplit("id ", 1)[-1][:8] in shown
        if counting and not line.startswith("</"):
            taken += len(line) + 1
    return taken / 4


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--data", required=True)
    p.add_argument("--budget", type=int, default=2000)
    p.add_argument("--floor", type=float, default=0.6)
    a = p.parse_args()
    docs = [d for d in lines(a.data, "docs.jsonl") if d["source"].get("speaker") == "user"]
    queries = [q for q in lines(a.data, "queries.jsonl") if q["category"] in ASKED]
    with tempfile.TemporaryDirectory(prefix="tiro-standing-") as home:
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as config:
            config.write('[model]\nprovider = "none"\n')
        env = {"PATH": os.environ.get("PATH", ""), "TIRO_HOME": home}
        process = subprocess.Popen([os.path.join(a.bin, "tirod")], env=env, stderr=subprocess.DEVNULL)
        try:
            client = connect(os.path.join(home, "run", "daemon.sock"), process)
            ids, refused = tell(client, docs)
            print(f"{len(docs)} messages told, {len(ids)} kept, refused {dict(sorted(refused.items()))}")
            found, by_standing, shares = {}, {}, []
            for q in queries:
                params = {"query": q["query"], "space": q["space"], "tokenBudget": a.budget}
                context = client.call("memory/context", params)
                gold = {ids[ref] for ref in q["gold"] if ref in ids}
                found.setdefault(q["category"], []).append(bool(gold & set(context["ids"])))
                by_standing.setdefault(q["category"], []).append(bool(gold & set(context.get("standing", []))))
                shares.append(standing_tokens(context["text"], context.get("standing", [])) / a.budget)
        finally:
            process.terminate()
            process.wait(30)
    every = [hit for hits in found.values() for hit in hits]
    for category, hits in sorted(found.items()):
        standing = by_standing[category]
        print(f"{category:<22} {sum(hits)}/{len(hits)} in the context, {sum(standing)}/{len(standing)} standing")
    rate = sum(every) / max(1, len(every))
    print(f"gold in the context {rate:.3f} of {len(every)}; standing share of the budget mean {sum(shares) / len(shares):.3f}, most {max(shares):.3f}")
    sys.exit(0 if rate >= a.floor and max(shares) <= 0.34 else 1)


if __name__ == "__main__":
    main()
