// SPDX-License-Identifier: GPL-2.0-only
/* Usage: mark arm|begin|end: tells the plugin of the emulator, see mark.h. */
#include <err.h>
#include <string.h>

#include "mark.h"

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (!strcmp(what, "arm"))
		mark(MARK_ARM);
	else if (!strcmp(what, "begin"))
		mark(MARK_BEGIN);
	else if (!strcmp(what, "end"))
		mark(MARK_END);
	else
		errx(1, "arm, begin or end?");
	return 0;
}
