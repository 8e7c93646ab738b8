#!/usr/bin/env bats
# Field cases of programs, links and paths: what is looked up, what is compared, and when.

load ../support/workspace
load ../support/procs
load ../support/expect

setup() {
	need_root
	workspace_make
	DATA=$ROOT/tests/system/data
}

teardown() { workspace_clean; }

own() { chown -hR "$WS_UID:$WS_UID" "$WS/proj"; }

# The playground of the cases: programs named git that leave a mark, links, a sibling directory
playground() {
	rm -rf "$WS/proj"
	sh "$DATA/c02-paths.sh" "$WS" >"$WS_TOP/cases"
	chown -hR "$WS_UID:$WS_UID" "$WS/work" "$WS/tmpx"
	mkdir -p "$WS/proj"
	own
}

no_mark() { refute compgen -G "$WS/MARK-*"; }

in_dir() {
	local dir=$1
	shift
	agent_safe_as "$WS_UID" submit --new --cwd "$dir" "$@"
}

@test "FC-201: a program of that name in the working directory or on the caller's PATH is not run" {
	local id
	playground
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["work"], "rules": [{ "program": "git" }] }'
	PATH=":$WS/work/bin:.:$PATH" workspace_start
	cd "$WS/work/w"
	id=$(PATH=":$WS/work/bin:.:$PATH" in_dir . -- git --version | jq -er .id)
	is "$(agent_safe assess "$id")" '.allowed and (.program.named | test("^/(usr/(local/)?)?s?bin/git$"))'
	PATH=".:$PATH" agent_safe approve "$id" --by ana
	is "$(PATH=".:$PATH" agent_safe run "$id" --execute)" '.status == "succeeded" and (.result.stdout | startswith("git version"))'
	no_mark
}

@test "FC-202: only the bare name or the exact file of the rule is the allowed program" {
	local id git word
	playground
	git=$(command -v git)
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["work"], "rules": [{ "program": "git", "args": ["status"] }] }'
	workspace_start
	for word in ./git "$WS/tmpx/git" "/usr/bin/../..$WS/tmpx/git"; do
		id=$(in_dir "$WS/work/w" -- "$word" status | jq -er .id)
		run agent_safe assess "$id"
		is "$output" '.allowed == false'
		refused policy_denied agent_safe approve "$id" --by ana
	done
	# The path that the bare name leads to is the same file.
	is "$(agent_safe assess "$(in_dir "$WS/work/w" -- "$(readlink -f "$git")" status | jq -er .id)")" \
	    --arg git "$(readlink -f "$git")" '.allowed and .program.target == $git'
	no_mark
}

@test "FC-203: a script that was edited after the approval does not run: one byte more, and the same size and time" {
	local change id
	own
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/build.sh" }] }'
	workspace_start
	for change in append swap; do
		sh "$DATA/c02-edit-after-approve.sh" "$WS/proj" make
		own
		id=$(approved -- ./build.sh)
		sh "$DATA/c02-edit-after-approve.sh" "$WS/proj" "$change"
		refused approval_stale agent_safe run "$id" --execute
		is "$output" '.error.changes | index("program: its content") != null'
		is "$(agent_safe show "$id")" '.attempts == 0 and .approval_status == "pending"'
	done
}

# A mode that leaves it executable changes nothing of what runs: the approved bytes run.
@test "FC-203: chmod alone: without the right to execute it is stale, else the approved bytes run" {
	local id
	sh "$DATA/c02-edit-after-approve.sh" "$WS/proj" make
	own
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/build.sh" }] }'
	workspace_start
	id=$(approved -- ./build.sh)
	sh "$DATA/c02-edit-after-approve.sh" "$WS/proj" chmod
	is "$(agent_safe run "$id" --execute)" '.status == "succeeded" and .result.stdout == "AAAA\n"'
	id=$(approved -- ./build.sh)
	chmod 640 "$WS/proj/build.sh"
	refused approval_stale agent_safe run "$id" --execute
	is "$output" '.error.changes == ["program: it cannot be found or read any more"]'
}

