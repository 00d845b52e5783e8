#!/usr/bin/env python3
"""The built command against hostile servers, files, values and clocks.

Each check is a method whose first line of documentation states what must hold. Usage: hardening.py [PART OF A NAME]
"""

import http.server
import socket
import subprocess
import sys
import threading

import end_to_end
import processes
from end_to_end import CONTACT, a_morning, lines

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
TLS_SERVER = processes.ROOT / "Tests/PatchbayHTTPTests/tls_server.py"


class Recorder:
    """A listener that keeps the first bytes of each connection and hangs up."""

    def __init__(self):
        self.received = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            connection, _ = self._listener.accept()
            self.received.append(connection.recv(65_536))
            connection.close()


class Challenge(http.server.BaseHTTPRequestHandler):
    """Answers every request with 401 and a challenge."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="vendor"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

    def log_message(self, *_):
        pass


class Hardening(end_to_end.EndToEnd):
    def send(self, operations, url=None, seconds=4, environment=None, **members):
        """Sends operations to Altcraft: its sandbox, or a server of another address."""
        providers = {"altcraft": self.provider("altcraft", url)}
        configuration = processes.write_configuration(self.folder / "patchbay.json", providers, ["altcraft"], **members)
        return processes.run(
            "send", "--config", configuration, "--until-idle", seconds, "-", input=lines(operations).encode(),
            environment={**self.environment, **(environment or {})},
        )

    # The network

    def check_proxy_variables(self):
        """the proxy variables of the environment have no effect, and transport.proxy names the proxy"""
        recorder = Recorder()
        environment = dict.fromkeys(PROXY_VARIABLES, recorder.url)
        self.expect_end(self.send(a_morning(), seconds=30, environment=environment), 0)
        self.outbox.unlink()
        self.expect_end(self.send(a_morning(), "https://vendor.invalid", environment=environment), 1, "vendor.invalid")
        self.expect(not recorder.received, f"the environment's proxy received {recorder.received}")
        self.outbox.unlink()
        self.send(a_morning(), "https://vendor.invalid", transport={"proxy": recorder.url})
        self.expect(recorder.received, "the proxy of the configuration received nothing")
        for each in recorder.received:
            self.expect(each.startswith(b"CONNECT vendor.invalid:443 "), f"the proxy received {each}")
            self.expect(CONTACT.encode() not in each and b"uthorization" not in each, f"the proxy received {each}")

    def check_tls(self):
        """a server that cannot prove its identity receives nothing, and the report names the cause"""
        causes = {
            "self-signed": "not trusted (self-signed)", "good": "is not trusted", "plain": "secure connection (TLS)",
            "closed": "secure connection (TLS)",
        }
        for kind, cause in causes.items():
            folder = self.folder / kind
            folder.mkdir()
            command = [sys.executable, str(TLS_SERVER), kind, str(folder)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
                port = int(server.stdout.readline())
                done = self.send(a_morning(), f"https://127.0.0.1:{port}")
                server.stdin.close()
            self.expect_end(done, 1, cause)
            self.outbox.unlink()

    def check_challenge(self):
        """a 401 with a challenge is a reply: the report names the credentials, and no request waits for its deadline"""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Challenge)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = self.send(a_morning(), f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        self.expect_end(done, 1, "401")


if __name__ == "__main__":
    end_to_end.main(Hardening)
