/**
 * Completion scripts, made from the places of the command line. Groups, verbs and flags are in the script, so a Tab starts no
 * process for them; the values of a flag come from `tally __complete`. No candidate is ever evaluated (security 4, SEC-24).
 */

import { globalFlags, needsValue } from '../command-line/global-flags.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];

/** Name of each script among the package's completions. */
export const completionFiles: Readonly<Record<Shell, string>> = {
  bash: 'tally.bash',
  zsh: '_tally',
  fish: 'tally.fish',
  powershell: 'tally.ps1',
};

/** A place on the command line, and what may follow there. */
export interface Place {
  /** `` for the root, `customers`, `customers create`. */
  readonly words: string;
  /** Words that may follow, with what they do. */
  readonly next: Readonly<Record<string, string>>;
  /** Flags without dashes. */
  readonly flags: readonly string[];
  /** Flags that take no value. */
  readonly switches: readonly string[];
  /** Flags whose values tally knows. */
  readonly asks: readonly string[];
  /** How many ids follow; tally is asked for them. */
  readonly ids: number;
}

/** The script of a shell, ending in a line end. */
export function completionScript(shell: Shell, places: readonly Place[]): string {
  return scripts[shell](places);
}

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

const globalSwitches = globalFlags.filter((flag) => !needsValue(flag)).map(({ name }) => name);
const globalNames = globalFlags.map(({ name }) => name);
const globalAsks = ['profile', 'org', 'output', 'expect-env', 'json', 'columns'];
/** Flags that say which database is asked for candidates. */
const contextFlags = ['--profile', '--database', '--events', '--org'];

const head = (install: string) =>
  `# Completions of tally. Written by npm run generate: do not edit.\n# Install: ${install}\n`;

/** Flags that never take the next word as a value, wherever they stand. */
function switchesOf(places: readonly Place[]): string[] {
  const valued = new Set(places.flatMap(({ flags, switches }) => flags.filter((flag) => !switches.includes(flag))));
  const own = places.flatMap(({ switches }) => switches).filter((flag) => !valued.has(flag));
  return [...new Set([...globalSwitches, ...own])];
}

const dashed = (names: readonly string[]) => names.map((name) => `--${name}`).join(' ');

function bashScript(places: readonly Place[]): string {
  const cases = places.map(
    ({ words, next, flags, asks, ids }) =>
      `    '${words}') next='${Object.keys(next).join(' ')}' flags='${dashed(flags)}' asks='${dashed(asks)}' takes=${ids} ;;\n`,
  );
  return `${head('source <(tally completion bash)')}
_tally() {
  local line=\${COMP_LINE:0:COMP_POINT} breaks=\${COMP_WORDBREAKS-':=@'} words=() word='' isWord=0 quote='' character index
  local place='' next='' flags='' asks='' takes=0 given=() context=() question=() candidate isValue=0 lead='' behind=''
  # The words as the shell would read them.
  for ((index = 0; index < \${#line}; index++)); do
    character=\${line:index:1}
    if [[ -n $quote && $character == "$quote" ]]; then quote=''
    elif [[ $quote != "'" && $character == \\\\ ]]; then ((index++)); word+=\${line:index:1} isWord=1
    elif [[ -n $quote ]]; then word+=$character
    elif [[ $character == [\\'\\"] ]]; then quote=$character isWord=1
    elif [[ $character != [[:space:]] ]]; then word+=$character isWord=1
    elif ((isWord)); then words+=("$word") word='' isWord=0; fi
  done
  words+=("$word")
  local last=$((\${#words[@]} - 1)) current=$word
  local previous=\${words[last - 1]}
  for ((index = 1; index < last; index++)); do
    word=\${words[index]}
    case $word in
      ${contextFlags.map((flag) => `${flag}=*`).join('|')}) context+=("$word") ;;
      ${dashed(switchesOf(places)).replaceAll(' ', '|')}|-[yqh]|--*=*) ;;
      ${contextFlags.join('|')})
        ((index + 1 < last)) && context+=("$word" "\${words[index + 1]/#\\~\\//$HOME/}")
        ((index++)) ;;
      -*) ((index++)) ;;
      *)
        if [[ -z $place ]]; then place=$word
        elif [[ $place != *' '* ]]; then place+=" $word"
        else given+=("$word"); fi ;;
    esac
  done
  _tally_place "$place" || _tally_place "\${place%% *}" || return
  COMPREPLY=()
  if [[ $current == --*=* ]]; then
    isValue=1 previous=\${current%%=*} current=\${current#*=}
    [[ $breaks == *=* ]] || lead=$previous=
  fi
  [[ $previous == -o ]] && previous=--output
  if [[ " $asks ${dashed(globalAsks)} " == *" $previous "* ]]; then
    question=("\${previous#--}" $place "\${given[@]}")
  elif ((index == last && !isValue && \${#given[@]} < takes)) && [[ $current != -* && $place == *' '* ]]; then
    question=($((\${#given[@]} + 1)) $place "\${given[@]}")
  fi
  if ((\${#question[@]})); then
    [[ $current == *,* ]] && question+=("--behind=\${current%,*},")
    # Outside of quotes bash replaces only what stands behind the last of these.
    for character in : = @; do
      [[ -z $quote && $breaks == *$character* && $current == *$character* ]] || continue
      word=\${current%"$character"*}$character
      ((\${#word} > \${#behind})) && behind=$word
    done
    while IFS= read -r candidate; do
      candidate=\${candidate%%$'\\t'*}
      [[ $candidate == "$current"* ]] || continue
      if [[ -z $quote ]]; then
        word=$(printf %q "\${candidate#"$behind"}")
        COMPREPLY+=("$lead\${word//\\\\,/,}")
      elif [[ $candidate != *[\\'\\"\\\\\\$\\\`!]* ]]; then COMPREPLY+=("$candidate"); fi
    done < <(tally __complete "\${question[@]}" "\${context[@]}" 2>/dev/null)
  elif [[ $current == -* ]]; then
    for candidate in $flags ${dashed(globalNames)}; do
      [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
    done
  elif ((index == last && !isValue)); then
    for candidate in $next; do
      [[ $candidate == "$current"* ]] && COMPREPLY+=("$candidate")
    done
  fi
}

_tally_place() {
  case $1 in
${cases.join('')}    *) return 1 ;;
  esac
}

complete -o default -F _tally tally
`;
}

