# What agent-safe-launch makes before the three start, seen by stand-ins that tell what they were given.

load ../support/launch

NO_CAPS=0000000000000000

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	launch_make
}

teardown() { launch_clean; }

first_uid() { stat -c %u "$LT_STATE/broker"; }

# Before a start that must fail and leave nothing: what an earlier trio of this test left.
sweep() {
	local group
	rm -f "$LT_STATE"/*.sock
	for group in $(cgroups_of_test); do rmdir "$group"; done
}

# refused CODE WORDS [EXIT]: the last run ended with that line and left nothing.
refused() {
	echo "$status: $output"
	[ "$status" = "${3:-2}" ]
	[[ ${lines[-1]} == "$1: "*"$2"* ]]
	no_trio
	[ ! -e "$LT_STATE/control.sock" ]
	[ ! -e "$LT_STATE/propose.sock" ]
	[ -z "$(cgroups_of_test)" ]
}

@test "the three run under uids of their own, without groups, capabilities, environment and terminal" {
	launch
	facts_complete
	base=$(first_uid)
	[ "$base" -ge 2013265920 ]
	i=0
	for name in broker executor auditor; do
		uid=$((base + i))
		fact "$name Uid: $uid $uid $uid $uid"
		fact "$name Gid: $uid $uid $uid $uid"
		fact "$name Groups:  "
		fact "$name CapBnd: $NO_CAPS"
		fact "$name NoNewPrivs: 1"
		pid=$(sed -n "s/^$name pid \([0-9]*\) session .*/\1/p" "$LT_STATE/trio.log")
		fact "$name pid $pid session $pid environment 0"
		i=$((i + 1))
	done
	for set in CapInh CapPrm CapEff CapAmb; do
		fact "broker $set: $NO_CAPS"
		fact "auditor $set: $NO_CAPS"
		fact "executor $set: 00000000002001e0" # SYS_ADMIN SETPCAP SETUID SETGID KILL
	done
}

@test "no process of root stays" {
	launch
	facts_complete
	[ "$(trio_pids | wc -l)" = 3 ]
	for pid in $(trio_pids); do
		for uid in $(sed -n 's/^Uid://p' "/proc/$pid/status"); do
			[ "$uid" -ge 2013265920 ]
		done
	done
}

