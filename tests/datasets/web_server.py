"""A small web server on this machine."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Site:
    """Files by path, the paths that were requested, and the number of bytes after which a connection breaks."""

    def __init__(self):
        self.files, self.requests, self.cut = {}, [], None


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        site, path = self.server.site, self.path.lstrip("/")
        site.requests.append(path)
        body = site.files.get(path, b"")
        self.send_response(200 if path in site.files else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: site.cut])

    def log_message(self, *_):
        pass


@contextmanager
def serve():
    """Yield a site that answers until the block ends, and its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site = Site()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.site, f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
