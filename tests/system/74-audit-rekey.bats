#!/usr/bin/env bats
# The key of a log is lost: who can continue it, how, and what a verifier says of it.

load ../support/workspace

setup() {
	need_root
	workspace_make
	workspace_start
	ID=$(run_job echo one | jq -er .id)
	KEY=$(agent_safe status | jq -er .public_key)
	AUDIT=$WS_STATE/audit
	VERIFY=$WS_BIN/agent-safe-audit-verify
	OPERATOR=$("$VERIFY" --make-operator-key "$WS_TOP/secret")
	agent_safe serve --stop >/dev/null
}

teardown() { workspace_clean; }

place_operator() { echo "$OPERATOR" >"$AUDIT/key/operator"; }

sign_request() {
	"$VERIFY" --key "$KEY" --sign-rekey "$AUDIT/key/rekey.request" --secret "$WS_TOP/secret" --reason "disk died" "$AUDIT/log"
}

@test "the operator's key: a secret that only its owner reads, never written over" {
	[ "$(stat -c %a "$WS_TOP/secret")" = 600 ]
	[ "$(base64 -d <<<"$OPERATOR" | wc -c)" = 32 ]
	run "$VERIFY" --make-operator-key "$WS_TOP/secret"
	[ "$status" = 2 ]
}

@test "no key.state: nothing starts and the remedy is named, with and without an operator's key" {
	rm "$AUDIT/key/key.state"
	run agent_safe status
	[ "$status" = 2 ]
	[[ $output == *"there is a log but no key.state"*"RECOVERY"* ]]
	place_operator
	run agent_safe status
	[ "$status" = 2 ]
	[[ $output == *"only the operator can continue it"*"rekey.request"*"REKEY"* ]]
	# Nothing of the log has changed.
	"$VERIFY" --key "$KEY" "$AUDIT/log"
}

@test "the operator signs what was verified: the log goes on, loudly, and verifies with the operator's key" {
	rm "$AUDIT/key/key.state"
	place_operator
	run agent_safe status
	sign_request >"$AUDIT/key/rekey.statement"
	workspace_start
	grep -q "continued on the operator's word" "$WS_STATE/trio.log"
	run_job true | jq -e '.status == "succeeded"'
	agent_safe audit export | jq -es 'map(select(.type == "log.rekey")) | length == 1 and .[0].d.reason == "disk died"'
	agent_safe audit-verify --operator-key "$OPERATOR" | jq -e '.valid and .rekeys == 1'
	run agent_safe audit-verify
	[ "$status" = 6 ]
	[[ $output == *"only the operator's key can tell"* ]]
	"$VERIFY" --make-operator-key "$WS_TOP/other" >"$WS_TOP/other.pub"
	run agent_safe audit-verify --operator-key "$(cat "$WS_TOP/other.pub")"
	[ "$status" = 4 ]
	# Checkpoints, proofs and removal go across it.
	agent_safe audit note --operator-key "$OPERATOR" >"$WS_TOP/note"
	agent_safe audit prove "$ID" --operator-key "$OPERATOR" >"$WS_TOP/proof"
	"$VERIFY" --proof "$WS_TOP/proof" --key "$KEY" --operator-key "$OPERATOR"
	run "$VERIFY" --proof "$WS_TOP/proof" --key "$KEY"
	[ "$status" = 6 ]
	agent_safe audit rotate >/dev/null
	run_job true >/dev/null
	run agent_safe audit prune --before 99999999
	[ "$status" = 2 ]
	agent_safe audit prune --before 99999999 --operator-key "$OPERATOR" | jq -e '.segments == 2'
	agent_safe audit-verify --operator-key "$OPERATOR" | jq -e '.valid and .key_trusted and .rekeys == 1'
	agent_safe serve --stop >/dev/null
	"$VERIFY" --key "$KEY" --operator-key "$OPERATOR" --note "$WS_TOP/note" "$AUDIT/log"
	workspace_start
}

@test "a log that was cut cannot be signed as it was asked for, nor one that does not verify" {
	rm "$AUDIT/key/key.state"
	place_operator
	run agent_safe status
	chattr -R -a "$AUDIT/log"
	cp -r "$AUDIT/log" "$WS_TOP/log"
	segment=$(find "$AUDIT/log" -name 'seg-*' | sort | tail -n 1)
	sed -i '$d' "$segment"
	run sign_request
	[ "$status" = 3 ]
	[[ $output != *agent-safe-audit-rekey* ]]
	cat "$WS_TOP/log/${segment##*/}" >"$segment"
	sed -i 's/"echo","one"/"echo","two"/' "$segment"
	run sign_request
	[ "$status" = 4 ]
	[[ $output != *agent-safe-audit-rekey* ]]
	cat "$WS_TOP/log/${segment##*/}" >"$segment"
	run sign_request
	[ "$status" = 0 ]
}

@test "a log that was cut, with a key that knows it, is not continued by the way of the lost key" {
	place_operator
	chattr -R -a "$AUDIT/log"
	segment=$(find "$AUDIT/log" -name 'seg-*' | sort | tail -n 1)
	keep=$(grep -n '"type":"log.seal"' "$segment" | tail -n 3 | head -n 1 | cut -d: -f1)
	head -n "$keep" "$segment" >"$WS_TOP/cut"
	cat "$WS_TOP/cut" >"$segment"
	run agent_safe status
	[ "$status" = 2 ]
	[[ $output == *"the key is ahead of the log: the log was cut"* ]]
	[ ! -e "$AUDIT/key/rekey.request" ]
}
