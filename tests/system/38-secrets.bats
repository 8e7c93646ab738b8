#!/usr/bin/env bats
# Secrets, through the real thing: refused before anything is stored, masked before anything is kept.
# No secret-shaped text stands in a file of ours: all are put together when the test runs.

load ../support/workspace
load ../support/procs
load ../support/expect

setup_file() {
	is_root || return 0
	workspace_make
	cp "$ROOT"/tests/system/data/c03-* "$ROOT/tests/support/rawclient.py" "$WS/proj/"
	chown -R "$WS_UID:$WS_UID" "$WS/proj"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "environment_allowlist": ["NOTE"], "limits": { "keep_bytes": 65536 },
	  "rules": [ { "program": "true" }, { "program": "echo" }, { "program": "cat" }, { "program": "sh" },
	    { "program": "printf" }, { "program": "python3" } ] }
	END
	workspace_start
	export WS_TOP WS WS_STATE WS_BIN WS_UID WS_OPERATOR
}

teardown_file() { workspace_clean; }

setup() { need_root; }

submit() { agent_safe_as "$WS_UID" submit --new --cwd "$WS/proj" "$@"; }

BODY=A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8
github() { printf 'gh%s_%s' p "$BODY"; }

# One line "NAME VALUE" for each family of tokens.
families() {
	printf '%s %s\n' \
	    openai "$(printf 'sk-%s' "$BODY")" \
	    anthropic "$(printf 'sk-%s-%s' ant "$BODY$BODY")" \
	    github "$(github)" \
	    github_fine "$(printf 'github_%s_%s' pat "11ABCDEFG0${BODY}_$BODY")" \
	    gitlab "$(printf 'gl%s-%s' pat xY3kQ9vB7nM2pL5sT8wZ)" \
	    aws "$(printf 'AKI%s%s' A QYLPMN5HFIQR7XYA)" \
	    slack "$(printf 'xox%s-%s' b 123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx)" \
	    google "$(printf 'AI%s%s' za SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q)" \
	    npm "$(printf 'np%s_%s' m "$BODY")" \
	    stripe "$(printf 'sk_%s_%s' live "$BODY")" \
	    jwt "$(printf 'ey%s.ey%s.%s' JhbGciOiJIUzI1NiJ9 JzdWIiOiIxMjM0NTY3ODkwIn0 dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U)" \
	    url "$(printf 'https://user:%s@host.example/r.git' S3cr3t-pass-word)" \
	    assignment "$(printf 'DB_PASS%s=%s' WORD S3cr3t-pass-word)" \
	    variable "$(printf 'GITHUB_TO%s=%s' KEN opaqueopaque1234)" \
	    aws_secret "$(printf 'AWS_SECRET_ACCESS_%s=%s' KEY wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz)"
}

# The secret part of a value: what must be found nowhere.
part() {
	case $1 in
	url | assignment) echo S3cr3t-pass-word ;;
	variable) echo opaqueopaque1234 ;;
	aws_secret) echo wJalrXUtnFEMIK7MDENGbPxRfiCY ;;
	*) echo "${2: -16}" ;;
	esac
}

@test "a token of every family is refused in argv, key, label, environment and directory, and found nowhere" {
	local name value before
	before=$(agent_safe list --all | jq length)
	while read -r name value; do
		refused sensitive_input submit -- echo "$value" || { echo "$name in argv"; false; }
		[[ $output != *$(part "$name" "$value")* ]] || { echo "$name echoed"; false; }
		refused sensitive_input submit --key "$value" -- true || { echo "$name in key"; false; }
		refused sensitive_input submit --label "$value" -- true || { echo "$name in label"; false; }
		refute grep -rqF -- "$(part "$name" "$value")" "$WS_STATE"
	done < <(families)
	mkdir "$WS/proj/$(github)"
	chown "$WS_UID" "$WS/proj/$(github)"
	refused sensitive_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj/$(github)" -- true
	rmdir "$WS/proj/$(github)"
	refused sensitive_input as_uid "$WS_UID" env "NOTE=$(github)" "$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" \
	    submit --cwd "$WS/proj" -- true 3>&- 4>&-
	[ "$(agent_safe list --all | jq length)" = "$before" ]
	refute grep -rqF "$BODY" "$WS_STATE"
	# That something was refused is on record: which field, and by which rule.
	agent_safe serve --stop
	cat "$WS_STATE"/audit/log/seg-* | jq -c 'select(.type == "job.refused") | .d' >"$BATS_TEST_TMPDIR/refused"
	workspace_start
	grep -q '"command"' "$BATS_TEST_TMPDIR/refused"
	grep -q 'github_token' "$BATS_TEST_TMPDIR/refused"
}

