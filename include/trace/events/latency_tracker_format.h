/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all events of group latency_tracker have in common.
 *
 * The fields of an event are listed once, for ftrace and perf and for records here, and
 * for LTTng in lttng/, as a macro that is given another one, which makes of each field
 * what it needs:
 *
 *	F(INT, type, name, value)		a number
 *	F(ENUM, type, name, values, value)	a number with names, of LT_VALUES_@values
 *	F(ADDR, name, value)			an address
 *	F(TEXT, name, len, from)		@len bytes, with a 0 in them
 *	F(STACK, name, stack)			a struct lt_stack, by address
 *
 * The values see the arguments of the tracepoint, which are listed once, too, in
 * LT_PROTO_@event and LT_ARGS_@event.
 */
#ifndef _LT_TRACE_FORMAT_H
#define _LT_TRACE_FORMAT_H

#include <linux/sched.h>
#include <linux/trace_seq.h>

#include "usecase/stack.h"
#include "latency_tracker.h"

/* For TP_STRUCT__entry(). */
#define LT_ENTRY(kind, ...)	LT_ENTRY_##kind(__VA_ARGS__)
#define LT_ENTRY_INT(type, name, value)			__field(type, name)
#define LT_ENTRY_ENUM(type, name, values, value)	__field(type, name)
#define LT_ENTRY_ADDR(name, value)		__field(const void *, name)
#define LT_ENTRY_TEXT(name, len, from)		__array(char, name, len)
#define LT_ENTRY_STACK(name, stack)					\
	__dynamic_array(unsigned long, name, (stack)->nr)

/* For TP_fast_assign(). */
#define LT_ASSIGN(kind, ...)	LT_ASSIGN_##kind(__VA_ARGS__)
#define LT_ASSIGN_INT(type, name, value)		__entry->name = value;
#define LT_ASSIGN_ENUM(type, name, values, value)	__entry->name = value;
#define LT_ASSIGN_ADDR(name, value)		__entry->name = value;
#define LT_ASSIGN_TEXT(name, len, from)		memcpy(__entry->name, from, len);
#define LT_ASSIGN_STACK(name, stack)					\
	lt_stack_copy(__get_dynamic_array(name), stack);

/*
 * For LT_KEEP_EVENT() of usecase/keep.h: the values of a record.
 */
#define LT_KEPT(kind, ...)	LT_KEPT_##kind(__VA_ARGS__)
#define LT_KEPT_INT(type, name, value)			type name;
#define LT_KEPT_ENUM(type, name, values, value)		type name;
#define LT_KEPT_ADDR(name, value)			const void *name;
#define LT_KEPT_TEXT(name, len, from)			char name[len];
#define LT_KEPT_STACK(name, stack)	unsigned long name[LT_STACK_MAX];

/* What they are, for struct latency_tracker_field. */
#define LT_KEPT_AS(_name, _kind, _names) {				\
	.name = #_name, .kind = LATENCY_TRACKER_##_kind, .names = _names, \
	.size = sizeof(kept->_name), .offset = offsetof(typeof(*kept), _name), \
},
#define LT_TELL(kind, ...)	LT_TELL_##kind(__VA_ARGS__)
#define LT_TELL_INT(type, name, value)					\
	LT_KEPT_AS(name, UNSIGNED + is_signed_type(type), NULL)
