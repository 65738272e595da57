"""A server on this machine that fails in the ways that hosts of large files do."""

import http.server
import re
import threading
import time
from contextlib import contextmanager

CONTENT = bytes(range(256)) * 400  # 102,400 bytes


class Answers(http.server.BaseHTTPRequestHandler):
    """Each path fails in its own way; `server.asked` keeps paths and ranges as they came."""

    def do_GET(self):
        asked = self.headers.get("Range", "")
        self.server.asked.append((self.path, asked))
        times = sum(path == self.path for path, _ in self.server.asked)
        name = self.path.lstrip("/")
        if (code := re.fullmatch(r"(409|404|410|403)", name)) or name == "500":
            self.send_error(int(code[1]) if code else 500)
        elif name == "busy-once" and times == 1:
            self.send_error(503)
        elif name == "redirect":
            self.answer_redirect("/whole")
        elif name == "circle":
            self.answer_redirect("/circle")
        elif name == "elsewhere-by-file":
            self.answer_redirect("file:///etc/hostname")
        elif name == "truncate-once" and times == 1:
            self.send(CONTENT, asked, stop=40_000)
        elif name == "truncate-always":
            self.send(CONTENT, asked, stop=0 if times > 1 else 40_000)
        elif name == "stall-once" and times == 1:
            self.send(CONTENT, asked, stop=30_000, stall=1.0)
        elif name == "corrupt":
            self.send(CONTENT[:-1] + b"!", asked)
        elif name == "longer":
            self.send(CONTENT + b"more", asked)
        elif name == "no-ranges":
            self.send(CONTENT, "")
        elif name == "wrong-range" and asked:
            self.send(CONTENT, "bytes=7-")
        elif name == "empty":
            self.send(b"", "")
        elif name in self.server.files:
            self.send(self.server.files[name], asked)
        elif name.startswith(("whole", "wrong-range")) or times > 1:
            self.send(CONTENT, asked)
        else:
            self.send_error(404)

    def answer_redirect(self, target):
        self.send_response(302)
        self.send_header("Location", target)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def send(self, content, asked, stop=None, stall=0.0):
        begin = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if asked else 0
        if asked and begin >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - begin))
        self.end_headers()
        self.wfile.write(content[begin : None if stop is None else max(begin, stop)])
        self.wfile.flush()
        time.sleep(stall)

    def log_message(self, *arguments):
        pass


@contextmanager
def serving(files=None):
    """Yield a server whose `address` is that of its root; it also serves `files` by name."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked, server.files = [], files or {}
        server.address = f"http://127.0.0.1:{server.server_port}"
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
