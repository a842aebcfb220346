# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The shell library that the scripts share. Source it after "set -euo pipefail":
#
#	. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
#
#   $top                      the checkout's root directory
#   info TEXT                 one line on standard error, with the script's name
#   die TEXT                  the same, then exit with $die_status (1): say what to do
#   progress TEXT COMMAND...  run COMMAND; it is silent unless it fails, and a step
#                             that takes long shows that it is alive
#   progress_live TEXT COMMAND...
#                             the same for a COMMAND whose output is to be seen
#   cache_dir                 print the cache directory, and make it
#   as_root COMMAND...        run COMMAND as root, with sudo where needed
#   kernel_value NAME VARIABLE
#                             print a variable of the entry of kernel NAME
#   read_arch ARCH            set the variables and the function of tests/vm/arch/ARCH
#   arch_value ARCH VARIABLE  print one of the variables
#   apt_download DIR SUITE PACKAGE...
#                             download packages of another suite of Debian, from the
#                             archive that this machine uses, into the new directory DIR
#   apt_missing DIR NAME PACKAGE...
#                             the same for packages that the root file system of kernel NAME
#                             has not, and what they need besides
#   get_lttng DIR [SUITE]     put the source of lttng-modules, as SUITE or this machine's
#                             suite has it, into the new directory DIR
#   need_setup NAME           install what is missing (scripts/setup) for guests with
#                             kernel NAME
#   qemu_program ARCH         print the QEMU to use: the one that scripts/setup got, if
#                             it had to, or the machine's
#   rootfs_dir NAME           print the directory of the root file system of kernel
#                             NAME, and make it when it is missing; in it are:
#                               root/      the tree (compiler, headers, kernel)
#                               root.sqfs  the same as an image for the guest
#                               tools/     if the guest's architecture is not this
#                                          machine's, a tree with compiler and headers
#                                          that can be used here
#                               vmlinux    the kernel
#                               kver       its version, as in /lib/modules
#   in_rootfs NAME COMMAND... run COMMAND in the checkout, but with the programs of
#                             the root file system NAME (its compiler, its headers),
#                             or of its tools/
#   kbuild NAME SRC OUT [ARG...]
#                             build the modules of directory SRC of the checkout
#                             into directory OUT of the checkout, incrementally
#   build_modules NAME [selftest]
#                             build the checkout's modules into build/NAME, install
#                             them where the guest's modprobe finds them; of those that
#                             only tests load, all, or the selftest.
#                             build/NAME/.warned tells that there were warnings
#   words_of_build NAME 1|selftest
#                             put into the array words what make is told to build them
#   check_with_sparse NAME    let sparse look at them, and print what it finds
#   test_flags NAME           print the compiler's flags for modules that only tests load
#   owners_are_there          whether this script and those that have started it are still
#                             there: one that was killed may have left it alone
#   first_splat FILE          print the number of the first line of a kernel's log that shows
#                             trouble; nothing if there is none
#   build_lttng NAME          before that, if kernel NAME is to have LTTng: build LTTng's
#                             modules once, beside the root file system. From then on
#                             build_modules builds the probe, too, and installs both
#
# A kernel NAME is a file tests/vm/kernels/NAME; see the one named bookworm.

shopt -s inherit_errexit

# depmod and friends are not on a normal user's path.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
readonly top

# In a root file system: the source of lttng-modules, in which they were built.
lttng_source=/usr/src/lttng-modules
# In build/NAME: our probe.
lttng_probe=lttng/lttng-probe-latency-tracker.ko

die_status=1

# The scripts that have started this one, and it itself.
export LAB_OWNERS="${LAB_OWNERS:-} $$"

owners_are_there()
{
	local pid

	for pid in $LAB_OWNERS; do
		[ -d "/proc/$pid" ] || return 1
	done
}

info()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
	info "$*"
	exit "$die_status"
}

