# What records the log has: source it after workspace.bash.
#
#   mark              from here on records are looked for
#   see NAME          those with this name since mark(), into the file $SEEN; fails when there is none
#   emits NAME M...   the same, and d has these members and no others; with a * those that may be absent
#   one_is FILTER     of those in $SEEN, one's d is so
#   approved ARG...   as propose, and approved
#   STREAMS           members that exec.output and exec.exit have of both streams

mark() { FROM=$(agent_safe audit head | jq -er .size); }

see() {
	SEEN=$BATS_TEST_TMPDIR/seen.$1
	agent_safe audit export --from "${FROM:-0}" | jq -c --arg t "$1" 'select(.type == $t)' >"$SEEN"
	[ -s "$SEEN" ] || { echo "no $1 since line ${FROM:-0}"; return 1; }
}

emits() {
	local name=$1
	shift
	see "$name"
	jq -es --arg members "$*" '
	    ($members | split(" ") | map(select(. != ""))) as $told | ($told | map(rtrimstr("*"))) as $all |
	    ($told | map(select(endswith("*") | not))) as $must |
	    all(.[]; (.d | keys) as $keys | $must - $keys == [] and $keys - $all == [])' "$SEEN" >/dev/null ||
	    { echo "$name has other members than: $*"; cat "$SEEN"; return 1; }
}

one_is() { jq -es "any(.[]; .d | $1)" "$SEEN" || { cat "$SEEN"; return 1; }; }

approved() {
	local id
	id=$(propose "$@") || return
	agent_safe approve "$id" --by tester >/dev/null || return
	echo "$id"
}

STREAMS=$(for stream in stdout stderr; do for what in bytes stored_bytes truncated sha256 stored_sha256; do
	printf '%s_%s ' $stream $what
done; done)
