# Completions of tally. Written by npm run generate: do not edit.
# Install: source <(tally completion bash)

_tally() {
  local line=${COMP_LINE:0:COMP_POINT} breaks=${COMP_WORDBREAKS-':=@'} words=() word='' isWord=0 quote='' character index
  local place='' next='' flags='' asks='' takes=0 given=() context=() question=() candidate isValue=0 lead='' behind=''
  # The words as the shell would read them.
  for ((index = 0; index < ${#line}; index++)); do
    character=${line:index:1}
    if [[ -n $quote && $character == "$quote" ]]; then quote=''
    elif [[ $quote != "'" && $character == \\ ]]; then ((index++)); word+=${line:index:1} isWord=1
    elif [[ -n $quote ]]; then word+=$character
    elif [[ $character == [\'\"] ]]; then quote=$character isWord=1
    elif [[ $character != [[:space:]] ]]; then word+=$character isWord=1
    elif ((isWord)); then words+=("$word") word='' isWord=0; fi
  done
  words+=("$word")
  local last=$((${#words[@]} - 1)) current=$word
  local previous=${words[last - 1]}
  for ((index = 1; index < last; index++)); do
    word=${words[index]}
    case $word in
      --profile=*|--database=*|--events=*|--org=*) context+=("$word") ;;
      --json|--raw|--dry-run|--yes|--no-input|--quiet|--debug|--no-color|--version|--help|--all|--resume|--allow-zero|--chart|--ascii|--force|--secret-stdin|--allow-private-webhooks|--key-stdin|--no-check|--keyring|--full|--rebuild|--unfinished|--published|--check|--prune|--exit-code|--behind-proxy|--log-requests|--openapi|-[yqh]|--*=*) ;;
      --profile|--database|--events|--org)
        ((index + 1 < last)) && context+=("$word" "${words[index + 1]/#\~\//$HOME/}")
        ((index++)) ;;
      -*) ((index++)) ;;
      *)
        if [[ -z $place ]]; then place=$word
        elif [[ $place != *' '* ]]; then place+=" $word"
        else given+=("$word"); fi ;;
    esac
  done
  _tally_place "$place" || _tally_place "${place%% *}" || return
  COMPREPLY=()
  if [[ $current == --*=* ]]; then
    isValue=1 previous=${current%%=*} current=${current#*=}
    [[ $breaks == *=* ]] || lead=$previous=
  fi
  [[ $previous == -o ]] && previous=--output
  if [[ " $asks --profile --org --output --expect-env --json --columns " == *" $previous "* ]]; then
    question=("${previous#--}" $place "${given[@]}")
  elif ((index == last && !isValue && ${#given[@]} < takes)) && [[ $current != -* && $place == *' '* ]]; then
    question=($((${#given[@]} + 1)) $place "${given[@]}")
  fi
  if ((${#question[@]})); then
    [[ $current == *,* ]] && question+=("--behind=${current%,*},")
    # Outside of quotes bash replaces only what stands behind the last of these.
    for character in : = @; do
      [[ -z $quote && $breaks == *$character* && $current == *$character* ]] || continue
      word=${current%"$character"*}$character
      ((${#word} > ${#behind})) && behind=$word
    done
    while IFS= read -r candidate; do
      candidate=${candidate%%$'\t'*}
      [[ $candidate == "$current"* ]] || continue
      if [[ -z $quote ]]; then
        word=$(printf %q "${candidate#"$behind"}")
        COMPREPLY+=("$lead${word//\\,/,}")
      elif [[ $candidate != *[\'\"\\\$\`!]* ]]; then COMPREPLY+=("$candidate"); fi
    done < <(tally __complete "${question[@]}" "${context[@]}" 2>/dev/null)
  elif [[ $current == -* ]]; then
    for candidate in $flags --profile --database --events --org --output --json --jq --columns --raw --dry-run --yes --expect-env --no-input --quiet --debug --no-color --ca-file --timeout; do
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
    '') next='customers contracts credits budgets meters usage invoices pricing plans products keys orgs webhooks clock bill events profile doctor backup restore copy journal import pull catalog simulate demo serve api commands completion help' flags='--version --help' asks='' takes=0 ;;
    'customers') next='create get list billing-address update pause resume assign-csm' flags='--help' asks='' takes=0 ;;
    'customers create') next='' flags='--name --contact --legal-name --external-customer-id --payment-provider-id --provider --tag --billing-address --payment-method-id --payment-method-type --from --result --ignore --delimiter --concurrency --input --help' asks='--provider --payment-method-type' takes=0 ;;
    'customers get') next='' flags='--help' asks='' takes=1 ;;
    'customers list') next='' flags='--external-customer-id --limit --offset --all --help' asks='--external-customer-id' takes=0 ;;
    'customers billing-address') next='' flags='--help' asks='' takes=1 ;;
    'customers update') next='' flags='--name --legal-name --tag --external-customer-id --payment-provider-id --provider --payment-method-id --payment-method-type --input --clear --help' asks='--provider --payment-method-type --clear' takes=1 ;;
    'customers pause') next='' flags='--until --input --clear --help' asks='--clear' takes=1 ;;
    'customers resume') next='' flags='--help' asks='' takes=1 ;;
    'customers assign-csm') next='' flags='--assignment --from --result --ignore --delimiter --concurrency --input --help' asks='' takes=0 ;;
    'contracts') next='create get list update cancel' flags='--help' asks='' takes=0 ;;
    'contracts create') next='' flags='--plan-id --customer-id --start-date --end-date --net-terms --override --credit-grant-cents --credit-settings --metadata --input --clear --help' asks='--plan-id --customer-id --clear' takes=0 ;;
    'contracts get') next='' flags='--include --help' asks='--include' takes=1 ;;
    'contracts list') next='' flags='--customer-id --external-customer-id --plan-id --is-active --include --limit --offset --all --help' asks='--customer-id --external-customer-id --plan-id --is-active --include' takes=0 ;;
    'contracts update') next='' flags='--metadata --input --clear --help' asks='--clear' takes=1 ;;
    'contracts cancel') next='' flags='--cancel-at --input --help' asks='--cancel-at' takes=1 ;;
    'credits') next='grant ledger balance expiring grant-paid adjust reverse settle explain verify statement' flags='--help' asks='' takes=0 ;;
    'credits grant') next='' flags='--expires-at --amount-cents --credit-rate-cents --credit-amount --description --external-id --specifiers --metadata --reason --resume --allow-zero --override-policy --from --result --ignore --delimiter --concurrency --source --input --help' asks='' takes=1 ;;
    'credits ledger') next='' flags='--type --created-after --created-before --limit --offset --include --chart --ascii --help' asks='--type --include' takes=1 ;;
    'credits balance') next='' flags='--include --chart --ascii --help' asks='--include' takes=1 ;;
    'credits expiring') next='' flags='--expires-before --customer-id --external-customer-id --limit --offset --help' asks='--customer-id --external-customer-id' takes=0 ;;
    'credits grant-paid') next='' flags='--expires-at --amount-cents --credit-rate-cents --credit-amount --description --external-id --specifiers --metadata --allow-zero --input --clear --help' asks='--clear' takes=1 ;;
    'credits adjust') next='' flags='--grant-entry-id --description --amount-cents --credit-amount --reason --input --help' asks='--grant-entry-id' takes=1 ;;
    'credits reverse') next='' flags='--description --reason --input --help' asks='' takes=2 ;;
    'credits settle') next='' flags='--help' asks='' takes=1 ;;
    'credits explain') next='' flags='--help' asks='' takes=1 ;;
    'credits verify') next='' flags='--help' asks='' takes=1 ;;
    'credits statement') next='' flags='--format --file --force --sender --from --to --help' asks='--format' takes=1 ;;
    'budgets') next='list usage add update remove check' flags='--help' asks='' takes=0 ;;
    'budgets list') next='' flags='--help' asks='' takes=1 ;;
    'budgets usage') next='' flags='--chart --ascii --help' asks='' takes=1 ;;
    'budgets add') next='' flags='--event-property-key --event-property-value --label --meter-id --max-credits --max-credits-cents --input --clear --if-match --help' asks='--meter-id --clear' takes=1 ;;
    'budgets update') next='' flags='--label --meter-id --max-credits --max-credits-cents --input --clear --if-match --help' asks='--meter-id --clear' takes=2 ;;
    'budgets remove') next='' flags='--if-match --help' asks='' takes=2 ;;
    'budgets check') next='' flags='--at --help' asks='' takes=1 ;;
    'meters') next='create get list archive rate-card set-rate-card test' flags='--help' asks='' takes=0 ;;
    'meters create') next='' flags='--code --display-name --description --aggregation-type --event-type-filter --property-filter --aggregation-key --group-key --sql --input --help' asks='--aggregation-type' takes=0 ;;
    'meters get') next='' flags='--help' asks='' takes=1 ;;
    'meters list') next='' flags='--status --limit --offset --all --help' asks='--status' takes=0 ;;
    'meters archive') next='' flags='--help' asks='' takes=1 ;;
    'meters rate-card') next='' flags='--help' asks='' takes=1 ;;
    'meters set-rate-card') next='' flags='--rate --fallback-unit-amount --input --clear --help' asks='--clear' takes=1 ;;
    'meters test') next='' flags='--start-date --end-date --customer-id --external-customer-id --contract-id --input --help' asks='--customer-id --external-customer-id --contract-id' takes=1 ;;
    'usage') next='cost breakdown ingest ingest-batch events late estimate' flags='--help' asks='' takes=0 ;;
    'usage cost') next='' flags='--start-date --end-date --customer-id --external-customer-id --contract-id --event-name --property-filter --unit --by --chart --ascii --input --help' asks='--customer-id --external-customer-id --contract-id --unit' takes=0 ;;
    'usage breakdown') next='' flags='--group-key --start-date --end-date --customer-id --external-customer-id --contract-id --event-name --property-filter --input --help' asks='--customer-id --external-customer-id --contract-id' takes=0 ;;
    'usage ingest') next='' flags='--event-name --customer-id --external-customer-id --contract-id --idempotency-key --timestamp --property --input --help' asks='--customer-id --external-customer-id --contract-id' takes=0 ;;
    'usage ingest-batch') next='' flags='--event --input --help' asks='' takes=0 ;;
    'usage events') next='' flags='--event-name --customer-id --start --end --limit --offset --all --help' asks='--customer-id' takes=0 ;;
    'usage late') next='' flags='--event-name --customer-id --start --end --limit --offset --all --help' asks='--customer-id' takes=0 ;;
    'usage estimate') next='' flags='--event --contract-id --input --help' asks='--contract-id' takes=0 ;;
    'invoices') next='list get finalize send pay cancel refund credit-report explain export' flags='--help' asks='' takes=0 ;;
    'invoices list') next='' flags='--customer-id --status --created-after --created-before --include --limit --offset --all --help' asks='--customer-id --status --include' takes=0 ;;
    'invoices get') next='' flags='--include --help' asks='--include' takes=1 ;;
    'invoices finalize') next='' flags='--help' asks='' takes=1 ;;
    'invoices send') next='' flags='--help' asks='' takes=1 ;;
    'invoices pay') next='' flags='--status --date --input --help' asks='--status' takes=1 ;;
    'invoices cancel') next='' flags='--help' asks='' takes=1 ;;
    'invoices refund') next='' flags='--date --restore-credits --input --help' asks='--restore-credits' takes=1 ;;
    'invoices credit-report') next='' flags='--help' asks='' takes=1 ;;
    'invoices explain') next='' flags='--help' asks='' takes=1 ;;
    'invoices export') next='' flags='--format --file --force --sender --help' asks='--format' takes=1 ;;
    'pricing') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'pricing create') next='' flags='--name --model --product-id --product-name --product-description --description --billing-mode --tiering --unit-amount --flat-amount --price-interval --price-interval-count --meter-id --tier --input --help' asks='--model --product-id --billing-mode --tiering --price-interval --meter-id' takes=0 ;;
    'pricing get') next='' flags='--help' asks='' takes=1 ;;
    'pricing list') next='' flags='--product-id --model --limit --offset --all --help' asks='--product-id --model' takes=0 ;;
    'pricing archive') next='' flags='--help' asks='' takes=1 ;;
    'plans') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'plans create') next='' flags='--name --item --description --currency --net-terms --external-id --metadata --input --help' asks='--currency' takes=0 ;;
    'plans get') next='' flags='--help' asks='' takes=1 ;;
    'plans list') next='' flags='--limit --offset --all --help' asks='' takes=0 ;;
    'plans archive') next='' flags='--help' asks='' takes=1 ;;
    'products') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'products create') next='' flags='--name --description --input --help' asks='' takes=0 ;;
    'products get') next='' flags='--help' asks='' takes=1 ;;
    'products list') next='' flags='--limit --offset --all --help' asks='' takes=0 ;;
    'products archive') next='' flags='--help' asks='' takes=1 ;;
    'keys') next='create list whoami revoke rotate' flags='--help' asks='' takes=0 ;;
    'keys create') next='' flags='--name --scopes --expires-at --input --clear --help' asks='--scopes --clear' takes=0 ;;
    'keys list') next='' flags='--help' asks='' takes=0 ;;
    'keys whoami') next='' flags='--help' asks='' takes=0 ;;
    'keys revoke') next='' flags='--help' asks='' takes=1 ;;
    'keys rotate') next='' flags='--valid-until --input --help' asks='' takes=1 ;;
    'orgs') next='create list update' flags='--help' asks='' takes=0 ;;
    'orgs create') next='' flags='--name --key-prefix --sales-tax-enabled --payment-processor --environment --input --clear --help' asks='--sales-tax-enabled --payment-processor --environment --clear' takes=0 ;;
    'orgs list') next='' flags='--help' asks='' takes=0 ;;
    'orgs update') next='' flags='--name --sales-tax-enabled --payment-processor --environment --input --clear --help' asks='--sales-tax-enabled --payment-processor --environment --clear' takes=1 ;;
    'webhooks') next='create list update remove rotate deliveries resend trigger listen deliver' flags='--help' asks='' takes=0 ;;
    'webhooks create') next='' flags='--url --event-types --description --allow-private --input --clear --help' asks='--event-types --allow-private --clear' takes=0 ;;
    'webhooks list') next='' flags='--help' asks='' takes=0 ;;
    'webhooks update') next='' flags='--url --event-types --description --is-enabled --allow-private --input --clear --help' asks='--event-types --is-enabled --allow-private --clear' takes=1 ;;
    'webhooks remove') next='' flags='--help' asks='' takes=1 ;;
    'webhooks rotate') next='' flags='--valid-until --input --help' asks='' takes=1 ;;
    'webhooks deliveries') next='' flags='--status --endpoint-id --include --limit --offset --all --help' asks='--status --endpoint-id --include' takes=0 ;;
    'webhooks resend') next='' flags='--help' asks='' takes=1 ;;
    'webhooks trigger') next='' flags='--help' asks='' takes=1 ;;
    'webhooks listen') next='' flags='--port --secret-stdin --secret-file --forward-to --help' asks='' takes=0 ;;
    'webhooks deliver') next='' flags='--allow-private-webhooks --help' asks='' takes=0 ;;
    'clock') next='show advance set reset' flags='--help' asks='' takes=0 ;;
    'clock show') next='' flags='--help' asks='' takes=0 ;;
    'clock advance') next='' flags='--by --to --input --help' asks='' takes=0 ;;
    'clock set') next='' flags='--to --input --help' asks='' takes=0 ;;
    'clock reset') next='' flags='--help' asks='' takes=0 ;;
    'bill') next='run' flags='--help' asks='' takes=0 ;;
    'bill run') next='' flags='--until --all-organizations --rehearse --input --help' asks='--all-organizations --rehearse' takes=0 ;;
    'events') next='drop' flags='--help' asks='' takes=0 ;;
    'events drop') next='' flags='--before --rehearse --input --help' asks='--rehearse' takes=0 ;;
    'profile') next='add list use show remove check' flags='--help' asks='' takes=0 ;;
    'profile add') next='' flags='--environment --base-url --key-stdin --key-file --no-check --keyring --help' asks='--environment' takes=0 ;;
    'profile list') next='' flags='--help' asks='' takes=0 ;;
    'profile use') next='' flags='--help' asks='' takes=1 ;;
    'profile show') next='' flags='--help' asks='' takes=1 ;;
    'profile remove') next='' flags='--help' asks='' takes=1 ;;
    'profile check') next='' flags='--help' asks='' takes=1 ;;
    'doctor') next='' flags='--full --rebuild --help' asks='' takes=0 ;;
    'backup') next='' flags='--help' asks='' takes=0 ;;
    'restore') next='' flags='--to --help' asks='' takes=0 ;;
    'copy') next='' flags='--from --from-events --to --to-events --to-profile --help' asks='--to-profile' takes=0 ;;
    'journal') next='list verify export' flags='--help' asks='' takes=0 ;;
    'journal list') next='' flags='--since --until --operation --operator --environment --limit --unfinished --help' asks='--environment' takes=0 ;;
    'journal verify') next='' flags='--contains --help' asks='' takes=0 ;;
    'journal export') next='' flags='--since --until --operation --operator --environment --help' asks='--environment' takes=0 ;;
    'import') next='events' flags='--help' asks='' takes=0 ;;
    'import events') next='' flags='--event-name --event-name-column --customer --customer-id --customer-column --contract-id --timestamp --time-zone --property --set --key-column --source --format --delimiter --batch-size --refused --help' asks='--customer --customer-id --contract-id --format' takes=0 ;;
    'pull') next='' flags='--to --contract --from --customer --plan --published --check --help' asks='--customer' takes=0 ;;
    'catalog') next='export diff apply schema' flags='--help' asks='' takes=0 ;;
    'catalog export') next='' flags='--file --force --help' asks='' takes=0 ;;
    'catalog diff') next='' flags='--prune --exit-code --help' asks='' takes=0 ;;
    'catalog apply') next='' flags='--prune --help' asks='' takes=0 ;;
    'catalog schema') next='' flags='--help' asks='' takes=0 ;;
    'simulate') next='run compare schema' flags='--help' asks='' takes=0 ;;
    'simulate run') next='' flags='--seed --show --junit --help' asks='--show' takes=0 ;;
    'simulate compare') next='' flags='--catalog --start-date --grant --customer --from --to --chart --ascii --help' asks='--customer' takes=0 ;;
    'simulate schema') next='' flags='--help' asks='' takes=0 ;;
    'demo') next='' flags='--events --seed --into --help' asks='' takes=0 ;;
    'serve') next='' flags='--port --host --tls-cert --tls-key --behind-proxy --trust-proxy --rate-limit --bill-every --drain-seconds --allow-private-webhooks --log-requests --help' asks='' takes=0 ;;
    'api') next='' flags='--openapi --input --help' asks='' takes=0 ;;
    'commands') next='' flags='--help' asks='' takes=0 ;;
    'completion') next='bash zsh fish powershell' flags='--help' asks='' takes=0 ;;
    'help') next='customers contracts credits budgets meters usage invoices pricing plans products keys orgs webhooks clock bill events profile doctor backup restore copy journal import pull catalog simulate demo serve api commands completion help exit-codes environment input output policy secrets' flags='--help' asks='' takes=0 ;;
    'help customers') next='create get list billing-address update pause resume assign-csm' flags='--help' asks='' takes=0 ;;
    'help contracts') next='create get list update cancel' flags='--help' asks='' takes=0 ;;
    'help credits') next='grant ledger balance expiring grant-paid adjust reverse settle explain verify statement' flags='--help' asks='' takes=0 ;;
    'help budgets') next='list usage add update remove check' flags='--help' asks='' takes=0 ;;
    'help meters') next='create get list archive rate-card set-rate-card test' flags='--help' asks='' takes=0 ;;
    'help usage') next='cost breakdown ingest ingest-batch events late estimate' flags='--help' asks='' takes=0 ;;
    'help invoices') next='list get finalize send pay cancel refund credit-report explain export' flags='--help' asks='' takes=0 ;;
    'help pricing') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'help plans') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'help products') next='create get list archive' flags='--help' asks='' takes=0 ;;
    'help keys') next='create list whoami revoke rotate' flags='--help' asks='' takes=0 ;;
    'help orgs') next='create list update' flags='--help' asks='' takes=0 ;;
    'help webhooks') next='create list update remove rotate deliveries resend trigger listen deliver' flags='--help' asks='' takes=0 ;;
    'help clock') next='show advance set reset' flags='--help' asks='' takes=0 ;;
    'help bill') next='run' flags='--help' asks='' takes=0 ;;
    'help events') next='drop' flags='--help' asks='' takes=0 ;;
    'help profile') next='add list use show remove check' flags='--help' asks='' takes=0 ;;
    'help journal') next='list verify export' flags='--help' asks='' takes=0 ;;
    'help import') next='events' flags='--help' asks='' takes=0 ;;
    'help catalog') next='export diff apply schema' flags='--help' asks='' takes=0 ;;
    'help simulate') next='run compare schema' flags='--help' asks='' takes=0 ;;
    *) return 1 ;;
  esac
}

complete -o default -F _tally tally