function zshScript(places: readonly Place[]): string {
  const cases = places.map(
    ({ words, next, flags, asks, ids }) =>
      `    '${words}') next=(${described(next)}) flags=(${dashed(flags)}) asks=(${dashed(asks)}) takes=${ids} ;;\n`,
  );
  return `#compdef tally
${head('tally completion zsh > "${fpath[1]}/_tally"')}
_tally() {
  local place='' previous=\${words[CURRENT-1]} current=\${words[CURRENT]} word skip=0 takes=0 isContext=0 isValue=0
  local -a next flags asks found given context question values shown
  for word in "\${(@Q)words[2,CURRENT-1]}"; do
    if ((skip)); then
      ((isContext)) && context+=("\${word/#\\~\\//$HOME/}")
      skip=0 isContext=0
      continue
    fi
    case $word in
      ${contextFlags.map((flag) => `${flag}=*`).join('|')}) context+=("$word") ;;
      ${dashed(switchesOf(places)).replaceAll(' ', '|')}|-[yqh]|--*=*) ;;
      ${contextFlags.join('|')}) context+=($word) skip=1 isContext=1 ;;
      -*) skip=1 ;;
      *)
        if [[ -z $place ]]; then place=$word
        elif [[ $place != *' '* ]]; then place+=" $word"
        else given+=($word); fi ;;
    esac
  done
  ((isContext)) && context[-1]=()
  _tally_place "$place" || _tally_place "\${place%% *}" || { _files; return }
  if [[ $current == --*=* ]]; then
    isValue=1 previous=\${current%%=*} current=\${current#*=}
    compset -P 1 '*='
  fi
  [[ $previous == -o ]] && previous=--output
  if (( \${\${asks[(Ie)$previous]}} )) || [[ ' ${dashed(globalAsks)} ' == *" $previous "* ]]; then
    question=("\${previous#--}")
  elif ((!skip && !isValue && \${#given} < takes)) && [[ $current != -* && $place == *' '* ]]; then
    question=($((\${#given} + 1)))
  fi
  if ((\${#question})); then
    [[ $current == *,* ]] && context+=("--behind=\${current%,*},")
    found=("\${(@f)$(tally __complete $question \${(s: :)place} "\${given[@]}" "\${context[@]}" 2>/dev/null)}")
    for word in "\${found[@]}"; do
      [[ -z $word ]] && continue
      values+=("\${word%%$'\\t'*}")
      shown+=("\${word/$'\\t'/  -- }")
    done
    compadd -l -d shown -- "\${values[@]}"
  elif [[ $current == -* ]]; then
    compadd -- $flags ${dashed(globalNames)}
  elif ((\${#next})) && ((!skip && !isValue)); then
    _describe command next
  else
    _files
  fi
}

_tally_place() {
  case $1 in
${cases.join('')}    *) return 1 ;;
  esac
}

[[ $funcstack[1] == _tally ]] && _tally || compdef _tally tally
`;
}

function described(next: Readonly<Record<string, string>>): string {
  return Object.entries(next)
    .map(([word, summary]) => `'${word}:${summary.replaceAll("'", "'\\''").replaceAll(':', ' -')}'`)
    .join(' ');
}