#define LT_TELL_ENUM(type, name, values, value)				\
	LT_KEPT_AS(name, NAMED, LT_VALUES_##values(LT_TELL_NAME, LT_TELL_NAME))
#define LT_TELL_NAME(number, name)	#number "=" name "\n"
#define LT_TELL_ADDR(name, value)	LT_KEPT_AS(name, ADDRESS, NULL)
#define LT_TELL_TEXT(name, len, from)	LT_KEPT_AS(name, TEXT, NULL)
#define LT_TELL_STACK(name, stack)	LT_KEPT_AS(name, STACK, NULL)

/* Written to it. */
#define LT_STORE(kind, ...)	LT_STORE_##kind(__VA_ARGS__)
#define LT_STORE_INT(type, name, value)			kept->name = value;
#define LT_STORE_ENUM(type, name, values, value)	kept->name = value;
#define LT_STORE_ADDR(name, value)			kept->name = value;
#define LT_STORE_TEXT(name, len, from)		memcpy(kept->name, from, len);
#define LT_STORE_STACK(name, stack)	lt_stack_keep(kept->name, stack);

/*
 * Names of numbers: LT_VALUES_*. Numbers, since user space parses the format, too.
 */
/* enum latency_tracker_flag */
#define LT_VALUES_FLAG(FIRST, NEXT)					\
	FIRST(0, "ended") NEXT(1, "pending") NEXT(2, "collected")

/* Of the kernel's ABI: /proc/softirqs has them in this order; and none. */
#define LT_VALUES_SOFTIRQ(FIRST, NEXT)					\
	FIRST(0, "HI") NEXT(1, "TIMER") NEXT(2, "NET_TX")		\
	NEXT(3, "NET_RX") NEXT(4, "BLOCK") NEXT(5, "IRQ_POLL")		\
	NEXT(6, "TASKLET") NEXT(7, "SCHED") NEXT(8, "HRTIMER")		\
	NEXT(9, "RCU") NEXT(255, "-")

/* For TP_printk(). */
#define LT_SYMBOL(number, name)		{ number, name }
#define LT_NEXT_SYMBOL(number, name)	, { number, name }
#define LT_SHOW(values, field)						\
	__print_symbolic(field, LT_VALUES_##values(LT_SYMBOL, LT_NEXT_SYMBOL))

/*
 * A stack in TP_printk(): LT_STACK_FMT in the format, LT_SHOW_STACK() of the field
 * among the arguments. Both mean one thing where the kernel prints the event, and
 * another in the file "format", which tells trace-cmd and perf how they can: they
 * can't call lt_stack_print(), but know %pS. What differs there is what
 * __entry is: REC in the file, field where the kernel prints.
 */
#define LT_PASTE(a, b)		a##b
#define LT_PASTED(a, b)		LT_PASTE(a, b)
#define LT_STACK_FMT		LT_PASTED(LT_STACK_FMT_, __entry)
#define LT_SHOW_STACK(name)	LT_PASTED(LT_SHOW_STACK_, __entry)(name)

/* An address in TP_printk(), for %pS, that may be 0. */
#define LT_SHOW_ADDR(field)	LT_PASTED(LT_SHOW_ADDR_, __entry)(field)
#define LT_SHOW_ADDR_field(field)	field
#define LT_SHOW_ADDR_REC(field)		field ? field : LT_NO_ADDRESS

#define LT_STACK_FMT_field	"%s"
#define LT_SHOW_STACK_field(name)					\
	lt_stack_print(p, __get_dynamic_array(name),			\
		       __get_dynamic_array_len(name))

/*
 * No address: to perf, 0 may be the begin of some module. In the file "format".
 */
#define LT_NO_ADDRESS		0xffffff

/*
 * A format has a fixed number of arguments: the twelve innermost frames,
 * LT_NO_ADDRESS for what is not there, and dots if there are more. libtraceevent
 * takes an index of a dynamic array as bytes.
 */
#define LT_STACK_FMT_REC						\
	"%pS <- %pS <- %pS <- %pS <- %pS <- %pS <- "			\
	"%pS <- %pS <- %pS <- %pS <- %pS <- %pS%s"
#define LT_FRAME(name, at)						\
	__get_dynamic_array_len(name) > at ?				\
		((u64 *)__get_dynamic_array(name))[at] : LT_NO_ADDRESS
#define LT_SHOW_STACK_REC(name)						\
	LT_FRAME(name, 0), LT_FRAME(name, 8), LT_FRAME(name, 16),	\
	LT_FRAME(name, 24), LT_FRAME(name, 32), LT_FRAME(name, 40),	\
	LT_FRAME(name, 48), LT_FRAME(name, 56), LT_FRAME(name, 64),	\
	LT_FRAME(name, 72), LT_FRAME(name, 80), LT_FRAME(name, 88),	\
	__get_dynamic_array_len(name) > 96 ? " <- ..." : ""

#endif /* _LT_TRACE_FORMAT_H */
