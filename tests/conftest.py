"""What has to be true before any test."""

import signal
import threading

# A job that a shell started in the background ignores interrupts, and so would every program that a test starts there.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
