// SPDX-License-Identifier: MIT
/*
 * latency_tracker_user.h as a shared library, for languages that call functions of C:
 *
 *	cc -O2 -shared -fPIC -pthread -Wl,-z,nodelete -o liblatency_tracker_user.so \
 *		latency_tracker_user.c
 */
#include "latency_tracker_user.h"

int latency_tracker_define(const char *name)
{
	return lt_mark_define(name);
}

int latency_tracker_on(void)
{
	return lt_mark_on();
}

void latency_tracker_begin(int mark, uint64_t id)
{
	lt_mark_begin(mark, id);
}

void latency_tracker_end(int mark, uint64_t id)
{
	lt_mark_end(mark, id);
}

void latency_tracker_begin_id(int mark, uint64_t id)
{
	lt_mark_begin_id(mark, id);
}

void latency_tracker_end_id(int mark, uint64_t id)
{
	lt_mark_end_id(mark, id);
}

void latency_tracker_begin_shared(int mark, uint64_t id)
{
	lt_mark_begin_shared(mark, id);
}

void latency_tracker_end_shared(int mark, uint64_t id)
{
	lt_mark_end_shared(mark, id);
}
