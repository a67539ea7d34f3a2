-- The schema as a whole, as the migrations make it: functions, then tables by name with their columns, constraints,
-- comments, indexes and triggers. Written by test/schema.test.ts (UPDATE_SCHEMA=1 rewrites it), for reading: what
-- changes the schema is a new file in migrations/.

CREATE OR REPLACE FUNCTION public.begin_wallet_held()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  insert into wallet_held (organization_id, wallet_id) values (new.organization_id, new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.check_ledger_balance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare difference numeric;
begin
  select sum(case side when 'debit' then amount_cents else -amount_cents end) into difference
  from ledger_entries where transaction_id = new.transaction_id;
  if difference <> 0 then
    raise exception 'ledger transaction % does not balance', new.transaction_id using errcode = 'check_violation';
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.customer_of_work(organization uuid, payload jsonb)
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'public'
AS $function$
declare
  subscription uuid := coalesce(payload ->> 'subscription_id', payload #>> '{lines,0,subscription_id}');
begin
  if payload ->> 'customer_id' is not null then
    return payload ->> 'customer_id';
  elsif subscription is not null then
    return (select customer_id from subscriptions where organization_id = organization and id = subscription);
  elsif payload ->> 'invoice_id' is not null then
    return (select customer_id from invoices
      where organization_id = organization and id = (payload ->> 'invoice_id')::uuid);
  elsif payload ->> 'wallet_id' is not null then
    return (select customer_id from wallets
      where organization_id = organization and id = (payload ->> 'wallet_id')::uuid);
  elsif payload ->> 'payment_id' is not null then
    return (select customer_id from payments
      where organization_id = organization and id = (payload ->> 'payment_id')::uuid);
  elsif payload ->> 'payment_request_id' is not null then
    return (select customer_id from payment_requests
      where organization_id = organization and id = (payload ->> 'payment_request_id')::uuid);
  elsif payload ->> 'credit_note_id' is not null then
    return (select customer_id from credit_notes
      where organization_id = organization and id = (payload ->> 'credit_note_id')::uuid);
  elsif payload ->> 'correction_id' is not null then
    return (select s.customer_id from event_corrections correction
      join subscriptions s
        on s.organization_id = correction.organization_id and s.external_id = correction.external_subscription_id
      where correction.organization_id = organization and correction.id = (payload ->> 'correction_id')::uuid
      limit 1);
  elsif jsonb_typeof(payload -> 'external_subscription_id') = 'string' then
    return (select customer_id from subscriptions
      where organization_id = organization and external_id = payload ->> 'external_subscription_id'
      limit 1);
  end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.decide_budgets(organization uuid, used_version bigint, windows jsonb, holds jsonb, steps jsonb)
 RETURNS jsonb
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET search_path TO 'public'
AS $function$
#variable_conflict use_variable
declare
  opened_at timestamptz :=
    coalesce((select frozen_time from test_clocks where organization_id = organization), clock_timestamp());
  present timestamptz;
  r record;
  step jsonb;
  each jsonb;
  part jsonb;
  place integer;
  hold integer;
  i integer;
  amount numeric;
  room numeric;
  wanted numeric;
  outcomes jsonb[] := '{}';
  figures jsonb;
  exceeded jsonb;
  reasons jsonb;
  notices jsonb := '[]';
  step_id uuid;
  overrun numeric;
  is_late boolean;
  is_partial boolean;
  n_windows integer := jsonb_array_length(windows);
  n_holds integer := jsonb_array_length(holds);
  ids uuid[] := '{}';
  -- windows of deleted budgets
  dead uuid[] := '{}';
  w_there boolean[] := array_fill(false, array[n_windows]);
  w_limit numeric[] := array_fill(0::numeric, array[n_windows]);
  w_topped numeric[] := array_fill(0::numeric, array[n_windows]);
  w_spent numeric[] := array_fill(0::numeric, array[n_windows]);
  w_held numeric[] := array_fill(0::numeric, array[n_windows]);
  w_no bigint[] := array_fill(0::bigint, array[n_windows]);
  w_alerted integer[] := array_fill(0, array[n_windows]);
  w_state text[] := array_fill('open'::text, array[n_windows]);
  w_told boolean[] := array_fill(false, array[n_windows]);
  w_hard boolean[] := array_fill(false, array[n_windows]);
  w_ends timestamptz[] := array_fill(null::timestamptz, array[n_windows]);
  keys text[] := '{}';
  h_id uuid[] := array_fill(null::uuid, array[n_holds]);
  h_status text[] := array_fill(null::text, array[n_holds]);
  h_ends timestamptz[] := array_fill(null::timestamptz, array[n_holds]);
  h_asked text[] := array_fill(null::text, array[n_holds]);
  h_used text[] := array_fill(null::text, array[n_holds]);
  h_event text[] := array_fill(null::text, array[n_holds]);
  h_late boolean[] := array_fill(false, array[n_holds]);
  h_counts boolean[] := array_fill(false, array[n_holds]);
  h_new boolean[] := array_fill(false, array[n_holds]);
  h_changed boolean[] := array_fill(false, array[n_holds]);
  h_subscription text[] := array_fill(null::text, array[n_holds]);
  h_first integer[] := array_fill(1, array[n_holds]);
  h_last integer[] := array_fill(0, array[n_holds]);
  -- parts of holds, those of one hold side by side
  p_hold integer[] := '{}';
  p_window integer[] := '{}';
  p_held numeric[] := '{}';
  p_settled numeric[] := '{}';
  p_open boolean[] := '{}';
  p_changed boolean[] := '{}';
  n_parts integer := 0;
  -- entries to write; ids come with the steps, since the house's ids hold their time
  e_id uuid[] := '{}';
  e_window uuid[] := '{}';
  e_amount numeric[] := '{}';
  e_source text[] := '{}';
  e_ref text[] := '{}';
  e_events integer[] := '{}';
begin
  if hold_shapes_version(organization) <> used_version then return '{"stale": true}'; end if;
  for place in 1..n_windows loop
    each := windows -> (place - 1);
    ids[place] := (each ->> 'id')::uuid;
    if each ->> 'b' is null then dead := dead || ids[place]; end if;
    w_limit[place] := (each ->> 'l')::numeric;
    w_hard[place] := (each ->> 'h')::boolean;
    w_ends[place] := (each ->> 'e')::timestamptz;
  end loop;
  for hold in 1..n_holds loop
    keys[hold] := holds ->> (hold - 1);
  end loop;

  -- A sandbox with a test clock lives at its instant; an advance keeps decisions out by its own lock.
  insert into budget_windows (id, organization_id, budget_id, group_key, group_values, starts_at, ends_at, created_at)
  select (given ->> 'id')::uuid, organization, (given ->> 'b')::uuid, decode(given ->> 'k', 'hex'), given -> 'g',
    (given ->> 's')::timestamptz, (given ->> 'e')::timestamptz,
    opened_at
  from jsonb_array_elements(windows) given
  where (given ->> 'm')::boolean and not exists (select from budget_windows w where w.id = (given ->> 'id')::uuid)
  order by (given ->> 'id')::uuid
  on conflict do nothing;
  -- Locked and read by two statements: one alone misses what was committed during its wait.
  perform from budget_windows w where w.organization_id = organization and w.id = any (ids)
  order by w.id for no key update;
  -- Read once: in a condition it would be called for every r.
  present := coalesce((select frozen_time from test_clocks where organization_id = organization), clock_timestamp());

  for r in
    with folded as (
      update budget_entries entry set folded_at = present
      where entry.window_id = any (ids) and entry.folded_at is null and entry.organization_id = organization
      returning entry.window_id, entry.amount
    ), summed as (
      select window_id, sum(folded.amount) as amount from folded group by window_id
    ), ended as (
      update budget_hold_parts stored set is_open = false
      where stored.window_id = any (ids) and stored.is_open and stored.organization_id = organization
        and (stored.expires_at <= present or stored.window_id = any (dead))
      returning stored.window_id, stored.held
    ), freed as (
      select window_id, sum(ended.held) as held from ended group by window_id
    )
    select w.id, w.topped_up, w.spent + coalesce(summed.amount, 0) as spent, w.held - coalesce(freed.held, 0) as held,
      w.decision_no, w.alerted_percent, w.state, w.has_told_overrun
    from budget_windows w
    left join summed on summed.window_id = w.id
    left join freed on freed.window_id = w.id
    where w.organization_id = organization and w.id = any (ids)
  loop
    place := array_position(ids, r.id);
    w_there[place] := true;
    w_topped[place] := r.topped_up;
    w_limit[place] := w_limit[place] + r.topped_up;
    w_spent[place] := r.spent;
    w_held[place] := r.held;
    w_no[place] := r.decision_no;
    w_alerted[place] := r.alerted_percent;
    w_state[place] := r.state;
    w_told[place] := r.has_told_overrun;
  end loop;

  for r in
    select h.* from budget_holds h where h.organization_id = organization and h.hold_key = any (keys)
    order by h.id for update
  loop
    hold := array_position(keys, r.hold_key);
    h_id[hold] := r.id;
    h_ends[hold] := r.expires_at;
    h_status[hold] := case when r.status = 'open' and r.expires_at <= present then 'expired' else r.status end;
    h_asked[hold] := encode(r.question_digest, 'hex');
    h_used[hold] := encode(r.settlement_digest, 'hex');
    h_event[hold] := r.event_transaction_id;
    h_late[hold] := r.is_late;
    h_counts[hold] := r.counts_event;
  end loop;
  for r in
    select array_position(h_id, stored.hold_id) as hold, array_position(ids, stored.window_id) as place, stored.held,
      stored.settled, stored.is_open
    from budget_hold_parts stored
    where stored.organization_id = organization and stored.hold_id = any (h_id)
    order by 1, stored.window_id
  loop
    -- The hold was made after its windows were looked up: it is prepared again, and nothing of this is kept.
    if r.place is null then raise exception 'windows of a hold are missing' using errcode = 'BU001'; end if;
    n_parts := n_parts + 1;
    p_hold[n_parts] := r.hold;
    p_window[n_parts] := r.place;
    p_held[n_parts] := r.held;
    p_settled[n_parts] := r.settled;
    p_open[n_parts] := r.is_open;
    p_changed[n_parts] := false;
    if h_last[r.hold] = 0 then h_first[r.hold] := n_parts; end if;
    h_last[r.hold] := n_parts;
  end loop;

  for step in select value from jsonb_array_elements(steps) loop
    hold := (step ->> 'h')::integer + 1;
    if step ->> 's' = 'settle' then
      if h_id[hold] is null then
        outcomes := outcomes || jsonb_build_object('o', 'unknown');
        continue;
      end if;
      if h_status[hold] = 'settled' then
        outcomes := outcomes || jsonb_build_object('o',
          case when h_used[hold] = step ->> 'd' then 'repeated' else 'closed' end);
        continue;
      end if;
      if h_id[hold] is distinct from (step ->> 'i')::uuid then
        raise exception 'a settlement was prepared for another hold' using errcode = 'BU001';
      end if;
      is_late := h_status[hold] <> 'open';
      for i in h_first[hold]..h_last[hold] loop
        if p_open[i] then
          w_held[p_window[i]] := w_held[p_window[i]] - p_held[i];
          p_open[i] := false;
          p_changed[i] := true;
        end if;
      end loop;
      overrun := 0;
      for part in select value from jsonb_array_elements(step -> 'e') loop
        place := (part ->> 0)::integer + 1;
        amount := (part ->> 1)::numeric;
        for i in h_first[hold]..h_last[hold] loop
          if p_window[i] = place then
            amount := coalesce(amount, p_held[i]);
            p_settled[i] := amount;
            p_changed[i] := true;
          end if;
        end loop;
        amount := coalesce(amount, 0);
        w_spent[place] := w_spent[place] + amount;
        overrun := greatest(overrun, least(greatest(amount, 0), w_spent[place] - w_limit[place]));
        e_id := e_id || coalesce((part ->> 3)::uuid, gen_random_uuid());
        e_window := e_window || ids[place];
        e_amount := e_amount || amount;
        e_source := e_source || (part ->> 2);
        e_ref := e_ref || h_id[hold]::text;
        e_events := e_events || (step ->> 'n')::integer;
      end loop;
      h_status[hold] := 'settled';
      h_used[hold] := step ->> 'd';
      h_event[hold] := step ->> 't';
      h_late[hold] := is_late;
      h_counts[hold] := (step ->> 'n')::integer > 0;
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'settled', 'late', is_late, 'overrun', overrun::text);

    elsif step ->> 's' = 'release' then
      if h_id[hold] is null or h_status[hold] <> 'open' then
        outcomes := outcomes
          || jsonb_build_object('o', case when h_id[hold] is null then 'unknown' else 'closed' end);
        continue;
      end if;
      for i in h_first[hold]..h_last[hold] loop
        if p_open[i] then
          w_held[p_window[i]] := w_held[p_window[i]] - p_held[i];
          p_open[i] := false;
          p_changed[i] := true;
        end if;
      end loop;
      h_status[hold] := 'released';
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'released');

    elsif step ->> 's' = 'change' then
      if h_id[hold] is null or h_status[hold] <> 'open' then
        outcomes := outcomes
          || jsonb_build_object('o', case when h_id[hold] is null then 'unknown' else 'closed' end);
        continue;
      end if;
      exceeded := '[]';
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        for i in h_first[hold]..h_last[hold] loop
          wanted := (part ->> 1)::numeric - p_held[i];
          if p_window[i] = place and w_hard[place] and wanted > 0
            and wanted > w_limit[place] - w_spent[place] - w_held[place] then
            exceeded := exceeded || to_jsonb(place - 1);
          end if;
        end loop;
      end loop;
      if exceeded <> '[]' then
        outcomes := outcomes || jsonb_build_object('o', 'full', 'exceeded', exceeded);
        continue;
      end if;
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        for i in h_first[hold]..h_last[hold] loop
          if p_window[i] = place then
            w_held[place] := w_held[place] + (part ->> 1)::numeric - p_held[i];
            p_held[i] := (part ->> 1)::numeric;
          end if;
        end loop;
      end loop;
      for i in h_first[hold]..h_last[hold] loop
        p_changed[i] := true;
      end loop;
      if step ->> 'x' is not null then h_ends[hold] := present + make_interval(secs => (step ->> 'x')::integer); end if;
      h_changed[hold] := true;
      outcomes := outcomes || jsonb_build_object('o', 'changed');

    elsif step ->> 's' = 'reset' then
      place := (step ->> 'w')::integer + 1;
      e_id := e_id || coalesce((step ->> 'id')::uuid, gen_random_uuid());
      e_window := e_window || ids[place];
      e_amount := e_amount || -w_spent[place];
      e_source := e_source || 'reset'::text;
      e_ref := e_ref || null::text;
      e_events := e_events || 0;
      w_spent[place] := 0;
      outcomes := outcomes || jsonb_build_object('o', 'reset');

    else
      if h_id[hold] is not null then
        figures := '[]';
        for i in h_first[hold]..h_last[hold] loop
          place := p_window[i];
          figures := figures || jsonb_build_array(jsonb_build_array(place - 1, p_held[i]::text, w_limit[place]::text,
            w_spent[place]::text, w_held[place]::text, w_no[place]));
        end loop;
        if h_asked[hold] <> step ->> 'd' then
          outcomes := outcomes || jsonb_build_object('o', 'conflict');
        elsif h_status[hold] <> 'open' then
          outcomes := outcomes || jsonb_build_object('o', 'refused', 'reasons', jsonb_build_array('hold_closed'),
            'exceeded', '[]'::jsonb, 'figures', figures, 'id', h_id[hold], 'replayed', true);
        else
          outcomes := outcomes || jsonb_build_object('o', 'allowed', 'replayed', true, 'figures', figures,
            'id', h_id[hold], 'ends', h_ends[hold]);
        end if;
        continue;
      end if;
      reasons := step -> 'no';
      is_partial := (step ->> 'a')::boolean;
      exceeded := '[]';
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        w_no[place] := w_no[place] + 1;
        wanted := (part ->> 1)::numeric;
        room := w_limit[place] - w_spent[place] - w_held[place];
        if not w_there[place] then
          reasons := case when reasons ? 'too_many_windows' then reasons else reasons || '"too_many_windows"' end;
        elsif w_hard[place] and wanted > room and (not is_partial or room <= 0) then
          exceeded := exceeded || to_jsonb(place - 1);
        end if;
      end loop;
      if reasons <> '[]' then
        exceeded := '[]';
      elsif exceeded <> '[]' then
        reasons := '["budget_exceeded"]';
      else
        h_first[hold] := n_parts + 1;
        for part in select value from jsonb_array_elements(step -> 'p') loop
          place := (part ->> 0)::integer + 1;
          wanted := (part ->> 1)::numeric;
          if is_partial then
            for each in select value from jsonb_array_elements(step -> 'p') loop
              i := (each ->> 0)::integer + 1;
              if each ->> 2 = part ->> 2 and w_hard[i] then
                wanted := least(wanted, w_limit[i] - w_spent[i] - w_held[i]);
              end if;
            end loop;
          end if;
          n_parts := n_parts + 1;
          p_hold[n_parts] := hold;
          p_window[n_parts] := place;
          p_held[n_parts] := wanted;
          p_settled[n_parts] := null;
          p_open[n_parts] := true;
          p_changed[n_parts] := false;
        end loop;
        h_last[hold] := n_parts;
        for i in h_first[hold]..h_last[hold] loop
          w_held[p_window[i]] := w_held[p_window[i]] + p_held[i];
        end loop;
        h_id[hold] := (step ->> 'id')::uuid;
        h_status[hold] := 'open';
        h_ends[hold] := present + make_interval(secs => (step ->> 'x')::integer);
        h_asked[hold] := step ->> 'd';
        h_subscription[hold] := step ->> 'u';
        h_new[hold] := true;
      end if;
      figures := '[]';
      i := h_first[hold];
      for part in select value from jsonb_array_elements(step -> 'p') loop
        place := (part ->> 0)::integer + 1;
        amount := case when h_new[hold] then p_held[i] else (part ->> 1)::numeric end;
        figures := figures || jsonb_build_array(jsonb_build_array(place - 1, amount::text, w_limit[place]::text,
          w_spent[place]::text, w_held[place]::text, w_no[place]));
        i := i + 1;
      end loop;
      if h_new[hold] and h_asked[hold] = step ->> 'd' and reasons = '[]' then
        outcomes := outcomes || jsonb_build_object('o', 'allowed', 'replayed', false, 'figures', figures,
          'id', h_id[hold], 'ends', h_ends[hold]);
      else
        outcomes := outcomes || jsonb_build_object('o', 'refused', 'reasons', reasons, 'exceeded', exceeded,
          'figures', figures);
      end if;
    end if;
  end loop;

  for place in 1..n_windows loop
    each := windows -> (place - 1);
    continue when not w_there[place] or each ->> 'b' is null; -- of a deleted budget
    figures := jsonb_build_object('window_id', ids[place], 'budget_id', each ->> 'b', 'group', each -> 'g',
      'from', each ->> 's', 'to', each ->> 'e', 'limit', w_limit[place]::text, 'spent', w_spent[place]::text,
      'held', w_held[place]::text);
    if w_ends[place] is null or w_ends[place] > present then
      for i in select value::integer from jsonb_array_elements_text(each -> 'p') order by 1 loop
        if i > w_alerted[place] and w_spent[place] * 100 >= w_limit[place] * i then
          notices := notices || (figures || jsonb_build_object('type', 'threshold_reached', 'percent', i));
          w_alerted[place] := i;
        end if;
      end loop;
      if (w_spent[place] >= w_limit[place]) <> (w_state[place] <> 'open') then
        if w_hard[place] or w_state[place] = 'blocked' then
          notices := notices || (figures
            || jsonb_build_object('type', case w_state[place] when 'open' then 'blocked' else 'unblocked' end));
        end if;
      end if;
      w_state[place] := case when w_spent[place] < w_limit[place] then 'open' when w_hard[place] then 'blocked'
        else 'over' end;
      if w_spent[place] > w_limit[place] and not w_told[place] then
        notices := notices || (figures || jsonb_build_object('type', 'overrun'));
      end if;
      w_told[place] := w_spent[place] > w_limit[place];
    end if;
  end loop;

  update budget_windows w set spent = changed.spent, held = changed.held, decision_no = changed.no,
    alerted_percent = changed.alerted, state = changed.state, has_told_overrun = changed.told
  from unnest(ids, w_spent, w_held, w_no, w_alerted, w_state, w_told)
    changed (id, spent, held, no, alerted, state, told)
  where w.id = changed.id and w.organization_id = organization;
  if true = any (h_new) then
    insert into budget_holds (id, organization_id, hold_key, status, expires_at, question_digest, settlement_digest,
      event_transaction_id, external_subscription_id, is_late, counts_event, created_at, closed_at)
    select made.id, organization, made.key, made.status, made.ends, decode(made.asked, 'hex'), decode(made.used, 'hex'),
      made.event, made.subscription, made.late, made.counts, present, case when made.status <> 'open' then present end
    from unnest(h_id, keys, h_status, h_ends, h_asked, h_used, h_event, h_subscription, h_late, h_counts, h_new)
      made (id, key, status, ends, asked, used, event, subscription, late, counts, is_new)
    where made.is_new;
    insert into budget_hold_parts (hold_id, window_id, organization_id, held, settled, expires_at, is_open)
    select h_id[made.hold], ids[made.place], organization, made.held, made.settled, h_ends[made.hold], made.is_open
    from unnest(p_hold, p_window, p_held, p_settled, p_open) made (hold, place, held, settled, is_open)
    where h_new[made.hold];
  end if;
  if true = any (h_changed) then
    update budget_holds h set status = changed.status, expires_at = changed.ends,
      settlement_digest = decode(changed.used, 'hex'), event_transaction_id = changed.event, is_late = changed.late,
      counts_event = changed.counts, closed_at = case when changed.status <> 'open' then present end
    from unnest(h_id, h_status, h_ends, h_used, h_event, h_late, h_counts, h_changed, h_new)
      changed (id, status, ends, used, event, late, counts, is_changed, is_new)
    where h.id = changed.id and h.organization_id = organization and changed.is_changed and not changed.is_new;
    update budget_hold_parts stored set held = changed.held, settled = changed.settled, is_open = changed.is_open,
      expires_at = h_ends[changed.hold]
    from unnest(p_hold, p_window, p_held, p_settled, p_open, p_changed)
      changed (hold, place, held, settled, is_open, is_changed)
    where stored.hold_id = h_id[changed.hold] and stored.window_id = ids[changed.place]
      and stored.organization_id = organization and changed.is_changed and not h_new[changed.hold];
  end if;
  if cardinality(e_window) > 0 then
    insert into budget_entries (id, organization_id, window_id, amount, events, source, ref, created_at, folded_at)
    select made.id, organization, made.window_id, made.amount, made.events, made.source, made.ref, present, present
    from unnest(e_id, e_window, e_amount, e_events, e_source, e_ref) made (id, window_id, amount, events, source, ref);
  end if;
  if notices <> '[]' then
    step_id := gen_random_uuid();
    insert into after_steps (id, organization_id, job, payload, created_at, enqueued_at)
    values (step_id, organization, 'announce-budgets', jsonb_build_object('notices', notices), clock_timestamp(),
      clock_timestamp());
  end if;
  figures := '[]';
  for place in 1..n_windows loop
    figures := figures || jsonb_build_array(jsonb_build_array(w_there[place], w_limit[place]::text,
      w_spent[place]::text, w_held[place]::text, w_state[place], w_no[place]));
  end loop;
  return jsonb_build_object('now', present, 'outcomes', outcomes, 'windows', figures, 'step', step_id);
end
$function$;
comment on function decide_budgets(uuid,bigint,jsonb,jsonb,jsonb) is 'Settles, releases, changes and makes holds in their order, under the locks of their windows.';

CREATE OR REPLACE PROCEDURE public.drop_former_key_of_events()
 LANGUAGE plpgsql
AS $procedure$
begin
  drop trigger if exists events_keep_keys on events;
  drop index if exists events_transaction;
end $procedure$;
comment on function drop_former_key_of_events() is 'When no process of a version before 0083 stores events any more.';

CREATE OR REPLACE FUNCTION public.drop_preview_tables()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare
  own constant text := current_schema();
  part text;
begin
  -- In the order in which a preview takes them, so that neither waits for the other for ever.
  foreach part in array array['_preview_1', '_preview_2', '_preview_fees_1', '_preview_fees_2', '_preview_draft'] loop
    continue when to_regnamespace(quote_ident(own || part)) is null;
    if obj_description(to_regnamespace(quote_ident(own || part)), 'pg_namespace')
        is distinct from 'Tables of previews.' then
      raise exception 'schema % is not of this service, which needs its name for previews', own || part;
    end if;
    execute format('drop schema %I cascade', own || part);
  end loop;
end $function$;
comment on function drop_preview_tables() is 'Before a migration, which may change what they follow.';

CREATE OR REPLACE FUNCTION public.drop_preview_views()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare
  own constant text := current_schema() || '_preview_draft';
begin
  if to_regnamespace(quote_ident(own)) is null then return; end if;
  if obj_description(to_regnamespace(quote_ident(own)), 'pg_namespace') is distinct from 'Tables of previews.' then
    raise exception 'schema % is not of this service, which needs its name for previews', own;
  end if;
  execute format('drop schema %I cascade', own);
end $function$;
comment on function drop_preview_views() is 'Before a migration, which may change columns that they show.';

CREATE OR REPLACE FUNCTION public.event_digest(digest bytea)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select rpad(encode(digest, 'hex'), 32, '0')::uuid
$function$;

CREATE OR REPLACE FUNCTION public.event_hash(words text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
  select encode(substr(sha256(convert_to(words, 'UTF8')), 1, 16), 'hex')::uuid
$function$;
comment on function event_hash(text) is 'The same as src/areas/usage/events/event-key.ts.';

CREATE OR REPLACE FUNCTION public.follow_wallet_holds()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare
  organization uuid := coalesce(new.organization_id, old.organization_id);
  holder uuid := coalesce(new.wallet_id, old.wallet_id);
begin
  update wallet_held held
  set held_cents = held.held_cents
    + case when new.awaits_refresh or new.status = 'open' and new.expires_at > held.counted_until
        then new.amount_cents else 0 end
    - case when old.awaits_refresh or old.status = 'open' and old.expires_at > held.counted_until
        then old.amount_cents else 0 end
  where held.organization_id = organization and held.wallet_id = holder;
  perform tell_access('c:' || customer_id) from wallets where organization_id = organization and id = holder;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.hold_clocks(organizations uuid[])
 RETURNS TABLE(organization_id uuid, status text, frozen_time timestamp with time zone)
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(sorted.id::text, 5306))
  from (select id from unnest(organizations) as given (id) order by id) sorted;
  return query
    select clock.organization_id, clock.status, clock.frozen_time
    from test_clocks clock
    where clock.organization_id = any (organizations)
    order by clock.organization_id
    for share;
end
$function$;

CREATE OR REPLACE FUNCTION public.hold_shapes_version(organization uuid)
 RETURNS bigint
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(organization::text, 5301));
  return (select o.shapes_version + layer.version from organizations o, price_layers layer where o.id = organization);
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_event_keys()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  insert into event_keys (organization_id, transaction_hash, subscription_hash, digest, event_timestamp, event_id)
  select organization_id, event_hash(transaction_id), event_hash(external_subscription_id), event_digest(digest),
    timestamp, id
  from new_rows
  on conflict do nothing;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.lock_quote(quote uuid)
 RETURNS boolean
 LANGUAGE plpgsql
 SET lock_timeout TO '8s'
AS $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('quote-' || quote, 0));
  return true;
exception when lock_not_available then
  return false;
end
$function$;

CREATE OR REPLACE FUNCTION public.make_preview_tables()
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare
  own constant text := current_schema();
  rows constant text[] := array['organizations', 'customer_numbers', 'customers', 'subscriptions',
    'invoice_subscriptions', 'coupons', 'applied_coupons', 'credit_notes', 'wallets', 'wallet_transactions',
    'wallet_days', 'adjusted_fees', 'taxes', 'customer_taxes', 'vies_checks'];
  fees constant text[] := array['fees', 'fee_applied_taxes'];
  computed constant text[] := array['fees', 'invoice_applied_taxes', 'credits'];
  schema_name text;
  table_name text;
begin
  perform drop_preview_tables();
  foreach schema_name in array array['_preview_1', '_preview_2', '_preview_fees_1', '_preview_fees_2'] loop
    execute format('create schema %I', own || schema_name);
    execute format('comment on schema %I is %L', own || schema_name, 'Tables of previews.');
    foreach table_name in array case when schema_name like '%fees%' then fees else rows end loop
      execute format('create unlogged table %I.%I (like %I.%I including all)', own || schema_name, table_name, own,
        table_name);
    end loop;
  end loop;
  execute format('create schema %I', own || '_preview_draft');
  execute format('comment on schema %I is %L', own || '_preview_draft', 'Tables of previews.');
  foreach table_name in array computed loop
    execute format($view$create view %I.%I as select * from %I.%I where invoice_id is distinct from
      nullif(current_setting('meterstone.previewed_draft', true), '')::uuid$view$, own || '_preview_draft', table_name,
      own, table_name);
  end loop;
end $function$;
comment on function make_preview_tables() is 'Makes the tables that previews look at first: `preview_<n>` for copies, `preview_draft` without one computation, `preview_fees_<n>` for the fees of another. After each migration, so that they have the columns of the stored ones.';

CREATE OR REPLACE FUNCTION public.mark_finalized_invoice_of_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  if current_setting('meterstone.marked_invoice', true) = new.invoice_id::text then return null; end if;
  insert into analytics_marks (organization_id, source_type, source_id)
  select invoice.organization_id, 'invoice', invoice.id
  from (select organization_id, id, status from invoices where id = new.invoice_id offset 0) invoice
  where invoice.organization_id = new.organization_id and invoice.status = 'finalized';
  if found then perform set_config('meterstone.marked_invoice', new.invoice_id::text, true); end if;
  return null;
end $function$;
comment on function mark_finalized_invoice_of_row() is 'Marks the invoice of the row, once it is final, as a source of reports that changed.';

CREATE OR REPLACE FUNCTION public.mark_invoice_of_row()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  values (new.organization_id, 'invoice', new.invoice_id);
  return null;
end $function$;
comment on function mark_invoice_of_row() is 'Marks the invoice of the row as a source of reports that changed.';

CREATE OR REPLACE FUNCTION public.mark_source()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  insert into analytics_marks (organization_id, source_type, source_id)
  values (new.organization_id, tg_argv[0], new.id);
  return null;
end $function$;
comment on function mark_source() is 'Marks the row as a source of reports that changed; its argument is the type.';

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
end $function$;

CREATE OR REPLACE FUNCTION public.refuse_change_of_e_document()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if old.content is null then return case tg_op when 'DELETE' then old else new end; end if;
  if tg_op = 'DELETE' then
    if old.retain_until >= (clock_timestamp() at time zone 'UTC')::date then
      raise exception 'electronic document % is kept until %', old.id, old.retain_until
        using errcode = 'restrict_violation';
    end if;
    return old;
  end if;
  if new is distinct from old then
    raise exception 'electronic document % was handed out and never changes', old.id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $function$;
comment on function refuse_change_of_e_document() is 'Keeps electronic documents as they were handed out.';

CREATE OR REPLACE FUNCTION public.refuse_truncation()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare is_filled boolean;
begin
  execute format('select exists (select from %I)', tg_table_name) into is_filled;
  if is_filled then
    raise exception 'rows of % are never changed or deleted', tg_table_name using errcode = 'restrict_violation';
  end if;
  return null;
end $function$;
comment on function refuse_truncation() is 'Keeps tables whose rows are never deleted from being emptied at once.';

