#!/usr/bin/env bats
# agent-safe mcp config: the same as the files that are delivered, valid, and right for any path.

ROOT=${ROOT:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$ROOT/build}

setup() {
	WS="$BATS_TEST_TMPDIR/work space"
	mkdir -p "$WS"
	echo '{"version":2,"allowed_working_roots":["."],"rules":[]}' >"$WS/agent-safe-policy.json"
}

config() { "$BUILD_DIR/agent-safe" --workspace "$WS" "$@"; }

@test "packaging/mcp has what mcp config prints, but for the two paths" {
	local host count=0
	for file in "$ROOT"/packaging/mcp/*; do
		host=$(basename "${file%.*}")
		config mcp config "$host" | sed "s|$BUILD_DIR/|/usr/bin/|; s|$WS|/srv/workspace|" | diff "$file" -
		count=$((count + 1))
	done
	[ $count = 4 ]
}

@test "each is valid in its own format, whatever the paths are; a relative one becomes absolute" {
	mv "$WS" "$WS\"'\\ \$x"
	WS+="\"'\\ \$x"
	for host in claude gemini opencode codex; do
		(cd "$WS" && "$BUILD_DIR/agent-safe" --state ./st mcp config $host) >"$BATS_TEST_TMPDIR/$host"
	done
	/usr/bin/python3 - "$BATS_TEST_TMPDIR" "$WS" "$BUILD_DIR/agent-safe-mcp" <<-'END'
	import json, os, sys, tomllib
	top, ws, program = sys.argv[1:]
	words = ["--workspace", os.path.realpath(ws), "--state", os.path.realpath(ws) + "/st"]
	read = {h: json.load(open(top + "/" + h)) for h in ("claude", "gemini", "opencode")}
	read["codex"] = tomllib.load(open(top + "/codex", "rb"))
	for host, key in (("claude", "mcpServers"), ("gemini", "mcpServers"), ("codex", "mcp_servers")):
	    entry = read[host][key]["agent-safe"]
	    assert (entry["command"], entry["args"]) == (program, words), entry
	assert read["opencode"]["mcp"]["agent-safe"]["command"] == [program] + words
	END
}

@test "system mode, an unknown host, no workspace" {
	"$BUILD_DIR/agent-safe" --system mcp config claude | jq -e '.mcpServers["agent-safe"].args == ["--system"]'
	run config mcp config emacs
	[ "$status" = 2 ]
	cd /
	run "$BUILD_DIR/agent-safe" mcp config claude
	[ "$status" = 2 ] && [[ $output == *no_workspace* ]]
	run "$BUILD_DIR/agent-safe" mcp config
	[ "$status" = 2 ]
}

@test "what it prints for Claude starts a server that answers" {
	config mcp config claude >"$BATS_TEST_TMPDIR/claude"
	mapfile -t command < <(jq -r '.mcpServers["agent-safe"] | .command, .args[]' "$BATS_TEST_TMPDIR/claude")
	cp "${command[0]}" "$BATS_TEST_TMPDIR/" # alone: there is nothing that could start a trio
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}' |
	    timeout 10 "$BATS_TEST_TMPDIR/agent-safe-mcp" "${command[@]:1}" | jq -e '.result.serverInfo.name == "agent-safe"'
}
