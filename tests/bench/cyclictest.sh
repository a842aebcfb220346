# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# "scripts/bench chain": cyclictest judges latency_tracker_chain. For scripts/bench, whose variables it knows.

# In $tools: cyclictest and stress-ng, if the guest lacks them. Others for another root file system.
get_cyclictest()
{
	local root deb

	root=$(rootfs_dir "$kernel")
	tools=$results/cyclictest/${root##*/}
	[ ! -d "$tools" ] || return 0
	rm -rf "$tools.tmp"
	mkdir -p "${tools%/*}"
	progress "getting cyclictest (once)" apt_missing "$tools.tmp" "$kernel" rt-tests stress-ng || return
	for deb in "$tools.tmp"/*.deb; do
		dpkg -x "$deb" "$tools.tmp/tree" || return
	done
	mv "$tools.tmp/tree" "$tools"
	rm -r "$tools.tmp"
}

# in_chain_guest NAME TEXT WHAT ARG... -- OPTION...: leaves its files in $out, and says what they are.
in_chain_guest()
{
	local name=$1 text=$2 what=$3 args=()
	shift 3

	while [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	shift
	out=$results/chain/$kernel-$name
	rm -rf "$out"
	mkdir -p "$out"
	info "$text ..."
	"$top/scripts/vm-run" --kernel "$kernel" --timeout 7200 --out "$out" "$@" -- \
		tests/bench/guest/chain-guest "$what" "$tools" "${args[@]}" </dev/null ||
		die "the guest has failed: see above"
	echo "$text:"
}

# The parts of chain: 1 if the target is missed.
chain_icount()
{
	in_chain_guest icount "$activations activations, the clock counts instructions" \
		agree "$activations" -- --icount
	"$judge" agree "$out" --activations "$activations"
}

chain_clock()
{
	in_chain_guest clock "$few activations, two CPUs" agree "$few" witness --
	"$judge" agree "$out" --activations "$few" --percent 99.9
}

chain_maximum()
{
	in_chain_guest maximum "$rounds rounds of $few activations, without and with all trackers, the clock counts instructions" \
		maximum "$few" "$rounds" -- --icount
	"$judge" maximum "$out" --activations "$few" --rounds "$rounds"
}

chain()
{
	local rounds=${rounds:-5} judge=$top/tests/bench/cyclictest.py few=$(((activations + 9) / 10)) out tools part status=0

	need_setup "$kernel"
	[ "$(kernel_value "$kernel" arch)" = amd64 ] || die "chain: what explains an outlier are events of x86: take another kernel"
	get_cyclictest || die "no cyclictest: see above, and check the network; it is in Debian's package rt-tests"
	for part in ${only:-icount clock maximum}; do
		"chain_$part" || status=1
	done
	return "$status"
}