@test "over the socket too: argv in base64, and with invisible characters inside the token" {
	local value before
	before=$(agent_safe list --all | jq length)
	value=$(github | base64 -w0)
	printf '{"jsonrpc":"2.0","id":1,"method":"job.submit","params":{"command":["echo",{"b64":"%s"}],"source":"mcp"}}\n' "$value" |
	    as_uid "$WS_UID" python3 -B "$WS/proj/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" >"$BATS_TEST_TMPDIR/answer"
	is "$(cat "$BATS_TEST_TMPDIR/answer")" '.error.data.code == "sensitive_input"'
	refute grep -qF "$value" "$BATS_TEST_TMPDIR/answer"
	refused sensitive_input submit -- echo "$(github | sed $'s/C3/C\u200b3/')"
	refused sensitive_input submit -- echo "$(github | sed $'s/C3/C\e[0m3/')"
	[ "$(agent_safe list --all | jq length)" = "$before" ]
}

@test "FC-301 to FC-304: the table of arguments, refused or accepted as it says" {
	python3 - "$WS/proj/c03-args.jsonl" >"$BATS_TEST_TMPDIR/rows" <<-'END'
	import json, sys
	letters = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0"
	values = {"GH": "gh" + "p_" + letters[:36], "AWSID": "AKI" + "A" + "QYLPMN5HFIQR7XYA", "SKANT": "sk-" + "ant-" + letters,
	          "OPAQUE40": letters, "PW": "S3cr3t-pass-word"}
	for line in open(sys.argv[1]):
	    for name, value in values.items():
	        line = line.replace("{{%s}}" % name, value)
	    row = json.loads(line)
	    print(json.dumps({"jsonrpc": "2.0", "id": row["expect"], "method": "job.submit", "params": {"command": row["argv"], "new": True}}))
	END
	as_uid "$WS_UID" python3 -B "$WS/proj/rawclient.py" "$WS_STATE/propose.sock" "$WS/proj" <"$BATS_TEST_TMPDIR/rows" >"$BATS_TEST_TMPDIR/answers"
	paste -d'\n' "$BATS_TEST_TMPDIR/rows" "$BATS_TEST_TMPDIR/answers" | jq -sc '
	    [range(0; length; 2) as $i | { argv: .[$i].params.command, expect: .[$i].id,
	        got: (if .[$i + 1].result then "accept" else .[$i + 1].error.data.code end) }]
	    | map(select((.expect == "reject" and .got != "sensitive_input") or (.expect == "accept" and .got != "accept"))) | .[]' \
	    >"$BATS_TEST_TMPDIR/wrong"
	[ ! -s "$BATS_TEST_TMPDIR/wrong" ] || { cat "$BATS_TEST_TMPDIR/wrong"; false; }
	[ "$(wc -l <"$BATS_TEST_TMPDIR/answers")" -gt 30 ]
	refute grep -rqF S3cr3t-pass-word "$WS_STATE"
	refute grep -rqF A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 "$WS_STATE"
}

# The first system's false alarms.
@test "what only sounds like a secret is accepted" {
	is "$(submit -- git commit -m 'session: fix login')" '.created'
	is "$(submit -- git log --author sk-something-long-name)" '.created'
	is "$(submit -- grep cookie=1)" '.created'
	is "$(submit -- pytest --session)" '.created'
	is "$(submit -- disk-sk-averylongname)" '.created'
}

@test "a token of every family that a job prints is masked, on both streams, and found nowhere" {
	local name value id
	families | cut -d' ' -f2- >"$WS/proj/printed"
	id=$(approved -- sh -c 'cat printed; cat printed >&2; echo end')
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	"$WS_BIN/agent-safe" --workspace "$WS" --state "$WS_STATE" logs "$id" >"$BATS_TEST_TMPDIR/logs" 2>&1 3>&- 4>&-
	while read -r name value; do
		refute grep -qF -- "$(part "$name" "$value")" "$BATS_TEST_TMPDIR/job"
		refute grep -qF -- "$(part "$name" "$value")" "$BATS_TEST_TMPDIR/logs"
		refute grep -rqF -- "$(part "$name" "$value")" "$WS_STATE"
	done < <(families)
	is "$(cat "$BATS_TEST_TMPDIR/job")" '(.result.stdout | endswith("end\n")) and .attempts_log[0].redactions >= 30'
	# Host and scheme of a URL, and the name of a variable, stay readable.
	grep -q 'https://.*@host.example/r.git' "$BATS_TEST_TMPDIR/logs"
	grep -q 'DB_PASSWORD=<redacted>' "$BATS_TEST_TMPDIR/logs"
	rm "$WS/proj/printed"
}