@test "each has its descriptors in their places and no other" {
	launch
	facts_complete
	state=/var/lib/agent-safe/workspaces/${LT_STATE##*/}
	for name in broker executor auditor; do
		fact "$name fd 0 /dev/null"
		fact "$name fd 1 /dev/null"
		fact "$name fd 2 $state/trio.log"
		fact "$name fd 3 /memfd:boot (deleted)"
		fact "$name fd 4 socket:..."
		fact "$name fd 5 socket:..."
	done
	fact "broker fd 6 socket:..."
	fact "broker fd 7 socket:..."
	fact "broker fd 8 $state/broker"
	fact "broker fd 9 $state/runs"
	fact "broker fd 10 $LT_WS/agent-safe-policy.json"
	fact "broker fd 11 $state/lock"
	fact "executor fd 6 $state/runs"
	fact "executor fd 7 $LT_BIN/agent-safe-keeper"
	fact "executor fd 9 $state/lock"
	# the life line: one pipe, its two ends
	[ "$(fact_value 'executor fd 10')" = "$(fact_value 'auditor fd 9')" ]
	fact "auditor fd 6 $state/audit/log"
	fact "auditor fd 7 $state/audit/key"
	fact "auditor fd 8 $state/lock"
	fact "auditor fd 10 /dev/null" # no courier
	[ "$(grep -c '^broker fd ' "$LT_STATE/trio.log")" = 12 ]
	[ "$(grep -c '^executor fd ' "$LT_STATE/trio.log")" = 11 ]
	[ "$(grep -c '^auditor fd ' "$LT_STATE/trio.log")" = 11 ]
}

@test "the boot record says what is there" {
	launch
	facts_complete
	base=$(first_uid)
	fact "executor boot mode 2 broker $base executor $((base + 1)) auditor $((base + 2)) pids 0 0"
	executor=$(sed -n 's/^executor pid \([0-9]*\) .*/\1/p' "$LT_STATE/trio.log")
	auditor=$(sed -n 's/^auditor pid \([0-9]*\) .*/\1/p' "$LT_STATE/trio.log")
	fact "broker boot mode 2 broker $base executor $((base + 1)) auditor $((base + 2)) pids $executor $auditor"
	fact "auditor boot origin $(hostname)/${LT_STATE##*/}"
	fact "executor boot policy $LT_WS/agent-safe-policy.json digest 7"
	fact "executor boot slot $((base + 3)) $((base + 4))"
	fact "executor boot slot $((base + 7)) $((base + 8))"
	[ "$(grep -c '^executor boot slot' "$LT_STATE/trio.log")" = 3 ]
	fact "executor boot root $LT_WS/proj 0 $LT_UID $LT_UID"
	fact "executor boot root $LT_WS/ro 4 $LT_UID $LT_UID"
}

@test "the executor is in a user namespace that knows its own uid and the slots' and nothing else" {
	launch
	facts_complete
	base=$(first_uid)
	for map in uid_map gid_map; do
		[ "$(grep -c "^executor $map " "$LT_STATE/trio.log")" = 2 ]
		grep -Eqx "executor $map +$((base + 1)) +$((base + 1)) +1" "$LT_STATE/trio.log"
		grep -Eqx "executor $map +$((base + 3)) +$((base + 3)) +6" "$LT_STATE/trio.log"
	done
	fact "executor setuid-0 EINVAL"
	fact "executor setuid-broker EINVAL"
	fact "executor setuid-job ok"
	fact "executor unshare-user ENOSPC"
	fact "executor open-shadow EACCES"
}

# A privilege and a namespace less are there only for policies that need them.
@test "with loopback in the bounds the executor keeps NET_ADMIN too, with ports it stays in the host's network" {
	launch_policy "slots 1" "root 0 $LT_WS/proj" "network 1"
	launch
	facts_complete
	for set in CapPrm CapEff; do
		fact "executor $set: 00000000002011e0"
		fact "broker $set: $NO_CAPS"
	done
	own=$(grep "^executor ns net:" "$LT_STATE/trio.log" | cut -d' ' -f3)
	[ -n "$own" ] && [ "$own" != "$(grep "^broker ns net:" "$LT_STATE/trio.log" | cut -d' ' -f3)" ]
	launch_stop
	: >"$LT_STATE/trio.log"
	launch_policy "slots 1" "root 0 $LT_WS/proj" "network 2 443"
	launch
	facts_complete
	own=$(grep "^executor ns net:" "$LT_STATE/trio.log" | cut -d' ' -f3)
	[ -n "$own" ] && [ "$own" = "$(grep "^broker ns net:" "$LT_STATE/trio.log" | cut -d' ' -f3)" ]
	fact "executor CapEff: 00000000002011e0"
}

@test "the executor has namespaces of its own, broker and auditor do not" {
	launch
	facts_complete
	for kind in user mnt net ipc uts; do
		own=$(grep "^executor ns $kind:" "$LT_STATE/trio.log" | cut -d' ' -f3)
		other=$(grep "^broker ns $kind:" "$LT_STATE/trio.log" | cut -d' ' -f3)
		[ -n "$own" ]
		[ "$own" != "$other" ]
		[ "$other" = "$(grep "^auditor ns $kind:" "$LT_STATE/trio.log" | cut -d' ' -f3)" ]
	done
	fact "broker ns $(readlink /proc/self/ns/net)"
}

@test "state and sockets are covered for the executor, and it cannot uncover them" {
	launch
	facts_complete
	fact "executor mask-entries -1"
	fact "executor mask-socket EACCES" # everybody else may pass the state folder and see it
	inside setpriv --reuid 70002 --clear-groups test -e "/var/lib/agent-safe/workspaces/${LT_STATE##*/}/propose.sock"
	fact "executor umount-mask EINVAL"
	fact "executor umount-proc EINVAL"
	fact "executor fresh-proc-status 0"
	fact "executor mount-tmpfs ok" # its own mounts it may make
}

@test "a root in the box belongs to the job's uid, and on disk to the workspace's owner" {
	launch
	facts_complete
	base=$(first_uid)
	fact "executor box-root-owner ok $((base + 3)) $((base + 3))"
	fact "executor box-create ok"
	[ "$(stat -c %u:%g "$LT_WS/proj/made-by-job")" = $LT_UID:$LT_UID ]
	fact "executor box-create-read-only EROFS"
	fact "executor box-own ok"
	fact "executor box-root-write EACCES"
	[ "$(grep -c '^executor mount .*/run/agent-safe/idm/.*nosuid,nodev.*idmapped' "$LT_STATE/trio.log")" = 6 ]
}

@test "folders have the owners and modes that their rooms need" {
	launch
	facts_complete
	base=$(first_uid)
	is() {
		echo "$1: $(stat -c '%u:%g %a' "$LT_STATE/$1")"
		[ "$(stat -c '%u:%g %a' "$LT_STATE/$1")" = "$2" ]
	}
	is . "0:0 711"
	is lock "0:0 600"
	is trio.log "0:0 600"
	is broker "$base:$base 700"
	is audit "$((base + 2)):$((base + 2)) 700"
	is audit/log "$((base + 2)):$((base + 2)) 700"
	is audit/key "$((base + 2)):$((base + 2)) 700"
	is runs "$((base + 1)):$base 750"
	is runs/0 "$((base + 4)):$base 2750"
	is runs/2 "$((base + 8)):$base 2750"
	# Where the filesystem knows of it: slots lie apart.
	[ "$(stat -f -c %T "$LT_STATE")" != ext2/ext3 ] || lsattr -d "$LT_STATE/runs" | grep '^[^ ]*T'
	is control.sock "0:0 600"
	is propose.sock "0:0 666"
	fact "executor runs-make ok"
	[ "$(stat -c '%u:%g' "$LT_STATE/runs/0/run")" = "$((base + 4)):$base" ]
}

@test "the log is append-only from its first segment on" {
	{ chattr +a "$LT/run" && chattr -a "$LT/run"; } 2>/dev/null || skip "this filesystem has no append-only flag"
	launch
	[[ $(lsattr -d "$LT_STATE/audit/log") == *-a-* ]]
	[[ $(lsattr "$LT_STATE/audit/log/seg-00000000000000000000.jsonl") == *-a-* ]]
	launch_stop
	launch # and a start with the flags already there
	launch_stop
}

@test "the cgroup: the three in daemons, jobs belongs to the executor" {
	[ -n "$(cgroup_root)" ] || skip "no cgroup2 here"
	launch
	facts_complete
	base=$(first_uid)
	group=$(cgroup_root)$(sed -n 's/^broker cgroup 0:://p' "$LT_STATE/trio.log")
	[ "${group##*/}" = daemons ]
	[ "$(grep -c "^[a-z]* cgroup 0::.*agent-safe-tmp.*/daemons$" "$LT_STATE/trio.log")" = 3 ]
	[ "$(stat -c %u "${group%/*}/jobs")" = $((base + 1)) ]
	[ "$(stat -c %u "${group%/*}/jobs/cgroup.procs")" = $((base + 1)) ]
	[ "$(stat -c %u "${group%/*}/cgroup.procs")" = $((base + 1)) ]
	[ "$(stat -c %u "${group%/*}/cgroup.subtree_control")" = 0 ]
	[ "$(stat -c %u "$group")" = 0 ]
	fact "executor make-job-cgroup ok"
	fact "executor fd 8 ${group%/*}/jobs"
}

@test "a second launch finds the trio and starts nothing" {
	launch
	facts_complete
	before=$(trio_pids)
	launch
	[ "$(trio_pids)" = "$before" ]
}

@test "launches that race end with one trio" {
	pids=
	for i in 1 2 3 4; do
		launch > "$LT/out.$i" 2>&1 &
		pids="$pids $!"
	done
	for pid in $pids; do wait "$pid"; done
	[ "$(trio_pids | wc -l)" = 3 ]
	[ "$(grep -c '^broker pid ' "$LT_STATE/trio.log")" = 1 ]
}

@test "after its end the trio starts again under the same uids, and stale sockets are replaced" {
	launch
	facts_complete
	before=$(first_uid)
	launch_stop
	[ -S "$LT_STATE/control.sock" ]
	launch
	[ "$(first_uid)" = "$before" ]
	[ "$(grep -c '^broker pid ' "$LT_STATE/trio.log")" = 2 ]
	[ "$(wc -l < "$LT/var-lib/agent-safe/uids")" = 1 ]
}

@test "no number is given to another workspace" {
	launch
	facts_complete
	launch_stop
	one=$(first_uid)
	mkdir "$LT/ws2"
	launch_at --workspace "$LT/ws2"
	LT_STATE=${LT_STATE}2
	two=$(first_uid)
	[ $((two - one)) -ge 131 ]
	[ "$(wc -l < "$LT/var-lib/agent-safe/uids")" = 2 ]
}

@test "a lost registry is rebuilt from the owners of the state" {
	launch
	facts_complete
	launch_stop
	before=$(first_uid)
	sed -i "s/^$before /$((before + 512)) /; s/-ws$/-other/" "$LT/var-lib/agent-safe/uids"
	launch
	[ "$(first_uid)" = "$before" ]
	grep -q "^$before .*-ws$" "$LT/var-lib/agent-safe/uids"
}

@test "a copied state and a damaged registry are refused" {
	launch
	facts_complete
	launch_stop
	sweep
	cp "$LT/var-lib/agent-safe/uids" "$LT/uids"
	sed -i 's/-ws$/-other/' "$LT/var-lib/agent-safe/uids"
	run launch
	refused invalid_input "another workspace"
	echo "12 x" >> "$LT/var-lib/agent-safe/uids"
	run launch
	refused internal_error "registry" 3
	printf 'no newline' > "$LT/var-lib/agent-safe/uids"
	run launch
	refused internal_error "damaged" 3
	cp "$LT/uids" "$LT/var-lib/agent-safe/uids"
	launch
}

@test "a link planted at any path of the state is refused and not followed" {
	echo canary > "$LT/canary"
	launch
	facts_complete
	launch_stop
	chattr -f -R -a "$LT_STATE/audit" || true
	cp -a "$LT_STATE" "$LT/kept"
	for name in lock trio.log broker runs runs/0 audit audit/log audit/key control.sock propose.sock; do
		rm -rf "${LT_STATE:?}/$name"
		ln -s "$LT/canary" "$LT_STATE/$name"
		run launch
		echo "$name: $status: $output"
		[ "$status" = 2 ]
		[[ ${lines[-1]} == "invalid_input: "*"/$name"* ]]
		no_trio
		[ "$(cat "$LT/canary")" = canary ]
		[ "$(stat -c '%u %a' "$LT/canary")" = "0 644" ]
		chattr -f -R -a "$LT_STATE/audit" || true
		rm -rf "${LT_STATE:?}"
		cp -a "$LT/kept" "$LT_STATE"
	done
	for name in workspace.new roots.new sockets.new; do # made anew: the link itself is replaced
		ln -sf "$LT/canary" "$LT_STATE/$name"
	done
	launch
	[ "$(cat "$LT/canary")" = canary ]
}

@test "a state of somebody else or that others can write is refused" {
	mkdir -p "$LT/mine/s" "$LT/open/s" "$LT/wide/s"
	chown 70002 "$LT/mine/s"
	chmod 777 "$LT/wide/s" "$LT/open"
	run launch --state "$LT/mine/s"
	refused invalid_input "mine/s belongs to uid 70002"
	run launch --state "$LT/wide/s"
	refused invalid_input "wide/s can be written by others"
	run launch --state "$LT/open/s"
	refused invalid_input "everybody can write the folder $LT/open"
}

@test "state or log inside an allowed root is refused" {
	run launch --state "$LT_WS/proj/state"
	refused invalid_input "lies inside the allowed root $LT_WS/proj"
	launch_policy "root 2 /"
	run launch
	refused invalid_input "lies inside the allowed root /"
	launch_policy "root 2 /var/lib/agent-safe/workspaces/${LT_STATE##*/}/broker"
	run launch
	refused invalid_input "the allowed root"
}

@test "a root of root is left out unless the policy allows it" {
	mkdir "$LT/rooted"
	launch_policy "root 0 $LT/rooted" "root 0 $LT_WS/proj"
	run launch
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"$LT/rooted is left out: it belongs to root"*root_owned* ]]
	facts_complete
	[ "$(grep -c '^executor boot root' "$LT_STATE/trio.log")" = 1 ]
	launch_stop
	launch_policy "root 2 $LT/rooted"
	: > "$LT_STATE/trio.log"
	run launch
	echo "$output"
	[ "$status" = 0 ]
	facts_complete
	fact "executor boot root $LT/rooted 2 0 0"
	[ "$(stat -c %u "$LT/rooted/made-by-job")" = 0 ]
}

