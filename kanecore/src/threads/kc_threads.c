/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_threads.c: a list of jobs under one lock, and the threads that search it.  Parts are counted without the
 * lock.
 */
#define _POSIX_C_SOURCE 200112L
#include "kc_threads.h"
#include <stddef.h>

enum {
    LOOKS = 200,     /* for a job, or for the end of one, before a thread sleeps */
    PAUSES = 16,     /* between two of them: about a microsecond in all */
    STACK = 1 << 24, /* bytes of a stack, committed on use; other systems' defaults are small */
    WAIT = 50        /* milliseconds */
};

#if defined(_WIN32)
#include <windows.h>

static SRWLOCK lock = SRWLOCK_INIT;
static CONDITION_VARIABLE offered = CONDITION_VARIABLE_INIT, left = CONDITION_VARIABLE_INIT;

static void enter(void)
{
    AcquireSRWLockExclusive(&lock);
}
static void leave(void)
{
    ReleaseSRWLockExclusive(&lock);
}
static void yield(void)
{
    SwitchToThread();
}
static void sleep_until_offered(void)
{
    SleepConditionVariableSRW(&offered, &lock, INFINITE, 0);
}
static void sleep_until_left(void)
{
    SleepConditionVariableSRW(&left, &lock, WAIT, 0);
}
static void wake_one(void)
{
    WakeConditionVariable(&offered);
}
static void wake_waiting(void)
{
    WakeAllConditionVariable(&left);
}

static void look_for_jobs(void);

static DWORD WINAPI begin(void *unused)
{
    (void)unused;
    look_for_jobs();
    return 0;
}

static int start_thread(void)
{
    HANDLE thread = CreateThread(NULL, STACK, begin, NULL, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (!thread)
        return 0;
    CloseHandle(thread);
    return 1;
}

#else
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t offered = PTHREAD_COND_INITIALIZER, left = PTHREAD_COND_INITIALIZER;

static void enter(void)
{
    pthread_mutex_lock(&lock);
}
static void leave(void)
{
    pthread_mutex_unlock(&lock);
}
static void yield(void)
{
    sched_yield();
}
static void sleep_until_offered(void)
{
    pthread_cond_wait(&offered, &lock);
}
static void wake_one(void)
{
    pthread_cond_signal(&offered);
}
static void wake_waiting(void)
{
    pthread_cond_broadcast(&left);
}

static void sleep_until_left(void)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += WAIT * 1000000L;
    end.tv_sec += end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    pthread_cond_timedwait(&left, &lock, &end);
}

static void look_for_jobs(void);

static void *begin(void *unused)
{
    (void)unused;
    look_for_jobs();
    return NULL;
}

/* Signals go to the threads of the program, which wait for them. */
static int start_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed;
    if (pthread_attr_init(&attributes))
        return 0;
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread, &attributes, begin, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}
#endif

static kc_job *jobs;              /* that are offered */
static unsigned n_offers;         /* so far: atomic, since it is looked at without the lock */
static int n_threads, n_sleeping; /* started; waiting for an offer */
static int n_looking;             /* for one, before they sleep */

static void pause_a_little(void)
{
    int i;
    for (i = 0; i < PAUSES; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    yield(); /* the core, if there is more to do than cores */
}

static void take_parts(kc_job *job, int thread)
{
    int part;
    while ((part = __atomic_fetch_add(&job->n_begun, 1, __ATOMIC_RELAXED)) < job->n_parts)
        job->run(job->work, thread, part);
}

static kc_job *job_with_room(void)
{
    kc_job *job = jobs;
    while (job &&
           (job->n_joined == job->n_most || __atomic_load_n(&job->n_begun, __ATOMIC_RELAXED) >= job->n_parts))
        job = job->next;
    return job;
}

/* The loop of each thread, without end. */
static void look_for_jobs(void)
{
    enter();
    for (;;) {
        const unsigned seen = n_offers;
        kc_job *job = job_with_room();
        int look = 0;
        if (job) {
            const int thread = ++job->n_joined;
            __atomic_fetch_add(&job->n_inside, 1, __ATOMIC_RELAXED);
            leave();
            take_parts(job, thread);
            enter();
            if (__atomic_sub_fetch(&job->n_inside, 1, __ATOMIC_RELEASE) == 0)
                wake_waiting(); /* the job may no longer exist */
            continue;
        }
        n_looking++;
        leave();
        while (look++ < LOOKS && __atomic_load_n(&n_offers, __ATOMIC_RELAXED) == seen)
            pause_a_little();
        enter();
        n_looking--;
        n_sleeping++;
        while (n_offers == seen)
            sleep_until_offered();
        n_sleeping--;
    }
}

/* Number of threads for which the jobs have room. */
static int places(void)
{
    const kc_job *job = jobs;
    int n = 0;
    for (; job; job = job->next)
        n += job->n_most - job->n_joined;
    return n;
}

void kc_offer(kc_job *job, int n)
{
    int i, n_wanted;
    job->n_begun = job->n_joined = job->n_inside = 0;
    job->n_most = n;
    enter();
    while (n_threads < n && start_thread())
        n_threads++;
    job->next = jobs;
    jobs = job;
    __atomic_fetch_add(&n_offers, 1, __ATOMIC_RELAXED);
    n_wanted = places() - n_looking;
    for (i = 0; i < n_wanted && i < n_sleeping; i++)
        wake_one();
    leave();
}

void kc_take_parts(kc_job *job)
{
    take_parts(job, 0);
}

int kc_ended(kc_job *job)
{
    kc_job **at = &jobs;
    int look = 0, ended;
    enter();
    while (*at && *at != job)
        at = &(*at)->next;
    if (*at)
        *at = job->next;
    leave();
    while (__atomic_load_n(&job->n_inside, __ATOMIC_ACQUIRE) && look++ < LOOKS)
        pause_a_little();
    enter();
    if (__atomic_load_n(&job->n_inside, __ATOMIC_ACQUIRE))
        sleep_until_left();
    ended = __atomic_load_n(&job->n_inside, __ATOMIC_ACQUIRE) == 0;
    leave();
    return ended;
}

void kc_forget_threads(void)
{
#if !defined(_WIN32)
    const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
    const pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
    lock = unlocked;
    offered = left = nobody;
#endif
    jobs = NULL;
    n_threads = n_sleeping = n_looking = 0;
}
