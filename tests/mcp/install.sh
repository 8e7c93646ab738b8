#!/usr/bin/env bash
# make check-agents: the agents' command lines into BUILD/npm.  What cannot be had is named; its test is skipped then.
set -u
. "$(dirname "$0")/../support/agents.bash"

for package in $NODE_PACKAGE $(for agent in $AGENT_CLIS; do agent_package "$agent"; done); do
	npm_install "$package" || echo "cannot be had: $package (see $NPM/log)"
done
