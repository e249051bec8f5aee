# Completions of tally. Written by npm run generate: do not edit.
# Install: tally completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName tally -ScriptBlock {
  param($current, $ast, $position)
  $places = @{
    '' = @{ takes = 0; next = @('customers','contracts','credits','budgets','meters','usage','invoices','pricing','plans','products','keys','orgs','webhooks','clock','bill','events','profile','doctor','backup','restore','copy','journal','import','pull','catalog','simulate','demo','serve','api','commands','completion','help'); flags = @('--version','--help'); asks = @() }
    'customers' = @{ takes = 0; next = @('create','get','list','billing-address','update','pause','resume','assign-csm'); flags = @('--help'); asks = @() }
    'customers create' = @{ takes = 0; next = @(); flags = @('--name','--contact','--legal-name','--external-customer-id','--payment-provider-id','--provider','--tag','--billing-address','--payment-method-id','--payment-method-type','--from','--result','--ignore','--delimiter','--concurrency','--input','--help'); asks = @('--provider','--payment-method-type') }
    'customers get' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'customers list' = @{ takes = 0; next = @(); flags = @('--external-customer-id','--limit','--offset','--all','--help'); asks = @('--external-customer-id') }
    'customers billing-address' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'customers update' = @{ takes = 1; next = @(); flags = @('--name','--legal-name','--tag','--external-customer-id','--payment-provider-id','--provider','--payment-method-id','--payment-method-type','--input','--clear','--help'); asks = @('--provider','--payment-method-type','--clear') }
    'customers pause' = @{ takes = 1; next = @(); flags = @('--until','--input','--clear','--help'); asks = @('--clear') }
    'customers resume' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'customers assign-csm' = @{ takes = 0; next = @(); flags = @('--assignment','--from','--result','--ignore','--delimiter','--concurrency','--input','--help'); asks = @() }
    'contracts' = @{ takes = 0; next = @('create','get','list','update','cancel'); flags = @('--help'); asks = @() }
    'contracts create' = @{ takes = 0; next = @(); flags = @('--plan-id','--customer-id','--start-date','--end-date','--net-terms','--override','--credit-grant-cents','--credit-settings','--metadata','--input','--clear','--help'); asks = @('--plan-id','--customer-id','--clear') }
    'contracts get' = @{ takes = 1; next = @(); flags = @('--include','--help'); asks = @('--include') }
    'contracts list' = @{ takes = 0; next = @(); flags = @('--customer-id','--external-customer-id','--plan-id','--is-active','--include','--limit','--offset','--all','--help'); asks = @('--customer-id','--external-customer-id','--plan-id','--is-active','--include') }
    'contracts update' = @{ takes = 1; next = @(); flags = @('--metadata','--input','--clear','--help'); asks = @('--clear') }
    'contracts cancel' = @{ takes = 1; next = @(); flags = @('--cancel-at','--input','--help'); asks = @('--cancel-at') }
    'credits' = @{ takes = 0; next = @('grant','ledger','balance','expiring','grant-paid','adjust','reverse','settle','explain','verify','statement'); flags = @('--help'); asks = @() }
    'credits grant' = @{ takes = 1; next = @(); flags = @('--expires-at','--amount-cents','--credit-rate-cents','--credit-amount','--description','--external-id','--specifiers','--metadata','--reason','--resume','--allow-zero','--override-policy','--from','--result','--ignore','--delimiter','--concurrency','--source','--input','--help'); asks = @() }
    'credits ledger' = @{ takes = 1; next = @(); flags = @('--type','--created-after','--created-before','--limit','--offset','--include','--chart','--ascii','--help'); asks = @('--type','--include') }
    'credits balance' = @{ takes = 1; next = @(); flags = @('--include','--chart','--ascii','--help'); asks = @('--include') }
    'credits expiring' = @{ takes = 0; next = @(); flags = @('--expires-before','--customer-id','--external-customer-id','--limit','--offset','--help'); asks = @('--customer-id','--external-customer-id') }
    'credits grant-paid' = @{ takes = 1; next = @(); flags = @('--expires-at','--amount-cents','--credit-rate-cents','--credit-amount','--description','--external-id','--specifiers','--metadata','--allow-zero','--input','--clear','--help'); asks = @('--clear') }
    'credits adjust' = @{ takes = 1; next = @(); flags = @('--grant-entry-id','--description','--amount-cents','--credit-amount','--reason','--input','--help'); asks = @('--grant-entry-id') }
    'credits reverse' = @{ takes = 2; next = @(); flags = @('--description','--reason','--input','--help'); asks = @() }
    'credits settle' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'credits explain' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'credits verify' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'credits statement' = @{ takes = 1; next = @(); flags = @('--format','--file','--force','--sender','--from','--to','--help'); asks = @('--format') }
    'budgets' = @{ takes = 0; next = @('list','usage','add','update','remove','check'); flags = @('--help'); asks = @() }
    'budgets list' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'budgets usage' = @{ takes = 1; next = @(); flags = @('--chart','--ascii','--help'); asks = @() }
    'budgets add' = @{ takes = 1; next = @(); flags = @('--event-property-key','--event-property-value','--label','--meter-id','--max-credits','--max-credits-cents','--input','--clear','--if-match','--help'); asks = @('--meter-id','--clear') }
    'budgets update' = @{ takes = 2; next = @(); flags = @('--label','--meter-id','--max-credits','--max-credits-cents','--input','--clear','--if-match','--help'); asks = @('--meter-id','--clear') }
    'budgets remove' = @{ takes = 2; next = @(); flags = @('--if-match','--help'); asks = @() }
    'budgets check' = @{ takes = 1; next = @(); flags = @('--at','--help'); asks = @() }
    'meters' = @{ takes = 0; next = @('create','get','list','archive','rate-card','set-rate-card','test'); flags = @('--help'); asks = @() }
    'meters create' = @{ takes = 0; next = @(); flags = @('--code','--display-name','--description','--aggregation-type','--event-type-filter','--property-filter','--aggregation-key','--group-key','--sql','--input','--help'); asks = @('--aggregation-type') }
    'meters get' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'meters list' = @{ takes = 0; next = @(); flags = @('--status','--limit','--offset','--all','--help'); asks = @('--status') }
    'meters archive' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'meters rate-card' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'meters set-rate-card' = @{ takes = 1; next = @(); flags = @('--rate','--fallback-unit-amount','--input','--clear','--help'); asks = @('--clear') }
    'meters test' = @{ takes = 1; next = @(); flags = @('--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--input','--help'); asks = @('--customer-id','--external-customer-id','--contract-id') }
    'usage' = @{ takes = 0; next = @('cost','breakdown','ingest','ingest-batch','events','late','estimate'); flags = @('--help'); asks = @() }
    'usage cost' = @{ takes = 0; next = @(); flags = @('--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--event-name','--property-filter','--unit','--by','--chart','--ascii','--input','--help'); asks = @('--customer-id','--external-customer-id','--contract-id','--unit') }
    'usage breakdown' = @{ takes = 0; next = @(); flags = @('--group-key','--start-date','--end-date','--customer-id','--external-customer-id','--contract-id','--event-name','--property-filter','--input','--help'); asks = @('--customer-id','--external-customer-id','--contract-id') }
    'usage ingest' = @{ takes = 0; next = @(); flags = @('--event-name','--customer-id','--external-customer-id','--contract-id','--idempotency-key','--timestamp','--property','--input','--help'); asks = @('--customer-id','--external-customer-id','--contract-id') }
    'usage ingest-batch' = @{ takes = 0; next = @(); flags = @('--event','--input','--help'); asks = @() }
    'usage events' = @{ takes = 0; next = @(); flags = @('--event-name','--customer-id','--start','--end','--limit','--offset','--all','--help'); asks = @('--customer-id') }
    'usage late' = @{ takes = 0; next = @(); flags = @('--event-name','--customer-id','--start','--end','--limit','--offset','--all','--help'); asks = @('--customer-id') }
    'usage estimate' = @{ takes = 0; next = @(); flags = @('--event','--contract-id','--input','--help'); asks = @('--contract-id') }
    'invoices' = @{ takes = 0; next = @('list','get','finalize','send','pay','cancel','refund','credit-report','explain','export'); flags = @('--help'); asks = @() }
    'invoices list' = @{ takes = 0; next = @(); flags = @('--customer-id','--status','--created-after','--created-before','--include','--limit','--offset','--all','--help'); asks = @('--customer-id','--status','--include') }
    'invoices get' = @{ takes = 1; next = @(); flags = @('--include','--help'); asks = @('--include') }
    'invoices finalize' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'invoices send' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'invoices pay' = @{ takes = 1; next = @(); flags = @('--status','--date','--input','--help'); asks = @('--status') }
    'invoices cancel' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'invoices refund' = @{ takes = 1; next = @(); flags = @('--date','--restore-credits','--input','--help'); asks = @('--restore-credits') }
    'invoices credit-report' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'invoices explain' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'invoices export' = @{ takes = 1; next = @(); flags = @('--format','--file','--force','--sender','--help'); asks = @('--format') }
    'pricing' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'pricing create' = @{ takes = 0; next = @(); flags = @('--name','--model','--product-id','--product-name','--product-description','--description','--billing-mode','--tiering','--unit-amount','--flat-amount','--price-interval','--price-interval-count','--meter-id','--tier','--input','--help'); asks = @('--model','--product-id','--billing-mode','--tiering','--price-interval','--meter-id') }
    'pricing get' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'pricing list' = @{ takes = 0; next = @(); flags = @('--product-id','--model','--limit','--offset','--all','--help'); asks = @('--product-id','--model') }
    'pricing archive' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'plans' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'plans create' = @{ takes = 0; next = @(); flags = @('--name','--item','--description','--currency','--net-terms','--external-id','--metadata','--input','--help'); asks = @('--currency') }
    'plans get' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'plans list' = @{ takes = 0; next = @(); flags = @('--limit','--offset','--all','--help'); asks = @() }
    'plans archive' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'products' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'products create' = @{ takes = 0; next = @(); flags = @('--name','--description','--input','--help'); asks = @() }
    'products get' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'products list' = @{ takes = 0; next = @(); flags = @('--limit','--offset','--all','--help'); asks = @() }
    'products archive' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'keys' = @{ takes = 0; next = @('create','list','whoami','revoke','rotate'); flags = @('--help'); asks = @() }
    'keys create' = @{ takes = 0; next = @(); flags = @('--name','--scopes','--expires-at','--input','--clear','--help'); asks = @('--scopes','--clear') }
    'keys list' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'keys whoami' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'keys revoke' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'keys rotate' = @{ takes = 1; next = @(); flags = @('--valid-until','--input','--help'); asks = @() }
    'orgs' = @{ takes = 0; next = @('create','list','update'); flags = @('--help'); asks = @() }
    'orgs create' = @{ takes = 0; next = @(); flags = @('--name','--key-prefix','--sales-tax-enabled','--payment-processor','--environment','--input','--clear','--help'); asks = @('--sales-tax-enabled','--payment-processor','--environment','--clear') }
    'orgs list' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'orgs update' = @{ takes = 1; next = @(); flags = @('--name','--sales-tax-enabled','--payment-processor','--environment','--input','--clear','--help'); asks = @('--sales-tax-enabled','--payment-processor','--environment','--clear') }
    'webhooks' = @{ takes = 0; next = @('create','list','update','remove','rotate','deliveries','resend','trigger','listen','deliver'); flags = @('--help'); asks = @() }
    'webhooks create' = @{ takes = 0; next = @(); flags = @('--url','--event-types','--description','--allow-private','--input','--clear','--help'); asks = @('--event-types','--allow-private','--clear') }
    'webhooks list' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'webhooks update' = @{ takes = 1; next = @(); flags = @('--url','--event-types','--description','--is-enabled','--allow-private','--input','--clear','--help'); asks = @('--event-types','--is-enabled','--allow-private','--clear') }
    'webhooks remove' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'webhooks rotate' = @{ takes = 1; next = @(); flags = @('--valid-until','--input','--help'); asks = @() }
    'webhooks deliveries' = @{ takes = 0; next = @(); flags = @('--status','--endpoint-id','--include','--limit','--offset','--all','--help'); asks = @('--status','--endpoint-id','--include') }
    'webhooks resend' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'webhooks trigger' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'webhooks listen' = @{ takes = 0; next = @(); flags = @('--port','--secret-stdin','--secret-file','--forward-to','--help'); asks = @() }
    'webhooks deliver' = @{ takes = 0; next = @(); flags = @('--allow-private-webhooks','--help'); asks = @() }
    'clock' = @{ takes = 0; next = @('show','advance','set','reset'); flags = @('--help'); asks = @() }
    'clock show' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'clock advance' = @{ takes = 0; next = @(); flags = @('--by','--to','--input','--help'); asks = @() }
    'clock set' = @{ takes = 0; next = @(); flags = @('--to','--input','--help'); asks = @() }
    'clock reset' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'bill' = @{ takes = 0; next = @('run'); flags = @('--help'); asks = @() }
    'bill run' = @{ takes = 0; next = @(); flags = @('--until','--all-organizations','--rehearse','--input','--help'); asks = @('--all-organizations','--rehearse') }
    'events' = @{ takes = 0; next = @('drop'); flags = @('--help'); asks = @() }
    'events drop' = @{ takes = 0; next = @(); flags = @('--before','--rehearse','--input','--help'); asks = @('--rehearse') }
    'profile' = @{ takes = 0; next = @('add','list','use','show','remove','check'); flags = @('--help'); asks = @() }
    'profile add' = @{ takes = 0; next = @(); flags = @('--environment','--base-url','--key-stdin','--key-file','--no-check','--keyring','--help'); asks = @('--environment') }
    'profile list' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'profile use' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'profile show' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'profile remove' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'profile check' = @{ takes = 1; next = @(); flags = @('--help'); asks = @() }
    'doctor' = @{ takes = 0; next = @(); flags = @('--full','--rebuild','--help'); asks = @() }
    'backup' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'restore' = @{ takes = 0; next = @(); flags = @('--to','--help'); asks = @() }
    'copy' = @{ takes = 0; next = @(); flags = @('--from','--from-events','--to','--to-events','--to-profile','--help'); asks = @('--to-profile') }
    'journal' = @{ takes = 0; next = @('list','verify','export'); flags = @('--help'); asks = @() }
    'journal list' = @{ takes = 0; next = @(); flags = @('--since','--until','--operation','--operator','--environment','--limit','--unfinished','--help'); asks = @('--environment') }
    'journal verify' = @{ takes = 0; next = @(); flags = @('--contains','--help'); asks = @() }
    'journal export' = @{ takes = 0; next = @(); flags = @('--since','--until','--operation','--operator','--environment','--help'); asks = @('--environment') }
    'import' = @{ takes = 0; next = @('events'); flags = @('--help'); asks = @() }
    'import events' = @{ takes = 0; next = @(); flags = @('--event-name','--event-name-column','--customer','--customer-id','--customer-column','--contract-id','--timestamp','--time-zone','--property','--set','--key-column','--source','--format','--delimiter','--batch-size','--refused','--help'); asks = @('--customer','--customer-id','--contract-id','--format') }
    'pull' = @{ takes = 0; next = @(); flags = @('--to','--contract','--from','--customer','--plan','--published','--check','--help'); asks = @('--customer') }
    'catalog' = @{ takes = 0; next = @('export','diff','apply','schema'); flags = @('--help'); asks = @() }
    'catalog export' = @{ takes = 0; next = @(); flags = @('--file','--force','--help'); asks = @() }
    'catalog diff' = @{ takes = 0; next = @(); flags = @('--prune','--exit-code','--help'); asks = @() }
    'catalog apply' = @{ takes = 0; next = @(); flags = @('--prune','--help'); asks = @() }
    'catalog schema' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'simulate' = @{ takes = 0; next = @('run','compare','schema'); flags = @('--help'); asks = @() }
    'simulate run' = @{ takes = 0; next = @(); flags = @('--seed','--show','--junit','--help'); asks = @('--show') }
    'simulate compare' = @{ takes = 0; next = @(); flags = @('--catalog','--start-date','--grant','--customer','--from','--to','--chart','--ascii','--help'); asks = @('--customer') }
    'simulate schema' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'demo' = @{ takes = 0; next = @(); flags = @('--events','--seed','--into','--help'); asks = @() }
    'serve' = @{ takes = 0; next = @(); flags = @('--port','--host','--tls-cert','--tls-key','--behind-proxy','--trust-proxy','--rate-limit','--bill-every','--drain-seconds','--allow-private-webhooks','--log-requests','--help'); asks = @() }
    'api' = @{ takes = 0; next = @(); flags = @('--openapi','--input','--help'); asks = @() }
    'commands' = @{ takes = 0; next = @(); flags = @('--help'); asks = @() }
    'completion' = @{ takes = 0; next = @('bash','zsh','fish','powershell'); flags = @('--help'); asks = @() }
    'help' = @{ takes = 0; next = @('customers','contracts','credits','budgets','meters','usage','invoices','pricing','plans','products','keys','orgs','webhooks','clock','bill','events','profile','doctor','backup','restore','copy','journal','import','pull','catalog','simulate','demo','serve','api','commands','completion','help','exit-codes','environment','input','output','policy','secrets'); flags = @('--help'); asks = @() }
    'help customers' = @{ takes = 0; next = @('create','get','list','billing-address','update','pause','resume','assign-csm'); flags = @('--help'); asks = @() }
    'help contracts' = @{ takes = 0; next = @('create','get','list','update','cancel'); flags = @('--help'); asks = @() }
    'help credits' = @{ takes = 0; next = @('grant','ledger','balance','expiring','grant-paid','adjust','reverse','settle','explain','verify','statement'); flags = @('--help'); asks = @() }
    'help budgets' = @{ takes = 0; next = @('list','usage','add','update','remove','check'); flags = @('--help'); asks = @() }
    'help meters' = @{ takes = 0; next = @('create','get','list','archive','rate-card','set-rate-card','test'); flags = @('--help'); asks = @() }
    'help usage' = @{ takes = 0; next = @('cost','breakdown','ingest','ingest-batch','events','late','estimate'); flags = @('--help'); asks = @() }
    'help invoices' = @{ takes = 0; next = @('list','get','finalize','send','pay','cancel','refund','credit-report','explain','export'); flags = @('--help'); asks = @() }
    'help pricing' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'help plans' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'help products' = @{ takes = 0; next = @('create','get','list','archive'); flags = @('--help'); asks = @() }
    'help keys' = @{ takes = 0; next = @('create','list','whoami','revoke','rotate'); flags = @('--help'); asks = @() }
    'help orgs' = @{ takes = 0; next = @('create','list','update'); flags = @('--help'); asks = @() }
    'help webhooks' = @{ takes = 0; next = @('create','list','update','remove','rotate','deliveries','resend','trigger','listen','deliver'); flags = @('--help'); asks = @() }
    'help clock' = @{ takes = 0; next = @('show','advance','set','reset'); flags = @('--help'); asks = @() }
    'help bill' = @{ takes = 0; next = @('run'); flags = @('--help'); asks = @() }
    'help events' = @{ takes = 0; next = @('drop'); flags = @('--help'); asks = @() }
    'help profile' = @{ takes = 0; next = @('add','list','use','show','remove','check'); flags = @('--help'); asks = @() }
    'help journal' = @{ takes = 0; next = @('list','verify','export'); flags = @('--help'); asks = @() }
    'help import' = @{ takes = 0; next = @('events'); flags = @('--help'); asks = @() }
    'help catalog' = @{ takes = 0; next = @('export','diff','apply','schema'); flags = @('--help'); asks = @() }
    'help simulate' = @{ takes = 0; next = @('run','compare','schema'); flags = @('--help'); asks = @() }
  }
  $switches = @('--json','--raw','--dry-run','--yes','--no-input','--quiet','--debug','--no-color','--version','--help','--all','--resume','--allow-zero','--chart','--ascii','--force','--secret-stdin','--allow-private-webhooks','--key-stdin','--no-check','--keyring','--full','--rebuild','--unfinished','--published','--check','--prune','--exit-code','--behind-proxy','--log-requests','--openapi','-y','-q','-h')
  $before = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { $_.ToString() })
  $words = @()
  $given = @()
  $context = @()
  for ($index = 1; $index -lt $before.Count; $index++) {
    $word = $before[$index]
    if ($word -match '^(--profile|--database|--events|--org)=') { $context += $word }
    if ($switches -contains $word -or $word -like '--*=*') { continue }
    if (@('--profile','--database','--events','--org') -contains $word -and $index + 1 -lt $before.Count) { $context += $word, $before[$index + 1] }
    if ($word -like '-*') { $index++; continue }
    if ($words.Count -lt 2) { $words += $word } else { $given += $word }
  }
  $place = $places[($words -join ' ')]
  if ($null -eq $place -and $words.Count -gt 0) { $place = $places[$words[0]] }
  if ($null -eq $place) { return }
  $previous = $before[-1]
  if ($previous -eq '-o') { $previous = '--output' }
  $found = if ($place.asks -contains $previous -or @('--profile','--org','--output','--expect-env','--json','--columns') -contains $previous) {
    tally __complete $previous.TrimStart('-') @words @given @context 2>$null
  } elseif ($current -notlike '-*' -and $words.Count -eq 2 -and $given.Count -lt $place.takes) {
    tally __complete ($given.Count + 1) @words @given @context 2>$null
  } elseif ($current -like '-*') {
    $place.flags + @('--profile','--database','--events','--org','--output','--json','--jq','--columns','--raw','--dry-run','--yes','--expect-env','--no-input','--quiet','--debug','--no-color','--ca-file','--timeout')
  } else {
    $place.next
  }
  $found | Where-Object { $_.StartsWith($current) } | ForEach-Object {
    $value, $label = $_ -split "`t", 2
    $text = if ($value -match '^[\w:*@+.-]+$') { $value } else { "'" + $value.Replace("'", "''") + "'" }
    $tip = if ($label) { $label } else { $value }
    [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $tip)
  }
}
