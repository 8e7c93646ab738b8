#!/usr/bin/env bash
# A root filesystem of Debian 12 with its own kernel and what build and tests need: tests/vm/root.sh FOLDER
#
# Made once, by debootstrap, in mount and process namespaces that take along whatever a failure leaves.  What is asked
# for is named in FOLDER.made; another list here makes another one.  MIRROR: where from, if not debootstrap's own.
set -eu
root=$1
here=$(cd "$(dirname "$0")" && pwd)
packages='systemd-sysv dbus-user-session libpam-systemd udev kmod make apparmor procps iproute2 file'
kernel=linux-image-cloud-amd64

if [ "${IN_NAMESPACE:-}" != yes ]; then
	wanted=$(cat "$0" "$here/check.service" "$here/../../packaging/deps" | sha256sum)
	[ "$(cat "$root.made" 2>/dev/null)" != "$wanted" ] || exit 0
	rm -rf "$root" "$root.img"
	mkdir -p "$root"
	IN_NAMESPACE=yes unshare --mount --pid --fork --kill-child --propagation private "$0" "$root"
	echo "$wanted" >"$root.made"
	exit
fi

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8 "$@"; }

# The metapackage depends on the kernel of the day; unpacked, not installed: its drivers for this disk and ext4 are
# built in, so that there is no initial ramdisk to make.
unpack_kernel() {
	local package
	package=$(inside apt-cache depends "$kernel" | awk '$1 == "Depends:" && /linux-image/ { print $2; exit }')
	inside sh -euc "cd /tmp; apt-get -q download $package
		dpkg-deb --fsys-tarfile $package*.deb | tar -x --keep-directory-symlink -C /; rm $package*.deb"
	inside depmod "${package#linux-image-}"
	ln -sf "$(basename "$root"/boot/vmlinuz-*)" "$root/boot/vmlinuz"
}

# Who is there besides root: somebody with a login session.
settle() {
	inside useradd --create-home --shell /bin/bash ana
	inside passwd -q -d root
	echo agent-safe-vm >"$root/etc/hostname"
	echo '127.0.0.1 localhost agent-safe-vm' >"$root/etc/hosts"
	printf '%s\n' '/dev/nvme0n1 / ext4 defaults 0 0' 'LABEL=src /src ext4 defaults 0 0' >"$root/etc/fstab"
	mkdir -p "$root/src"
	cp "$here/check.service" "$root/etc/systemd/system/"
	inside systemctl -q enable check.service
	# Nothing that works by the clock or waits for a network.
	inside systemctl -q mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer systemd-networkd-wait-online.service
}

debootstrap --variant=minbase bookworm "$root" ${MIRROR:+"$MIRROR"} >"$root.log" 2>&1
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
mount --bind "$here/../../packaging" "$root/mnt"
{
	inside apt-get -q update
	# shellcheck disable=SC2086
	inside apt-get -q install -y --no-install-recommends $packages
	inside /mnt/deps test
	unpack_kernel
	inside apt-get clean
	settle
} >>"$root.log" 2>&1
