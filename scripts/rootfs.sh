# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The part of scripts/lib.sh that makes root file systems, in the cache: see rootfs_dir() there.

# Raise it when the way in which a root file system is made changes.
rootfs_recipe=2
# The same for tests/vm/build-kernel.
kernel_recipe=1

# How this machine reaches its package archive holds for the root file systems too.
_host_apt_options()
{
	apt-config dump Acquire 2>/dev/null |
	grep -E '^Acquire::(https?::Proxy|Proxy-Auto-Detect|Retries|Check-Valid-Until|Check-Date) '
}

# Write a root file system as a tar archive to file $1; the rest is options.
_mmdebstrap()
{
	local out=$1 option drop other runner=(as_root)
	local options=(--format=tar)
	shift

	# No initramfs: vm-run brings its own. No service is started: mmdebstrap
	# sees to that with a policy-rc.d.
	for drop in man doc info locale lintian; do
		options+=("--dpkgopt=path-exclude=/usr/share/$drop/*")
	done
	# Not in the guest: there is no such hardware, and depmod is twice as fast.
	for drop in drivers/gpu drivers/media drivers/infiniband drivers/staging \
		    drivers/iio drivers/net/wireless drivers/net/ethernet sound; do
		options+=("--dpkgopt=path-exclude=/lib/modules/*/kernel/$drop/*")
		options+=("--dpkgopt=path-exclude=/usr/lib/modules/*/kernel/$drop/*")
	done
	options+=(--dpkgopt=force-unsafe-io)
	# The first line of the suite itself, with the name of the other.
	for other in "${other_suites[@]}"; do
		options+=(--setup-hook="sed -n '0,/ $suite /s/ $suite / $other /p' \
			\"\$1/etc/apt/sources.list\" >\"\$1/etc/apt/sources.list.d/$other.list\"")
	done
	while read -r option; do
		[ -z "$option" ] || options+=("--aptopt=$option")
	done < <(_host_apt_options; printf '%s\n' "${apt_options[@]}")

	if ((EUID != 0)) && unshare --map-auto --map-root-user true 2>/dev/null; then
		runner=()
	fi
	"${runner[@]}" env INITRD=No mmdebstrap "${options[@]}" "$@" "$suite" - >"$out"
}

# The packages $@ as mmdebstrap wants them.
_include()
{
	local IFS=,

	echo "--include=$*"
}

# The guest's tree as a tar archive, $1.
_make_root()
{
	if [ -z "$cross" ]; then
		_mmdebstrap "$1" --variant=minbase "$(_include "${kernel[@]}" "${packages[@]}")"
		return
	fi
	# No program of another architecture runs here, so nothing is configured. The
	# headers want a compiler of the guest's, which nobody will use.
	_mmdebstrap "$1" --variant=extract --architectures="$arch" \
		--dpkgopt='path-exclude=/usr/lib/gcc/*' \
		--setup-hook="'$top/tests/vm/unconfigured' before \"\$1\"" \
		--extract-hook="'$top/tests/vm/unconfigured' after \"\$1\"" \
		--include='?essential' --include='?priority(required)' \
		"$(_include "${kernel[@]}" "${packages[@]}")"
}

# In directory $1, the tree tools/ of a guest of another architecture: of this machine's,
# with a cross compiler and the headers of the guest's kernel.
_make_tools()
{
	local dir=$1 modules

	[ -n "$cross" ] || return 0
	mkdir -p "$dir/tools"
	_mmdebstrap "$dir/tools.tar" --variant=minbase "$(_include "${tools[@]}")" &&
	tar -C "$dir/tools" --no-same-owner --exclude='./dev/*' -xf "$dir/tools.tar" &&
	rm "$dir/tools.tar" &&
	modules=$dir/tools/lib/modules/$(<"$dir/kver") &&
	mkdir -p "$modules" "$dir/tools/usr/src" &&
	cp -a -t "$modules" "$dir/root/lib/modules/$(<"$dir/kver")"/{build,source} &&
	cp -al -t "$dir/tools/usr/src" "$dir/root/usr/src"/linux-headers-*
}

