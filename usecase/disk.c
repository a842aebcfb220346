// SPDX-License-Identifier: GPL-2.0-only
/*
 * Disks by number or name.
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/namei.h>
#include <linux/string.h>

#include "usecase/disk.h"
#include "wrapper/lookup_bdev.h"

#define SYSFS_LEN	64

static int parse_number(char *text, dev_t *dev)
{
	char *minor_text = text, *major_text = strsep(&minor_text, ":");
	unsigned int major, minor;

	/* Each number might end in a newline of its own. */
	if (!minor_text || strchr(major_text, '\n') ||
	    kstrtouint(major_text, 10, &major) ||
	    kstrtouint(minor_text, 10, &minor))
		return -EINVAL;
	if (!major || major > MAJOR(~0U) || minor > MINORMASK)
		return -EINVAL;
	*dev = MKDEV(major, minor);
	return 0;
}

/* A path as it is, all else below /dev. */
static int parse_name(const char *text, dev_t *dev)
{
	char path[LT_DISK_TEXT_LEN + sizeof("/dev/")];

	snprintf(path, sizeof(path), "%s%s", *text == '/' ? "" : "/dev/", text);
	return lt_lookup_bdev(path, dev) ? -EINVAL : 0;
}

/* Does sysfs have @file for the device? Its name, too, unless @name is NULL. */
static bool in_sysfs(dev_t dev, const char *file, char *name)
{
	char text[SYSFS_LEN];
	struct path path;

	snprintf(text, sizeof(text), "/sys/dev/block/%u:%u%s", MAJOR(dev),
		 MINOR(dev), file);
	if (kern_path(text, LOOKUP_FOLLOW, &path))
		return false;
	if (name)
		snprintf(name, LT_DISK_NAME_LEN, "%pd", path.dentry);
	path_put(&path);
	return true;
}

/**
 * lt_disk_find() - look a disk or partition up
 * @text: MAJOR:MINOR, or a name below /dev, or the path of a device node; with
 *	space around it; empty is none
 * @disk: result
 *
 * A number need not be that of a device that is there.
 *
 * Context: Task; may sleep.
 * Return: 0; -EINVAL if it is none of these.
 */
int lt_disk_find(const char *text, struct lt_disk *disk)
{
	char copy[LT_DISK_TEXT_LEN], *trimmed;

	memset(disk, 0, sizeof(*disk));
	if (strscpy(copy, text, sizeof(copy)) < 0)
		return -EINVAL;
	trimmed = strim(copy);
	if (!*trimmed)
		return 0;
	if (parse_number(trimmed, &disk->dev)) {
		/* strsep() has cut it. */
		strscpy(copy, text, sizeof(copy));
		trimmed = strim(copy);
		if (parse_name(trimmed, &disk->dev))
			return -EINVAL;
	}
	if (!in_sysfs(disk->dev, "", disk->name))
		return 0;
	disk->is_part = in_sysfs(disk->dev, "/partition", NULL);
	return 0;
}
EXPORT_SYMBOL_GPL(lt_disk_find);

/**
 * lt_disk_is_path_of() - is a hidden disk a path of this one?
 * @name: of the disk, such as nvme0n1
 * @path: of the hidden disk, such as nvme0c1n1
 *
 * Context: Any.
 * Return: true if the names differ in the number of the controller only.
 */
bool lt_disk_is_path_of(const char *name, const char *path)
{
	if (strncmp(name, "nvme", 4))
		return false;
	for (; *name && *name == *path; name++)
		path++;
	/* The first that differs is the letter of the controller. */
	if (*name != 'n' || *path != 'c')
		return false;
	do {
		path++;
	} while (isdigit(*path));
	return !strcmp(name, path);
}
EXPORT_SYMBOL_GPL(lt_disk_is_path_of);
