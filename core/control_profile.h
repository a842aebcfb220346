/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The directory profile of a tracker in sysfs.
 */
#ifndef _LT_CORE_CONTROL_PROFILE_H
#define _LT_CORE_CONTROL_PROFILE_H

struct attribute_group;

extern const struct attribute_group lt_profile_group;

#endif /* _LT_CORE_CONTROL_PROFILE_H */
