/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workqueue whose work runs on any CPU. From 6.17 on it has another name.
 */
#ifndef _LT_WRAPPER_WORKQUEUE_H
#define _LT_WRAPPER_WORKQUEUE_H

#include <linux/version.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define lt_unbound_wq	system_dfl_wq
#else
#define lt_unbound_wq	system_unbound_wq
#endif

#endif /* _LT_WRAPPER_WORKQUEUE_H */
