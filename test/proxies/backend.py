"""A backend that knows nothing of rate limits: answers what it was asked, as JSON, and echoes after an upgrade."""
import hashlib
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Backend(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        if self.headers.get("Upgrade") == "echo":
            return self.echo()
        body = self.body()
        told = {
            "method": self.command,
            "path": self.path,
            "length": len(body),
            "sha256": hashlib.sha256(body).hexdigest(),
            "forwarded": self.headers.get("X-Forwarded-For"),
        }
        text = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def echo(self):
        self.send_response(101)
        self.send_header("Upgrade", "echo")
        self.send_header("Connection", "Upgrade")
        self.end_headers()
        self.wfile.flush()
        while line := self.rfile.readline():
            self.wfile.write(line)
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, *_):
        pass


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend)
print("ready", flush=True)
server.serve_forever()
