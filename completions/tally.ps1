# Completions of tally. Written by npm run generate: do not edit.
# Install: tally completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName tally -ScriptBlock {
  param($current, $ast, $position)
  $places = @{
    '' = @{ next = @('customers','contracts','credits','budgets','meters','usage','invoices','pricing','plans','products','keys','orgs','webhooks','clock','bill','profile','doctor','backup','restore','journal','import','pull','catalog','simulate','demo','serve','api','commands','completion','help'); flags = @('--version','--help'); asks = @() }
    'customers' = @{ next = @('create','get','list','billing-address','update','pause','resume','assign-csm'); flags = @(); asks = @() }
    'customers create' = @{ next = @(); flags = @('--name','--contact','--legal-name','--external-customer-id','--payment-provider-id','--provider','--tag','--billing-address','--payment-method-id','--payment-method-type','--from','--result','--ignore','--delimiter','--concurrency','--input','--help'); asks = @('--provider','--payment-method-type') }
    'customers get' = @{ next = @(); flags = @('--help'); asks = @() }
    'customers list' = @{ next = @(); flags = @('--external-customer-id','--limit','--offset','--all','--help'); asks = @() }
    'customers billing-address' = @{ next = @(); flags = @('--help'); asks = @() }
    'customers update' = @{ next = @(); flags = @('--name','--legal-name','--tag','--external-customer-id','--payment-provider-id','--provider','--payment-method-id','--payment-method-type','--input','--clear','--help'); asks = @('--provider','--payment-method-type','--clear') }
    'customers pause' = @{ next = @(); flags = @('--until','--input','--clear','--help'); asks = @('--clear') }
    'customers resume' = @{ next = @(); flags = @('--help'); asks = @() }
    'customers assign-csm' = @{ next = @(); flags = @('--assignment','--from','--result','--ignore','--delimiter','--concurrency','--input','--help'); asks = @() }
    'contracts' = @{ next = @('create','get','list','update','cancel'); flags = @(); asks = @() }
    'contracts create' = @{ next = @(); flags = @('--plan-id','--customer-id','--start-date','--end-date','--net-terms','--override','--credit-grant-cents','--credit-settings','--metadata','--input','--clear','--help'); asks = @('--clear') }
    'contracts get' = @{ next = @(); flags = @('--include','--help'); asks = @('--include') }
    'contracts list' = @{ next = @(); flags = @('--customer-id','--external-customer-id','--plan-id','--is-active','--include','--limit','--offset','--all','--help'); asks = @('--is-active','--include') }
    'contracts update' = @{ next = @(); flags = @('--metadata','--input','--clear','--help'); asks = @('--clear') }
    'contracts cancel' = @{ next = @(); flags = @('--cancel-at','--input','--help'); asks = @('--cancel-at') }
    'credits' = @{ next = @('grant','ledger','balance','grant-paid','adjust','reverse','settle','explain','verify','statement'); flags = @(); asks = @() }
    'credits grant' = @{ next = @(); flags = @('--expires-at','--amount-cents','--credit-rate-cents','--credit-amount','--description','--external-id','--specifiers','--metadata','--resume','--allow-zero','--override-policy','--from','--result','--ignore','--delimiter','--concurrency','--source','--input','--help'); asks = @() }
    'credits ledger' = @{ next = @(); flags = @('--type','--created-after','--created-before','--limit','--offset','--chart','--ascii','--help'); asks = @('--type') }
    'credits balance' = @{ next = @(); flags = @('--include','--chart','--ascii','--help'); asks = @('--include') }
    'credits grant-paid' = @{ next = @(); flags = @('--expires-at','--amount-cents','--credit-rate-cents','--credit-amount','--description','--external-id','--specifiers','--metadata','--input','--clear','--help'); asks = @('--clear') }
    'credits adjust' = @{ next = @(); flags = @('--grant-entry-id','--description','--amount-cents','--credit-amount','--input','--help'); asks = @() }
    'credits reverse' = @{ next = @(); flags = @('--description','--input','--help'); asks = @() }
    'credits settle' = @{ next = @(); flags = @('--help'); asks = @() }
    'credits explain' = @{ next = @(); flags = @('--help'); asks = @() }
    'credits verify' = @{ next = @(); flags = @('--help'); asks = @() }
    'credits statement' = @{ next = @(); flags = @('--format','--file','--force','--sender','--from','--to'); asks = @() }
    'budgets' = @{ next = @('list','usage','add','update','remove'); flags = @(); asks = @() }
    'budgets list' = @{ next = @(); flags = @('--help'); asks = @() }
    'budgets usage' = @{ next = @(); flags = @('--chart','--ascii','--help'); asks = @() }
    'budgets add' = @{ next = @(); flags = @('--event-property-key','--event-property-value','--label','--meter-id','--max-credits','--max-credits-cents','--input','--clear','--if-match','--help'); asks = @('--clear') }
    'budgets update' = @{ next = @(); flags = @('--label','--meter-id','--max-credits','--max-credits-cents','--input','--clear','--if-match','--help'); asks = @('--clear') }
    'budgets remove' = @{ next = @(); flags = @('--if-match','--help'); asks = @() }
    'meters' = @{ next = @('create','get','list','archive','rate-card','set-rate-card','test'); flags = @(); asks = @() }
    'meters create' = @{ next = @(); flags = @('--code','--display-name','--description','--aggregation-type','--event-type-filter','--property-filter','--aggregation-key','--group-key','--sql','--input','--help'); asks = @('--aggregation-type') }
    'meters get' = @{ next = @(); flags = @('--help'); asks = @() }
    'meters list' = @{ next = @(); flags = @('--status','--limit','--offset','--all','--help'); asks = @('--status') }
    'meters archive' = @{ next = @(); flags = @('--help'); asks = @() }
    'meters rate-card' = @{ next = @(); flags = @('--help'); asks = @() }
    'meters set-rate-card' = @{ next = @(); flags = @('--rate','--fallback-unit-amount','--input','--clear','--help'); asks = @('--clear') }
    'meters test' = @{ next = @(); flags = @('--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--input','--help'); asks = @() }
    'usage' = @{ next = @('cost','breakdown','ingest','ingest-batch','events','late','estimate'); flags = @(); asks = @() }
    'usage cost' = @{ next = @(); flags = @('--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--event-name','--property-filter','--unit','--by','--chart','--ascii','--input','--help'); asks = @('--unit') }
    'usage breakdown' = @{ next = @(); flags = @('--group-key','--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--event-name','--property-filter','--input','--help'); asks = @() }
    'usage ingest' = @{ next = @(); flags = @('--event-name','--customer-id','--external-customer-id','--contract-id','--idempotency-key','--timestamp','--property','--input','--help'); asks = @() }
    'usage ingest-batch' = @{ next = @(); flags = @('--event','--input','--help'); asks = @() }
    'usage events' = @{ next = @(); flags = @('--event-name','--customer-id','--start','--end','--limit','--offset','--all','--help'); asks = @() }
    'usage late' = @{ next = @(); flags = @('--event-name','--customer-id','--start','--end','--limit','--offset','--all','--help'); asks = @() }
    'usage estimate' = @{ next = @(); flags = @('--event','--contract-id','--input','--help'); asks = @() }
    'invoices' = @{ next = @('list','get','finalize','send','pay','cancel','refund','credit-report','explain','export'); flags = @(); asks = @() }
    'invoices list' = @{ next = @(); flags = @('--customer-id','--status','--created-after','--created-before','--include','--limit','--offset','--all','--help'); asks = @('--status','--include') }
    'invoices get' = @{ next = @(); flags = @('--include','--help'); asks = @('--include') }
    'invoices finalize' = @{ next = @(); flags = @('--help'); asks = @() }
    'invoices send' = @{ next = @(); flags = @('--help'); asks = @() }
    'invoices pay' = @{ next = @(); flags = @('--status','--date','--input','--help'); asks = @('--status') }
    'invoices cancel' = @{ next = @(); flags = @('--help'); asks = @() }
    'invoices refund' = @{ next = @(); flags = @('--date','--restore-credits','--input','--help'); asks = @('--restore-credits') }
    'invoices credit-report' = @{ next = @(); flags = @('--help'); asks = @() }
    'invoices explain' = @{ next = @(); flags = @('--help'); asks = @() }
    'invoices export' = @{ next = @(); flags = @('--format','--file','--force','--sender'); asks = @() }
    'pricing' = @{ next = @('create','get','list','archive'); flags = @(); asks = @() }
    'pricing create' = @{ next = @(); flags = @('--name','--model','--product-id','--product-name','--product-description','--description','--billing-mode','--tiering','--unit-amount','--flat-amount','--price-interval','--price-interval-count','--meter-id','--tier','--input','--help'); asks = @('--model','--billing-mode','--tiering','--price-interval') }
    'pricing get' = @{ next = @(); flags = @('--help'); asks = @() }
    'pricing list' = @{ next = @(); flags = @('--product-id','--model','--limit','--offset','--all','--help'); asks = @('--model') }
    'pricing archive' = @{ next = @(); flags = @('--help'); asks = @() }
    'plans' = @{ next = @('create','get','list','archive'); flags = @(); asks = @() }
    'plans create' = @{ next = @(); flags = @('--name','--item','--description','--currency','--net-terms','--external-id','--metadata','--input','--help'); asks = @('--currency') }
    'plans get' = @{ next = @(); flags = @('--help'); asks = @() }
    'plans list' = @{ next = @(); flags = @('--limit','--offset','--all','--help'); asks = @() }
    'plans archive' = @{ next = @(); flags = @('--help'); asks = @() }
    'products' = @{ next = @('create','get','list','archive'); flags = @(); asks = @() }
    'products create' = @{ next = @(); flags = @('--name','--description','--input','--help'); asks = @() }
    'products get' = @{ next = @(); flags = @('--help'); asks = @() }
    'products list' = @{ next = @(); flags = @('--limit','--offset','--all','--help'); asks = @() }
    'products archive' = @{ next = @(); flags = @('--help'); asks = @() }
    'keys' = @{ next = @('create','list','whoami','revoke','rotate'); flags = @(); asks = @() }
    'keys create' = @{ next = @(); flags = @('--name','--scopes','--expires-at','--input','--clear','--help'); asks = @('--scopes','--clear') }
    'keys list' = @{ next = @(); flags = @('--help'); asks = @() }
    'keys whoami' = @{ next = @(); flags = @('--help'); asks = @() }
    'keys revoke' = @{ next = @(); flags = @('--help'); asks = @() }
    'keys rotate' = @{ next = @(); flags = @('--valid-until','--input','--help'); asks = @() }
    'orgs' = @{ next = @('create','list','update'); flags = @(); asks = @() }
    'orgs create' = @{ next = @(); flags = @('--name','--key-prefix','--sales-tax-enabled','--payment-processor','--environment','--input','--clear','--help'); asks = @('--sales-tax-enabled','--payment-processor','--environment','--clear') }
    'orgs list' = @{ next = @(); flags = @('--help'); asks = @() }
    'orgs update' = @{ next = @(); flags = @('--name','--sales-tax-enabled','--payment-processor','--environment','--input','--clear','--help'); asks = @('--sales-tax-enabled','--payment-processor','--environment','--clear') }
    'webhooks' = @{ next = @('create','list','update','remove','rotate','deliveries','resend','trigger','listen','deliver'); flags = @(); asks = @() }
    'webhooks create' = @{ next = @(); flags = @('--url','--event-types','--description','--allow-private','--input','--clear','--help'); asks = @('--event-types','--allow-private','--clear') }
    'webhooks list' = @{ next = @(); flags = @('--help'); asks = @() }
    'webhooks update' = @{ next = @(); flags = @('--url','--event-types','--description','--is-enabled','--allow-private','--input','--clear','--help'); asks = @('--event-types','--is-enabled','--allow-private','--clear') }
    'webhooks remove' = @{ next = @(); flags = @('--help'); asks = @() }
    'webhooks rotate' = @{ next = @(); flags = @('--valid-until','--input','--help'); asks = @() }
    'webhooks deliveries' = @{ next = @(); flags = @('--status','--endpoint-id','--include','--limit','--offset','--all','--help'); asks = @('--status','--include') }
    'webhooks resend' = @{ next = @(); flags = @('--help'); asks = @() }
    'webhooks trigger' = @{ next = @(); flags = @('--help'); asks = @() }
    'webhooks listen' = @{ next = @(); flags = @('--port','--secret-stdin','--secret-file','--forward-to'); asks = @() }
    'webhooks deliver' = @{ next = @(); flags = @('--allow-private-webhooks'); asks = @() }
    'clock' = @{ next = @('show','advance','set','reset'); flags = @(); asks = @() }
    'clock show' = @{ next = @(); flags = @('--help'); asks = @() }
    'clock advance' = @{ next = @(); flags = @('--by','--to','--input','--help'); asks = @() }
    'clock set' = @{ next = @(); flags = @('--to','--input','--help'); asks = @() }
    'clock reset' = @{ next = @(); flags = @('--help'); asks = @() }
    'bill' = @{ next = @('run'); flags = @(); asks = @() }
    'bill run' = @{ next = @(); flags = @('--until','--all-organizations','--rehearse','--input','--help'); asks = @('--all-organizations','--rehearse') }
    'profile' = @{ next = @('add','list','use','show','remove','check'); flags = @(); asks = @() }
    'profile add' = @{ next = @(); flags = @('--environment','--base-url','--key-stdin','--key-file','--no-check','--keyring'); asks = @() }
    'profile list' = @{ next = @(); flags = @(); asks = @() }
    'profile use' = @{ next = @(); flags = @(); asks = @() }
    'profile show' = @{ next = @(); flags = @(); asks = @() }
    'profile remove' = @{ next = @(); flags = @(); asks = @() }
    'profile check' = @{ next = @(); flags = @(); asks = @() }
    'doctor' = @{ next = @(); flags = @('--full','--rebuild'); asks = @() }
    'backup' = @{ next = @(); flags = @(); asks = @() }
    'restore' = @{ next = @(); flags = @('--to'); asks = @() }
    'journal' = @{ next = @('list','verify','export'); flags = @(); asks = @() }
    'journal list' = @{ next = @(); flags = @('--since','--until','--operation','--operator','--limit','--unfinished'); asks = @() }
    'journal verify' = @{ next = @(); flags = @('--contains'); asks = @() }
    'journal export' = @{ next = @(); flags = @('--since','--until','--operation','--operator'); asks = @() }
    'import' = @{ next = @('events'); flags = @(); asks = @() }
    'import events' = @{ next = @(); flags = @('--event-name','--event-name-column','--customer','--customer-id','--customer-column','--contract-id','--timestamp','--time-zone','--property','--set','--key-column','--source','--format','--delimiter','--batch-size','--refused'); asks = @() }
    'pull' = @{ next = @(); flags = @('--to','--contract','--from','--customer','--plan','--published','--check'); asks = @() }
    'catalog' = @{ next = @('export','diff','apply','schema'); flags = @(); asks = @() }
    'catalog export' = @{ next = @(); flags = @('--file','--force'); asks = @() }
    'catalog diff' = @{ next = @(); flags = @('--prune','--exit-code'); asks = @() }
    'catalog apply' = @{ next = @(); flags = @('--prune'); asks = @() }
    'catalog schema' = @{ next = @(); flags = @(); asks = @() }
    'simulate' = @{ next = @('run','compare','schema'); flags = @(); asks = @() }
    'simulate run' = @{ next = @(); flags = @('--seed','--show','--junit'); asks = @() }
    'simulate compare' = @{ next = @(); flags = @('--catalog','--start-date','--grant','--customer','--from','--to','--chart','--ascii'); asks = @() }
    'simulate schema' = @{ next = @(); flags = @(); asks = @() }
    'demo' = @{ next = @(); flags = @('--events','--seed','--into'); asks = @() }
    'serve' = @{ next = @(); flags = @('--port','--host','--rate-limit','--bill-every','--allow-private-webhooks','--log-requests'); asks = @() }
    'api' = @{ next = @(); flags = @('--openapi','--input'); asks = @() }
    'commands' = @{ next = @(); flags = @(); asks = @() }
    'completion' = @{ next = @(); flags = @(); asks = @() }
    'help' = @{ next = @(); flags = @(); asks = @() }
  }
  $switches = @('--json','--dry-run','--yes','--no-input','--quiet','--debug','--no-color','-y','-q','-h','--help','--all')
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })
  $words = @()
  for ($index = 1; $index -lt $before.Count; $index++) {
    $word = $before[$index]
    if ($switches -contains $word -or $word -like '--*=*') { continue }
    if ($word -like '-*') { $index++; continue }
    if ($words.Count -lt 2) { $words += $word }
  }
  $place = $places[($words -join ' ')]
  if ($null -eq $place -and $words.Count -gt 0) { $place = $places[$words[0]] }
  if ($null -eq $place) { return }
  $previous = $before[-1]
  if ($previous -eq '-o') { $previous = '--output' }
  $found = if ($place.asks -contains $previous -or @('--profile','--output','--expect-env') -contains $previous) {
    tally __complete $previous.TrimStart('-') @words 2>$null
  } elseif ($current -like '-*') {
    $place.flags + @('--profile','--database','--org','--output','--json','--jq','--columns','--dry-run','--yes','--expect-env','--no-input','--quiet','--debug','--no-color','--timeout')
  } else {
    $place.next
  }
  $found | Where-Object { $_.StartsWith($current) } | ForEach-Object {
    $text = if ($_ -match '^[\w:*@+.-]+$') { $_ } else { "'" + $_.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
  }
}
