/* Reads of a mapped file that may fail.
 *
 * A file can be cut short, or its disk can fail, while it is mapped. Touching a page that is not there any more is then
 * an error of the processor, not of a call, and ends the process. Here it only ends the work that was guarded. A jump
 * out of the handler is sound because the work takes no locks, owns no memory and calls nothing that would.
 */
#ifndef QUETZAL_GUARD_H
#define QUETZAL_GUARD_H

#include <stdint.h>

typedef int (*qz_work)(const void *subject, uint64_t number);

#if defined(_WIN32)

/* Windows refuses to shorten a mapped file; a failing disk or share is an exception. */
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#  include <windows.h>
static void qz_prepare_guard(void) {}
static int qz_guarded(qz_work work, const void *subject, uint64_t number, int otherwise)
{
#  if defined(_MSC_VER)
    __try {
        return work(subject, number);
    } __except (GetExceptionCode() == EXCEPTION_IN_PAGE_ERROR ? EXCEPTION_EXECUTE_HANDLER : EXCEPTION_CONTINUE_SEARCH) {
        return otherwise;
    }
#  else
    (void)otherwise;
    return work(subject, number);
#  endif
}

#elif defined(__EMSCRIPTEN__)

/* A browser has neither signals nor files that others could cut: what is mapped lies in its own memory. */
static void qz_prepare_guard(void) {}
static int qz_guarded(qz_work work, const void *subject, uint64_t number, int otherwise)
{
    (void)otherwise;
    return work(subject, number);
}

#else

#  include <setjmp.h>
#  include <signal.h>
#  include <stddef.h>

static __thread sigjmp_buf *volatile qz_way_out; /* of the work that this thread is doing, if it is guarded */
static struct sigaction qz_other_action;         /* what was there before, for everybody else's errors */
static volatile sig_atomic_t qz_is_fatal;

static void qz_on_bus_error(int number, siginfo_t *info, void *context)
{
    sigjmp_buf *way_out = qz_way_out;
    (void)info;
    (void)context;
    if (way_out != NULL) {
        qz_way_out = NULL;
        siglongjmp(*way_out, 1);
    }
    /* Not ours: whoever was there before may say something; the second time it is the end. */
    if (qz_is_fatal)
        signal(number, SIG_DFL);
    else
        sigaction(number, &qz_other_action, NULL);
    qz_is_fatal = 1;
    raise(number);
}

/* To be called before a file is used that was mapped: others may have taken the signal for themselves meanwhile. */
static void qz_prepare_guard(void)
{
    struct sigaction action;
    sigaction(SIGBUS, NULL, &action);
    if ((action.sa_flags & SA_SIGINFO) && action.sa_sigaction == qz_on_bus_error)
        return;
    qz_other_action = action;
    action.sa_sigaction = qz_on_bus_error;
    /* The handler is left by a jump, which does not unblock the signal; and it runs where Python's handlers run. */
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static int qz_guarded(qz_work work, const void *subject, uint64_t number, int otherwise)
{
    sigjmp_buf way_out;
    int value;
    if (sigsetjmp(way_out, 0))
        return otherwise;
    qz_way_out = &way_out;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    value = work(subject, number);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    qz_way_out = NULL;
    return value;
}

#endif
#endif
