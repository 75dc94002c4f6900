"""A small web server on this machine that answers well or badly, as a test asks."""

import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class Site:
    """Files by path, what to do wrong with the next requests, and the requests that came.

    ``plans[path]`` is a list of dictionaries, one a request: ``status`` to answer with, ``cut`` to break off after so
    many bytes, ``whole`` to ignore the range asked for, ``shift`` to start elsewhere, ``total`` to claim another size,
    ``chunked`` to tell no size, ``silent`` to answer nothing.
    """

    def __init__(self):
        self.files, self.plans, self.requests, self.closing = {}, {}, [], Event()
        self.address = ""

    def url(self, path):
        return f"{self.address}/{path}"

    def ranges(self, path):
        """The ranges asked for of a file, None where the whole was."""
        return [asked for name, asked in self.requests if name == path]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site, path = self.server.site, self.path.lstrip("/")
        asked = self.headers.get("Range")
        site.requests.append((path, asked))
        plan = site.plans[path].pop(0) if site.plans.get(path) else {}
        self.close_connection = True
        if plan.get("silent"):
            site.closing.wait(5)
        elif "status" in plan or path not in site.files:
            self.reply(plan.get("status", 404), b"")
        else:
            self.send_file(site.files[path], asked, plan)

    def send_file(self, content, asked, plan):
        if plan.get("chunked"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content))
            return
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked and not plan.get("whole") else None
        if start is None:
            self.reply(200, content, cut=plan.get("cut"))
        elif start >= len(content):
            self.reply(416, b"", {"Content-Range": f"bytes */{len(content)}"})
        else:
            start += plan.get("shift", 0)
            total = plan.get("total", len(content))
            headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{total}"}
            self.reply(206, content[start:], headers, cut=plan.get("cut"))

    def reply(self, status, body, headers=(), cut=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:cut])

    def log_message(self, *_):
        pass


@contextmanager
def serve():
    """A site that answers until the block ends."""
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site, server.daemon_threads = site, True
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
