/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's headers come here, too. */
#include_next <linux/types.h>
#ifndef LT_HOST_TYPES_H
#define LT_HOST_TYPES_H
#include "lt_host.h"
#endif
