/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Enqueue and wake-up: what a probe asks for before its kick is done by the
 * worker; the worker does not fall asleep over it.
 * lt_worker_rescan(): full barrier in irq_work_queue() <-> worker(): xchg()
 * lt_worker_kick(): full barrier in wake_up_process()
 *			<-> worker_sleep(): set_current_state()
 *
 * A lost request is a worker that sleeps for good: an invalid end state.
 *
 * twin 1: no barrier between kicked and the look at the task's state
 * twin 2: no barrier between the task's state and the look at kicked
 * twin 3: the wake-up before the flag
 * twin 4: the flag is cleared after the work, not before
 * twin 5: no barrier between the request and the kick
 */
#define PROCS	2
#define LOCS	3
#define HIST	6
#define KICKED	0
#define STATE	1	/* 1: about to sleep */
#define RESCAN	2	/* what is asked for */
#include "weak.inc"

bool done;
bool sleeps, woken;

/* try_to_wake_up(): the look at the state and the wake-up are one, by its lock. */
inline look_and_wake()
{
	atomic {
		load(0, STATE, state);
		if
		:: state -> store(0, STATE, 0); woken = true
		:: else
		fi
	}
}

active proctype probe()
{
	byte state;

#if BROKEN == 5
	/* late: behind the kick */
	store(0, KICKED, 1);
	mb(0);
	look_and_wake();
	store(0, RESCAN, 1)
#else
	store(0, RESCAN, 1);
	mb(0);				/* irq_work_queue() */
#if BROKEN == 3
	mb(0);
	look_and_wake();
	store(0, KICKED, 1)
#else
	store(0, KICKED, 1);
#if BROKEN != 1
	mb(0);				/* wake_up_process() */
#endif
	look_and_wake()
#endif
#endif
}

active proctype worker()
{
	byte kicked, rescan;

	do
	:: done -> break
	:: else ->
#if BROKEN != 4
		xchg(1, KICKED, 0, kicked);
#endif
		load(1, RESCAN, rescan);
		if
		:: rescan -> done = true; break
		:: else
		fi;
#if BROKEN == 4
		xchg(1, KICKED, 0, kicked);
#endif
		store(1, STATE, 1);		/* set_current_state() */
#if BROKEN != 2
		mb(1);
#endif
		load(1, KICKED, kicked);
		if
		:: kicked -> store(1, STATE, 0)
		:: else ->
			atomic { woken; woken = false }	/* schedule() */
		fi
	od
}