# Tell every now and then how long a step has been taking, until the other end of
# standard input is closed, be it by the death of the script.
_ticker()
{
	local text=$1 live=$2 began=$SECONDS status every=15

	[ ! -t 2 ] || ((live)) || every=1
	status=0
	read -rt 2 || status=$?
	((status > 128)) || return 0
	info "$text ..."
	while :; do
		status=0
		read -rt "$every" || status=$?
		((status > 128)) || break
		if ((every == 1)); then
			printf '\r%s: %s ... %d s ' "${0##*/}" "$text" $((SECONDS - began)) >&2
		else
			info "$text ... $((SECONDS - began)) s"
		fi
	done
	((every > 1)) || echo >&2
}

_progress()
{
	local live=$1 text=$2 log file ticker pid status=0
	shift 2

	file=$(mktemp)
	exec {log}<>"$file"
	rm -f "$file"
	exec {ticker}> >(_ticker "$text" "$live" >&2)
	pid=$!
	# The command is in the foreground, so that Ctrl-C reaches it.
	if ((live)); then
		"$@" </dev/null {ticker}>&- || status=$?
	else
		"$@" </dev/null >&"$log" 2>&1 {ticker}>&- || status=$?
	fi
	exec {ticker}>&-
	wait "$pid" || :
	if ((status)); then
		tail -n 40 "/dev/fd/$log" >&2
		info "failed (status $status): $text"
	fi
	exec {log}>&-
	return "$status"
}

progress()
{
	_progress 0 "$@"
}

progress_live()
{
	_progress 1 "$@"
}

cache_dir()
{
	local dir=${XDG_CACHE_HOME:-$HOME/.cache}/latency-tracker

	mkdir -p "$dir" || die "cannot make $dir: make it writable, or set XDG_CACHE_HOME"
	echo "$dir"
}

as_root()
{
	if ((EUID == 0)); then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo -- "$@"
	else
		die "root is needed for '$1': run this as root, or install sudo"
	fi
}

# The variable apt of the caller: apt-get for another suite of Debian, with its state in the new directory $1.
_apt_of()
{
	local dir=$1 suite=$2 uri uri_format

	# shellcheck disable=SC2016 # apt expands it
	uri_format='$(REPO_URI)'
	uri=$(apt-get indextargets --format "$uri_format" 'Label: Debian' \
		"Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | sort -u | head -n 1)
	[ -n "$uri" ] || return
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" \
		>"$dir/sources.list"
	apt=(apt-get -q -o Dir::Etc::SourceList="$dir/sources.list"
	     -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists"
	     -o Dir::Cache="$dir/cache" -o APT::Sandbox::User="$(id -un)"
	     -o Debug::NoLocking=1)
}

apt_download()
{
	local dir=$1 suite=$2 apt=()
	shift 2

	_apt_of "$dir" "$suite" || return
	"${apt[@]}" update &&
	(cd "$dir" && "${apt[@]}" download "${@/%//$suite}")
}

apt_missing()
{
	local dir=$1 name=$2 apt=() status
	shift 2

	status=$(rootfs_dir "$name")/root/var/lib/dpkg/status || return
	_apt_of "$dir" "$(kernel_value "$name" suite)" || return
	apt+=(-o Dir::State::Status="$status" -o APT::Architecture="$(kernel_value "$name" arch)")
	"${apt[@]}" update &&
	"${apt[@]}" -y --no-install-recommends --download-only install "$@" &&
	mv -t "$dir" "$dir"/cache/archives/*.deb
}

get_lttng()
{
	local dir=$1 suite=${2:-} package=lttng-modules-dkms

	rm -rf "$dir.deb" && mkdir -p "${dir%/*}" &&
	if [ -n "$suite" ]; then
		apt_download "$dir.deb" "$suite" "$package"
	else
		mkdir "$dir.deb" && (cd "$dir.deb" && apt-get -q download "$package")
	fi &&
	dpkg -x "$dir.deb/$package"_*.deb "$dir.deb" &&
	mv "$dir.deb"/usr/src/lttng-modules-* "$dir" &&
	rm -r "$dir.deb"
}

# Those that need it no more, since a script that has started this one has seen to it, are in
# LAB_READY.
need_setup()
{
	local arch

	arch=$(kernel_value "$1" arch)
	[[ " ${LAB_READY:-} " != *" $arch "* ]] || return 0
	"$top/scripts/setup" "$arch" || exit "$die_status"
	export LAB_READY="${LAB_READY:-} $arch"
}

kernel_value()
{
	(_kernel_entry "$1" && echo "${!2}")
}

read_arch()
{
	local file=$top/tests/vm/arch/$1

	if [[ $1 == */* || ! -f $file ]]; then
		die "no architecture is named '$1': take one of: $(cd "${file%/*}" && echo *)"
	fi
	# shellcheck source=tests/vm/arch/amd64
	. "$file"
}

arch_value()
{
	(read_arch "$1" && echo "${!2}")
}

qemu_program()
{
	local own

	own=$(cache_dir)/$(arch_value "$1" qemu_cache)/run
	if [ -x "$own" ]; then
		echo "$own"
	else
		arch_value "$1" qemu_binary
	fi
}

# Read the table entry of kernel $1 into the variables suite, kernel, packages, ...
_kernel_entry()
{
	local file=$top/tests/vm/kernels/$1

	if [[ $1 == */* || ! -f $file ]]; then
		die "no kernel is named '$1': take one of: $(cd "$top/tests/vm/kernels" && echo *)"
	fi
	suite='' kernel=() other_suites=() apt_options=() packages=() cmdline=''
	arch=amd64 tools=() lttng='' config=() options='' memory='' slow=1 pairs='' detectors=''
	# shellcheck source=tests/vm/packages
	. "$top/tests/vm/packages"
	# shellcheck source=tests/vm/kernels/bookworm
	. "$file"
}

