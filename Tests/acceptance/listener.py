"""HTTP servers that a script runs beside the server, each on a free port."""

import http.server
import threading


class Listener(http.server.ThreadingHTTPServer):
    """Answers while the script is inside it."""

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def body(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def answer(self, body, status=200, content_type="text/html; charset=utf-8"):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