function fishScript(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = places.flatMap(({ words, next, flags, switches, asks, ids }) => [
    ...Object.entries(next).map(
      ([word, summary]) => `complete -c tally -f -n "__tally_at '${words}'" -a ${word} -d ${quoted(summary)}`,
    ),
    ...flags.map((flag) => {
      const required = switches.includes(flag) ? '' : ' -r';
      const values = asks.includes(flag) ? ` -x -a "(__tally_candidates ${flag} ${words} (__tally_ids))"` : required;
      return `complete -c tally -n "__tally_at '${words}'" -l ${flag}${values}`;
    }),
    ...Array.from(
      { length: ids },
      (_, index) =>
        `complete -c tally -f -n "__tally_at '${words}' ${index}" -a "(__tally_candidates ${index + 1} ${words} (__tally_ids))"`,
    ),
  ]);
  const globals = globalFlags.map((flag) => {
    const short = flag.short === undefined ? '' : ` -s ${flag.short}`;
    const required = needsValue(flag) ? ' -r' : '';
    const values = globalAsks.includes(flag.name)
      ? ` -x -a "(__tally_candidates ${flag.name} (__tally_words))"`
      : required;
    return `complete -c tally -l ${flag.name}${short}${values} -d ${quoted(flag.description)}`;
  });
  return `${head('mkdir -p ~/.config/fish/completions && tally completion fish > ~/.config/fish/completions/tally.fish')}
function __tally_words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${dashed(switchesOf(places))} -y -q -h '--*=*'
            case '-*'
                set skip 1
            case '*'
                printf '%s\\n' $word
        end
    end
end

function __tally_ids
    set -l words (__tally_words)
    printf '%s\\n' $words[3..-1]
end

function __tally_context
    set -l words (commandline -opc)
    for index in (seq 2 (count $words))
        string match -qr -- '^(${contextFlags.join('|')})=' $words[$index]; and printf '%s\\n' $words[$index]
        contains -- $words[$index] ${contextFlags.join(' ')}; and test $index -lt (count $words)
        and printf '%s\\n' $words[$index] (string replace -r '^~/' ~/ -- $words[(math $index + 1)])
    end
end

# What goes wrong is nothing to be said in the middle of a line.
function __tally_candidates
    set -l behind (string match -r '^(?:--[\\w-]+=)?(.*,)' -- (commandline -ct))[2]
    tally __complete $argv (__tally_context) --behind=$behind 2>/dev/null
end

# Whether these words stand before the cursor, and behind them as many ids as are named.
function __tally_at
    set -l words (__tally_words)
    set -l place
    test (count $words) -gt 0; and set place $words[1..(math "min(2, "(count $words)")")]
    test "$place" = "$argv[1]"; or return 1
    test (count $argv) -lt 2; or test (count $words) -eq (math 2 + $argv[2])
end

${[...globals, ...lines].join('\n')}
`;
}

function powershellScript(places: readonly Place[]): string {
  const list = (words: readonly string[]) => words.map((word) => `'${word}'`).join(',');
  const flagList = (names: readonly string[]) => list(names.map((name) => `--${name}`));
  const rows = places.map(
    ({ words, next, flags, asks, ids }) =>
      `    '${words}' = @{ takes = ${ids}; next = @(${list(Object.keys(next))}); flags = @(${flagList(flags)}); asks = @(${flagList(asks)}) }\n`,
  );
  return `${head('tally completion powershell | Out-String | Invoke-Expression')}
Register-ArgumentCompleter -Native -CommandName tally -ScriptBlock {
  param($current, $ast, $position)
  $places = @{
${rows.join('')}  }
  $switches = @(${list([...switchesOf(places).map((name) => `--${name}`), '-y', '-q', '-h'])})
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })
  $words = @()
  $given = @()
  $context = @()
  for ($index = 1; $index -lt $before.Count; $index++) {
    $word = $before[$index]
    if ($word -match '^(${contextFlags.join('|')})=') { $context += $word }
    if ($switches -contains $word -or $word -like '--*=*') { continue }
    if (@(${list(contextFlags)}) -contains $word -and $index + 1 -lt $before.Count) { $context += $word, $before[$index + 1] }
    if ($word -like '-*') { $index++; continue }
    if ($words.Count -lt 2) { $words += $word } else { $given += $word }
  }
  $place = $places[($words -join ' ')]
  if ($null -eq $place -and $words.Count -gt 0) { $place = $places[$words[0]] }
  if ($null -eq $place) { return }
  $previous = $before[-1]
  if ($previous -eq '-o') { $previous = '--output' }
  $found = if ($place.asks -contains $previous -or @(${flagList(globalAsks)}) -contains $previous) {
    tally __complete $previous.TrimStart('-') @words @given @context 2>$null
  } elseif ($current -notlike '-*' -and $words.Count -eq 2 -and $given.Count -lt $place.takes) {
    tally __complete ($given.Count + 1) @words @given @context 2>$null
  } elseif ($current -like '-*') {
    $place.flags + @(${flagList(globalNames)})
  } else {
    $place.next
  }
  $found | Where-Object { $_.StartsWith($current) } | ForEach-Object {
    $value, $label = $_ -split "\`t", 2
    $text = if ($value -match '^[\\w:*@+.-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
    $tip = if ($label) { $label } else { $value }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
  }
}
`;
}