CREATE OR REPLACE FUNCTION public.tell_access(scope text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
declare
  told text := coalesce(nullif(current_setting('meterstone.access', true), ''), chr(31));
begin
  if told = chr(31) || 'o' || chr(31) or position(chr(31) || scope || chr(31) in told) > 0 then return; end if;
  -- many at once: the whole organization
  if scope = 'o' or length(told) > 10000 then told := chr(31) || 'o' || chr(31);
  else told := told || scope || chr(31); end if;
  perform set_config('meterstone.access', told, true);
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_changed_events()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform tell_access('s:' || old.external_subscription_id);
  perform tell_access('s:' || new.external_subscription_id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_customer()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform tell_access('c:' || new.id);
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_entitlement()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
declare
  holder uuid := case when tg_op = 'DELETE' then old.subscription_id else new.subscription_id end;
begin
  if holder is null then perform tell_access('o');
  else perform tell_access('s:' || external_id) from subscriptions where id = holder; end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_entitlement_value()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform tell_access(coalesce('s:' || subscription.external_id, 'o'))
  from entitlements entitlement
  left join subscriptions subscription on subscription.id = entitlement.subscription_id
  where entitlement.id = case when tg_op = 'DELETE' then old.entitlement_id else new.entitlement_id end;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_invoice()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  if old.payment_overdue is distinct from new.payment_overdue then perform tell_access('c:' || new.customer_id); end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_organization()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  perform tell_access('o');
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_subscription()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  if tg_op <> 'INSERT' then perform tell_access('s:' || old.external_id); end if;
  if tg_op <> 'DELETE' then perform tell_access('s:' || new.external_id); end if;
  return null;
end $function$;

CREATE OR REPLACE FUNCTION public.tell_access_of_wallet()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public'
AS $function$
begin
  if tg_op = 'UPDATE' and (old.status, old.code, old.currency, old.balance_cents, old.ongoing_balance_cents)
    is not distinct from (new.status, new.code, new.currency, new.balance_cents, new.ongoing_balance_cents)
  then return null; end if;
  perform tell_access('c:' || case when tg_op = 'DELETE' then old.customer_id else new.customer_id end);
  return null;
end $function$;

create table activity_logs (
  id uuid not null,
  organization_id uuid not null,
  activity_type text not null,
  activity_source text not null,
  activity_object jsonb,
  activity_object_changes jsonb not null default '{}'::jsonb,
  user_email text,
  api_key_id uuid,
  resource_id uuid not null,
  resource_type text not null,
  external_customer_id text,
  external_subscription_id text,
  logged_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint activity_logs_pkey PRIMARY KEY (id, created_at),
  constraint activity_logs_activity_source_check CHECK ((activity_source = ANY (ARRAY['api'::text, 'front'::text, 'system'::text])))
) partition by RANGE (created_at);
comment on table activity_logs is 'What changed, who changed it and through which key: one row per change of a resource. Partitioned by month of real time.';
CREATE INDEX activity_logs_customer ON ONLY public.activity_logs USING btree (organization_id, external_customer_id);
CREATE INDEX activity_logs_newest ON ONLY public.activity_logs USING btree (organization_id, logged_at DESC, id DESC);
CREATE INDEX activity_logs_of_customer ON ONLY public.activity_logs USING btree (organization_id, external_customer_id, logged_at DESC, id DESC);
CREATE INDEX activity_logs_subscription ON ONLY public.activity_logs USING btree (organization_id, external_subscription_id);

create table activity_logs_2026_11 partition of activity_logs FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');

create table activity_logs_2026_12 partition of activity_logs FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');

create table activity_logs_default partition of activity_logs DEFAULT;

create table add_on_taxes (
  organization_id uuid not null,
  add_on_id uuid not null,
  tax_id uuid not null,
  constraint add_on_taxes_pkey PRIMARY KEY (organization_id, add_on_id, tax_id),
  constraint add_on_taxes_add_on_id_fkey FOREIGN KEY (add_on_id) REFERENCES add_ons(id) DEFERRABLE,
  constraint add_on_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table add_on_taxes is 'Taxes on the fees of an add-on.';

create table add_ons (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  invoice_display_name text,
  description text,
  amount_cents bigint not null,
  amount_currency text not null,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  unit_code text,
  constraint add_ons_pkey PRIMARY KEY (id),
  constraint add_ons_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint add_ons_amount_cents_check CHECK ((amount_cents > 0))
);
comment on table add_ons is 'Items with a fixed amount for one-off invoices and fixed charges.';
CREATE UNIQUE INDEX add_ons_code_key ON public.add_ons USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table adjusted_fees (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  fee_id uuid not null,
  subscription_id uuid not null,
  fee_type text not null,
  charge_id uuid,
  charge_filter_id uuid,
  fixed_charge_id uuid,
  grouped_by jsonb not null default '{}'::jsonb,
  from_datetime timestamp with time zone not null,
  to_datetime timestamp with time zone not null,
  units numeric,
  unit_precise_amount numeric,
  invoice_display_name text,
  created_at timestamp with time zone not null,
  constraint adjusted_fees_pkey PRIMARY KEY (id),
  constraint adjusted_fees_fee_key UNIQUE (organization_id, invoice_id, fee_id),
  constraint adjusted_fees_charge_filter_id_fkey FOREIGN KEY (charge_filter_id) REFERENCES charge_filters(id) DEFERRABLE,
  constraint adjusted_fees_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint adjusted_fees_fixed_charge_id_fkey FOREIGN KEY (fixed_charge_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint adjusted_fees_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint adjusted_fees_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table adjusted_fees is 'Units or amounts of a draft''s fees set by hand; they survive a refresh.';

create table after_steps (
  id uuid not null,
  organization_id uuid not null,
  job text not null,
  payload jsonb not null,
  due_at timestamp with time zone,
  created_at timestamp with time zone not null,
  enqueued_at timestamp with time zone not null,
  attempts integer not null default 0,
  failed_at timestamp with time zone,
  error text,
  unknown_since timestamp with time zone,
  constraint after_steps_pkey PRIMARY KEY (id)
);
comment on table after_steps is 'Work that a committed command still owes. The queue carries only the id; a sweep enqueues rows again whose job was lost.';
CREATE INDEX after_steps_enqueued ON public.after_steps USING btree (enqueued_at) WHERE (failed_at IS NULL);
CREATE INDEX after_steps_organization ON public.after_steps USING btree (organization_id, due_at);

create table ai_changed_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  day date not null,
  changes bigint not null default 1,
  constraint ai_changed_days_pkey PRIMARY KEY (organization_id, external_subscription_id, day)
);
comment on table ai_changed_days is 'Days of subscriptions whose hours changed since the day was summed.';

create table ai_crowded_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  day date not null,
  constraint ai_crowded_days_pkey PRIMARY KEY (organization_id, external_subscription_id, day)
);
comment on table ai_crowded_days is 'Days of subscriptions with so many groups that further ones are left over.';

create table ai_groups (
  organization_id uuid not null,
  group_hash bytea not null,
  provider text not null,
  model text not null,
  tier text not null,
  code text not null,
  dimensions jsonb not null,
  constraint ai_groups_pkey PRIMARY KEY (organization_id, group_hash),
  constraint ai_groups_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table ai_groups is 'What calls of language models are summed by.';
comment on column ai_groups.group_hash is 'first 16 bytes of the SHA-256 of all that follows; 16 zeros: what is left over';
comment on column ai_groups.dimensions is 'further properties, those of the setting margin_dimensions when a call came';

create table ai_subjects (
  organization_id uuid not null,
  kind text not null,
  value text not null,
  external_subscription_id text not null,
  constraint ai_subjects_pkey PRIMARY KEY (organization_id, kind, value),
  constraint ai_subjects_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint ai_subjects_kind CHECK ((kind = ANY (ARRAY['key'::text, 'end_user'::text, 'user'::text, 'team'::text, 'organization'::text, 'tag'::text])))
);
comment on table ai_subjects is 'To which subscription usage of models belongs, by whom it names.';

create table ai_unpriced (
  organization_id uuid not null,
  event_id uuid not null,
  external_subscription_id text not null,
  provider text not null,
  model text not null,
  tier text not null,
  reason text not null,
  missing_kinds text[] not null,
  tokens numeric not null,
  event_timestamp timestamp with time zone not null,
  book text not null,
  status text not null default 'open'::text,
  constraint ai_unpriced_pkey PRIMARY KEY (organization_id, event_id),
  constraint ai_unpriced_reason CHECK ((reason = ANY (ARRAY['price'::text, 'usage'::text]))),
  constraint ai_unpriced_status CHECK ((status = ANY (ARRAY['open'::text, 'healed'::text, 'ignored'::text])))
);
comment on table ai_unpriced is 'Events of calls that have no amount: for want of a price, or of a part of the usage.';
comment on column ai_unpriced.model is 'as the call named it';
comment on column ai_unpriced.book is 'versions of the book with which it was last looked at';
CREATE INDEX ai_unpriced_open ON public.ai_unpriced USING btree (organization_id, provider, model, event_id) WHERE ((status = 'open'::text) AND (reason = 'price'::text));
CREATE INDEX ai_unpriced_waiting ON public.ai_unpriced USING btree (organization_id, external_subscription_id, event_timestamp) WHERE (status = 'open'::text);

create table ai_unpriced_models (
  organization_id uuid not null,
  provider text not null,
  model text not null,
  tier text not null,
  missing_kinds text[] not null,
  events bigint not null,
  tokens numeric not null,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  told_on date,
  looked_book text,
  constraint ai_unpriced_models_pkey PRIMARY KEY (organization_id, provider, model, tier),
  constraint ai_unpriced_models_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table ai_unpriced_models is 'Open events without an amount, counted by model and tier.';
comment on column ai_unpriced_models.told_on is 'the day of the last notification about it';
comment on column ai_unpriced_models.looked_book is 'versions of the book with which its calls were last looked at; null: some came since';

create table ai_usage_days (
  organization_id uuid not null,
  day date not null,
  external_subscription_id text not null,
  group_hash bytea not null,
  events bigint not null,
  unpriced bigint not null,
  input_tokens numeric not null,
  output_tokens numeric not null,
  cache_read_tokens numeric not null,
  cost numeric not null,
  amount numeric not null,
  constraint ai_usage_days_pkey PRIMARY KEY (organization_id, day, external_subscription_id, group_hash)
);
comment on table ai_usage_days is 'The same by day (UTC), as of the last look at days whose hours had changed.';

create table ai_usage_hours (
  organization_id uuid not null,
  external_subscription_id text not null,
  hour timestamp with time zone not null,
  group_hash bytea not null,
  events bigint not null,
  unpriced bigint not null,
  input_tokens numeric not null,
  output_tokens numeric not null,
  cache_read_tokens numeric not null,
  cost numeric not null,
  amount numeric not null,
  constraint ai_usage_hours_pkey PRIMARY KEY (organization_id, external_subscription_id, hour, group_hash)
);
comment on table ai_usage_hours is 'Sums of calls of language models by subscription, hour and group; in cents of the book.';
comment on column ai_usage_hours.unpriced is 'how many of them have no cost, or no amount though one is due';
CREATE INDEX ai_usage_hours_age ON public.ai_usage_hours USING btree (hour) WHERE (((hour AT TIME ZONE 'UTC'::text))::time without time zone <> '00:00:00'::time without time zone);

create table alerts (
  id uuid not null,
  organization_id uuid not null,
  external_subscription_id text,
  wallet_id uuid,
  alert_type text not null,
  billable_metric_id uuid,
  code text not null,
  name text,
  thresholds jsonb not null,
  previous_value numeric not null default 0,
  evaluations bigint not null default 0,
  last_processed_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint alerts_pkey PRIMARY KEY (id),
  constraint alerts_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE,
  constraint alerts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint alerts_wallet_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE,
  constraint alerts_alert_type_check CHECK ((alert_type = ANY (ARRAY['current_usage_amount'::text, 'billable_metric_current_usage_amount'::text, 'billable_metric_current_usage_units'::text, 'lifetime_usage_amount'::text, 'billable_metric_lifetime_usage_units'::text, 'wallet_balance_amount'::text, 'wallet_credits_balance'::text, 'wallet_ongoing_balance_amount'::text, 'wallet_credits_ongoing_balance'::text]))),
  constraint alerts_one_owner CHECK (((external_subscription_id IS NULL) <> (wallet_id IS NULL)))
);
comment on table alerts is 'Thresholds on usage or wallets at which a notification is sent.';
CREATE UNIQUE INDEX alerts_subscription_code_key ON public.alerts USING btree (organization_id, external_subscription_id, code) WHERE ((deleted_at IS NULL) AND (external_subscription_id IS NOT NULL));
CREATE UNIQUE INDEX alerts_subscription_type_key ON public.alerts USING btree (organization_id, external_subscription_id, alert_type, billable_metric_id) NULLS NOT DISTINCT WHERE ((deleted_at IS NULL) AND (external_subscription_id IS NOT NULL));
CREATE UNIQUE INDEX alerts_wallet_code_key ON public.alerts USING btree (organization_id, wallet_id, code) WHERE ((deleted_at IS NULL) AND (wallet_id IS NOT NULL));
CREATE UNIQUE INDEX alerts_wallet_type_key ON public.alerts USING btree (organization_id, wallet_id, alert_type) WHERE ((deleted_at IS NULL) AND (wallet_id IS NOT NULL));

create table analytics_entries (
  organization_id uuid not null,
  source_id uuid not null,
  report text not null,
  day date not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  subscription_id uuid not null,
  currency text not null,
  key text not null,
  code text not null,
  amount numeric not null,
  units numeric not null,
  constraint analytics_entries_pkey PRIMARY KEY (organization_id, source_id, report, day, subscription_id, key, code)
);
comment on table analytics_entries is 'What each source counts at present. The key makes nothing count twice.';

create table analytics_marks (
  organization_id uuid not null,
  "position" bigint not null generated always as identity,
  source_type text not null,
  source_id uuid not null,
  constraint analytics_marks_pkey PRIMARY KEY (organization_id, "position"),
  constraint analytics_marks_source_type_check CHECK ((source_type = ANY (ARRAY['invoice'::text, 'fee'::text, 'daily_usage'::text, 'wallet_transaction'::text])))
);
comment on table analytics_marks is 'Sources of figures (an invoice, a standalone fee, a snapshot of usage, a wallet transaction) that were made or changed. Each change adds a row: an existing row could be taken before the change is committed.';

create table analytics_totals (
  organization_id uuid not null,
  report text not null,
  customer_id uuid not null,
  day date not null,
  subscription_id uuid not null,
  billing_entity_id uuid not null,
  currency text not null,
  key text not null,
  code text not null,
  amount numeric not null,
  units numeric not null,
  entries_count bigint not null,
  constraint analytics_totals_pkey PRIMARY KEY (organization_id, report, customer_id, day, subscription_id, billing_entity_id, currency, key, code),
  constraint analytics_totals_entries_count_check CHECK ((entries_count >= 0))
);
comment on table analytics_totals is 'Sums of the entries: of the whole organization under the nil UUID of a customer, else of one subscription.';
CREATE INDEX analytics_totals_day ON public.analytics_totals USING btree (organization_id, report, day) WHERE (customer_id <> '00000000-0000-0000-0000-000000000000'::uuid);

create table api_keys (
  id uuid not null,
  organization_id uuid not null,
  name text,
  value_digest bytea not null,
  last_four text not null,
  permissions jsonb not null,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_value_digest_key UNIQUE (value_digest),
  constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table api_keys is 'Keys of an organization. Only a digest of the value is kept; permissions name the resources it may read and write.';
CREATE INDEX api_keys_organization ON public.api_keys USING btree (organization_id, id);

create table api_logs (
  id uuid not null,
  organization_id uuid not null,
  request_id text not null,
  api_key_id uuid not null,
  client text,
  http_method text not null,
  http_status integer not null,
  request_origin text not null,
  request_path text not null,
  request_body text,
  request_response text,
  api_version text not null default 'v1'::text,
  logged_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint api_logs_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);
comment on table api_logs is 'Writing requests with their answers, as the API log shows them. Partitioned by month of real time.';
CREATE INDEX api_logs_newest ON ONLY public.api_logs USING btree (organization_id, logged_at DESC, id DESC);
CREATE INDEX api_logs_request ON ONLY public.api_logs USING btree (organization_id, request_id);

create table api_logs_2026_11 partition of api_logs FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');

create table api_logs_2026_12 partition of api_logs FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');

create table api_logs_default partition of api_logs DEFAULT;

create table applied_coupons (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  coupon_id uuid not null,
  status text not null default 'active'::text,
  amount_cents bigint,
  amount_currency text,
  percentage_rate numeric(10,5),
  frequency text not null,
  frequency_duration integer,
  frequency_duration_remaining integer,
  terminated_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint applied_coupons_pkey PRIMARY KEY (id),
  constraint applied_coupons_coupon_id_fkey FOREIGN KEY (coupon_id) REFERENCES coupons(id) DEFERRABLE,
  constraint applied_coupons_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint applied_coupons_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint applied_coupons_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint applied_coupons_frequency_check CHECK ((frequency = ANY (ARRAY['once'::text, 'recurring'::text, 'forever'::text]))),
  constraint applied_coupons_frequency_duration_check CHECK ((frequency_duration > 0)),
  constraint applied_coupons_frequency_duration_remaining_check CHECK ((frequency_duration_remaining >= 0)),
  constraint applied_coupons_percentage_rate_check CHECK ((percentage_rate >= (0)::numeric)),
  constraint applied_coupons_status_check CHECK ((status = ANY (ARRAY['active'::text, 'terminated'::text])))
);
comment on table applied_coupons is 'Coupons applied to customers, with what is left of them.';
CREATE INDEX applied_coupons_coupon ON public.applied_coupons USING btree (organization_id, coupon_id);
CREATE INDEX applied_coupons_customer ON public.applied_coupons USING btree (organization_id, customer_id, created_at, id);
CREATE INDEX applied_coupons_newest ON public.applied_coupons USING btree (organization_id, created_at DESC, id DESC);

create table applied_invoice_custom_sections (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  code text not null,
  name text not null,
  display_name text,
  details text,
  created_at timestamp with time zone not null,
  constraint applied_invoice_custom_sections_pkey PRIMARY KEY (id),
  constraint applied_invoice_custom_sections_code_key UNIQUE (organization_id, invoice_id, code),
  constraint applied_invoice_custom_sections_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE
);
comment on table applied_invoice_custom_sections is 'Sections as an invoice prints them: later changes do not reach it.';

create table applied_usage_thresholds (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  usage_threshold_id uuid not null,
  lifetime_usage_amount_cents bigint not null,
  created_at timestamp with time zone not null,
  constraint applied_usage_thresholds_pkey PRIMARY KEY (id),
  constraint applied_usage_thresholds_key UNIQUE (organization_id, invoice_id, usage_threshold_id),
  constraint applied_usage_thresholds_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint applied_usage_thresholds_usage_threshold_id_fkey FOREIGN KEY (usage_threshold_id) REFERENCES usage_thresholds(id) DEFERRABLE
);
comment on table applied_usage_thresholds is 'Thresholds that a progressive invoice shows.';
CREATE INDEX applied_usage_thresholds_threshold ON public.applied_usage_thresholds USING btree (organization_id, usage_threshold_id);

create table archive_chain (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  day date not null,
  count integer not null,
  root text not null,
  created_at timestamp with time zone not null,
  constraint archive_chain_pkey PRIMARY KEY (organization_id, billing_entity_id, day),
  constraint archive_chain_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint archive_chain_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table archive_chain is 'A hash for each billing entity and UTC day over the root before it and the documents that became ready that day.';
CREATE TRIGGER archive_chain_frozen BEFORE DELETE OR UPDATE ON public.archive_chain FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER archive_chain_kept BEFORE TRUNCATE ON public.archive_chain FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncation();

create table audit_findings (
  id uuid not null,
  organization_id uuid not null,
  "check" text not null,
  status text not null,
  resource_type text not null,
  resource_id text not null,
  expected text,
  actual text,
  details jsonb not null default '{}'::jsonb,
  note text,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  constraint audit_findings_pkey PRIMARY KEY (id),
  constraint audit_findings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint audit_findings_status_check CHECK ((status = ANY (ARRAY['open'::text, 'acknowledged'::text, 'resolved'::text])))
);
comment on table audit_findings is 'What the auditor found, open until it is resolved.';
CREATE UNIQUE INDEX audit_findings_live_key ON public.audit_findings USING btree (organization_id, "check", resource_type, resource_id) WHERE (status <> 'resolved'::text);
CREATE INDEX audit_findings_newest ON public.audit_findings USING btree (organization_id, last_seen_at DESC, id DESC);

create table audit_runs (
  id uuid not null,
  organization_id uuid not null,
  mode text not null,
  status text not null,
  checks jsonb not null default '[]'::jsonb,
  findings_count integer not null default 0,
  new_findings_count integer not null default 0,
  error jsonb,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  constraint audit_runs_pkey PRIMARY KEY (id),
  constraint audit_runs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint audit_runs_mode_check CHECK ((mode = ANY (ARRAY['incremental'::text, 'full'::text, 'manual'::text]))),
  constraint audit_runs_status_check CHECK ((status = ANY (ARRAY['running'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table audit_runs is 'Runs of the auditor over an organization''s books.';
CREATE INDEX audit_runs_newest ON public.audit_runs USING btree (organization_id, created_at DESC, id DESC);

create table authorizations (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  command_id uuid not null,
  provider_customer_id text not null,
  provider_method_id text not null,
  provider_payment_id text,
  amount_cents bigint not null,
  currency text not null,
  status text not null default 'asked'::text,
  subscription_id uuid,
  attempts integer not null default 0,
  released_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint authorizations_pkey PRIMARY KEY (id),
  constraint authorizations_command_key UNIQUE (organization_id, command_id),
  constraint authorizations_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint authorizations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint authorizations_amount_cents_check CHECK ((amount_cents > 0)),
  constraint authorizations_held_has_id CHECK (((status <> 'held'::text) OR (provider_payment_id IS NOT NULL))),
  constraint authorizations_status_check CHECK ((status = ANY (ARRAY['asked'::text, 'held'::text, 'refused'::text, 'released'::text])))
);
comment on table authorizations is 'Amounts that a provider reserved before a subscription was created.';
comment on column authorizations.command_id is 'Part of the key with which the provider was asked.';
comment on column authorizations.provider_payment_id is 'Null: the provider''s answer is not known.';
comment on column authorizations.attempts is 'How often the sweep had it released.';
CREATE INDEX authorizations_open ON public.authorizations USING btree (created_at) WHERE (released_at IS NULL);

create table billable_metric_filters (
  id uuid not null,
  organization_id uuid not null,
  billable_metric_id uuid not null,
  key text not null,
  "values" text[] not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint billable_metric_filters_pkey PRIMARY KEY (id),
  constraint billable_metric_filters_key_key UNIQUE (organization_id, billable_metric_id, key),
  constraint billable_metric_filters_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE
);
comment on table billable_metric_filters is 'Properties by whose values the charges of a metric can be priced apart.';

create table billable_metrics (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  description text,
  aggregation_type text not null,
  recurring boolean not null default false,
  field_name text,
  weighted_interval text,
  rounding_function text,
  rounding_precision integer,
  expression text,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  unit_code text,
  constraint billable_metrics_pkey PRIMARY KEY (id),
  constraint billable_metrics_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint billable_metrics_aggregation_type_check CHECK ((aggregation_type = ANY (ARRAY['count_agg'::text, 'sum_agg'::text, 'max_agg'::text, 'unique_count_agg'::text, 'latest_agg'::text, 'weighted_sum_agg'::text, 'custom_agg'::text]))),
  constraint billable_metrics_rounding_function_check CHECK ((rounding_function = ANY (ARRAY['round'::text, 'ceil'::text, 'floor'::text]))),
  constraint billable_metrics_weighted_interval_check CHECK ((weighted_interval = 'seconds'::text))
);
comment on table billable_metrics is 'How events of a code are aggregated to units.';
CREATE UNIQUE INDEX billable_metrics_code_key ON public.billable_metrics USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE TRIGGER billable_metrics_tell_access AFTER DELETE OR UPDATE ON public.billable_metrics FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table billing_entities (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  default_currency text not null default 'USD'::text,
  country text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  zipcode text,
  phone text,
  email text,
  legal_name text,
  legal_number text,
  tax_identification_number text,
  timezone text not null default 'UTC'::text,
  net_payment_term integer not null default 0,
  email_settings text[] not null default '{}'::text[],
  document_numbering text not null default 'per_customer'::text,
  document_number_prefix text not null,
  finalize_zero_amount_invoice boolean not null default true,
  invoice_footer text,
  invoice_grace_period integer not null default 0,
  subscription_invoice_issuing_date_anchor text not null default 'next_period_start'::text,
  subscription_invoice_issuing_date_adjustment text not null default 'align_with_finalization_date'::text,
  document_locale text not null default 'en'::text,
  einvoicing boolean not null default false,
  eu_tax_management boolean not null default false,
  logo_url text,
  dunning_campaign_id uuid,
  invoices_sequence bigint not null default 0,
  archived_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  e_invoicing jsonb,
  e_document_profile text,
  bank_accounts jsonb not null default '[]'::jsonb,
  constraint billing_entities_pkey PRIMARY KEY (id),
  constraint billing_entities_dunning_campaign_id_fkey FOREIGN KEY (dunning_campaign_id) REFERENCES dunning_campaigns(id) DEFERRABLE,
  constraint billing_entities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint billing_entities_document_numbering_check CHECK ((document_numbering = ANY (ARRAY['per_customer'::text, 'per_billing_entity'::text]))),
  constraint billing_entities_e_document_profile_check CHECK ((e_document_profile = ANY (ARRAY['en16931_ubl'::text, 'en16931_cii'::text, 'peppol_bis3'::text, 'xrechnung_ubl'::text, 'xrechnung_cii'::text, 'facturx'::text]))),
  constraint billing_entities_invoice_grace_period_check CHECK ((invoice_grace_period >= 0)),
  constraint billing_entities_net_payment_term_check CHECK ((net_payment_term >= 0)),
  constraint billing_entities_subscription_invoice_issuing_date_adjust_check CHECK ((subscription_invoice_issuing_date_adjustment = ANY (ARRAY['align_with_finalization_date'::text, 'keep_anchor'::text]))),
  constraint billing_entities_subscription_invoice_issuing_date_anchor_check CHECK ((subscription_invoice_issuing_date_anchor = ANY (ARRAY['next_period_start'::text, 'current_period_end'::text])))
);
comment on table billing_entities is 'Legal entities of an organization that issue invoices.';
CREATE UNIQUE INDEX billing_entities_code_key ON public.billing_entities USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE TRIGGER billing_entities_tell_access AFTER UPDATE OF timezone ON public.billing_entities FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table billing_entity_taxes (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  tax_id uuid not null,
  constraint billing_entity_taxes_pkey PRIMARY KEY (organization_id, billing_entity_id, tax_id),
  constraint billing_entity_taxes_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint billing_entity_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table billing_entity_taxes is 'Taxes that apply by default to the customers of a billing entity.';

create table budget_entries (
  id uuid not null,
  organization_id uuid not null,
  window_id uuid not null,
  amount numeric not null,
  events integer not null default 0,
  source text not null,
  ref text,
  created_at timestamp with time zone not null,
  folded_at timestamp with time zone,
  constraint budget_entries_pkey PRIMARY KEY (id),
  constraint budget_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint budget_entries_source_check CHECK ((source = ANY (ARRAY['settlement'::text, 'usage'::text, 'correction'::text, 'provisional'::text, 'reset'::text, 'opening'::text])))
) with (fillfactor=80);
comment on table budget_entries is 'The ledger of budgets, append-only: what was spent in a window.';
CREATE INDEX budget_entries_newest ON public.budget_entries USING btree (organization_id, window_id, created_at DESC, id DESC);
CREATE INDEX budget_entries_open ON public.budget_entries USING btree (window_id) WHERE (folded_at IS NULL);
CREATE INDEX budget_entries_provisional ON public.budget_entries USING btree (organization_id, ref) WHERE (source = 'provisional'::text);
CREATE INDEX budget_entries_unfolded ON public.budget_entries USING btree (organization_id, window_id) WHERE (folded_at IS NULL);

create table budget_hold_parts (
  hold_id uuid not null,
  window_id uuid not null,
  organization_id uuid not null,
  held numeric not null,
  settled numeric,
  expires_at timestamp with time zone not null,
  is_open boolean not null default true,
  constraint budget_hold_parts_pkey PRIMARY KEY (hold_id, window_id),
  constraint budget_hold_parts_hold_id_fkey FOREIGN KEY (hold_id) REFERENCES budget_holds(id) ON DELETE CASCADE DEFERRABLE,
  constraint budget_hold_parts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint budget_hold_parts_held_check CHECK ((held >= (0)::numeric))
) with (fillfactor=70);
comment on table budget_hold_parts is 'What a hold takes in each window, in the measure of its budget.';
CREATE INDEX budget_hold_parts_open ON public.budget_hold_parts USING btree (window_id, expires_at) WHERE is_open;

create table budget_holds (
  id uuid not null,
  organization_id uuid not null,
  hold_key text not null,
  status text not null default 'open'::text,
  expires_at timestamp with time zone not null,
  question_digest bytea not null,
  settlement_digest bytea,
  event_transaction_id text,
  external_subscription_id text not null,
  is_late boolean not null default false,
  created_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  counts_event boolean not null default false,
  constraint budget_holds_pkey PRIMARY KEY (id),
  constraint budget_holds_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint budget_holds_closed CHECK (((status = 'open'::text) = (closed_at IS NULL))),
  constraint budget_holds_status_check CHECK ((status = ANY (ARRAY['open'::text, 'settled'::text, 'released'::text, 'expired'::text])))
) with (fillfactor=70);
comment on table budget_holds is 'What callers may spend until they settle, release it, or its time is over.';
comment on column budget_holds.counts_event is 'whether its settlement stored the event and counted it; else the event had come before, and counted by its own time';
CREATE INDEX budget_holds_event ON public.budget_holds USING btree (organization_id, event_transaction_id) WHERE (event_transaction_id IS NOT NULL);
CREATE INDEX budget_holds_expiring ON public.budget_holds USING btree (organization_id, expires_at, id) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX budget_holds_key ON public.budget_holds USING btree (organization_id, hold_key);
CREATE INDEX budget_holds_newest ON public.budget_holds USING btree (organization_id, created_at DESC, id DESC);

create table budget_windows (
  id uuid not null,
  organization_id uuid not null,
  budget_id uuid not null,
  group_key bytea not null,
  group_values jsonb not null,
  starts_at timestamp with time zone not null,
  ends_at timestamp with time zone,
  topped_up numeric not null default 0,
  spent numeric not null default 0,
  held numeric not null default 0,
  decision_no bigint not null default 0,
  alerted_percent integer not null default 0,
  state text not null default 'open'::text,
  has_told_overrun boolean not null default false,
  created_at timestamp with time zone not null,
  constraint budget_windows_pkey PRIMARY KEY (id),
  constraint budget_windows_budget_id_fkey FOREIGN KEY (budget_id) REFERENCES budgets(id) DEFERRABLE,
  constraint budget_windows_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint budget_windows_state_check CHECK ((state = ANY (ARRAY['open'::text, 'blocked'::text, 'over'::text])))
) with (fillfactor=50);
comment on table budget_windows is 'A period and group of a budget: what was folded of its entries, and what is held.';
CREATE INDEX budget_windows_newest ON public.budget_windows USING btree (organization_id, budget_id, starts_at DESC, id DESC);

create table budgets (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  scope text not null,
  customer_id uuid,
  external_customer_id text,
  external_subscription_id text,
  codes text[],
  feature_code text,
  match jsonb not null default '{}'::jsonb,
  group_by text[] not null default '{}'::text[],
  measure text not null,
  billable_metric_code text,
  currency text,
  most numeric not null,
  overrides jsonb not null default '[]'::jsonb,
  period text not null,
  timezone text not null,
  mode text not null,
  alert_percents integer[] not null,
  on_outage text not null,
  offline_allowance numeric not null default 0,
  unknown_price text not null,
  is_full boolean not null default false,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  deleted_at timestamp with time zone,
  sweeps_from timestamp with time zone,
  sweeps_from_id uuid,
  constraint budgets_pkey PRIMARY KEY (id),
  constraint budgets_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint budgets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint budgets_currency CHECK (((measure = ANY (ARRAY['cost'::text, 'amount'::text])) = (currency IS NOT NULL))),
  constraint budgets_measure_check CHECK ((measure = ANY (ARRAY['cost'::text, 'amount'::text, 'units'::text, 'tokens'::text]))),
  constraint budgets_metric CHECK (((measure = 'units'::text) = (billable_metric_code IS NOT NULL))),
  constraint budgets_mode_check CHECK ((mode = ANY (ARRAY['hard'::text, 'soft'::text]))),
  constraint budgets_most CHECK ((most > (0)::numeric)),
  constraint budgets_of_scope CHECK ((((scope = 'customer'::text) = (customer_id IS NOT NULL)) AND ((scope = 'subscription'::text) = (external_subscription_id IS NOT NULL)))),
  constraint budgets_on_outage_check CHECK ((on_outage = ANY (ARRAY['closed'::text, 'open'::text]))),
  constraint budgets_period_check CHECK ((period = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'billing_period'::text, 'lifetime'::text]))),
  constraint budgets_scope_check CHECK ((scope = ANY (ARRAY['organization'::text, 'customer'::text, 'subscription'::text]))),
  constraint budgets_sweep CHECK (((sweeps_from IS NULL) = (sweeps_from_id IS NULL))),
  constraint budgets_unknown_price_check CHECK ((unknown_price = ANY (ARRAY['deny'::text, 'allow'::text])))
);
comment on table budgets is 'Definitions of ceilings on usage.';
comment on column budgets.most is 'the limit of each window, before top-ups';
comment on column budgets.sweeps_from is 'the sweep looks at windows that start before it, with sweeps_from_id at the same instant; null: at none';
CREATE UNIQUE INDEX budgets_code_key ON public.budgets USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX budgets_customer ON public.budgets USING btree (customer_id) WHERE (customer_id IS NOT NULL);
CREATE INDEX budgets_full ON public.budgets USING btree (organization_id, id) WHERE (is_full AND (deleted_at IS NULL));
CREATE INDEX budgets_newest ON public.budgets USING btree (organization_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX budgets_to_sweep ON public.budgets USING btree (organization_id, id) WHERE (sweeps_from IS NOT NULL);

create table charge_filters (
  id uuid not null,
  organization_id uuid not null,
  charge_id uuid not null,
  code text not null,
  invoice_display_name text,
  "values" jsonb not null,
  properties jsonb not null,
  "position" integer not null,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint charge_filters_pkey PRIMARY KEY (id),
  constraint charge_filters_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE
);
comment on table charge_filters is 'Prices of a charge for chosen values of the metric''s filters.';
CREATE INDEX charge_filters_charge ON public.charge_filters USING btree (organization_id, charge_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX charge_filters_values_key ON public.charge_filters USING btree (organization_id, charge_id, code) WHERE (deleted_at IS NULL);

create table charge_taxes (
  organization_id uuid not null,
  charge_id uuid not null,
  tax_id uuid not null,
  constraint charge_taxes_pkey PRIMARY KEY (organization_id, charge_id, tax_id),
  constraint charge_taxes_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint charge_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table charge_taxes is 'Taxes on the fees of a charge.';

create table charges (
  id uuid not null,
  organization_id uuid not null,
  plan_id uuid not null,
  parent_id uuid,
  billable_metric_id uuid not null,
  code text not null,
  charge_model text not null,
  invoice_display_name text,
  pay_in_advance boolean not null default false,
  prorated boolean not null default false,
  invoiceable boolean not null default true,
  regroup_paid_fees text,
  min_amount_cents bigint not null default 0,
  accepts_target_wallet boolean not null default false,
  pricing_unit_id uuid,
  conversion_rate numeric(40,15),
  properties jsonb not null,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint charges_pkey PRIMARY KEY (id),
  constraint charges_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE,
  constraint charges_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES charges(id) DEFERRABLE,
  constraint charges_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint charges_pricing_unit_id_fkey FOREIGN KEY (pricing_unit_id) REFERENCES pricing_units(id) DEFERRABLE,
  constraint charges_charge_model_check CHECK ((charge_model = ANY (ARRAY['standard'::text, 'graduated'::text, 'graduated_percentage'::text, 'package'::text, 'percentage'::text, 'volume'::text, 'dynamic'::text, 'custom'::text]))),
  constraint charges_conversion_rate_check CHECK ((conversion_rate > (0)::numeric)),
  constraint charges_min_amount_cents_check CHECK ((min_amount_cents >= 0)),
  constraint charges_regroup_paid_fees_check CHECK ((regroup_paid_fees = 'invoice'::text))
);
comment on table charges is 'Prices of usage: a metric on a plan with a charge model.';
CREATE UNIQUE INDEX charges_code_key ON public.charges USING btree (organization_id, plan_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX charges_deleted ON public.charges USING btree (organization_id, billable_metric_id) WHERE (deleted_at IS NOT NULL);
CREATE INDEX charges_metric ON public.charges USING btree (organization_id, billable_metric_id) WHERE (deleted_at IS NULL);
CREATE INDEX charges_parent ON public.charges USING btree (organization_id, parent_id) WHERE (parent_id IS NOT NULL);

create table commitment_taxes (
  organization_id uuid not null,
  commitment_id uuid not null,
  tax_id uuid not null,
  constraint commitment_taxes_pkey PRIMARY KEY (organization_id, commitment_id, tax_id),
  constraint commitment_taxes_commitment_id_fkey FOREIGN KEY (commitment_id) REFERENCES minimum_commitments(id) ON DELETE CASCADE DEFERRABLE,
  constraint commitment_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table commitment_taxes is 'Taxes on the fees of a minimum commitment.';

create table console_codes (
  digest bytea not null,
  api_key_id uuid not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint console_codes_pkey PRIMARY KEY (digest),
  constraint console_codes_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) DEFERRABLE
);
comment on table console_codes is 'One-time links into the console, by the digest of their code.';
CREATE INDEX console_codes_over ON public.console_codes USING btree (expires_at);

create table console_identities (
  session_id uuid not null,
  organization_id uuid not null,
  kind text not null,
  api_key_id uuid,
  member_id uuid,
  created_at timestamp with time zone not null,
  constraint console_identities_pkey PRIMARY KEY (session_id, organization_id),
  constraint console_identities_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id) DEFERRABLE,
  constraint console_identities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint console_identities_session_id_fkey FOREIGN KEY (session_id) REFERENCES console_sessions(id) ON DELETE CASCADE DEFERRABLE,
  constraint console_identities_kind CHECK (((kind = 'key'::text) = (api_key_id IS NOT NULL))),
  constraint console_identities_kind_check CHECK ((kind = ANY (ARRAY['key'::text, 'member'::text])))
);
comment on table console_identities is 'An organization within a session, and by which key or member; permissions are those that it has at each request.';
CREATE INDEX console_identities_of_key ON public.console_identities USING btree (api_key_id);
CREATE INDEX console_identities_of_organization ON public.console_identities USING btree (organization_id, created_at, session_id);

create table console_sessions (
  id uuid not null,
  token_digest bytea not null,
  csrf_key bytea not null,
  operator_digest bytea,
  user_agent text,
  remote_address text not null,
  created_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  ended_at timestamp with time zone,
  constraint console_sessions_pkey PRIMARY KEY (id),
  constraint console_sessions_token_digest_key UNIQUE (token_digest)
);
comment on table console_sessions is 'A browser that is signed in to the console. Only a digest of the token in its cookie is kept.';
comment on column console_sessions.operator_digest is 'digest of the operator''s token signed in with; another token of the settings ends it';
CREATE INDEX console_sessions_over ON public.console_sessions USING btree (LEAST(expires_at, ended_at));

create table correction_adjustments (
  id uuid not null,
  organization_id uuid not null,
  correction_id uuid not null,
  invoice_id uuid,
  fee_id uuid,
  charge_id uuid,
  charge_filter_id uuid,
  grouped_by jsonb not null default '{}'::jsonb,
  from_datetime timestamp with time zone,
  to_datetime timestamp with time zone,
  old_amount_cents bigint,
  new_amount_cents bigint,
  delta_amount_cents bigint,
  booked_as text,
  new_fee_id uuid,
  credit_note_id uuid,
  uncreditable_amount_cents bigint not null default 0,
  warning text,
  subscription_id uuid,
  kind text not null default 'usage'::text,
  invoice_display_name text,
  units numeric not null default 0,
  settled_amount_cents bigint not null default 0,
  billed_amount_cents bigint not null default 0,
  total_units numeric,
  late_events_left_out bigint not null default 0,
  created_at timestamp with time zone not null,
  left_amount_cents bigint not null default 0,
  given_back_amount_cents bigint not null default 0,
  credited_item jsonb,
  turn bigint not null default 0,
  constraint correction_adjustments_pkey PRIMARY KEY (id),
  constraint correction_adjustments_charge_filter_id_fkey FOREIGN KEY (charge_filter_id) REFERENCES charge_filters(id) DEFERRABLE,
  constraint correction_adjustments_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint correction_adjustments_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint correction_adjustments_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) DEFERRABLE,
  constraint correction_adjustments_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint correction_adjustments_new_fee_id_fkey FOREIGN KEY (new_fee_id) REFERENCES fees(id) ON DELETE SET NULL DEFERRABLE,
  constraint correction_adjustments_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint correction_adjustments_booked_as_check CHECK ((booked_as = ANY (ARRAY['fee'::text, 'invoice'::text, 'credit_note'::text, 'recorded'::text]))),
  constraint correction_adjustments_kind_check CHECK ((kind = ANY (ARRAY['usage'::text, 'true_up'::text, 'commitment'::text])))
);
comment on table correction_adjustments is 'What a correction means for issued invoices. Amounts are null where nothing was computed.';
comment on column correction_adjustments.left_amount_cents is 'What of the difference its policy leaves: above 0 it is not billed, below 0 not given back. A correction of the same events that undoes what was left has the opposite amount.';
comment on column correction_adjustments.given_back_amount_cents is 'What its credit note gives back of the difference; with what is billed and what was netted it is the settled amount.';
comment on column correction_adjustments.credited_item is 'The item of the invoice whose fee gives it back, where that was billed in place of its own; null: its own.';
comment on column correction_adjustments.turn is 'The first turn of the correction that it settled on the invoice; 0: a fee of a single event.';
CREATE INDEX correction_adjustments_credit_note ON public.correction_adjustments USING btree (organization_id, credit_note_id) WHERE (credit_note_id IS NOT NULL);
CREATE UNIQUE INDEX correction_adjustments_fee_key ON public.correction_adjustments USING btree (correction_id, fee_id, kind, COALESCE(subscription_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(charge_id, '00000000-0000-0000-0000-000000000000'::uuid), COALESCE(charge_filter_id, '00000000-0000-0000-0000-000000000000'::uuid), md5((grouped_by)::text), COALESCE(md5((credited_item)::text), ''::text), turn);
CREATE INDEX correction_adjustments_invoice ON public.correction_adjustments USING btree (organization_id, invoice_id);
CREATE INDEX correction_adjustments_new_fee ON public.correction_adjustments USING btree (organization_id, new_fee_id) WHERE (new_fee_id IS NOT NULL);
CREATE INDEX correction_adjustments_newest ON public.correction_adjustments USING btree (organization_id, correction_id, created_at DESC, id DESC);
CREATE INDEX correction_adjustments_standalone ON public.correction_adjustments USING btree (organization_id, fee_id) WHERE ((invoice_id IS NULL) AND (fee_id IS NOT NULL));
CREATE INDEX correction_adjustments_totals ON public.correction_adjustments USING btree (organization_id, subscription_id, charge_id) WHERE (total_units IS NOT NULL);
CREATE INDEX correction_adjustments_waiting ON public.correction_adjustments USING btree (organization_id, subscription_id) WHERE ((billed_amount_cents <> 0) AND (new_fee_id IS NULL));

create table correction_chains (
  organization_id uuid not null,
  correction_id uuid not null,
  subscription_id uuid not null,
  charge_id uuid not null,
  charge_filter_id uuid,
  grouped_by jsonb not null,
  from_datetime timestamp with time zone not null,
  to_datetime timestamp with time zone not null,
  since_record_id uuid not null,
  settled_at timestamp with time zone,
  constraint correction_chains_key UNIQUE NULLS NOT DISTINCT (correction_id, subscription_id, charge_id, charge_filter_id, grouped_by, from_datetime),
  constraint correction_chains_charge_filter_id_fkey FOREIGN KEY (charge_filter_id) REFERENCES charge_filters(id) DEFERRABLE,
  constraint correction_chains_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint correction_chains_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint correction_chains_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table correction_chains is 'In-advance records that a correction computes again. The fee of an event depends on the events billed before it, so the chain is computed from the corrected event on.';

create table correction_periods (
  organization_id uuid not null,
  correction_id uuid not null,
  invoice_id uuid not null,
  subscription_id uuid not null,
  charge_id uuid not null,
  charges_from_datetime timestamp with time zone not null,
  charges_to_datetime timestamp with time zone not null,
  settled_at timestamp with time zone,
  turn bigint not null generated by default as identity,
  prices jsonb,
  totals jsonb,
  constraint correction_periods_pkey PRIMARY KEY (correction_id, invoice_id, subscription_id, charge_id, turn),
  constraint correction_periods_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint correction_periods_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint correction_periods_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint correction_periods_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table correction_periods is 'Charges on issued invoices that a correction concerns; they are settled invoice by invoice.';
comment on column correction_periods.turn is 'Corrections settle an invoice in this order, which is that in which they changed usage.';
comment on column correction_periods.prices is 'What the charge cost before a later correction changed its usage. Null: what it costs now.';
comment on column correction_periods.totals is 'While the correction waits: the running totals at the end of the period, from which later periods go on. Null: it carries none.';
CREATE UNIQUE INDEX correction_periods_open ON public.correction_periods USING btree (correction_id, invoice_id, subscription_id, charge_id) WHERE ((settled_at IS NULL) AND (prices IS NULL));
CREATE INDEX correction_periods_totals ON public.correction_periods USING btree (organization_id, subscription_id, charge_id) WHERE ((settled_at IS NULL) AND (totals IS NOT NULL));
CREATE INDEX correction_periods_waiting ON public.correction_periods USING btree (organization_id, invoice_id, turn) WHERE (settled_at IS NULL);

create table correction_renewals (
  organization_id uuid not null,
  correction_id uuid not null,
  subscription_id uuid not null,
  charge_id uuid not null,
  billed_at timestamp with time zone not null,
  invoice_id uuid not null,
  settled_at timestamp with time zone,
  constraint correction_renewals_pkey PRIMARY KEY (correction_id, subscription_id, charge_id, billed_at),
  constraint correction_renewals_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint correction_renewals_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint correction_renewals_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint correction_renewals_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table correction_renewals is 'Recurring in-advance fees that a correction prices again: units carried into a period from an event before it.';

create table correction_waiting_fees (
  organization_id uuid not null,
  correction_id uuid not null,
  fee_id uuid not null,
  turn bigint not null generated by default as identity,
  subscription_id uuid not null,
  from_datetime timestamp with time zone not null,
  to_datetime timestamp with time zone not null,
  priced jsonb,
  settled_at timestamp with time zone,
  constraint correction_waiting_fees_pkey PRIMARY KEY (turn),
  constraint correction_waiting_fees_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint correction_waiting_fees_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) DEFERRABLE,
  constraint correction_waiting_fees_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table correction_waiting_fees is 'Fees of single events that a correction settles when their invoices are issued, in the order of their turns.';
comment on column correction_waiting_fees.priced is 'The filter, group, amount and units that the event has after the correction. Null: it counts no longer.';
CREATE INDEX correction_waiting_fees_correction ON public.correction_waiting_fees USING btree (organization_id, correction_id) WHERE (settled_at IS NULL);
CREATE INDEX correction_waiting_fees_fee ON public.correction_waiting_fees USING btree (organization_id, fee_id) WHERE (settled_at IS NULL);

create table coupon_billable_metrics (
  organization_id uuid not null,
  coupon_id uuid not null,
  billable_metric_id uuid not null,
  constraint coupon_billable_metrics_pkey PRIMARY KEY (organization_id, coupon_id, billable_metric_id),
  constraint coupon_billable_metrics_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE,
  constraint coupon_billable_metrics_coupon_id_fkey FOREIGN KEY (coupon_id) REFERENCES coupons(id) DEFERRABLE
);
comment on table coupon_billable_metrics is 'Metrics to which a coupon is limited.';

create table coupon_plans (
  organization_id uuid not null,
  coupon_id uuid not null,
  plan_id uuid not null,
  constraint coupon_plans_pkey PRIMARY KEY (organization_id, coupon_id, plan_id),
  constraint coupon_plans_coupon_id_fkey FOREIGN KEY (coupon_id) REFERENCES coupons(id) DEFERRABLE,
  constraint coupon_plans_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE
);
comment on table coupon_plans is 'Plans to which a coupon is limited.';

create table coupons (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  description text,
  status text not null default 'active'::text,
  coupon_type text not null,
  amount_cents bigint,
  amount_currency text,
  percentage_rate numeric(10,5),
  frequency text not null,
  frequency_duration integer,
  reusable boolean not null default true,
  expiration text not null,
  expiration_at timestamp with time zone,
  limited_plans boolean not null default false,
  limited_billable_metrics boolean not null default false,
  terminated_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint coupons_pkey PRIMARY KEY (id),
  constraint coupons_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint coupons_amount_cents_check CHECK ((amount_cents > 0)),
  constraint coupons_coupon_type_check CHECK ((coupon_type = ANY (ARRAY['fixed_amount'::text, 'percentage'::text]))),
  constraint coupons_expiration_check CHECK ((expiration = ANY (ARRAY['no_expiration'::text, 'time_limit'::text]))),
  constraint coupons_frequency_check CHECK ((frequency = ANY (ARRAY['once'::text, 'recurring'::text, 'forever'::text]))),
  constraint coupons_frequency_duration_check CHECK ((frequency_duration > 0)),
  constraint coupons_one_limitation CHECK ((NOT (limited_plans AND limited_billable_metrics))),
  constraint coupons_percentage_rate_check CHECK ((percentage_rate >= (0)::numeric)),
  constraint coupons_status_check CHECK ((status = ANY (ARRAY['active'::text, 'terminated'::text]))),
  constraint coupons_worth CHECK (
CASE coupon_type
    WHEN 'fixed_amount'::text THEN ((amount_cents IS NOT NULL) AND (amount_currency IS NOT NULL))
    ELSE (percentage_rate IS NOT NULL)
END)
);
comment on table coupons is 'Discounts that can be applied to customers.';
CREATE UNIQUE INDEX coupons_code_key ON public.coupons USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX coupons_expiring ON public.coupons USING btree (expiration_at) WHERE ((status = 'active'::text) AND (expiration = 'time_limit'::text) AND (deleted_at IS NULL));

create table credit_note_applied_taxes (
  id uuid not null,
  organization_id uuid not null,
  credit_note_id uuid not null,
  tax_id uuid,
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30,10) not null,
  tax_description text,
  base_amount_cents bigint not null,
  amount_cents bigint not null,
  amount_currency text not null,
  created_at timestamp with time zone not null,
  constraint credit_note_applied_taxes_pkey PRIMARY KEY (id),
  constraint credit_note_applied_taxes_key UNIQUE (organization_id, credit_note_id, tax_code),
  constraint credit_note_applied_taxes_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) ON DELETE CASCADE DEFERRABLE,
  constraint credit_note_applied_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table credit_note_applied_taxes is 'Taxes of a credit note.';

create table credit_note_error_details (
  id uuid not null,
  organization_id uuid not null,
  credit_note_id uuid not null,
  error_code text not null,
  details jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  constraint credit_note_error_details_pkey PRIMARY KEY (id),
  constraint credit_note_error_details_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) ON DELETE CASCADE DEFERRABLE,
  constraint credit_note_error_details_error_code_check CHECK ((error_code = 'tax_error'::text))
);
comment on table credit_note_error_details is 'Why a credit note could not be reported to a tax engine.';
CREATE INDEX credit_note_error_details_note ON public.credit_note_error_details USING btree (organization_id, credit_note_id);

create table credit_note_items (
  id uuid not null,
  organization_id uuid not null,
  credit_note_id uuid not null,
  fee_id uuid,
  fee_key text not null,
  fee_amount_cents bigint not null,
  amount_cents bigint not null,
  precise_amount_cents numeric(30,5) not null,
  amount_currency text not null,
  created_at timestamp with time zone not null,
  given_for_fee_ids uuid[],
  given_part_cents bigint,
  constraint credit_note_items_pkey PRIMARY KEY (id),
  constraint credit_note_items_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) ON DELETE CASCADE DEFERRABLE,
  constraint credit_note_items_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) ON DELETE SET NULL DEFERRABLE
);
comment on table credit_note_items is 'Fees that a credit note credits.';
comment on column credit_note_items.given_for_fee_ids is 'The fee whose usage fell, and those of progressive invoices by which it had taken over the credited one; empty where that is the one. Null where it is not known, as of notes by hand.';
comment on column credit_note_items.given_part_cents is 'How much of the usage is given back.';
CREATE INDEX credit_note_items_fee ON public.credit_note_items USING btree (fee_id);
CREATE INDEX credit_note_items_note ON public.credit_note_items USING btree (organization_id, credit_note_id);

create table credit_note_refunds (
  organization_id uuid not null,
  credit_note_id uuid not null,
  payment_id uuid not null,
  payment_provider_id uuid not null,
  provider_refund_id text,
  status text,
  error jsonb,
  sent_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  looked_at timestamp with time zone,
  constraint credit_note_refunds_pkey PRIMARY KEY (organization_id, credit_note_id),
  constraint credit_note_refunds_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) DEFERRABLE,
  constraint credit_note_refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) DEFERRABLE,
  constraint credit_note_refunds_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE
);
comment on table credit_note_refunds is 'Refunds of credit notes at payment providers, one per note: what is owed, sent and answered.';
comment on column credit_note_refunds.looked_at is 'When a sweep last sent it to its provider again, or asked about it.';
CREATE INDEX credit_note_refunds_begun ON public.credit_note_refunds USING btree (updated_at) WHERE ((provider_refund_id IS NOT NULL) AND (status = ANY (ARRAY['pending'::text, 'requires_action'::text])));
CREATE INDEX credit_note_refunds_open ON public.credit_note_refunds USING btree (updated_at) WHERE ((provider_refund_id IS NULL) AND (error IS NULL));
CREATE UNIQUE INDEX credit_note_refunds_provider_key ON public.credit_note_refunds USING btree (organization_id, payment_provider_id, provider_refund_id) WHERE (provider_refund_id IS NOT NULL);

create table credit_notes (
  id uuid not null,
  organization_id uuid not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  invoice_id uuid not null,
  status text not null,
  sequential_id integer not null,
  number text not null,
  currency text not null,
  reason text not null,
  description text,
  issuing_date date not null,
  credit_status text not null,
  refund_status text,
  total_amount_cents bigint not null,
  credit_amount_cents bigint not null,
  refund_amount_cents bigint not null,
  offset_amount_cents bigint not null,
  balance_amount_cents bigint not null,
  precise_total_amount_cents numeric(30,5) not null,
  sub_total_excluding_taxes_amount_cents bigint not null,
  coupons_adjustment_amount_cents bigint not null,
  precise_coupons_adjustment_amount_cents numeric(30,5) not null,
  taxes_amount_cents bigint not null,
  precise_taxes_amount_cents numeric(30,5) not null,
  taxes_rate numeric(30,5) not null,
  metadata jsonb,
  terminated_subscription_id uuid,
  refunded_at timestamp with time zone,
  voided_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint credit_notes_pkey PRIMARY KEY (id),
  constraint credit_notes_sequence_key UNIQUE (organization_id, invoice_id, sequential_id),
  constraint credit_notes_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint credit_notes_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint credit_notes_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint credit_notes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint credit_notes_terminated_subscription_id_fkey FOREIGN KEY (terminated_subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint credit_notes_balance CHECK (((balance_amount_cents >= 0) AND (balance_amount_cents <= credit_amount_cents))),
  constraint credit_notes_credit_amount_cents_check CHECK ((credit_amount_cents >= 0)),
  constraint credit_notes_credit_status_check CHECK ((credit_status = ANY (ARRAY['available'::text, 'consumed'::text, 'voided'::text]))),
  constraint credit_notes_offset_amount_cents_check CHECK ((offset_amount_cents >= 0)),
  constraint credit_notes_parts CHECK ((((credit_amount_cents + refund_amount_cents) + offset_amount_cents) = total_amount_cents)),
  constraint credit_notes_reason_check CHECK ((reason = ANY (ARRAY['duplicated_charge'::text, 'product_unsatisfactory'::text, 'order_change'::text, 'order_cancellation'::text, 'fraudulent_charge'::text, 'other'::text]))),
  constraint credit_notes_refund_amount_cents_check CHECK ((refund_amount_cents >= 0)),
  constraint credit_notes_refund_status_check CHECK ((refund_status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
  constraint credit_notes_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'finalized'::text, 'deleted'::text])))
);
comment on table credit_notes is 'Credit notes of invoices.';
CREATE INDEX credit_notes_customer ON public.credit_notes USING btree (organization_id, customer_id, created_at DESC, id DESC);
CREATE INDEX credit_notes_newest ON public.credit_notes USING btree (organization_id, created_at DESC, id DESC) WHERE (status = 'finalized'::text);
CREATE INDEX credit_notes_prefix ON public.credit_notes USING btree (organization_id, number text_pattern_ops);
CREATE INDEX credit_notes_spendable ON public.credit_notes USING btree (organization_id, customer_id, currency, created_at, id) WHERE ((status = 'finalized'::text) AND (credit_status = 'available'::text) AND (balance_amount_cents > 0));
CREATE UNIQUE INDEX credit_notes_termination_key ON public.credit_notes USING btree (organization_id, terminated_subscription_id) WHERE ((terminated_subscription_id IS NOT NULL) AND (status <> 'deleted'::text));
CREATE TRIGGER credit_notes_mark_changed AFTER UPDATE ON public.credit_notes FOR EACH ROW WHEN (((old.status IS DISTINCT FROM new.status) OR (old.refund_amount_cents IS DISTINCT FROM new.refund_amount_cents))) EXECUTE FUNCTION mark_invoice_of_row();
CREATE TRIGGER credit_notes_mark_new AFTER INSERT ON public.credit_notes FOR EACH ROW WHEN (((new.status = 'finalized'::text) AND (new.refund_amount_cents > 0))) EXECUTE FUNCTION mark_invoice_of_row();

create table credits (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  progressive_billing_invoice_id uuid,
  credit_note_id uuid,
  applied_coupon_id uuid,
  amount_cents bigint not null,
  amount_currency text not null,
  before_taxes boolean not null,
  created_at timestamp with time zone not null,
  constraint credits_pkey PRIMARY KEY (id),
  constraint credits_applied_coupon_key UNIQUE (organization_id, invoice_id, applied_coupon_id),
  constraint credits_progressive_key UNIQUE (organization_id, invoice_id, progressive_billing_invoice_id),
  constraint credits_applied_coupon_id_fkey FOREIGN KEY (applied_coupon_id) REFERENCES applied_coupons(id) DEFERRABLE,
  constraint credits_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) DEFERRABLE,
  constraint credits_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint credits_progressive_billing_invoice_id_fkey FOREIGN KEY (progressive_billing_invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint credits_amount_cents_check CHECK (((amount_cents > 0) OR ((amount_cents = 0) AND (applied_coupon_id IS NOT NULL))))
);
comment on table credits is 'What takes money off an invoice: coupons, credit notes, progressive invoices.';
CREATE INDEX credits_applied_coupon ON public.credits USING btree (organization_id, applied_coupon_id) WHERE (applied_coupon_id IS NOT NULL);
CREATE UNIQUE INDEX credits_credit_note_key ON public.credits USING btree (organization_id, invoice_id, credit_note_id) WHERE (credit_note_id IS NOT NULL);
CREATE INDEX credits_progressive ON public.credits USING btree (organization_id, progressive_billing_invoice_id) WHERE (progressive_billing_invoice_id IS NOT NULL);

create table customer_dunning_counters (
  organization_id uuid not null,
  customer_id uuid not null,
  currency text not null,
  attempts integer not null,
  constraint customer_dunning_counters_pkey PRIMARY KEY (organization_id, customer_id, currency),
  constraint customer_dunning_counters_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint customer_dunning_counters_attempts_check CHECK ((attempts > 0))
);
comment on table customer_dunning_counters is 'Attempts of a campaign at a customer, per currency.';

create table customer_invoice_sequences (
  organization_id uuid not null,
  customer_id uuid not null,
  billing_entity_id uuid not null,
  last bigint not null,
  constraint customer_invoice_sequences_pkey PRIMARY KEY (organization_id, customer_id, billing_entity_id),
  constraint customer_invoice_sequences_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint customer_invoice_sequences_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE
);
comment on table customer_invoice_sequences is 'Last invoice number given to a customer by a billing entity.';

create table customer_metadata (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  key text not null,
  value text not null,
  display_in_invoice boolean not null default false,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint customer_metadata_pkey PRIMARY KEY (id),
  constraint customer_metadata_key_key UNIQUE (organization_id, customer_id, key),
  constraint customer_metadata_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE DEFERRABLE
);
comment on table customer_metadata is 'Free texts of a customer, some of which are printed on invoices.';

create table customer_numbers (
  organization_id uuid not null,
  number bigint not null,
  constraint customer_numbers_pkey PRIMARY KEY (organization_id, number),
  constraint customer_numbers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) ON DELETE CASCADE DEFERRABLE
);
comment on table customer_numbers is 'Free numbers of customers. A new customer takes the lowest one that no other transaction is taking, so that customers can be made side by side; a rollback gives it back.';

create table customer_taxes (
  organization_id uuid not null,
  customer_id uuid not null,
  tax_id uuid not null,
  constraint customer_taxes_pkey PRIMARY KEY (organization_id, customer_id, tax_id),
  constraint customer_taxes_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint customer_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table customer_taxes is 'Taxes of a customer, in place of those of its billing entity.';

create table customers (
  id uuid not null,
  organization_id uuid not null,
  billing_entity_id uuid not null,
  external_id text not null,
  sequential_id bigint not null,
  slug text not null,
  account_type text not null default 'customer'::text,
  customer_type text,
  name text,
  firstname text,
  lastname text,
  legal_name text,
  legal_number text,
  tax_identification_number text,
  email text,
  phone text,
  url text,
  logo_url text,
  address_line1 text,
  address_line2 text,
  city text,
  state text,
  zipcode text,
  country text,
  shipping_address_line1 text,
  shipping_address_line2 text,
  shipping_city text,
  shipping_state text,
  shipping_zipcode text,
  shipping_country text,
  currency text,
  timezone text,
  net_payment_term integer,
  finalize_zero_amount_invoice text not null default 'inherit'::text,
  skip_invoice_custom_sections boolean not null default false,
  external_salesforce_id text,
  invoice_grace_period integer,
  subscription_invoice_issuing_date_anchor text,
  subscription_invoice_issuing_date_adjustment text,
  document_locale text,
  payment_provider text,
  payment_provider_code text,
  payment_provider_id uuid,
  provider_customer_id text,
  provider_payment_methods text[] not null default '{card}'::text[],
  wallets_to_refresh boolean not null default false,
  dunning_campaign_id uuid,
  exclude_from_dunning boolean not null default false,
  last_dunning_attempt_at timestamp with time zone,
  payment_receipts_count bigint not null default 0,
  erased_at timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  methods_owed_at timestamp with time zone,
  e_invoicing jsonb,
  e_document_profile text,
  looked_at timestamp with time zone,
  methods_keep_default boolean not null default false,
  constraint customers_pkey PRIMARY KEY (id),
  constraint customers_sequential_id_key UNIQUE (organization_id, sequential_id),
  constraint customers_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint customers_dunning_campaign_id_fkey FOREIGN KEY (dunning_campaign_id) REFERENCES dunning_campaigns(id) DEFERRABLE,
  constraint customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint customers_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint customers_account_type_check CHECK ((account_type = ANY (ARRAY['customer'::text, 'partner'::text]))),
  constraint customers_customer_type_check CHECK ((customer_type = ANY (ARRAY['company'::text, 'individual'::text]))),
  constraint customers_e_document_profile_check CHECK ((e_document_profile = ANY (ARRAY['en16931_ubl'::text, 'en16931_cii'::text, 'peppol_bis3'::text, 'xrechnung_ubl'::text, 'xrechnung_cii'::text, 'facturx'::text]))),
  constraint customers_finalize_zero_amount_invoice_check CHECK ((finalize_zero_amount_invoice = ANY (ARRAY['inherit'::text, 'skip'::text, 'finalize'::text]))),
  constraint customers_invoice_grace_period_check CHECK ((invoice_grace_period >= 0)),
  constraint customers_net_payment_term_check CHECK ((net_payment_term >= 0)),
  constraint customers_subscription_invoice_issuing_date_adjustment_check CHECK ((subscription_invoice_issuing_date_adjustment = ANY (ARRAY['align_with_finalization_date'::text, 'keep_anchor'::text]))),
  constraint customers_subscription_invoice_issuing_date_anchor_check CHECK ((subscription_invoice_issuing_date_anchor = ANY (ARRAY['next_period_start'::text, 'current_period_end'::text])))
);
comment on table customers is 'Customers of an organization, known to it by external_id.';
comment on column customers.methods_owed_at is 'Since when the payment methods that the customer has at its provider have to be read. Null: they are known.';
comment on column customers.looked_at is 'When a sweep last owed a call about the customer to its provider again.';
comment on column customers.methods_keep_default is 'Whether the methods that are to be read leave the default one, because the customer has just stored it.';
CREATE UNIQUE INDEX customers_external_id_key ON public.customers USING btree (organization_id, external_id) WHERE (deleted_at IS NULL);
CREATE INDEX customers_linked ON public.customers USING btree (organization_id, payment_provider_id, id) WHERE ((provider_customer_id IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX customers_methods_to_look_at ON public.customers USING btree (organization_id, looked_at NULLS FIRST) WHERE (methods_owed_at IS NOT NULL);
CREATE INDEX customers_newest ON public.customers USING btree (organization_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX customers_prefix ON public.customers USING btree (organization_id, external_id text_pattern_ops) WHERE (deleted_at IS NULL);
CREATE INDEX customers_search ON public.customers USING gin (organization_id, lower(((((((((((COALESCE(name, ''::text) || chr(10)) || COALESCE(firstname, ''::text)) || chr(10)) || COALESCE(lastname, ''::text)) || chr(10)) || COALESCE(legal_name, ''::text)) || chr(10)) || external_id) || chr(10)) || COALESCE(email, ''::text))) gin_trgm_ops) WHERE (deleted_at IS NULL);
CREATE INDEX customers_to_be_made ON public.customers USING btree (organization_id, looked_at NULLS FIRST) WHERE ((payment_provider_id IS NOT NULL) AND (provider_customer_id IS NULL) AND (deleted_at IS NULL));
CREATE TRIGGER customers_tell_access AFTER UPDATE OF timezone, billing_entity_id, deleted_at ON public.customers FOR EACH ROW EXECUTE FUNCTION tell_access_of_customer();

create table daily_usage_looks (
  organization_id uuid not null,
  subscription_id uuid not null,
  looked_at timestamp with time zone not null,
  next_day_at timestamp with time zone not null,
  next_look_at timestamp with time zone not null,
  constraint daily_usage_looks_pkey PRIMARY KEY (organization_id, subscription_id),
  constraint daily_usage_looks_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table daily_usage_looks is 'When the daily usage of a subscription is taken next: after the next local day if an event arrived, else when its next period has begun.';

create table daily_usages (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  subscription_id uuid not null,
  external_subscription_id text not null,
  usage_date date not null,
  from_datetime timestamp with time zone not null,
  to_datetime timestamp with time zone not null,
  amount_currency text not null,
  amount_cents bigint not null,
  usage jsonb not null,
  usage_diff jsonb not null,
  created_at timestamp with time zone not null,
  constraint daily_usages_pkey PRIMARY KEY (id),
  constraint daily_usages_day_key UNIQUE (organization_id, subscription_id, usage_date),
  constraint daily_usages_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint daily_usages_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint daily_usages_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table daily_usages is 'Usage of a period as it stood after a local day, and what that day added.';
CREATE INDEX daily_usages_of_customer ON public.daily_usages USING btree (organization_id, customer_id, usage_date DESC, id DESC);
CREATE INDEX daily_usages_organization ON public.daily_usages USING btree (organization_id, usage_date);
CREATE TRIGGER daily_usages_mark_changed AFTER UPDATE ON public.daily_usages FOR EACH ROW EXECUTE FUNCTION mark_source('daily_usage');
CREATE TRIGGER daily_usages_mark_new AFTER INSERT ON public.daily_usages FOR EACH ROW EXECUTE FUNCTION mark_source('daily_usage');

create table deployment_keys (
  id uuid not null,
  purpose text not null,
  public_key text,
  private_key text not null,
  created_at timestamp with time zone not null,
  retired_at timestamp with time zone,
  constraint deployment_keys_pkey PRIMARY KEY (id)
);
comment on table deployment_keys is 'Keys of the deployment: the RSA pair that signs webhooks and the secret that signs links. Private parts are sealed.';
CREATE UNIQUE INDEX deployment_keys_current ON public.deployment_keys USING btree (purpose) WHERE (retired_at IS NULL);

create table documents (
  id uuid not null,
  organization_id uuid not null,
  kind text not null,
  subject_id uuid not null,
  file_name text not null,
  content_type text not null default 'application/pdf'::text,
  content bytea,
  missing_characters text not null default ''::text,
  requested_at timestamp with time zone not null,
  enqueued_at timestamp with time zone not null,
  rendered_at timestamp with time zone,
  given_up_at timestamp with time zone,
  is_asked boolean not null default true,
  constraint documents_pkey PRIMARY KEY (id),
  constraint documents_subject_key UNIQUE (organization_id, kind, subject_id),
  constraint documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint documents_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text, 'payment_receipt'::text, 'order_form'::text, 'invoice_xml'::text, 'credit_note_xml'::text, 'mailed_draft'::text])))
);
comment on table documents is 'Rendered documents (PDF and XML), one per kind and subject, kept as they were first handed out. No content yet: being made. The subject of a mailed_draft is the mail that it was drawn for.';
comment on column documents.given_up_at is 'When every try to draw it had failed; asking for it again tries again.';
comment on column documents.is_asked is 'Whether somebody waits for it or mails it; else it was begun because its invoice or note became final.';
CREATE INDEX documents_waiting ON public.documents USING btree (is_asked, enqueued_at) WHERE ((content IS NULL) AND (given_up_at IS NULL));

create table dunning_campaign_thresholds (
  id uuid not null,
  organization_id uuid not null,
  dunning_campaign_id uuid not null,
  amount_cents bigint not null,
  currency text not null,
  constraint dunning_campaign_thresholds_pkey PRIMARY KEY (id),
  constraint dunning_campaign_thresholds_currency_key UNIQUE (organization_id, dunning_campaign_id, currency),
  constraint dunning_campaign_thresholds_dunning_campaign_id_fkey FOREIGN KEY (dunning_campaign_id) REFERENCES dunning_campaigns(id) DEFERRABLE,
  constraint dunning_campaign_thresholds_amount_cents_check CHECK ((amount_cents >= 0))
);
comment on table dunning_campaign_thresholds is 'Overdue amounts per currency from which a campaign acts.';

create table dunning_campaigns (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  description text,
  days_between_attempts integer not null,
  max_attempts integer not null,
  bcc_emails text[] not null default '{}'::text[],
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint dunning_campaigns_pkey PRIMARY KEY (id),
  constraint dunning_campaigns_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint dunning_campaigns_days_between_attempts_check CHECK ((days_between_attempts > 0)),
  constraint dunning_campaigns_max_attempts_check CHECK ((max_attempts > 0))
);
comment on table dunning_campaigns is 'When and how often overdue invoices are collected again.';
CREATE UNIQUE INDEX dunning_campaigns_code_key ON public.dunning_campaigns USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table e_document_transmissions (
  id uuid not null,
  organization_id uuid not null,
  e_document_id uuid not null,
  integration_id uuid not null,
  provider_id text,
  status text not null default 'queued'::text,
  attempts integer not null default 0,
  error jsonb,
  ignored_reports integer not null default 0,
  queued_at timestamp with time zone not null,
  next_at timestamp with time zone,
  looked_at timestamp with time zone,
  sent_at timestamp with time zone,
  delivered_at timestamp with time zone,
  answered_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  heard text[] not null default '{}'::text[],
  constraint e_document_transmissions_pkey PRIMARY KEY (id),
  constraint e_document_transmissions_e_document_id_fkey FOREIGN KEY (e_document_id) REFERENCES e_documents(id) DEFERRABLE,
  constraint e_document_transmissions_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) DEFERRABLE,
  constraint e_document_transmissions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint e_document_transmissions_sent_check CHECK (((status = ANY (ARRAY['queued'::text, 'failed'::text])) OR (provider_id IS NOT NULL))),
  constraint e_document_transmissions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'sent'::text, 'delivered'::text, 'accepted'::text, 'rejected'::text, 'paid_reported'::text, 'failed'::text])))
);
comment on table e_document_transmissions is 'What was sent to an access point and what became of it; one a document that has neither failed nor been rejected.';
comment on column e_document_transmissions.heard is 'The ids of the latest reports that the access point made by itself, newest last.';
CREATE INDEX e_document_transmissions_document_idx ON public.e_document_transmissions USING btree (organization_id, e_document_id, id);
CREATE INDEX e_document_transmissions_due_idx ON public.e_document_transmissions USING btree (organization_id, next_at) WHERE (next_at IS NOT NULL);
CREATE UNIQUE INDEX e_document_transmissions_open_key ON public.e_document_transmissions USING btree (organization_id, e_document_id) WHERE (status <> ALL (ARRAY['rejected'::text, 'failed'::text]));
CREATE UNIQUE INDEX e_document_transmissions_provider_key ON public.e_document_transmissions USING btree (organization_id, integration_id, provider_id) WHERE (provider_id IS NOT NULL);

create table e_documents (
  id uuid not null,
  organization_id uuid not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  subject_type text not null,
  subject_id uuid not null,
  kind text not null default 'document'::text,
  number text not null,
  issued_on date not null,
  profile text not null,
  is_chosen boolean not null,
  status text not null default 'pending'::text,
  file_name text not null,
  content_type text not null,
  content bytea,
  sha256 text,
  size integer,
  engine_version integer,
  problems jsonb not null default '[]'::jsonb,
  retain_until date not null,
  enqueued_at timestamp with time zone not null,
  ready_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  noted jsonb,
  is_by_default boolean not null default false,
  constraint e_documents_pkey PRIMARY KEY (id),
  constraint e_documents_subject_key UNIQUE (organization_id, subject_type, subject_id, kind, profile),
  constraint e_documents_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint e_documents_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint e_documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint e_documents_kind_check CHECK ((kind = ANY (ARRAY['document'::text, 'cancellation'::text]))),
  constraint e_documents_number_is_final CHECK ((number !~~ '%-DRAFT'::text)) NOT VALID,
  constraint e_documents_profile_check CHECK ((profile = ANY (ARRAY['en16931_ubl'::text, 'en16931_cii'::text, 'peppol_bis3'::text, 'xrechnung_ubl'::text, 'xrechnung_cii'::text, 'facturx'::text]))),
  constraint e_documents_ready_check CHECK (((status = 'ready'::text) = (content IS NOT NULL))),
  constraint e_documents_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ready'::text, 'failed'::text]))),
  constraint e_documents_subject_type_check CHECK ((subject_type = ANY (ARRAY['Invoice'::text, 'CreditNote'::text])))
);
comment on table e_documents is 'Electronic documents of invoices and credit notes, one per subject, kind and profile. Content is written once.';
comment on column e_documents.noted is 'Of a cancellation: what notes had given back of the invoice when it was voided, and which notes these were.';
comment on column e_documents.is_by_default is 'download_xml made it and nobody chose or named its profile: what its rules find only fills problems.';
CREATE INDEX e_documents_failed ON public.e_documents USING btree (organization_id) WHERE (status = 'failed'::text);
CREATE INDEX e_documents_issued ON public.e_documents USING btree (organization_id, issued_on, id) WHERE (status = 'ready'::text);
CREATE INDEX e_documents_listed ON public.e_documents USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX e_documents_of_day ON public.e_documents USING btree (organization_id, billing_entity_id, ready_at) WHERE (status = 'ready'::text);
CREATE INDEX e_documents_pending ON public.e_documents USING btree (enqueued_at) WHERE (status = 'pending'::text);
CREATE TRIGGER e_documents_frozen BEFORE DELETE OR UPDATE ON public.e_documents FOR EACH ROW EXECUTE FUNCTION refuse_change_of_e_document();
CREATE TRIGGER e_documents_kept BEFORE TRUNCATE ON public.e_documents FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncation();

create table entitlement_removals (
  organization_id uuid not null,
  subscription_id uuid not null,
  feature_id uuid not null,
  privilege_id uuid,
  created_at timestamp with time zone not null,
  constraint entitlement_removals_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) DEFERRABLE,
  constraint entitlement_removals_privilege_id_fkey FOREIGN KEY (privilege_id) REFERENCES privileges(id) ON DELETE CASCADE DEFERRABLE,
  constraint entitlement_removals_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table entitlement_removals is 'What a plan grants and a subscription does not have: a whole feature, or one privilege of it.';
CREATE UNIQUE INDEX entitlement_removals_feature_key ON public.entitlement_removals USING btree (organization_id, subscription_id, feature_id) WHERE (privilege_id IS NULL);
CREATE INDEX entitlement_removals_privilege ON public.entitlement_removals USING btree (privilege_id) WHERE (privilege_id IS NOT NULL);
CREATE UNIQUE INDEX entitlement_removals_privilege_key ON public.entitlement_removals USING btree (organization_id, subscription_id, privilege_id) WHERE (privilege_id IS NOT NULL);
CREATE TRIGGER entitlement_removals_tell_access AFTER INSERT OR DELETE OR UPDATE ON public.entitlement_removals FOR EACH ROW EXECUTE FUNCTION tell_access_of_entitlement();

create table entitlement_values (
  organization_id uuid not null,
  entitlement_id uuid not null,
  privilege_id uuid not null,
  value text not null,
  constraint entitlement_values_pkey PRIMARY KEY (organization_id, entitlement_id, privilege_id),
  constraint entitlement_values_entitlement_id_fkey FOREIGN KEY (entitlement_id) REFERENCES entitlements(id) ON DELETE CASCADE DEFERRABLE,
  constraint entitlement_values_privilege_id_fkey FOREIGN KEY (privilege_id) REFERENCES privileges(id) ON DELETE CASCADE DEFERRABLE
);
comment on table entitlement_values is 'Values of the privileges of an entitlement.';
CREATE INDEX entitlement_values_entitlement ON public.entitlement_values USING btree (entitlement_id);
CREATE INDEX entitlement_values_privilege ON public.entitlement_values USING btree (privilege_id);
CREATE TRIGGER entitlement_values_tell_access AFTER INSERT OR DELETE OR UPDATE ON public.entitlement_values FOR EACH ROW EXECUTE FUNCTION tell_access_of_entitlement_value();

create table entitlements (
  id uuid not null,
  organization_id uuid not null,
  feature_id uuid not null,
  plan_id uuid,
  subscription_id uuid,
  created_at timestamp with time zone not null,
  constraint entitlements_pkey PRIMARY KEY (id),
  constraint entitlements_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) DEFERRABLE,
  constraint entitlements_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint entitlements_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint entitlements_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint entitlements_one_holder CHECK (((plan_id IS NULL) <> (subscription_id IS NULL)))
);
comment on table entitlements is 'Features granted by a plan, or by a single subscription beside its plan.';
CREATE INDEX entitlements_feature ON public.entitlements USING btree (organization_id, feature_id);
CREATE UNIQUE INDEX entitlements_plan_key ON public.entitlements USING btree (organization_id, plan_id, feature_id) WHERE (plan_id IS NOT NULL);
CREATE UNIQUE INDEX entitlements_subscription_key ON public.entitlements USING btree (organization_id, subscription_id, feature_id) WHERE (subscription_id IS NOT NULL);
CREATE TRIGGER entitlements_tell_access AFTER INSERT OR DELETE OR UPDATE ON public.entitlements FOR EACH ROW EXECUTE FUNCTION tell_access_of_entitlement();

create table event_archives (
  id uuid not null,
  organization_id uuid not null,
  month date not null,
  path text not null,
  events_count bigint not null,
  bytes bigint not null,
  sha256 text not null,
  events_sum text not null,
  created_at timestamp with time zone not null,
  removed_at timestamp with time zone,
  constraint event_archives_pkey PRIMARY KEY (id)
);
comment on table event_archives is 'Files of the archive of events that were read back and compared: their events may be removed.';
comment on column event_archives.path is 'below EVENTS_ARCHIVE_URL';
comment on column event_archives.events_sum is 'sum of the SHA-256 of each event, modulo 2^256: src/areas/usage/event-retention/archived-event.ts';
comment on column event_archives.removed_at is 'when the last of its events was removed. Null: a removal was interrupted, and goes on';
CREATE INDEX event_archives_of_month ON public.event_archives USING btree (organization_id, month);
CREATE INDEX event_archives_unfinished ON public.event_archives USING btree (id) WHERE (removed_at IS NULL);

create table event_batches (
  id uuid not null,
  organization_ids uuid[] not null,
  event_ids uuid[] not null,
  created_at timestamp with time zone not null,
  enqueued_at timestamp with time zone not null,
  constraint event_batches_pkey PRIMARY KEY (id)
);
comment on table event_batches is 'Stored batches whose asynchronous steps are not done yet; a sweep finds those whose job was lost.';
CREATE INDEX event_batches_enqueued ON public.event_batches USING btree (enqueued_at);

create table event_checks (
  organization_id uuid not null,
  checked_until timestamp with time zone not null,
  first_open_event_id uuid,
  constraint event_checks_pkey PRIMARY KEY (organization_id)
);
comment on table event_checks is 'The instant up to which the hourly check has looked at an organization''s events.';
comment on column event_checks.first_open_event_id is 'In a sandbox: no event with a smaller id waits for the check. Null: not known, or the organization is no sandbox.';

create table event_correction_events (
  organization_id uuid not null,
  correction_id uuid not null,
  event_id uuid not null,
  constraint event_correction_events_pkey PRIMARY KEY (correction_id, event_id),
  constraint event_correction_events_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE
);
comment on table event_correction_events is 'Events of a range that are still to be corrected: those found when the correction was asked for, and no others.';

create table event_corrections (
  id uuid not null,
  organization_id uuid not null,
  kind text not null,
  status text not null,
  policy text not null,
  credit_note_part text not null,
  reason text not null,
  dry_run boolean not null,
  external_subscription_id text not null,
  transaction_id text,
  input jsonb not null,
  api_key_id uuid,
  total bigint not null,
  done bigint not null default 0,
  draft_invoices_count integer not null default 0,
  invoices_count integer not null default 0,
  error jsonb,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint event_corrections_pkey PRIMARY KEY (id),
  constraint event_corrections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint event_corrections_credit_note_part_check CHECK ((credit_note_part = ANY (ARRAY['credit'::text, 'refund'::text, 'offset'::text]))),
  constraint event_corrections_kind_check CHECK ((kind = ANY (ARRAY['amend'::text, 'retract'::text, 'retract_range'::text, 'late_events'::text, 'price_healing'::text, 'price_rerating'::text]))) NOT VALID,
  constraint event_corrections_policy_check CHECK ((policy = ANY (ARRAY['next_invoice'::text, 'debit_invoice'::text, 'credit_note'::text, 'ignore'::text]))),
  constraint event_corrections_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'applied'::text, 'settled'::text, 'failed'::text, 'previewed'::text])))
);
comment on table event_corrections is 'Corrections of events with their reason, policy and progress.';
CREATE INDEX event_corrections_newest ON public.event_corrections USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX event_corrections_subscription ON public.event_corrections USING btree (organization_id, external_subscription_id);
CREATE INDEX event_corrections_unsettled ON public.event_corrections USING btree (organization_id, external_subscription_id) WHERE (status = ANY (ARRAY['pending'::text, 'applied'::text]));

create table event_horizons (
  organization_id uuid not null,
  external_subscription_id text not null,
  closed_before timestamp with time zone not null,
  closed_at timestamp with time zone not null,
  kept_codes text[] not null,
  removed_before timestamp with time zone,
  constraint event_horizons_pkey PRIMARY KEY (organization_id, external_subscription_id)
);
comment on table event_horizons is 'Before when the events of a subscription are closed: they are corrected and settled no more, and may be removed.';
comment on column event_horizons.kept_codes is 'codes that are not closed, because later windows carry their units over';
comment on column event_horizons.removed_before is 'up to where its events were looked for and removed';
CREATE INDEX event_horizons_due ON public.event_horizons USING btree (organization_id, external_subscription_id) WHERE (removed_before IS DISTINCT FROM closed_before);

create table event_key_moves (
  prepared_at timestamp with time zone not null,
  finished_at timestamp with time zone
);
comment on table event_key_moves is 'Since when events can be stored without their former key, and when it was dropped. One row.';

create table event_keys (
  organization_id uuid not null,
  transaction_hash uuid not null,
  subscription_hash uuid not null,
  digest uuid not null,
  event_timestamp timestamp with time zone not null,
  event_id uuid not null,
  constraint event_keys_pkey PRIMARY KEY (organization_id, transaction_hash, subscription_hash)
) partition by HASH (organization_id);
comment on table event_keys is 'Which transaction ids of a subscription are taken, by which event and payload; they outlive the events.';
comment on column event_keys.digest is 'the digest of the event, as in events.digest';

create table event_keys_0 partition of event_keys FOR VALUES WITH (modulus 16, remainder 0);

create table event_keys_1 partition of event_keys FOR VALUES WITH (modulus 16, remainder 1);

create table event_keys_10 partition of event_keys FOR VALUES WITH (modulus 16, remainder 10);

create table event_keys_11 partition of event_keys FOR VALUES WITH (modulus 16, remainder 11);

create table event_keys_12 partition of event_keys FOR VALUES WITH (modulus 16, remainder 12);

create table event_keys_13 partition of event_keys FOR VALUES WITH (modulus 16, remainder 13);

create table event_keys_14 partition of event_keys FOR VALUES WITH (modulus 16, remainder 14);

create table event_keys_15 partition of event_keys FOR VALUES WITH (modulus 16, remainder 15);

create table event_keys_2 partition of event_keys FOR VALUES WITH (modulus 16, remainder 2);

create table event_keys_3 partition of event_keys FOR VALUES WITH (modulus 16, remainder 3);

create table event_keys_4 partition of event_keys FOR VALUES WITH (modulus 16, remainder 4);

create table event_keys_5 partition of event_keys FOR VALUES WITH (modulus 16, remainder 5);

create table event_keys_6 partition of event_keys FOR VALUES WITH (modulus 16, remainder 6);

create table event_keys_7 partition of event_keys FOR VALUES WITH (modulus 16, remainder 7);

create table event_keys_8 partition of event_keys FOR VALUES WITH (modulus 16, remainder 8);

create table event_keys_9 partition of event_keys FOR VALUES WITH (modulus 16, remainder 9);

create table event_versions (
  organization_id uuid not null,
  event_id uuid not null,
  version integer not null,
  code text not null,
  "timestamp" timestamp with time zone not null,
  properties jsonb not null,
  precise_total_amount_cents numeric(40,15),
  correction_id uuid,
  recorded_at timestamp with time zone not null,
  constraint event_versions_pkey PRIMARY KEY (event_id, version)
);
comment on table event_versions is 'Earlier versions of corrected events.';
CREATE INDEX event_versions_correction ON public.event_versions USING btree (organization_id, correction_id);

create table event_volume_hours (
  organization_id uuid not null,
  hour timestamp with time zone not null,
  code text not null,
  stored bigint not null,
  unmatched bigint not null,
  replayed bigint not null,
  rejected bigint not null,
  constraint event_volume_hours_pkey PRIMARY KEY (organization_id, hour, code)
);
comment on table event_volume_hours is 'The sums of event_volumes by hour, of hours that are over.';
CREATE INDEX event_volume_hours_hour ON public.event_volume_hours USING btree (hour);

create table event_volumes (
  organization_id uuid not null,
  minute timestamp with time zone not null,
  code text not null,
  lane smallint not null,
  stored bigint not null,
  unmatched bigint not null,
  replayed bigint not null,
  rejected bigint not null,
  constraint event_volumes_pkey PRIMARY KEY (organization_id, minute, code, lane)
);
comment on table event_volumes is 'Events by the minute of their reception and by code, for two days.';
comment on column event_volumes.code is 'empty for events without a live metric, and for what is not stored';
comment on column event_volumes.lane is '0 to 7: processes that write at the same time do not wait for one row';
comment on column event_volumes.stored is 'each event once, those that nothing bills included';
CREATE INDEX event_volumes_minute ON public.event_volumes USING btree (minute);

create table events (
  id uuid not null,
  organization_id uuid not null,
  external_subscription_id text not null,
  transaction_id text not null,
  code text not null,
  "timestamp" timestamp with time zone not null,
  properties jsonb not null,
  precise_total_amount_cents numeric(40,15),
  digest bytea not null,
  user_agent text,
  remote_address text,
  version integer not null default 1,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint events_pkey PRIMARY KEY (id)
) with (autovacuum_analyze_scale_factor=0.01);
comment on table events is 'Usage events as received; event_keys has each transaction_id once per subscription.';
CREATE INDEX events_in_arrival ON public.events USING btree (organization_id, id) WHERE (num_nulls(id) <> 1);
CREATE INDEX events_newest ON public.events USING btree (organization_id, "timestamp" DESC, transaction_id) WHERE (num_nulls(deleted_at) <> 0);
CREATE INDEX events_newest_of_code ON public.events USING btree (organization_id, code, "timestamp" DESC, transaction_id) WHERE (num_nonnulls(deleted_at) <> 1);
CREATE INDEX events_of_subscription ON public.events USING btree (organization_id, external_subscription_id, code, "timestamp") WHERE (deleted_at IS NULL);
CREATE INDEX events_retracted ON public.events USING btree (organization_id, external_subscription_id, code, "timestamp") WHERE (deleted_at IS NOT NULL);
CREATE TRIGGER events_tell_access AFTER UPDATE ON public.events FOR EACH ROW EXECUTE FUNCTION tell_access_of_changed_events();

create table feature_usage_limits (
  organization_id uuid not null,
  feature_id uuid not null,
  place integer not null,
  privilege_id uuid not null,
  billable_metric_id uuid not null,
  period text not null,
  constraint feature_usage_limits_pkey PRIMARY KEY (organization_id, feature_id, place),
  constraint feature_usage_limits_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE,
  constraint feature_usage_limits_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) DEFERRABLE,
  constraint feature_usage_limits_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint feature_usage_limits_privilege_id_fkey FOREIGN KEY (privilege_id) REFERENCES privileges(id) ON DELETE CASCADE DEFERRABLE,
  constraint feature_usage_limits_period_check CHECK ((period = ANY (ARRAY['billing_period'::text, 'day'::text, 'month'::text, 'lifetime'::text])))
);
comment on table feature_usage_limits is 'Which metric counts against which privilege of a feature, and over which period.';
CREATE INDEX feature_usage_limits_privilege ON public.feature_usage_limits USING btree (privilege_id);
CREATE TRIGGER feature_usage_limits_tell_access AFTER INSERT OR DELETE OR UPDATE ON public.feature_usage_limits FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table features (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text,
  description text,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint features_pkey PRIMARY KEY (id),
  constraint features_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table features is 'Features that plans and subscriptions can grant.';
CREATE UNIQUE INDEX features_code_key ON public.features USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX features_newest ON public.features USING btree (organization_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE TRIGGER features_tell_access AFTER DELETE OR UPDATE ON public.features FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table fee_applied_taxes (
  id uuid not null,
  organization_id uuid not null,
  fee_id uuid not null,
  tax_id uuid,
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30,10) not null,
  tax_description text,
  amount_cents bigint not null,
  amount_currency text not null,
  precise_amount_cents numeric(40,15) not null,
  created_at timestamp with time zone not null,
  base_rate numeric(30,4),
  constraint fee_applied_taxes_pkey PRIMARY KEY (id),
  constraint fee_applied_taxes_key UNIQUE (organization_id, fee_id, tax_code),
  constraint fee_applied_taxes_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) ON DELETE CASCADE DEFERRABLE,
  constraint fee_applied_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table fee_applied_taxes is 'Taxes of a fee with their rate at that time.';
comment on column fee_applied_taxes.base_rate is 'The share of the fee that a tax engine taxed; null: all of it.';

create table fee_inputs (
  fee_id uuid not null,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  events_watermark jsonb,
  created_at timestamp with time zone not null,
  shared_with uuid,
  shared_inputs jsonb,
  constraint fee_inputs_pkey PRIMARY KEY (fee_id),
  constraint fee_inputs_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) ON DELETE CASCADE DEFERRABLE,
  constraint fee_inputs_shared_with_fkey FOREIGN KEY (shared_with) REFERENCES fee_inputs(fee_id) DEFERRABLE,
  constraint fee_inputs_shared_inputs_check CHECK (((shared_inputs IS NOT NULL) = ((shared_with IS NOT NULL) AND (shared_with = fee_id))))
);
comment on table fee_inputs is 'What a fee was computed from, so that it can be verified.';
comment on column fee_inputs.shared_with is 'The fee that keeps what this one has in common with others, itself included. Null if inputs are whole.';
comment on column fee_inputs.shared_inputs is 'Fields by section that every fee with this one as shared_with has besides its own inputs.';
CREATE INDEX fee_inputs_shared_with ON public.fee_inputs USING btree (shared_with) WHERE (shared_with IS NOT NULL);

