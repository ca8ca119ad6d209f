"""Runs hostile designs in a sandbox, with what they attack beside it: a process, sockets, a secret.

``python sandbox_runner.py FOLDER ARGUMENT...`` runs ``memtile ARGUMENT...`` in
``FOLDER/project`` and ends as it does.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    folder, arguments = Path(sys.argv[1]).resolve(), sys.argv[2:]
    project, outside = folder / "project", folder / "outside"
    os.environ |= {"HOME": str(folder / "home"), "API_TOKEN": "hunter2", "MEMTILE_PASSWORD": "hunter2"}
    victim = subprocess.Popen(
        [sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"], stdout=-1
    )
    assert victim.stdout is not None
    victim.stdout.readline()
    port, path = 1, str(outside / "socket")
    with suppress(OSError):  # in a sandbox of its own there are none
        network, local = (
            socket.create_server(("127.0.0.1", 0)),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
        )
        local.bind(path)
        port = network.getsockname()[1]
    import memtile

    cache, package = os.environ["MEMTILE_CACHE"], str(Path(memtile.__file__).parent)
    place = {"outside": str(outside), "victim": victim.pid, "socket": path, "port": port, "cache": cache}
    (project / "place.json").write_text(json.dumps(place | {"package": package}))
    try:
        done = subprocess.run([sys.executable, "-m", "memtile", *arguments], cwd=project, check=False)
        assert victim.poll() is None, "the victim has ended"
    finally:
        victim.kill()
        victim.wait()
    sys.exit(done.returncode)


main()
