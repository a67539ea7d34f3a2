# Functions of the guide's examples: each call is one request. Set KEY first, to the key of a sandbox of its own:
#   npm run org -- create --name Guide --sandbox
API=${API:-http://127.0.0.1:3000/api/v1}

call() { curl -sS -X "$1" "$API$2" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' ${3:+-d "$3"}; echo; }
get() { call GET "$@"; }
post() { call POST "$@"; }
put() { call PUT "$@"; }
patch() { call PATCH "$@"; }
delete() { call DELETE "$@"; }

# One value of the answer: post /plans '…' | field plan.svc_id
field() { node -pe "JSON.parse(fs.readFileSync(0, 'utf8')).$1"; }

# Asks until a value is there: wait_until /test_clock test_clock.status ready
wait_until() { until [ "$(get "$1" | field "$2")" = "$3" ]; do sleep 0.3; done; }

# Moves the sandbox's time, and waits until all that falls due has happened: advance 2030-02-01T12:00:00Z
advance() { post /test_clock/advance '{"test_clock":{"frozen_time":"'"$1"'"}}' && wait_until /test_clock test_clock.status ready; }

# The world of the README: January 2030, API calls at 0.05, the plan Starter at 10.00 a month, the customer Ada on it.
starter() {
  post /test_clock '{"test_clock":{"frozen_time":"2030-01-01T00:00:00Z"}}'
  METRIC=$(post /billable_metrics '{"billable_metric":{"name":"API calls","code":"calls","aggregation_type":"count_agg"}}' |
    field billable_metric.svc_id)
  post /plans '{"plan":{"name":"Starter","code":"starter","interval":"monthly","amount_cents":1000,"amount_currency":"USD",
    "pay_in_advance":false,"charges":[{"billable_metric_id":"'"$METRIC"'","charge_model":"standard","code":"calls",
    "properties":{"amount":"0.05"}}]}}'
  post /customers '{"customer":{"external_id":"ada","name":"Ada","email":"ada@example.com"}}'
  post /subscriptions '{"subscription":{"external_customer_id":"ada","plan_code":"starter","external_id":"ada-1"}}'
}
