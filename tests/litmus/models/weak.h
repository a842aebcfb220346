/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Weak memory for spin, as views. A location keeps all values it ever had. Each
 * process knows for each location the oldest of them that it may still read; it
 * reads that one or any newer one, and then nothing older. What moves this view
 * on is only what orders in the kernel's model: an acquire (or an address
 * dependency) takes over what the release knew that it reads from, full barriers
 * take over from each other, a grace period from the readers that it waits for
 * and to those that begin behind it. So a store is late, or a load early, for as
 * long as no barrier forbids it. What a view can't say, a load or store that
 * moves behind a later one to another location, the models do by hand.
 *
 * LOCS locations, PROCS processes, HIST values of a location at most.
 */

#define AT(l, t)	((l) * HIST + (t))
#define VIEW(p, l)	view[(p) * LOCS + (l)]
#define MSG(l, t, k)	msg[AT(l, t) * LOCS + (k)]

byte val[LOCS * HIST];
byte last[LOCS];		/* index of the newest value */
byte view[PROCS * LOCS];	/* of a process: index that it may read */
byte msg[LOCS * HIST * LOCS];	/* what comes with a value */
byte fenced[LOCS];		/* known at the last full barrier */
byte gp[LOCS];			/* known at the begin of the last grace period */
byte at_end[PROCS * LOCS];	/* known at the end of the last section */
bool in_section[PROCS];
hidden byte wi, wt;

#define UP(to, from)	to = ((from) > (to) -> (from) : (to))

inline join_msg(p, l)
{
	for (wi : 0 .. LOCS - 1) {
		UP(VIEW(p, wi), MSG(l, VIEW(p, l), wi));
	}
	wi = 0
}

inline sync_full(p)
{
	for (wi : 0 .. LOCS - 1) {
		UP(VIEW(p, wi), fenced[wi]);
		fenced[wi] = VIEW(p, wi);
	}
	wi = 0
}

/* With what p knows, or, if not a release, with the value alone. */
inline append(p, l, v, is_release)
{
	last[l]++;
	assert(last[l] < HIST);
	val[AT(l, last[l])] = v;
	VIEW(p, l) = last[l];
	for (wi : 0 .. LOCS - 1) {
		MSG(l, last[l], wi) = ((is_release) -> VIEW(p, wi) : 0);
	}
	wi = 0
}

inline any_value(p, l, out)
{
	wt = VIEW(p, l);
	do
	:: wt < last[l] -> wt++
	:: break
	od;
	VIEW(p, l) = wt;
	out = val[AT(l, wt)];
	wt = 0
}

/* READ_ONCE(), smp_load_acquire() or rcu_dereference(), WRITE_ONCE(), ... */
inline load(p, l, out)		{ atomic { any_value(p, l, out) } }
inline load_acquire(p, l, out)	{ atomic { any_value(p, l, out); join_msg(p, l) } }
inline store(p, l, v)		{ atomic { append(p, l, v, false) } }
inline store_release(p, l, v)	{ atomic { append(p, l, v, true) } }
inline mb(p)			{ atomic { sync_full(p) } }

/* An atomic operation acts on the newest value. A failed one orders nothing. */
inline cmpxchg(p, l, old, new, ok)
{
	atomic {
		VIEW(p, l) = last[l];
		ok = (val[AT(l, last[l])] == (old));
		if
		:: ok ->
			join_msg(p, l);
			sync_full(p);
			append(p, l, new, true);
			sync_full(p)
		:: else
		fi
	}
}

inline xchg(p, l, new, out)
{
	atomic {
		VIEW(p, l) = last[l];
		out = val[AT(l, last[l])];
		join_msg(p, l);
		sync_full(p);
		append(p, l, new, true);
		sync_full(p)
	}
}

inline cmpxchg_relaxed(p, l, old, new, ok)
{
	atomic {
		VIEW(p, l) = last[l];
		ok = (val[AT(l, last[l])] == (old));
		if
		:: ok -> append(p, l, new, false)
		:: else
		fi
	}
}

/* Two steps, where the kernel's is one. */
inline cmpxchg_torn(p, l, old, new, ok)
{
	atomic {
		VIEW(p, l) = last[l];
		ok = (val[AT(l, last[l])] == (old))
	}
	if
	:: ok -> store_release(p, l, new)
	:: else
	fi
}

inline rcu_read_lock(p)
{
	atomic {
		in_section[p] = true;
		for (wi : 0 .. LOCS - 1) {
			UP(VIEW(p, wi), gp[wi]);
		}
		wi = 0
	}
}

inline rcu_read_unlock(p)
{
	atomic {
		in_section[p] = false;
		for (wi : 0 .. LOCS - 1) {
			at_end[(p) * LOCS + wi] = VIEW(p, wi);
		}
		wi = 0
	}
}

/* Each section that began before was seen to end; i is a variable of p's. */
inline synchronize_rcu(p, i)
{
	atomic {
		sync_full(p);
		for (wi : 0 .. LOCS - 1) {
			UP(gp[wi], VIEW(p, wi));
		}
		wi = 0
	}
	for (i : 0 .. PROCS - 1) {
		atomic {
			!in_section[i];
			for (wi : 0 .. LOCS - 1) {
				UP(VIEW(p, wi), at_end[i * LOCS + wi]);
			}
			wi = 0
		}
	}
	i = 0;
	mb(p)
}

#ifndef BROKEN
#define BROKEN 0
#endif
