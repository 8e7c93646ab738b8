#!/usr/bin/env bats
# Counterparts of the first system's policy tests, with its own file format, version 1.

load ../support/workspace
load ../support/expect

setup() {
	need_root
	workspace_make
}

teardown() { workspace_clean; }

# No broker is needed for it.
check() { agent_safe check-policy; }

@test "a version 1 policy is reported as the first system reported it" {
	workspace_policy <<-'END'
	{ "version": 1, "allowed_commands": [{ "program": "echo", "args_prefix": ["a"] }, { "program": "true" }],
	  "allowed_working_roots": ["proj"], "denied_arguments": ["--force"], "environment_allowlist": ["LANG"],
	  "max_timeout_seconds": 30, "max_output_chars": 1000 }
	END
	run check
	[ "$status" = 0 ]
	is "$output" --arg root "$WS/proj" '.valid and .rule_count == 2 and .allowed_working_roots == [$root] and .max_timeout_seconds == 30 and .max_output_chars == 1000'
	[ ! -e "$WS_STATE" ]
}

@test "malformed fields are refused one by one, with their place and without an echo of the value" {
	local text n=0
	while read -r text; do
		workspace_policy <<<"$text"
		run check
		[ "$status" = 2 ] || { echo "taken: $text: $output"; false; }
		is "$output" '.error.code == "policy_denied" and (.error.message | test("^line [0-9]+, column [0-9]+: "))'
		[[ $output != *canary* ]] || { echo "echoed: $output"; false; }
		n=$((n + 1))
	done <<-'END'
	[]
	"canary"
	{}
	{"version":true}
	{"version":1.0}
	{"version":"canary"}
	{"version":3}
	{"version":1,"canary":1}
	{"version":1,"allowed_commands":{}}
	{"version":1,"allowed_commands":["canary"]}
	{"version":1,"allowed_commands":[{"program":""}]}
	{"version":1,"allowed_commands":[{"program":1}]}
	{"version":1,"allowed_commands":[{"program":"canary\u0000"}]}
	{"version":1,"allowed_commands":[{"args_prefix":[]}]}
	{"version":1,"allowed_commands":[{"program":"x","canary":1}]}
	{"version":1,"allowed_commands":[{"program":"x","args_prefix":"canary"}]}
	{"version":1,"allowed_commands":[{"program":"x","args_prefix":[1]}]}
	{"version":1,"allowed_working_roots":"canary"}
	{"version":1,"allowed_working_roots":[""]}
	{"version":1,"denied_arguments":[1]}
	{"version":1,"environment_allowlist":"canary"}
	{"version":1,"max_timeout_seconds":0}
	{"version":1,"max_timeout_seconds":86401}
	{"version":1,"max_timeout_seconds":1.5}
	{"version":1,"max_timeout_seconds":true}
	{"version":1,"max_output_chars":255}
	{"version":1,"max_output_chars":1000001}
	END
	[ "$n" = 27 ]
}

# P31: what the first system answered with a traceback is an error with a place like any other.
@test "what is no strict JSON is refused: doubled keys, NaN, exponents, trailing text, depth, surrogates" {
	local text
	while read -r text; do
		workspace_policy <<<"$text"
		refused policy_denied check
		[[ $output != *canary* ]]
	done <<-'END'
	{"version":1,"version":2}
	{"version":1,"allowed_commands":[{"program":"canary","program":"canary"}]}
	{"version":1,}
	{"version":1} canary
	{"version":NaN}
	{"version":1e0}
	{"version":1,"denied_arguments":["\ud800"]}
	END
	python3 -c 'print("{\"version\":1,\"allowed_commands\":" + "[" * 100000 + "]" * 100000 + "}")' | workspace_policy
	refused policy_denied check
	printf '{"version":1,"denied_arguments":["\xff"]}' | workspace_policy
	refused policy_denied check
}

@test "a byte order mark is accepted, and roots start at the policy's directory" {
	printf '\xef\xbb\xbf{"version":1,"allowed_working_roots":["proj","."]}' | workspace_policy
	run check
	is "$output" --arg ws "$WS" '.valid and .allowed_working_roots == [$ws + "/proj", $ws]'
}

