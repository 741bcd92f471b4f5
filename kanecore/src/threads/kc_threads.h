/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kc_threads.h: threads that share the parts of a job.
 *
 * The threads stay for the next job, since calls follow each other.  Before they sleep they look for a job
 * for about a fifth of a millisecond: a sleeping thread starts 50 microseconds late, a searching one in one
 * or two.
 */
#ifndef KC_THREADS_H
#define KC_THREADS_H

/* Do one part, as one of the threads of a job: number 0 is the one that offers it. */
typedef void kc_part(void *work, int thread, int part);

typedef struct kc_job {
    kc_part *run;
    void *work;
    int n_parts;
    int n_begun;         /* parts that some thread has taken: atomic */
    int n_joined;        /* other threads so far */
    int n_most;          /* other threads at most */
    int n_inside;        /* other threads in the midst of a part: atomic */
    struct kc_job *next; /* that is offered */
} kc_job;

/* Let n other threads join a job with its first three members set.  There may be fewer, if the system has no
 * more. */
void kc_offer(kc_job *job, int n);

/* Take parts until none is left. */
void kc_take_parts(kc_job *job);

/* Withdraw the job, and test whether all other threads have left it, waiting up to a twentieth of a second.
 */
int kc_ended(kc_job *job);

/* For a forked child, in which there are no other threads. */
void kc_forget_threads(void);

#endif