# The version of the kernel in the tree $1 that has headers, since modules are to be built
# for it.
_find_kver()
{
	find "$1/lib/modules/" -maxdepth 2 -name build -printf '%h\n' |
	sed 's|.*/||' | sort -V | tail -n 1 | grep .
}

# In directory $1: a kernel of our own, whose modules go into the archive root.tar, too.
_make_own_kernel()
{
	local dir=$1

	_in_tree "$dir/root" tests/vm/build-kernel "$(nproc)" \
		"${config[@]/#/tests/vm/config/}" &&
	mv "$dir/root/boot/vmlinux" "$dir/vmlinux" &&
	_find_kver "$dir/root" >"$dir/kver" &&
	tar -C "$dir/root" --owner=0 --group=0 -rf "$dir/root.tar" \
		"./usr/lib/modules/$(<"$dir/kver")"
}

# In a subshell for the variables of read_arch.
_make_rootfs()
(
	dir=$1

	read_arch "$arch"
	mkdir -p "$dir/root" &&
	_make_root "$dir/root.tar" &&
	tar -C "$dir/root" --no-same-owner --exclude='./dev/*' -xf "$dir/root.tar" &&
	if ((${#config[@]})); then
		_make_own_kernel "$dir"
	else
		_find_kver "$dir/root" >"$dir/kver" &&
		unpack_kernel "$dir/root/boot/vmlinuz-$(<"$dir/kver")" >"$dir/vmlinux"
	fi &&
	# Not compressed: an emulated machine is slow at decompression.
	sqfstar -noI -noD -noF -noX -no-xattrs -quiet -no-progress \
		"$dir/root.sqfs" ${config[0]:+'usr/src/linux-source-*'} <"$dir/root.tar" &&
	rm "$dir/root.tar" &&
	_make_tools "$dir"
)

# With file descriptor 9 as the lock.
_make_rootfs_once()
{
	local name=$1 dir=$2

	flock -n 9 || progress "waiting for another build of root file system '$name'" flock 9
	[ ! -d "$dir" ] || return 0
	# What an interrupted run has left; its tree may belong to root.
	rm -rf "$dir.tmp" 2>/dev/null || as_root rm -rf "$dir.tmp"
	progress "making the root file system '$name'${config[0]:+ and its kernel} (once, takes minutes)" \
		_make_rootfs "$dir.tmp" ||
		die "the root file system '$name' could not be made: check the network and the" \
		    "free space of ${dir%/*}, then try again"
	mv "$dir.tmp" "$dir"
	# Earlier definitions, once nobody has used them for two weeks.
	find "${dir%/*}" -maxdepth 1 -name "$name-*" -mtime +14 -exec rm -rf {} + || :
}

# What the kernel is made of, where it is one of our own.
_config_key()
{
	((!${#config[@]})) || echo " | $kernel_recipe $(cd "$top/tests/vm/config" &&
		grep -hE '^(# )?CONFIG_' "${config[@]}")"
}

# shellcheck disable=SC2034 # cmdline is for vm-run
rootfs_dir()
{
	local name=$1 cache dir
	# Set by the next line.
	local suite kernel other_suites apt_options packages cmdline arch tools lttng
	local config options memory slow pairs detectors
	# A script that has started this one may have found it already.
	local known=LAB_ROOTFS_${name//[^a-zA-Z0-9]/_}

	if [ -d "${!known:-}" ]; then
		echo "${!known}"
		return
	fi
	_kernel_entry "$name"
	cache=$(cache_dir)/rootfs
	# The directory's name tells what is in it: a new definition, a new directory.
	dir=$cache/$name-$(echo "$rootfs_recipe $suite ${kernel[*]} | ${other_suites[*]} |" \
		"${apt_options[*]} | ${packages[*]}${tools[*]:+ | $arch ${tools[*]}}$(_config_key)" |
		sha256sum | cut -c 1-12)
	if [ ! -d "$dir" ]; then
		mkdir -p "$cache"
		_make_rootfs_once "$name" "$dir" 9>"$cache/$name.lock" || exit
	fi
	touch "$dir"
	echo "$dir"
}
