#!/usr/bin/env python3
"""A local TLS server for the tests of the transport.

tls_server.py KIND FOLDER makes a certificate of that kind with openssl, prints the port, and answers every request with its
first line. FOLDER/ca.pem is the authority that signs the good certificate. The server ends when its
standard input does.

Kinds: good, self-signed, wrong-host, expired, plain (no TLS at all), closed (the handshake is cut off), silent (the handshake
gets no reply), basic (good, and each reply is a 401 with a Basic challenge), proxy (answers CONNECT, then is the server that
the request is for)."""

import os
import pathlib
import socket
import ssl
import subprocess
import sys
import threading

KIND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], cwd=FOLDER, check=True, capture_output=True)


def make_certificate() -> ssl.SSLContext:
    host = "DNS:elsewhere.example" if KIND == "wrong-host" else "DNS:localhost,IP:127.0.0.1,DNS:vendor.example"
    (FOLDER / "names").write_text(f"subjectAltName={host}\n")
    new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Test authority", "-days", "2")
    openssl("req", *new_key, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost")
    # A validity of minus one day ended yesterday.
    days = "-1" if KIND == "expired" else "2"
    own, authority = ["-signkey", "key.pem"], ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    signer = own if KIND == "self-signed" else authority
    openssl("x509", "-req", "-in", "request.pem", *signer, "-out", "cert.pem", "-days", days, "-extfile", "names")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "cert.pem", FOLDER / "key.pem")
    return context


def read_request(connection: socket.socket) -> str:
    """Reads a head and its body, and returns the first line."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(65_536)
        if not piece:
            return ""
        text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += connection.recv(65_536)
    return head.split(b"\r\n")[0].decode()


def answer(connection: socket.socket, context: ssl.SSLContext) -> None:
    if KIND == "silent":
        connection.recv(65_536)
        return threading.Event().wait()
    if KIND in ("closed", "plain"):
        connection.recv(65_536)
        if KIND == "plain":
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        return connection.close()
    if KIND == "proxy":
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    with context.wrap_socket(connection, server_side=True) as secure:
        body = read_request(secure).encode()
        status = '401 Unauthorized\r\nWWW-Authenticate: Basic realm="test"' if KIND == "basic" else "200 OK"
        secure.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


def serve(connection: socket.socket, context: ssl.SSLContext) -> None:
    try:
        answer(connection, context)
    except OSError:
        pass  # The tests refuse handshakes on purpose.


def end_with_parent() -> None:
    """Ends the process when standard input ends. A test runner may block signals, and its children inherit that."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    context = make_certificate()
    threading.Thread(target=end_with_parent, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, context), daemon=True).start()


main()
