/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Disks by number or name.
 */
#ifndef _LT_USECASE_DISK_H
#define _LT_USECASE_DISK_H

#include <linux/types.h>

/* DISK_NAME_LEN, also where there is no block layer. */
#define LT_DISK_NAME_LEN	32
/* Longest text for a disk, with its 0. */
#define LT_DISK_TEXT_LEN	128

/**
 * struct lt_disk - a disk or partition, as it was when it was looked up
 * @dev: its number; 0 if there is none
 * @name: its name in /sys/block; empty if the kernel does not know it
 * @is_part: it is a partition
 */
struct lt_disk {
	dev_t dev;
	char name[LT_DISK_NAME_LEN];
	bool is_part;
};

int lt_disk_find(const char *text, struct lt_disk *disk);
bool lt_disk_is_path_of(const char *name, const char *path);

#endif /* _LT_USECASE_DISK_H */
