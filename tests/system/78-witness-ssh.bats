#!/usr/bin/env bats
# A witness behind a forced command: a real sshd on the loopback, of the test's own, whose one key may do one thing.

load ../support/workspace
load ../support/courier

setup() {
	SERVER=
	is_root || skip "needs root for an sshd that starts sessions"
	SSHD=$(PATH=$PATH:/usr/sbin command -v sshd) || skip "no sshd: openssh-server is not installed"
	command -v ssh >/dev/null || skip "no ssh"
	# An ordinary user's workspace: ssh wants an account for its uid.
	COURIER_UID=$(id -u nobody)
	workspace_make "$COURIER_UID"
	chown -R "$COURIER_UID:$COURIER_UID" "$WS_TOP"
	WS_OPERATOR=$COURIER_UID
	agent_safe status >"$WS_TOP/first" || skip "no trio as an ordinary user: $(cat "$WS_TOP/first")"
	agent_safe serve --stop >/dev/null
	OUT=$WS_TOP/out
	mkdir "$OUT"
	VKEY_w1=$("$WS_BIN/agent-safe-witness" init "$OUT/w1" example.org/w1)
	"$WS_BIN/agent-safe-witness" trust "$OUT/w1" "$(jq -er .log_vkey "$WS_TOP/first")"
	ssh_start
}

teardown() {
	if [ -n "$SERVER" ]; then kill "$SERVER" && wait "$SERVER" || true; fi
	[ -z "${MADE_RUN:-}" ] || rmdir /run/sshd
	if [ -n "${WS_TOP:-}" ]; then workspace_clean; fi
}

# The witness' account is root here, for want of another that may be logged in to.
ssh_start() {
	ssh-keygen -q -t ed25519 -N '' -f "$OUT/host"
	ssh-keygen -q -t ed25519 -N '' -f "$OUT/client"
	chown "$COURIER_UID" "$OUT/client"
	echo "restrict,command=\"$WS_BIN/agent-safe-witness add $OUT/w1\" $(cat "$OUT/client.pub")" >"$OUT/authorized"
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	printf '%s\n' "Port $port" 'ListenAddress 127.0.0.1' "HostKey $OUT/host" "AuthorizedKeysFile $OUT/authorized" \
	    'StrictModes no' 'UsePAM no' 'PasswordAuthentication no' 'PermitRootLogin forced-commands-only' 'PidFile none' >"$OUT/sshd"
	echo "[127.0.0.1]:$port $(cat "$OUT/host.pub")" >"$OUT/known"
	[ -d /run/sshd ] || { mkdir /run/sshd && MADE_RUN=yes; }
	"$SSHD" -D -e -f "$OUT/sshd" 2>"$OUT/sshd.log" 3>&- 4>&- &
	SERVER=$!
	ASK=("$(command -v ssh)" -F none -T -p "$port" -i "$OUT/client" -o BatchMode=yes -o ConnectTimeout=5 -o IdentitiesOnly=yes
	    -o "UserKnownHostsFile=$OUT/known" root@127.0.0.1)
	for _ in $(seq 100); do
		run as_uid "$COURIER_UID" "${ASK[@]}" </dev/null
		[ "$status" = 255 ] && grep -q refused <<<"$output" || break
		sleep 0.1
	done
	# 2: the witness has read an empty body.
	[ "$status" = 2 ] || skip "sshd lets nobody in here: $output $(tail -n 2 "$OUT/sshd.log" | tr '\n' ' ')"
}

@test "ssh to a forced command: it cosigns, and nothing else can be asked for with that key" {
	run as_uid "$COURIER_UID" "${ASK[@]}" id </dev/null
	[ "$status" = 2 ]
	jq -n --arg key "$VKEY_w1" '{ version: 2, allowed_working_roots: ["proj"], rules: [{ program: "true" }],
	    audit: { witnesses: [{ name: "example.org/w1", key: $key, command: $ARGS.positional }], require: "exec" } }' \
	    --args -- "${ASK[@]}" | workspace_policy
	courier_start
	run_job true | jq -e '.status == "succeeded"'
	courier_await '.witnesses[0] | .state == "good" and .cosigned > 8'
	agent_safe serve --stop >/dev/null
	"$BUILD_DIR/agent-safe-audit-verify" --key "$(jq -r .public_key "$WS_TOP/first")" --witness "$VKEY_w1" "$WS_STATE/audit/log"
}
