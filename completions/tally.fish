# Completions of tally. Written by npm run generate: do not edit.
# Install: mkdir -p ~/.config/fish/completions && tally completion fish > ~/.config/fish/completions/tally.fish

function __tally_words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case --json --raw --dry-run --yes --no-input --quiet --debug --no-color --version --help --all --resume --allow-zero --chart --ascii --force --secret-stdin --allow-private-webhooks --key-stdin --no-check --keyring --full --rebuild --unfinished --published --check --prune --exit-code --behind-proxy --log-requests --openapi -y -q -h '--*=*'
            case '-*'
                set skip 1
            case '*'
                printf '%s\n' $word
        end
    end
end

function __tally_ids
    set -l words (__tally_words)
    printf '%s\n' $words[3..-1]
end

function __tally_context
    set -l words (commandline -opc)
    for index in (seq 2 (count $words))
        string match -qr -- '^(--profile|--database|--events|--org)=' $words[$index]; and printf '%s\n' $words[$index]
        contains -- $words[$index] --profile --database --events --org; and test $index -lt (count $words)
        and printf '%s\n' $words[$index] (string replace -r '^~/' ~/ -- $words[(math $index + 1)])
    end
end

# What goes wrong is nothing to be said in the middle of a line.
function __tally_candidates
    set -l behind (string match -r '^(?:--[\w-]+=)?(.*,)' -- (commandline -ct))[2]
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

