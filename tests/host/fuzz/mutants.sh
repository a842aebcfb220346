#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Breaks a copy of the sources in one place each; the fuzzer must find it, without the
# corpus, from nothing.
# Usage: CLANG=... CFLAGS=... CFLAGS_<fuzzer>=... mutants.sh TOP OUT SECONDS
set -euo pipefail

top=$1
out=$2
seconds=$3
work=$out/mutants
export ASAN_OPTIONS="detect_leaks=0 ${ASAN_OPTIONS:-}"

# name | fuzzer | file | sed script
mutants() {
	cat <<-'END'
	del-not-atomic|table|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/} while (!lfht_set_next(node, next, \(.*\)));/host_perturb(1); WRITE_ONCE(node->next, \1); } while (0);/
	del-without-unlink|table|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/lfht_purge(ht, node);//
	purge-gives-up|table|rculfhash/rculfhash.c|/^void lfht_purge/,/^}/ s/goto restart/return/
	duplicate-in-front|table|rculfhash/rculfhash.c|/^lfht_find_end/,/^}/ s/order_key <= order_key/order_key < order_key/
	unique-unchecked|table|rculfhash/rculfhash.c|/^struct lfht_node .lfht_add_unique/,/^}/ s/} while (!lfht_insert(&pos, node));/} while (0); while (!lfht_insert(\&pos, node)) lfht_find_end(lfht_bucket(ht, hash), node->order_key, NULL, NULL, \&pos);/
	replace-with-gap|table|rculfhash/rculfhash.c|s/long link = (unsigned long)new_node/long link = (unsigned long)old_next/; s/lfht_purge(ht, found);/lfht_purge(ht, found); lfht_add(ht, hash, node);/
	insert-not-atomic|table|rculfhash/rculfhash.c|/lfht_insert(const/,/^}/ s/return lfht_set_next(.*);/if (pos->prev->next != pos->next) return false; host_perturb(1); WRITE_ONCE(pos->prev->next, node); return true;/
	bucket-left-out|table|rculfhash/rculfhash.c|s/while (i < nr) {/while (i + 1 < nr) {/
	walk-skips|table|rculfhash/rculfhash.c|s/.cursor = node->order_key;/*cursor = node->order_key + 2;/
	reclaim-at-once|table|core/reclaim.c|s/lt_call_rcu(&reclaim->rcu, grace_period_ended)/grace_period_ended(\&reclaim->rcu)/
	reclaim-loses-lists|table|core/reclaim.c|s/retired->waiting = xchg(&retired->head, NULL);/if (any) xchg(\&retired->head, NULL); else &/
	depot-pop-not-atomic|table|core/pool.c|s/old = cmpxchg(stack, head, READ_ONCE(head->next_batch));/old = head; head = READ_ONCE(old->next_batch); host_perturb(1); WRITE_ONCE(*stack, head); head = old;/
	retire-not-atomic|table|core/reclaim.h|s/old = cmpxchg(list, head, item);/host_perturb(1); old = head; WRITE_ONCE(*list, item);/
	cache-pop-not-atomic|table|core/pool.h|/^static __always_inline struct lt_pool_item .lt_pool_get/,/^}/ { s/old = lt_this_cpu_cmpxchg(pool->caches->head, head,/old = head; host_perturb(1); WRITE_ONCE(this_cpu_ptr(pool->caches)->head,/ }
	threshold-missed|tracker|core/verdict.h|s/delay_ns >= threshold_ns/delay_ns > threshold_ns/
	clock-wraps|tracker|core/verdict.h|s/if (likely(now_ns >= start_ns))/if (1)/
	late-not-put|tracker|core/verdict.c|/^void lt_finish_late/,/^}/ s/lt_put(tracker, event, 0);//
	collected-not-settled|tracker|core/verdict.c|s/lt_event_settle(event);$/false;/
	timeout-again|tracker|core/timeout.c|s/else if (lt_event_ref(event, true))/else if (lt_event_ref(event, false))/; s/atomic_read(&event->refs) & LT_EVENT_TIMED_OUT/0/
	timeout-forgotten|tracker|core/timeout.c|s/w->next_ns = min(w->next_ns, due);$/;/
	clear-uncounted|tracker|core/timeout.c|s/lt_count(w->tracker->counters, LT_CLEARED);//
	scan-not-asked|tracker|latency_tracker.c|s/lt_worker_rescan(tracker);/return;/
	skip-keeps-old|tracker|latency_tracker.c|/^static noinline int skip/,/^}/ s/LATENCY_TRACKER_UNIQUE/0/
	whole-uncounted|tracker|latency_tracker.c|/^static noinline int whole_late/,/^}/ s/lt_count(tracker->counters, LT_FINISHED);//
	priv-not-cleared|tracker|latency_tracker.c|s/WRITE_ONCE(\*to, 0);/;/
	put-not-retired|tracker|core/event.c|/^int latency_tracker_put_event/,/^}/ s/if (!refs)/if (0)/
	off-does-not-clear|tracker|core/lifecycle.c|s/synchronize_rcu();/return 0;/
	never-drained|tracker|core/worker.c|s/if (low || now_ns >= tracker->drain_ns)/if (low)/
	END
}

# source_of OBJECT DIRECTORY: a file at the top would take the headers that are beside it, so
# it is taken to the broken ones.
source_of() {
	local dir

	for dir in tests/host/fuzz rculfhash core; do
		[ ! -f "$top/$dir/$1.c" ] || echo "$top/$dir/$1.c"
	done
	[ ! -f "$top/$1.c" ] || { cp "$top/$1.c" "$2" && echo "$2/$1.c"; }
}

# Prints one KTAP line without a number.
one() {
	IFS='|' read -r name fuzzer file script <<<"$1"
	local dir=$work/$name flags=CFLAGS_$fuzzer status=0 object objects=() sources=()

	mkdir -p "$dir/$(dirname "$file")" "$dir/corpus"
	sed "$script" "$top/$file" >"$dir/$file"
	if cmp -s "$dir/$file" "$top/$file"; then
		echo "not ok $name: nothing changed in $file; adapt the sed script in mutants.sh to the source"
		return
	fi
	for object in "$out/$fuzzer.d"/*.o; do
		case $file in
		# All that may include it.
		*.h) sources+=("$(source_of "$(basename "$object" .o)" "$dir")") ;;
		*/"$(basename "$object" .o).c" | "$(basename "$object" .o).c") ;;
		*) objects+=("$object") ;;
		esac
	done
	[[ $file == *.h ]] || sources=("$dir/$file")
	# shellcheck disable=SC2086 # flags are words
	if ! $CLANG $CFLAGS ${!flags} -w -fsanitize=fuzzer -I"$dir" -I"$top" \
		-o "$dir/fuzz" "${sources[@]}" "${objects[@]}" >"$dir/log" 2>&1; then
		echo "not ok $name: does not compile, see $dir/log"
		return
	fi
	# A hang is a find as well: a broken list may be a circle.
	{
		timeout $((seconds + 10)) "$dir/fuzz" -max_total_time="$seconds" -max_len=512 \
			-timeout=5 -artifact_prefix="$dir/" "$dir/corpus" >"$dir/log" 2>&1
	} 2>/dev/null || status=$?
	if [ "$status" -eq 0 ]; then
		echo "not ok $name: the fuzzer of the $fuzzer did not find it in $seconds s, see $dir/log"
	else
		echo "ok $name: found by the fuzzer of the $fuzzer"
	fi
}

if [ "${4:-}" = one ]; then
	one "$5"
	exit
fi

rm -rf "$work"
mkdir -p "$work"
count=$(mutants | wc -l) n=0
echo "KTAP version 1"
echo "1..$count"
mutants | tr '\n' '\0' |
	xargs -0 -n 1 -P "$(nproc)" "$0" "$top" "$out" "$seconds" one |
	tee "$work/results" |
	while read -r line; do
		n=$((n + 1))
		echo "${line/ok /ok $n }"
	done
found=$(grep -c '^ok ' "$work/results" || true)
echo "# fuzz mutants: $found passed, $((count - found)) failed, 0 skipped"
[ "$found" -eq "$count" ]
