/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the writable files of the modules take, and how they show it, as Documentation/ABI has it;
 * for feed.c.
 */
#ifndef TESTS_GUEST_FORMATS_H
#define TESTS_GUEST_FORMATS_H

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_MAX	65536
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

typedef unsigned long long u64;

enum form { NUMBER, HEX_TOO, SIGNED, DISK, DEVICE, PROTOCOL, CHOICE, ACTION };

/**
 * struct format - what a file takes
 * @path: how its path ends
 * @form: how it reads a string
 * @min: of numbers
 * @max: of numbers
 * @slow: a new value takes the kernel a while
 * @names: of the numbers, for CHOICE
 * @none: "none" is a value, for CHOICE
 */
struct format {
	const char *path;
	enum form form;
	u64 min, max;
	int slow;
	const char *const *names;
	int none;
};

static const char *const vectors[] = {
	"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET",
	"SCHED", "HRTIMER", "RCU", NULL
};

#define FORMAT(end, how, from, to, ...) \
	{ .path = end, .form = how, .min = from, .max = to, ## __VA_ARGS__ }
#define SLOW .slow = 1

static struct format formats[] = {
	FORMAT("/threshold_ns", HEX_TOO, 0, UINT64_MAX),
	FORMAT("/timeout_ns", HEX_TOO, 0, UINT64_MAX),
	FORMAT("/collect_ns", HEX_TOO, 0, UINT64_MAX),
	FORMAT("/tracking_on", HEX_TOO, 0, 1, SLOW),
	FORMAT("/crossings_interval_ns", HEX_TOO, 1000000, 3600000000000),
	FORMAT("/usec_threshold", NUMBER, 0, UINT64_MAX / 1000),
	FORMAT("/usec_threshold_raise", NUMBER, 0, UINT64_MAX / 1000),
	FORMAT("/usec_timeout", NUMBER, 0, UINT64_MAX / 1000),
	FORMAT("/pid", SIGNED, 0, 4194304, SLOW),
	FORMAT("/tgid", SIGNED, 0, 4194304, SLOW),
	FORMAT("block/parameters/dev", DISK, 0, 0, SLOW),
	FORMAT("network/parameters/dev", DEVICE, 1, INT32_MAX, SLOW),
	FORMAT("/protocol", PROTOCOL, 1, UINT16_MAX, SLOW),
	FORMAT("/irq", CHOICE, 0, INT32_MAX, SLOW, .none = 1),
	FORMAT("/vector", CHOICE, 0, 9, SLOW, .none = 1, .names = vectors),
	FORMAT("/cpu", CHOICE, 0, 0, SLOW),
	FORMAT("/action", ACTION, 0, (1 << 28) - 2),
};

static const struct format *format_of(const char *path)
{
	size_t i, len = strlen(path), end;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		end = strlen(formats[i].path);
		if (len > end && !strcmp(path + len - end, formats[i].path))
			return &formats[i];
	}
	fprintf(stderr, "feed: %s: a file that is new here\n", path);
	exit(1);
}

/* One newline at the end is allowed everywhere. */
static size_t chop(char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		text[--len] = 0;
	return len;
}

/* Nothing but digits, but for a sign in front. */
static int number(const char *text, int base, int minus, u64 *value)
{
	int negative = *text == '-', digit;
	u64 sum = 0;

	if (*text == '+' || (minus && negative))
		text++;
	else
		negative = 0;
	if (!*text)
		return 0;
	for (; *text; text++) {
		digit = isdigit((unsigned char)*text) ? *text - '0' :
			isxdigit((unsigned char)*text) ?
			tolower((unsigned char)*text) - 'a' + 10 : base;
		if (digit >= base ||
		    __builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, digit, &sum))
			return 0;
	}
	*value = sum;
	return !negative || !sum;
}

static int bounded(const struct format *f, const char *text, int base,
		   u64 *value)
{
	return number(text, base, f->form >= SIGNED, value) &&
	       *value >= f->min && *value <= f->max;
}

static int is_space(char c)
{
	return (c >= 9 && c <= 13) || c == 32 || c == (char)160;
}

static int is_word(const char *text, const char *word, char *shown)
{
	if (strcmp(text, word))
		return 0;
	strcpy(shown, word);
	return 1;
}

