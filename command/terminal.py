"""The UCI dialogue for whoever types it: a greeting, a prompt, a line that can be edited, and answers to misspellings.

GUIs never come here: they talk through pipes, and nothing of this is imported for them. The main thread reads lines,
the session answers in a thread of its own, searches report from theirs, and one more hears Ctrl-C: a signal that comes
just before readline goes to sleep would be noticed only with the next key.
"""

import contextlib
import os
import signal
import threading
import time

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType

from command.board_view import print_board
from uci_engine import __version__
from uci_engine.protocol import QUIT, Session, on_signals
from uci_engine.text import one_line

PROMPT = "quetzal> "
SHORT = 0.2  # seconds that a command may take before the prompt comes back without its answer
MOST_HISTORY = 1000  # lines
SETTING_SECONDS = 0.1  # that readline may need for the terminal's modes
DRAWING_SECONDS = 0.02  # and for the prompt
HANDLER_SECONDS = 0.1  # that Python may need to call a signal's handler
# On Windows Ctrl-C also ends the reading of keys: by its handler's call it looks like the end of the input, and wine
# reports an error instead of calling the handler.
CTRL_C_ENDS_READING = os.name == "nt"

# Other programs' words for what we call by UCI's.
SYNONYMS = {"exit": "quit", "bye": "quit", "q": "quit", "?": "help", "board": "d", "show": "d", "new": "ucinewgame"}


# How lines of the engine look, by their beginning.
STYLES = {"bestmove": "bold green", "info string": "yellow", "info": "dim"}


class Screen:
    """Writes lines above the prompt, from any thread, and puts the prompt back with what was typed so far."""

    log = None  # of the whole dialogue, as on a Writer

    def __init__(self, editor):
        self.console = Console(highlight=False)
        self.editor = editor  # readline, or None
        self.lock = threading.RLock()
        self.is_asking = False

    def __call__(self, line):
        """A line of the engine's, coloured a little by its kind, never broken into several."""
        if self.log is not None:
            self.log("<", line)
        style = next((STYLES[start] for start in STYLES if line.startswith(start)), None)
        self.show(lambda: self.console.print(line, style=style, markup=False, emoji=False, soft_wrap=True))

    def say(self, text):
        """Words to the person, broken where words end."""
        self.show(lambda: self.console.print(text, style="yellow", markup=False, emoji=False))

    def show(self, draw):
        with self.lock:
            if self.is_asking:
                self.console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
            draw()
            if self.is_asking:
                typed = "" if self.editor is None else self.editor.get_line_buffer()
                self.console.file.write(PROMPT + typed)
            self.console.file.flush()

    def ask(self):
        """The next line; EOFError at the end of the input."""
        with self.lock:
            self.is_asking = True
        try:
            return input(PROMPT)
        finally:
            with self.lock:
                self.is_asking = False

    def end_line(self):
        """Whatever stands in the last line, what follows begins a new one."""
        with self.lock:
            self.console.print()
            self.console.file.flush()


class TypedSession(Session):
    """A dialogue with a person, who is told what was not understood."""

    def __init__(self, screen):
        super().__init__(screen)
        self.answered = threading.Event()

    def receive(self, line):
        words = line.split()
        if words and not words[0].startswith("#") and words[0] not in self.COMMANDS:
            self.say(self.not_understood(words[0]))
        else:
            super().receive(line)
        if not self.is_working:
            self.answered.set()

    def go_on(self):
        super().go_on()
        if not self.is_working:
            self.answered.set()

    def say(self, text):
        """Without the words that are meant for a GUI."""
        self.write.say(one_line(text))

    def not_understood(self, word):
        from command.parser import suggestion
        from command.table import COMMANDS

        if word in SYNONYMS:
            return f"'{word}' is called '{SYNONYMS[word]}' here"
        text = f"'{word[:80]}' is not understood"
        if word in {command.name.split()[0] for command in COMMANDS}:
            return f"{text} here, but in a shell: quetzal {word} --help"
        return text + (suggestion(word, self.COMMANDS) or "; 'help' lists the commands")

    def show(self, _rest):
        self.write.show(lambda: print_board(self.engine.board, self.write.console))
        if self.engine.problem is not None:
            self.say(f"The last position was refused: {self.engine.problem}")

    def flip(self, rest):
        super().flip(rest)
        self.show(rest)

    COMMANDS = {**Session.COMMANDS, "d": show, "flip": flip}  # noqa: RUF012