create table feed_heads (
  organization_id uuid not null,
  first bigint not null default 1,
  last bigint not null default 0,
  constraint feed_heads_pkey PRIMARY KEY (organization_id)
);
comment on table feed_heads is 'First and last sequence number of an organization''s event feed.';

create table fees (
  id uuid not null,
  organization_id uuid not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  invoice_id uuid,
  subscription_id uuid,
  charge_id uuid,
  charge_filter_id uuid,
  fixed_charge_id uuid,
  original_fee_id uuid,
  true_up_parent_fee_id uuid,
  correction_id uuid,
  fee_type text not null,
  item_id uuid not null,
  item_code text not null,
  item_name text not null,
  item_description text,
  invoice_display_name text,
  amount_cents bigint not null,
  amount_currency text not null,
  precise_amount_cents numeric(40,15) not null,
  unit_amount_cents bigint not null,
  precise_unit_amount numeric(30,15) not null,
  precise_coupons_amount_cents numeric(30,5) not null default 0,
  precise_credit_notes_amount_cents numeric(30,5) not null default 0,
  taxes_amount_cents bigint not null default 0,
  taxes_precise_amount_cents numeric(40,15) not null default 0,
  taxes_rate numeric(30,5) not null default 0,
  units numeric not null,
  total_aggregated_units numeric not null,
  events_count bigint,
  grouped_by jsonb not null default '{}'::jsonb,
  amount_details jsonb not null default '{}'::jsonb,
  pricing_unit_details jsonb,
  presentation_breakdowns jsonb not null default '[]'::jsonb,
  pay_in_advance boolean not null default false,
  invoiceable boolean not null default true,
  event_id uuid,
  event_transaction_id text,
  external_subscription_id text,
  payment_status text not null default 'pending'::text,
  succeeded_at timestamp with time zone,
  failed_at timestamp with time zone,
  refunded_at timestamp with time zone,
  from_datetime timestamp with time zone,
  to_datetime timestamp with time zone,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  untaxed_amount_cents numeric(30,5) not null default 0,
  progressive_parts jsonb,
  constraint fees_pkey PRIMARY KEY (id),
  constraint fees_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint fees_charge_filter_id_fkey FOREIGN KEY (charge_filter_id) REFERENCES charge_filters(id) DEFERRABLE,
  constraint fees_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE,
  constraint fees_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE,
  constraint fees_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint fees_fixed_charge_id_fkey FOREIGN KEY (fixed_charge_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint fees_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint fees_original_fee_id_fkey FOREIGN KEY (original_fee_id) REFERENCES fees(id) DEFERRABLE,
  constraint fees_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint fees_true_up_parent_fee_id_fkey FOREIGN KEY (true_up_parent_fee_id) REFERENCES fees(id) DEFERRABLE,
  constraint fees_fee_type_check CHECK ((fee_type = ANY (ARRAY['charge'::text, 'add_on'::text, 'subscription'::text, 'credit'::text, 'commitment'::text, 'fixed_charge'::text]))),
  constraint fees_payment_status_check CHECK ((payment_status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'refunded'::text])))
) with (autovacuum_analyze_scale_factor=0.01);
comment on table fees is 'What is charged: one item with its units, amount and taxes, on an invoice or on its own.';
comment on column fees.untaxed_amount_cents is 'What its invoice billed of it beyond the taxed amount; negative where it taxed more than it billed.';
comment on column fees.progressive_parts is 'What it took over of fees of a progressive invoice: their ids, the credit, and the amount that they still bear.';
CREATE INDEX fees_customer ON public.fees USING btree (organization_id, customer_id, created_at, id);
CREATE INDEX fees_fixed_charge ON public.fees USING btree (organization_id, subscription_id, fixed_charge_id) WHERE (fixed_charge_id IS NOT NULL);
CREATE UNIQUE INDEX fees_in_advance_key ON public.fees USING btree (organization_id, external_subscription_id, event_transaction_id, charge_id) WHERE ((event_transaction_id IS NOT NULL) AND (original_fee_id IS NULL) AND (deleted_at IS NULL));
CREATE INDEX fees_of_invoice ON public.fees USING btree (organization_id, invoice_id);
CREATE INDEX fees_oldest ON public.fees USING btree (organization_id, created_at, id);
CREATE INDEX fees_original ON public.fees USING btree (organization_id, original_fee_id) WHERE (original_fee_id IS NOT NULL);
CREATE INDEX fees_standalone ON public.fees USING btree (organization_id, customer_id, succeeded_at) WHERE ((invoice_id IS NULL) AND (payment_status = 'succeeded'::text) AND (deleted_at IS NULL));
CREATE INDEX fees_subscription ON public.fees USING btree (organization_id, subscription_id, fee_type, created_at);
CREATE TRIGGER fees_mark_changed AFTER UPDATE ON public.fees FOR EACH ROW WHEN ((new.pay_in_advance AND ((old.invoice_id IS NULL) OR (new.invoice_id IS NULL)) AND (((old.invoice_id IS DISTINCT FROM new.invoice_id) OR (old.amount_cents IS DISTINCT FROM new.amount_cents)) OR (old.deleted_at IS DISTINCT FROM new.deleted_at)))) EXECUTE FUNCTION mark_source('fee');
CREATE TRIGGER fees_mark_invoice_of_changed AFTER UPDATE ON public.fees FOR EACH ROW WHEN (((new.invoice_id IS NOT NULL) AND ((((old.invoice_id IS DISTINCT FROM new.invoice_id) OR (old.amount_cents IS DISTINCT FROM new.amount_cents)) OR (old.precise_coupons_amount_cents IS DISTINCT FROM new.precise_coupons_amount_cents)) OR (old.deleted_at IS DISTINCT FROM new.deleted_at)))) EXECUTE FUNCTION mark_finalized_invoice_of_row();
CREATE TRIGGER fees_mark_invoice_of_new AFTER INSERT ON public.fees FOR EACH ROW WHEN ((new.invoice_id IS NOT NULL)) EXECUTE FUNCTION mark_finalized_invoice_of_row();
CREATE TRIGGER fees_mark_new AFTER INSERT ON public.fees FOR EACH ROW WHEN (((new.invoice_id IS NULL) AND new.pay_in_advance)) EXECUTE FUNCTION mark_source('fee');