# Files that arguments name are no part of the digest.
@test "FC-203: the approval view says that it does not cover files that arguments name" {
	workspace_start
	run agent_safe_table show "$(propose -- cat file)"
	[[ $output == *'not files that arguments name'* ]]
}

@test "FC-203: a bare script behind an interpreter that changed, and a link that leads elsewhere, are stale" {
	local id
	own
	cat >"$WS/proj/other" <<<$'#!/bin/sh\necho other'
	cat >"$WS/proj/first" <<<$'#!/bin/sh\necho first'
	chmod 755 "$WS/proj/first" "$WS/proj/other"
	ln -s first "$WS/proj/tool"
	own
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/tool" }] }'
	workspace_start
	id=$(approved -- ./tool)
	ln -sfn other "$WS/proj/tool"
	own
	refused approval_stale agent_safe run "$id" --execute
	is "$output" '.error.changes | index("program: where its link leads") != null'
	# The interpreter is a file of the workspace here, and is replaced.
	cp /bin/sh "$WS/proj/interpreter"
	printf '#!%s\necho hello\n' "$WS/proj/interpreter" >"$WS/proj/other"
	own
	id=$(approved -- ./tool)
	printf '\n' >>"$WS/proj/interpreter"
	refused approval_stale agent_safe run "$id" --execute
	is "$output" '.error.changes | index("interpreter: its content") != null'
}

@test "FC-205: whole components: a directory whose name begins like the root's is outside" {
	local dir
	playground
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["work/proj"], "rules": [{ "program": "true" }] }'
	workspace_start
	for dir in "$WS/work/proj" "$WS/work/proj/" "$WS/work/proj/sub" "$WS/work//proj/./sub"; do
		is "$(in_dir "$dir" -- true)" '.assessment.allowed'
	done
	for dir in "$WS/work/proj-evil" "$WS/work/proj/../proj-evil" "$WS/work"; do
		is "$(in_dir "$dir" -- true)" '.assessment.allowed == false and .assessment.verdict == "outside_roots"'
	done
}

@test "FC-206: a link as working directory is judged by where it leads; broken ones and loops are refused" {
	playground
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["work/proj"], "rules": [{ "program": "true" }] }'
	workspace_start
	refused not_permitted in_dir "$WS/work/proj/link" -- true
	is "$(in_dir "$WS/work/proj/side" -- true)" --arg evil "$WS/work/proj-evil" '.cwd == $evil and .assessment.verdict == "outside_roots"'
	refused invalid_input in_dir "$WS/work/proj/broken" -- true
	refused invalid_input in_dir "$WS/work/proj/loop" -- true
}

@test "FC-206: deleted, or replaced by a link, or by a directory of the same name: approval_stale, nothing starts" {
	local how id
	own
	workspace_start
	for how in deleted linked replaced; do
		mkdir "$WS/proj/dir"
		own
		id=$(in_dir "$WS/proj/dir" -- sh -c 'touch started' | jq -er .id)
		agent_safe approve "$id" --by ana
		rmdir "$WS/proj/dir"
		case $how in
		linked) ln -s "$WS/proj" "$WS/proj/dir" ;;
		replaced) mkdir "$WS/proj/dir" ;;
		esac
		own
		refused approval_stale agent_safe run "$id" --execute
		is "$output" '.error.changes == ["working directory: it is another directory"]'
		is "$(agent_safe show "$id")" '.attempts == 0'
		rm -rf "$WS/proj/dir"
	done
	[ -z "$(find "$WS" -name started)" ]
}

@test "FC-208: no shebang, an empty file, a program of another machine: exec format error, never a shell" {
	local name id
	sh "$DATA/c02-noshebang.sh" "$WS/proj"
	own
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/noshebang" }, { "program": "proj/empty" },
	  { "program": "proj/alien" }, { "program": "proj/badinterp" }, { "program": "proj/relinterp" }] }
	END
	workspace_start
	for name in noshebang empty alien; do
		id=$(approved -- "./$name")
		ends 126 agent_safe run "$id" --execute --exit-status
		is "$(agent_safe show "$id")" '.error_class == "spawn_error" and .result.stage == "exec" and .result.errno == 8 and (.result.error | test("Exec format error"))'
	done
	for name in badinterp relinterp; do
		id=$(propose -- "./$name")
		is "$(agent_safe assess "$id")" '.verdict == "program_unavailable"'
		refused policy_denied agent_safe approve "$id" --by ana
	done
	[ ! -e "$WS/proj/PWNED" ]
}

