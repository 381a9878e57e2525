import Foundation

/// A server that speaks HTTP/2 by PyPI's `h2`, with TLS and a certificate for `localhost`, and does what
/// the paths of requests ask of it.
///
/// - `/status/N/WORD`: answers with N and `{"reason":"WORD"}`. `/3/device/…` too, where the middle digits of
///   the token say so (`410`, `429`, `503`); any other is answered with 200.
/// - `/echo…`: answers with an object of the connection's number, the fields and the body.
/// - `/hang`: never answers. `/cut`: ends the connection. `/garbage`: answers what is not HTTP/2.
/// - `/reset`: ends the stream. `/refuse-once`: the first time, says that it has not looked at it.
/// - `/large/N`: answers with N bytes.
/// - `/leave/N/M`: once N of them wait on the first connection, sends GOAWAY with the M-th as the last one,
///   answers those and ends the connection; on others answers as `/echo`.
package final class HTTP2Server: Sendable {
    package let port: UInt16
    /// Of the certificate, which signs itself.
    package let certificate: String
    private let folder: String
    private let program: PythonProgram

    /// Nil where there is no Python.
    ///
    /// - Parameter streamsMax: that it takes at a time on a connection.
    package init?(streamsMax: Int = 100) throws {
        folder = NSTemporaryDirectory() + "http2-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        certificate = "\(folder)/certificate.pem"
        guard let program = try PythonProgram(Self.script, folder, "\(streamsMax)") else {
            try FileManager.default.removeItem(atPath: folder)
            return nil
        }
        self.program = program
        guard let port = UInt16(try program.nextLine()) else {
            throw PythonProgram.Failure(description: "no port")
        }
        self.port = port
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The next request that it has got and done with, as an object of the connection's number, fields and
    /// body; or the next connection that has ended, as `closed`.
    package func nextRequest() throws -> String { try program.nextLine() }

    private static let script = """
        import json, socket, ssl, subprocess, sys, threading
        import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings
        from hyperframe.frame import GoAwayFrame
        folder, streams_max = sys.argv[1], int(sys.argv[2])
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost", "-keyout", folder + "/key.pem",
            "-out", folder + "/certificate.pem"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder + "/certificate.pem", folder + "/key.pem")
        context.set_alpn_protocols(["h2"])
        refused, printing = set(), threading.Lock()
        class Connection:
            def __init__(self, sock, number):
                self.sock, self.number, self.requests, self.waiting = sock, number, {}, []
                self.told = []
                self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(
                    client_side=False, header_encoding="utf-8"))
                self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
                    h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: streams_max})
            def answer(self, stream, status, body, fields=()):
                self.h2.send_headers(stream, [(":status", str(status)),
                    ("content-type", "application/json"), *fields])
                self.pieces(stream, body)
            def pieces(self, stream, body):
                while body:
                    room = min(self.h2.local_flow_control_window(stream), 16384)
                    if room <= 0: break
                    self.h2.send_data(stream, body[:room])
                    body = body[room:]
                if body: self.rest[stream] = body
                else: self.h2.end_stream(stream)
            rest = {}
            def echo(self, stream):
                fields, body = self.requests[stream]
                self.answer(stream, 200, json.dumps({"connection": self.number, "stream": stream,
                    "fields": fields, "body": body.decode()}).encode())
            def respond(self, stream):
                fields, body = self.requests[stream]
                parts = fields[":path"].split("/")
                self.told.append({"connection": self.number, "fields": fields,
                    "body": body.decode()})
                if parts[1] == "hang": return
                if parts[1] == "cut": raise EOFError
                if parts[1] == "garbage":
                    self.sock.sendall(b"x" * 1000)
                    raise EOFError
                if parts[1] == "reset":
                    return self.h2.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
                if parts[1] == "refuse-once" and fields[":path"] not in refused:
                    refused.add(fields[":path"])
                    return self.h2.reset_stream(stream, h2.errors.ErrorCodes.REFUSED_STREAM)
                if parts[1] == "leave" and self.number == 1:
                    self.waiting.append(stream)
                    if len(self.waiting) < int(parts[2]): return
                    last = self.waiting[int(parts[3]) - 1]
                    frame = GoAwayFrame(0)
                    frame.last_stream_id = last
                    self.sock.sendall(frame.serialize())
                    for waiting in self.waiting:
                        if waiting <= last: self.echo(waiting)
                    self.sock.sendall(self.h2.data_to_send())
                    raise EOFError
                if parts[1] == "large":
                    return self.answer(stream, 200, b"x" * int(parts[2]))
                if parts[1] == "status":
                    return self.answer(stream, int(parts[2]),
                        json.dumps({"reason": parts[3]}).encode())
                if parts[1] == "3":
                    told = {"410": (410, {"reason": "Unregistered", "timestamp": 1700000000000}),
                        "429": (429, {"reason": "TooManyRequests"}),
                        "503": (503, {"reason": "ServiceUnavailable"}),
                        "400": (400, {"reason": "BadDeviceToken"}),
                        "403": (403, {"reason": "ExpiredProviderToken"})}
                    status, answer = told.get(parts[3][30:33], (200, None))
                    return self.answer(stream, status,
                        json.dumps(answer).encode() if answer else b"",
                        [("apns-id", fields.get("apns-id", "made-here"))])
                self.echo(stream)
            def serve(self):
                try:
                    self.h2.initiate_connection()
                    self.sock.sendall(self.h2.data_to_send())
                    while True:
                        data = self.sock.recv(65536)
                        if not data: return
                        for event in self.h2.receive_data(data): self.take(event)
                        self.sock.sendall(self.h2.data_to_send())
                        self.tell()
                except (EOFError, OSError, h2.exceptions.ProtocolError):
                    pass
                finally:
                    self.tell()
                    try: self.sock.unwrap()
                    except OSError: pass
                    self.sock.close()
                    self.told.append({"closed": self.number})
                    self.tell()
            def tell(self):
                with printing:
                    for line in self.told: print(json.dumps(line), flush=True)
                self.told = []
            def take(self, event):
                if isinstance(event, h2.events.RequestReceived):
                    self.requests[event.stream_id] = [dict(event.headers), b""]
                elif isinstance(event, h2.events.DataReceived):
                    self.requests[event.stream_id][1] += event.data
                    self.h2.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    self.respond(event.stream_id)
                elif isinstance(event, h2.events.WindowUpdated):
                    for stream in list(self.rest): self.pieces(stream, self.rest.pop(stream))
        def accept(listener):
            number = 0
            while True:
                sock, _ = listener.accept()
                number += 1
                threading.Thread(target=begin, args=(sock, number), daemon=True).start()
        def begin(sock, number):
            try: secure = context.wrap_socket(sock, server_side=True)
            except OSError: return
            connection = Connection(secure, number)
            connection.rest = {}
            connection.serve()
        listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        print(listener.getsockname()[1], flush=True)
        accept(listener)
        """
}
