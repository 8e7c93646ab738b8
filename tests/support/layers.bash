# The executor without one of its layers (tests/layers/layers.c).  After workspace.bash and hostile.bash.
#
#   layers_make              hostile_make, with that executor
#   layers_without NAME...   run the probe in a cage without these layers; what noticed is in $NOTICED, one line each:
#                            "start: MESSAGE", "refused: STAGE", or the name of an attempt that was not refused as it should be
#   noticed WHAT NAME...     layers_without; fails when WHAT is not among what noticed
#   layers_row LAYER WHAT    one line of the table: the layer, and what noticed

layers_make() {
	hostile_make
	cp "$BUILD_DIR/layers/agent-safe-executor" "$WS_BIN/"
	NOTICED=$BATS_FILE_TMPDIR/noticed
	export NOTICED
}

# What an attempt before this one may have taken away.
layers_refresh() {
	rm -rf "$WS"/proj/.[a-z]* "$WS"/proj/probe-*
	mkdir "$WS/proj/.vscode"
	echo '{}' >"$WS/proj/.mcp.json"
	! is_root || chown "$WS_UID:$WS_UID" "$WS/proj/.vscode" "$WS/proj/.mcp.json"
}

layers_without() {
	local status=0 attempts=$BATS_TEST_TMPDIR/attempts
	echo "$*" >"$WS_BIN/layer"
	: >"$NOTICED"
	workspace_stop
	layers_refresh
	if ! agent_safe status >"$BATS_TEST_TMPDIR/status" 2>"$BATS_TEST_TMPDIR/complaint"; then
		jq -r '"start: " + (.error.message | sub("^[a-z]+: "; ""))' "$BATS_TEST_TMPDIR/complaint" >"$NOTICED"
		return 0
	fi
	hostile_run --timeout 100 -- run "${LISTENERS[@]}" --path "$WS/agent-safe-policy.json" || status=$?
	[ "$status" = 0 ]
	if jq -e '.attempts_log[-1].outcome == "refused"' "$JOB" >/dev/null; then
		jq -r '"refused: " + .attempts_log[-1].stage' "$JOB" >"$NOTICED"
		return 0
	fi
	command jq -r .result.stdout "$JOB" >"$attempts"
	sed -n 's/^[0-9]* \(.*\): .* UNEXPECTED$/\1/p' "$attempts" >"$NOTICED"
	[ -s "$NOTICED" ] || command jq -r 'select(.status != "succeeded") | "the job: " + (.error_class // .status)' "$JOB" >"$NOTICED"
}

# Descriptor 3 is bats' own: tests/run shows lines that begin with "# | ".
layers_row() { printf '# | %-34s %s\n' "without $1" "$2" >&3; }

noticed() {
	local what=$1 others
	shift
	layers_without "$@"
	grep -qxF -- "$what" "$NOTICED" || {
		echo "without $*: \"$what\" is not in:"
		cat "$NOTICED"
		return 1
	}
	others=$(($(wc -l <"$NOTICED") - 1))
	[ $others = 0 ] || what+=" (and $others more)"
	layers_row "$*" "$what"
}
