"""Jobs, as Windows calls a set of processes that live and end together: whatever a process in a job starts is in it, too."""

import ctypes
from ctypes import wintypes

CREATE_SUSPENDED = 0x4
_KILL_ON_CLOSE = 0x2000
_EXTENDED_LIMITS = 9


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", wintypes.DWORD),
        ("least_memory", ctypes.c_size_t),
        ("most_memory", ctypes.c_size_t),
        ("processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
    )


class _Limits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("counters", ctypes.c_uint64 * 6),
        ("memory", ctypes.c_size_t * 4),
    )


def _kernel():
    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.CreateJobObjectW.restype = wintypes.HANDLE
    kernel.CreateJobObjectW.argtypes = (ctypes.c_void_p, wintypes.LPCWSTR)
    kernel.SetInformationJobObject.argtypes = (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD)
    kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    kernel.GetCurrentProcess.restype = wintypes.HANDLE
    return kernel


class Job:
    """Its processes end with `end`, or when this process ends, however that happens: the system closes its handles."""

    def __init__(self):
        self.kernel = _kernel()
        self.handle = self.kernel.CreateJobObjectW(None, None)
        limits = _Limits()
        limits.basic.flags = _KILL_ON_CLOSE
        size = ctypes.sizeof(limits)
        if not self.handle or not self.kernel.SetInformationJobObject(
            self.handle, _EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            raise OSError(ctypes.get_last_error(), "no job for a process")

    def add(self, process_handle):
        if not self.kernel.AssignProcessToJobObject(self.handle, process_handle):
            raise OSError(ctypes.get_last_error(), "a process cannot be put into a job")

    def add_this_process(self):
        self.add(self.kernel.GetCurrentProcess())

    def end(self):
        self.kernel.TerminateJobObject(self.handle, 1)
        self.kernel.CloseHandle(self.handle)


def resume(process_handle):
    """Lets a process run that was created suspended."""
    native = ctypes.WinDLL("ntdll")
    native.NtResumeProcess.argtypes = (wintypes.HANDLE,)
    native.NtResumeProcess(process_handle)
