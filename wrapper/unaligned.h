/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * get_unaligned(): 6.12 (5f60d5f6bbc1, "move asm/unaligned.h to
 * linux/unaligned.h").
 */
#ifndef _LT_WRAPPER_UNALIGNED_H
#define _LT_WRAPPER_UNALIGNED_H

#include <linux/version.h>

#ifdef __has_include
#if __has_include(<linux/unaligned.h>)
#define LT_LINUX_UNALIGNED
#endif
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)	/* for sparse */
#define LT_LINUX_UNALIGNED
#endif

#ifdef LT_LINUX_UNALIGNED
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _LT_WRAPPER_UNALIGNED_H */