def serve():
    """Talks until `quit`, the end of the input, or Ctrl-C when nothing is searched; returns the exit status."""
    with history() as (editor, save):
        screen = Screen(editor)
        session = TypedSession(screen)
        modes = terminal_modes()
        interrupted = threading.Event()

        def leave(status):
            """At once, from the thread that hears signals: nothing can be said to a thread that waits for keys."""
            with screen.lock:  # from here on the other thread does not begin to ask
                save()
                if screen.is_asking:
                    await_prompt(modes)
                screen.end_line()
                restore_modes(modes)
                os._exit(status)

        def interrupt():
            interrupted.set()
            if session.is_busy and not session.is_working:
                session.deliver("stop")
            else:
                leave(130)

        on_signals({signal.SIGINT: interrupt, signal.SIGTERM: lambda: leave(143)})
        screen.console.print(f"[bold]Quetzal {__version__}[/bold], a UCI chess engine", highlight=False)
        screen.console.print("Type help, or load me into a chess GUI; quit ends. 'quetzal --help' lists my commands.")
        thread = threading.Thread(target=run, args=(session,), name="session", daemon=True)
        thread.start()
        converse(session, screen, interrupt, interrupted)
        session.events.put(QUIT)
        thread.join(1.0)
    return 0


def terminal_modes():
    """How the terminal was set before readline changes it; None where such modes are unknown."""
    try:
        import termios
    except ImportError:
        return None
    return termios.tcgetattr(0)


def await_prompt(modes):
    """readline sets the terminal a moment after it was called, and then draws the prompt; what is restored and written
    before that would not last.
    """
    deadline = time.monotonic() + SETTING_SECONDS
    while modes is not None and terminal_modes() == modes and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(DRAWING_SECONDS)


def restore_modes(modes):
    if modes is not None:
        import termios

        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, modes)


def run(session):
    session.run()
    session.answered.set()


def converse(session, screen, interrupt, interrupted):
    """`interrupted` is set by `interrupt`, which handles Ctrl-C and returns when the dialogue goes on."""
    while not session.is_over:
        try:
            line = screen.ask()
        except EOFError:
            if not was_ctrl_c(interrupted):
                screen.end_line()
                return
        except (OSError, KeyboardInterrupt):
            if not CTRL_C_ENDS_READING:
                raise
            if not was_ctrl_c(interrupted):
                interrupt()
                interrupted.clear()
        else:
            if line.strip():
                tell(session, line)


def was_ctrl_c(interrupted):
    """Has the reading of keys ended because of Ctrl-C? Its handler is called by the thread that asks here."""
    if not CTRL_C_ENDS_READING:
        return False
    time.sleep(HANDLER_SECONDS)
    was_set = interrupted.is_set()
    interrupted.clear()
    return was_set


def tell(session, line):
    """Waits for an answer that comes at once, so that the prompt stands below it. A search answers above the prompt."""
    session.answered.clear()
    session.deliver(line)
    session.answered.wait()
    if session.is_busy:
        session.answered.clear()
        session.answered.wait(SHORT)


@contextlib.contextmanager
def history():
    """Gives readline with the lines of earlier dialogues, and a function that keeps the new ones, which is called in the
    end. None instead of readline where there is none.
    """
    try:
        import readline
    except ImportError:
        yield None, lambda: None
        return
    path = history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(path)
    readline.set_history_length(MOST_HISTORY)
    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    # Python on macOS has libedit under this name, which is told so in its own words.
    is_libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

    def save():
        with contextlib.suppress(OSError):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            readline.write_history_file(path)

    try:
        yield readline, save
    finally:
        save()


def history_file():
    """Where the desktop's rules say: lines that were typed are state."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "quetzal", "history")


def complete(text, number):
    """The number-th command that begins so, for readline."""
    found = [f"{name} " for name in TypedSession.COMMANDS if name.startswith(text)]
    return found[number] if number < len(found) else None