@test "a policy that is not root's cannot give away other people's folders" {
	mkdir "$LT/rooted" "$LT/other"
	chown 70002 "$LT/other"
	launch_policy "root 2 $LT/rooted" "root 0 $LT/other" "root 0 $LT_WS/proj"
	chown $LT_UID "$LT_WS/agent-safe-policy.json"
	run launch
	[ "$status" = 0 ]
	[[ $output == *"$LT/rooted is left out: the policy belongs to uid $LT_UID"* ]]
	[[ $output == *"$LT/other is left out: the policy belongs to uid $LT_UID"* ]]
	facts_complete
	[ "$(grep -c '^executor boot root' "$LT_STATE/trio.log")" = 1 ]
	fact "executor boot root $LT_WS/proj 0 $LT_UID $LT_UID"
}

@test "a root that is a link becomes canonical, one that is not there is left out" {
	ln -s "$LT_WS/proj" "$LT/link"
	launch_policy "root 0 $LT/link" "root 0 $LT/absent"
	run launch
	[ "$status" = 0 ]
	[[ $output == *"$LT/absent is left out"* ]]
	facts_complete
	fact "executor boot root $LT_WS/proj 0 $LT_UID $LT_UID"
	[ "$(grep -c '^executor boot root' "$LT_STATE/trio.log")" = 1 ]
}

