#!/usr/bin/env python3
"""A client of the Tiro daemon in plain Python: no dependency, one file to copy.

    from tiro import Tiro
    with Tiro("my-program") as tiro:
        tiro.call("memory/remember", text="Deploys happen on Tuesdays.", explicit=True)
        for hit in tiro.call("memory/recall", query="when do we deploy?")["hits"]:
            print(hit["score"], hit["text"])

Every method, its params and its result: `tiro daemon schema --json`. A call that fails raises `TiroError`, whose `kind`, `hint` and
`outcome` say what happened. Run by itself it keeps a sentence and finds it again.
"""

import json
import os
import socket
import subprocess
import sys
import uuid


class TiroError(Exception):
    """The daemon refused a call. `kind` names the error; `outcome` of a write is "notDone" or "unknown"."""

    def __init__(self, error):
        super().__init__(error["message"])
        data = error.get("data") or {}
        self.code = error["code"]
        self.kind = data.get("kind")
        self.hint = data.get("hint")
        self.retryable = data.get("retryable", False)
        self.outcome = data.get("outcome")


def socket_path():
    """Where the daemon listens: what `tiro` itself says, where it is at hand, since it knows every rule; else the plain rules."""
    named = os.environ.get("TIRO_SOCKET")
    if named:
        return named
    home = os.environ.get("TIRO_HOME")
    if home:
        return os.path.join(home, "run", "daemon.sock")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return os.path.join(runtime, "tiro", "daemon.sock")
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "tiro", "run", "daemon.sock")


class Tiro:
    """One connection. Calls are answered in the order they are made; use one a thread."""

    def __init__(self, client, path=None, start=True, timeout=60):
        self._next_id = 0
        path = path or socket_path()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            if not start:
                raise
            subprocess.run(["tiro", "daemon", "start", "--quiet"], check=True, stdout=subprocess.DEVNULL)
            self._socket.connect(path)
        self._lines = self._socket.makefile("rb")
        self.hello = self.call(
            "initialize",
            protocol={"min": 1, "max": 1},
            client={"name": client, "version": "1"},
            capabilities={},
        )

    def call(self, method, **params):
        """Calls a method and gives its result."""
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            line = self._lines.readline()
            if not line:
                raise ConnectionError(f"the daemon closed the connection before it answered {method}")
            message = json.loads(line)
            # Notifications have a method and no id.
            if message.get("id") == self._next_id:
                if "error" in message:
                    raise TiroError(message["error"])
                return message["result"]

    def pages(self, method, **params):
        """Every item of a list, page by page."""
        while True:
            page = self.call(method, **params)
            yield from page["items"]
            if not page.get("nextCursor"):
                return
            params["cursor"] = page["nextCursor"]

    def close(self):
        self._lines.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    with Tiro("python-example") as tiro:
        # A key makes a write that is sent twice happen once.
        kept = tiro.call(
            "memory/remember",
            text="The Python example feeds the parrot at seven.",
            category="fact",
            explicit=True,
            key=str(uuid.uuid4()),
        )
        found = tiro.call("memory/recall", query="when is the parrot fed?", limit=3)
        for hit in found["hits"]:
            print(f"{hit['score']:.2f}\t{hit['text']}")
        print(len(list(tiro.pages("memory/list", limit=50))), "in memory")
        try:
            tiro.call("memory/get", id="00000000-0000-4000-8000-000000000000")
        except TiroError as error:
            print("as it should:", error.kind)
        tiro.call("memory/forget", ids=[kept["id"]], key=str(uuid.uuid4()))


if __name__ == "__main__":
    sys.exit(main())
