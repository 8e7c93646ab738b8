# What tests expect of the command line.  Source it after workspace.bash.
#
#   refused CODE CMD...        CMD ends with 2 and says this code, in JSON, and nothing else; sets output
#   ends STATUS CMD...         CMD ends with this exit status; sets output
#   is JSON FILTER [JQ...]     the filter holds for this JSON (is "$output" '.status == "failed"')
#   approved [OPTION...] -- CMD...   proposed and approved; prints the id
#   field ID FILTER            of the job as show prints it
#   state_digest               one digest over everything in the state folder but the daemons' stderr
#   records TYPE [JOB]         how many records of that type the log holds

refused() {
	local code=$1
	shift
	run "$@"
	[ "$status" = 2 ] && [ "$(jq -r .error.code <<<"$output")" = "$code" ] && return
	echo "wanted $code and exit 2, got $status: $output"
	return 1
}

ends() {
	local wanted=$1
	shift
	status=0
	output=$("$@" 2>&1) || status=$? # bats' run warns of a command that ends with 127
	[ "$status" = "$wanted" ] && return
	echo "wanted exit $wanted, got $status: $output"
	return 1
}

is() {
	local json=$1
	shift
	jq -e "$@" <<<"$json" >/dev/null && return
	echo "not so: $*: ${json:0:4000}"
	return 1
}

approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null || return
	echo "$id"
}

field() { agent_safe show "$1" | jq -r "$2"; }

# What was written last is sealed: from here on nothing is written by itself.
state_at_rest() { agent_safe audit head >/dev/null; }

state_digest() {
	find "$WS_STATE" -type f ! -name trio.log -printf '%p %s %T@ %m\n' | sort | sha256sum
	find "$WS_STATE" -type f ! -name trio.log -exec sha256sum {} + | sort | sha256sum
}

# Sealed and closed first, so that what is read is all there is.
records() {
	agent_safe serve --stop >/dev/null
	cat "$WS_STATE"/audit/log/seg-* | jq -c --arg type "$1" --arg job "${2:-}" \
	    'select(.type == $type and ($job == "" or .d.job == $job))' | wc -l
	workspace_start
}