# The first system made no difference between no file and a file that denies.  Here a policy that is
# not there changes no job: see 34-probes, P4.
@test "without a policy file everything is denied, and check-policy says that it is missing" {
	local id
	workspace_start
	id=$(propose -- true)
	agent_safe serve --stop
	rm "$WS/agent-safe-policy.json"
	refused policy_denied check
	workspace_start
	is "$(agent_safe assess "$id")" '.allowed == false and .verdict == "no_policy"'
	refused policy_denied agent_safe approve "$id" --by ana
	is "$(agent_safe status)" '.policy_loaded == false and (.warnings | length > 0)'
}

@test "an empty version 1 denies everything; an empty text is a prefix element like another" {
	local old id
	workspace_policy <<<'{"version":1}'
	is "$(check)" '.valid and .rule_count == 0'
	workspace_policy <<<'{"version":1,"allowed_commands":[{"program":"echo","args_prefix":[""]}],"allowed_working_roots":["proj"]}'
	workspace_start
	is "$(agent_safe assess "$(propose -- echo '' x)")" '.allowed and .matched_rule == {"program":"echo","args_prefix":[""]}'
	is "$(agent_safe assess "$(propose -- echo x)")" '.allowed == false'
}

@test "denied_arguments of version 1: any case, any part of an argument, not of the program's name" {
	workspace_policy <<-'END'
	{ "version": 1, "allowed_commands": [{ "program": "echo" }, { "program": "true" }],
	  "allowed_working_roots": ["proj"], "denied_arguments": ["--force", "rue"] }
	END
	workspace_start
	is "$(agent_safe assess "$(propose -- echo a --FORCE-with-lease)")" '.allowed == false and .verdict == "denied_argument" and (.failed | length == 1)'
	is "$(agent_safe assess "$(propose -- true x)")" '.allowed'
	is "$(agent_safe assess "$(propose -- echo --forc)")" '.allowed'
}

# Substrings refuse my-file.txt for -f; version 2 compares whole elements.
@test "version 2 refuses an option as an element, in a cluster and abbreviated, and spares my-file.txt" {
	local word
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"],
	  "rules": [{ "program": "echo", "not_match": [{ "short": "f" }, { "option": "--force" }] }] }
	END
	workspace_start
	is "$(agent_safe assess "$(propose -- echo my-file.txt)")" '.allowed'
	for word in -f -xf --force --force=1 --forc; do
		is "$(agent_safe assess "$(propose -- echo "$word")")" '.allowed == false'
	done
}

@test "every condition that failed is named, not the first alone" {
	workspace_policy <<-'END'
	{ "version": 1, "allowed_commands": [{ "program": "echo", "args_prefix": ["a"] }, { "program": "echo", "args_prefix": ["b"] }],
	  "allowed_working_roots": ["proj"], "denied_arguments": ["secret"], "max_timeout_seconds": 30 }
	END
	workspace_start
	run agent_safe assess "$(propose --timeout 60 -- echo c secret)"
	is "$output" '.verdict == "timeout" and (.failed | map(.rule) == [null, 0, 1, null])'
	is "$output" '.program.named | endswith("/echo")'
}

@test "check-policy points out shells, the root of all, loader variables, missing programs, roots and a state folder inside one" {
	local text
	workspace_policy <<-'END'
	{ "version": 1, "allowed_commands": [{ "program": "bash" }, { "program": "no-such-program" }],
	  "allowed_working_roots": ["/", "no-such-root"], "environment_allowlist": ["LD_PRELOAD", "A=B", "PYTHONPATH"] }
	END
	run check
	[ "$status" = 0 ]
	for text in 'rule 0: bash' 'whole file system' LD_PRELOAD 'no name of a variable' PYTHONPATH \
	    'rule 1: there is no such program' 'allowed_working_roots\[1\]: No such file' 'state folder'; do
		is "$output" --arg text "$text" '.warnings | any(test($text))'
	done
}
