# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For the tests, by way of lib.sh: programs that judge files of a test, and look at nothing else.

# judge PROGRAM ARGUMENT...: run a Python program of this directory; an ARGUMENT $T/FILE is a file for
# it. Where there is $JUDGES, it runs outside of this machine, see tests/lab/judges.py.
judge()
{
	local request word passed=("LAB_RELEASE=$(uname -r)" "LAB_MACHINE=$(uname -m)" "LAB_SLOW=${LAB_SLOW:-1}" "$1")

	if [ -z "${JUDGES:-}" ]; then
		python3 "$LIBDIR/$1" "${@:2}"
		return
	fi
	request=$(mktemp -d "$JUDGES/XXXXXX") || return
	for word in "${@:2}"; do
		if [[ $word == "$T"/* ]]; then
			cp "$word" "$request" || return
			word=${word##*/}
		fi
		passed+=("$word")
	done
	printf '%s\0' "${passed[@]}" >"$request/words.new"
	mv "$request/words.new" "$request/words"
	until [ -e "$request/status" ]; do
		sleep 0.05
	done
	cat "$request/out"
	cat "$request/err" >&2
	word=$(<"$request/status")
	rm -r "$request"
	return "$word"
}
