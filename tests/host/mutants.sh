#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Breaks a copy of the sources in one place each; a test must catch it.
# Usage: CC=... CFLAGS=... CFLAGS_<variant>=... mutants.sh TOP OUT
set -euo pipefail

top=$1
out=$2
here=$top/tests/host
work=$out/mutants
export TSAN_OPTIONS="halt_on_error=1 ${TSAN_OPTIONS:-}"

# name | file | sed script | variant | program | test, or nothing for all
mutants() {
	cat <<-'END'
	del-without-mark|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/(unsigned long)next . LFHT_REMOVED/(unsigned long)next/|plain|lfht_unit|add_del
	del-two-winners|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/return -ENOENT/return 0/|asan|lfht_stress|one_winner
	del-not-atomic|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/} while (!lfht_set_next(node, next, \(.*\)));/WRITE_ONCE(node->next, \1); } while (0);/|plain|lfht_stress|one_winner
	del-without-unlink|rculfhash/rculfhash.c|/^int lfht_del/,/^}/ s/lfht_purge(ht, node);//|asan|lfht_stress|owned
	purge-gives-up|rculfhash/rculfhash.c|/^void lfht_purge/,/^}/ s/goto restart/return/|plain|lfht_stress|unique
	take-without-mark|rculfhash/rculfhash.h|/lfht_take(struct/,/^}/ s/(unsigned long)next . LFHT_REMOVED/(unsigned long)next/|plain|lfht_unit|take
	take-two-winners|rculfhash/rculfhash.h|/lfht_take(struct/,/^}/ s/goto restart/return node/|asan|lfht_stress|unique
	take-leaves-it|rculfhash/rculfhash.h|/lfht_take(struct/,/^}/ s/lfht_purge(ht, node)/(void)ht/|asan|lfht_stress|unique
	duplicate-in-front|rculfhash/rculfhash.c|/^lfht_find_end/,/^}/ s/order_key <= order_key/order_key < order_key/|plain|lfht_stress|duplicates
	unique-unchecked|rculfhash/rculfhash.c|/^struct lfht_node .lfht_add_unique/,/^}/ s/match, key, &pos);/NULL, NULL, \&pos);/|plain|lfht_stress|unique
	replace-with-gap|rculfhash/rculfhash.c|s/long link = (unsigned long)new_node/long link = (unsigned long)old_next/; s/lfht_purge(ht, found);/lfht_purge(ht, found); lfht_add(ht, hash, node);/; s/lfht_purge(ht, old_node);/lfht_purge(ht, old_node); lfht_add(ht, new_node->order_key, new_node);/|plain|lfht_stress|replace
	insert-not-atomic|rculfhash/rculfhash.c|/lfht_insert(const/,/^}/ s/return lfht_set_next(.*);/WRITE_ONCE(pos->prev->next, node); return true;/|plain|lfht_stress|owned
	size-without-release|rculfhash/rculfhash.c|s/smp_store_release(&ht->order, order)/WRITE_ONCE(ht->order, order)/|tsan|lfht_stress|owned
	bucket-left-out|rculfhash/rculfhash.c|s/while (i < nr) {/while (i + 1 < nr) {/|plain|lfht_unit|resize
	next-without-dependency|rculfhash/rculfhash.h|s/rcu_dereference_raw(node->next)/READ_ONCE(node->next)/|tsan|lfht_stress|unique
	lookup-of-removed|rculfhash/rculfhash.h|s/order_key == order_key && !lfht_is_removed(next) &&/order_key == order_key \&\&/|plain|lfht_unit|duplicates
	bucket-elsewhere|rculfhash/rculfhash.h|s/\[t >> (zeros + 1)\]/[t >> zeros]/|asan|lfht_unit|resize
	walk-skips|rculfhash/rculfhash.c|s/.cursor = node->order_key;/*cursor = node->order_key + 2;/|plain|lfht_unit|iteration
	no-grace-period|HOST_BREAK_GP||asan|lfht_stress|unique
	no-grace-period-pool|HOST_BREAK_GP||plain|pool_stress|migrate
	reclaim-at-once|core/reclaim.c|s/lt_call_rcu(&reclaim->rcu, grace_period_ended)/grace_period_ended(\&reclaim->rcu)/|plain|pool_stress|migrate
	reclaim-loses-lists|core/reclaim.c|s/retired->waiting = xchg(&retired->head, NULL);/if (any) xchg(\&retired->head, NULL); else &/|plain|pool_stress|migrate
	retire-not-atomic|core/reclaim.h|s/old = cmpxchg(list, head, item);/old = head; WRITE_ONCE(*list, item);/|plain|pool_stress|migrate
	batch-too-large|core/pool.h|s/batches->count < pool->batch/batches->count <= pool->batch/|plain|pool_unit|items
	batch-of-two-nodes|core/pool.h|s/likely(batches->nid == item->nid)/true/|plain|pool_unit|items
	count-of-anothers|core/pool.c|/^static void batch_push/,/^}/ { s/atomic_add(batch->count.*;/;/; s/^}/\tatomic_add(batch->count, \&pool->depots[batch->nid].free);\n}/ }|tsan|pool_stress|migrate
	refill-drops-rest|core/pool.c|s/WRITE_ONCE(last->next, head);/(void)last;/|plain|pool_stress|nmi
	busy-without-release|core/reclaim.c|s/smp_store_release(&reclaim->busy, false)/WRITE_ONCE(reclaim->busy, false)/|tsan|pool_stress|migrate
	depot-pop-not-atomic|core/pool.c|s/old = cmpxchg(stack, head, READ_ONCE(head->next_batch));/old = head; WRITE_ONCE(*stack, READ_ONCE(head->next_batch));/|plain|pool_stress|migrate
	cache-pop-not-atomic|core/pool.h|/^static __always_inline struct lt_pool_item .lt_pool_get/,/^}/ { s/old = lt_this_cpu_cmpxchg(pool->caches->head, head,/old = head; WRITE_ONCE(this_cpu_ptr(pool->caches)->head,/ }|plain|pool_stress|nmi
	caches-eat-capacity|core/pool.c|s/err = lt_pool_grow(pool, capacity);/err = lt_pool_grow(pool, capacity - 4 * pool->batch), pool->capacity = capacity;/|plain|pool_unit|hoard
	dry-untold|core/pool.c|s/WRITE_ONCE(pool->dry, true);/(void)pool;/|plain|pool_unit|items
	dry-for-ever|core/pool.c|s/WRITE_ONCE(pool->dry, false);/(void)pool;/|plain|pool_unit|items
	home-node-only|core/pool.c|s/batch = batch_of_others(pool, home)/(void)batch_of_others/|plain|pool_unit|init
	own-batches-only|core/pool.c|/batch_of_others/,/^}/ s/for_each_possible_cpu(cpu)/for (cpu = 0; cpu < 0; cpu++)/|plain|pool_unit|own_batches
	batches-go-elsewhere|core/pool.c|s/batches->nid == home/false/|plain|pool_unit|own_batches
	batches-owed-for-ever|core/pool.c|s/cache->given += owed - all;/;/|plain|pool_unit|own_batches
	batches-go-to-who-ends|core/pool.c|s/cache->given++;/;/|plain|pool_unit|own_batches
	END
}

# Prints one KTAP line without a number.
one() {
	IFS='|' read -r name file script variant program test <<<"$1"
	local dir=$work/$name flags=CFLAGS_$variant helper status=0
	local objects=() define=()

	mkdir -p "$dir"
	cp -r "$top/rculfhash" "$top/core" "$top/wrapper" "$dir"
	if [ "$file" = HOST_BREAK_GP ]; then
		define=(-DHOST_BREAK_GP)
		objects=("$here/host.c")
	else
		sed -i "$script" "$dir/$file"
		if cmp -s "$dir/$file" "$top/$file"; then
			echo "not ok $name: nothing changed in $file; adapt the sed script in mutants.sh to the source"
			return
		fi
		objects=("$out/$variant/host.o")
	fi
	for helper in ktap objs; do
		objects+=("$out/$variant/$helper.o")
	done
	# shellcheck disable=SC2086 # flags are words
	if ! $CC $CFLAGS ${!flags} -w -DHOST_PERTURB "${define[@]}" -I"$dir" \
		-o "$dir/test" "$here/$program.c" "$here/table.c" \
		"$dir/rculfhash/rculfhash.c" "$dir/core/pool.c" \
		"$dir/core/reclaim.c" "${objects[@]}" >"$dir/log" 2>&1; then
		echo "not ok $name: does not compile, see $dir/log"
		return
	fi
	# A hang is a catch as well: a broken list may be a circle.
	# The braces keep the shell's own word on a crash off the screen.
	{
		timeout 30 "$dir/test" --fail-fast --time 20 \
			${test:+--only "$test"} >"$dir/log" 2>&1
	} 2>/dev/null || status=$?
	if [ "$status" -eq 0 ]; then
		echo "not ok $name: $variant/$program $test did not notice, see $dir/log"
	else
		echo "ok $name: caught by $variant/$program $test (status $status)"
	fi
}

if [ "${3:-}" = one ]; then
	one "$4"
	exit
fi

rm -rf "$work"
mkdir -p "$work"
count=$(mutants | wc -l)
echo "KTAP version 1"
echo "1..$count"
mutants | tr '\n' '\0' |
	xargs -0 -n 1 -P "$(nproc)" "$0" "$top" "$out" one |
	tee "$work/results" |
	awk '{ n++; sub(/^(not )?ok /, "&" n " "); print; fflush() }'
caught=$(grep -c '^ok ' "$work/results" || true)
echo "# host mutants: $caught passed, $((count - caught)) failed, 0 skipped"
if [ "$caught" -ne "$count" ]; then
	echo "A broken twin went unnoticed: see the lines with 'not ok' above." >&2
	exit 1
fi
