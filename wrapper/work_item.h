/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracepoints of work items, and the type in which workqueue_queue_work has the CPU: it was
 * unsigned in 5.10.
 */
#ifndef _LT_WRAPPER_WORK_ITEM_H
#define _LT_WRAPPER_WORK_ITEM_H

#include <linux/workqueue.h>
#include <trace/events/workqueue.h>

#include "wrapper/tracepoint.h"

typedef void lt_queue_work_t(void *data, int cpu, struct pool_workqueue *pwq,
			     struct work_struct *work);
#define lt_work_cpu_is_signed						\
	__builtin_types_compatible_p(					\
		typeof(check_trace_callback_type_workqueue_queue_work),	\
		void(lt_queue_work_t *))
typedef typeof(__builtin_choose_expr(lt_work_cpu_is_signed, 0, 0U)) lt_work_cpu_t;

#endif /* _LT_WRAPPER_WORK_ITEM_H */