create table fixed_charge_taxes (
  organization_id uuid not null,
  fixed_charge_id uuid not null,
  tax_id uuid not null,
  constraint fixed_charge_taxes_pkey PRIMARY KEY (organization_id, fixed_charge_id, tax_id),
  constraint fixed_charge_taxes_fixed_charge_id_fkey FOREIGN KEY (fixed_charge_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint fixed_charge_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table fixed_charge_taxes is 'Taxes on the fees of a fixed charge.';

create table fixed_charge_units (
  id uuid not null,
  organization_id uuid not null,
  subscription_id uuid not null,
  fixed_charge_id uuid not null,
  units numeric(30,10) not null,
  effective_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint fixed_charge_units_pkey PRIMARY KEY (id),
  constraint fixed_charge_units_fixed_charge_id_fkey FOREIGN KEY (fixed_charge_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint fixed_charge_units_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table fixed_charge_units is 'Units of a fixed charge for one subscription over time: a log in the order of its ids.';
CREATE INDEX fixed_charge_units_subscription ON public.fixed_charge_units USING btree (organization_id, subscription_id, fixed_charge_id, id);

create table fixed_charge_units_overrides (
  organization_id uuid not null,
  subscription_id uuid not null,
  fixed_charge_id uuid not null,
  units numeric(30,10) not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint fixed_charge_units_overrides_pkey PRIMARY KEY (organization_id, subscription_id, fixed_charge_id),
  constraint fixed_charge_units_overrides_fixed_charge_id_fkey FOREIGN KEY (fixed_charge_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint fixed_charge_units_overrides_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint fixed_charge_units_overrides_units_check CHECK ((units >= (0)::numeric))
);
comment on table fixed_charge_units_overrides is 'Units that one subscription has instead of its plan''s.';
CREATE INDEX fixed_charge_units_overrides_charge ON public.fixed_charge_units_overrides USING btree (organization_id, fixed_charge_id);

create table fixed_charges (
  id uuid not null,
  organization_id uuid not null,
  plan_id uuid not null,
  parent_id uuid,
  add_on_id uuid not null,
  code text not null,
  charge_model text not null,
  invoice_display_name text,
  units numeric(30,10) not null,
  pay_in_advance boolean not null,
  prorated boolean not null,
  properties jsonb not null,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint fixed_charges_pkey PRIMARY KEY (id),
  constraint fixed_charges_add_on_id_fkey FOREIGN KEY (add_on_id) REFERENCES add_ons(id) DEFERRABLE,
  constraint fixed_charges_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES fixed_charges(id) DEFERRABLE,
  constraint fixed_charges_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint fixed_charges_charge_model_check CHECK ((charge_model = ANY (ARRAY['standard'::text, 'graduated'::text, 'volume'::text]))),
  constraint fixed_charges_units_check CHECK ((units >= (0)::numeric))
);
comment on table fixed_charges is 'Prices of units that do not come from events: an add-on on a plan with a charge model.';
CREATE INDEX fixed_charges_add_on ON public.fixed_charges USING btree (organization_id, add_on_id) WHERE (deleted_at IS NULL);
CREATE UNIQUE INDEX fixed_charges_code_key ON public.fixed_charges USING btree (organization_id, plan_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX fixed_charges_parent ON public.fixed_charges USING btree (organization_id, parent_id) WHERE (parent_id IS NOT NULL);

create table gathered_late_events (
  organization_id uuid not null,
  event_id uuid not null,
  invoice_id uuid,
  external_subscription_id text not null,
  window_from timestamp with time zone not null,
  policy text not null,
  constraint gathered_late_events_key UNIQUE NULLS NOT DISTINCT (organization_id, invoice_id, window_from, external_subscription_id, policy, event_id),
  constraint gathered_late_events_policy_check CHECK ((policy = ANY (ARRAY['next_invoice'::text, 'debit_invoice'::text, 'credit_note'::text])))
);
comment on table gathered_late_events is 'Late events that a look has found; its end takes them out and owes their settling, by subscription and window.';
comment on column gathered_late_events.invoice_id is 'The invoice that the look is for. Null: it is the hourly look at all events.';

create table idempotency_keys (
  organization_id uuid not null,
  scope_hash bytea not null,
  fingerprint bytea not null,
  request_id text not null,
  http_status integer,
  body text,
  headers jsonb,
  is_digest boolean not null default false,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_keys_pkey PRIMARY KEY (organization_id, scope_hash)
);
comment on table idempotency_keys is 'Answers already given under an Idempotency-Key: a repeated request gets the first answer again.';
CREATE INDEX idempotency_keys_expiry ON public.idempotency_keys USING btree (expires_at);

create table in_advance_records (
  id uuid not null,
  organization_id uuid not null,
  external_subscription_id text not null,
  charge_id uuid not null,
  charge_filter_id uuid,
  grouped_by jsonb not null,
  event_id uuid not null,
  event_timestamp timestamp with time zone not null,
  current numeric not null,
  max numeric not null,
  max_prorated numeric not null,
  created_at timestamp with time zone not null,
  constraint in_advance_records_pkey PRIMARY KEY (id),
  constraint in_advance_records_event_key UNIQUE (organization_id, event_id, charge_id),
  constraint in_advance_records_charge_filter_id_fkey FOREIGN KEY (charge_filter_id) REFERENCES charge_filters(id) DEFERRABLE,
  constraint in_advance_records_charge_id_fkey FOREIGN KEY (charge_id) REFERENCES charges(id) DEFERRABLE
);
comment on table in_advance_records is 'What was billed in advance in a period per charge, filter and group. One row per event and charge: no event is billed twice.';
CREATE INDEX in_advance_records_newest ON public.in_advance_records USING btree (organization_id, external_subscription_id, charge_id, id DESC);

create table inbound_events (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  provider_event_id text not null,
  event_type text not null,
  payload jsonb not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  error text,
  processing_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  also_signed_by uuid[],
  constraint inbound_events_pkey PRIMARY KEY (id),
  constraint inbound_events_event_key UNIQUE (connection_id, provider_event_id),
  constraint inbound_events_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint inbound_events_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'processing'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table inbound_events is 'Events received from payment providers, each once per connection.';
comment on column inbound_events.also_signed_by is 'Other connections of its address whose secret signs it; null: none.';
CREATE INDEX inbound_events_open ON public.inbound_events USING btree (created_at) WHERE (status = ANY (ARRAY['pending'::text, 'processing'::text]));
CREATE INDEX inbound_events_unhandled ON public.inbound_events USING btree (organization_id, created_at) WHERE (status <> 'succeeded'::text);

create table ingest_checkpoints (
  organization_id uuid not null,
  connector text not null,
  key text not null,
  rank numeric not null,
  value jsonb not null,
  received bigint not null,
  stored bigint not null,
  replayed bigint not null,
  dead bigint not null,
  updated_at timestamp with time zone not null,
  constraint ingest_checkpoints_pkey PRIMARY KEY (organization_id, connector, key)
);
comment on table ingest_checkpoints is 'How far a connector has read a partition, shard or object, and what became of it: written with the events.';
comment on column ingest_checkpoints.rank is 'grows along the key; a checkpoint never falls back';
comment on column ingest_checkpoints.received is 'messages; the other counts are of events and dead letters';

create table ingest_connectors (
  organization_id uuid not null,
  code text not null,
  kind text not null,
  created_at timestamp with time zone not null,
  paused_at timestamp with time zone,
  constraint ingest_connectors_pkey PRIMARY KEY (organization_id, code)
);
comment on table ingest_connectors is 'Connectors that a process has ever started; what they read is in the file of the deployment.';
comment on column ingest_connectors.paused_at is 'since when nothing is read, because somebody asked for it';

create table ingest_dead_letters (
  organization_id uuid not null,
  id uuid not null,
  connector text not null,
  "position" text not null,
  part integer not null,
  payload bytea not null,
  payload_digest bytea not null,
  is_cut boolean not null,
  headers jsonb not null,
  source_time timestamp with time zone not null,
  error_code text not null,
  error_message text not null,
  attempts integer not null,
  status text not null,
  failed_at timestamp with time zone not null,
  resolved_at timestamp with time zone,
  payload_bytes integer not null generated always as (octet_length(payload)) stored,
  constraint ingest_dead_letters_pkey PRIMARY KEY (organization_id, id),
  constraint ingest_dead_letters_once UNIQUE (organization_id, connector, "position", part, payload_digest),
  constraint ingest_dead_letters_status CHECK ((status = ANY (ARRAY['open'::text, 'retried'::text, 'discarded'::text])))
);
comment on table ingest_dead_letters is 'Messages, and events of messages, that could not become events; kept 30 days.';
comment on column ingest_dead_letters.part is 'which event of the message';
comment on column ingest_dead_letters.is_cut is 'only the first 256 KiB are kept';
CREATE INDEX ingest_dead_letters_newest ON public.ingest_dead_letters USING btree (organization_id, failed_at DESC, id DESC) INCLUDE (connector, status, error_code);
CREATE INDEX ingest_dead_letters_old ON public.ingest_dead_letters USING btree (failed_at);
CREATE INDEX ingest_dead_letters_open ON public.ingest_dead_letters USING btree (organization_id, connector, id) INCLUDE (payload_bytes) WHERE (status = 'open'::text);

create table ingest_leases (
  organization_id uuid not null,
  connector text not null,
  key text not null,
  owner uuid not null,
  expires_at timestamp with time zone not null,
  constraint ingest_leases_pkey PRIMARY KEY (organization_id, connector, key)
);
comment on table ingest_leases is 'Which process reads a shard or an object, by the clock of Postgres.';

create table ingest_objects (
  organization_id uuid not null,
  connector text not null,
  bucket text not null,
  key text not null,
  etag text not null,
  size bigint not null,
  status text not null,
  byte_offset bigint not null,
  line bigint not null,
  stored bigint not null,
  replayed bigint not null,
  dead bigint not null,
  attempts integer not null,
  next_attempt_at timestamp with time zone,
  started_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  look_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint ingest_objects_pkey PRIMARY KEY (organization_id, connector, bucket, key, etag),
  constraint ingest_objects_status CHECK ((status = ANY (ARRAY['reading'::text, 'done'::text, 'done_with_errors'::text, 'failed'::text])))
);
comment on table ingest_objects is 'Files of a bucket and how far they were read; a file that was rewritten is another.';
comment on column ingest_objects.look_at is 'when it is next asked whether a file that has ended is still there';
CREATE INDEX ingest_objects_ended ON public.ingest_objects USING btree (organization_id, connector, bucket, look_at) WHERE (status <> 'reading'::text);
CREATE INDEX ingest_objects_left ON public.ingest_objects USING btree (organization_id, connector, started_at) WHERE (status = 'reading'::text);

create table ingest_readers (
  organization_id uuid not null,
  connector text not null,
  id uuid not null,
  status text not null,
  error text,
  lag_seconds numeric,
  lag_messages bigint,
  said_at timestamp with time zone not null,
  constraint ingest_readers_pkey PRIMARY KEY (organization_id, connector, id),
  constraint ingest_readers_status CHECK ((status = ANY (ARRAY['starting'::text, 'running'::text, 'paused'::text, 'retrying'::text])))
);
comment on table ingest_readers is 'Processes that read for a connector, as they last said of themselves, by the clock of Postgres.';

create table integration_calls (
  id uuid not null,
  organization_id uuid not null,
  integration_id uuid not null,
  operation text not null,
  resource_id uuid,
  http_status integer,
  duration_ms integer not null,
  error text,
  body text,
  created_at timestamp with time zone not null,
  constraint integration_calls_pkey PRIMARY KEY (id),
  constraint integration_calls_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) ON DELETE CASCADE DEFERRABLE
);
comment on table integration_calls is 'Calls to other systems of the last 30 days.';
CREATE INDEX integration_calls_age ON public.integration_calls USING btree (created_at);
CREATE INDEX integration_calls_newest ON public.integration_calls USING btree (organization_id, integration_id, created_at DESC, id DESC);

create table integration_customers (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  integration_id uuid not null,
  category text not null,
  external_customer_id text not null,
  settings jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint integration_customers_pkey PRIMARY KEY (id),
  constraint integration_customers_category_key UNIQUE (organization_id, customer_id, category),
  constraint integration_customers_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE DEFERRABLE,
  constraint integration_customers_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) DEFERRABLE
);
comment on table integration_customers is 'Customers as other systems know them: one of each category at most.';
CREATE INDEX integration_customers_integration ON public.integration_customers USING btree (organization_id, integration_id);

create table integration_mappings (
  id uuid not null,
  organization_id uuid not null,
  integration_id uuid not null,
  resource_type text not null,
  resource_code text not null,
  external_id text not null,
  external_name text,
  created_at timestamp with time zone not null,
  constraint integration_mappings_pkey PRIMARY KEY (id),
  constraint integration_mappings_resource_key UNIQUE (organization_id, integration_id, resource_type, resource_code),
  constraint integration_mappings_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) DEFERRABLE,
  constraint integration_mappings_resource_type_check CHECK ((resource_type = ANY (ARRAY['billable_metric'::text, 'plan'::text, 'add_on'::text, 'fixed_charge'::text, 'commitment'::text, 'default'::text])))
);
comment on table integration_mappings is 'Names that another system has for what is sold.';

create table integrations (
  id uuid not null,
  organization_id uuid not null,
  integration_type text not null,
  category text not null,
  code text not null,
  name text not null,
  secrets jsonb not null default '{}'::jsonb,
  secrets_last4 jsonb not null default '{}'::jsonb,
  settings jsonb not null default '{}'::jsonb,
  live boolean not null,
  status text not null,
  last_error text,
  unauthorized_calls integer not null default 0,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  account_fingerprint text,
  constraint integrations_pkey PRIMARY KEY (id),
  constraint integrations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint integrations_category_check CHECK ((category = ANY (ARRAY['tax'::text, 'accounting'::text, 'crm'::text, 'e_invoicing'::text]))),
  constraint integrations_status_check CHECK ((status = ANY (ARRAY['connected'::text, 'unverified'::text, 'failing'::text])))
);
comment on table integrations is 'Connections to other systems, such as tax engines. Secrets are sealed.';
CREATE UNIQUE INDEX integrations_access_point_key ON public.integrations USING btree (organization_id) WHERE ((category = 'e_invoicing'::text) AND (deleted_at IS NULL));
CREATE UNIQUE INDEX integrations_account_key ON public.integrations USING btree (organization_id, account_fingerprint) WHERE ((deleted_at IS NULL) AND (account_fingerprint IS NOT NULL));
CREATE UNIQUE INDEX integrations_code_key ON public.integrations USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table invoice_applied_taxes (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  tax_id uuid,
  tax_code text not null,
  tax_name text not null,
  tax_rate numeric(30,10) not null,
  tax_description text,
  amount_cents bigint not null,
  amount_currency text not null,
  fees_amount_cents bigint not null,
  created_at timestamp with time zone not null,
  taxable_base_amount_cents bigint,
  constraint invoice_applied_taxes_pkey PRIMARY KEY (id),
  constraint invoice_applied_taxes_key UNIQUE (organization_id, invoice_id, tax_code),
  constraint invoice_applied_taxes_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint invoice_applied_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table invoice_applied_taxes is 'Taxes of an invoice, summed over its fees.';
comment on column invoice_applied_taxes.taxable_base_amount_cents is 'The part of fees_amount_cents that a tax engine taxed; null: all of it.';

create table invoice_custom_section_selections (
  id uuid not null,
  organization_id uuid not null,
  owner_type text not null,
  owner_id uuid not null,
  section_id uuid not null,
  created_at timestamp with time zone not null,
  constraint invoice_custom_section_selections_pkey PRIMARY KEY (organization_id, owner_type, owner_id, section_id),
  constraint invoice_custom_section_selections_section_id_fkey FOREIGN KEY (section_id) REFERENCES invoice_custom_sections(id) DEFERRABLE,
  constraint invoice_custom_section_selections_owner_type_check CHECK ((owner_type = ANY (ARRAY['billing_entity'::text, 'customer'::text, 'subscription'::text, 'wallet'::text, 'recurring_transaction_rule'::text, 'wallet_transaction'::text])))
);
comment on table invoice_custom_section_selections is 'Who selects a section. Owners of all kinds share one table, since all select in the same way.';
CREATE INDEX invoice_custom_section_selections_section ON public.invoice_custom_section_selections USING btree (organization_id, section_id);

create table invoice_custom_sections (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  description text,
  details text,
  display_name text,
  section_type text not null default 'manual'::text,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint invoice_custom_sections_pkey PRIMARY KEY (id),
  constraint invoice_custom_sections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint invoice_custom_sections_section_type_check CHECK ((section_type = ANY (ARRAY['manual'::text, 'system_generated'::text])))
);
comment on table invoice_custom_sections is 'Texts that organizations add to their invoices.';
CREATE UNIQUE INDEX invoice_custom_sections_code_key ON public.invoice_custom_sections USING btree (organization_id, code) WHERE (deleted_at IS NULL);
CREATE INDEX invoice_custom_sections_newest ON public.invoice_custom_sections USING btree (organization_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);

create table invoice_error_details (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  error_code text not null,
  reason text,
  details jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  constraint invoice_error_details_pkey PRIMARY KEY (id),
  constraint invoice_error_details_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint invoice_error_details_error_code_check CHECK ((error_code = ANY (ARRAY['not_provided'::text, 'tax_error'::text, 'tax_voiding_error'::text, 'invoice_generation_error'::text]))),
  constraint invoice_error_details_reason_known CHECK ((reason = ANY (ARRAY['api_limit'::text, 'number_not_assigned'::text, 'amount_out_of_range'::text])))
);
comment on table invoice_error_details is 'Why an invoice failed.';
comment on column invoice_error_details.reason is 'What decides whether the invoice is tried again by itself; null: a person has to look.';
CREATE INDEX invoice_error_details_invoice ON public.invoice_error_details USING btree (organization_id, invoice_id);

create table invoice_inputs (
  invoice_id uuid not null,
  organization_id uuid not null,
  engine_version integer not null,
  inputs jsonb not null,
  digest bytea not null,
  created_at timestamp with time zone not null,
  constraint invoice_inputs_pkey PRIMARY KEY (invoice_id),
  constraint invoice_inputs_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE
);
comment on table invoice_inputs is 'What an invoice was computed from, so that it can be verified.';

create table invoice_metadata (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  key text not null,
  value text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint invoice_metadata_pkey PRIMARY KEY (id),
  constraint invoice_metadata_key_key UNIQUE (organization_id, invoice_id, key),
  constraint invoice_metadata_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE
);
comment on table invoice_metadata is 'Free key-value pairs of an invoice.';

create table invoice_settlements (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  settlement_type text not null,
  credit_note_id uuid,
  payment_id uuid,
  amount_cents bigint not null,
  amount_currency text not null,
  reason text,
  reversed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint invoice_settlements_pkey PRIMARY KEY (id),
  constraint invoice_settlements_note_key UNIQUE (organization_id, credit_note_id),
  constraint invoice_settlements_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) DEFERRABLE,
  constraint invoice_settlements_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint invoice_settlements_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) DEFERRABLE,
  constraint invoice_settlements_amount_cents_check CHECK ((amount_cents > 0)),
  constraint invoice_settlements_note_check CHECK (((settlement_type = 'credit_note'::text) = (credit_note_id IS NOT NULL))),
  constraint invoice_settlements_settlement_type_check CHECK ((settlement_type = ANY (ARRAY['credit_note'::text, 'write_off'::text])))
);
comment on table invoice_settlements is 'What settled an invoice without money: offsets of credit notes and write-offs.';
CREATE INDEX invoice_settlements_invoice ON public.invoice_settlements USING btree (organization_id, invoice_id);
CREATE INDEX invoice_settlements_payment ON public.invoice_settlements USING btree (organization_id, payment_id) WHERE (payment_id IS NOT NULL);

create table invoice_subscriptions (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  subscription_id uuid not null,
  invoicing_reason text not null,
  recurring boolean not null default false,
  ends_trial boolean not null default false,
  regenerated boolean not null default false,
  billed_at timestamp with time zone not null,
  billed_on date not null,
  from_datetime timestamp with time zone,
  to_datetime timestamp with time zone,
  charges_from_datetime timestamp with time zone,
  charges_to_datetime timestamp with time zone,
  fixed_charges_from_datetime timestamp with time zone,
  fixed_charges_to_datetime timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint invoice_subscriptions_pkey PRIMARY KEY (id),
  constraint invoice_subscriptions_line_key UNIQUE (organization_id, invoice_id, subscription_id),
  constraint invoice_subscriptions_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint invoice_subscriptions_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint invoice_subscriptions_invoicing_reason_check CHECK ((invoicing_reason = ANY (ARRAY['subscription_starting'::text, 'subscription_periodic'::text, 'subscription_terminating'::text, 'in_advance_charge'::text, 'in_advance_charge_periodic'::text, 'progressive_billing'::text]))),
  constraint invoice_subscriptions_trial_end_starts CHECK (((NOT ends_trial) OR (invoicing_reason = 'subscription_starting'::text)))
);
comment on table invoice_subscriptions is 'The line of a subscription on an invoice: its three windows, [from, to) half-open.';
CREATE UNIQUE INDEX invoice_subscriptions_billing_day_key ON public.invoice_subscriptions USING btree (organization_id, subscription_id, billed_on) WHERE (recurring AND (NOT regenerated));
CREATE UNIQUE INDEX invoice_subscriptions_charges_window_key ON public.invoice_subscriptions USING btree (organization_id, subscription_id, charges_from_datetime, charges_to_datetime) WHERE (recurring AND (NOT regenerated) AND (charges_from_datetime IS NOT NULL));
CREATE UNIQUE INDEX invoice_subscriptions_fixed_charges_window_key ON public.invoice_subscriptions USING btree (organization_id, subscription_id, fixed_charges_from_datetime, fixed_charges_to_datetime) WHERE (recurring AND (NOT regenerated) AND (fixed_charges_from_datetime IS NOT NULL));
CREATE UNIQUE INDEX invoice_subscriptions_starting_key ON public.invoice_subscriptions USING btree (organization_id, subscription_id, ends_trial) WHERE ((invoicing_reason = 'subscription_starting'::text) AND (NOT regenerated));
CREATE INDEX invoice_subscriptions_subscription ON public.invoice_subscriptions USING btree (organization_id, subscription_id, billed_at DESC);
CREATE UNIQUE INDEX invoice_subscriptions_terminating_key ON public.invoice_subscriptions USING btree (organization_id, subscription_id) WHERE ((invoicing_reason = 'subscription_terminating'::text) AND (NOT regenerated));

create table invoices (
  id uuid not null,
  organization_id uuid not null,
  billing_entity_id uuid not null,
  customer_id uuid not null,
  invoice_type text not null,
  status text not null,
  payment_status text not null default 'pending'::text,
  payment_attempts integer not null default 0,
  payment_overdue boolean not null default false,
  payment_dispute_lost_at timestamp with time zone,
  ready_for_payment_processing boolean not null default true,
  skip_psp boolean not null default false,
  ready_to_be_refreshed boolean not null default false,
  tax_status text,
  self_billed boolean not null default false,
  skip_usage boolean not null default false,
  number text,
  sequential_id bigint,
  billing_entity_sequential_id bigint,
  currency text not null,
  timezone text not null,
  issuing_date date not null,
  expected_finalization_date date not null,
  payment_due_date date not null,
  net_payment_term integer not null,
  purchase_order_number text,
  payment_method_type text,
  payment_method_id uuid,
  fees_amount_cents bigint not null default 0,
  progressive_billing_credit_amount_cents bigint not null default 0,
  coupons_amount_cents bigint not null default 0,
  sub_total_excluding_taxes_amount_cents bigint not null default 0,
  taxes_amount_cents bigint not null default 0,
  taxes_rate numeric(30,5) not null default 0,
  sub_total_including_taxes_amount_cents bigint not null default 0,
  credit_notes_amount_cents bigint not null default 0,
  prepaid_credit_amount_cents bigint not null default 0,
  prepaid_granted_credit_amount_cents bigint,
  prepaid_purchased_credit_amount_cents bigint,
  total_amount_cents bigint not null default 0,
  total_paid_amount_cents bigint not null default 0,
  total_offsetted_credit_note_amount_cents bigint not null default 0,
  total_written_off_amount_cents bigint not null default 0,
  customer_snapshot jsonb,
  issuer_snapshot jsonb,
  voided_invoice_id uuid,
  voided_at timestamp with time zone,
  finalized_at timestamp with time zone,
  version_number integer not null default 4,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  buyer_reference text,
  tax_version integer not null default 0,
  tax_integration_id uuid,
  usage_counted_at timestamp with time zone,
  voided_with_notes boolean not null default false,
  action_required_at timestamp with time zone,
  constraint invoices_pkey PRIMARY KEY (id),
  constraint invoices_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint invoices_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint invoices_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint invoices_tax_integration_id_fkey FOREIGN KEY (tax_integration_id) REFERENCES integrations(id) DEFERRABLE,
  constraint invoices_voided_invoice_id_fkey FOREIGN KEY (voided_invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint invoices_invoice_type_check CHECK ((invoice_type = ANY (ARRAY['subscription'::text, 'one_off'::text, 'credit'::text, 'advance_charges'::text, 'progressive_billing'::text, 'add_on'::text]))),
  constraint invoices_payment_status_check CHECK ((payment_status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
  constraint invoices_status_check CHECK ((status = ANY (ARRAY['generating'::text, 'draft'::text, 'open'::text, 'pending'::text, 'failed'::text, 'finalized'::text, 'closed'::text, 'voided'::text, 'deleted'::text]))),
  constraint invoices_tax_status_check CHECK ((tax_status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text]))),
  constraint invoices_total_amount_cents_check CHECK ((total_amount_cents >= 0))
);
comment on table invoices is 'Invoices of all types, from draft to voided.';
comment on column invoices.tax_version is 'Rises with each computation: the answer about an older one is void.';
comment on column invoices.tax_integration_id is 'The tax engine whose answer the taxes are.';
comment on column invoices.usage_counted_at is 'When its usage was counted for the last time. Null of invoices without usage, and of those from before 0037 that did not wait then: counted when it became final.';
comment on column invoices.voided_with_notes is 'Whether notes stand for what had paid it, so that its void gave nothing back to notes and wallets.';
comment on column invoices.action_required_at is 'When it was announced that nothing can be charged, because the customer pays on a page only.';
CREATE INDEX invoices_awaiting_taxes ON public.invoices USING btree (organization_id, customer_id) WHERE ((status = 'pending'::text) AND (tax_status = 'pending'::text));
CREATE INDEX invoices_customer ON public.invoices USING btree (organization_id, customer_id, issuing_date DESC);
CREATE UNIQUE INDEX invoices_customer_sequence_key ON public.invoices USING btree (organization_id, customer_id, billing_entity_id, sequential_id) WHERE (sequential_id IS NOT NULL);
CREATE INDEX invoices_drafts ON public.invoices USING btree (expected_finalization_date) WHERE (status = 'draft'::text);
CREATE INDEX invoices_drafts_in_turn ON public.invoices USING btree (organization_id, expected_finalization_date, created_at, id) WHERE (status = 'draft'::text);
CREATE INDEX invoices_due ON public.invoices USING btree (payment_due_date) WHERE ((status = 'finalized'::text) AND (payment_status <> 'succeeded'::text) AND (payment_dispute_lost_at IS NULL) AND (NOT payment_overdue));
CREATE INDEX invoices_due_in_turn ON public.invoices USING btree (organization_id, payment_due_date, id) WHERE ((status = 'finalized'::text) AND (payment_status <> 'succeeded'::text) AND (payment_dispute_lost_at IS NULL) AND (NOT payment_overdue));
CREATE UNIQUE INDEX invoices_entity_sequence_key ON public.invoices USING btree (organization_id, billing_entity_id, billing_entity_sequential_id) WHERE (billing_entity_sequential_id IS NOT NULL);
CREATE INDEX invoices_failed ON public.invoices USING btree (organization_id, id) WHERE (status = 'failed'::text);
CREATE INDEX invoices_flagged ON public.invoices USING btree (organization_id, id) WHERE ((status = 'draft'::text) AND ready_to_be_refreshed);
CREATE INDEX invoices_generating ON public.invoices USING btree (created_at) WHERE (status = 'generating'::text);
CREATE INDEX invoices_in_place ON public.invoices USING btree (organization_id, voided_invoice_id) WHERE (voided_invoice_id IS NOT NULL);
CREATE INDEX invoices_newest ON public.invoices USING btree (organization_id, issuing_date DESC, created_at DESC, id DESC);
CREATE UNIQUE INDEX invoices_number_key ON public.invoices USING btree (organization_id, billing_entity_id, number) WHERE ((status = ANY (ARRAY['finalized'::text, 'voided'::text])) AND (NOT self_billed));
CREATE INDEX invoices_open_of_customer ON public.invoices USING btree (organization_id, customer_id) WHERE ((status = 'finalized'::text) AND (payment_status <> 'succeeded'::text));
CREATE INDEX invoices_overdue ON public.invoices USING btree (organization_id, payment_due_date) WHERE payment_overdue;
CREATE INDEX invoices_prefix ON public.invoices USING btree (organization_id, number text_pattern_ops);
CREATE INDEX invoices_progressive ON public.invoices USING btree (organization_id, customer_id) WHERE (invoice_type = 'progressive_billing'::text);
CREATE UNIQUE INDEX invoices_regenerated_key ON public.invoices USING btree (organization_id, voided_invoice_id) WHERE ((voided_invoice_id IS NOT NULL) AND (status <> ALL (ARRAY['voided'::text, 'closed'::text, 'deleted'::text])));
CREATE INDEX invoices_with_tax_errors ON public.invoices USING btree (organization_id, customer_id) WHERE ((status = 'failed'::text) AND (tax_status = 'failed'::text));
CREATE TRIGGER invoices_mark_changed AFTER UPDATE ON public.invoices FOR EACH ROW WHEN (((('finalized'::text = old.status) OR ('finalized'::text = new.status)) AND (((((((((((((old.status IS DISTINCT FROM new.status) OR (old.payment_status IS DISTINCT FROM new.payment_status)) OR (old.payment_dispute_lost_at IS DISTINCT FROM new.payment_dispute_lost_at)) OR (old.self_billed IS DISTINCT FROM new.self_billed)) OR (old.issuing_date IS DISTINCT FROM new.issuing_date)) OR (old.currency IS DISTINCT FROM new.currency)) OR (old.total_amount_cents IS DISTINCT FROM new.total_amount_cents)) OR (old.sub_total_excluding_taxes_amount_cents IS DISTINCT FROM new.sub_total_excluding_taxes_amount_cents)) OR (old.sub_total_including_taxes_amount_cents IS DISTINCT FROM new.sub_total_including_taxes_amount_cents)) OR (old.credit_notes_amount_cents IS DISTINCT FROM new.credit_notes_amount_cents)) OR (old.prepaid_granted_credit_amount_cents IS DISTINCT FROM new.prepaid_granted_credit_amount_cents)) OR (old.prepaid_purchased_credit_amount_cents IS DISTINCT FROM new.prepaid_purchased_credit_amount_cents)) OR (old.progressive_billing_credit_amount_cents IS DISTINCT FROM new.progressive_billing_credit_amount_cents)))) EXECUTE FUNCTION mark_source('invoice');
CREATE TRIGGER invoices_mark_new AFTER INSERT ON public.invoices FOR EACH ROW WHEN ((new.status = 'finalized'::text)) EXECUTE FUNCTION mark_source('invoice');
CREATE TRIGGER invoices_tell_access AFTER UPDATE OF payment_overdue ON public.invoices FOR EACH ROW EXECUTE FUNCTION tell_access_of_invoice();

create table late_event_cursors (
  organization_id uuid not null,
  seen_id uuid not null,
  constraint late_event_cursors_pkey PRIMARY KEY (organization_id),
  constraint late_event_cursors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table late_event_cursors is 'The newest event that the job for late events has looked at, per organization.';

create table late_event_policies (
  organization_id uuid not null,
  plan_id uuid,
  from_id uuid not null,
  policy text,
  constraint late_event_policies_key UNIQUE NULLS NOT DISTINCT (organization_id, plan_id, from_id),
  constraint late_event_policies_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint late_event_policies_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint late_event_policies_policy_check CHECK ((policy = ANY (ARRAY['next_invoice'::text, 'debit_invoice'::text, 'credit_note'::text, 'ignore'::text])))
);
comment on table late_event_policies is 'Policies for late events: each holds for events with greater ids than from_id, up to the next one of the same plan or organization. Null: from then on there is none. An override has that of its plan.';

create table ledger_daily (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  account_code text not null,
  currency text not null,
  booked_on date not null,
  document_date date not null,
  debit_cents bigint not null,
  credit_cents bigint not null,
  through_position bigint not null,
  constraint ledger_daily_pkey PRIMARY KEY (organization_id, booked_on, document_date, billing_entity_id, account_code, currency)
);
comment on table ledger_daily is 'Sums of the ledger by day and account, for reports.';

create table ledger_entries (
  id uuid not null,
  organization_id uuid not null,
  "position" bigint not null default nextval('ledger_entries_position_seq'::regclass),
  transaction_id uuid not null,
  billing_entity_id uuid not null,
  account_code text not null,
  currency text not null,
  side text not null,
  amount_cents bigint not null,
  booked_on date not null,
  customer_id uuid,
  invoice_id uuid,
  credit_note_id uuid,
  wallet_id uuid,
  wallet_transaction_id uuid,
  payment_id uuid,
  fee_id uuid,
  tax_code text,
  payment_provider_id uuid,
  constraint ledger_entries_pkey PRIMARY KEY (id),
  constraint ledger_entries_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) DEFERRABLE,
  constraint ledger_entries_amount_cents_check CHECK ((amount_cents > 0)),
  constraint ledger_entries_side_check CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])))
);
comment on table ledger_entries is 'Debits and credits of a ledger transaction; they balance at commit.';
CREATE INDEX ledger_entries_account ON public.ledger_entries USING btree (organization_id, account_code, booked_on);
CREATE INDEX ledger_entries_booked_on ON public.ledger_entries USING btree (organization_id, booked_on);
CREATE INDEX ledger_entries_credit_note ON public.ledger_entries USING btree (organization_id, credit_note_id) WHERE (credit_note_id IS NOT NULL);
CREATE INDEX ledger_entries_customer ON public.ledger_entries USING btree (organization_id, customer_id) WHERE (customer_id IS NOT NULL);
CREATE INDEX ledger_entries_fee ON public.ledger_entries USING btree (organization_id, fee_id) WHERE (fee_id IS NOT NULL);
CREATE INDEX ledger_entries_invoice ON public.ledger_entries USING btree (organization_id, invoice_id) WHERE (invoice_id IS NOT NULL);
CREATE INDEX ledger_entries_position ON public.ledger_entries USING btree (organization_id, "position");
CREATE INDEX ledger_entries_transaction ON public.ledger_entries USING btree (transaction_id);
CREATE INDEX ledger_entries_wallet ON public.ledger_entries USING btree (organization_id, wallet_id) WHERE (wallet_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER ledger_entries_balance AFTER INSERT ON public.ledger_entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_ledger_balance();
CREATE TRIGGER ledger_entries_frozen BEFORE DELETE OR UPDATE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_entries_kept BEFORE TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncation();

create table ledger_tail (
  organization_id uuid not null,
  transaction_id uuid not null,
  constraint ledger_tail_pkey PRIMARY KEY (organization_id, transaction_id),
  constraint ledger_tail_transaction_id_fkey FOREIGN KEY (transaction_id) REFERENCES ledger_transactions(id) DEFERRABLE
);
comment on table ledger_tail is 'Ledger transactions that are not in the daily sums yet. A transaction waits here from its posting until the job adds it: who reads both tables in one statement sees each entry once. A position would not do, since positions commit out of order.';

create table ledger_transactions (
  id uuid not null,
  organization_id uuid not null,
  rule text not null,
  source_type text not null,
  source_id uuid not null,
  ordinal integer not null default 0,
  currency text not null,
  booked_at timestamp with time zone not null,
  booked_on date not null,
  document_date date not null,
  reverses_id uuid,
  created_at timestamp with time zone not null,
  constraint ledger_transactions_pkey PRIMARY KEY (id),
  constraint ledger_transactions_source_key UNIQUE (organization_id, rule, source_type, source_id, ordinal),
  constraint ledger_transactions_reverses_id_fkey FOREIGN KEY (reverses_id) REFERENCES ledger_transactions(id) DEFERRABLE
);
comment on table ledger_transactions is 'Double-entry journal: written in the transaction that changes the state, never changed afterwards.';
CREATE TRIGGER ledger_transactions_frozen BEFORE DELETE OR UPDATE ON public.ledger_transactions FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER ledger_transactions_kept BEFORE TRUNCATE ON public.ledger_transactions FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncation();

create table lifetime_usages (
  organization_id uuid not null,
  external_subscription_id text not null,
  subscription_at timestamp with time zone not null,
  historical_usage_amount_cents bigint not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint lifetime_usages_pkey PRIMARY KEY (organization_id, external_subscription_id, subscription_at),
  constraint lifetime_usages_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint lifetime_usages_historical_usage_amount_cents_check CHECK ((historical_usage_amount_cents >= 0))
);
comment on table lifetime_usages is 'Usage imported from before a chain of subscriptions: same external id, same subscription_at.';

create table mail_overrides (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  template text not null,
  locale text not null,
  subject text,
  intro text,
  closing text,
  updated_at timestamp with time zone not null,
  constraint mail_overrides_pkey PRIMARY KEY (organization_id, billing_entity_id, template, locale),
  constraint mail_overrides_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint mail_overrides_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table mail_overrides is 'An issuer''s own words in a mail, in one language; null: the built-in ones.';

create table mail_senders (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  from_name text,
  from_address text,
  reply_to text,
  bcc_issuer boolean not null default false,
  verified_at timestamp with time zone,
  code_id uuid,
  code_expires_at timestamp with time zone,
  code_tries integer not null default 0,
  codes_on date,
  codes_sent integer not null default 0,
  updated_at timestamp with time zone not null,
  constraint mail_senders_pkey PRIMARY KEY (organization_id, billing_entity_id),
  constraint mail_senders_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint mail_senders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table mail_senders is 'From whom an issuer''s mails come. An address counts once a code that was sent there is told.';
comment on column mail_senders.code_id is 'from which the code is computed; the code is stored nowhere';

create table mail_settings (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  templates jsonb not null,
  updated_at timestamp with time zone not null,
  trial_days integer not null default 3,
  constraint mail_settings_pkey PRIMARY KEY (organization_id, billing_entity_id),
  constraint mail_settings_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint mail_settings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint mail_settings_templates CHECK ((jsonb_typeof(templates) = 'object'::text)),
  constraint mail_settings_trial_days CHECK (((trial_days >= 1) AND (trial_days <= 30)))
);
comment on table mail_settings is 'Which mails an issuer sends to its customers.';
comment on column mail_settings.templates is 'only those that were set';
comment on column mail_settings.trial_days is 'How many days before its end the mail `trial_ending` is sent.';

create table mails (
  id uuid not null,
  organization_id uuid not null,
  kind text,
  subject_id uuid,
  document_id uuid,
  is_automatic boolean not null,
  recipients text[] not null,
  cc text[] not null,
  bcc text[] not null,
  sender_name text,
  reply_to text,
  subject text not null,
  body text not null,
  status text not null,
  attempts integer not null default 0,
  error text,
  next_attempt_at timestamp with time zone,
  sent_at timestamp with time zone,
  recipient_states jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null,
  html text,
  attached_ids uuid[] not null default '{}'::uuid[],
  template text,
  locale text,
  occasion text not null default ''::text,
  customer_id uuid,
  billing_entity_id uuid,
  resource_type text,
  resource_id uuid,
  from_address text,
  constraint mails_pkey PRIMARY KEY (id),
  constraint mails_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint mails_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint mails_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint mails_kind_check CHECK ((kind = ANY (ARRAY['invoice'::text, 'credit_note'::text, 'payment_receipt'::text]))),
  constraint mails_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'pending'::text, 'sent'::text, 'failed'::text, 'unsent'::text])))
);
comment on table mails is 'Mails to customers with a state for each recipient. A row waits for its document, then for the mail server.';
comment on column mails.recipient_states is 'What the mail server said of each address: [{address, state: accepted | refused | deferred, error}]';
comment on column mails.html is 'The same words as in body, as a page; null: the mail is text alone.';
comment on column mails.attached_ids is 'Documents that are attached besides document_id, in this order: all of them, or none when they are too large.';
comment on column mails.occasion is 'Why an automatic mail of this template about this record was sent: each once.';
comment on column mails.from_address is 'The seller''s own address; null: that of MAIL_FROM.';
CREATE UNIQUE INDEX mails_automatic_key ON public.mails USING btree (organization_id, kind, subject_id) WHERE is_automatic;
CREATE INDEX mails_due ON public.mails USING btree (next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX mails_due_of_organization ON public.mails USING btree (organization_id, next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX mails_newest ON public.mails USING btree (organization_id, id DESC);
CREATE INDEX mails_not_sent ON public.mails USING btree (organization_id, status, created_at) WHERE (status = ANY (ARRAY['failed'::text, 'unsent'::text]));
CREATE UNIQUE INDEX mails_occasion_key ON public.mails USING btree (organization_id, template, resource_id, occasion) WHERE (is_automatic AND (template IS NOT NULL));
CREATE INDEX mails_of_customer ON public.mails USING btree (organization_id, customer_id, id DESC) WHERE (customer_id IS NOT NULL);
CREATE INDEX mails_of_resource ON public.mails USING btree (organization_id, resource_id, id DESC) WHERE (resource_id IS NOT NULL);
CREATE INDEX mails_waiting ON public.mails USING btree (organization_id, document_id) WHERE (status = 'waiting'::text);
CREATE INDEX mails_waiting_attached ON public.mails USING gin (attached_ids) WHERE (status = 'waiting'::text);

create table minimum_commitments (
  id uuid not null,
  organization_id uuid not null,
  plan_id uuid not null,
  amount_cents bigint not null,
  invoice_display_name text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint minimum_commitments_pkey PRIMARY KEY (id),
  constraint minimum_commitments_plan_key UNIQUE (organization_id, plan_id),
  constraint minimum_commitments_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint minimum_commitments_amount_cents_check CHECK ((amount_cents > 0))
);
comment on table minimum_commitments is 'The least that a subscription of the plan pays per interval.';

create table order_forms (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  quote_id uuid not null,
  quote_version_id uuid not null,
  number text not null,
  status text not null default 'generated'::text,
  void_reason text,
  expires_at timestamp with time zone,
  signed_at timestamp with time zone,
  voided_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint order_forms_pkey PRIMARY KEY (id),
  constraint order_forms_number_key UNIQUE (organization_id, number),
  constraint order_forms_version_key UNIQUE (organization_id, quote_version_id),
  constraint order_forms_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint order_forms_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint order_forms_quote_id_fkey FOREIGN KEY (quote_id) REFERENCES quotes(id) DEFERRABLE,
  constraint order_forms_quote_version_id_fkey FOREIGN KEY (quote_version_id) REFERENCES quote_versions(id) DEFERRABLE,
  constraint order_forms_status_check CHECK ((status = ANY (ARRAY['generated'::text, 'signed'::text, 'expired'::text, 'voided'::text]))),
  constraint order_forms_void_reason_check CHECK ((void_reason = ANY (ARRAY['manual'::text, 'expired'::text, 'invalid'::text])))
);
comment on table order_forms is 'Approved versions of quotes, to be signed.';
CREATE INDEX order_forms_expiring ON public.order_forms USING btree (expires_at) WHERE ((status = 'generated'::text) AND (expires_at IS NOT NULL));
CREATE INDEX order_forms_newest ON public.order_forms USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX order_forms_prefix ON public.order_forms USING btree (organization_id, number text_pattern_ops);
CREATE INDEX order_forms_quote ON public.order_forms USING btree (organization_id, quote_id);
CREATE INDEX order_forms_waiting ON public.order_forms USING btree (organization_id) WHERE (status = 'generated'::text);

create table order_sequences (
  organization_id uuid not null,
  document text not null,
  last bigint not null,
  constraint order_sequences_pkey PRIMARY KEY (organization_id, document),
  constraint order_sequences_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint order_sequences_document_check CHECK ((document = ANY (ARRAY['quote'::text, 'order_form'::text, 'order'::text])))
);
comment on table order_sequences is 'Last number given to a quote, order form or order.';

create table orders (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  order_form_id uuid not null,
  number text not null,
  status text not null default 'created'::text,
  order_type text not null,
  execution_mode text,
  execute_at timestamp with time zone,
  currency text,
  billing_snapshot jsonb,
  executed_at timestamp with time zone,
  execution_record jsonb not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint orders_pkey PRIMARY KEY (id),
  constraint orders_form_key UNIQUE (organization_id, order_form_id),
  constraint orders_number_key UNIQUE (organization_id, number),
  constraint orders_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint orders_order_form_id_fkey FOREIGN KEY (order_form_id) REFERENCES order_forms(id) DEFERRABLE,
  constraint orders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint orders_executed CHECK (((status = 'executed'::text) = (executed_at IS NOT NULL))),
  constraint orders_execution_mode_check CHECK ((execution_mode = ANY (ARRAY['execute_in_svc'::text, 'order_only'::text]))),
  constraint orders_order_type_check CHECK ((order_type = ANY (ARRAY['subscription_creation'::text, 'subscription_amendment'::text, 'one_off'::text]))),
  constraint orders_scheduled CHECK (((execute_at IS NULL) OR (execution_mode IS NOT NULL))),
  constraint orders_status_check CHECK ((status = ANY (ARRAY['created'::text, 'executed'::text, 'failed'::text])))
);
comment on table orders is 'Signed order forms and their execution.';
CREATE INDEX orders_newest ON public.orders USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX orders_prefix ON public.orders USING btree (organization_id, number text_pattern_ops);
CREATE INDEX orders_scheduled ON public.orders USING btree (execute_at) WHERE ((status = 'created'::text) AND (execute_at IS NOT NULL));

create table organizations (
  id uuid not null,
  name text not null,
  slug text not null,
  hmac_key text not null,
  former_hmac_key text,
  former_hmac_key_expires_at timestamp with time zone,
  sandbox boolean not null default false,
  document_number_prefix text not null,
  document_numbering text not null default 'per_customer'::text,
  finalize_zero_amount_invoice boolean not null default true,
  country text,
  address_line1 text,
  address_line2 text,
  state text,
  zipcode text,
  city text,
  email text,
  legal_name text,
  legal_number text,
  tax_identification_number text,
  net_payment_term integer not null default 0,
  email_settings text[] not null default '{}'::text[],
  invoice_footer text,
  invoice_grace_period integer not null default 0,
  document_locale text not null default 'en'::text,
  audit_logs_period_days integer,
  rate_limit_events integer,
  rate_limit_current_usage integer,
  rate_limit_default integer,
  rate_limit_events_bulk integer,
  rate_limit_access integer,
  wallet_limit integer not null default 6,
  usage_policies jsonb,
  shapes_version bigint not null default 0,
  customers_count bigint not null default 0,
  hosted_page_wait_minutes integer not null default 0,
  deny_when_overdue boolean not null default false,
  personal_properties jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  ai_settings jsonb not null default '{}'::jsonb,
  book_version bigint not null default 0,
  rate_limit_budgets integer,
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_slug_key UNIQUE (slug),
  constraint organizations_audit_logs_period_days CHECK (((audit_logs_period_days >= 1) AND (audit_logs_period_days <= 400))),
  constraint organizations_document_numbering_check CHECK ((document_numbering = ANY (ARRAY['per_customer'::text, 'per_organization'::text]))),
  constraint organizations_hosted_page_wait_minutes_check CHECK ((hosted_page_wait_minutes >= 0)),
  constraint organizations_rate_limit_access_check CHECK ((rate_limit_access > 0)),
  constraint organizations_rate_limit_budgets_check CHECK ((rate_limit_budgets > 0)),
  constraint organizations_rate_limit_current_usage_check CHECK ((rate_limit_current_usage > 0)),
  constraint organizations_rate_limit_default_check CHECK ((rate_limit_default > 0)),
  constraint organizations_rate_limit_events_bulk_check CHECK ((rate_limit_events_bulk > 0)),
  constraint organizations_rate_limit_events_check CHECK ((rate_limit_events > 0)),
  constraint organizations_wallet_limit_check CHECK (((wallet_limit >= 1) AND (wallet_limit <= 100)))
);
comment on table organizations is 'A tenant. Every other row of a tenant carries its id, which comes from the API key alone.';
comment on column organizations.ai_settings is 'settings for the usage of models, only those that were set';
comment on column organizations.book_version is 'grows with each change of its prices and of its names of models';
CREATE TRIGGER organizations_tell_access AFTER UPDATE OF deny_when_overdue ON public.organizations FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table owners (
  id uuid not null,
  organization_id uuid not null,
  email text not null,
  created_at timestamp with time zone not null,
  constraint owners_pkey PRIMARY KEY (id),
  constraint owners_email_key UNIQUE (organization_id, email),
  constraint owners_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table owners is 'People who look after quotes, known by their mail address.';

create table payment_invoices (
  organization_id uuid not null,
  payment_id uuid not null,
  invoice_id uuid not null,
  amount_cents bigint not null default 0,
  constraint payment_invoices_pkey PRIMARY KEY (organization_id, payment_id, invoice_id),
  constraint payment_invoices_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint payment_invoices_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) DEFERRABLE,
  constraint payment_invoices_amount_cents_check CHECK ((amount_cents >= 0))
);
comment on table payment_invoices is 'What a payment settled of each invoice.';
CREATE INDEX payment_invoices_invoice ON public.payment_invoices USING btree (organization_id, invoice_id);

create table payment_methods (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  payment_provider_id uuid not null,
  provider_customer_id text not null,
  provider_method_id text not null,
  method_type text not null,
  details jsonb not null default '{}'::jsonb,
  is_default boolean not null default false,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint payment_methods_pkey PRIMARY KEY (id),
  constraint payment_methods_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint payment_methods_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE
);
comment on table payment_methods is 'Stored payment methods of customers, as references to their provider.';
CREATE UNIQUE INDEX payment_methods_default_key ON public.payment_methods USING btree (organization_id, customer_id) WHERE (is_default AND (deleted_at IS NULL));
CREATE UNIQUE INDEX payment_methods_method_key ON public.payment_methods USING btree (organization_id, payment_provider_id, provider_customer_id, provider_method_id) WHERE (deleted_at IS NULL);

create table payment_pages (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  payment_provider_id uuid not null,
  payable_type text,
  payable_id uuid,
  token text not null,
  url text not null,
  amount_cents bigint,
  provider_page_id text,
  expires_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  error jsonb,
  created_at timestamp with time zone not null,
  looked_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint payment_pages_pkey PRIMARY KEY (id),
  constraint payment_pages_token_key UNIQUE (token),
  constraint payment_pages_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint payment_pages_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint payment_pages_payable_type_check CHECK ((payable_type = ANY (ARRAY['Invoice'::text, 'PaymentRequest'::text])))
);
comment on table payment_pages is 'Hosted pages on which a customer pays, or stores a payment method.';
comment on column payment_pages.looked_at is 'When a sweep last had it opened or ended at its provider again.';
comment on column payment_pages.ended_at is 'When a page that was closed here was ended at its provider.';
CREATE INDEX payment_pages_of_payable ON public.payment_pages USING btree (organization_id, payable_id, created_at) WHERE (payable_id IS NOT NULL);
CREATE INDEX payment_pages_payable ON public.payment_pages USING btree (organization_id, payable_id) WHERE (closed_at IS NULL);
CREATE INDEX payment_pages_to_look_at ON public.payment_pages USING btree (organization_id, looked_at NULLS FIRST) WHERE ((error IS NULL) AND (((url = ''::text) AND (closed_at IS NULL)) OR ((closed_at IS NOT NULL) AND (ended_at IS NULL) AND (provider_page_id IS NOT NULL))));

create table payment_providers (
  id uuid not null,
  organization_id uuid not null,
  provider_type text not null,
  emulates text,
  code text not null,
  name text not null,
  success_redirect_url text,
  secrets jsonb not null default '{}'::jsonb,
  secrets_last4 jsonb not null default '{}'::jsonb,
  settings jsonb not null default '{}'::jsonb,
  status text not null,
  last_error text,
  inbound_endpoint_id text,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  live boolean,
  checked_at timestamp with time zone,
  refused_calls integer not null default 0,
  inbound_owed_at timestamp with time zone,
  looked_at timestamp with time zone,
  reconciled_at timestamp with time zone,
  methods_compared_to uuid,
  constraint payment_providers_pkey PRIMARY KEY (id),
  constraint payment_providers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint payment_providers_status_check CHECK ((status = ANY (ARRAY['connected'::text, 'unverified'::text, 'failing'::text])))
);
comment on table payment_providers is 'Connections to payment providers. Secrets are sealed.';
comment on column payment_providers.live is 'Whether it moves real money. Null: only the provider knows, until the next check of the connection.';
comment on column payment_providers.checked_at is 'When the provider last answered a check of the credentials.';
comment on column payment_providers.refused_calls is 'Calls in a row that the provider answered with 401 or 403; after three the connection is failing.';
comment on column payment_providers.inbound_owed_at is 'Since when our address for events has to be registered at the provider. Null: it is, or it cannot be.';
comment on column payment_providers.looked_at is 'When a sweep last had it checked, or its secrets removed.';
comment on column payment_providers.reconciled_at is 'When a run has last compared all that the provider holds with ours.';
comment on column payment_providers.methods_compared_to is 'The customer whose methods a run has compared last; the next run goes on after it. Null: from the first one.';
CREATE UNIQUE INDEX payment_providers_code_key ON public.payment_providers USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table payment_receipts (
  id uuid not null,
  organization_id uuid not null,
  payment_id uuid not null,
  customer_id uuid not null,
  billing_entity_id uuid not null,
  number text not null,
  created_at timestamp with time zone not null,
  constraint payment_receipts_pkey PRIMARY KEY (id),
  constraint payment_receipts_number_key UNIQUE (organization_id, customer_id, number),
  constraint payment_receipts_payment_key UNIQUE (organization_id, payment_id),
  constraint payment_receipts_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint payment_receipts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint payment_receipts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) DEFERRABLE
);
comment on table payment_receipts is 'Receipts of payments.';
CREATE INDEX payment_receipts_customer ON public.payment_receipts USING btree (organization_id, customer_id, created_at DESC, id DESC);
CREATE INDEX payment_receipts_newest ON public.payment_receipts USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX payment_receipts_prefix ON public.payment_receipts USING btree (organization_id, number text_pattern_ops);

create table payment_request_invoices (
  organization_id uuid not null,
  payment_request_id uuid not null,
  invoice_id uuid not null,
  constraint payment_request_invoices_pkey PRIMARY KEY (organization_id, payment_request_id, invoice_id),
  constraint payment_request_invoices_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint payment_request_invoices_payment_request_id_fkey FOREIGN KEY (payment_request_id) REFERENCES payment_requests(id) DEFERRABLE
);
comment on table payment_request_invoices is 'Invoices of a payment request.';
CREATE INDEX payment_request_invoices_invoice ON public.payment_request_invoices USING btree (organization_id, invoice_id);

create table payment_requests (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  billing_entity_id uuid not null,
  amount_cents bigint not null,
  amount_currency text not null,
  email text,
  payment_status text not null default 'pending'::text,
  payment_attempts integer not null default 0,
  ready_for_payment_processing boolean not null default true,
  payment_method_type text,
  payment_method_id uuid,
  dunning_campaign_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  dunning_attempt integer,
  constraint payment_requests_pkey PRIMARY KEY (id),
  constraint payment_requests_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint payment_requests_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint payment_requests_dunning_campaign_id_fkey FOREIGN KEY (dunning_campaign_id) REFERENCES dunning_campaigns(id) DEFERRABLE,
  constraint payment_requests_payment_status_check CHECK ((payment_status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table payment_requests is 'Requests to pay several overdue invoices at once.';
comment on column payment_requests.dunning_attempt is 'which attempt of its dunning campaign made it, from 1';
CREATE INDEX payment_requests_customer ON public.payment_requests USING btree (organization_id, customer_id, created_at DESC, id DESC);
CREATE INDEX payment_requests_newest ON public.payment_requests USING btree (organization_id, created_at DESC, id DESC);

create table payments (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  payable_type text not null,
  payable_id uuid not null,
  payment_type text not null,
  amount_cents bigint not null,
  amount_currency text not null,
  wire_amount bigint,
  wire_currency text,
  status text not null,
  payment_status text not null,
  reference text,
  payment_provider_id uuid,
  provider_payment_id text,
  provider_customer_id text,
  payment_method_id uuid,
  next_action jsonb not null default '{}'::jsonb,
  error jsonb,
  charge_attempts integer not null default 0,
  charged_at timestamp with time zone,
  cancel_owed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  looked_at timestamp with time zone,
  expected_settlement_date date,
  reported_at timestamp with time zone,
  reversed_at timestamp with time zone,
  is_transfer boolean not null default false,
  customer_return jsonb,
  constraint payments_pkey PRIMARY KEY (id),
  constraint payments_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint payments_payment_method_id_fkey FOREIGN KEY (payment_method_id) REFERENCES payment_methods(id) DEFERRABLE,
  constraint payments_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint payments_amount_cents_check CHECK ((amount_cents > 0)),
  constraint payments_payable_type_check CHECK ((payable_type = ANY (ARRAY['Invoice'::text, 'PaymentRequest'::text]))),
  constraint payments_payment_status_check CHECK ((payment_status = ANY (ARRAY['pending'::text, 'processing'::text, 'succeeded'::text, 'failed'::text]))),
  constraint payments_payment_type_check CHECK ((payment_type = ANY (ARRAY['manual'::text, 'provider'::text])))
);
comment on table payments is 'Payments by hand and at providers; at most one per payable is under way.';
comment on column payments.looked_at is 'When a sweep last sent it to its provider again, or asked about it.';
comment on column payments.expected_settlement_date is 'Day on which a bank debit is expected to be paid.';
comment on column payments.reported_at is 'When that happened which its provider has reported last; a report about an earlier instant changes nothing.';
comment on column payments.reversed_at is 'When money that had come in was taken back. Null: it was not, or came again.';
comment on column payments.is_transfer is 'The customer transfers the money to an account that the provider names; no stored method is charged.';
comment on column payments.customer_return is 'What a customer brought back from the page of a bank, until the provider has answered it; null: nothing.';
CREATE INDEX payments_cancel_to_look_at ON public.payments USING btree (organization_id, looked_at NULLS FIRST) WHERE (cancel_owed_at IS NOT NULL);
CREATE INDEX payments_customer ON public.payments USING btree (organization_id, customer_id, created_at DESC, id DESC);
CREATE INDEX payments_failed ON public.payments USING btree (organization_id, created_at) WHERE (payment_status = 'failed'::text);
CREATE INDEX payments_failed_by_method ON public.payments USING btree (organization_id, payment_method_id) WHERE ((payment_status = 'failed'::text) AND (payment_method_id IS NOT NULL));
CREATE INDEX payments_newest ON public.payments USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX payments_payable ON public.payments USING btree (organization_id, payable_id);
CREATE UNIQUE INDEX payments_provider_payment_key ON public.payments USING btree (organization_id, payment_provider_id, provider_payment_id) WHERE (provider_payment_id IS NOT NULL);
CREATE INDEX payments_to_look_at ON public.payments USING btree (organization_id, looked_at NULLS FIRST) WHERE ((payment_type = 'provider'::text) AND (payment_status = ANY (ARRAY['pending'::text, 'processing'::text])));
CREATE UNIQUE INDEX payments_under_way_key ON public.payments USING btree (organization_id, payable_type, payable_id) WHERE ((payment_type = 'provider'::text) AND (payment_status = ANY (ARRAY['pending'::text, 'processing'::text])));

create table periodic_leases (
  schema_key text not null,
  job text not null,
  holder uuid,
  until timestamp with time zone not null,
  tick_at timestamp with time zone,
  place jsonb,
  constraint periodic_leases_pkey PRIMARY KEY (schema_key, job)
);
comment on table periodic_leases is 'Who works on a periodic job, one row a job and schema. By the clock of Postgres; a lease past its end may be taken.';
comment on column periodic_leases.holder is 'Null: nobody works at this moment.';
comment on column periodic_leases.tick_at is 'The tick that has begun and not ended: past `until` its holder is dead, and another process goes on.';
comment on column periodic_leases.place is 'How far the tick has handed out what is due; the next holder goes on from there. Null: it begins.';

create table plan_cascades (
  "position" bigint not null generated always as identity,
  organization_id uuid not null,
  plan_id uuid not null,
  change jsonb not null,
  created_at timestamp with time zone not null,
  constraint plan_cascades_pkey PRIMARY KEY ("position"),
  constraint plan_cascades_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE
);
comment on table plan_cascades is 'Changes of a plan that one of its overrides has yet to follow, in order.';
CREATE INDEX plan_cascades_plan ON public.plan_cascades USING btree (organization_id, plan_id, "position");

create table plan_taxes (
  organization_id uuid not null,
  plan_id uuid not null,
  tax_id uuid not null,
  constraint plan_taxes_pkey PRIMARY KEY (organization_id, plan_id, tax_id),
  constraint plan_taxes_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint plan_taxes_tax_id_fkey FOREIGN KEY (tax_id) REFERENCES taxes(id) DEFERRABLE
);
comment on table plan_taxes is 'Taxes on the fees of a plan.';

create table plans (
  id uuid not null,
  organization_id uuid not null,
  parent_id uuid,
  code text not null,
  name text not null,
  invoice_display_name text,
  description text,
  "interval" text not null,
  pay_in_advance boolean not null,
  amount_cents bigint not null,
  amount_currency text not null,
  trial_period numeric(30,15),
  bill_charges_monthly boolean,
  bill_fixed_charges_monthly boolean,
  metadata jsonb,
  usage_policies jsonb,
  pending_deletion boolean not null default false,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint plans_pkey PRIMARY KEY (id),
  constraint plans_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint plans_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES plans(id) DEFERRABLE,
  constraint plans_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint plans_interval_check CHECK (("interval" = ANY (ARRAY['weekly'::text, 'monthly'::text, 'quarterly'::text, 'semiannual'::text, 'yearly'::text]))),
  constraint plans_policies_of_plan CHECK (((parent_id IS NULL) OR (usage_policies IS NULL))),
  constraint plans_trial_period_check CHECK ((trial_period >= (0)::numeric))
);
comment on table plans is 'Prices of a subscription. A plan with parent_id is the override of one subscription.';
CREATE UNIQUE INDEX plans_code_key ON public.plans USING btree (organization_id, code) WHERE ((deleted_at IS NULL) AND (parent_id IS NULL));
CREATE INDEX plans_parent ON public.plans USING btree (organization_id, parent_id) WHERE (parent_id IS NOT NULL);
CREATE TRIGGER plans_tell_access AFTER UPDATE OF parent_id, "interval", bill_charges_monthly, pay_in_advance, amount_currency, deleted_at ON public.plans FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table portal_links (
  organization_id uuid not null,
  customer_id uuid not null,
  sent_at timestamp with time zone not null,
  constraint portal_links_pkey PRIMARY KEY (organization_id, customer_id),
  constraint portal_links_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint portal_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table portal_links is 'When a customer was last mailed a link that it asked for.';

create table portal_settings (
  organization_id uuid not null,
  billing_entity_id uuid not null,
  settings jsonb not null,
  updated_at timestamp with time zone not null,
  constraint portal_settings_pkey PRIMARY KEY (organization_id, billing_entity_id),
  constraint portal_settings_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint portal_settings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint portal_settings_settings CHECK ((jsonb_typeof(settings) = 'object'::text))
);
comment on table portal_settings is 'How the pages of an issuer''s customers look and what may be done there.';
comment on column portal_settings.settings is 'only those that were set';

create table price_aliases (
  organization_id uuid not null,
  provider text not null,
  pattern text not null,
  target_provider text,
  target_model text not null,
  constraint price_aliases_pkey PRIMARY KEY (organization_id, provider, pattern),
  constraint price_aliases_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table price_aliases is 'Other names of models: exact, or with one star at the end.';

create table price_entries (
  id uuid not null,
  organization_id uuid,
  provider text not null,
  model text not null,
  tier text not null,
  kind text not null,
  min_input_tokens bigint not null,
  cost numeric not null,
  sell numeric,
  per bigint not null,
  currency text not null,
  valid_from timestamp with time zone not null,
  source text,
  source_ref text,
  book_version bigint not null,
  retracted_version bigint,
  created_at timestamp with time zone not null,
  constraint price_entries_pkey PRIMARY KEY (id),
  constraint price_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint price_entries_cost CHECK ((cost >= (0)::numeric)),
  constraint price_entries_min_input_tokens CHECK ((min_input_tokens >= 0)),
  constraint price_entries_per CHECK ((per > 0)),
  constraint price_entries_sell CHECK ((sell >= (0)::numeric))
);
comment on table price_entries is 'Dated prices of models. A row is never changed but by its retraction: a change is a new row.';
comment on column price_entries.organization_id is 'null: a price of the deployment, for all organizations';
comment on column price_entries.min_input_tokens is 'holds for calls with more input tokens than this';
comment on column price_entries.cost is 'main units of the currency for `per` of the kind; exact';
comment on column price_entries.sell is 'what the seller asks; null: what it costs';
comment on column price_entries.book_version is 'of its layer, with which it holds; retracted_version: with which it ends';
CREATE INDEX price_entries_model ON public.price_entries USING btree (organization_id, provider, model);

create table price_imports (
  organization_id uuid,
  source text not null,
  models bigint not null,
  constraint price_imports_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table price_imports is 'How many models the last file of prices of each source had.';
comment on column price_imports.organization_id is 'null: the layer of the deployment';
CREATE UNIQUE INDEX price_imports_key ON public.price_imports USING btree (organization_id, source) NULLS NOT DISTINCT;

create table price_layers (
  name text not null,
  version bigint not null default 0,
  imported_at timestamp with time zone,
  constraint price_layers_pkey PRIMARY KEY (name),
  constraint price_layers_name CHECK ((name = 'deployment'::text))
);
comment on table price_layers is 'The layer of prices that all organizations share: its version, and the last import.';

create table price_rerating_events (
  organization_id uuid not null,
  run_id uuid not null,
  external_subscription_id text not null,
  event_id uuid not null,
  constraint price_rerating_events_pkey PRIMARY KEY (organization_id, run_id, external_subscription_id, event_id),
  constraint price_rerating_events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table price_rerating_events is 'Calls of language models that a run has still to rate again.';

create table pricing_units (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  short_name text not null,
  description text,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint pricing_units_pkey PRIMARY KEY (id),
  constraint pricing_units_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table pricing_units is 'Units other than money in which charges can be priced, such as credits or tokens.';
CREATE UNIQUE INDEX pricing_units_code_key ON public.pricing_units USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table privileges (
  id uuid not null,
  organization_id uuid not null,
  feature_id uuid not null,
  code text not null,
  name text,
  value_type text not null,
  select_options text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  constraint privileges_pkey PRIMARY KEY (id),
  constraint privileges_code_key UNIQUE (organization_id, feature_id, code),
  constraint privileges_feature_id_fkey FOREIGN KEY (feature_id) REFERENCES features(id) DEFERRABLE,
  constraint privileges_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint privileges_options CHECK (((value_type = 'select'::text) = (cardinality(select_options) > 0))),
  constraint privileges_value_type_check CHECK ((value_type = ANY (ARRAY['integer'::text, 'boolean'::text, 'string'::text, 'select'::text])))
);
comment on table privileges is 'Typed values of a feature, such as a number of seats.';
CREATE TRIGGER privileges_tell_access AFTER INSERT OR DELETE OR UPDATE ON public.privileges FOR EACH STATEMENT EXECUTE FUNCTION tell_access_of_organization();

create table progressive_runs (
  invoice_id uuid not null,
  organization_id uuid not null,
  external_subscription_id text not null,
  invoiced_amount_cents bigint not null,
  highest_threshold_id uuid not null,
  previous_invoice_id uuid,
  created_at timestamp with time zone not null,
  constraint progressive_runs_pkey PRIMARY KEY (invoice_id),
  constraint progressive_runs_crossing_key UNIQUE NULLS NOT DISTINCT (organization_id, external_subscription_id, invoiced_amount_cents, highest_threshold_id, previous_invoice_id),
  constraint progressive_runs_highest_threshold_id_fkey FOREIGN KEY (highest_threshold_id) REFERENCES usage_thresholds(id) DEFERRABLE,
  constraint progressive_runs_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint progressive_runs_previous_invoice_id_fkey FOREIGN KEY (previous_invoice_id) REFERENCES invoices(id) DEFERRABLE
);
comment on table progressive_runs is 'The crossing that a progressive invoice answers: the same crossing makes one invoice.';

create table provider_drifts (
  id uuid not null,
  organization_id uuid not null,
  connection_id uuid not null,
  kind text not null,
  severity text not null,
  status text not null,
  provider_object_id text not null,
  payment_id uuid,
  customer_id uuid,
  ours jsonb,
  theirs jsonb,
  resolution jsonb,
  run_id uuid,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  refund_asked_at timestamp with time zone,
  refund_id text,
  refund_status text,
  constraint provider_drifts_pkey PRIMARY KEY (id),
  constraint provider_drifts_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint provider_drifts_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint provider_drifts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint provider_drifts_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id) DEFERRABLE,
  constraint provider_drifts_closed CHECK (((status = 'open'::text) = (closed_at IS NULL))),
  constraint provider_drifts_severity_check CHECK ((severity = ANY (ARRAY['warning'::text, 'error'::text]))),
  constraint provider_drifts_status_check CHECK ((status = ANY (ARRAY['open'::text, 'repaired'::text, 'resolved'::text, 'vanished'::text])))
);
comment on table provider_drifts is 'Differences between our records and those of a provider.';
comment on column provider_drifts.provider_object_id is 'The provider''s id of what differs, or ours of what only we have.';
comment on column provider_drifts.resolution is 'How it ended: action, note, who.';
comment on column provider_drifts.run_id is 'The run that has seen it last. Null: it was seen by an event.';
comment on column provider_drifts.refund_asked_at is 'Since when the provider is asked to give a double payment back. Null: it is not, or it has refused.';
comment on column provider_drifts.refund_id is 'The provider''s id of that refund.';
comment on column provider_drifts.refund_status is 'The provider''s own word for the state of that refund.';
CREATE INDEX provider_drifts_closed_of_object ON public.provider_drifts USING btree (connection_id, kind, provider_object_id, closed_at) WHERE (status <> 'open'::text);
CREATE INDEX provider_drifts_newest ON public.provider_drifts USING btree (organization_id, first_seen_at DESC, id DESC);
CREATE INDEX provider_drifts_open ON public.provider_drifts USING btree (organization_id) WHERE (status = 'open'::text);
CREATE UNIQUE INDEX provider_drifts_open_key ON public.provider_drifts USING btree (connection_id, kind, provider_object_id) WHERE (status = 'open'::text);

create table provider_objects_seen (
  organization_id uuid not null,
  run_id uuid not null,
  object_id text not null,
  connection_id uuid not null,
  constraint provider_objects_seen_pkey PRIMARY KEY (run_id, connection_id, object_id),
  constraint provider_objects_seen_run_id_fkey FOREIGN KEY (run_id) REFERENCES provider_reconciliations(id) ON DELETE CASCADE DEFERRABLE
);
comment on table provider_objects_seen is 'Objects that are ours and that providers have listed in a run; those of a connection go when it is compared.';
comment on column provider_objects_seen.connection_id is 'The connection by which the provider has listed it.';

create table provider_reconciliations (
  id uuid not null,
  organization_id uuid not null,
  payment_provider_id uuid,
  status text not null,
  from_at timestamp with time zone not null,
  to_at timestamp with time zone,
  cursor jsonb,
  counts jsonb not null,
  error jsonb,
  looked_at timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  updated_at timestamp with time zone not null,
  constraint provider_reconciliations_pkey PRIMARY KEY (id),
  constraint provider_reconciliations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint provider_reconciliations_payment_provider_id_fkey FOREIGN KEY (payment_provider_id) REFERENCES payment_providers(id) DEFERRABLE,
  constraint provider_reconciliations_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table provider_reconciliations is 'Runs that compare payments, refunds and disputes with those of providers.';
comment on column provider_reconciliations.payment_provider_id is 'Null: all connections, one after the other.';
comment on column provider_reconciliations.cursor is 'What is compared next, where a worker goes on. Null: nothing yet.';
comment on column provider_reconciliations.looked_at is 'When a sweep last put its job into the queue again.';
CREATE INDEX provider_reconciliations_newest ON public.provider_reconciliations USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX provider_reconciliations_open ON public.provider_reconciliations USING btree (organization_id, looked_at NULLS FIRST) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE UNIQUE INDEX provider_reconciliations_running_key ON public.provider_reconciliations USING btree (organization_id) WHERE (status = 'running'::text);

create table quote_owners (
  organization_id uuid not null,
  quote_id uuid not null,
  owner_id uuid not null,
  "position" integer not null,
  constraint quote_owners_pkey PRIMARY KEY (organization_id, quote_id, owner_id),
  constraint quote_owners_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES owners(id) DEFERRABLE,
  constraint quote_owners_quote_id_fkey FOREIGN KEY (quote_id) REFERENCES quotes(id) DEFERRABLE
);
comment on table quote_owners is 'Owners of a quote, in order.';
CREATE INDEX quote_owners_owner ON public.quote_owners USING btree (organization_id, owner_id);

create table quote_versions (
  id uuid not null,
  organization_id uuid not null,
  quote_id uuid not null,
  version integer not null,
  status text not null default 'draft'::text,
  void_reason text,
  currency text,
  billing_entity_code text,
  content text,
  billing_items jsonb,
  display_variables jsonb,
  approved_at timestamp with time zone,
  voided_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint quote_versions_pkey PRIMARY KEY (id),
  constraint quote_versions_version_key UNIQUE (organization_id, quote_id, version),
  constraint quote_versions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint quote_versions_quote_id_fkey FOREIGN KEY (quote_id) REFERENCES quotes(id) DEFERRABLE,
  constraint quote_versions_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'approved'::text, 'voided'::text]))),
  constraint quote_versions_version_check CHECK ((version > 0)),
  constraint quote_versions_void_reason_check CHECK ((void_reason = ANY (ARRAY['manual'::text, 'superseded'::text, 'cascade_of_expired'::text, 'cascade_of_voided'::text]))),
  constraint quote_versions_voided CHECK ((((status = 'voided'::text) = (voided_at IS NOT NULL)) AND ((status = 'voided'::text) = (void_reason IS NOT NULL))))
);
comment on table quote_versions is 'Versions of a quote; an approved one becomes an order form.';
CREATE UNIQUE INDEX quote_versions_alive_key ON public.quote_versions USING btree (organization_id, quote_id) WHERE (status = ANY (ARRAY['draft'::text, 'approved'::text]));

create table quotes (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  subscription_id uuid,
  number text not null,
  order_type text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint quotes_pkey PRIMARY KEY (id),
  constraint quotes_number_key UNIQUE (organization_id, number),
  constraint quotes_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint quotes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint quotes_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint quotes_order_type_check CHECK ((order_type = ANY (ARRAY['subscription_creation'::text, 'subscription_amendment'::text, 'one_off'::text]))),
  constraint quotes_target CHECK (((order_type = 'subscription_amendment'::text) = (subscription_id IS NOT NULL)))
);
comment on table quotes is 'Quotes, whose content stands in their versions.';
CREATE INDEX quotes_customer ON public.quotes USING btree (organization_id, customer_id);
CREATE INDEX quotes_newest ON public.quotes USING btree (organization_id, created_at DESC, id DESC);
CREATE INDEX quotes_prefix ON public.quotes USING btree (organization_id, number text_pattern_ops);

create table recurring_transaction_rules (
  id uuid not null,
  organization_id uuid not null,
  wallet_id uuid not null,
  status text not null,
  trigger text not null,
  method text not null,
  "interval" text,
  threshold_credits numeric(40,5) not null default 0,
  paid_credits numeric(40,5) not null default 0,
  granted_credits numeric(40,5) not null default 0,
  target_ongoing_balance numeric(40,5),
  grants_target_top_up boolean not null default false,
  started_at timestamp with time zone,
  expiration_at timestamp with time zone,
  invoice_requires_successful_payment boolean not null,
  ignore_paid_top_up_limits boolean not null default false,
  transaction_name text,
  transaction_metadata jsonb not null default '[]'::jsonb,
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  skip_invoice_custom_sections boolean,
  next_top_up_on date,
  terminated_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint recurring_transaction_rules_pkey PRIMARY KEY (id),
  constraint recurring_transaction_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint recurring_transaction_rules_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE,
  constraint recurring_transaction_rules_interval_check CHECK (("interval" = ANY (ARRAY['weekly'::text, 'monthly'::text, 'quarterly'::text, 'semiannual'::text, 'yearly'::text]))),
  constraint recurring_transaction_rules_method_check CHECK ((method = ANY (ARRAY['fixed'::text, 'target'::text]))),
  constraint recurring_transaction_rules_status_check CHECK ((status = ANY (ARRAY['active'::text, 'terminated'::text]))),
  constraint recurring_transaction_rules_trigger_check CHECK ((trigger = ANY (ARRAY['interval'::text, 'threshold'::text])))
);
comment on table recurring_transaction_rules is 'Rules by which a wallet is topped up: by interval or below a threshold.';
CREATE UNIQUE INDEX recurring_transaction_rules_active_key ON public.recurring_transaction_rules USING btree (organization_id, wallet_id) WHERE (status = 'active'::text);
CREATE INDEX recurring_transaction_rules_due ON public.recurring_transaction_rules USING btree (next_top_up_on) WHERE ((status = 'active'::text) AND (next_top_up_on IS NOT NULL));
CREATE INDEX recurring_transaction_rules_expiring ON public.recurring_transaction_rules USING btree (expiration_at) WHERE ((status = 'active'::text) AND (expiration_at IS NOT NULL));

create table removed_events (
  organization_id uuid not null,
  external_subscription_id text not null,
  code text not null,
  month date not null,
  events_count bigint not null,
  first_timestamp timestamp with time zone not null,
  last_timestamp timestamp with time zone not null,
  restored_at timestamp with time zone,
  constraint removed_events_pkey PRIMARY KEY (organization_id, external_subscription_id, code, month)
);
comment on table removed_events is 'How many events of a subscription, code and month were removed, and of which time.';
CREATE INDEX removed_events_of_month ON public.removed_events USING btree (organization_id, month);

create table replication_heartbeats (
  id boolean not null default true,
  beaten_at timestamp with time zone not null,
  constraint replication_heartbeats_pkey PRIMARY KEY (id),
  constraint replication_heartbeats_id_check CHECK (id)
);
comment on table replication_heartbeats is 'One row: when the primary was last alive, by its own clock. Written once a second while there are read replicas, which show by their copy how far behind they are.';

create table restored_events (
  id uuid not null,
  organization_id uuid not null,
  external_subscription_id text not null,
  transaction_id text not null,
  code text not null,
  "timestamp" timestamp with time zone not null,
  properties jsonb not null,
  precise_total_amount_cents numeric(40,15),
  digest bytea not null,
  user_agent text,
  remote_address text,
  version integer not null default 1,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  constraint restored_events_pkey PRIMARY KEY (id)
);
comment on table restored_events is 'Removed events that were brought back from the archive, for reads and verifications only.';
CREATE INDEX restored_events_of_subscription ON public.restored_events USING btree (organization_id, external_subscription_id, code, "timestamp");

create table retention_rules (
  organization_id uuid not null,
  class text not null,
  days integer,
  updated_at timestamp with time zone not null,
  constraint retention_rules_pkey PRIMARY KEY (organization_id, class),
  constraint retention_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint retention_rules_days_check CHECK ((days > 0))
);
comment on table retention_rules is 'Days that rows of a class are kept where an organization chose other than the default; null keeps them for ever.';
CREATE INDEX retention_rules_class ON public.retention_rules USING btree (class, days);

create table runs (
  id uuid not null,
  organization_id uuid not null,
  kind text not null,
  status text not null default 'pending'::text,
  cursor jsonb,
  done bigint not null default 0,
  total bigint,
  input jsonb not null default '{}'::jsonb,
  result jsonb,
  error jsonb,
  attempts integer not null default 0,
  lease_until timestamp with time zone,
  created_at timestamp with time zone not null,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint runs_pkey PRIMARY KEY (id),
  constraint runs_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'canceled'::text])))
);
comment on table runs is 'Work longer than a request, with its progress and its result.';
CREATE INDEX runs_open ON public.runs USING btree (lease_until) WHERE (status = ANY (ARRAY['pending'::text, 'running'::text]));
CREATE INDEX runs_organization ON public.runs USING btree (organization_id, kind, created_at DESC);

create table sandbox_mails (
  id uuid not null,
  organization_id uuid not null,
  recipients text[] not null,
  bcc text[] not null default '{}'::text[],
  subject text not null,
  body text not null,
  attachments jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null,
  html text,
  constraint sandbox_mails_pkey PRIMARY KEY (id)
);
comment on table sandbox_mails is 'Mails of sandbox organizations: they are kept here instead of being sent.';
CREATE INDEX sandbox_mails_newest ON public.sandbox_mails USING btree (organization_id, created_at DESC, id DESC);

create table schedule_ticks (
  job text not null,
  tick_at timestamp with time zone not null,
  claimed_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  error text,
  constraint schedule_ticks_pkey PRIMARY KEY (job, tick_at)
);
comment on table schedule_ticks is 'One row per tick of a periodic job. Whoever inserts the row enqueues the job, so that a tick runs once.';
CREATE INDEX schedule_ticks_age ON public.schedule_ticks USING btree (tick_at);

create table schema_migrations (
  name text not null,
  checksum text not null,
  constraint schema_migrations_pkey PRIMARY KEY (name)
);

create table security_logs (
  id uuid not null,
  organization_id uuid not null,
  log_type text not null,
  log_event text not null,
  user_id uuid,
  user_email text,
  api_key_id uuid,
  resources jsonb not null default '{}'::jsonb,
  device_info jsonb not null default '{}'::jsonb,
  logged_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint security_logs_pkey PRIMARY KEY (id, created_at)
) partition by RANGE (created_at);
comment on table security_logs is 'Changes of keys, endpoints and other security settings. Partitioned by month of real time.';
CREATE INDEX security_logs_newest ON ONLY public.security_logs USING btree (organization_id, logged_at DESC, id DESC);

create table security_logs_2026_11 partition of security_logs FOR VALUES FROM ('2026-11-01 00:00:00+00') TO ('2026-12-01 00:00:00+00');

create table security_logs_2026_12 partition of security_logs FOR VALUES FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');

create table security_logs_default partition of security_logs DEFAULT;

create table subscription_activation_rules (
  id uuid not null,
  organization_id uuid not null,
  subscription_id uuid not null,
  rule_type text not null,
  timeout_hours integer not null,
  status text not null,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint subscription_activation_rules_pkey PRIMARY KEY (id),
  constraint subscription_activation_rules_key UNIQUE (organization_id, subscription_id, rule_type),
  constraint subscription_activation_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint subscription_activation_rules_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint subscription_activation_rules_rule_type_check CHECK ((rule_type = 'payment'::text)),
  constraint subscription_activation_rules_status_check CHECK ((status = ANY (ARRAY['inactive'::text, 'pending'::text, 'satisfied'::text, 'declined'::text, 'failed'::text, 'expired'::text, 'not_applicable'::text]))),
  constraint subscription_activation_rules_timeout_hours_check CHECK ((timeout_hours >= 0))
);
comment on table subscription_activation_rules is 'What a subscription waits for before it becomes active, such as the payment of its first invoice.';
CREATE INDEX subscription_activation_rules_expiring ON public.subscription_activation_rules USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX subscription_activation_rules_expiring_in_turn ON public.subscription_activation_rules USING btree (organization_id, expires_at, subscription_id) WHERE (status = 'pending'::text);

create table subscriptions (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  plan_id uuid not null,
  previous_subscription_id uuid,
  switch_kind text,
  billing_entity_id uuid,
  external_id text not null,
  name text,
  status text not null,
  billing_time text not null default 'calendar'::text,
  subscription_at timestamp with time zone not null,
  started_at timestamp with time zone,
  activated_at timestamp with time zone,
  ending_at timestamp with time zone,
  terminated_at timestamp with time zone,
  canceled_at timestamp with time zone,
  cancellation_reason text,
  trial_ended_at timestamp with time zone,
  on_termination_credit_note text,
  on_termination_invoice text not null default 'generate'::text,
  consolidate_invoice boolean not null default true,
  progressive_billing_disabled boolean not null default false,
  skip_invoice_custom_sections boolean not null default false,
  purchase_order_number text,
  payment_method_type text,
  payment_method_id uuid,
  last_received_event_on date,
  usage_may_have_changed boolean not null default false,
  next_billing_at timestamp with time zone,
  termination_alerted_on date,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  buyer_reference text,
  constraint subscriptions_pkey PRIMARY KEY (id),
  constraint subscriptions_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint subscriptions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint subscriptions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint subscriptions_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint subscriptions_previous_subscription_id_fkey FOREIGN KEY (previous_subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint subscriptions_billing_time_check CHECK ((billing_time = ANY (ARRAY['calendar'::text, 'anniversary'::text]))),
  constraint subscriptions_cancellation_reason_check CHECK ((cancellation_reason = ANY (ARRAY['payment_failed'::text, 'timeout'::text]))),
  constraint subscriptions_on_termination_credit_note_check CHECK ((on_termination_credit_note = ANY (ARRAY['credit'::text, 'refund'::text, 'offset'::text, 'skip'::text]))),
  constraint subscriptions_on_termination_invoice_check CHECK ((on_termination_invoice = ANY (ARRAY['generate'::text, 'skip'::text]))),
  constraint subscriptions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'incomplete'::text, 'active'::text, 'terminated'::text, 'canceled'::text]))),
  constraint subscriptions_switch_has_kind CHECK (((switch_kind IS NULL) = (previous_subscription_id IS NULL))),
  constraint subscriptions_switch_kind_known CHECK ((switch_kind = ANY (ARRAY['upgrade'::text, 'downgrade'::text])))
);
comment on table subscriptions is 'A plan used by a customer. Records with the same external_id follow each other when the plan changes.';
CREATE UNIQUE INDEX subscriptions_active_key ON public.subscriptions USING btree (organization_id, external_id) WHERE (status = 'active'::text);
CREATE INDEX subscriptions_customer ON public.subscriptions USING btree (organization_id, customer_id);
CREATE INDEX subscriptions_due ON public.subscriptions USING btree (next_billing_at) WHERE (status = 'active'::text);
CREATE INDEX subscriptions_due_in_turn ON public.subscriptions USING btree (organization_id, next_billing_at, customer_id, id) WHERE (status = 'active'::text);
CREATE INDEX subscriptions_due_of_organization ON public.subscriptions USING btree (organization_id, next_billing_at) WHERE (status = 'active'::text);
CREATE INDEX subscriptions_ending ON public.subscriptions USING btree (ending_at) WHERE ((status = 'active'::text) AND (ending_at IS NOT NULL));
CREATE INDEX subscriptions_ending_in_turn ON public.subscriptions USING btree (organization_id, ending_at, id) WHERE ((status = 'active'::text) AND (ending_at IS NOT NULL));
CREATE INDEX subscriptions_external_id ON public.subscriptions USING btree (organization_id, external_id);
CREATE UNIQUE INDEX subscriptions_incomplete_key ON public.subscriptions USING btree (organization_id, external_id) WHERE (status = 'incomplete'::text);
CREATE INDEX subscriptions_newest ON public.subscriptions USING btree (organization_id, subscription_at DESC NULLS LAST, created_at DESC, id DESC);
CREATE INDEX subscriptions_pending ON public.subscriptions USING btree (subscription_at) WHERE (status = 'pending'::text);
CREATE INDEX subscriptions_pending_in_turn ON public.subscriptions USING btree (organization_id, subscription_at, id) WHERE ((status = 'pending'::text) AND (previous_subscription_id IS NULL));
CREATE INDEX subscriptions_plan ON public.subscriptions USING btree (organization_id, plan_id);
CREATE INDEX subscriptions_prefix ON public.subscriptions USING btree (organization_id, external_id text_pattern_ops);
CREATE INDEX subscriptions_previous ON public.subscriptions USING btree (organization_id, previous_subscription_id) WHERE (previous_subscription_id IS NOT NULL);
CREATE TRIGGER subscriptions_tell_access AFTER INSERT OR DELETE OR UPDATE OF customer_id, plan_id, billing_entity_id, previous_subscription_id, external_id, status, billing_time, subscription_at, started_at, activated_at, ending_at, terminated_at ON public.subscriptions FOR EACH ROW EXECUTE FUNCTION tell_access_of_subscription();

