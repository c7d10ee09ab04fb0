#!/bin/sh
# A client of the Tiro daemon in plain shell: sh with socat, or with an nc that knows Unix sockets (-U). One file to copy.
#
#   . ./tiro.sh
#   tiro_call memory/remember "{\"text\":$(tiro_json 'Deploys happen on Tuesdays.'),\"explicit\":true}"
#   tiro_call memory/recall "{\"query\":$(tiro_json 'when do we deploy?')}"
#
# A call prints the daemon's answer, one line of JSON with `result` or `error`, and fails when it is an error. Every method, its params
# and its result: `tiro daemon schema --json`. Run by itself it keeps a sentence and finds it again.

# Where the daemon listens, by the plain rules.
tiro_socket() {
  if [ -n "${TIRO_SOCKET:-}" ]; then echo "$TIRO_SOCKET"
  elif [ -n "${TIRO_HOME:-}" ]; then echo "$TIRO_HOME/run/daemon.sock"
  elif [ -n "${XDG_RUNTIME_DIR:-}" ]; then echo "$XDG_RUNTIME_DIR/tiro/daemon.sock"
  else echo "${XDG_STATE_HOME:-$HOME/.local/state}/tiro/run/daemon.sock"
  fi
}

# A text as a JSON string. Control characters but line ends and tabs are left out.
tiro_json() {
  printf '%s' "$1" | tr -d '\000-\010\013-\037' | awk '
    BEGIN { printf "\"" }
    { gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); gsub(/\t/, "\\t"); printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }
    END { printf "\"" }'
}

# Sends lines to the daemon and prints what comes back, until it has answered the last of them (its id is 2).
tiro_exchange() {
  if command -v socat >/dev/null 2>&1; then
    socat -t 60 - "UNIX-CONNECT:$(tiro_socket)"
  else
    nc -U "$(tiro_socket)"
  fi
}

# tiro_call METHOD PARAMS
tiro_call() {
  answer=$(
    {
      echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":{"min":1,"max":1},"client":{"name":"shell-example","version":"1"},"capabilities":{}}}'
      echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"$1\",\"params\":$2}"
    } | tiro_exchange | grep -m 1 '"id":2[,}]'
  )
  echo "$answer"
  case $answer in *'"result":'*) return 0 ;; *) return 1 ;; esac
}

case ${0##*/} in tiro.sh)
  tiro_call memory/remember "{\"text\":$(tiro_json 'The shell example waters the "big" fern on Sundays.'),\"category\":\"fact\",\"explicit\":true}" || exit 1
  tiro_call memory/recall "{\"query\":$(tiro_json 'when is the fern watered?'),\"limit\":1}" || exit 1
  # An answer that is an error fails.
  if tiro_call memory/get '{"id":"00000000-0000-4000-8000-000000000000"}'; then exit 1; fi
  ;;
esac