@test "a root whose filesystem cannot be mounted with another owner is left out" {
	launch_policy "root 2 /sys/kernel" "root 0 $LT_WS/proj"
	run launch
	[ "$status" = 0 ]
	[[ $output == *"/sys/kernel is left out: its filesystem"* ]]
	facts_complete
	[ "$(grep -c '^executor boot root' "$LT_STATE/trio.log")" = 1 ]
}

@test "others use root's trio, and cannot start it" {
	as_other() {
		inside setpriv --reuid 70002 --regid 70002 --clear-groups env -i HOME="$LT" \
		    timeout 60 "$LT_BIN/agent-safe-launch" --workspace "$LT_WS"
	}
	launch
	facts_complete
	as_other
	[ "$(trio_pids | wc -l)" = 3 ]
	launch_stop
	run as_other
	echo "$output"
	[ "$status" = 2 ]
	[[ ${lines[-1]} == "not_permitted: root has to start"* ]]
	no_trio
}

@test "without a policy, or with a broken one, the trio starts with no roots" {
	launch_policy broken
	run launch
	echo "$output"
	[ "$status" = 0 ]
	[[ $output == *"this policy is broken"* ]]
	facts_complete
	[ "$(grep -c '^executor boot root' "$LT_STATE/trio.log")" = 0 ]
	fact "broker boot policy $LT_WS/agent-safe-policy.json digest 0"
	launch_stop
	rm "$LT_WS/agent-safe-policy.json"
	: > "$LT_STATE/trio.log"
	launch
	facts_complete
	fact "broker fd 10 /dev/null"
}

