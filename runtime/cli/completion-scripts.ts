/** What users source in their shells. Each script asks the program itself what can follow. */

const BASH = `# Completion of fluxqueue in bash: source <(fluxqueue completion bash)
_fluxqueue() {
  local line output
  COMPREPLY=()
  output=$(fluxqueue __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
  while IFS= read -r line; do
    case $line in
      :0) compopt -o default 2>/dev/null ;;
      :*) ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done <<<"$output"
}
complete -F _fluxqueue fluxqueue
`;

const ZSH = `#compdef fluxqueue
# Completion of fluxqueue in zsh: source <(fluxqueue completion zsh)
_fluxqueue() {
  local line value output
  local -a described
  output=$(fluxqueue __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null) || return
  for line in "\${(@f)output}"; do
    case $line in
      :0) _files; return ;;
      :*) ;;
      *)
        value=\${line%%$'\\t'*}
        [[ $line == *$'\\t'* ]] && described+=("\${value//:/\\\\:}:\${line#*$'\\t'}") || described+=("\${value//:/\\\\:}") ;;
    esac
  done
  compset -P '--*='
  _describe -V fluxqueue described
}
compdef _fluxqueue fluxqueue
`;

const FISH = `# Completion of fluxqueue in fish: fluxqueue completion fish | source
function __fluxqueue_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (fluxqueue __complete -- $words[2..] "$current" 2>/dev/null)
    or return
    set -l prefix (string match -r -- '^--[^=]+=' "$current")
    if test "$lines[-1]" = ":0"
        __fish_complete_path "$current"
    end
    set -e lines[-1]
    for line in $lines
        echo "$prefix$line"
    end
end
complete -c fluxqueue -f -a '(__fluxqueue_complete)'
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