create table taken_late_events (
  organization_id uuid not null,
  event_id uuid not null,
  taken_at timestamp with time zone not null,
  correction_id uuid,
  constraint taken_late_events_pkey PRIMARY KEY (organization_id, event_id),
  constraint taken_late_events_correction_id_fkey FOREIGN KEY (correction_id) REFERENCES event_corrections(id) DEFERRABLE
);
comment on table taken_late_events is 'Late events that a correction has already priced.';
comment on column taken_late_events.correction_id is 'The correction of late events that settled it; null where another correction took it in, or nothing was settled.';
CREATE INDEX taken_late_events_correction ON public.taken_late_events USING btree (organization_id, correction_id) WHERE (correction_id IS NOT NULL);

create table tax_documents (
  id uuid not null,
  organization_id uuid not null,
  integration_id uuid not null,
  customer_id uuid not null,
  kind text not null,
  document_key text not null,
  invoice_id uuid,
  fee_id uuid,
  credit_note_id uuid,
  version integer not null default 0,
  tax_version integer,
  document jsonb,
  answer jsonb,
  status text not null,
  attempts integer not null default 0,
  asked_at timestamp with time zone not null,
  told_at timestamp with time zone,
  next_attempt_at timestamp with time zone,
  error_code text,
  error_message text,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  called_at timestamp with time zone,
  leased_until timestamp with time zone,
  sent_document jsonb,
  negated_at timestamp with time zone,
  constraint tax_documents_pkey PRIMARY KEY (id),
  constraint tax_documents_document_key UNIQUE (organization_id, document_key, kind, integration_id),
  constraint tax_documents_credit_note_id_fkey FOREIGN KEY (credit_note_id) REFERENCES credit_notes(id) ON DELETE CASCADE DEFERRABLE,
  constraint tax_documents_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint tax_documents_fee_id_fkey FOREIGN KEY (fee_id) REFERENCES fees(id) ON DELETE CASCADE DEFERRABLE,
  constraint tax_documents_integration_id_fkey FOREIGN KEY (integration_id) REFERENCES integrations(id) DEFERRABLE,
  constraint tax_documents_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) ON DELETE CASCADE DEFERRABLE,
  constraint tax_documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint tax_documents_kind_check CHECK ((kind = ANY (ARRAY['estimate'::text, 'record'::text, 'correct'::text, 'void'::text]))),
  constraint tax_documents_pending CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint tax_documents_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'answered'::text, 'refused'::text, 'given_up'::text, 'dropped'::text])))
);
comment on table tax_documents is 'Documents that a tax engine is, or was, asked about.';
comment on column tax_documents.called_at is 'First call since the engine holds, or may hold, the document.';
comment on column tax_documents.leased_until is 'Until then a call may be under way: no other about this document.';
comment on column tax_documents.sent_document is 'What the latest call has sent.';
CREATE INDEX tax_documents_due ON public.tax_documents USING btree (next_attempt_at) WHERE (status = 'pending'::text);
CREATE INDEX tax_documents_fee ON public.tax_documents USING btree (organization_id, fee_id) WHERE (fee_id IS NOT NULL);
CREATE INDEX tax_documents_invoice ON public.tax_documents USING btree (organization_id, invoice_id) WHERE (invoice_id IS NOT NULL);
CREATE INDEX tax_documents_note ON public.tax_documents USING btree (organization_id, credit_note_id) WHERE (credit_note_id IS NOT NULL);
CREATE INDEX tax_documents_old_estimates ON public.tax_documents USING btree (updated_at) WHERE (kind = 'estimate'::text);
CREATE INDEX tax_documents_open_of_customer ON public.tax_documents USING btree (organization_id, customer_id, id) WHERE (status = ANY (ARRAY['pending'::text, 'refused'::text, 'given_up'::text]));
CREATE INDEX tax_documents_open_of_integration ON public.tax_documents USING btree (organization_id, integration_id, id) WHERE (status = ANY (ARRAY['pending'::text, 'refused'::text, 'given_up'::text]));

