"""What takes letters, pushes and webhooks' notices in a test, and can leave those who hand them over without an answer."""

import json
import socketserver
import ssl
import subprocess
import threading
import uuid
from dataclasses import dataclass
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import h2.config
import h2.connection
import h2.events


@dataclass(frozen=True)
class Delivery:
    """One that has come: what it is called, and what it tells of."""

    identifier: str
    content: str


class Held:
    """One that has come and waits for its answer."""

    def __init__(self, delivery):
        self.delivery = delivery
        self.decided, self.is_answered = threading.Event(), False
        # Of a letter: set once its sender goes on behind the answer.
        self.heard = threading.Event()

    def answer(self):
        self.is_answered = True
        self.decided.set()


class Receiver:
    """Takes what comes; while its gate is shut, whatever comes waits for its answer."""

    def __init__(self):
        self.lock = threading.Lock()
        self.is_shut = False
        self.held, self.taken = [], []

    def take(self, identifier, content):
        """Waits until it is decided whether it is answered: then what was taken, else nothing."""
        held = Held(Delivery(identifier, content))
        with self.lock:
            if self.is_shut:
                self.held.append(held)
            else:
                held.answer()
        held.decided.wait()
        if held.is_answered:
            with self.lock:
                self.taken.append(held.delivery)
            return held
        return None

    def shut(self):
        with self.lock:
            self.is_shut, self.held = True, []

    def open(self, answers):
        """Takes what comes, and answers what waits, or never will."""
        with self.lock:
            self.is_shut = False
            for held in self.held:
                held.is_answered = answers
                held.decided.set()

    def contents(self):
        with self.lock:
            return {delivery.content for delivery in self.taken}


class Webhook(Receiver):
    def __init__(self):
        super().__init__()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                notice = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                told = f"{notice['change']} {notice.get('recordName')}"
                if receiver.take(self.headers["webhook-id"], told):
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *_):
                pass

        self.server = quiet(ThreadingHTTPServer)(("127.0.0.1", 0), Handler)


class Mail(Receiver):
    """A mail server: it holds letters that it has whole, without saying so."""

    def __init__(self):
        super().__init__()
        receiver = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self.held = None
                try:
                    self.serve()
                finally:
                    self.note_heard()

            def serve(self):
                self.say("220 ready")
                for line in self.rfile:
                    word = line.split(b" ")[0].strip().upper()
                    self.note_heard()
                    if word == b"DATA":
                        self.say("354 go on")
                        letter = message_from_bytes(self.letter())
                        told = f"{letter['To']} {letter.get_payload()}"
                        self.held = receiver.take(letter["Message-ID"], told)
                        if not self.held:
                            return
                    self.say("221 bye" if word == b"QUIT" else "250 ok")

            def letter(self):
                lines = []
                while (line := self.rfile.readline()).rstrip(b"\r\n") != b".":
                    lines.append(line)
                return b"".join(lines)

            def note_heard(self):
                """The client has read that its letter is taken, or has ended."""
                if self.held:
                    self.held.heard.set()

            def say(self, words):
                self.wfile.write(f"{words}\r\n".encode())

        self.server = quiet(socketserver.ThreadingTCPServer)(("127.0.0.1", 0), Handler)


class ApplePush(Receiver):
    """Apple's push service, with a certificate of its own for `localhost`."""

    def __init__(self, folder):
        super().__init__()
        receiver = self
        self.certificate, key = folder / "push.pem", folder / "push.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out",
             str(self.certificate)], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        context.set_alpn_protocols(["h2"])

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                with context.wrap_socket(self.request, server_side=True) as connection:
                    Pushes(connection, receiver).serve()

        self.server = quiet(socketserver.ThreadingTCPServer)(("127.0.0.1", 0), Handler)


class Pushes:
    """Those of one connection."""

    def __init__(self, connection, receiver):
        self.connection, self.receiver = connection, receiver
        self.http = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests = {}

    def serve(self):
        self.http.initiate_connection()
        self.connection.sendall(self.http.data_to_send())
        while data := self.connection.recv(65_536):
            for event in self.http.receive_data(data):
                if not self.take(event):
                    return
            self.connection.sendall(self.http.data_to_send())

    def take(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = [dict(event.headers), b""]
        elif isinstance(event, h2.events.DataReceived):
            self.requests[event.stream_id][1] += event.data
            self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            fields, body = self.requests.pop(event.stream_id)
            notice = json.loads(body)["ck"]
            if not self.receiver.take(str(uuid.UUID(notice["nid"])), notice["qry"]["rid"]):
                return False
            assert fields["apns-id"] == str(uuid.UUID(notice["nid"])), fields
            self.http.send_headers(event.stream_id, [(":status", "200")], end_stream=True)
        return True


def quiet(kind):
    """A server whose callers may end at any time, and which is served from its making on."""

    class Quiet(kind):
        daemon_threads, allow_reuse_address = True, True
        request_queue_size = 128

        def __init__(self, *words):
            super().__init__(*words)
            self.port = self.server_address[1]
            threading.Thread(target=self.serve_forever, daemon=True).start()

        def handle_error(self, *_):
            pass

    return Quiet
