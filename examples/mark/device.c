// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/latency_tracker: each open is a space of marks.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "examples/mark/mark.h"

static umode_t device_mode = 0600;

static int mode_set(const char *val, const struct kernel_param *kp)
{
	u16 mode;

	if (kstrtou16(val, 8, &mode) || mode & ~0666) {
		pr_err("%s: device_mode: an octal number such as 0660, of reading and writing\n",
		       KBUILD_MODNAME);
		return -EINVAL;
	}
	device_mode = mode;
	return 0;
}

static int mode_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%04o\n", device_mode);
}

static const struct kernel_param_ops mode_ops = {
	.set = mode_set,
	.get = mode_get,
};
module_param_cb(device_mode, &mode_ops, NULL, 0444);
MODULE_PARM_DESC(device_mode,
		 "Permissions of " LT_MARK_DEVICE ", octal (default 0600: for root alone)");

static int device_open(struct inode *inode, struct file *file)
{
	struct mark_space *space = mark_space_open();

	if (IS_ERR(space))
		return PTR_ERR(space);
	file->private_data = space;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	mark_space_close(file->private_data);
	return 0;
}

static int map(struct vm_area_struct *vma, void *area, size_t size)
{
	if (vma->vm_end - vma->vm_start > PAGE_ALIGN(size))
		return -EINVAL;
	return remap_vmalloc_range(vma, area, 0);
}

static int device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct mark_space *space = file->private_data;
	u64 at = (u64)vma->vm_pgoff << PAGE_SHIFT, nr;
	struct mark_thread *thread;
	int err = -EINVAL;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* The kernel reads nothing there. */
	if (!at)
		return map(vma, space->head, sizeof(*space->head));
	nr = div64_u64(at, LT_MARK_AREA) - 1;
	if (at & (LT_MARK_AREA - 1))
		return -EINVAL;
	/* What is mapped stays until it is unmapped, whatever becomes of the thread. */
	mutex_lock(&space->lock);
	thread = nr < LT_MARK_THREADS ? space->thread[nr] : NULL;
	if (at == LT_MARK_SLOTS_OFFSET) {
		space->has_slots = true;
		err = map(vma, space->slot, LT_MARK_SLOTS_SIZE);
	} else if (thread) {
		err = map(vma, thread->area, sizeof(*thread->area));
	}
	mutex_unlock(&space->lock);
	return err;
}

static long define(struct mark_space *space, struct lt_mark_define __user *user)
{
	struct lt_mark_define define;
	int mark;

	if (copy_from_user(&define, user, sizeof(define)))
		return -EFAULT;
	if (define.reserved || strnlen(define.name, LT_MARK_NAME) == LT_MARK_NAME ||
	    !latency_tracker_end_name_is_valid(define.name))
		return -EINVAL;
	mark = mark_space_define(space, define.name);
	if (mark < 0)
		return mark;
	return put_user((u32)mark, &user->mark);
}

static long begin_thread(struct mark_space *space, u32 __user *user)
{
	int nr = mark_space_thread(space);

	return nr < 0 ? nr : put_user((u32)nr, user);
}

static long end(struct mark_space *space, const struct lt_mark_end __user *user)
{
	struct mark_thread *thread = mark_space_mine(space);
	struct lt_mark_end end;

	if (copy_from_user(&end, user, sizeof(end)))
		return -EFAULT;
	return thread ? mark_end(space, thread, &end) : -EINVAL;
}

static long shared(struct mark_space *space, const struct lt_mark_between __user *user,
		   int (*tell)(struct mark_space *space, u32 in_space, u64 id))
{
	struct lt_mark_between shared;

	if (copy_from_user(&shared, user, sizeof(shared)))
		return -EFAULT;
	return shared.reserved ? -EINVAL : tell(space, shared.mark, shared.id);
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct mark_space *space = file->private_data;
	void __user *user = (void __user *)arg;
	long ret;

	switch (cmd) {
	case LT_MARK_DEFINE:
		ret = define(space, user);
		break;
	case LT_MARK_THREAD:
		ret = begin_thread(space, user);
		break;
	case LT_MARK_END:
		ret = end(space, user);
		break;
	case LT_MARK_BEGIN_SHARED:
		ret = shared(space, user, mark_shared_begin);
		break;
	case LT_MARK_END_SHARED:
		ret = shared(space, user, mark_shared_end);
		break;
	default:
		return -ENOTTY;
	}
	if (ret == -EINVAL)
		atomic_long_inc(&mark_counts.refused);
	return ret;
}

static const struct file_operations device_fops = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.mmap = device_mmap,
	.unlocked_ioctl = device_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "latency_tracker",
	.fops = &device_fops,
};

/* When all is there that its users need. Task, may sleep. */
int mark_device_register(void)
{
	device.mode = device_mode;
	return misc_register(&device);
}

/* Nobody has it open: that would hold the module. */
void mark_device_deregister(void)
{
	misc_deregister(&device);
}