create table taxes (
  id uuid not null,
  organization_id uuid not null,
  code text not null,
  name text not null,
  description text,
  rate numeric(30,10) not null,
  auto_generated boolean not null default false,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  vat_category text,
  exemption_code text,
  exemption_text text,
  not_vat boolean not null default false,
  constraint taxes_pkey PRIMARY KEY (id),
  constraint taxes_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint taxes_rate_check CHECK ((rate >= (0)::numeric)),
  constraint taxes_vat_category_check CHECK ((vat_category = ANY (ARRAY['S'::text, 'Z'::text, 'E'::text, 'AE'::text, 'K'::text, 'G'::text, 'O'::text])))
);
comment on table taxes is 'Tax rates in percent. Those with auto_generated were made by the EU tax management.';
CREATE UNIQUE INDEX taxes_code_key ON public.taxes USING btree (organization_id, code) WHERE (deleted_at IS NULL);

create table test_clock_leases (
  organization_id uuid not null,
  token uuid,
  until timestamp with time zone not null,
  constraint test_clock_leases_pkey PRIMARY KEY (organization_id),
  constraint test_clock_leases_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES test_clocks(organization_id) ON DELETE CASCADE DEFERRABLE
);
comment on table test_clock_leases is 'Which worker advances a clock, and the real time until which it is believed alive. A row of its own: on the clock''s row the heartbeat waited for every job that held the clock.';
CREATE INDEX test_clock_leases_until ON public.test_clock_leases USING btree (until);

