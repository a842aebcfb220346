# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154
#
# For scripts/check: runs a suite, reads its KTAP, and counts. Source it; $logs is where logs
# go, and $kernel whose truths they are.
#
#   run_suite NAME COMMAND... count the results of COMMAND, which must agree with how it ends
#   say TEXT                  one line, with the time since the start
#   add_failure TEXT          a failure that no test reported by itself, in $suite
#   $passed $failed $skipped $failures
#                             what was counted
#   $begun $finished          guest tests, where the caller has such arrays
#   $dropped                  1 if the machine of the last suite died of the emulator and it is
#                             to be run again; only for who has set $repeat

passed=0 failed=0 skipped=0 failures=() start=$SECONDS
# So often, the tests of a kernel may lose their machine to a fault of the emulator
# (scripts/vm-run: 122). repeat: who runs a suite will run it again then.
machines=2 repeat=0 dropped=0

say()
{
	printf '%4d s  %s\n' $((SECONDS - start)) "$*"
}

# A failure that no test reported by itself.
add_failure()
{
	failed=$((failed + 1))
	suite_failed=$((suite_failed + 1))
	failures+=("$suite: $1")
	say "$suite: FAILED: $1"
}

# A document is a plan and as many results; a suite may print several.
begin_document()
{
	plan='' results=0 document=1 name=''
}

# What the emulator has ended did not happen, a guest test or else the whole suite, and is to be
# run again: as long as nothing in it has failed, and that does not become a habit.
drop_document()
{
	local passes fails skips

	read -r passes fails skips <<<"$before"
	((repeat && document && failed == fails && machines > 0)) || return
	machines=$((machines - 1))
	passed=$passes skipped=$skips document=0 dropped=1
	say "$suite: QEMU has failed, not the guest (the log has more): this runs again"
}

# What was promised was also printed?
end_document()
{
	((document)) || return 0
	document=0
	if [ -z "$plan" ]; then
		add_failure "${name:+$name: }died before it said how many tests there are"
	elif ((plan == 0 && results == 0)); then
		add_failure "${name:+$name: }has no tests"
	elif ((plan != results)); then
		add_failure "${name:+$name: }$results of $plan tests reported a result"
	fi
	documents=$((documents + 1))
}

# A test with "# SKIP" and a reason is skipped; without a reason it has failed.
add_result()
{
	local not=$1 text=$2

	results=$((results + 1))
	if [[ -z $not && $text =~ (^|[[:space:]])'# SKIP '[^[:space:]] ]]; then
		skipped=$((skipped + 1))
		say "$suite: skip   $text"
	elif [[ -z $not && ! $text =~ (^|[[:space:]])'# SKIP'[[:space:]]*$ ]]; then
		passed=$((passed + 1))
		say "$suite: ok     $text"
		notes=()
	else
		failed=$((failed + 1))
		suite_failed=$((suite_failed + 1))
		failures+=("$suite: $text")
		say "$suite: FAILED $text"
		((!${#notes[@]})) || printf '        %s\n' "${notes[@]}"
		show_notes=1
		return
	fi
	show_notes=0
}

add_line()
{
	local line=${1%$'\r'}

	if [[ $line =~ ^K?TAP' version ' ]]; then
		end_document
		begin_document
	elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
		((document)) || begin_document
		plan=${BASH_REMATCH[1]}
	elif [[ $line =~ ^('not ')?ok([[:space:]]+[0-9]+)?([[:space:]]+(-[[:space:]]+)?(.*))?$ ]]; then
		((document)) || begin_document
		add_result "${BASH_REMATCH[1]}" "${BASH_REMATCH[5]}"
	elif [[ $line =~ ^'# test: '(.*) ]]; then
		# Of tests/guest/run: whose document begins.
		suite=$suite_base/${BASH_REMATCH[1]}
		begun+=("${BASH_REMATCH[1]}")
		before="$passed $failed $skipped"
		notes=() show_notes=0
		end_document
		begin_document
	elif [[ $line =~ ^'# done: '(.*) ]]; then
		end_document
		finished+=("${BASH_REMATCH[1]}")
		suite=$suite_base
	elif [[ $line =~ ^'Bail out!'(.*) ]]; then
		add_failure "gave up:${BASH_REMATCH[1]}"
	elif [[ $line == '# truth: '* ]]; then
		echo "$kernel|${line#\# truth: }" >>"$logs/truth"
	elif [[ $line == '#'* ]]; then
		# Diagnostics belong to the result before or behind them.
		if ((show_notes)); then
			printf '        %s\n' "$line"
		else
			notes+=("$line")
		fi
	fi
}

# Read a suite's standard output, and show that it is alive while it is silent.
collect()
{
	local line='' part status

	while :; do
		status=0
		IFS= read -rt 30 part || status=$?
		line+=${part:-}
		if ((status > 128)); then
			say "$suite: ... running for $((SECONDS - suite_start)) s"
			continue
		fi
		[ -z "$line" ] || printf '%s\n' "$line" >>"$log"
		[ -z "$line" ] || add_line "$line"
		((status == 0)) || break
		line=''
	done
}

# run_suite NAME COMMAND...: the command's end and its results must agree.
run_suite()
{
	local suite=$1 suite_base=$1 suite_start=$SECONDS suite_failed=0 log status=0 out
	local plan='' results=0 document=0 documents=0 name='' notes=() show_notes=0
	local before="$passed $failed $skipped"
	shift
	dropped=0

	log=$logs/${suite//\//-}.log
	[ "$log" = "${last_log:-}" ] || : >"$log"
	last_log=$log
	: >"$log.err"
	exec {out}< <("$@" </dev/null 2>>"$log.err" || echo "$?" >"$log.status")
	rm -f "$log.status"
	collect <&"$out"
	wait "$!" || :
	exec {out}<&-
	[ ! -s "$log.status" ] || status=$(<"$log.status")
	rm -f "$log.status"
	((status != 122)) || ! drop_document || status=0
	end_document
	suite=$suite_base
	((documents || dropped)) || add_failure "printed no test results"
	# 122 to 126: scripts/vm-run says that the machine itself was in trouble.
	if ((status && (suite_failed == 0 || (status >= 122 && status <= 126)))); then
		add_failure "ended with status $status"
		tail -n 60 "$log.err" | sed 's/^/        | /'
	fi
	cat "$log.err" >>"$log"
	rm -f "$log.err"
	say "$suite: took $((SECONDS - suite_start)) s"
}
