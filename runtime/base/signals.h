/* The signals that end a process, held back from the calling thread, and for good from the threads
 * that it makes meanwhile: they are for the program's own threads to take. */
#ifndef SYI_BASE_SIGNALS_H
#define SYI_BASE_SIGNALS_H

#include <pthread.h>
#include <signal.h>

static inline void syi_signals_hold(sigset_t *before)
{
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGHUP);
    sigaddset(&ending, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &ending, before);
}

static inline void syi_signals_release(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* pthread_create for the library's own threads. */
static inline int syi_thread_create(pthread_t *thread, void *(*entry)(void *), void *argument)
{
    sigset_t before;
    int code;
    syi_signals_hold(&before);
    code = pthread_create(thread, NULL, entry, argument);
    syi_signals_release(&before);
    return code;
}

#endif