# P19: the first system cut before it masked.
@test "a token at every place around the cut and in every split of writes is masked" {
	local id
	cat >"$WS/proj/split.py" <<-'END'
	import os, sys, time
	token = ("gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8").encode()
	for at in range(1, len(token)):
	    os.write(1, token[:at])
	    os.write(1, token[at:] + b"\n")
	# The head that is kept ends, and the tail begins, somewhere in here.
	for at in range(4000):
	    os.write(1, b"x" * (at % 41) + b" " + token + b"\n")
	END
	id=$(approved -- python3 split.py)
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	is "$(cat "$BATS_TEST_TMPDIR/job")" '.status == "succeeded" and .result.truncated and .attempts_log[0].redactions == 4039'
	refute grep -q 'K1l2M3n4' "$BATS_TEST_TMPDIR/job"
	refute grep -rq 'K1l2M3n4' "$WS_STATE"
	refute grep -rq 'A1b2C3d4' "$WS_STATE"
}

@test "FC-307: a token with an invisible character at every place is masked whole" {
	local id
	id=$(approved -- python3 c03-invisible.py)
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	is "$(cat "$BATS_TEST_TMPDIR/job")" '.status == "succeeded" and .attempts_log[0].redactions > 200'
	refute grep -qE 'D4E5f6A1|f6A1b2C3' "$BATS_TEST_TMPDIR/job"
	refute grep -rqE 'D4E5f6A1|f6A1b2C3' "$WS_STATE/runs"
}

@test "FC-308: a private key block is masked line by line, whole, prefixed, with CR LF, without an end; a public one stays" {
	local id
	id=$(approved -- sh c03-pem.sh)
	agent_safe run "$id" --execute >"$BATS_TEST_TMPDIR/job"
	jq -r .result.stdout "$BATS_TEST_TMPDIR/job" >"$BATS_TEST_TMPDIR/out"
	sed -n '/== public/,/== no end/p' "$BATS_TEST_TMPDIR/out" | grep -c FAKEfiller | grep -qx 8
	[ "$(grep -c FAKEfiller "$BATS_TEST_TMPDIR/out")" = 8 ]
}

@test "FC-309: ten megabytes on one line of what looks like the beginning of a secret: in time, in bounds" {
	local kind id
	for kind in pw a begin eq dot; do
		id=$(approved --timeout 20 -- python3 c03-longline.py "$kind" 10)
		is "$(agent_safe run "$id" --execute)" '.status == "succeeded" and .result.stdout_bytes > 10000000 and .attempts_log[0].duration_ms < 15000'
	done
}

@test "ordinary coloured output, commits, checksums and long numbers come through unharmed" {
	local id
	printf '\e[31mred\e[0m commit c23696f5c55824a8abd86e13f13da4a90d437d75\nsha512-%s==\n6f1d2c3b-4a5e-4f60-8a7b-9c0d1e2f3a4b\n' \
	    "$(printf 'Ab3/%.0s' $(seq 21))Ab" >"$WS/proj/plain"
	id=$(approved -- cat plain)
	agent_safe run "$id" --execute >/dev/null
	agent_safe logs --stream stdout "$id" | cmp - "$WS/proj/plain"
	is "$(agent_safe show "$id")" '.attempts_log[0].redactions == 0'
}

@test "error texts: a program that cannot be started and a rejected line hold no part of a secret" {
	refused invalid_input agent_safe_as "$WS_UID" submit --cwd "$WS/proj/nowhere" -- echo "$(github)"
	refute grep -qF "$BODY" <<<"$output"
	refused invalid_input agent_safe list --status "$(github)"
	refute grep -qF "$BODY" <<<"$output"
	refused job_not_found agent_safe show "$(github)"
	refute grep -qF "$BODY" <<<"$output"
	refute grep -rqF "$BODY" "$WS_STATE"
}
