// The room completion: the scripts that complete words in shells.
import type { Completed, CompletedOption } from './commands.ts';

/** What writes the script of each shell. */
export const SCRIPTS: Readonly<Record<string, (commands: readonly Completed[]) => string>> = { bash, zsh, fish };

/** Text in single quotes, for bash and zsh. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function bash(commands: readonly Completed[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  return `# sluice completion bash: source <(sluice completion bash)
_sluice() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} command= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ \${COMP_WORDS[i]} != -* ]]; then command=\${COMP_WORDS[i]} && break; fi
  done
  COMPREPLY=()
  # Without an answer, bash completes files.
  case $command in
    '') COMPREPLY=($(compgen -W ${quoted(`${names} --help --version`)} -- "$word")) ;;
${commands.map(bashCommand).join('\n')}
  esac
}
complete -o default -F _sluice sluice
`;
}

function bashCommand({ name, words, options }: Completed): string {
  const chosen = options.filter(({ values }) => values.length > 0);
  const flags = options.map(({ flag }) => flag).join(' ');
  const reply = (list: string): string => `COMPREPLY=($(compgen -W ${quoted(list)} -- "$word"))`;
  return [
    `    ${name})`,
    '      case $previous in',
    ...chosen.map(({ flag, values }) => `        ${flag}) ${reply(values.join(' '))} && return ;;`),
    `        ${options.some(({ takesValue }) => takesValue) ? valueFlags(options) : '--)'} return ;;`,
    '      esac',
    `      if [[ $word == -* ]]; then ${reply(flags)}; ${words.length === 0 ? '' : `else ${reply(words.join(' '))}; `}fi`,
    '      ;;',
  ].join('\n');
}

/** The other options with a value, which can be a file. */
function valueFlags(options: readonly CompletedOption[]): string {
  return `${options
    .filter(({ takesValue, values }) => takesValue && values.length === 0)
    .map(({ flag }) => flag)
    .join(' | ')})`;
}

function zsh(commands: readonly Completed[]): string {
  const list = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary.replaceAll(':', '\\:')}`)}`);
  return `#compdef sluice
# sluice completion zsh: source <(sluice completion zsh)
_sluice() {
  local -a commands=(
${list.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  words=("\${(@)words[2,-1]}")
  ((CURRENT--))
  case $command in
${commands.map(zshCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _sluice ]]; then _sluice "$@"; else compdef _sluice sluice; fi
`;
}

function zshCommand({ name, words, options }: Completed): string {
  const specs = options.map(({ flag, text, takesValue, values }) => {
    const shown = text.replaceAll(/[[\]:]/g, String.raw`\$&`);
    const value = takesValue ? `:value:${values.length === 0 ? '_files' : `(${values.join(' ')})`}` : '';
    return quoted(`*${flag}[${shown}]${value}`);
  });
  const rest = quoted(`*:word:${words.length === 0 ? '_files' : `(${words.join(' ')})`}`);
  return [`    ${name})`, `      _arguments ${[...specs, rest].join(' \\\n        ')}`, '      ;;'].join('\n');
}

function fish(commands: readonly Completed[]): string {
  return `# sluice completion fish: sluice completion fish | source
complete -c sluice -e
${commands.flatMap(fishCommand).join('\n')}
`;
}

function fishCommand({ name, summary, words, options }: Completed): string[] {
  const line = (condition: string, rest: string): string => `complete -c sluice -n '${condition}' ${rest}`;
  const chosen = `__fish_seen_subcommand_from ${name}`;
  return [
    line('__fish_use_subcommand', `-f -a ${name} -d ${fishQuoted(summary)}`),
    ...(words.length === 0 ? [] : [line(chosen, `-f -a '${words.join(' ')}'`)]),
    ...options.map(({ flag, text, takesValue, values }) => {
      const value = !takesValue ? '' : values.length === 0 ? ' -r -F' : ` -x -a '${values.join(' ')}'`;
      return line(chosen, `-l ${flag.slice(2)}${value} -d ${fishQuoted(text)}`);
    }),
  ];
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