complete -c tally -l profile -x -a "(__tally_candidates profile (__tally_words))" -d 'use a named service or database (env TALLY_PROFILE)'
complete -c tally -l database -r -d 'use this database (env TALLY_DATABASE)'
complete -c tally -l events -r -d 'usage events are in this separate database (env TALLY_EVENTS)'
complete -c tally -l org -x -a "(__tally_candidates org (__tally_words))" -d 'organization inside the database, by name or id (env TALLY_ORG)'
complete -c tally -l output -s o -x -a "(__tally_candidates output (__tally_words))" -d 'how to print: table on a terminal and tsv elsewhere when not given'
complete -c tally -l json -x -a "(__tally_candidates json (__tally_words))" -d 'JSON: the whole answer, or these fields of each row'
complete -c tally -l jq -r -d 'JSON through jq: each result on a line'
complete -c tally -l columns -x -a "(__tally_candidates columns (__tally_words))" -d 'show these fields of each row'
complete -c tally -l raw -d 'with -o csv: no apostrophe before what a spreadsheet would run as a formula'
complete -c tally -l dry-run -d 'check a write and print its request; change nothing'
complete -c tally -l yes -s y -d 'do not ask for confirmation; production also needs --expect-env'
complete -c tally -l expect-env -x -a "(__tally_candidates expect-env (__tally_words))" -d 'refuse to run on any other environment'
complete -c tally -l no-input -d 'never ask for anything'
complete -c tally -l quiet -s q -d 'print the answer alone, without notes'
complete -c tally -l debug -d 'print more detail when something fails'
complete -c tally -l no-color -d 'plain text'
complete -c tally -l ca-file -r -d 'also trust the certificate authorities in this PEM file (env TALLY_CA_FILE)'
complete -c tally -l timeout -r -d 'give up on a remote service after this long'
complete -c tally -f -n "__tally_at ''" -a customers -d 'Customers, their contacts and pauses'
complete -c tally -f -n "__tally_at ''" -a contracts -d 'Contracts between a customer and a plan'
complete -c tally -f -n "__tally_at ''" -a credits -d 'Grants, ledger and balance of a contract'
complete -c tally -f -n "__tally_at ''" -a budgets -d 'Caps on the credit use of one usage dimension'
complete -c tally -f -n "__tally_at ''" -a meters -d 'What is measured, and its prices per dimension'
complete -c tally -f -n "__tally_at ''" -a usage -d 'Events, and what they cost'
complete -c tally -f -n "__tally_at ''" -a invoices -d 'Drafts, finalization and payment'
complete -c tally -f -n "__tally_at ''" -a pricing -d 'Prices: flat, tiered, by usage'
complete -c tally -f -n "__tally_at ''" -a plans -d 'Plans made of prices'
complete -c tally -f -n "__tally_at ''" -a products -d 'What prices are for'
complete -c tally -f -n "__tally_at ''" -a keys -d 'API keys of the embedded service'
complete -c tally -f -n "__tally_at ''" -a orgs -d 'Organizations of the embedded service'
complete -c tally -f -n "__tally_at ''" -a webhooks -d 'Events sent to endpoints of your own'
complete -c tally -f -n "__tally_at ''" -a clock -d 'The time of a database, real or simulated'
complete -c tally -f -n "__tally_at ''" -a bill -d 'What falls due: invoices, expiries, ends'
complete -c tally -f -n "__tally_at ''" -a events -d 'How long usage events are kept'
complete -c tally -f -n "__tally_at ''" -a profile -d 'Named services and databases, and their keys'
complete -c tally -f -n "__tally_at ''" -a doctor -d 'Check the books of a database'
complete -c tally -f -n "__tally_at ''" -a backup -d 'Write a database to one file while it is used'
complete -c tally -f -n "__tally_at ''" -a restore -d 'Make a database from a backup'
complete -c tally -f -n "__tally_at ''" -a copy -d 'Copy a whole book to another database'
complete -c tally -f -n "__tally_at ''" -a journal -d 'What was written from here, by whom and when'
complete -c tally -f -n "__tally_at ''" -a import -d 'Events from files, each row counted once'
complete -c tally -f -n "__tally_at ''" -a pull -d 'Contracts of a remote service, mirrored into a file'
complete -c tally -f -n "__tally_at ''" -a catalog -d 'Products, prices, meters and plans as one file'
complete -c tally -f -n "__tally_at ''" -a simulate -d 'Scenarios, and real usage under other prices'
complete -c tally -f -n "__tally_at ''" -a demo -d 'A worked example on a new database'
complete -c tally -f -n "__tally_at ''" -a serve -d 'Serve a database over HTTP'
complete -c tally -f -n "__tally_at ''" -a api -d 'Send any request, or print the OpenAPI document'
complete -c tally -f -n "__tally_at ''" -a commands -d 'List every command'
complete -c tally -f -n "__tally_at ''" -a completion -d 'Print the completions of a shell'
complete -c tally -f -n "__tally_at ''" -a help -d 'Help of a command or topic'
complete -c tally -n "__tally_at ''" -l version
complete -c tally -n "__tally_at ''" -l help
complete -c tally -f -n "__tally_at 'customers'" -a create -d 'Create a customer'
complete -c tally -f -n "__tally_at 'customers'" -a get -d 'Show one customer'
complete -c tally -f -n "__tally_at 'customers'" -a list -d 'List customers, newest first'
complete -c tally -f -n "__tally_at 'customers'" -a billing-address -d 'Show the billing address of a customer'
complete -c tally -f -n "__tally_at 'customers'" -a update -d 'Change a customer'
complete -c tally -f -n "__tally_at 'customers'" -a pause -d 'Stop sending invoices to a customer'
complete -c tally -f -n "__tally_at 'customers'" -a resume -d 'Send invoices to a customer again'
complete -c tally -f -n "__tally_at 'customers'" -a assign-csm -d 'Assign customer success managers by processor customer id'
complete -c tally -n "__tally_at 'customers'" -l help
complete -c tally -n "__tally_at 'customers create'" -l name -r
complete -c tally -n "__tally_at 'customers create'" -l contact -r
complete -c tally -n "__tally_at 'customers create'" -l legal-name -r
complete -c tally -n "__tally_at 'customers create'" -l external-customer-id -r
complete -c tally -n "__tally_at 'customers create'" -l payment-provider-id -r
complete -c tally -n "__tally_at 'customers create'" -l provider -x -a "(__tally_candidates provider customers create (__tally_ids))"
complete -c tally -n "__tally_at 'customers create'" -l tag -r
complete -c tally -n "__tally_at 'customers create'" -l billing-address -r
complete -c tally -n "__tally_at 'customers create'" -l payment-method-id -r
complete -c tally -n "__tally_at 'customers create'" -l payment-method-type -x -a "(__tally_candidates payment-method-type customers create (__tally_ids))"
complete -c tally -n "__tally_at 'customers create'" -l from -r
complete -c tally -n "__tally_at 'customers create'" -l result -r
complete -c tally -n "__tally_at 'customers create'" -l ignore -r
complete -c tally -n "__tally_at 'customers create'" -l delimiter -r
complete -c tally -n "__tally_at 'customers create'" -l concurrency -r
complete -c tally -n "__tally_at 'customers create'" -l input -r
complete -c tally -n "__tally_at 'customers create'" -l help
complete -c tally -n "__tally_at 'customers get'" -l help
complete -c tally -f -n "__tally_at 'customers get' 0" -a "(__tally_candidates 1 customers get (__tally_ids))"
complete -c tally -n "__tally_at 'customers list'" -l external-customer-id -x -a "(__tally_candidates external-customer-id customers list (__tally_ids))"
complete -c tally -n "__tally_at 'customers list'" -l limit -r
complete -c tally -n "__tally_at 'customers list'" -l offset -r
complete -c tally -n "__tally_at 'customers list'" -l all
complete -c tally -n "__tally_at 'customers list'" -l help
complete -c tally -n "__tally_at 'customers billing-address'" -l help
complete -c tally -f -n "__tally_at 'customers billing-address' 0" -a "(__tally_candidates 1 customers billing-address (__tally_ids))"
complete -c tally -n "__tally_at 'customers update'" -l name -r
complete -c tally -n "__tally_at 'customers update'" -l legal-name -r
complete -c tally -n "__tally_at 'customers update'" -l tag -r
complete -c tally -n "__tally_at 'customers update'" -l external-customer-id -r
complete -c tally -n "__tally_at 'customers update'" -l payment-provider-id -r
complete -c tally -n "__tally_at 'customers update'" -l provider -x -a "(__tally_candidates provider customers update (__tally_ids))"
complete -c tally -n "__tally_at 'customers update'" -l payment-method-id -r
complete -c tally -n "__tally_at 'customers update'" -l payment-method-type -x -a "(__tally_candidates payment-method-type customers update (__tally_ids))"
complete -c tally -n "__tally_at 'customers update'" -l input -r
complete -c tally -n "__tally_at 'customers update'" -l clear -x -a "(__tally_candidates clear customers update (__tally_ids))"
complete -c tally -n "__tally_at 'customers update'" -l help
complete -c tally -f -n "__tally_at 'customers update' 0" -a "(__tally_candidates 1 customers update (__tally_ids))"
complete -c tally -n "__tally_at 'customers pause'" -l until -r
complete -c tally -n "__tally_at 'customers pause'" -l input -r
complete -c tally -n "__tally_at 'customers pause'" -l clear -x -a "(__tally_candidates clear customers pause (__tally_ids))"
complete -c tally -n "__tally_at 'customers pause'" -l help
complete -c tally -f -n "__tally_at 'customers pause' 0" -a "(__tally_candidates 1 customers pause (__tally_ids))"
complete -c tally -n "__tally_at 'customers resume'" -l help
complete -c tally -f -n "__tally_at 'customers resume' 0" -a "(__tally_candidates 1 customers resume (__tally_ids))"
complete -c tally -n "__tally_at 'customers assign-csm'" -l assignment -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l from -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l result -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l ignore -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l delimiter -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l concurrency -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l input -r
complete -c tally -n "__tally_at 'customers assign-csm'" -l help
complete -c tally -f -n "__tally_at 'contracts'" -a create -d 'Create a contract and its draft invoices'
complete -c tally -f -n "__tally_at 'contracts'" -a get -d 'Show one contract'
complete -c tally -f -n "__tally_at 'contracts'" -a list -d 'List contracts, newest first'
complete -c tally -f -n "__tally_at 'contracts'" -a update -d 'Replace or clear the metadata of a contract'
complete -c tally -f -n "__tally_at 'contracts'" -a cancel -d 'End a contract with its current billing period'
complete -c tally -n "__tally_at 'contracts'" -l help
complete -c tally -n "__tally_at 'contracts create'" -l plan-id -x -a "(__tally_candidates plan-id contracts create (__tally_ids))"
complete -c tally -n "__tally_at 'contracts create'" -l customer-id -x -a "(__tally_candidates customer-id contracts create (__tally_ids))"
complete -c tally -n "__tally_at 'contracts create'" -l start-date -r
complete -c tally -n "__tally_at 'contracts create'" -l end-date -r
complete -c tally -n "__tally_at 'contracts create'" -l net-terms -r
complete -c tally -n "__tally_at 'contracts create'" -l override -r
complete -c tally -n "__tally_at 'contracts create'" -l credit-grant-cents -r
complete -c tally -n "__tally_at 'contracts create'" -l credit-settings -r
complete -c tally -n "__tally_at 'contracts create'" -l metadata -r
complete -c tally -n "__tally_at 'contracts create'" -l input -r
complete -c tally -n "__tally_at 'contracts create'" -l clear -x -a "(__tally_candidates clear contracts create (__tally_ids))"
complete -c tally -n "__tally_at 'contracts create'" -l help
complete -c tally -n "__tally_at 'contracts get'" -l include -x -a "(__tally_candidates include contracts get (__tally_ids))"
complete -c tally -n "__tally_at 'contracts get'" -l help
complete -c tally -f -n "__tally_at 'contracts get' 0" -a "(__tally_candidates 1 contracts get (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l customer-id -x -a "(__tally_candidates customer-id contracts list (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l external-customer-id -x -a "(__tally_candidates external-customer-id contracts list (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l plan-id -x -a "(__tally_candidates plan-id contracts list (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l is-active -x -a "(__tally_candidates is-active contracts list (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l include -x -a "(__tally_candidates include contracts list (__tally_ids))"
complete -c tally -n "__tally_at 'contracts list'" -l limit -r
complete -c tally -n "__tally_at 'contracts list'" -l offset -r
complete -c tally -n "__tally_at 'contracts list'" -l all
complete -c tally -n "__tally_at 'contracts list'" -l help
complete -c tally -n "__tally_at 'contracts update'" -l metadata -r
complete -c tally -n "__tally_at 'contracts update'" -l input -r
complete -c tally -n "__tally_at 'contracts update'" -l clear -x -a "(__tally_candidates clear contracts update (__tally_ids))"
complete -c tally -n "__tally_at 'contracts update'" -l help
complete -c tally -f -n "__tally_at 'contracts update' 0" -a "(__tally_candidates 1 contracts update (__tally_ids))"
complete -c tally -n "__tally_at 'contracts cancel'" -l cancel-at -x -a "(__tally_candidates cancel-at contracts cancel (__tally_ids))"
complete -c tally -n "__tally_at 'contracts cancel'" -l input -r
complete -c tally -n "__tally_at 'contracts cancel'" -l help
complete -c tally -f -n "__tally_at 'contracts cancel' 0" -a "(__tally_candidates 1 contracts cancel (__tally_ids))"
complete -c tally -f -n "__tally_at 'credits'" -a grant -d 'Grant promotional credits to a contract'
complete -c tally -f -n "__tally_at 'credits'" -a ledger -d 'List the ledger entries of a contract, newest first'
complete -c tally -f -n "__tally_at 'credits'" -a balance -d 'Show the credit balance of a contract and its grants in burn order'
complete -c tally -f -n "__tally_at 'credits'" -a expiring -d 'List grants of all contracts that expire soon with something left, earliest expiry first'
complete -c tally -f -n "__tally_at 'credits'" -a grant-paid -d 'Record a paid grant (embedded only)'
complete -c tally -f -n "__tally_at 'credits'" -a adjust -d 'Correct the balance of one grant (embedded only)'
complete -c tally -f -n "__tally_at 'credits'" -a reverse -d 'Undo one ledger entry (embedded only)'
complete -c tally -f -n "__tally_at 'credits'" -a settle -d 'Write the credit movements that usage owes up to now (embedded only)'
complete -c tally -f -n "__tally_at 'credits'" -a explain -d 'Explain one ledger entry: what it did, to which grant, and why'
complete -c tally -f -n "__tally_at 'credits'" -a verify -d 'Verify the books of a contract: every balance, invoice and seal, computed again'
complete -c tally -f -n "__tally_at 'credits'" -a statement -d 'Opening balance, movements and closing balance of a period, to print or to send'
complete -c tally -n "__tally_at 'credits'" -l help
complete -c tally -n "__tally_at 'credits grant'" -l expires-at -r
complete -c tally -n "__tally_at 'credits grant'" -l amount-cents -r
complete -c tally -n "__tally_at 'credits grant'" -l credit-rate-cents -r
complete -c tally -n "__tally_at 'credits grant'" -l credit-amount -r
complete -c tally -n "__tally_at 'credits grant'" -l description -r
complete -c tally -n "__tally_at 'credits grant'" -l external-id -r
complete -c tally -n "__tally_at 'credits grant'" -l specifiers -r
complete -c tally -n "__tally_at 'credits grant'" -l metadata -r
complete -c tally -n "__tally_at 'credits grant'" -l reason -r
complete -c tally -n "__tally_at 'credits grant'" -l resume
complete -c tally -n "__tally_at 'credits grant'" -l allow-zero
complete -c tally -n "__tally_at 'credits grant'" -l override-policy -r
complete -c tally -n "__tally_at 'credits grant'" -l from -r
complete -c tally -n "__tally_at 'credits grant'" -l result -r
complete -c tally -n "__tally_at 'credits grant'" -l ignore -r
complete -c tally -n "__tally_at 'credits grant'" -l delimiter -r
complete -c tally -n "__tally_at 'credits grant'" -l concurrency -r
complete -c tally -n "__tally_at 'credits grant'" -l source -r
complete -c tally -n "__tally_at 'credits grant'" -l input -r
complete -c tally -n "__tally_at 'credits grant'" -l help
complete -c tally -f -n "__tally_at 'credits grant' 0" -a "(__tally_candidates 1 credits grant (__tally_ids))"
complete -c tally -n "__tally_at 'credits ledger'" -l type -x -a "(__tally_candidates type credits ledger (__tally_ids))"
complete -c tally -n "__tally_at 'credits ledger'" -l created-after -r
complete -c tally -n "__tally_at 'credits ledger'" -l created-before -r
complete -c tally -n "__tally_at 'credits ledger'" -l limit -r
complete -c tally -n "__tally_at 'credits ledger'" -l offset -r
complete -c tally -n "__tally_at 'credits ledger'" -l include -x -a "(__tally_candidates include credits ledger (__tally_ids))"
complete -c tally -n "__tally_at 'credits ledger'" -l chart
complete -c tally -n "__tally_at 'credits ledger'" -l ascii
complete -c tally -n "__tally_at 'credits ledger'" -l help
complete -c tally -f -n "__tally_at 'credits ledger' 0" -a "(__tally_candidates 1 credits ledger (__tally_ids))"
complete -c tally -n "__tally_at 'credits balance'" -l include -x -a "(__tally_candidates include credits balance (__tally_ids))"
complete -c tally -n "__tally_at 'credits balance'" -l chart
complete -c tally -n "__tally_at 'credits balance'" -l ascii
complete -c tally -n "__tally_at 'credits balance'" -l help
complete -c tally -f -n "__tally_at 'credits balance' 0" -a "(__tally_candidates 1 credits balance (__tally_ids))"
complete -c tally -n "__tally_at 'credits expiring'" -l expires-before -r
complete -c tally -n "__tally_at 'credits expiring'" -l customer-id -x -a "(__tally_candidates customer-id credits expiring (__tally_ids))"
complete -c tally -n "__tally_at 'credits expiring'" -l external-customer-id -x -a "(__tally_candidates external-customer-id credits expiring (__tally_ids))"
complete -c tally -n "__tally_at 'credits expiring'" -l limit -r
complete -c tally -n "__tally_at 'credits expiring'" -l offset -r
complete -c tally -n "__tally_at 'credits expiring'" -l help
complete -c tally -n "__tally_at 'credits grant-paid'" -l expires-at -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l amount-cents -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l credit-rate-cents -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l credit-amount -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l description -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l external-id -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l specifiers -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l metadata -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l allow-zero
complete -c tally -n "__tally_at 'credits grant-paid'" -l input -r
complete -c tally -n "__tally_at 'credits grant-paid'" -l clear -x -a "(__tally_candidates clear credits grant-paid (__tally_ids))"
complete -c tally -n "__tally_at 'credits grant-paid'" -l help
complete -c tally -f -n "__tally_at 'credits grant-paid' 0" -a "(__tally_candidates 1 credits grant-paid (__tally_ids))"
complete -c tally -n "__tally_at 'credits adjust'" -l grant-entry-id -x -a "(__tally_candidates grant-entry-id credits adjust (__tally_ids))"
complete -c tally -n "__tally_at 'credits adjust'" -l description -r
complete -c tally -n "__tally_at 'credits adjust'" -l amount-cents -r
complete -c tally -n "__tally_at 'credits adjust'" -l credit-amount -r
complete -c tally -n "__tally_at 'credits adjust'" -l reason -r
complete -c tally -n "__tally_at 'credits adjust'" -l input -r
complete -c tally -n "__tally_at 'credits adjust'" -l help
complete -c tally -f -n "__tally_at 'credits adjust' 0" -a "(__tally_candidates 1 credits adjust (__tally_ids))"
complete -c tally -n "__tally_at 'credits reverse'" -l description -r
complete -c tally -n "__tally_at 'credits reverse'" -l reason -r
complete -c tally -n "__tally_at 'credits reverse'" -l input -r
complete -c tally -n "__tally_at 'credits reverse'" -l help
complete -c tally -f -n "__tally_at 'credits reverse' 0" -a "(__tally_candidates 1 credits reverse (__tally_ids))"
complete -c tally -f -n "__tally_at 'credits reverse' 1" -a "(__tally_candidates 2 credits reverse (__tally_ids))"
complete -c tally -n "__tally_at 'credits settle'" -l help
complete -c tally -f -n "__tally_at 'credits settle' 0" -a "(__tally_candidates 1 credits settle (__tally_ids))"
complete -c tally -n "__tally_at 'credits explain'" -l help
complete -c tally -f -n "__tally_at 'credits explain' 0" -a "(__tally_candidates 1 credits explain (__tally_ids))"
complete -c tally -n "__tally_at 'credits verify'" -l help
complete -c tally -f -n "__tally_at 'credits verify' 0" -a "(__tally_candidates 1 credits verify (__tally_ids))"
complete -c tally -n "__tally_at 'credits statement'" -l format -x -a "(__tally_candidates format credits statement (__tally_ids))"
complete -c tally -n "__tally_at 'credits statement'" -l file -r
complete -c tally -n "__tally_at 'credits statement'" -l force
complete -c tally -n "__tally_at 'credits statement'" -l sender -r
complete -c tally -n "__tally_at 'credits statement'" -l from -r
complete -c tally -n "__tally_at 'credits statement'" -l to -r
complete -c tally -n "__tally_at 'credits statement'" -l help
complete -c tally -f -n "__tally_at 'credits statement' 0" -a "(__tally_candidates 1 credits statement (__tally_ids))"
complete -c tally -f -n "__tally_at 'budgets'" -a list -d 'List the budgets of a contract, without their consumption'
complete -c tally -f -n "__tally_at 'budgets'" -a usage -d 'Show what each budget of a contract has consumed, metered now'
complete -c tally -f -n "__tally_at 'budgets'" -a add -d 'Add a budget to a contract'
complete -c tally -f -n "__tally_at 'budgets'" -a update -d 'Change a budget; a new cap rearms its alert'
complete -c tally -f -n "__tally_at 'budgets'" -a remove -d 'Remove a budget; the ones after it move up'
complete -c tally -f -n "__tally_at 'budgets'" -a check -d 'Tell by the exit code whether a budget of a contract is exhausted'
complete -c tally -n "__tally_at 'budgets'" -l help
complete -c tally -n "__tally_at 'budgets list'" -l help
complete -c tally -f -n "__tally_at 'budgets list' 0" -a "(__tally_candidates 1 budgets list (__tally_ids))"
complete -c tally -n "__tally_at 'budgets usage'" -l chart
complete -c tally -n "__tally_at 'budgets usage'" -l ascii
complete -c tally -n "__tally_at 'budgets usage'" -l help
complete -c tally -f -n "__tally_at 'budgets usage' 0" -a "(__tally_candidates 1 budgets usage (__tally_ids))"
complete -c tally -n "__tally_at 'budgets add'" -l event-property-key -r
complete -c tally -n "__tally_at 'budgets add'" -l event-property-value -r
complete -c tally -n "__tally_at 'budgets add'" -l label -r
complete -c tally -n "__tally_at 'budgets add'" -l meter-id -x -a "(__tally_candidates meter-id budgets add (__tally_ids))"
complete -c tally -n "__tally_at 'budgets add'" -l max-credits -r
complete -c tally -n "__tally_at 'budgets add'" -l max-credits-cents -r
complete -c tally -n "__tally_at 'budgets add'" -l input -r
complete -c tally -n "__tally_at 'budgets add'" -l clear -x -a "(__tally_candidates clear budgets add (__tally_ids))"
complete -c tally -n "__tally_at 'budgets add'" -l if-match -r
complete -c tally -n "__tally_at 'budgets add'" -l help
complete -c tally -f -n "__tally_at 'budgets add' 0" -a "(__tally_candidates 1 budgets add (__tally_ids))"
complete -c tally -n "__tally_at 'budgets update'" -l label -r
complete -c tally -n "__tally_at 'budgets update'" -l meter-id -x -a "(__tally_candidates meter-id budgets update (__tally_ids))"
complete -c tally -n "__tally_at 'budgets update'" -l max-credits -r
complete -c tally -n "__tally_at 'budgets update'" -l max-credits-cents -r
complete -c tally -n "__tally_at 'budgets update'" -l input -r
complete -c tally -n "__tally_at 'budgets update'" -l clear -x -a "(__tally_candidates clear budgets update (__tally_ids))"
complete -c tally -n "__tally_at 'budgets update'" -l if-match -r
complete -c tally -n "__tally_at 'budgets update'" -l help
complete -c tally -f -n "__tally_at 'budgets update' 0" -a "(__tally_candidates 1 budgets update (__tally_ids))"
complete -c tally -f -n "__tally_at 'budgets update' 1" -a "(__tally_candidates 2 budgets update (__tally_ids))"
complete -c tally -n "__tally_at 'budgets remove'" -l if-match -r
complete -c tally -n "__tally_at 'budgets remove'" -l help
complete -c tally -f -n "__tally_at 'budgets remove' 0" -a "(__tally_candidates 1 budgets remove (__tally_ids))"
complete -c tally -f -n "__tally_at 'budgets remove' 1" -a "(__tally_candidates 2 budgets remove (__tally_ids))"
complete -c tally -n "__tally_at 'budgets check'" -l at -r
complete -c tally -n "__tally_at 'budgets check'" -l help
complete -c tally -f -n "__tally_at 'budgets check' 0" -a "(__tally_candidates 1 budgets check (__tally_ids))"
complete -c tally -f -n "__tally_at 'meters'" -a create -d 'Create a meter'
complete -c tally -f -n "__tally_at 'meters'" -a get -d 'Show one meter'
complete -c tally -f -n "__tally_at 'meters'" -a list -d 'List meters, newest first'
complete -c tally -f -n "__tally_at 'meters'" -a archive -d 'Take a meter out of use'
complete -c tally -f -n "__tally_at 'meters'" -a rate-card -d 'Show the prices per dimension of a meter'
complete -c tally -f -n "__tally_at 'meters'" -a set-rate-card -d 'Replace the prices per dimension of a meter'
complete -c tally -f -n "__tally_at 'meters'" -a test -d 'Show what a meter reads for a customer, what it skips and why'
complete -c tally -n "__tally_at 'meters'" -l help
complete -c tally -n "__tally_at 'meters create'" -l code -r
complete -c tally -n "__tally_at 'meters create'" -l display-name -r
complete -c tally -n "__tally_at 'meters create'" -l description -r
complete -c tally -n "__tally_at 'meters create'" -l aggregation-type -x -a "(__tally_candidates aggregation-type meters create (__tally_ids))"
complete -c tally -n "__tally_at 'meters create'" -l event-type-filter -r
complete -c tally -n "__tally_at 'meters create'" -l property-filter -r
complete -c tally -n "__tally_at 'meters create'" -l aggregation-key -r
complete -c tally -n "__tally_at 'meters create'" -l group-key -r
complete -c tally -n "__tally_at 'meters create'" -l sql -r
complete -c tally -n "__tally_at 'meters create'" -l input -r
complete -c tally -n "__tally_at 'meters create'" -l help
complete -c tally -n "__tally_at 'meters get'" -l help
complete -c tally -f -n "__tally_at 'meters get' 0" -a "(__tally_candidates 1 meters get (__tally_ids))"
complete -c tally -n "__tally_at 'meters list'" -l status -x -a "(__tally_candidates status meters list (__tally_ids))"
complete -c tally -n "__tally_at 'meters list'" -l limit -r
complete -c tally -n "__tally_at 'meters list'" -l offset -r
complete -c tally -n "__tally_at 'meters list'" -l all
complete -c tally -n "__tally_at 'meters list'" -l help
complete -c tally -n "__tally_at 'meters archive'" -l help
complete -c tally -f -n "__tally_at 'meters archive' 0" -a "(__tally_candidates 1 meters archive (__tally_ids))"
complete -c tally -n "__tally_at 'meters rate-card'" -l help
complete -c tally -f -n "__tally_at 'meters rate-card' 0" -a "(__tally_candidates 1 meters rate-card (__tally_ids))"
complete -c tally -n "__tally_at 'meters set-rate-card'" -l rate -r
complete -c tally -n "__tally_at 'meters set-rate-card'" -l fallback-unit-amount -r
complete -c tally -n "__tally_at 'meters set-rate-card'" -l input -r
complete -c tally -n "__tally_at 'meters set-rate-card'" -l clear -x -a "(__tally_candidates clear meters set-rate-card (__tally_ids))"
complete -c tally -n "__tally_at 'meters set-rate-card'" -l help
complete -c tally -f -n "__tally_at 'meters set-rate-card' 0" -a "(__tally_candidates 1 meters set-rate-card (__tally_ids))"
complete -c tally -n "__tally_at 'meters test'" -l start-date -r
complete -c tally -n "__tally_at 'meters test'" -l end-date -r
complete -c tally -n "__tally_at 'meters test'" -l customer-id -x -a "(__tally_candidates customer-id meters test (__tally_ids))"
complete -c tally -n "__tally_at 'meters test'" -l external-customer-id -x -a "(__tally_candidates external-customer-id meters test (__tally_ids))"
complete -c tally -n "__tally_at 'meters test'" -l contract-id -x -a "(__tally_candidates contract-id meters test (__tally_ids))"
complete -c tally -n "__tally_at 'meters test'" -l input -r
complete -c tally -n "__tally_at 'meters test'" -l help
complete -c tally -f -n "__tally_at 'meters test' 0" -a "(__tally_candidates 1 meters test (__tally_ids))"
complete -c tally -f -n "__tally_at 'usage'" -a cost -d 'Calculate what usage costs'
complete -c tally -f -n "__tally_at 'usage'" -a breakdown -d 'Split what usage costs by a group key of the meters'
complete -c tally -f -n "__tally_at 'usage'" -a ingest -d 'Send one event'
complete -c tally -f -n "__tally_at 'usage'" -a ingest-batch -d 'Send up to 10,000 events, all or none'
complete -c tally -f -n "__tally_at 'usage'" -a events -d 'List events, newest first'
complete -c tally -f -n "__tally_at 'usage'" -a late -d 'List events that came after their period was finalized, newest first'
complete -c tally -f -n "__tally_at 'usage'" -a estimate -d 'Estimate what events would cost, without storing them'
complete -c tally -n "__tally_at 'usage'" -l help
complete -c tally -n "__tally_at 'usage cost'" -l start-date -r
complete -c tally -n "__tally_at 'usage cost'" -l end-date -r
complete -c tally -n "__tally_at 'usage cost'" -l customer-id -x -a "(__tally_candidates customer-id usage cost (__tally_ids))"
complete -c tally -n "__tally_at 'usage cost'" -l external-customer-id -x -a "(__tally_candidates external-customer-id usage cost (__tally_ids))"
complete -c tally -n "__tally_at 'usage cost'" -l contract-id -x -a "(__tally_candidates contract-id usage cost (__tally_ids))"
complete -c tally -n "__tally_at 'usage cost'" -l event-name -r
complete -c tally -n "__tally_at 'usage cost'" -l property-filter -r
complete -c tally -n "__tally_at 'usage cost'" -l unit -x -a "(__tally_candidates unit usage cost (__tally_ids))"
complete -c tally -n "__tally_at 'usage cost'" -l by -r
complete -c tally -n "__tally_at 'usage cost'" -l chart
complete -c tally -n "__tally_at 'usage cost'" -l ascii
complete -c tally -n "__tally_at 'usage cost'" -l input -r
complete -c tally -n "__tally_at 'usage cost'" -l help
complete -c tally -n "__tally_at 'usage breakdown'" -l group-key -r
complete -c tally -n "__tally_at 'usage breakdown'" -l start-date -r
complete -c tally -n "__tally_at 'usage breakdown'" -l end-date -r
complete -c tally -n "__tally_at 'usage breakdown'" -l customer-id -x -a "(__tally_candidates customer-id usage breakdown (__tally_ids))"
complete -c tally -n "__tally_at 'usage breakdown'" -l external-customer-id -x -a "(__tally_candidates external-customer-id usage breakdown (__tally_ids))"
complete -c tally -n "__tally_at 'usage breakdown'" -l contract-id -x -a "(__tally_candidates contract-id usage breakdown (__tally_ids))"
complete -c tally -n "__tally_at 'usage breakdown'" -l event-name -r
complete -c tally -n "__tally_at 'usage breakdown'" -l property-filter -r
complete -c tally -n "__tally_at 'usage breakdown'" -l input -r
complete -c tally -n "__tally_at 'usage breakdown'" -l help
complete -c tally -n "__tally_at 'usage ingest'" -l event-name -r
complete -c tally -n "__tally_at 'usage ingest'" -l customer-id -x -a "(__tally_candidates customer-id usage ingest (__tally_ids))"
complete -c tally -n "__tally_at 'usage ingest'" -l external-customer-id -x -a "(__tally_candidates external-customer-id usage ingest (__tally_ids))"
complete -c tally -n "__tally_at 'usage ingest'" -l contract-id -x -a "(__tally_candidates contract-id usage ingest (__tally_ids))"
complete -c tally -n "__tally_at 'usage ingest'" -l idempotency-key -r
complete -c tally -n "__tally_at 'usage ingest'" -l timestamp -r
complete -c tally -n "__tally_at 'usage ingest'" -l property -r
complete -c tally -n "__tally_at 'usage ingest'" -l input -r
complete -c tally -n "__tally_at 'usage ingest'" -l help
complete -c tally -n "__tally_at 'usage ingest-batch'" -l event -r
complete -c tally -n "__tally_at 'usage ingest-batch'" -l input -r
complete -c tally -n "__tally_at 'usage ingest-batch'" -l help
complete -c tally -n "__tally_at 'usage events'" -l event-name -r
complete -c tally -n "__tally_at 'usage events'" -l customer-id -x -a "(__tally_candidates customer-id usage events (__tally_ids))"
complete -c tally -n "__tally_at 'usage events'" -l start -r
complete -c tally -n "__tally_at 'usage events'" -l end -r
complete -c tally -n "__tally_at 'usage events'" -l limit -r
complete -c tally -n "__tally_at 'usage events'" -l offset -r
complete -c tally -n "__tally_at 'usage events'" -l all
complete -c tally -n "__tally_at 'usage events'" -l help
complete -c tally -n "__tally_at 'usage late'" -l event-name -r
complete -c tally -n "__tally_at 'usage late'" -l customer-id -x -a "(__tally_candidates customer-id usage late (__tally_ids))"
complete -c tally -n "__tally_at 'usage late'" -l start -r
complete -c tally -n "__tally_at 'usage late'" -l end -r
complete -c tally -n "__tally_at 'usage late'" -l limit -r
complete -c tally -n "__tally_at 'usage late'" -l offset -r
complete -c tally -n "__tally_at 'usage late'" -l all
complete -c tally -n "__tally_at 'usage late'" -l help
complete -c tally -n "__tally_at 'usage estimate'" -l event -r
complete -c tally -n "__tally_at 'usage estimate'" -l contract-id -x -a "(__tally_candidates contract-id usage estimate (__tally_ids))"
complete -c tally -n "__tally_at 'usage estimate'" -l input -r
complete -c tally -n "__tally_at 'usage estimate'" -l help
complete -c tally -f -n "__tally_at 'invoices'" -a list -d 'List invoices, newest first'
complete -c tally -f -n "__tally_at 'invoices'" -a get -d 'Show one invoice'
complete -c tally -f -n "__tally_at 'invoices'" -a finalize -d 'Finalize a draft: meter, rate, apply credits, number and freeze it'
complete -c tally -f -n "__tally_at 'invoices'" -a send -d 'Send a finalized invoice that waits to be sent'
complete -c tally -f -n "__tally_at 'invoices'" -a pay -d 'Record a payment: begun, failed or paid'
complete -c tally -f -n "__tally_at 'invoices'" -a cancel -d 'Cancel a draft, or void an invoice that is not paid'
complete -c tally -f -n "__tally_at 'invoices'" -a refund -d 'Refund a paid invoice in full'
complete -c tally -f -n "__tally_at 'invoices'" -a credit-report -d 'Show the credits that were applied to an invoice'
complete -c tally -f -n "__tally_at 'invoices'" -a explain -d 'Trace each cent of an invoice: events, quantity, price, rounding, credits'
complete -c tally -f -n "__tally_at 'invoices'" -a export -d 'One invoice as a page to print or to send, or as its lines'
complete -c tally -n "__tally_at 'invoices'" -l help
complete -c tally -n "__tally_at 'invoices list'" -l customer-id -x -a "(__tally_candidates customer-id invoices list (__tally_ids))"
complete -c tally -n "__tally_at 'invoices list'" -l status -x -a "(__tally_candidates status invoices list (__tally_ids))"
complete -c tally -n "__tally_at 'invoices list'" -l created-after -r
complete -c tally -n "__tally_at 'invoices list'" -l created-before -r
complete -c tally -n "__tally_at 'invoices list'" -l include -x -a "(__tally_candidates include invoices list (__tally_ids))"
complete -c tally -n "__tally_at 'invoices list'" -l limit -r
complete -c tally -n "__tally_at 'invoices list'" -l offset -r
complete -c tally -n "__tally_at 'invoices list'" -l all
complete -c tally -n "__tally_at 'invoices list'" -l help
complete -c tally -n "__tally_at 'invoices get'" -l include -x -a "(__tally_candidates include invoices get (__tally_ids))"
complete -c tally -n "__tally_at 'invoices get'" -l help
complete -c tally -f -n "__tally_at 'invoices get' 0" -a "(__tally_candidates 1 invoices get (__tally_ids))"
complete -c tally -n "__tally_at 'invoices finalize'" -l help
complete -c tally -f -n "__tally_at 'invoices finalize' 0" -a "(__tally_candidates 1 invoices finalize (__tally_ids))"
complete -c tally -n "__tally_at 'invoices send'" -l help
complete -c tally -f -n "__tally_at 'invoices send' 0" -a "(__tally_candidates 1 invoices send (__tally_ids))"
complete -c tally -n "__tally_at 'invoices pay'" -l status -x -a "(__tally_candidates status invoices pay (__tally_ids))"
complete -c tally -n "__tally_at 'invoices pay'" -l date -r
complete -c tally -n "__tally_at 'invoices pay'" -l input -r
complete -c tally -n "__tally_at 'invoices pay'" -l help
complete -c tally -f -n "__tally_at 'invoices pay' 0" -a "(__tally_candidates 1 invoices pay (__tally_ids))"
complete -c tally -n "__tally_at 'invoices cancel'" -l help
complete -c tally -f -n "__tally_at 'invoices cancel' 0" -a "(__tally_candidates 1 invoices cancel (__tally_ids))"
complete -c tally -n "__tally_at 'invoices refund'" -l date -r
complete -c tally -n "__tally_at 'invoices refund'" -l restore-credits -x -a "(__tally_candidates restore-credits invoices refund (__tally_ids))"
complete -c tally -n "__tally_at 'invoices refund'" -l input -r
complete -c tally -n "__tally_at 'invoices refund'" -l help
complete -c tally -f -n "__tally_at 'invoices refund' 0" -a "(__tally_candidates 1 invoices refund (__tally_ids))"
complete -c tally -n "__tally_at 'invoices credit-report'" -l help
complete -c tally -f -n "__tally_at 'invoices credit-report' 0" -a "(__tally_candidates 1 invoices credit-report (__tally_ids))"
complete -c tally -n "__tally_at 'invoices explain'" -l help
complete -c tally -f -n "__tally_at 'invoices explain' 0" -a "(__tally_candidates 1 invoices explain (__tally_ids))"
complete -c tally -n "__tally_at 'invoices export'" -l format -x -a "(__tally_candidates format invoices export (__tally_ids))"
complete -c tally -n "__tally_at 'invoices export'" -l file -r
complete -c tally -n "__tally_at 'invoices export'" -l force
complete -c tally -n "__tally_at 'invoices export'" -l sender -r
complete -c tally -n "__tally_at 'invoices export'" -l help
complete -c tally -f -n "__tally_at 'invoices export' 0" -a "(__tally_candidates 1 invoices export (__tally_ids))"
complete -c tally -f -n "__tally_at 'pricing'" -a create -d 'Create a price of a product'
complete -c tally -f -n "__tally_at 'pricing'" -a get -d 'Show one price'
complete -c tally -f -n "__tally_at 'pricing'" -a list -d 'List prices, newest first'
complete -c tally -f -n "__tally_at 'pricing'" -a archive -d 'Take a price out of use'
complete -c tally -n "__tally_at 'pricing'" -l help
complete -c tally -n "__tally_at 'pricing create'" -l name -r
complete -c tally -n "__tally_at 'pricing create'" -l model -x -a "(__tally_candidates model pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l product-id -x -a "(__tally_candidates product-id pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l product-name -r
complete -c tally -n "__tally_at 'pricing create'" -l product-description -r
complete -c tally -n "__tally_at 'pricing create'" -l description -r
complete -c tally -n "__tally_at 'pricing create'" -l billing-mode -x -a "(__tally_candidates billing-mode pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l tiering -x -a "(__tally_candidates tiering pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l unit-amount -r
complete -c tally -n "__tally_at 'pricing create'" -l flat-amount -r
complete -c tally -n "__tally_at 'pricing create'" -l price-interval -x -a "(__tally_candidates price-interval pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l price-interval-count -r
complete -c tally -n "__tally_at 'pricing create'" -l meter-id -x -a "(__tally_candidates meter-id pricing create (__tally_ids))"
complete -c tally -n "__tally_at 'pricing create'" -l tier -r
complete -c tally -n "__tally_at 'pricing create'" -l input -r
complete -c tally -n "__tally_at 'pricing create'" -l help
complete -c tally -n "__tally_at 'pricing get'" -l help
complete -c tally -f -n "__tally_at 'pricing get' 0" -a "(__tally_candidates 1 pricing get (__tally_ids))"
complete -c tally -n "__tally_at 'pricing list'" -l product-id -x -a "(__tally_candidates product-id pricing list (__tally_ids))"
complete -c tally -n "__tally_at 'pricing list'" -l model -x -a "(__tally_candidates model pricing list (__tally_ids))"
complete -c tally -n "__tally_at 'pricing list'" -l limit -r
complete -c tally -n "__tally_at 'pricing list'" -l offset -r
complete -c tally -n "__tally_at 'pricing list'" -l all
complete -c tally -n "__tally_at 'pricing list'" -l help
complete -c tally -n "__tally_at 'pricing archive'" -l help
complete -c tally -f -n "__tally_at 'pricing archive' 0" -a "(__tally_candidates 1 pricing archive (__tally_ids))"
complete -c tally -f -n "__tally_at 'plans'" -a create -d 'Create a plan from prices'
complete -c tally -f -n "__tally_at 'plans'" -a get -d 'Show one plan'
complete -c tally -f -n "__tally_at 'plans'" -a list -d 'List plans, newest first'
complete -c tally -f -n "__tally_at 'plans'" -a archive -d 'Take a plan out of use'
complete -c tally -n "__tally_at 'plans'" -l help
complete -c tally -n "__tally_at 'plans create'" -l name -r
complete -c tally -n "__tally_at 'plans create'" -l item -r
complete -c tally -n "__tally_at 'plans create'" -l description -r
complete -c tally -n "__tally_at 'plans create'" -l currency -x -a "(__tally_candidates currency plans create (__tally_ids))"
complete -c tally -n "__tally_at 'plans create'" -l net-terms -r
complete -c tally -n "__tally_at 'plans create'" -l external-id -r
complete -c tally -n "__tally_at 'plans create'" -l metadata -r
complete -c tally -n "__tally_at 'plans create'" -l input -r
complete -c tally -n "__tally_at 'plans create'" -l help
complete -c tally -n "__tally_at 'plans get'" -l help
complete -c tally -f -n "__tally_at 'plans get' 0" -a "(__tally_candidates 1 plans get (__tally_ids))"
complete -c tally -n "__tally_at 'plans list'" -l limit -r
complete -c tally -n "__tally_at 'plans list'" -l offset -r
complete -c tally -n "__tally_at 'plans list'" -l all
complete -c tally -n "__tally_at 'plans list'" -l help
complete -c tally -n "__tally_at 'plans archive'" -l help
complete -c tally -f -n "__tally_at 'plans archive' 0" -a "(__tally_candidates 1 plans archive (__tally_ids))"
complete -c tally -f -n "__tally_at 'products'" -a create -d 'Create a product'
complete -c tally -f -n "__tally_at 'products'" -a get -d 'Show one product'
complete -c tally -f -n "__tally_at 'products'" -a list -d 'List products, newest first'
complete -c tally -f -n "__tally_at 'products'" -a archive -d 'Take a product out of use'
complete -c tally -n "__tally_at 'products'" -l help
complete -c tally -n "__tally_at 'products create'" -l name -r
complete -c tally -n "__tally_at 'products create'" -l description -r
complete -c tally -n "__tally_at 'products create'" -l input -r
complete -c tally -n "__tally_at 'products create'" -l help
complete -c tally -n "__tally_at 'products get'" -l help
complete -c tally -f -n "__tally_at 'products get' 0" -a "(__tally_candidates 1 products get (__tally_ids))"
complete -c tally -n "__tally_at 'products list'" -l limit -r
complete -c tally -n "__tally_at 'products list'" -l offset -r
complete -c tally -n "__tally_at 'products list'" -l all
complete -c tally -n "__tally_at 'products list'" -l help
complete -c tally -n "__tally_at 'products archive'" -l help
complete -c tally -f -n "__tally_at 'products archive' 0" -a "(__tally_candidates 1 products archive (__tally_ids))"
complete -c tally -f -n "__tally_at 'keys'" -a create -d 'Create an API key; it is shown only once'
complete -c tally -f -n "__tally_at 'keys'" -a list -d 'List API keys, newest first'
complete -c tally -f -n "__tally_at 'keys'" -a whoami -d 'Show whose key is in use, and what it may do'
complete -c tally -f -n "__tally_at 'keys'" -a revoke -d 'Revoke an API key at once'
complete -c tally -f -n "__tally_at 'keys'" -a rotate -d 'Replace an API key by a new one of the same scopes'
complete -c tally -n "__tally_at 'keys'" -l help
complete -c tally -n "__tally_at 'keys create'" -l name -r
complete -c tally -n "__tally_at 'keys create'" -l scopes -x -a "(__tally_candidates scopes keys create (__tally_ids))"
complete -c tally -n "__tally_at 'keys create'" -l expires-at -r
complete -c tally -n "__tally_at 'keys create'" -l input -r
complete -c tally -n "__tally_at 'keys create'" -l clear -x -a "(__tally_candidates clear keys create (__tally_ids))"
complete -c tally -n "__tally_at 'keys create'" -l help
complete -c tally -n "__tally_at 'keys list'" -l help
complete -c tally -n "__tally_at 'keys whoami'" -l help
complete -c tally -n "__tally_at 'keys revoke'" -l help
complete -c tally -f -n "__tally_at 'keys revoke' 0" -a "(__tally_candidates 1 keys revoke (__tally_ids))"
complete -c tally -n "__tally_at 'keys rotate'" -l valid-until -r
complete -c tally -n "__tally_at 'keys rotate'" -l input -r
complete -c tally -n "__tally_at 'keys rotate'" -l help
complete -c tally -f -n "__tally_at 'keys rotate' 0" -a "(__tally_candidates 1 keys rotate (__tally_ids))"
complete -c tally -f -n "__tally_at 'orgs'" -a create -d 'Create an organization in this database'
complete -c tally -f -n "__tally_at 'orgs'" -a list -d 'List the organizations of this database'
complete -c tally -f -n "__tally_at 'orgs'" -a update -d 'Change the settings of an organization'
complete -c tally -n "__tally_at 'orgs'" -l help
complete -c tally -n "__tally_at 'orgs create'" -l name -r
complete -c tally -n "__tally_at 'orgs create'" -l key-prefix -r
complete -c tally -n "__tally_at 'orgs create'" -l sales-tax-enabled -x -a "(__tally_candidates sales-tax-enabled orgs create (__tally_ids))"
complete -c tally -n "__tally_at 'orgs create'" -l payment-processor -x -a "(__tally_candidates payment-processor orgs create (__tally_ids))"
complete -c tally -n "__tally_at 'orgs create'" -l environment -x -a "(__tally_candidates environment orgs create (__tally_ids))"
complete -c tally -n "__tally_at 'orgs create'" -l input -r
complete -c tally -n "__tally_at 'orgs create'" -l clear -x -a "(__tally_candidates clear orgs create (__tally_ids))"
complete -c tally -n "__tally_at 'orgs create'" -l help
complete -c tally -n "__tally_at 'orgs list'" -l help
complete -c tally -n "__tally_at 'orgs update'" -l name -r
complete -c tally -n "__tally_at 'orgs update'" -l sales-tax-enabled -x -a "(__tally_candidates sales-tax-enabled orgs update (__tally_ids))"
complete -c tally -n "__tally_at 'orgs update'" -l payment-processor -x -a "(__tally_candidates payment-processor orgs update (__tally_ids))"
complete -c tally -n "__tally_at 'orgs update'" -l environment -x -a "(__tally_candidates environment orgs update (__tally_ids))"
complete -c tally -n "__tally_at 'orgs update'" -l input -r
complete -c tally -n "__tally_at 'orgs update'" -l clear -x -a "(__tally_candidates clear orgs update (__tally_ids))"
complete -c tally -n "__tally_at 'orgs update'" -l help
complete -c tally -f -n "__tally_at 'orgs update' 0" -a "(__tally_candidates 1 orgs update (__tally_ids))"
complete -c tally -f -n "__tally_at 'webhooks'" -a create -d 'Register an endpoint; its secret is shown only once'
complete -c tally -f -n "__tally_at 'webhooks'" -a list -d 'List endpoints, newest first'
complete -c tally -f -n "__tally_at 'webhooks'" -a update -d 'Change, disable or enable an endpoint'
complete -c tally -f -n "__tally_at 'webhooks'" -a remove -d 'Remove an endpoint; what was waiting for it fails'
complete -c tally -f -n "__tally_at 'webhooks'" -a rotate -d 'Give an endpoint a new secret; it is shown only once'
complete -c tally -f -n "__tally_at 'webhooks'" -a deliveries -d 'List deliveries, newest first'
complete -c tally -f -n "__tally_at 'webhooks'" -a resend -d 'Send a delivery again, with a new set of attempts'
complete -c tally -f -n "__tally_at 'webhooks'" -a trigger -d 'Send a sample event of a kind to the endpoints that take it'
complete -c tally -f -n "__tally_at 'webhooks'" -a listen -d 'Receive, verify and print events on this machine'
complete -c tally -f -n "__tally_at 'webhooks'" -a deliver -d 'Send what is due now, of all organizations'
complete -c tally -n "__tally_at 'webhooks'" -l help
complete -c tally -n "__tally_at 'webhooks create'" -l url -r
complete -c tally -n "__tally_at 'webhooks create'" -l event-types -x -a "(__tally_candidates event-types webhooks create (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks create'" -l description -r
complete -c tally -n "__tally_at 'webhooks create'" -l allow-private -x -a "(__tally_candidates allow-private webhooks create (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks create'" -l input -r
complete -c tally -n "__tally_at 'webhooks create'" -l clear -x -a "(__tally_candidates clear webhooks create (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks create'" -l help
complete -c tally -n "__tally_at 'webhooks list'" -l help
complete -c tally -n "__tally_at 'webhooks update'" -l url -r
complete -c tally -n "__tally_at 'webhooks update'" -l event-types -x -a "(__tally_candidates event-types webhooks update (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks update'" -l description -r
complete -c tally -n "__tally_at 'webhooks update'" -l is-enabled -x -a "(__tally_candidates is-enabled webhooks update (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks update'" -l allow-private -x -a "(__tally_candidates allow-private webhooks update (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks update'" -l input -r
complete -c tally -n "__tally_at 'webhooks update'" -l clear -x -a "(__tally_candidates clear webhooks update (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks update'" -l help
complete -c tally -f -n "__tally_at 'webhooks update' 0" -a "(__tally_candidates 1 webhooks update (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks remove'" -l help
complete -c tally -f -n "__tally_at 'webhooks remove' 0" -a "(__tally_candidates 1 webhooks remove (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks rotate'" -l valid-until -r
complete -c tally -n "__tally_at 'webhooks rotate'" -l input -r
complete -c tally -n "__tally_at 'webhooks rotate'" -l help
complete -c tally -f -n "__tally_at 'webhooks rotate' 0" -a "(__tally_candidates 1 webhooks rotate (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks deliveries'" -l status -x -a "(__tally_candidates status webhooks deliveries (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks deliveries'" -l endpoint-id -x -a "(__tally_candidates endpoint-id webhooks deliveries (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks deliveries'" -l include -x -a "(__tally_candidates include webhooks deliveries (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks deliveries'" -l limit -r
complete -c tally -n "__tally_at 'webhooks deliveries'" -l offset -r
complete -c tally -n "__tally_at 'webhooks deliveries'" -l all
complete -c tally -n "__tally_at 'webhooks deliveries'" -l help
complete -c tally -n "__tally_at 'webhooks resend'" -l help
complete -c tally -f -n "__tally_at 'webhooks resend' 0" -a "(__tally_candidates 1 webhooks resend (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks trigger'" -l help
complete -c tally -f -n "__tally_at 'webhooks trigger' 0" -a "(__tally_candidates 1 webhooks trigger (__tally_ids))"
complete -c tally -n "__tally_at 'webhooks listen'" -l port -r
complete -c tally -n "__tally_at 'webhooks listen'" -l secret-stdin
complete -c tally -n "__tally_at 'webhooks listen'" -l secret-file -r
complete -c tally -n "__tally_at 'webhooks listen'" -l forward-to -r
complete -c tally -n "__tally_at 'webhooks listen'" -l help
complete -c tally -n "__tally_at 'webhooks deliver'" -l allow-private-webhooks
complete -c tally -n "__tally_at 'webhooks deliver'" -l help
complete -c tally -f -n "__tally_at 'clock'" -a show -d 'Show the time of this database, and when something falls due next'
complete -c tally -f -n "__tally_at 'clock'" -a advance -d 'Let time pass, and do everything that falls due on the way, each at its instant'
complete -c tally -f -n "__tally_at 'clock'" -a set -d 'Simulate the time of this database, from an instant on'
complete -c tally -f -n "__tally_at 'clock'" -a reset -d 'Go back to the real clock, once it has caught up'
complete -c tally -n "__tally_at 'clock'" -l help
complete -c tally -n "__tally_at 'clock show'" -l help
complete -c tally -n "__tally_at 'clock advance'" -l by -r
complete -c tally -n "__tally_at 'clock advance'" -l to -r
complete -c tally -n "__tally_at 'clock advance'" -l input -r
complete -c tally -n "__tally_at 'clock advance'" -l help
complete -c tally -n "__tally_at 'clock set'" -l to -r
complete -c tally -n "__tally_at 'clock set'" -l input -r
complete -c tally -n "__tally_at 'clock set'" -l help
complete -c tally -n "__tally_at 'clock reset'" -l help
complete -c tally -f -n "__tally_at 'bill'" -a run -d 'Do what has fallen due: finalize invoices, expire grants, draft periods, end pauses and contracts'
complete -c tally -n "__tally_at 'bill'" -l help
complete -c tally -n "__tally_at 'bill run'" -l until -r
complete -c tally -n "__tally_at 'bill run'" -l all-organizations -x -a "(__tally_candidates all-organizations bill run (__tally_ids))"
complete -c tally -n "__tally_at 'bill run'" -l rehearse -x -a "(__tally_candidates rehearse bill run (__tally_ids))"
complete -c tally -n "__tally_at 'bill run'" -l input -r
complete -c tally -n "__tally_at 'bill run'" -l help
complete -c tally -f -n "__tally_at 'events'" -a drop -d 'Drop events that are billed, for good'
complete -c tally -n "__tally_at 'events'" -l help
complete -c tally -n "__tally_at 'events drop'" -l before -r
complete -c tally -n "__tally_at 'events drop'" -l rehearse -x -a "(__tally_candidates rehearse events drop (__tally_ids))"
complete -c tally -n "__tally_at 'events drop'" -l input -r
complete -c tally -n "__tally_at 'events drop'" -l help
complete -c tally -f -n "__tally_at 'profile'" -a add -d 'Add or replace a profile'
complete -c tally -f -n "__tally_at 'profile'" -a list -d 'List the profiles'
complete -c tally -f -n "__tally_at 'profile'" -a use -d 'Use a profile from now on'
complete -c tally -f -n "__tally_at 'profile'" -a show -d 'Show what commands work on, and where each value came from'
complete -c tally -f -n "__tally_at 'profile'" -a remove -d 'Remove a profile and its key'
complete -c tally -f -n "__tally_at 'profile'" -a check -d 'Check the key and the service, or the database'
complete -c tally -n "__tally_at 'profile'" -l help
complete -c tally -n "__tally_at 'profile add'" -l environment -x -a "(__tally_candidates environment profile add (__tally_ids))"
complete -c tally -n "__tally_at 'profile add'" -l base-url -r
complete -c tally -n "__tally_at 'profile add'" -l key-stdin
complete -c tally -n "__tally_at 'profile add'" -l key-file -r
complete -c tally -n "__tally_at 'profile add'" -l no-check
complete -c tally -n "__tally_at 'profile add'" -l keyring
complete -c tally -n "__tally_at 'profile add'" -l help
complete -c tally -n "__tally_at 'profile list'" -l help
complete -c tally -n "__tally_at 'profile use'" -l help
complete -c tally -f -n "__tally_at 'profile use' 0" -a "(__tally_candidates 1 profile use (__tally_ids))"
complete -c tally -n "__tally_at 'profile show'" -l help
complete -c tally -f -n "__tally_at 'profile show' 0" -a "(__tally_candidates 1 profile show (__tally_ids))"
complete -c tally -n "__tally_at 'profile remove'" -l help
complete -c tally -f -n "__tally_at 'profile remove' 0" -a "(__tally_candidates 1 profile remove (__tally_ids))"
complete -c tally -n "__tally_at 'profile check'" -l help
complete -c tally -f -n "__tally_at 'profile check' 0" -a "(__tally_candidates 1 profile check (__tally_ids))"
complete -c tally -n "__tally_at 'doctor'" -l full
complete -c tally -n "__tally_at 'doctor'" -l rebuild
complete -c tally -n "__tally_at 'doctor'" -l help
complete -c tally -n "__tally_at 'backup'" -l help
complete -c tally -n "__tally_at 'restore'" -l to -r
complete -c tally -n "__tally_at 'restore'" -l help
complete -c tally -n "__tally_at 'copy'" -l from -r
complete -c tally -n "__tally_at 'copy'" -l from-events -r
complete -c tally -n "__tally_at 'copy'" -l to -r
complete -c tally -n "__tally_at 'copy'" -l to-events -r
complete -c tally -n "__tally_at 'copy'" -l to-profile -x -a "(__tally_candidates to-profile copy (__tally_ids))"
complete -c tally -n "__tally_at 'copy'" -l help
complete -c tally -f -n "__tally_at 'journal'" -a list -d 'List what was written, newest first'
complete -c tally -f -n "__tally_at 'journal'" -a verify -d 'Check that no line was changed or taken out'
complete -c tally -f -n "__tally_at 'journal'" -a export -d 'Print the lines as they were written, oldest first'
complete -c tally -n "__tally_at 'journal'" -l help
complete -c tally -n "__tally_at 'journal list'" -l since -r
complete -c tally -n "__tally_at 'journal list'" -l until -r
complete -c tally -n "__tally_at 'journal list'" -l operation -r
complete -c tally -n "__tally_at 'journal list'" -l operator -r
complete -c tally -n "__tally_at 'journal list'" -l environment -x -a "(__tally_candidates environment journal list (__tally_ids))"
complete -c tally -n "__tally_at 'journal list'" -l limit -r
complete -c tally -n "__tally_at 'journal list'" -l unfinished
complete -c tally -n "__tally_at 'journal list'" -l help
complete -c tally -n "__tally_at 'journal verify'" -l contains -r
complete -c tally -n "__tally_at 'journal verify'" -l help
complete -c tally -n "__tally_at 'journal export'" -l since -r
complete -c tally -n "__tally_at 'journal export'" -l until -r
complete -c tally -n "__tally_at 'journal export'" -l operation -r
complete -c tally -n "__tally_at 'journal export'" -l operator -r
complete -c tally -n "__tally_at 'journal export'" -l environment -x -a "(__tally_candidates environment journal export (__tally_ids))"
complete -c tally -n "__tally_at 'journal export'" -l help
complete -c tally -f -n "__tally_at 'import'" -a events -d 'Events from CSV, JSON lines or CloudEvents'
complete -c tally -n "__tally_at 'import'" -l help
complete -c tally -n "__tally_at 'import events'" -l event-name -r
complete -c tally -n "__tally_at 'import events'" -l event-name-column -r
complete -c tally -n "__tally_at 'import events'" -l customer -x -a "(__tally_candidates customer import events (__tally_ids))"
complete -c tally -n "__tally_at 'import events'" -l customer-id -x -a "(__tally_candidates customer-id import events (__tally_ids))"
complete -c tally -n "__tally_at 'import events'" -l customer-column -r
complete -c tally -n "__tally_at 'import events'" -l contract-id -x -a "(__tally_candidates contract-id import events (__tally_ids))"
complete -c tally -n "__tally_at 'import events'" -l timestamp -r
complete -c tally -n "__tally_at 'import events'" -l time-zone -r
complete -c tally -n "__tally_at 'import events'" -l property -r
complete -c tally -n "__tally_at 'import events'" -l set -r
complete -c tally -n "__tally_at 'import events'" -l key-column -r
complete -c tally -n "__tally_at 'import events'" -l source -r
complete -c tally -n "__tally_at 'import events'" -l format -x -a "(__tally_candidates format import events (__tally_ids))"
complete -c tally -n "__tally_at 'import events'" -l delimiter -r
complete -c tally -n "__tally_at 'import events'" -l batch-size -r
complete -c tally -n "__tally_at 'import events'" -l refused -r
complete -c tally -n "__tally_at 'import events'" -l help
complete -c tally -n "__tally_at 'pull'" -l to -r
complete -c tally -n "__tally_at 'pull'" -l contract -r
complete -c tally -n "__tally_at 'pull'" -l from -r
complete -c tally -n "__tally_at 'pull'" -l customer -x -a "(__tally_candidates customer pull (__tally_ids))"
complete -c tally -n "__tally_at 'pull'" -l plan -r
complete -c tally -n "__tally_at 'pull'" -l published
complete -c tally -n "__tally_at 'pull'" -l check
complete -c tally -n "__tally_at 'pull'" -l help
complete -c tally -f -n "__tally_at 'catalog'" -a export -d 'Print the catalog as a file'
complete -c tally -f -n "__tally_at 'catalog'" -a diff -d 'Show what a file would change'
complete -c tally -f -n "__tally_at 'catalog'" -a apply -d 'Change the catalog to what a file says'
complete -c tally -f -n "__tally_at 'catalog'" -a schema -d 'Print the JSON Schema of the file'
complete -c tally -n "__tally_at 'catalog'" -l help
complete -c tally -n "__tally_at 'catalog export'" -l file -r
complete -c tally -n "__tally_at 'catalog export'" -l force
complete -c tally -n "__tally_at 'catalog export'" -l help
complete -c tally -n "__tally_at 'catalog diff'" -l prune
complete -c tally -n "__tally_at 'catalog diff'" -l exit-code
complete -c tally -n "__tally_at 'catalog diff'" -l help
complete -c tally -n "__tally_at 'catalog apply'" -l prune
complete -c tally -n "__tally_at 'catalog apply'" -l help
complete -c tally -n "__tally_at 'catalog schema'" -l help
complete -c tally -f -n "__tally_at 'simulate'" -a run -d 'Play a scenario from its start to its end'
complete -c tally -f -n "__tally_at 'simulate'" -a compare -d 'Real usage under another catalog, start date or grant'
complete -c tally -f -n "__tally_at 'simulate'" -a schema -d 'Print the JSON Schema of a scenario'
complete -c tally -n "__tally_at 'simulate'" -l help
complete -c tally -n "__tally_at 'simulate run'" -l seed -r
complete -c tally -n "__tally_at 'simulate run'" -l show -x -a "(__tally_candidates show simulate run (__tally_ids))"
complete -c tally -n "__tally_at 'simulate run'" -l junit -r
complete -c tally -n "__tally_at 'simulate run'" -l help
complete -c tally -n "__tally_at 'simulate compare'" -l catalog -r
complete -c tally -n "__tally_at 'simulate compare'" -l start-date -r
complete -c tally -n "__tally_at 'simulate compare'" -l grant -r
complete -c tally -n "__tally_at 'simulate compare'" -l customer -x -a "(__tally_candidates customer simulate compare (__tally_ids))"
complete -c tally -n "__tally_at 'simulate compare'" -l from -r
complete -c tally -n "__tally_at 'simulate compare'" -l to -r
complete -c tally -n "__tally_at 'simulate compare'" -l chart
complete -c tally -n "__tally_at 'simulate compare'" -l ascii
complete -c tally -n "__tally_at 'simulate compare'" -l help
complete -c tally -n "__tally_at 'simulate schema'" -l help
complete -c tally -n "__tally_at 'demo'" -l events -r
complete -c tally -n "__tally_at 'demo'" -l seed -r
complete -c tally -n "__tally_at 'demo'" -l into -r
complete -c tally -n "__tally_at 'demo'" -l help
complete -c tally -n "__tally_at 'serve'" -l port -r
complete -c tally -n "__tally_at 'serve'" -l host -r
complete -c tally -n "__tally_at 'serve'" -l tls-cert -r
complete -c tally -n "__tally_at 'serve'" -l tls-key -r
complete -c tally -n "__tally_at 'serve'" -l behind-proxy
complete -c tally -n "__tally_at 'serve'" -l trust-proxy -r
complete -c tally -n "__tally_at 'serve'" -l rate-limit -r
complete -c tally -n "__tally_at 'serve'" -l bill-every -r
complete -c tally -n "__tally_at 'serve'" -l drain-seconds -r
complete -c tally -n "__tally_at 'serve'" -l allow-private-webhooks
complete -c tally -n "__tally_at 'serve'" -l log-requests
complete -c tally -n "__tally_at 'serve'" -l help
complete -c tally -n "__tally_at 'api'" -l openapi
complete -c tally -n "__tally_at 'api'" -l input -r
complete -c tally -n "__tally_at 'api'" -l help
complete -c tally -n "__tally_at 'commands'" -l help
complete -c tally -f -n "__tally_at 'completion'" -a bash -d 'for bash'
complete -c tally -f -n "__tally_at 'completion'" -a zsh -d 'for zsh'
complete -c tally -f -n "__tally_at 'completion'" -a fish -d 'for fish'
complete -c tally -f -n "__tally_at 'completion'" -a powershell -d 'for powershell'
complete -c tally -n "__tally_at 'completion'" -l help
complete -c tally -f -n "__tally_at 'help'" -a customers -d 'Customers, their contacts and pauses'
complete -c tally -f -n "__tally_at 'help'" -a contracts -d 'Contracts between a customer and a plan'
complete -c tally -f -n "__tally_at 'help'" -a credits -d 'Grants, ledger and balance of a contract'
complete -c tally -f -n "__tally_at 'help'" -a budgets -d 'Caps on the credit use of one usage dimension'
complete -c tally -f -n "__tally_at 'help'" -a meters -d 'What is measured, and its prices per dimension'
complete -c tally -f -n "__tally_at 'help'" -a usage -d 'Events, and what they cost'
complete -c tally -f -n "__tally_at 'help'" -a invoices -d 'Drafts, finalization and payment'
complete -c tally -f -n "__tally_at 'help'" -a pricing -d 'Prices: flat, tiered, by usage'
complete -c tally -f -n "__tally_at 'help'" -a plans -d 'Plans made of prices'
complete -c tally -f -n "__tally_at 'help'" -a products -d 'What prices are for'
complete -c tally -f -n "__tally_at 'help'" -a keys -d 'API keys of the embedded service'
complete -c tally -f -n "__tally_at 'help'" -a orgs -d 'Organizations of the embedded service'
complete -c tally -f -n "__tally_at 'help'" -a webhooks -d 'Events sent to endpoints of your own'
complete -c tally -f -n "__tally_at 'help'" -a clock -d 'The time of a database, real or simulated'
complete -c tally -f -n "__tally_at 'help'" -a bill -d 'What falls due: invoices, expiries, ends'
complete -c tally -f -n "__tally_at 'help'" -a events -d 'How long usage events are kept'
complete -c tally -f -n "__tally_at 'help'" -a profile -d 'Named services and databases, and their keys'
complete -c tally -f -n "__tally_at 'help'" -a doctor -d 'Check the books of a database'
complete -c tally -f -n "__tally_at 'help'" -a backup -d 'Write a database to one file while it is used'
complete -c tally -f -n "__tally_at 'help'" -a restore -d 'Make a database from a backup'
complete -c tally -f -n "__tally_at 'help'" -a copy -d 'Copy a whole book to another database'
complete -c tally -f -n "__tally_at 'help'" -a journal -d 'What was written from here, by whom and when'
complete -c tally -f -n "__tally_at 'help'" -a import -d 'Events from files, each row counted once'
complete -c tally -f -n "__tally_at 'help'" -a pull -d 'Contracts of a remote service, mirrored into a file'
complete -c tally -f -n "__tally_at 'help'" -a catalog -d 'Products, prices, meters and plans as one file'
complete -c tally -f -n "__tally_at 'help'" -a simulate -d 'Scenarios, and real usage under other prices'
complete -c tally -f -n "__tally_at 'help'" -a demo -d 'A worked example on a new database'
complete -c tally -f -n "__tally_at 'help'" -a serve -d 'Serve a database over HTTP'
complete -c tally -f -n "__tally_at 'help'" -a api -d 'Send any request, or print the OpenAPI document'
complete -c tally -f -n "__tally_at 'help'" -a commands -d 'List every command'
complete -c tally -f -n "__tally_at 'help'" -a completion -d 'Print the completions of a shell'
complete -c tally -f -n "__tally_at 'help'" -a help -d 'Help of a command or topic'
complete -c tally -f -n "__tally_at 'help'" -a exit-codes -d 'Exit codes'
complete -c tally -f -n "__tally_at 'help'" -a environment -d 'Environment variables'
complete -c tally -f -n "__tally_at 'help'" -a input -d 'Input'
complete -c tally -f -n "__tally_at 'help'" -a output -d 'Output'
complete -c tally -f -n "__tally_at 'help'" -a policy -d 'Policy file'
complete -c tally -f -n "__tally_at 'help'" -a secrets -d 'Secrets'
complete -c tally -n "__tally_at 'help'" -l help
complete -c tally -f -n "__tally_at 'help customers'" -a create -d 'Create a customer'
complete -c tally -f -n "__tally_at 'help customers'" -a get -d 'Show one customer'
complete -c tally -f -n "__tally_at 'help customers'" -a list -d 'List customers, newest first'
complete -c tally -f -n "__tally_at 'help customers'" -a billing-address -d 'Show the billing address of a customer'
complete -c tally -f -n "__tally_at 'help customers'" -a update -d 'Change a customer'
complete -c tally -f -n "__tally_at 'help customers'" -a pause -d 'Stop sending invoices to a customer'
complete -c tally -f -n "__tally_at 'help customers'" -a resume -d 'Send invoices to a customer again'
complete -c tally -f -n "__tally_at 'help customers'" -a assign-csm -d 'Assign customer success managers by processor customer id'
complete -c tally -n "__tally_at 'help customers'" -l help
complete -c tally -f -n "__tally_at 'help contracts'" -a create -d 'Create a contract and its draft invoices'
complete -c tally -f -n "__tally_at 'help contracts'" -a get -d 'Show one contract'
complete -c tally -f -n "__tally_at 'help contracts'" -a list -d 'List contracts, newest first'
complete -c tally -f -n "__tally_at 'help contracts'" -a update -d 'Replace or clear the metadata of a contract'
complete -c tally -f -n "__tally_at 'help contracts'" -a cancel -d 'End a contract with its current billing period'
complete -c tally -n "__tally_at 'help contracts'" -l help
complete -c tally -f -n "__tally_at 'help credits'" -a grant -d 'Grant promotional credits to a contract'
complete -c tally -f -n "__tally_at 'help credits'" -a ledger -d 'List the ledger entries of a contract, newest first'
complete -c tally -f -n "__tally_at 'help credits'" -a balance -d 'Show the credit balance of a contract and its grants in burn order'
complete -c tally -f -n "__tally_at 'help credits'" -a expiring -d 'List grants of all contracts that expire soon with something left, earliest expiry first'
complete -c tally -f -n "__tally_at 'help credits'" -a grant-paid -d 'Record a paid grant (embedded only)'
complete -c tally -f -n "__tally_at 'help credits'" -a adjust -d 'Correct the balance of one grant (embedded only)'
complete -c tally -f -n "__tally_at 'help credits'" -a reverse -d 'Undo one ledger entry (embedded only)'
complete -c tally -f -n "__tally_at 'help credits'" -a settle -d 'Write the credit movements that usage owes up to now (embedded only)'
complete -c tally -f -n "__tally_at 'help credits'" -a explain -d 'Explain one ledger entry: what it did, to which grant, and why'
complete -c tally -f -n "__tally_at 'help credits'" -a verify -d 'Verify the books of a contract: every balance, invoice and seal, computed again'
complete -c tally -f -n "__tally_at 'help credits'" -a statement -d 'Opening balance, movements and closing balance of a period, to print or to send'
complete -c tally -n "__tally_at 'help credits'" -l help
complete -c tally -f -n "__tally_at 'help budgets'" -a list -d 'List the budgets of a contract, without their consumption'
complete -c tally -f -n "__tally_at 'help budgets'" -a usage -d 'Show what each budget of a contract has consumed, metered now'
complete -c tally -f -n "__tally_at 'help budgets'" -a add -d 'Add a budget to a contract'
complete -c tally -f -n "__tally_at 'help budgets'" -a update -d 'Change a budget; a new cap rearms its alert'
complete -c tally -f -n "__tally_at 'help budgets'" -a remove -d 'Remove a budget; the ones after it move up'
complete -c tally -f -n "__tally_at 'help budgets'" -a check -d 'Tell by the exit code whether a budget of a contract is exhausted'
complete -c tally -n "__tally_at 'help budgets'" -l help
complete -c tally -f -n "__tally_at 'help meters'" -a create -d 'Create a meter'
complete -c tally -f -n "__tally_at 'help meters'" -a get -d 'Show one meter'
complete -c tally -f -n "__tally_at 'help meters'" -a list -d 'List meters, newest first'
complete -c tally -f -n "__tally_at 'help meters'" -a archive -d 'Take a meter out of use'
complete -c tally -f -n "__tally_at 'help meters'" -a rate-card -d 'Show the prices per dimension of a meter'
complete -c tally -f -n "__tally_at 'help meters'" -a set-rate-card -d 'Replace the prices per dimension of a meter'
complete -c tally -f -n "__tally_at 'help meters'" -a test -d 'Show what a meter reads for a customer, what it skips and why'
complete -c tally -n "__tally_at 'help meters'" -l help
complete -c tally -f -n "__tally_at 'help usage'" -a cost -d 'Calculate what usage costs'
complete -c tally -f -n "__tally_at 'help usage'" -a breakdown -d 'Split what usage costs by a group key of the meters'
complete -c tally -f -n "__tally_at 'help usage'" -a ingest -d 'Send one event'
complete -c tally -f -n "__tally_at 'help usage'" -a ingest-batch -d 'Send up to 10,000 events, all or none'
complete -c tally -f -n "__tally_at 'help usage'" -a events -d 'List events, newest first'
complete -c tally -f -n "__tally_at 'help usage'" -a late -d 'List events that came after their period was finalized, newest first'
complete -c tally -f -n "__tally_at 'help usage'" -a estimate -d 'Estimate what events would cost, without storing them'
complete -c tally -n "__tally_at 'help usage'" -l help
complete -c tally -f -n "__tally_at 'help invoices'" -a list -d 'List invoices, newest first'
complete -c tally -f -n "__tally_at 'help invoices'" -a get -d 'Show one invoice'
complete -c tally -f -n "__tally_at 'help invoices'" -a finalize -d 'Finalize a draft: meter, rate, apply credits, number and freeze it'
complete -c tally -f -n "__tally_at 'help invoices'" -a send -d 'Send a finalized invoice that waits to be sent'
complete -c tally -f -n "__tally_at 'help invoices'" -a pay -d 'Record a payment: begun, failed or paid'
complete -c tally -f -n "__tally_at 'help invoices'" -a cancel -d 'Cancel a draft, or void an invoice that is not paid'
complete -c tally -f -n "__tally_at 'help invoices'" -a refund -d 'Refund a paid invoice in full'
complete -c tally -f -n "__tally_at 'help invoices'" -a credit-report -d 'Show the credits that were applied to an invoice'
complete -c tally -f -n "__tally_at 'help invoices'" -a explain -d 'Trace each cent of an invoice: events, quantity, price, rounding, credits'
complete -c tally -f -n "__tally_at 'help invoices'" -a export -d 'One invoice as a page to print or to send, or as its lines'
complete -c tally -n "__tally_at 'help invoices'" -l help
complete -c tally -f -n "__tally_at 'help pricing'" -a create -d 'Create a price of a product'
complete -c tally -f -n "__tally_at 'help pricing'" -a get -d 'Show one price'
complete -c tally -f -n "__tally_at 'help pricing'" -a list -d 'List prices, newest first'
complete -c tally -f -n "__tally_at 'help pricing'" -a archive -d 'Take a price out of use'
complete -c tally -n "__tally_at 'help pricing'" -l help
complete -c tally -f -n "__tally_at 'help plans'" -a create -d 'Create a plan from prices'
complete -c tally -f -n "__tally_at 'help plans'" -a get -d 'Show one plan'
complete -c tally -f -n "__tally_at 'help plans'" -a list -d 'List plans, newest first'
complete -c tally -f -n "__tally_at 'help plans'" -a archive -d 'Take a plan out of use'
complete -c tally -n "__tally_at 'help plans'" -l help
complete -c tally -f -n "__tally_at 'help products'" -a create -d 'Create a product'
complete -c tally -f -n "__tally_at 'help products'" -a get -d 'Show one product'
complete -c tally -f -n "__tally_at 'help products'" -a list -d 'List products, newest first'
complete -c tally -f -n "__tally_at 'help products'" -a archive -d 'Take a product out of use'
complete -c tally -n "__tally_at 'help products'" -l help
complete -c tally -f -n "__tally_at 'help keys'" -a create -d 'Create an API key; it is shown only once'
complete -c tally -f -n "__tally_at 'help keys'" -a list -d 'List API keys, newest first'
complete -c tally -f -n "__tally_at 'help keys'" -a whoami -d 'Show whose key is in use, and what it may do'
complete -c tally -f -n "__tally_at 'help keys'" -a revoke -d 'Revoke an API key at once'
complete -c tally -f -n "__tally_at 'help keys'" -a rotate -d 'Replace an API key by a new one of the same scopes'
complete -c tally -n "__tally_at 'help keys'" -l help
complete -c tally -f -n "__tally_at 'help orgs'" -a create -d 'Create an organization in this database'
complete -c tally -f -n "__tally_at 'help orgs'" -a list -d 'List the organizations of this database'
complete -c tally -f -n "__tally_at 'help orgs'" -a update -d 'Change the settings of an organization'
complete -c tally -n "__tally_at 'help orgs'" -l help
complete -c tally -f -n "__tally_at 'help webhooks'" -a create -d 'Register an endpoint; its secret is shown only once'
complete -c tally -f -n "__tally_at 'help webhooks'" -a list -d 'List endpoints, newest first'
complete -c tally -f -n "__tally_at 'help webhooks'" -a update -d 'Change, disable or enable an endpoint'
complete -c tally -f -n "__tally_at 'help webhooks'" -a remove -d 'Remove an endpoint; what was waiting for it fails'
complete -c tally -f -n "__tally_at 'help webhooks'" -a rotate -d 'Give an endpoint a new secret; it is shown only once'
complete -c tally -f -n "__tally_at 'help webhooks'" -a deliveries -d 'List deliveries, newest first'
complete -c tally -f -n "__tally_at 'help webhooks'" -a resend -d 'Send a delivery again, with a new set of attempts'
complete -c tally -f -n "__tally_at 'help webhooks'" -a trigger -d 'Send a sample event of a kind to the endpoints that take it'
complete -c tally -f -n "__tally_at 'help webhooks'" -a listen -d 'Receive, verify and print events on this machine'
complete -c tally -f -n "__tally_at 'help webhooks'" -a deliver -d 'Send what is due now, of all organizations'
complete -c tally -n "__tally_at 'help webhooks'" -l help
complete -c tally -f -n "__tally_at 'help clock'" -a show -d 'Show the time of this database, and when something falls due next'
complete -c tally -f -n "__tally_at 'help clock'" -a advance -d 'Let time pass, and do everything that falls due on the way, each at its instant'
complete -c tally -f -n "__tally_at 'help clock'" -a set -d 'Simulate the time of this database, from an instant on'
complete -c tally -f -n "__tally_at 'help clock'" -a reset -d 'Go back to the real clock, once it has caught up'
complete -c tally -n "__tally_at 'help clock'" -l help
complete -c tally -f -n "__tally_at 'help bill'" -a run -d 'Do what has fallen due: finalize invoices, expire grants, draft periods, end pauses and contracts'
complete -c tally -n "__tally_at 'help bill'" -l help
complete -c tally -f -n "__tally_at 'help events'" -a drop -d 'Drop events that are billed, for good'
complete -c tally -n "__tally_at 'help events'" -l help
complete -c tally -f -n "__tally_at 'help profile'" -a add -d 'Add or replace a profile'
complete -c tally -f -n "__tally_at 'help profile'" -a list -d 'List the profiles'
complete -c tally -f -n "__tally_at 'help profile'" -a use -d 'Use a profile from now on'
complete -c tally -f -n "__tally_at 'help profile'" -a show -d 'Show what commands work on, and where each value came from'
complete -c tally -f -n "__tally_at 'help profile'" -a remove -d 'Remove a profile and its key'
complete -c tally -f -n "__tally_at 'help profile'" -a check -d 'Check the key and the service, or the database'
complete -c tally -n "__tally_at 'help profile'" -l help
complete -c tally -f -n "__tally_at 'help journal'" -a list -d 'List what was written, newest first'
complete -c tally -f -n "__tally_at 'help journal'" -a verify -d 'Check that no line was changed or taken out'
complete -c tally -f -n "__tally_at 'help journal'" -a export -d 'Print the lines as they were written, oldest first'
complete -c tally -n "__tally_at 'help journal'" -l help
complete -c tally -f -n "__tally_at 'help import'" -a events -d 'Events from CSV, JSON lines or CloudEvents'
complete -c tally -n "__tally_at 'help import'" -l help
complete -c tally -f -n "__tally_at 'help catalog'" -a export -d 'Print the catalog as a file'
complete -c tally -f -n "__tally_at 'help catalog'" -a diff -d 'Show what a file would change'
complete -c tally -f -n "__tally_at 'help catalog'" -a apply -d 'Change the catalog to what a file says'
complete -c tally -f -n "__tally_at 'help catalog'" -a schema -d 'Print the JSON Schema of the file'
complete -c tally -n "__tally_at 'help catalog'" -l help
complete -c tally -f -n "__tally_at 'help simulate'" -a run -d 'Play a scenario from its start to its end'
complete -c tally -f -n "__tally_at 'help simulate'" -a compare -d 'Real usage under another catalog, start date or grant'
complete -c tally -f -n "__tally_at 'help simulate'" -a schema -d 'Print the JSON Schema of a scenario'
complete -c tally -n "__tally_at 'help simulate'" -l help
