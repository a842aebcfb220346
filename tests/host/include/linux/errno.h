/* SPDX-License-Identifier: GPL-2.0-only */
/* The C library's errno.h comes here, too. */
#include <asm/errno.h>