@test "FC-209: links planted where the state will lie are not followed; a state folder of somebody else is refused" {
	local name canary=$WS_TOP/canary
	for name in lock trio.log broker/queue.db audit/log/seg-00000001 propose.sock control.sock; do
		rm -rf "$WS_STATE"
		mkdir -m 700 "$WS_STATE"
		sh "$DATA/c02-planted-links.sh" "$canary" "$WS_STATE/$name" >/dev/null
		refused invalid_input agent_safe list
		[[ $output == *"$WS_STATE/${name%%/*}"* ]]
		[ "$(cat "$canary")" = canary ] || { echo "written through $name"; false; }
		[ "$(stat -c %a "$canary")" = 644 ] || { echo "changed through $name"; false; }
		workspace_stop
		chattr -R -a "$WS_STATE" 2>/dev/null || true
	done
	rm -rf "$WS_STATE"
	mkdir -m 777 "$WS_STATE"
	chown "$OTHER_UID" "$WS_STATE"
	run agent_safe list
	[ "$status" = 2 ]
	[[ $output == *"$WS_STATE"* ]]
	[ -z "$(ls -A "$WS_STATE")" ]
}

@test "FC-210: proposing and assessing open nothing of the proposed directory, whatever lies in it" {
	local id broker
	mkdir -p "$WS/proj/etc" "$WS/proj/lib"
	echo 'passwd: evil files' >"$WS/proj/etc/nsswitch.conf"
	printf '[core]\n\tfsmonitor = ./x\n' >"$WS/proj/.gitconfig"
	: >"$WS/proj/libnss_evil.so.2"
	printf '#!/bin/sh\necho tool\n' >"$WS/proj/tool"
	chmod 755 "$WS/proj/tool"
	own
	workspace_start
	# Read times stand still unless somebody reads: older than the last change, the first read moves them.
	find "$WS/proj" -type f -exec touch -a -d '2001-01-01' {} +
	cd "$WS/proj"
	id=$(HOME=$WS/proj LD_LIBRARY_PATH=$WS/proj LOCPATH=$WS/proj/lib propose -- true)
	agent_safe assess "$id" >/dev/null
	agent_safe check-policy >/dev/null
	agent_safe approve "$id" --by ana >/dev/null
	[ "$(find "$WS/proj" -type f -newerat '2002-01-01' | wc -l)" = 0 ] || { find "$WS/proj" -type f -newerat '2002-01-01'; false; }
	# The program that is proposed is what may be read, and the watch sees it.
	agent_safe assess "$(propose -- ./tool)" >/dev/null
	workspace_policy <<<'{ "version": 2, "allowed_working_roots": ["proj"], "rules": [{ "program": "proj/tool" }] }'
	agent_safe policy reload >/dev/null
	agent_safe assess "$(propose -- ./tool)" >/dev/null
	[ "$(find "$WS/proj" -type f -newerat '2002-01-01')" = "$WS/proj/tool" ]
}

@test "a root that is written through a link serves also where another root was left out at the start" {
	need_root
	workspace_make
	mkdir "$WS/real"
	ln -s real "$WS/link"
	chown "$WS_UID:$WS_UID" "$WS/real"
	workspace_policy <<-'END'
	{ "version": 2, "allowed_working_roots": ["none", "link", "proj"], "rules": [ { "program": "pwd" } ] }
	END
	workspace_start
	[ "$(agent_safe_as "$WS_UID" submit --cwd "$WS/link" -- pwd | jq -er .id | tee "$BATS_TEST_TMPDIR/id" | wc -l)" = 1 ]
	agent_safe approve "$(cat "$BATS_TEST_TMPDIR/id")" --by tester >/dev/null
	agent_safe run "$(cat "$BATS_TEST_TMPDIR/id")" --execute | jq -e --arg real "$WS/real" '.result.stdout == $real + "\n"'
	run_job pwd >/dev/null
}