create table test_clock_timeline (
  organization_id uuid not null,
  sequence bigint not null,
  at timestamp with time zone not null,
  kind text not null,
  name text not null,
  resource_type text,
  resource_id uuid,
  external_customer_id text,
  summary jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null,
  constraint test_clock_timeline_pkey PRIMARY KEY (organization_id, sequence),
  constraint test_clock_timeline_kind_check CHECK ((kind = ANY (ARRAY['clock'::text, 'job'::text, 'activity'::text, 'webhook'::text, 'payment'::text])))
);
comment on table test_clock_timeline is 'What happened while a clock advanced, in order: jobs, activities, webhooks, payments.';

create table test_clock_timelines (
  organization_id uuid not null,
  last bigint not null,
  first bigint not null,
  clock_deleted_at timestamp with time zone,
  constraint test_clock_timelines_pkey PRIMARY KEY (organization_id)
);
comment on table test_clock_timelines is 'Counter of a clock''s timeline. A row of its own, locked last in every transaction that writes lines, so that writers which share the clock''s row never wait for each other in a circle. It outlives the clock.';

create table test_clocks (
  organization_id uuid not null,
  frozen_time timestamp with time zone not null,
  target_time timestamp with time zone,
  status text not null default 'ready'::text,
  phase jsonb,
  started_from timestamp with time zone,
  steps_done integer not null default 0,
  advances_count integer not null default 0,
  cancel_requested boolean not null default false,
  error jsonb,
  lease_token uuid,
  created_at timestamp with time zone not null,
  constraint test_clocks_pkey PRIMARY KEY (organization_id),
  constraint test_clocks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint test_clocks_status_check CHECK ((status = ANY (ARRAY['ready'::text, 'advancing'::text, 'failed'::text])))
);
comment on table test_clocks is 'The clock of a sandbox organization: its frozen time and the advance under way.';

