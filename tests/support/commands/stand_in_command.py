"""``python -I -S stand_in_command.py SOCKET ARGUMENT...`` does what ``python ARGUMENT...`` does, by ``warm``.

It hands its streams, folder and variables to the warm process, passes signals on to the child that
this makes, and ends as it does. Where the child could differ from Python itself, it starts Python itself.
"""

import marshal
import os
import signal
import socket
import sys

PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
LOOKED_AT = ("MEMTILE_", "PYTHON", "NUMBA_", "LC_", "LANG", "OPENBLAS_", "OMP_", "MALLOC_")
"""Variables that are looked at once, when Python or a module starts."""
LATER = ("MEMTILE_TIMING",)
"""Those among them that are looked at when an array is made."""


def once_seen(variables: dict[str, str]) -> dict[str, str]:
    """Those of the variables that a warm process has seen already."""
    looked_at = {name: value for name, value in variables.items() if value and name.startswith(LOOKED_AT)}
    return {name: value for name, value in looked_at.items() if name not in LATER}


def main() -> None:
    """Ask for a child, or become Python."""
    place, *arguments = sys.argv[1:]
    own = [sys.executable, *(["-m"] if arguments[:1] == ["memtile"] else []), *arguments]
    if None in (sys.stdin, sys.stdout, sys.stderr):  # closed: the number is the next file's
        os.execv(sys.executable, own)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(place)
        for number in PASSED:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda got, _: link.send(bytes([got])))
        ignored = [int(each) for each in PASSED if signal.getsignal(each) is signal.SIG_IGN]
        asked = marshal.dumps((arguments, os.getcwd(), dict(os.environ), ignored))
        socket.send_fds(link, [len(asked).to_bytes(4, "little")], [0, 1, 2])
        link.sendall(asked)
        answer = link.recv(4)
    except OSError:
        answer = b""
    if len(answer) < 4:
        os.execv(sys.executable, own)
    code = int.from_bytes(answer, "little", signed=True)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
