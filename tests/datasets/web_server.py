"""A small web server on this machine that answers well or badly, as a test asks."""

from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


class Site:
    """Files by path, what to do wrong with the next requests, and the requests that came.

    ``plans[path]`` is a list of dictionaries, one per request: ``status`` to answer with, ``cut`` to break off after
    this many bytes, ``chunked`` to tell no size, ``silent`` to answer nothing, ``slow`` to send a byte now and then,
    ``endless`` to send without end, ``slow_head`` to send the head of the answer without end, ``announced`` to tell
    another size.
    """

    def __init__(self):
        self.files, self.plans, self.requests, self.closing = {}, {}, [], Event()
        self.address = ""

    def url(self, path):
        return f"{self.address}/{path}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site, path = self.server.site, self.path.lstrip("/")
        site.requests.append(path)
        plan = site.plans[path].pop(0) if site.plans.get(path) else {}
        self.close_connection = True
        if plan.get("silent"):
            site.closing.wait(5)
        elif plan.get("slow_head"):
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not site.closing.wait(0.02):
                    self.wfile.write(b"x")
        elif "announced" in plan:
            self.send_response(200)
            self.send_header("Content-Length", str(plan["announced"]))
            self.end_headers()
        elif "status" in plan or path not in site.files:
            self.reply(plan.get("status", 404), b"")
        elif plan.get("slow") or plan.get("endless"):
            self.send_on(0.02 if plan.get("slow") else 0, 1 if plan.get("slow") else 1 << 16)
        elif plan.get("chunked"):
            content = site.files[path]
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content))
        else:
            self.reply(200, site.files[path], cut=plan.get("cut"))

    def send_on(self, pause, size):
        """Send until the other side has enough."""
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while not self.server.site.closing.wait(pause):
                self.wfile.write(bytes(size))

    def reply(self, status, body, cut=None):
        self.send_response(status)
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
