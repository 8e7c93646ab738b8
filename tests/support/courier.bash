# Witnesses on this machine, as two folders and a plain command; source it after workspace.bash.
#
#   courier_setup             a workspace that ran once: LOG_VKEY, COURIER_UID, VKEY_w1 VKEY_w2
#   courier_policy JQ...      the section "audit" from jq's object syntax; $w1 and $w2 are the witnesses, $keep an export
#   courier_start             with these commands allowed
#   courier_mode NAME [SH]    what the command of that witness does first ("export" too); without SH: nothing
#   courier_await FILTER      until the status has that, or fail
#   cosigned NAME             how many lines the witness has cosigned

courier_setup() {
	workspace_make
	agent_safe status >"$WS_TOP/first"
	LOG_VKEY=$(jq -er .log_vkey "$WS_TOP/first")
	agent_safe serve --stop >/dev/null
	COURIER_UID=$(is_root && echo $(($(stat -c %u "$WS_STATE/broker") + 255)) || id -u)
	OUT=$WS_TOP/out
	mkdir "$OUT"
	cp "$BUILD_DIR/agent-safe-witness" "$WS_TOP/witness"
	local name
	for name in w1 w2; do
		printf -v "VKEY_$name" %s "$("$WS_TOP/witness" init "$OUT/$name" "example.org/$name")"
		"$WS_TOP/witness" trust "$OUT/$name" "$LOG_VKEY"
	done
	# What sshd does with a forced command: the body is its input, its answer goes back.
	cat >"$WS_TOP/ask" <<-END
	echo \$1 >>"$OUT/asked"
	[ ! -e "$OUT/mode.\$1" ] || . "$OUT/mode.\$1"
	case \$1 in
	export) cat >>"$OUT/exported" ;;
	*) exec "$WS_TOP/witness" add "$OUT/\$1" ;;
	esac
	END
	if is_root; then chown -R "$COURIER_UID:$COURIER_UID" "$OUT"; fi
}

courier_policy() {
	jq -n --arg ask "$WS_TOP/ask" --arg v1 "$VKEY_w1" --arg v2 "$VKEY_w2" '
	    def witness($n; $v): { name: "example.org/\($n)", key: $v, command: ["/bin/sh", $ask, $n] };
	    witness("w1"; $v1) as $w1 | witness("w2"; $v2) as $w2 | ["/bin/sh", $ask, "export"] as $keep |
	    { version: 2, allowed_working_roots: ["proj"],
	      rules: ([["true"], ["false"], ["echo"], ["sleep"]] | map({ program: .[0] })), audit: '"$1"' }' | workspace_policy
}

courier_start() {
	as_uid "${WS_OPERATOR:-$(id -u)}" "$WS_BIN/agent-safe-launch" --workspace "$WS" --state "$WS_STATE" \
	    --allow-commands 3>&- 4>&-
}

courier_mode() {
	if [ -n "${2:-}" ]; then echo "$2" >"$OUT/mode.$1"; else rm -f "$OUT/mode.$1"; fi
}

status_has() { agent_safe status | jq -e "$1" >/dev/null; }

courier_await() {
	wait_until 10 status_has "$1" && return
	agent_safe status | jq '{witnesses, export, warnings, pids}'
	cat "$WS_STATE/trio.log"
	return 1
}

witness_state() { agent_safe status | jq -er ".witnesses[] | select(.name == \"example.org/$1\").state"; }

cosigned() { "$WS_TOP/witness" show "$OUT/$1" 2>/dev/null | sed -n 2p | cut -d' ' -f2; }

log_types() { cat "$WS_STATE"/audit/log/seg-*.jsonl | jq -r .type; }
