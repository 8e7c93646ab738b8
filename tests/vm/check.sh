#!/usr/bin/env bash
# The suites on the kernel that Debian 12 ships, in a virtual machine: make check-vm TESTS="word word"
#
# What git tracks here is built in the root filesystem that root.sh makes, at this machine's speed, and put on a disk
# of its own; the machine boots Debian's kernel with systemd as process 1, runs inside.sh, and is gone.  Words are those
# of tests/run; the suite vm is there besides.  Everything lies in build/vm; both disks are read, never written.
#
#   VM_SECONDS=5400    the machine's time at most       VM_MEMORY=2048   its memory in MiB
#   VM_ACCEL=tcg       who runs its processors: nobody needs to allow tcg; kvm is ten times as fast where it works
#   VM_FACTOR=10       each file's budget, times this
set -eu
cd "$(dirname "$0")/../.."
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
vm=${BUILD_DIR:-$PWD/build}/vm
console=$vm/console.log
said=$vm/said.log
mkdir -p "$vm"

# Loud, and no failure.
skip() {
	echo "    skipped: vm: $1"
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
}

fail() {
	echo "    FAILED: vm: $1"
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
}

need() {
	local program
	[ "$(uname -m)" = x86_64 ] || skip 'written for x86-64'
	[ "$(id -u)" = 0 ] || skip 'needs root: debootstrap makes device nodes and files of other accounts'
	for program in qemu-system-x86_64 debootstrap mkfs.ext4 git unshare; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	exec 9>"$vm/lock"
	flock -n 9 || skip 'another one is running'
}

# What git tracks, with its times, so that a second build has little to do.
check_out() {
	find "$vm/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} + 2>/dev/null || mkdir -p "$vm/src"
	git ls-files -z | tar --null --ignore-failed-read -T - -c | tar -x --no-same-owner -C "$vm/src"
}

build() {
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child --propagation private sh -euc '
		mount --bind "$1/src" "$1/root/src" && mount -t proc proc "$1/root/proc"
		exec chroot "$1/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		    sh -c "cd /src && make -s -j$(nproc) all && { make -s -k -j$(nproc) tests || true; }"' sh "$vm"
}

# image NAME: of the folder of that name, with some room.
image() {
	local size
	size=$(du -sm "$vm/$1" | cut -f1)
	rm -f "$vm/$1.img.part"
	truncate -s $((size + size / 4 + 1024))M "$vm/$1.img.part"
	mkfs.ext4 -q -F -m 0 -L "$1" -d "$vm/$1" "$vm/$1.img.part"
	mv "$vm/$1.img.part" "$vm/$1.img"
}

# Its first serial line is the kernel's, the second one is what the tests say.
boot() {
	timeout --kill-after=10 "${VM_SECONDS:-5400}" qemu-system-x86_64 -machine "q35,accel=${VM_ACCEL:-tcg}" -cpu max -smp 2 \
	    -m "${VM_MEMORY:-2048}" -no-user-config -nodefaults -display none -no-reboot -nic none \
	    -serial "file:$console" -serial "file:$said" -kernel "$vm/root/boot/vmlinuz" \
	    -append 'root=/dev/nvme0n1 rw console=ttyS0 panic=-1 mitigations=off systemd.show_status=no' \
	    -device nvme,id=disks,serial=disks \
	    -drive "if=none,id=root,format=raw,snapshot=on,cache=unsafe,file=$vm/root.img" -device nvme-ns,drive=root,nsid=1 \
	    -drive "if=none,id=src,format=raw,snapshot=on,cache=unsafe,file=$vm/src.img" -device nvme-ns,drive=src,nsid=2 \
	    </dev/null >"$vm/qemu.log" 2>&1 9>&- &
	machine=$!
	trap 'kill "$machine" 2>/dev/null' EXIT
	trap 'exit 130' INT TERM
	tail --pid="$machine" -n +1 -f "$said" 2>/dev/null 9>&- | sed -u 's/\r$//' 9>&- &
	wait "$machine" || status=$?
	trap - EXIT
	wait
}

# The machine's last line is ours, if there is one.
judge() {
	local last
	last=$(tr -d '\r' <"$said" | tail -n 1)
	if [[ $last != *' passed, '*' failed, '*' skipped' ]]; then
		[ "$status" != 124 ] && [ "$status" != 137 ] || echo "    FAILED: vm: not done after ${VM_SECONDS:-5400} s"
		tail -n 20 "$console" "$vm/qemu.log" | sed 's/^/      | /'
		fail 'ended without a result'
	fi
	[[ $last == *' 0 failed, '* && $last != '0 passed'* ]]
}

main() {
	status=0
	need
	tests/vm/root.sh "$vm/root" || skip "no Debian 12 to be had: $(tail -n 1 "$vm/root.log")"
	[ "$vm/root.img" -nt "$vm/root.made" ] || image root
	check_out
	build || fail 'it does not build there'
	printf '%s\n' "${VM_FACTOR:-10}" "$@" >"$vm/src/build/vm.words"
	image src
	: >"$console"
	: >"$said"
	boot
	judge
}

main "$@"
exit
