// SPDX-License-Identifier: GPL-2.0-only
#include "objs.h"

unsigned long objs_made, objs_freed;

struct obj *obj_new(unsigned long key)
{
	struct obj *o = calloc(1, sizeof(*o));

	BUG_ON(!o);
	o->key = key;
	o->state = OBJ_OWNED;
	__atomic_fetch_add(&objs_made, 1, __ATOMIC_RELAXED);
	return o;
}

void obj_step(struct obj *o, enum obj_state from, enum obj_state to)
{
	/* Relaxed: the test must not order what the table has to order. */
	unsigned int old = __atomic_exchange_n(&o->state, to, __ATOMIC_RELAXED);

	CHECK(old == from, "key %lu: state %x instead of %x on the way to %x",
	      o->key, old, from, to);
}

bool obj_check_seen(const struct obj *o, unsigned long key)
{
	unsigned int state = READ_ONCE(o->state);

	return CHECK(state != OBJ_DEAD, "a freed object was found") &&
	       CHECK(state == OBJ_OWNED || state == OBJ_IN || state == OBJ_OUT,
		     "an object with state %x was found", state) &&
	       CHECK(o->key == key, "key %lu was found for %lu", o->key, key);
}

void obj_free_now(struct obj *o)
{
	memset(o, 0x6b, sizeof(*o));
	o->state = OBJ_DEAD;
	free(o);
	__atomic_fetch_add(&objs_freed, 1, __ATOMIC_RELAXED);
}

void obj_retire(struct obj_bin *bin, struct obj *o)
{
	obj_step(o, OBJ_IN, OBJ_OUT);
	o->next_retired = bin->first;
	bin->first = o;
	bin->nr++;
}

void obj_empty(struct obj_bin *bin)
{
	struct obj *o, *next;

	if (!bin->first)
		return;
	synchronize_rcu();
	for (o = bin->first; o; o = next) {
		next = o->next_retired;
		obj_free_now(o);
	}
	bin->first = NULL;
	bin->nr = 0;
}