# shellcheck source=scripts/rootfs.sh
. "$top/scripts/rootfs.sh"

# _in_tree ROOT COMMAND...: run COMMAND in the checkout, but with the programs of ROOT.
_in_tree()
{
	local root=$1 user=()
	shift

	((EUID == 0)) || user=(--map-root-user)
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount "${user[@]}" -- bash -euc '
		root=$1 top=$2
		shift 2
		mkdir -p "$root$top"
		mount --rbind /proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount --bind "$top" "$root$top"
		exec chroot "$root" /usr/bin/env -i -C "$top" HOME=/root LC_ALL=C.UTF-8 \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
	' in_tree "$root" "$top" "$@"
}

in_rootfs()
{
	local root

	root=$(rootfs_dir "$1") || return
	[ -d "$root/tools" ] && root+=/tools || root+=/root
	shift
	_in_tree "$root" "$@"
}

kbuild()
{
	local name=$1 src=$2 out=$3 dir prefix changes compiler
	shift 3

	[[ $top != *[[:space:]:,]* ]] ||
		die "the kernel's build takes no path with a space, colon or comma: move the checkout"
	dir=$(rootfs_dir "$name") || return
	# Kbuild does not see that the compiler or the headers are others.
	if [ "$(cat "$top/$out/.rootfs" 2>/dev/null)" != "$dir" ]; then
		rm -rf "${top:?}/$out"/* "$top/$out/.done"
		mkdir -p "$top/$out"
		echo "$dir" >"$top/$out/.rootfs"
	fi
	# Kbuild writes beside the sources, so it gets a mirror of them. What changed there gets
	# the present time, and make rebuilds exactly that.
	changes=$(PYTHONPATH=$top/tests /usr/bin/python3 -P -m lab.mirror \
		"$top/$src" "$top/$out") || return
	if [ -z "$changes" ] && [ "$(cat "$top/$out/.done" 2>/dev/null)" = "done $*" ]; then
		return
	fi
	rm -f "$top/$out/.done"
	# File names in messages are those of the sources.
	prefix=$src/
	compiler=$(arch_value "$(kernel_value "$name" arch)" cross) || return
	in_rootfs "$name" make -s -j"$(nproc)" -C "/lib/modules/$(<"$dir/kver")/build" \
		${compiler:+CROSS_COMPILE="$compiler"} M="$top/$out" "$@" modules 2>&1 |
	sed -u -e "s|$top/$out/|${prefix#./}|g" -e '/Skipping BTF generation/d' >&2 || return
	echo "done $*" >"$top/$out/.done"
}

# In the root file system of kernel $1: the source of lttng-modules, built, as it is on a
# user's machine; and in $2/lttng what the guest gets of it.
_make_lttng()
{
	local name=$1 dir=$2 suite=$3 src=$lttng_source tmp=$2/lttng.tmp

	rm -rf "$tmp" "$dir/root$src"*
	progress "getting lttng-modules of $suite (once)" get_lttng "$dir/root$src.orig" "$suite" &&
	in_rootfs "$name" scripts/lttng-modules --kver "$(<"$dir/kver")" --source "$src.orig" \
		--build "$src" &&
	rm -rf "$dir/root$src.orig" &&
	mkdir "$tmp" &&
	find "$dir/root$src/src" -name '*.ko' -exec cp -t "$tmp" {} + &&
	# Without what only a debugger reads, which is nine tenths.
	strip --strip-debug "$tmp"/*.ko &&
	mv "$tmp" "$dir/lttng"
}

# With file descriptor 9 as the lock.
_make_lttng_once()
{
	flock -n 9 || progress "waiting for another build of LTTng's modules" flock 9
	[ ! -d "$2/lttng" ] || return 0
	_make_lttng "$@" || { touch "$2/lttng.failed"; return 1; }
}

build_lttng()
{
	local dir suite

	suite=$(kernel_value "$1" lttng)
	[ -n "$suite" ] || return 0
	dir=$(rootfs_dir "$1")
	[ ! -d "$dir/lttng" ] || return 0
	# Not tried again for a day.
	[ -z "$(find "$dir" -maxdepth 1 -name lttng.failed -mtime -1)" ] ||
		die "LTTng's modules could not be made for '$1': remove $dir/lttng.failed to try again"
	(_make_lttng_once "$1" "$dir" "$suite") 9>"$dir/lttng.lock" ||
		die "LTTng's modules of Debian's $suite could not be made for '$1': see above"
}

# _build_probe NAME OUT [ARG...]: the probe for LTTng, if there is LTTng for kernel NAME, of
# what kbuild() has put into directory OUT of the checkout.
_build_probe()
{
	local name=$1 out=$top/$2 dir
	shift 2

	dir=$(rootfs_dir "$name") || return
	[ -d "$dir/lttng" ] || return 0
	[[ ! $out/lttng/.done -nt $out/.done || ! $out/lttng/.done -nt $dir/lttng ]] || return 0
	in_rootfs "$name" make -s -C "/lib/modules/$(<"$dir/kver")/build" M="$out/lttng" \
		LTTNG_MODULES="$lttng_source" "$@" modules 2>&1 |
	sed -u -e "s|$out/||g" -e '/Skipping BTF generation/d' >&2 || return
	touch "$out/lttng/.done"
}

# Put the modules of build/$1 and modprobe's index of all modules into
# build/$1/.modules, which the guest gets on top of its own /lib/modules.
_install_modules()
{
	local name=$1 out=$top/build/$1 dir kver tree state modules

	dir=$(rootfs_dir "$name") || return
	kver=$(<"$dir/kver")
	# Not every .ko that lies about: some may be of sources that are gone.
	mapfile -t modules < <(sed -e "s|^$out/||" -e 's|\.o$|.ko|' "$out/modules.order")
	[ ! -d "$dir/lttng" ] || modules+=("$lttng_probe")
	state=$dir$(cd "$out" && stat -c '%n %s %Y %Z' "${modules[@]}") || return
	[ "$state" != "$(cat "$out/.modules/state" 2>/dev/null)" ] || return 0

	tree=$out/.modules/lib/modules/$kver
	rm -rf "$out/.modules"
	mkdir -p "$tree/updates"
	(cd "$out" && cp -t "$tree/updates" "${modules[@]}")
	[ ! -d "$dir/lttng" ] || cp -r "$dir/lttng" "$tree/updates"
	ln -s "$dir/root/lib/modules/$kver/kernel" "$tree/kernel"
	cp "$dir/root/lib/modules/$kver/modules."{order,builtin,builtin.modinfo} "$tree"
	depmod -b "$out/.modules" "$kver" || return
	echo "$state" >"$out/.modules/state"
}

# Flags of the compiler for modules that only tests load: without debug information it takes a
# fifth less time, but what makes BTF of it needs it.
test_flags()
{
	local dir

	dir=$(rootfs_dir "$1") || return
	[ -e "$dir/root/lib/modules/$(<"$dir/kver")/build/vmlinux" ] || echo -g0
}

words_of_build()
{
	local options flags

	read -ra options < <(kernel_value "$1" options)
	flags=$(test_flags "$1") || return
	words=(W=1 KCFLAGS="$flags" LT_TESTS="$2" "${options[@]}")
}

_build_all()
{
	local words

	words_of_build "$1" "$3" &&
		kbuild "$1" . "$2" "${words[@]}" &&
		_build_probe "$1" "$2" "${words[@]:0:2}"
}

check_with_sparse()
{
	local name=$1 out=$top/build/$1 dir words

	dir=$(rootfs_dir "$name") && words_of_build "$name" 1 || return
	in_rootfs "$name" make -s -j"$(nproc)" -C "/lib/modules/$(<"$dir/kver")/build" \
		M="$out" "${words[@]}" C=2 CHECK=sparse modules 2>&1 |
	sed -e "s|$out/||g" -e '/Skipping BTF generation/d'
}

# With file descriptor 9 as the lock.
_build_modules()
{
	local name=$1 out=build/$1 log=$top/build/$1/.log status=0

	flock -n 9 || progress "waiting for another build in $out" flock 9
	progress_live "building the modules for '$name'" \
		_build_all "$name" "$out" "$2" 2>"$log" || status=$?
	cat "$log" >&2
	((!status)) ||
		die "the modules do not compile for '$name': correct what is reported above"
	_install_modules "$name" || die "the modules of $out could not be indexed: see above"
	rm -f "$top/$out/.warned"
	if grep -qi 'warning:' "$log"; then
		# Next time from the beginning: they are to be seen.
		rm -f "$top/$out/.rootfs"
		touch "$top/$out/.warned"
	fi
}

build_modules()
{
	[ -e "$top/Kbuild" ] || return 0
	rootfs_dir "$1" >/dev/null
	mkdir -p "$top/build/$1"
	(_build_modules "$1" "${2:-1}") 9>"$top/build/$1/.lock"
}

# What a kernel says when it is in trouble. Anchored behind the time stamp that printk
# writes, so that what a program writes to the console does not count.
splat_pattern()
{
	local alternatives=(
		'-+\[ cut here \]-+'
		'\[ BUG: '
		'(watchdog: |NMI watchdog: )?BUG: '
		'kernel BUG at '
		'WARNING: '
		'Kernel panic - '
		'Oops: '
		'general protection fault'
		'(divide error|invalid opcode|double fault|stack segment|int3|bounds): '
		'(UBSAN|KASAN|KCSAN|KFENCE|KMSAN): '
		'(rcu: )?INFO: .*(stall|detected)'
		'rcu: .* kthread (starved|timer wakeup)'
		'INFO: task .* blocked for more than'
		'INFO: trying to register non-static key'
		'(NMI )?watchdog: .*(LOCKUP|lockup)'
		'kmemleak: .* new suspected memory leaks'
		'list_(add|del) corruption'
		'Unable to handle kernel'
		'Internal error: '
		'SError Interrupt on CPU'
		'Insufficient stack space to handle exception'
	)
	local IFS='|'

	echo "^\[ *[0-9]+\.[0-9]+\](\[ *[CT][0-9]+\])? (${alternatives[*]})"
}

# The lines of log $1, with their numbers. Without the first lines of those reports of KCSAN
# in which there is no code of ours: the kernel has races of its own. And of a CPU that is
# plugged in the kernel says that its workqueues did not count on it.
_log_lines()
{
	awk '
		NR == FNR {
			if (/BUG: KCSAN: /)
				foreign[report = FNR] = 1
			if (/ =+$/)
				report = 0
			if (report && /\[latency_tracker/)
				delete foreign[report]
			next
		}
		!(FNR in foreign) && !/WARNING: workqueue cpumask: online intersect/ { print FNR ":" $0 }
	' "$1" "$1"
}

first_splat()
{
	_log_lines "$1" |
	grep -aEm 1 "^[0-9]+:$(splat_pattern | cut -c 2-)" | cut -d : -f 1 || :
}
