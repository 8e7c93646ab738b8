#!/usr/bin/env bash
# In the machine of check.sh, as root out of a unit of its own: the suites, in a session as an operator has one.
cd /src || exit
mapfile -t words <build/vm.words
echo "Linux $(uname -r), systemd $(systemctl --version | awk 'NR == 1 { print $2 }'), cgroup v2: $(cat /sys/fs/cgroup/cgroup.controllers)"
echo "security modules: $(cat /sys/kernel/security/lsm), booted in $(cut -d' ' -f1 /proc/uptime) s"
exec runuser -l root -c 'cd /src && VM=yes BUDGET_FACTOR=$0 JOBS=2 exec tests/run "$@"' "${words[@]}"
