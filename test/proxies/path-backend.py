"""A backend of the standard library, whose handlers read the path in the ways that are usual there."""
import posixpath
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


def is_limited(path):
    return path == "/login" or path.startswith(("/search/", "/files/"))


class Backend(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        raw = self.path.split("?", 1)[0]
        parsed = urlsplit(self.path).path
        readings = [raw, parsed, unquote(raw), unquote(parsed), posixpath.normpath(unquote(parsed)), unquote(unquote(parsed))]
        self.send_response(200 if any(is_limited(path) for path in readings) else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


ThreadingHTTPServer.daemon_threads = True
ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Backend)
print("ready", flush=True)
server.serve_forever()