create table triggered_alerts (
  id uuid not null,
  organization_id uuid not null,
  alert_id uuid not null,
  evaluation bigint not null,
  subscription_id uuid,
  wallet_id uuid,
  current_value numeric not null,
  previous_value numeric not null,
  crossed_thresholds jsonb not null,
  triggered_at timestamp with time zone not null,
  constraint triggered_alerts_pkey PRIMARY KEY (id),
  constraint triggered_alerts_evaluation_key UNIQUE (organization_id, alert_id, evaluation),
  constraint triggered_alerts_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES alerts(id) DEFERRABLE,
  constraint triggered_alerts_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint triggered_alerts_wallet_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE
);
comment on table triggered_alerts is 'Evaluations that crossed a threshold. The key makes a crossing count once, however often it is evaluated.';

create table unmatched_events (
  organization_id uuid not null,
  event_id uuid not null,
  reason text not null,
  code text not null,
  external_subscription_id text not null,
  event_timestamp timestamp with time zone not null,
  first_seen_at timestamp with time zone not null,
  status text not null default 'open'::text,
  healed_at timestamp with time zone,
  correction_id uuid,
  shares_total boolean not null default false,
  constraint unmatched_events_pkey PRIMARY KEY (organization_id, event_id),
  constraint unmatched_events_status_check CHECK ((status = ANY (ARRAY['open'::text, 'healed'::text, 'ignored'::text])))
);
comment on table unmatched_events is 'Events without a metric or subscription. They heal when the missing one is made.';
CREATE INDEX unmatched_events_newest ON public.unmatched_events USING btree (organization_id, status, first_seen_at DESC, event_id DESC);
CREATE INDEX unmatched_events_open_code ON public.unmatched_events USING btree (organization_id, code, event_id) WHERE (status = 'open'::text);
CREATE INDEX unmatched_events_open_subscription ON public.unmatched_events USING btree (organization_id, external_subscription_id, event_id) WHERE (status = 'open'::text);
CREATE INDEX unmatched_events_reason ON public.unmatched_events USING btree (organization_id, status, reason, code);

create table unmatched_totals (
  organization_id uuid not null,
  reason text not null,
  code text not null,
  count bigint not null,
  kept bigint not null default 0,
  first_seen_at timestamp with time zone not null,
  last_seen_at timestamp with time zone not null,
  constraint unmatched_totals_pkey PRIMARY KEY (organization_id, reason, code)
);
comment on table unmatched_totals is 'How many events were found unmatched per reason and code; beyond a limit only these counters grow.';
CREATE INDEX unmatched_totals_empty ON public.unmatched_totals USING btree (organization_id) WHERE (count <= 0);
CREATE INDEX unmatched_totals_open ON public.unmatched_totals USING btree (organization_id) WHERE (count > 0);
CREATE INDEX unmatched_totals_overflown ON public.unmatched_totals USING btree (organization_id, code) WHERE (kept < count);

create table usage_buckets (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  hour timestamp with time zone not null,
  group_hash bytea not null,
  events_count bigint not null,
  valid_count bigint not null,
  sum numeric not null default 0,
  moment numeric not null default 0,
  amount numeric not null default 0,
  max numeric,
  last_ts timestamp with time zone,
  last_created_at timestamp with time zone,
  last_id uuid,
  last_value numeric,
  digest numeric not null default 0,
  max_id uuid,
  constraint usage_buckets_pkey PRIMARY KEY (organization_id, external_subscription_id, shape_id, hour, group_hash)
) with (fillfactor=70, autovacuum_analyze_scale_factor=0.01);
comment on table usage_buckets is 'Usage per subscription, shape, hour and group: what reads and invoices add up instead of events.';
comment on column usage_buckets.digest is 'sum over the events of 10^83 + the first 240 bits of a SHA-256: src/areas/catalog/usage-shapes/event-digest.ts';
comment on column usage_buckets.max_id is 'no event that was ever in here has a greater id';

create table usage_days (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  day timestamp with time zone not null,
  group_hash bytea not null,
  events_count bigint not null,
  valid_count bigint not null,
  sum numeric not null,
  moment numeric not null,
  amount numeric not null default 0,
  digest numeric not null default 0,
  max_id uuid,
  constraint usage_days_pkey PRIMARY KEY (organization_id, external_subscription_id, shape_id, day, group_hash)
) with (fillfactor=70);
comment on table usage_days is 'Sums of the buckets of one UTC day, of shapes that keep days; greatest and last values stay with the hours.';
comment on column usage_days.digest is 'sum of the digests of the hours of the day';
comment on column usage_days.max_id is 'greatest max_id of the hours of the day';

create table usage_dirty_hours (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  hour timestamp with time zone not null,
  marks integer not null default 1,
  constraint usage_dirty_hours_pkey PRIMARY KEY (organization_id, shape_id, external_subscription_id, hour)
);
comment on table usage_dirty_hours is '(subscription, hour) keys touched while a shape is being built, drained before it goes live; of a live shape, hours whose repair is pending. A writer always updates the row, so that draining waits for writers under way.';

create table usage_groups (
  organization_id uuid not null,
  shape_id uuid not null,
  group_hash bytea not null,
  properties jsonb not null,
  constraint usage_groups_pkey PRIMARY KEY (organization_id, shape_id, group_hash)
);
comment on table usage_groups is 'Values of the grouping properties behind each group hash of a shape.';

create table usage_marks (
  id uuid not null,
  organization_id uuid not null,
  subscription_id uuid not null,
  marked_at timestamp with time zone not null,
  constraint usage_marks_pkey PRIMARY KEY (id),
  constraint usage_marks_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE
);
comment on table usage_marks is 'Subscriptions whose usage, alerts or thresholds changed. Rows are only added, so that writers never wait for the worker.';
CREATE INDEX usage_marks_oldest ON public.usage_marks USING btree (marked_at);
CREATE INDEX usage_marks_subscription ON public.usage_marks USING btree (organization_id, subscription_id);

create table usage_raw_subscriptions (
  organization_id uuid not null,
  shape_id uuid not null,
  external_subscription_id text not null,
  marked_at timestamp with time zone not null,
  constraint usage_raw_subscriptions_pkey PRIMARY KEY (organization_id, shape_id, external_subscription_id)
);
comment on table usage_raw_subscriptions is '(shape, subscription) pairs with too many combinations of groups: reads scan their events.';

create table usage_shapes (
  id uuid not null,
  organization_id uuid not null,
  billable_metric_id uuid not null,
  code text not null,
  aggregation_type text not null,
  field_name text,
  property_names text[] not null,
  state text not null,
  built_through text,
  keeps_days boolean not null default false,
  keeps_amounts boolean not null default true,
  created_at timestamp with time zone not null,
  constraint usage_shapes_pkey PRIMARY KEY (id),
  constraint usage_shapes_billable_metric_id_fkey FOREIGN KEY (billable_metric_id) REFERENCES billable_metrics(id) DEFERRABLE,
  constraint usage_shapes_state_check CHECK ((state = ANY (ARRAY['building'::text, 'live'::text, 'retired'::text])))
);
comment on table usage_shapes is 'What is rolled up of a metric''s events: aggregation, field and grouping properties. Charges that need the same share one.';
CREATE UNIQUE INDEX usage_shapes_building_key ON public.usage_shapes USING btree (organization_id, billable_metric_id) WHERE (state = 'building'::text);
CREATE UNIQUE INDEX usage_shapes_live_key ON public.usage_shapes USING btree (organization_id, billable_metric_id) WHERE (state = 'live'::text);

create table usage_thresholds (
  id uuid not null,
  organization_id uuid not null,
  plan_id uuid,
  subscription_id uuid,
  amount_cents bigint not null,
  threshold_display_name text,
  recurring boolean not null,
  deleted_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint usage_thresholds_pkey PRIMARY KEY (id),
  constraint usage_thresholds_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint usage_thresholds_plan_id_fkey FOREIGN KEY (plan_id) REFERENCES plans(id) DEFERRABLE,
  constraint usage_thresholds_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscriptions(id) DEFERRABLE,
  constraint usage_thresholds_amount_cents_check CHECK ((amount_cents > 0)),
  constraint usage_thresholds_one_owner CHECK (((plan_id IS NULL) <> (subscription_id IS NULL)))
);
comment on table usage_thresholds is 'Amounts of usage, on a plan or a subscription, at which a progressive invoice is made.';
CREATE UNIQUE INDEX usage_thresholds_plan_key ON public.usage_thresholds USING btree (organization_id, plan_id, amount_cents, recurring) WHERE ((deleted_at IS NULL) AND (plan_id IS NOT NULL));
CREATE UNIQUE INDEX usage_thresholds_plan_recurring_key ON public.usage_thresholds USING btree (organization_id, plan_id) WHERE ((deleted_at IS NULL) AND (plan_id IS NOT NULL) AND recurring);
CREATE UNIQUE INDEX usage_thresholds_subscription_key ON public.usage_thresholds USING btree (organization_id, subscription_id, amount_cents, recurring) WHERE ((deleted_at IS NULL) AND (subscription_id IS NOT NULL));
CREATE UNIQUE INDEX usage_thresholds_subscription_recurring_key ON public.usage_thresholds USING btree (organization_id, subscription_id) WHERE ((deleted_at IS NULL) AND (subscription_id IS NOT NULL) AND recurring);

create table usage_uniques (
  organization_id uuid not null,
  external_subscription_id text not null,
  shape_id uuid not null,
  hour timestamp with time zone not null,
  group_hash bytea not null,
  value_hash bytea not null,
  has_add boolean not null,
  is_member boolean not null,
  last_ts timestamp with time zone not null,
  last_created_at timestamp with time zone not null,
  last_id uuid not null,
  constraint usage_uniques_pkey PRIMARY KEY (organization_id, external_subscription_id, shape_id, hour, group_hash, value_hash)
) with (fillfactor=80, autovacuum_analyze_scale_factor=0.01);
comment on table usage_uniques is 'Of each value and hour of a unique count: whether it was added, and what its last operation left. Can be computed again in any order and any number of times. Values are kept as hashes.';

create table verifications (
  id uuid not null,
  organization_id uuid not null,
  invoice_id uuid not null,
  level text not null,
  status text not null,
  result jsonb not null,
  created_at timestamp with time zone not null,
  constraint verifications_pkey PRIMARY KEY (id),
  constraint verifications_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint verifications_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint verifications_level_check CHECK ((level = ANY (ARRAY['inputs'::text, 'events'::text]))),
  constraint verifications_status_check CHECK ((status = ANY (ARRAY['equal'::text, 'different'::text, 'not_verifiable'::text])))
);
comment on table verifications is 'Results of invoice verifications.';
CREATE INDEX verifications_invoice ON public.verifications USING btree (organization_id, invoice_id, created_at DESC, id DESC);

create table vies_checks (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  tax_identification_number text not null,
  status text not null,
  tax_ids uuid[] not null default '{}'::uuid[],
  attempts integer not null default 0,
  last_error text,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint vies_checks_pkey PRIMARY KEY (id),
  constraint vies_checks_customer_key UNIQUE (organization_id, customer_id),
  constraint vies_checks_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint vies_checks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint vies_checks_pending CHECK (((status = 'pending'::text) = (next_attempt_at IS NOT NULL))),
  constraint vies_checks_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'valid'::text, 'invalid'::text])))
);
comment on table vies_checks is 'Checks of VAT numbers in the EU register, tried again until the register answers.';
CREATE INDEX vies_checks_due ON public.vies_checks USING btree (next_attempt_at) WHERE (status = 'pending'::text);

create table wallet_days (
  organization_id uuid not null,
  wallet_id uuid not null,
  day date not null,
  balance_cents bigint not null,
  ongoing_balance_cents bigint not null,
  added_cents bigint not null,
  constraint wallet_days_pkey PRIMARY KEY (organization_id, wallet_id, day),
  constraint wallet_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint wallet_days_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE
);
comment on table wallet_days is 'The last figures of a wallet on each day, in its customer''s zone; a day without a row is as the one before.';
comment on column wallet_days.added_cents is 'top-ups of the day less what was voided';
CREATE INDEX wallet_days_day ON public.wallet_days USING btree (day);

create table wallet_held (
  organization_id uuid not null,
  wallet_id uuid not null,
  held_cents bigint not null default 0,
  counted_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint wallet_held_pkey PRIMARY KEY (organization_id, wallet_id),
  constraint wallet_held_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint wallet_held_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) ON DELETE CASCADE DEFERRABLE,
  constraint wallet_held_not_negative CHECK ((held_cents >= 0))
) with (fillfactor=50);
comment on table wallet_held is 'Sum of the holds that count against a wallet. A trigger keeps it in step; it cannot become negative.';

create table wallet_holds (
  id uuid not null,
  organization_id uuid not null,
  wallet_id uuid not null,
  status text not null default 'open'::text,
  amount_cents bigint not null,
  available_cents bigint not null,
  settled_amount_cents bigint,
  reference text,
  external_subscription_id text,
  event_transaction_id text,
  settlement_digest bytea,
  awaits_refresh boolean not null default false,
  expires_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint wallet_holds_pkey PRIMARY KEY (id),
  constraint wallet_holds_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint wallet_holds_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE,
  constraint wallet_holds_amount_cents_check CHECK ((amount_cents > 0)),
  constraint wallet_holds_awaited CHECK (((status = 'settled'::text) OR (NOT awaits_refresh))),
  constraint wallet_holds_closed CHECK (((status = 'open'::text) = (closed_at IS NULL))),
  constraint wallet_holds_covered CHECK ((amount_cents <= available_cents)),
  constraint wallet_holds_status_check CHECK ((status = ANY (ARRAY['open'::text, 'settled'::text, 'released'::text, 'expired'::text])))
);
comment on table wallet_holds is 'Credit of a wallet that is set aside before it is used.';
CREATE INDEX wallet_holds_awaited ON public.wallet_holds USING btree (wallet_id) WHERE awaits_refresh;
CREATE INDEX wallet_holds_ending ON public.wallet_holds USING btree (organization_id, wallet_id, expires_at) WHERE (status = 'open'::text);
CREATE INDEX wallet_holds_expiring ON public.wallet_holds USING btree (expires_at) WHERE (status = 'open'::text);
CREATE INDEX wallet_holds_newest ON public.wallet_holds USING btree (organization_id, wallet_id, created_at DESC, id DESC);
CREATE TRIGGER wallet_holds_follow AFTER INSERT OR DELETE OR UPDATE ON public.wallet_holds FOR EACH ROW EXECUTE FUNCTION follow_wallet_holds();

create table wallet_marks (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  marked_at timestamp with time zone not null,
  constraint wallet_marks_pkey PRIMARY KEY (id),
  constraint wallet_marks_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE
);
comment on table wallet_marks is 'Customers whose usage, invoices or wallets changed. Rows are only added, so that writers never wait for the worker.';
CREATE INDEX wallet_marks_customer ON public.wallet_marks USING btree (organization_id, customer_id);
CREATE INDEX wallet_marks_oldest ON public.wallet_marks USING btree (marked_at);

create table wallet_transaction_consumptions (
  id uuid not null,
  organization_id uuid not null,
  inbound_wallet_transaction_id uuid not null,
  outbound_wallet_transaction_id uuid not null,
  consumed_amount_cents bigint not null,
  consumed_purchased_cents bigint not null,
  created_at timestamp with time zone not null,
  constraint wallet_transaction_consumptions_pkey PRIMARY KEY (id),
  constraint wallet_transaction_consumptions_key UNIQUE (organization_id, inbound_wallet_transaction_id, outbound_wallet_transaction_id),
  constraint wallet_transaction_consumptio_inbound_wallet_transaction_i_fkey FOREIGN KEY (inbound_wallet_transaction_id) REFERENCES wallet_transactions(id) DEFERRABLE,
  constraint wallet_transaction_consumptio_outbound_wallet_transaction__fkey FOREIGN KEY (outbound_wallet_transaction_id) REFERENCES wallet_transactions(id) DEFERRABLE,
  constraint wallet_transaction_consumptions_check CHECK (((consumed_purchased_cents >= 0) AND (consumed_purchased_cents <= consumed_amount_cents))),
  constraint wallet_transaction_consumptions_consumed_amount_cents_check CHECK ((consumed_amount_cents > 0))
);
comment on table wallet_transaction_consumptions is 'Which inbound credits paid for which outbound ones.';
CREATE INDEX wallet_transaction_consumptions_outbound ON public.wallet_transaction_consumptions USING btree (organization_id, outbound_wallet_transaction_id);

create table wallet_transactions (
  id uuid not null,
  organization_id uuid not null,
  wallet_id uuid not null,
  customer_id uuid not null,
  transaction_type text not null,
  status text not null,
  transaction_status text not null,
  source text not null,
  amount_cents bigint not null,
  amount numeric(40,5) not null,
  credit_amount numeric(40,5) not null,
  priority integer not null,
  name text,
  metadata jsonb not null default '[]'::jsonb,
  remaining_amount_cents bigint,
  remaining_purchased_cents bigint,
  invoice_id uuid,
  credit_note_id uuid,
  voided_invoice_id uuid,
  invoice_requires_successful_payment boolean not null default false,
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  top_up_on date,
  settled_at timestamp with time zone,
  failed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint wallet_transactions_pkey PRIMARY KEY (id),
  constraint wallet_transactions_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint wallet_transactions_invoice_id_fkey FOREIGN KEY (invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint wallet_transactions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint wallet_transactions_voided_invoice_id_fkey FOREIGN KEY (voided_invoice_id) REFERENCES invoices(id) DEFERRABLE,
  constraint wallet_transactions_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(id) DEFERRABLE,
  constraint wallet_transactions_amount_cents_check CHECK ((amount_cents >= 0)),
  constraint wallet_transactions_check CHECK (((remaining_purchased_cents >= 0) AND (remaining_purchased_cents <= remaining_amount_cents))),
  constraint wallet_transactions_direction CHECK (((transaction_type = 'inbound'::text) = (transaction_status = ANY (ARRAY['purchased'::text, 'granted'::text])))),
  constraint wallet_transactions_priority_check CHECK (((priority >= 1) AND (priority <= 50))),
  constraint wallet_transactions_remaining_amount_cents_check CHECK ((remaining_amount_cents >= 0)),
  constraint wallet_transactions_source_check CHECK ((source = ANY (ARRAY['manual'::text, 'interval'::text, 'threshold'::text]))),
  constraint wallet_transactions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'settled'::text, 'failed'::text]))),
  constraint wallet_transactions_transaction_status_check CHECK ((transaction_status = ANY (ARRAY['purchased'::text, 'granted'::text, 'invoiced'::text, 'voided'::text]))),
  constraint wallet_transactions_transaction_type_check CHECK ((transaction_type = ANY (ARRAY['inbound'::text, 'outbound'::text])))
);
comment on table wallet_transactions is 'Credits that came into a wallet or left it.';
CREATE INDEX wallet_transactions_failed ON public.wallet_transactions USING btree (organization_id, failed_at) WHERE (status = 'failed'::text);
CREATE UNIQUE INDEX wallet_transactions_interval_key ON public.wallet_transactions USING btree (organization_id, wallet_id, top_up_on, transaction_status) WHERE (top_up_on IS NOT NULL);
CREATE INDEX wallet_transactions_invoice ON public.wallet_transactions USING btree (organization_id, invoice_id) WHERE (invoice_id IS NOT NULL);
CREATE UNIQUE INDEX wallet_transactions_invoiced_key ON public.wallet_transactions USING btree (organization_id, invoice_id, wallet_id) WHERE (transaction_status = 'invoiced'::text);
CREATE INDEX wallet_transactions_newest ON public.wallet_transactions USING btree (organization_id, wallet_id, created_at DESC, id DESC);
CREATE INDEX wallet_transactions_open ON public.wallet_transactions USING btree (organization_id, wallet_id) WHERE ((transaction_type = 'inbound'::text) AND (status = 'settled'::text) AND (remaining_amount_cents > 0));
CREATE UNIQUE INDEX wallet_transactions_recredit_key ON public.wallet_transactions USING btree (organization_id, voided_invoice_id, wallet_id) WHERE (voided_invoice_id IS NOT NULL);
CREATE TRIGGER wallet_transactions_mark_changed AFTER UPDATE ON public.wallet_transactions FOR EACH ROW WHEN (((((old.status IS DISTINCT FROM new.status) OR (old.settled_at IS DISTINCT FROM new.settled_at)) OR (old.amount IS DISTINCT FROM new.amount)) OR (old.credit_amount IS DISTINCT FROM new.credit_amount))) EXECUTE FUNCTION mark_source('wallet_transaction');
CREATE TRIGGER wallet_transactions_mark_new AFTER INSERT ON public.wallet_transactions FOR EACH ROW WHEN ((new.status = 'settled'::text)) EXECUTE FUNCTION mark_source('wallet_transaction');

create table wallets (
  id uuid not null,
  organization_id uuid not null,
  customer_id uuid not null,
  billing_entity_id uuid not null,
  code text not null,
  name text,
  priority integer not null,
  currency text not null,
  rate_amount numeric(30,5) not null,
  status text not null,
  credits_balance numeric(40,5) not null default 0,
  balance_cents bigint not null default 0,
  consumed_credits numeric(40,5) not null default 0,
  consumed_amount_cents bigint not null default 0,
  credits_ongoing_balance numeric(40,5) not null default 0,
  ongoing_balance_cents bigint not null default 0,
  credits_ongoing_usage_balance numeric(40,5) not null default 0,
  ongoing_usage_balance_cents bigint not null default 0,
  depleted_ongoing_balance boolean not null default false,
  allowed_fee_types text[] not null default '{}'::text[],
  billable_metric_ids uuid[] not null default '{}'::uuid[],
  paid_top_up_min_amount_cents bigint,
  paid_top_up_max_amount_cents bigint,
  invoice_requires_successful_payment boolean not null default false,
  payment_method_type text,
  payment_method_id uuid,
  purchase_order_number text,
  skip_invoice_custom_sections boolean not null default false,
  metadata jsonb,
  expiration_at timestamp with time zone,
  last_balance_sync_at timestamp with time zone,
  last_consumed_credit_at timestamp with time zone,
  terminated_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  exhausted_on date,
  constraint wallets_pkey PRIMARY KEY (id),
  constraint wallets_billing_entity_id_fkey FOREIGN KEY (billing_entity_id) REFERENCES billing_entities(id) DEFERRABLE,
  constraint wallets_customer_id_fkey FOREIGN KEY (customer_id) REFERENCES customers(id) DEFERRABLE,
  constraint wallets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint wallets_balance_cents_check CHECK ((balance_cents >= 0)),
  constraint wallets_credits_balance_check CHECK ((credits_balance >= (0)::numeric)),
  constraint wallets_priority_check CHECK (((priority >= 1) AND (priority <= 50))),
  constraint wallets_rate_amount_check CHECK ((rate_amount > (0)::numeric)),
  constraint wallets_status_check CHECK ((status = ANY (ARRAY['active'::text, 'terminated'::text])))
);
comment on table wallets is 'Prepaid credits of customers.';
comment on column wallets.exhausted_on is 'The day on which it is used up if it goes on as in its last two weeks; null: unknown, or never.';
CREATE UNIQUE INDEX wallets_code_key ON public.wallets USING btree (organization_id, customer_id, code) WHERE (status = 'active'::text);
CREATE INDEX wallets_customer ON public.wallets USING btree (organization_id, customer_id, status);
CREATE INDEX wallets_exhausted_on ON public.wallets USING btree (organization_id, exhausted_on) WHERE ((status = 'active'::text) AND (exhausted_on IS NOT NULL));
CREATE INDEX wallets_expiring ON public.wallets USING btree (expiration_at) WHERE ((status = 'active'::text) AND (expiration_at IS NOT NULL));
CREATE INDEX wallets_newest ON public.wallets USING btree (organization_id, created_at DESC, id DESC);
CREATE TRIGGER wallets_begin_held AFTER INSERT ON public.wallets FOR EACH ROW EXECUTE FUNCTION begin_wallet_held();
CREATE TRIGGER wallets_tell_access AFTER INSERT OR DELETE OR UPDATE OF status, code, currency, balance_cents, ongoing_balance_cents ON public.wallets FOR EACH ROW EXECUTE FUNCTION tell_access_of_wallet();

create table webhook_deliveries (
  id uuid not null,
  organization_id uuid not null,
  webhook_endpoint_id uuid not null,
  event_id uuid not null,
  endpoint text not null,
  status text not null default 'pending'::text,
  retries integer not null default 0,
  attempts_left integer,
  http_status integer,
  response text,
  next_attempt_at timestamp with time zone,
  last_retried_at timestamp with time zone,
  replay_id uuid,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES webhook_events(id) ON DELETE CASCADE DEFERRABLE,
  constraint webhook_deliveries_webhook_endpoint_id_fkey FOREIGN KEY (webhook_endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE DEFERRABLE,
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'retrying'::text, 'succeeded'::text, 'failed'::text])))
);
comment on table webhook_deliveries is 'One event on its way to one endpoint: attempts made, last answer, next attempt.';
CREATE INDEX webhook_deliveries_endpoint ON public.webhook_deliveries USING btree (webhook_endpoint_id, organization_id, updated_at DESC);
CREATE INDEX webhook_deliveries_event ON public.webhook_deliveries USING btree (event_id);
CREATE INDEX webhook_deliveries_replay ON public.webhook_deliveries USING btree (replay_id) WHERE (replay_id IS NOT NULL);
CREATE INDEX webhook_deliveries_waiting ON public.webhook_deliveries USING btree (webhook_endpoint_id, next_attempt_at, id) WHERE (status = ANY (ARRAY['pending'::text, 'retrying'::text]));

create table webhook_endpoints (
  id uuid not null,
  organization_id uuid not null,
  webhook_url text not null,
  name text,
  signature_algo text not null default 'jwt'::text,
  event_types text[],
  secret text not null,
  former_secret text,
  former_secret_expires_at timestamp with time zone,
  status text not null default 'enabled'::text,
  disabled_at timestamp with time zone,
  disabled_reason text,
  failures_since timestamp with time zone,
  consecutive_failures integer not null default 0,
  circuit_open_until timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_url_key UNIQUE (organization_id, webhook_url),
  constraint webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE,
  constraint webhook_endpoints_signature_algo_check CHECK ((signature_algo = ANY (ARRAY['jwt'::text, 'hmac'::text]))),
  constraint webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])))
);
comment on table webhook_endpoints is 'Addresses that receive an organization''s webhooks, with their secret, their circuit breaker and the types they want.';

create table webhook_events (
  id uuid not null,
  organization_id uuid not null,
  "position" bigint not null default nextval('webhook_events_position_seq'::regclass),
  sequence bigint,
  webhook_type text not null,
  object_type text not null,
  object_id uuid,
  customer_id uuid,
  occurred_at timestamp with time zone not null,
  payload text not null,
  created_at timestamp with time zone not null,
  constraint webhook_events_pkey PRIMARY KEY (id),
  constraint webhook_events_sequence_key UNIQUE (organization_id, sequence)
);
comment on table webhook_events is 'Every outgoing event once, whether or not an endpoint listens. The sequencer numbers rows after their commit.';
CREATE INDEX webhook_events_of_customer ON public.webhook_events USING btree (organization_id, customer_id, occurred_at DESC, id DESC) WHERE (customer_id IS NOT NULL);
CREATE INDEX webhook_events_unnumbered ON public.webhook_events USING btree (organization_id, "position") WHERE (sequence IS NULL);

create table webhook_hours (
  organization_id uuid not null,
  webhook_endpoint_id uuid not null,
  hour timestamp with time zone not null,
  lane smallint not null,
  succeeded integer not null,
  failed integer not null,
  latency integer[] not null,
  constraint webhook_hours_pkey PRIMARY KEY (organization_id, webhook_endpoint_id, hour, lane),
  constraint webhook_hours_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id) DEFERRABLE
);
comment on table webhook_hours is 'How deliveries to an endpoint ended and how long its answers took, by hour.';
comment on column webhook_hours.lane is '0 to 7: processes that write at the same time do not wait for one row';
comment on column webhook_hours.succeeded is 'deliveries that ended acknowledged';
comment on column webhook_hours.failed is 'deliveries that ended after their last attempt';
comment on column webhook_hours.latency is 'attempts by class: the first up to 5 ms, each further one up to twice as long, the 16th open';
CREATE INDEX webhook_hours_hour ON public.webhook_hours USING btree (hour);