@test "a broker that crashes over the policy or talks nonsense ends the start" {
	launch_policy crash
	run launch
	refused internal_error "cannot read the policy" 3
	for policy in garbage "root 99 /tmp" "root 0 relative" "slots 65" "slots 0"; do
		launch_policy "$policy"
		run launch
		refused internal_error "bounds" 3
	done
}

@test "an executor that dies at its start takes everything with it, and its reason is told" {
	launch
	facts_complete
	launch_stop
	sweep
	touch "$LT_STATE/runs/die"
	run launch
	refused cage_unavailable "this kernel is too old"
	rm "$LT_STATE/runs/die"
	launch
}

@test "an auditor that does not accept its log ends the start with its reason" {
	launch
	facts_complete
	launch_stop
	sweep
	touch "$LT_STATE/audit/key/refuse"
	run launch
	refused audit_integrity_error "line 3 was altered"
}

@test "an ordinary user gets the same three under the own uid, without namespaces from launch" {
	chown -R $LT_UID "$LT_WS"
	mkdir "$LT/home"
	chown $LT_UID "$LT/home"
	as_user() {
		inside setpriv --reuid $LT_UID --regid $LT_UID --clear-groups env -i HOME="$LT/home" \
		    timeout 60 "$LT_BIN/agent-safe-launch" --workspace "$LT_WS"
	}
	as_user
	LT_STATE=$LT/home/.local/state/agent-safe/${LT_STATE##*/}
	facts_complete mount
	for name in broker executor auditor; do
		fact "$name Uid: $LT_UID $LT_UID $LT_UID $LT_UID"
		fact "$name NoNewPrivs: 1"
		fact "$name CapPrm: $NO_CAPS"
		fact "$name ns $(readlink /proc/self/ns/user)"
	done
	fact "executor boot mode 3 broker $LT_UID executor $LT_UID auditor $LT_UID pids 0 0"
	[ "$(stat -c %a "$LT_STATE")" = 700 ]
	[ "$(stat -c %a "$LT_STATE/control.sock")" = 600 ]
	[ "$(stat -c %a "$LT_STATE/propose.sock")" = 600 ]
	[ "$(stat -c '%u %a' "$LT_STATE/box")" = "$LT_UID 700" ]
	before=$(trio_pids)
	as_user
	[ "$(trio_pids)" = "$before" ]
	launch_stop "$LT_STATE/control.sock"
}

@test "the system's three need their users, and the sockets belong to their groups" {
	mkdir "$LT/etc/policy"
	printf 'slots 1\n' > "$LT/etc/policy/policy.json"
	system() { launch_at --system --policy "$LT/etc/policy/policy.json" --log-to-stderr 2> "$LT/log"; }
	run system
	[ "$status" = 2 ]
	grep -q "invalid_input: user agent-safe is missing" "$LT/log"
	cat >> "$LT/etc/passwd" <<-'END'
	agent-safe:x:901:911::/:/usr/sbin/nologin
	agent-safe-exec:x:902:912::/:/usr/sbin/nologin
	agent-safe-audit:x:903:913::/:/usr/sbin/nologin
	END
	printf 'agent-safe-propose:x:921:\nagent-safe-operate:x:922:\n' >> "$LT/etc/group"
	chmod 666 "$LT/etc/policy/policy.json"
	run system
	[ "$status" = 2 ]
	chmod 644 "$LT/etc/policy/policy.json"
	system
	state=$LT/var-lib/agent-safe
	grep -qx "broker Uid: 901 901 901 901" "$LT/log"
	grep -qx "broker Gid: 911 911 911 911" "$LT/log"
	grep -qx "executor Uid: 902 902 902 902" "$LT/log"
	grep -qx "auditor Uid: 903 903 903 903" "$LT/log"
	grep -Eqx "executor uid_map +902 +902 +1" "$LT/log"
	grep -Eqx "executor gid_map +912 +912 +1" "$LT/log"
	grep -qx "executor boot slot 2013265923 2013265924" "$LT/log"
	[ "$(stat -c '%u:%g %a' "$LT/run/agent-safe/propose.sock")" = "0:921 660" ]
	[ "$(stat -c '%u:%g %a' "$LT/run/agent-safe/control.sock")" = "0:922 660" ]
	[ "$(stat -c '%u:%g %a' "$state/runs/0")" = "2013265924:911 2750" ]
	launch_stop /run/agent-safe/control.sock
	top=$(cgroup_root)
	[ -z "$top" ] || find "$top" -depth -type d -path '*/agent-safe-system*' -exec rmdir {} +
}

@test "what cannot be meant is refused with its code" {
	run launch_at --nonsense
	[ "$status" = 2 ]
	[[ ${lines[-1]} == "invalid_input: --nonsense is no option"* ]]
	run launch_at --workspace
	[ "$status" = 2 ]
	run launch_at --workspace "$LT/absent"
	[ "$status" = 2 ]
	[[ ${lines[-1]} == "invalid_input: "* ]]
	cd "$LT"
	run launch_at
	[ "$status" = 2 ]
	[[ ${lines[-1]} == "no_workspace: "* ]]
	[ ! -e "$LT/var-lib/agent-safe" ]
}
