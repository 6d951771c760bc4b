"""`quetzal play`: games and analysis in the browser, or a game on the terminal."""

import os
import signal
import sys
import threading

from command.arguments import add_eval_file, add_syzygy_path, add_threads, positive
from eval import load_evaluation

EPILOG = "Games are kept in the user's data directory, so that a game goes on where it was left."


def add_arguments(parser):
    parser.epilog = EPILOG
    parser.add_argument("--no-browser", action="store_true", help="only print the page's address")
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="where the page is served (default: 8060 if it is free)"
    )
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="serve other machines, too: 0.0.0.0; whoever knows the page's address can play (default: this machine only)",
    )
    parser.add_argument("--terminal", action="store_true", help="a text board and typed moves instead of a page")
    parser.add_argument(
        "--level", type=positive, metavar="ELO", help="on the terminal: 800 to 3000 (default: full strength)"
    )
    parser.add_argument("--black", action="store_true", help="on the terminal: play Black")
    parser.add_argument("--data", metavar="DIR", help="where games are kept (default: the user's data directory)")
    add_threads(parser, "search threads", default=1)
    parser.add_argument(
        "--hash", type=positive, default=64, metavar="MB", help="size of the transposition table (default: 64)"
    )
    add_syzygy_path(parser)
    add_eval_file(parser)


def run(options):
    if options.eval_file is not None:
        load_evaluation(options.eval_file)  # an error in it ends the command before anything is served
    if options.terminal:
        from command.play_terminal import play

        return play(open_session(options), options)
    return serve(options)


def open_session(options):
    from play.session import Session
    from play.storage import Store

    given = (("SyzygyPath", options.syzygy_path), ("EvalFile", options.eval_file))
    settings = {"Threads": str(options.threads), "Hash": str(options.hash)}
    store = Store(options.data)
    store.lock()
    return Session(store, settings | {name: value for name, value in given if value is not None})


def serve(options):
    """Serves the page until Ctrl-C."""
    from play.pages import PlayServer
    from uci_engine.protocol import on_signals

    done = threading.Event()
    # Before there are other threads, which would get signals that this one does not want.
    on_signals(dict.fromkeys((signal.SIGINT, signal.SIGTERM), done.set))
    session = open_session(options)
    try:
        page = PlayServer(session, options.port, options.host, options.syzygy_path or "")
    except OSError as error:
        session.close()
        raise ValueError(f"the page cannot be served on {options.host}:{options.port}: {error}") from None
    page.start()
    print(f"Quetzal plays at {page.address}", flush=True)
    for address in page.server.addresses[1:]:
        print(f"and for other devices at {address}", flush=True)
    print("Ctrl-C ends it; the game is kept.", flush=True)
    if not options.no_browser:
        open_browser(page.address)
    while not done.wait(0.5):  # on Windows an endless wait would not hear Ctrl-C
        pass
    page.close()
    return 0


def open_browser(address):
    """Where there is a desktop: browsers for a terminal would take it from us."""
    import webbrowser

    has_desktop = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_desktop:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