/* MAJOR:MINOR, or nothing, with space around it. */
static int read_disk(char *text, char *shown)
{
	u64 major, minor;
	char *colon, *end;

	if (strlen(text) > 23)
		return 0;
	while (is_space(*text))
		text++;
	for (end = text + strlen(text); end > text && is_space(end[-1]); end--)
		end[-1] = 0;
	*shown = 0;
	if (!*text)
		return 1;
	colon = strchr(text, ':');
	if (!colon)
		return 0;
	*colon = 0;
	if (!number(text, 10, 0, &major) || !number(colon + 1, 10, 0, &minor) ||
	    !major || major > 4095 || minor > 1048575)
		return 0;
	sprintf(shown, "%llu:%llu", major, minor);
	return 1;
}

static int read_device(const struct format *f, char *text, char *shown)
{
	u64 value;
	char *p;

	if (chop(text) > 15 || !strcmp(text, ".") || !strcmp(text, ".."))
		return 0;
	if (isdigit((unsigned char)*text) || *text == '-') {
		if (!bounded(f, text, 10, &value))
			return 0;
		sprintf(shown, "%llu", value);
		return 1;
	}
	for (p = text; *p; p++)
		if (is_space(*p) || (unsigned char)*p < 32 || *p == 127 ||
		    *p == '/' || *p == ':')
			return 0;
	strcpy(shown, text);
	return 1;
}

static int read_protocol(const struct format *f, char *text, char *shown)
{
	int hex = !strncmp(text, "0x", 2);
	u64 value;

	chop(text);
	if (is_word(text, "", shown))
		return 1;
	if (!strcmp(text, "ip"))
		value = 0x0800;
	else if (!strcmp(text, "ipv6"))
		value = 0x86dd;
	else if (!strcmp(text, "arp"))
		value = 0x0806;
	else if (*text == '-' ||
		 !bounded(f, text + 2 * hex, hex ? 16 : 10, &value) ||
		 (hex && !isxdigit((unsigned char)text[2])))
		return 0;
	sprintf(shown, "0x%04llx", value);
	return 1;
}

static int read_choice(const struct format *f, char *text, char *shown)
{
	u64 value;
	int i;

	chop(text);
	if (is_word(text, "", shown) ||
	    (f->none && is_word(text, "none", shown)))
		return 1;
	for (i = 0; f->names && f->names[i]; i++)
		if (is_word(text, f->names[i], shown))
			return 1;
	if (!bounded(f, text, 10, &value))
		return 0;
	if (f->names)
		strcpy(shown, f->names[value]);
	else
		sprintf(shown, "%llu", value);
	return 1;
}

static int read_action(const struct format *f, char *text, char *shown)
{
	static const char *const names[] = { "none", "snapshot", "traceoff" };
	size_t i, len;
	u64 value;

	chop(text);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		len = strlen(names[i]);
		if (is_word(text, names[i], shown))
			return 1;
		if (strncmp(text, names[i], len) || text[len] != ':' || !i ||
		    text[len + 1] == '-' ||
		    !bounded(f, text + len + 1, 10, &value))
			continue;
		sprintf(shown, "%s:%llu", names[i], value);
		return 1;
	}
	return 0;
}

/*
 * Is the string a value of the file, and how does it show it then? A string ends at its first
 * zero, as everywhere in sysfs.
 */
static int is_value(const struct format *f, const char *bytes, size_t len,
		    char *shown)
{
	static __thread char text[INPUT_MAX + 1];
	u64 value = 0;
	int hex;

	memcpy(text, bytes, len);
	text[len] = 0;
	switch (f->form) {
	case NUMBER:
	case SIGNED:
		chop(text);
		if (!bounded(f, text, 10, &value))
			return 0;
		break;
	case HEX_TOO:
		chop(text);
		hex = !strncmp(text, "0x", 2);
		if ((hex && !isxdigit((unsigned char)text[2])) ||
		    !bounded(f, text + 2 * hex, hex ? 16 : 10, &value))
			return 0;
		break;
	case DISK:
		return read_disk(text, shown);
	case DEVICE:
		return read_device(f, text, shown);
	case PROTOCOL:
		return read_protocol(f, text, shown);
	case CHOICE:
		return read_choice(f, text, shown);
	case ACTION:
		return read_action(f, text, shown);
	}
	sprintf(shown, "%llu", value);
	return 1;
}

#endif /* TESTS_GUEST_FORMATS_H */
