/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Binary files in sysfs.
 *
 * "sysfs: constify bin_attribute argument of bin_attribute::read/write()" and "sysfs:
 * constify attribute_group::bin_attrs", behind 6.12, made the attribute const for the
 * function that reads it, and in the list of a group. Which of both a kernel has, the
 * type of the member tells.
 */
#ifndef _LT_WRAPPER_SYSFS_H
#define _LT_WRAPPER_SYSFS_H

#include <linux/sysfs.h>

struct file;

typedef ssize_t (*lt_bin_read_const)(struct file *file, struct kobject *kobj,
				     const struct bin_attribute *attr,
				     char *buf, loff_t off, size_t count);

/**
 * LT_BIN_FILE() - define a file that is read with a function, as bin_attr_@_name
 * @_name: of the file
 * @_mode: its permissions
 * @_read: (kobj, buf, off, count), returns how much it has read
 * @_size: of the file, bytes
 */
#define LT_BIN_FILE(_name, _mode, _read, _size)				\
static ssize_t __maybe_unused						\
_name##_read(struct file *file, struct kobject *kobj,			\
	     struct bin_attribute *attr, char *buf, loff_t off, size_t count) \
{									\
	return _read(kobj, buf, off, count);				\
}									\
static ssize_t __maybe_unused						\
_name##_read_const(struct file *file, struct kobject *kobj,		\
		   const struct bin_attribute *attr, char *buf,		\
		   loff_t off, size_t count)				\
{									\
	return _read(kobj, buf, off, count);				\
}									\
static struct bin_attribute bin_attr_##_name = {			\
	.attr = { .name = #_name, .mode = _mode },			\
	.size = _size,							\
	.read = __builtin_choose_expr(					\
		__same_type(((struct bin_attribute *)NULL)->read,	\
			    lt_bin_read_const),				\
		_name##_read_const, _name##_read),			\
}

/* For attribute_group.bin_attrs: an array of pointers that ends with NULL. */
#define lt_bin_files(_array)	((void *)(_array))

#endif /* _LT_WRAPPER_SYSFS_H */
