#!/bin/sh
# An agent of the lab: tells its argv and does its prompt, a command of the shell that may also say `remember KEY`.
# That notes a key as Claude Code 2.1 does: a folder as lock, a new file renamed over the old; where that cannot be, in place.
remember='remember() {
  settings=${CLAUDE_CONFIG_DIR:-$HOME}/.claude.json turns=0
  until mkdir "$settings.lock" 2>/dev/null || [ $turns = 200 ]; do turns=$((turns + 1)); sleep 0.02; done
  new=$settings.tmp.$$.x; sed "\$ s/}\$/,\"$1\":1}/" "$settings" >"$new" || return
  mv -T "$new" "$settings" 2>/dev/null || { cat "$new" >"$settings"; rm "$new"; }
  rmdir "$settings.lock"
}'
printf 'agent program: %s\n' "$0"
printf 'agent: %s\n' "$@"
while [ $# -gt 0 ]; do
  [ "$1" = -p ] && exec /bin/sh -c "$remember
$2"
  shift
done
exit 64
